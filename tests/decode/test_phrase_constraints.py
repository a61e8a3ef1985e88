"""The phrase decoder under constraints, against the enumeration of every derivation that obeys them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import phrase_search as naive
from toys.constraints import random_terms
from toys.models import SOURCE, ngram_model_of, random_model, random_weights, store_of

from camber.corpus.constraints import FREE, Ban, Constraints, Term
from camber.corpus.inputs import Input, as_inputs
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.errors import CamberError
from camber.rules.phrase.source import StoredRules

EVERYTHING = 50_000


def toy(rng, limit=6, option_limit=20, window=150, **kwargs):
    model = random_model(rng, **kwargs)
    weights = random_weights(rng, feature_names(len(model.language_models)))
    decoder = PhraseDecoder(
        StoredRules(store_of(model.rules)),
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        weights,
        DecodeSettings(
            pop_limit=EVERYTHING, stack_beam=0.0, distortion_limit=limit, options=option_limit, window=window
        ),
    )
    return model, weights, decoder


def random_sentence(rng, length):
    return [str(word) for word in rng.choice((*SOURCE, "strange"), length, p=[0.23] * 4 + [0.08])]


def obeys(derivation, constraints):
    """Say whether the parts of a derivation keep to terms and bans."""
    for term in constraints.terms:
        parts = [
            (a, b, tuple(derivation.words[c:d]))
            for (a, b), (c, d) in zip(derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True)
            if a < term.end and term.begin < b
        ]
        if len(parts) != 1 or (parts[0][:2] == (term.begin, term.end) and parts[0][2] not in term.targets):
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.sampled_from((0, 2, 6, -1)),
    st.booleans(),
    st.sampled_from((20, 2)),
)
def test_the_list_equals_the_enumeration_of_all_derivations_that_obey(seed, length, limit, reordering, option_limit):
    rng = np.random.default_rng(seed)
    model, weights, decoder = toy(rng, limit, option_limit, targets=2, with_reordering=reordering)
    sentence, constraints = random_sentence(rng, length), random_terms(rng, length)
    expected = naive.search(model, sentence, weights, limit, option_limit, constraints)
    ours = next(decoder.decode([Input(sentence, 0, constraints)], nbest=50, distinct=False, engine=Threads(1)))
    assert len(ours) == min(50, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:50]], rtol=0, atol=1e-9)
    if len(expected) == 1 or expected[0][0] - expected[1][0] > 1e-9:
        assert ours[0].words == naive.written(expected[0][1])
    for derivation in ours:
        assert obeys(derivation, constraints)
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-9)


def test_sentences_without_constraints_are_as_before_whatever_stands_beside_them():
    rng = np.random.default_rng(1)
    _, _, decoder = toy(rng)
    sentences = [random_sentence(rng, 6) for _ in range(20)]
    alone = list(decoder.decode(as_inputs(sentences), nbest=3, engine=Threads(1)))
    bound = [
        Input(sentence, number, Constraints((Term(0, 1, (("term",),)),)) if number % 3 == 0 else FREE)
        for number, sentence in enumerate(sentences)
    ]
    for number, (one, two) in enumerate(zip(alone, decoder.decode(bound, nbest=3, engine=Threads(1)), strict=True)):
        if number % 3:
            assert [(d.words, d.score) for d in one] == [(d.words, d.score) for d in two]
        else:
            assert all("term" in d.words for d in two)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from((0, 2, 6, -1)), st.booleans(), st.booleans())
def test_walls_keep_order_as_in_the_enumeration(seed, length, limit, reordering, with_terms):
    rng = np.random.default_rng(seed)
    model, weights, decoder = toy(rng, limit, targets=2, with_reordering=reordering)
    sentence = random_sentence(rng, length)
    constraints = random_terms(rng, length) if with_terms else FREE
    free = [at for at in range(1, length) if not any(term.begin < at < term.end for term in constraints.terms)]
    walls = tuple(at for at in free if rng.random() < 0.5)
    constraints = replace(constraints, walls=walls)
    expected = naive.search(model, sentence, weights, limit, 20, constraints)
    ours = next(decoder.decode([Input(sentence, 0, constraints)], nbest=50, distinct=False, engine=Threads(1)))
    assert len(ours) == min(50, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:50]], rtol=0, atol=1e-9)
    for derivation in ours:
        for wall in walls:
            sides = [(a >= wall, b > wall) for a, b in derivation.spans.tolist()]
            assert sides == sorted(sides)
            assert all(one == two for one, two in sides)


def test_a_wall_inside_of_a_term_is_refused():
    with pytest.raises(CamberError, match="a wall inside"):
        Constraints((Term(0, 2, (("x",),), "a b"),), walls=(1,))


def half(target, links=((0, 0),)):
    return naive.Rule(tuple(target.split()), (0.5,) * 4, (0.5,) * 6, links)


def plain_decoder(rules, **changes):
    return PhraseDecoder(
        StoredRules(store_of(rules)), [], dict.fromkeys(feature_names(0), 0.1), DecodeSettings(**changes)
    )


def best(decoder, sentence, *terms, bans=()):
    (only,) = next(decoder.decode([Input(sentence.split(), 0, Constraints(terms, bans))], engine=Threads(1)))
    return only


def test_a_rule_that_has_the_term_inside_stays_where_its_links_agree():
    rules = {
        ("la",): [half("the")],
        ("maison",): [half("house")],
        ("la", "maison"): [half("the home", ((0, 0), (1, 1))), half("home the", ((0, 0), (1, 1)))],
    }
    decoder = plain_decoder(rules)
    only = best(decoder, "la maison", Term(1, 2, (("home",),)))
    assert (only.words, only.spans.tolist()) in ((["the", "home"], [[0, 2]]), (["the", "home"], [[0, 1], [1, 2]]))
    decoder = plain_decoder({**rules, ("maison",): [half("house"), half("home")]})
    spans = [
        (d.words, d.spans.tolist())
        for d in next(
            decoder.decode([Input(["la", "maison"], 0, Constraints((Term(1, 2, (("home",),)),)))], 20, distinct=False)
        )
    ]
    assert (["the", "home"], [[0, 2]]) in spans
    assert not any(words == ["home", "the"] and len(s) == 1 for words, s in spans)


def test_a_term_may_be_longer_than_any_phrase_and_than_a_window():
    decoder = plain_decoder({("a",): [half("u")]}, window=10)
    sentence = " ".join(["a"] * 30)
    only = best(decoder, sentence, Term(8, 25, (("long", "term"),)))
    assert only.words == ["u"] * 8 + ["long", "term"] + ["u"] * 5
    assert only.rules.tolist().count(-2) == 1


def test_words_without_a_rule_that_is_allowed_are_passed_through():
    decoder = plain_decoder({("a",): [half("u")], ("b",): [half("v u"), half("w")], ("a", "b"): [half("v")]})
    assert best(decoder, "a b", bans=(Ban(0, 2, ("U",)),)).words in (["a", "w"], ["v"], ["w", "a"])
    assert best(decoder, "a", bans=(Ban(0, 1, ("u",)),)).words == ["a"]


def test_what_a_term_made_up_is_linked_to_all_of_its_words():
    decoder = plain_decoder({("a",): [half("u")]}, distortion_limit=0)
    only = best(decoder, "a x y", Term(1, 3, (("p", "q"),)))
    assert decoder.word_alignment(only) == [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    assert np.isnan(only.features[1, :4]).all()
    assert only.rules.tolist()[1] == -2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from((0, 2, -1)), st.booleans(), st.booleans())
def test_completions_equal_the_enumeration_where_rules_give_the_prefix(seed, length, limit, reordering, with_terms):
    rng = np.random.default_rng(seed)
    model, weights, decoder = toy(rng, limit, targets=2, with_reordering=reordering)
    sentence = random_sentence(rng, length)
    constraints = random_terms(rng, length) if with_terms else FREE
    every = naive.search(model, sentence, weights, limit, constraints=constraints)
    words = naive.written(every[int(rng.integers(len(every)))][1])
    prefix = tuple(words[: int(rng.integers(1, len(words) + 1))])
    expected = [pair for pair in every if tuple(naive.written(pair[1])[: len(prefix)]) == prefix]
    bound = replace(constraints, prefix=prefix)
    ours = next(decoder.decode([Input(sentence, 0, bound)], nbest=2000, distinct=False, engine=Threads(1)))
    assert all(tuple(d.words[: len(prefix)]) == prefix for d in ours)
    # what no constraint made up are the derivations of the rules, with their scores
    terms = {(term.begin, term.end) for term in constraints.terms}
    given_by_rules = [
        d
        for d in ours
        if all(r != -2 or tuple(span) in terms for r, span in zip(d.rules.tolist(), d.spans.tolist(), strict=True))
        and d.linear_sums @ decoder.weights == pytest.approx(d.score, abs=1e-9)
    ]
    # what is passed through is made up here, be it that no rule has the word, or that all its rules are banned
    if len(ours) < 2000 and all((word,) in model.rules for word in sentence) and not constraints.bans:
        scores = np.array([score for score, _ in expected])
        for d in given_by_rules:
            assert np.abs(scores - d.score).min() < 1e-9
        assert max(d.score for d in given_by_rules) == pytest.approx(scores[0], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 12),
    st.sampled_from((0, 2, -1)),
    st.sampled_from((5, 400)),
)
def test_any_prefix_can_be_had(seed, length, size, limit, pops):
    rng = np.random.default_rng(seed)
    _, _, decoder = toy(rng, limit)
    sentence = random_sentence(rng, length)
    prefix = tuple(str(word) for word in rng.choice(["u", "v", "w", "strange", "new", "words"], size))
    bound = replace(random_terms(rng, length), prefix=prefix)
    free = list(decoder.searching({"pop_limit": pops}).decode([Input(sentence, 0, bound)] * 2, nbest=3))
    for d in free[0]:
        assert tuple(d.words[:size]) == prefix
        assert sorted(i for a, b in d.spans.tolist() for i in range(a, b)) == list(range(length))
    assert [d.words for d in free[0]] == [d.words for d in free[1]]


def test_the_last_word_of_a_prefix_may_be_the_beginning_of_a_word():
    decoder = plain_decoder({("un",): [half("a")], ("hôtel",): [half("inn"), half("hotel")]}, distortion_limit=0)
    for prefix, wanted in ((("a", "ho"), ["a", "hotel"]), (("a", "hotel"), ["a", "hotel"]), (("a", "x"), ["a", "x"])):
        item = Input(["un", "hôtel"], 0, Constraints(prefix=prefix, open=True))
        assert next(decoder.decode([item]))[0].words == wanted


def test_a_prefix_goes_on_across_windows():
    decoder = plain_decoder({("a",): [half("u")]}, window=10)
    prefix = ("x", *["u"] * 14, "y")
    (only,) = next(decoder.decode([Input(["a"] * 25, 0, Constraints(prefix=prefix))], engine=Threads(1)))
    assert tuple(only.words[:16]) == prefix
