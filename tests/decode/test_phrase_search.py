"""The phrase decoder against the enumeration of every derivation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import phrase_search as naive
from toys.models import SOURCE, ngram_model_of, random_model, random_weights, store_of

from camber.align.lexical import LexicalTable
from camber.corpus import Sentences
from camber.corpus.inputs import as_inputs
from camber.corpus.subwords import Subwords
from camber.decode.phrase import decoder as phrase
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names, features
from camber.decode.phrase.options import HEARD
from camber.decode.phrase.search import extend
from camber.decode.phrase.settings import UNKNOWN_WORDS, DecodeSettings
from camber.engine import Threads
from camber.features.feature import INDICATOR, names_of
from camber.lm.ngrams import step
from camber.rules.phrase.large import LargeFeatures
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import StoredRules
from camber.rules.words import SideWords, WordKnowledge

EVERYTHING = 50_000  # pops: more than there are cells in any of these stacks


def toy(
    rng,
    language_models=1,
    limit=6,
    option_limit=20,
    pop_limit=EVERYTHING,
    beam=0.0,
    window=150,
    names=naive.SCORES,
    **kwargs,
):
    """Return a random model, weights for it, and a decoder."""
    model = random_model(rng, language_models, **kwargs)
    model.names = names
    weights = random_weights(rng, feature_names(language_models, names))
    decoder = PhraseDecoder(
        StoredRules(store_of(model.rules), names),
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        weights,
        DecodeSettings(
            pop_limit=pop_limit, stack_beam=beam, distortion_limit=limit, options=option_limit, window=window
        ),
    )
    return model, weights, decoder


def random_sentence(rng, length, strange=0.08):
    """Draw known words, and now and then one that no rule has."""
    return [str(word) for word in rng.choice((*SOURCE, "strange"), length, p=[(1 - strange) / 4] * 4 + [strange])]


def steps_of(decoder, sentence, derivation):
    """Return a derivation of the decoder in the form that the twin scores."""
    steps = []
    for (a, b), (c, d), r in zip(derivation.spans, derivation.target_spans, derivation.rules, strict=True):
        target = tuple(derivation.words[c:d])
        if r < 0:
            assert target == tuple(sentence[a:b])
            steps.append((a, b, naive.Rule(target)))
        else:
            assert list(target) == decoder.rules.store.target(r)
            store = decoder.rules.store
            phrase = int(np.searchsorted(store.rule_offsets, r, "right")) - 1
            counts = int(store.source_counts[phrase]), *store.counts[r].tolist()
            scores, turns = store.scores[r].tolist(), store.reordering[r].tolist()
            steps.append((a, b, naive.Rule(target, tuple(scores), tuple(turns), counts=counts)))
    return steps


cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "length": st.integers(2, 5),
        "limit": st.sampled_from((0, 1, 2, 6, -1)),
        "language_models": st.integers(0, 2),
        "order": st.integers(1, 3),
        "with_reordering": st.booleans(),
        "strange": st.sampled_from((0.08, 0.4)),
        "option_limit": st.sampled_from((20, 20, 2, 1)),
        "unknown": st.sampled_from(UNKNOWN_WORDS),
        "names": st.sampled_from((naive.SCORES, naive.SCORES, ("count_st", "lex_s_given_t", "count_s", "count_t"))),
    }
)


def make(case):
    """Return the twin's list, the decoder and the sentence of a case."""
    rng = np.random.default_rng(case["seed"])
    model, weights, decoder = toy(
        rng,
        case["language_models"],
        case["limit"],
        case["option_limit"],
        order=case["order"],
        targets=3 if case["length"] < 5 else 2,
        with_reordering=case["with_reordering"],
        names=case["names"],
    )
    decoder = decoder.searching({"unknown": case["unknown"]})
    sentence = random_sentence(rng, case["length"], case["strange"])
    moving = case["unknown"] == "move"
    expected = naive.search(model, sentence, weights, case["limit"], case["option_limit"], moving=moving)
    return model, expected, decoder, sentence


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(cases)
def test_the_list_of_derivations_equals_enumeration(case):
    model, expected, decoder, sentence = make(case)
    count = 50
    ours = next(decoder.decode(as_inputs([sentence]), nbest=count, distinct=False, engine=Threads(1)))
    assert len(ours) == min(count, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:count]], rtol=0, atol=1e-9)
    if len(expected) == 1 or expected[0][0] - expected[1][0] > 1e-9:
        assert ours[0].words == naive.text(expected[0][1])
    keys = set()
    for derivation in ours:
        steps = steps_of(decoder, sentence, derivation)
        keys.add(tuple(steps))
        wanted = naive.features(model, steps)
        np.testing.assert_allclose(derivation.linear_sums, [wanted[name] for name in decoder.names], atol=1e-9)
    assert len(keys) == len(ours), "a derivation came twice"
    every = {tuple(derivation) for _, derivation in stripped(expected)}
    assert keys <= every, "a derivation that the rules of distortion forbid"


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from((20, 2)))
def test_indicators_and_weights_by_pieces_are_scored_as_by_enumeration(seed, length, option_limit):
    rng = np.random.default_rng(seed)
    model = random_model(rng)
    store = store_of(model.rules)
    chosen = RuleSettings(rule_features="large", frequent_words=2, signatures=3)
    large = LargeFeatures.of(random_knowledge(rng, store), store, chosen)
    names = chosen.features if rng.random() < 0.7 else ("lex_s_given_t_subwords", "deletes", "signatures")
    rules = StoredRules(store, names, large)
    model.names = tuple(feature.name for feature in rules.features)
    model.indicators = frozenset(feature.name for feature in rules.features if feature.kind == INDICATOR)
    give_values(model, store, rules)
    weights = random_weights(rng, names_of(features(1, rules.features)))
    decoder = PhraseDecoder(
        rules,
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        weights,
        DecodeSettings(pop_limit=EVERYTHING, stack_beam=0.0, options=option_limit),
    )
    sentence = random_sentence(rng, length)
    expected = naive.search(model, sentence, weights, 6, option_limit)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=30, distinct=False, engine=Threads(1)))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:30]], rtol=0, atol=1e-9)
    for derivation in ours:  # the features that are listed give the same score
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-9)
    vocabulary = decoder.target_vocabulary.extended(sentence)
    columns = decoder.decode_columns(as_inputs([sentence]), vocabulary, 30)
    best = list(naive.distinct(expected).values())[:30]
    np.testing.assert_allclose(columns.features @ decoder.weights, best, rtol=0, atol=1e-9)


def random_knowledge(rng, store):
    """Draw clusters, pieces and a lexicon for the words of a store."""
    sides, pieces = [], []
    for vocabulary in (store.source_vocabulary, store.target_vocabulary):
        text = Sentences.encode([vocabulary.words], vocabulary)
        subwords = Subwords.learn(text, 3)
        counts, clusters = rng.integers(9, size=len(text.ids)), rng.integers(2, size=len(text.ids), dtype=np.int32)
        sides.append(SideWords(counts, clusters, subwords))
        pieces.append(len(subwords.pieces))
    keys = np.unique(rng.integers((pieces[0] + 1) * (pieces[1] + 1), size=12))
    return WordKnowledge(*sides, LexicalTable.from_counts(keys, rng.integers(1, 9, size=len(keys)), tuple(pieces)))


def give_values(model, store, rules):
    """Give the twin's rules what the source of rules says about them, which tests of rules compare."""
    values = rules.batch(as_inputs([["a"]])).columns.values(np.arange(len(store)))
    table = {
        (tuple(store.source(phrase)), tuple(store.target(rule))): tuple(zip(model.names, values[rule], strict=True))
        for phrase in range(store.phrases)
        for rule in store.rules(phrase)
    }
    for source, some in model.rules.items():
        model.rules[source] = [
            replace(rule, more=tuple((n, v) for n, v in table[source, rule.target] if v == v)) for rule in some
        ]


def stripped(derivations):
    """Drop the links, which the search does not look at."""
    for score, derivation in derivations:
        yield score, [(a, b, naive.Rule(r.target, r.scores, r.reordering, counts=r.counts)) for a, b, r in derivation]


@settings(max_examples=40, deadline=None)
@given(cases)
def test_the_distinct_list_equals_the_best_derivation_of_every_text(case):
    _, found, decoder, sentence = make(case)
    expected = naive.distinct(found)
    count = 30
    ours = next(decoder.decode(as_inputs([sentence]), nbest=count, distinct=True, engine=Threads(1)))
    texts = [tuple(d.words) for d in ours]
    assert len(set(texts)) == len(texts)
    for text, derivation in zip(texts, ours, strict=True):
        assert derivation.score == pytest.approx(expected[text], abs=1e-9)
    best = sorted(expected.values(), reverse=True)
    np.testing.assert_allclose([d.score for d in ours], best[: len(ours)], rtol=0, atol=1e-9)
    if len(found) <= count * phrase.DISTINCT_FACTOR:  # beyond that, the search for new texts may be given up
        assert len(ours) == min(count, len(expected))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cases)
def test_one_best_equals_the_first_of_the_list(case):
    _, expected, decoder, sentence = make(case)
    (only,) = next(decoder.decode(as_inputs([sentence]), engine=Threads(1)))
    assert only.score == pytest.approx(expected[0][0], abs=1e-9)
    if len(expected) == 1 or expected[0][0] - expected[1][0] > 1e-9:
        assert only.words == naive.text(expected[0][1])


@pytest.mark.parametrize("weight", [0.0, 0.3, -0.3])
def test_a_probability_of_zero_has_a_finite_logarithm(weight):
    half = (0.5,) * 6
    rules = {
        ("a",): [naive.Rule(("u",), (0.0, *half[:3]), half), naive.Rule(("v",), half[:4], (0.0, *half[:5]))],
        ("b",): [naive.Rule(("w",), half[:4], half)],
    }
    weights = dict.fromkeys(feature_names(0), weight)
    decoder = PhraseDecoder(StoredRules(store_of(rules)), [], weights)
    ours = next(decoder.decode(as_inputs([["a", "b"]]), nbest=10, distinct=False, engine=Threads(1)))
    expected = [score for score, _ in naive.search(naive.Model(rules), ["a", "b"], weights, 6)]
    np.testing.assert_allclose([d.score for d in ours], expected, rtol=0, atol=1e-9)
    assert all(np.isfinite(d.features).all() for d in ours)


@pytest.mark.parametrize("length", [63, 64, 65, 130])
@pytest.mark.parametrize("limit", [0, 3])
def test_search_is_exact_on_both_sides_of_a_coverage_word(length, limit):
    rng = np.random.default_rng(length)
    model, weights, decoder = toy(rng, limit=limit, pop_limit=3000, order=2, targets=2, longest=2)
    sentence = random_sentence(rng, length)
    (best,) = next(decoder.decode(as_inputs([sentence]), engine=Threads(1)))
    assert sorted(i for a, b in best.spans for i in range(a, b)) == list(range(length))
    assert best.score == pytest.approx(naive.best_score(model, sentence, weights, limit, order=2), abs=1e-9)


def test_the_short_cut_through_a_phrase_gives_the_score_of_every_word():
    rng = np.random.default_rng(5)
    for _ in range(20):
        model = random_model(rng, order=int(rng.integers(1, 4)))
        (ngrams,) = model.language_models
        lm = ngram_model_of(ngrams)
        for _ in range(20):
            left = list(map(str, rng.choice(list("uvwxyz"), rng.integers(0, 4))))
            right = list(map(str, rng.choice(list("uvwxyz"), rng.integers(1, 5))))
            ids, _ = lm._encode([left, right])
            state, inner = lm.begin, lm.root
            for word in ids[: len(left)]:
                _, state = step(lm.nodes, lm.children, state, word)
            words, gains = ids[len(left) :], np.zeros(len(right))
            heard = np.zeros(len(right), HEARD)
            heard["word"] = words
            for t, word in enumerate(words):
                gains[t], inner = step(lm.nodes, lm.children, inner, word)
                heard["state"][t] = inner
            heard["rest"] = gains.sum() - np.cumsum(gains)
            gain, after = extend(lm.nodes, lm.children, heard, 0, len(right), state)
            whole = naive.lm_score(ngrams, left + right, end=False) - naive.lm_score(ngrams, left, end=False)
            assert gain == pytest.approx(whole, abs=1e-9)
            for word in words:
                _, state = step(lm.nodes, lm.children, state, word)
            assert after == state


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_stops_stacks_early_and_lists_have_none(seed):
    rng = np.random.default_rng(seed)
    sentences = as_inputs([random_sentence(rng, 6) for _ in range(5)])

    def searched(beam, nbest=1):
        model_rng = np.random.default_rng(seed + 100)
        _, weights, decoder = toy(model_rng, beam=beam, pop_limit=3000)
        work = np.zeros(len(decoder.WORK), np.int64)
        found = list(decoder.decode(sentences, nbest=nbest, engine=Threads(1), work=work))
        return np.array([[item.score for item in items] for items in found]), work[2], weights["lm"]

    exact, all_pops, weight = searched(0.0)
    wide, _, _ = searched(1e6)
    assert (wide == exact).all()
    pops = all_pops
    for beam in (30.0, 8.0, 1.0):
        scores, fewer, _ = searched(beam)
        assert (scores <= exact + 1e-9).all()
        assert fewer <= pops
        pops = fewer
    assert weight != 0
    assert pops < all_pops
    assert np.array_equal(searched(1.0, nbest=2)[0], searched(0.0, nbest=2)[0])


def test_unknown_words_stay_between_their_neighbours_however_the_model_would_have_them():
    """The language model prefers every order to that of the source; what is known still moves."""
    half = {word: [naive.Rule((word.upper(),), (0.5,) * 4, (0.1, 0.1, 0.8) * 2)] for word in ("a", "b", "c", "d")}
    rules = {(word,): some for word, some in half.items()}
    weights = dict.fromkeys(feature_names(0), 0.0) | {"reorder_discontinuous_backward": 1.0, "distortion": -1.0}
    decoder = PhraseDecoder(StoredRules(store_of(rules)), [], weights, DecodeSettings())

    def texts(sentence, **changes):
        some = next(decoder.searching(changes).decode(as_inputs([sentence.split()]), nbest=1000))
        return {" ".join(derivation.words) for derivation in some}

    assert texts("a x b") == {"A x B"}
    assert texts("x a b") == {"x A B"}  # what follows it stays, too
    assert len(texts("a x b", unknown="move")) == 6
    assert all(text.find("B x y C") >= 0 for text in texts("a b x y c d"))
    assert len(texts("a b x y c d")) == 6  # A, D and what is between move as three
