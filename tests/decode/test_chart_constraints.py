"""The chart decoder under constraints, against the enumeration of every derivation that obeys them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import chart_search as naive
from naive.chart_prefix import completions
from naive.lending import likenesses, plain
from toys.charts import NAMES, OneGrammar, grammar_of, random_rules, with_indicators, with_links
from toys.constraints import random_terms
from toys.models import SOURCE, TARGET, ngram_model_of, random_ngrams, random_weights

from camber.arrays.ragged import offsets_from
from camber.corpus.constraints import FREE, Ban, Constraints, Term
from camber.corpus.inputs import Input, as_inputs
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import NATIVE
from camber.decode.chart.lending import lend
from camber.decode.chart.settings import ChartSettings
from camber.engine import Threads

EVERYTHING = 20_000


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from((0, 2, 3)), st.booleans(), st.booleans())
def test_the_list_equals_the_enumeration_of_all_derivations_that_obey(seed, length, limit, copy_known, indicators):
    rng = np.random.default_rng(seed)
    rules, names = random_rules(rng, int(rng.integers(2, 9))), NAMES
    grammar = grammar_of(rules)
    if indicators:
        rules, names, grammar = with_indicators(rng, rules)
    rules, grammar = with_links(rng, rules, grammar)
    ngrams = [random_ngrams(rng, 3)]
    weights = random_weights(rng, NATIVE.names(names, 1))
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), length, p=[0.23] * 4 + [0.08])]
    constraints = random_terms(rng, length)
    chosen = ChartSettings(pop_limit=EVERYTHING, beam=0.0, span_limit=limit, copy_known=copy_known)
    decoder = ChartDecoder(OneGrammar(grammar), [ngram_model_of(ngrams[0])], weights, chosen)
    expected = naive.search(
        rules, sentence, names, ngrams, weights, limit, copy_known=copy_known, constraints=constraints
    )
    item = Input(sentence, 0, constraints)
    ours = next(decoder.decode([item], nbest=40, distinct=False, engine=Threads(1)))
    assert len(ours) == min(40, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _, _ in expected[:40]], atol=1e-8)
    if len(expected) == 1 or expected[0][0] - expected[1][0] > 1e-8:
        assert ours[0].words == expected[0][1]
    for derivation in ours:
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-8)
    vocabulary = decoder.target_vocabulary.extended([*sentence, *TARGET, "strange", "term"])
    columns = decoder.decode_columns([item], vocabulary, 1)
    assert vocabulary.decode(columns.words[0]) == ours[0].words


def plain_decoder(*rules, **changes):
    weights = dict.fromkeys(NATIVE.names(NAMES, 0), 0.1)
    return ChartDecoder(
        OneGrammar(grammar_of([(*rule, (0.5, 0.5)) for rule in rules])), [], weights, ChartSettings(**changes)
    )


def best(decoder, sentence, *terms, bans=()):
    (only,) = next(decoder.decode([Input(sentence.split(), 0, Constraints(terms, bans))], engine=Threads(1)))
    return only


def test_a_term_fills_a_gap_and_no_rule_reaches_into_it():
    decoder = plain_decoder((("la", 1), (1, "the")), (("la", "maison"), ("home",)), (("maison", "bleue"), ("blue",)))
    only = best(decoder, "la maison bleue", Term(1, 3, (("azure", "house"),)))
    assert only.words in (["azure", "house", "the"], ["la", "azure", "house"])
    assert (1, 1) in decoder.word_alignment(only) or (1, 0) in decoder.word_alignment(only)


def test_rules_that_show_what_a_term_becomes_lend_themselves_to_it():
    rules = [
        (("une", "maison", 1), ("a", 1, "house"), (0.5, 0.5)),
        (("une", "maison"), ("a", "house"), (0.4, 0.5)),
        (("maison", "bleue"), ("blue", "house"), (0.5, 0.5)),
        (("bleue",), ("azure",), (0.1, 0.1)),
        (("une",), ("one",), (0.1, 0.1)),
        (("maison",), ("house",), (0.1, 0.1)),
    ]
    grammar = grammar_of(rules)
    flat, sizes = [(0, 0), (1, 2), (0, 0), (1, 1), (0, 1), (1, 0), (0, 0), (0, 0), (0, 0)], [2, 2, 2, 1, 1, 1]
    grammar = replace(grammar, links=np.array(flat, np.uint8), link_offsets=offsets_from(sizes))
    decoder = ChartDecoder(OneGrammar(grammar), [], dict.fromkeys(NATIVE.names(NAMES, 0), 0.1) | {"glue": -1.0})
    home = Term(1, 2, (("home",),))
    assert best(decoder, "une maison bleue", home).words == ["a", "azure", "home"]
    assert best(decoder, "une maison bleue", Term(1, 2, (("home", "page"),))).words == ["one", "home", "page", "azure"]
    items = [Input(["une", "maison", "une", "maison"], 0, Constraints((home,)))]
    assert next(decoder.decode(items))[0].words == ["a", "a", "house", "home"]  # where the term is, and nowhere else
    bound = decoder.constrained(grammar, items[0])
    assert ["une", "maison"] in map(bound.grammar.source_side, np.flatnonzero(bound.places.of_rule < 0)[len(rules) :])


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 30))
def test_likenesses_are_those_that_are_found_rule_by_rule(seed, length, count):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, count)
    rules, grammar = with_links(rng, rules, grammar_of(rules))
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), length)]
    terms = random_terms(rng, length, TARGET).terms

    def worth(rule):
        return 2.0 * rule[2][0] - rule[2][1]

    extra: dict[str, int] = {}

    def number(word):
        known = grammar.target_words.id(word)
        return known if known >= 0 else len(grammar.target_words) + extra.setdefault(word, len(extra))

    def of_rules(rows):
        return grammar.features[rows] @ np.array([2.0, -1.0])

    lent = lend(grammar, np.arange(len(rules)), sentence, terms, number, of_rules)
    words = [*grammar.source_words.words, *lent.words], [*grammar.target_words.words, *extra]
    sizes = [np.diff(offsets)[lent.rows] for offsets in (grammar.source_offsets, grammar.target_offsets)]
    found = []
    for rule in range(len(lent.rows)):
        texts = []
        for flat, side in ((lent.source, 0), (lent.target, 1), (lent.heard, 1)):
            symbols = np.split(flat, np.cumsum(sizes[side])[:-1])[rule].tolist()
            texts.append(tuple(words[side][symbol] if symbol >= 0 else -symbol for symbol in symbols))
        found.append(tuple(texts))
    expected = [
        (tuple(plain(symbol) if isinstance(symbol, str) else symbol for symbol in source), target, heard)
        for source, target, _, _, heard in likenesses(rules, sentence, terms, worth)
    ]
    assert sorted(map(str, found)) == sorted(map(str, expected))
    for place, symbol in enumerate(lent.symbols.tolist()):
        assert symbol < 0 or words[0][symbol] == sentence[place]


def test_a_term_may_be_longer_than_the_limit_of_spans_and_than_a_window():
    decoder = plain_decoder((("a",), ("u",)), span_limit=3, window=10)
    only = best(decoder, " ".join(["a"] * 30), Term(8, 25, (("long", "term"),)))
    assert only.words == ["u"] * 8 + ["long", "term"] + ["u"] * 5


def test_words_of_every_window_are_linked_by_rules_of_its_own():
    """Terms give each window a grammar of its own, whose rules have other numbers."""
    decoder = plain_decoder((("a",), ("u",)), (("b",), ("v",)), (("b", "a"), ("w",)), window=10)
    terms = [Term(n, n + 1 + n % 2, ((f"t{n}", "x"), ("y",) * 3)) for n in (2, 7, 12, 13, 25, 28)]
    only = best(decoder, "a b " * 15, *terms)
    links = decoder.word_alignment(only)
    at = 0
    for term in terms:
        place = min(t for s, t in links if s == term.begin)
        row = only.words[place : place + 2]
        words = row if row == [f"t{term.begin}", "x"] else ["y"] * 3
        assert only.words[place : place + len(words)] == words
        assert place >= at
        at = place + len(words)
        expected = {(s, t) for s in range(term.begin, term.end) for t in range(place, at)}
        assert {link for link in links if term.begin <= link[0] < term.end} == expected


def test_words_without_a_rule_that_is_allowed_are_passed_through():
    decoder = plain_decoder((("a",), ("u",)), (("b",), ("v",)))
    assert best(decoder, "a b", bans=(Ban(0, 1, ("U",)),)).words == ["a", "v"]


def test_sentences_without_constraints_are_as_before_whatever_stands_beside_them():
    decoder = plain_decoder((("a",), ("u",)), (("b", 1), (1, "v")))
    sentences = [["a", "b", "a"], ["b", "a"]]
    alone = list(decoder.decode(as_inputs(sentences), nbest=3, engine=Threads(1)))
    bound = [Input(sentences[0], 0, FREE), Input(sentences[1], 1, Constraints((Term(1, 2, (("term",),)),)))]
    found = list(decoder.decode(bound, nbest=3, engine=Threads(1)))
    assert [(d.words, d.score) for d in found[0]] == [(d.words, d.score) for d in alone[0]]
    assert all("term" in d.words for d in found[1])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from((0, 2)),
    st.booleans(),
    st.booleans(),
)
def test_completions_equal_the_enumeration_of_all_that_begin_so(seed, length, size, limit, copy_known, with_terms):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, int(rng.integers(2, 6)))
    rules, grammar = with_links(rng, rules, grammar_of(rules))
    ngrams = [random_ngrams(rng, 3)]
    weights = random_weights(rng, NATIVE.names(NAMES, 1))
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), length)]
    prefix = tuple(map(str, rng.choice((*TARGET[:3], "strange", "new"), size)))
    terms = random_terms(rng, length).terms if with_terms else ()
    chosen = ChartSettings(pop_limit=EVERYTHING, beam=0.0, span_limit=limit, copy_known=copy_known)
    decoder = ChartDecoder(OneGrammar(grammar), [ngram_model_of(ngrams[0])], weights, chosen)
    nat = abs(weights["lm"])
    known = {word for rule in rules for word in rule[1] if isinstance(word, str)}
    known |= {word for term in terms for row in term.targets for word in row}
    known |= {word for word in sentence if not any(rule[0] == (word,) for rule in rules)}

    def given_cost(word):
        return 8.0 * nat if word in known else 0.0

    def worth(begin, end):
        total = 0.0
        for at in range(begin, end):
            alone = [
                sum(weights[n] * v for n, v in zip(NAMES, r[2], strict=True)) for r in rules if r[0] == (sentence[at],)
            ]
            inside = any(term.begin <= at < term.end for term in terms)
            total += max(alone) - 4.0 * nat if alone and not inside else -8.0 * nat
        return total

    expected = completions(
        rules, sentence, NAMES, ngrams, weights, limit, prefix, (given_cost, worth), copy_known=copy_known, terms=terms
    )
    item = Input(sentence, 0, Constraints(terms, prefix=prefix))
    ours = next(decoder.decode([item], nbest=30, distinct=False, engine=Threads(1)))
    assert len(ours) == min(30, len(expected))
    assert all(tuple(d.words[:size]) == prefix for d in ours)
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:30]], atol=1e-8)
    if len(expected) == 1 or expected[0][0] - expected[1][0] > 1e-8:
        assert ours[0].words == expected[0][1]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 12), st.sampled_from((0, 2)), st.sampled_from((1, 50))
)
def test_any_prefix_can_be_had(seed, length, size, limit, pops):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 8)
    weights = random_weights(rng, NATIVE.names(NAMES, 1))
    chosen = ChartSettings(pop_limit=pops, span_limit=limit)
    decoder = ChartDecoder(OneGrammar(grammar_of(rules)), [ngram_model_of(random_ngrams(rng, 3))], weights, chosen)
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), length)]
    prefix = tuple(str(word) for word in rng.choice([*TARGET[:3], "strange", "new", "words"], size))
    constraints = random_terms(rng, length)
    item = Input(sentence, 0, Constraints(constraints.terms, constraints.bans, prefix))
    one, two = decoder.decode([item, item], nbest=2)
    assert all(tuple(d.words[:size]) == prefix for d in one)
    assert [d.words for d in one] == [d.words for d in two]
    for derivation in one:
        assert all(0 <= s < length and 0 <= t < len(derivation.words) for s, t in derivation.word_alignment())


def test_the_last_word_of_a_prefix_may_be_the_beginning_of_a_word():
    decoder = plain_decoder((("un",), ("a",)), (("hôtel",), ("inn",)), (("hôtel",), ("hotel",)))
    for prefix, wanted in ((("a", "ho"), ["a", "hotel"]), (("a", "hotel"), ["a", "hotel"]), (("a", "x"), ["a", "x"])):
        item = Input(["un", "hôtel"], 0, Constraints(prefix=prefix, open=True))
        assert next(decoder.decode([item]))[0].words == wanted


def test_a_prefix_reaches_into_gaps_in_the_order_of_the_target():
    decoder = plain_decoder((("a", 1, "b", 2), (2, "v", 1)), (("c",), ("x",)), (("d",), ("y",)))
    sentence = ["a", "c", "b", "d"]
    for prefix in (("y",), ("y", "v"), ("y", "v", "x")):
        (only,) = next(decoder.decode([Input(sentence, 0, Constraints(prefix=prefix))]))
        assert only.words == ["y", "v", "x"]


def test_a_prefix_goes_on_across_windows():
    decoder = plain_decoder((("a",), ("u",)), window=10)
    prefix = ("x", *["u"] * 14, "y")
    (only,) = next(decoder.decode([Input(["a"] * 25, 0, Constraints(prefix=prefix))], engine=Threads(1)))
    assert tuple(only.words[:16]) == prefix
