"""The chart decoder against the enumeration of every derivation."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import chart_search as naive
from toys.charts import NAMES, OneGrammar, grammar_of, random_rules, with_indicators
from toys.models import SOURCE, TARGET, ngram_model_of, random_ngrams, random_weights

from camber.corpus import Sentences, Vocabulary
from camber.corpus.inputs import Input, as_inputs
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import NATIVE
from camber.decode.chart.forest import best_derivation
from camber.decode.chart.settings import ChartSettings
from camber.decode.lists import to_nbest
from camber.engine import Threads
from camber.errors import CamberError
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel

EVERYTHING = 20_000  # pops: more than there are cells in any of these spans


cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "length": st.integers(1, 4),
        "limit": st.sampled_from((0, 0, 2, 3)),
        "language_models": st.integers(0, 2),
        "order": st.integers(1, 4),
        "copy_known": st.booleans(),
    }
)


def make(case, pop_limit=EVERYTHING, window=150):
    """Return the decoder, the twin's list and the sentence of a case."""
    rng = np.random.default_rng(case["seed"])
    rules = random_rules(rng, int(rng.integers(2, 9)))
    ngrams = [random_ngrams(rng, case["order"]) for _ in range(case["language_models"])]
    weights = random_weights(rng, NATIVE.names(NAMES, len(ngrams)))
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), case["length"], p=[0.23] * 4 + [0.08])]
    decoder = ChartDecoder(
        OneGrammar(grammar_of(rules)),
        [ngram_model_of(grams) for grams in ngrams],
        weights,
        ChartSettings(
            pop_limit=pop_limit, beam=0.0, span_limit=case["limit"], window=window, copy_known=case["copy_known"]
        ),
    )
    expected = naive.search(rules, sentence, NAMES, ngrams, weights, case["limit"], copy_known=case["copy_known"])
    return decoder, expected, sentence


@settings(max_examples=150, deadline=None)
@given(cases)
def test_the_list_of_derivations_equals_enumeration(case):
    decoder, expected, sentence = make(case)
    count = 60
    ours = next(decoder.decode(as_inputs([sentence]), nbest=count, distinct=False, engine=Threads(1)))
    assert len(ours) == min(count, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _, _ in expected[:count]], atol=1e-8)
    by_score = sorted(expected, key=lambda item: item[0])
    scores = np.array([item[0] for item in by_score])
    for derivation in ours:
        sums = derivation.linear_sums
        assert sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-8)
        # one of the twin's derivations with this score has these words and features
        near = by_score[
            np.searchsorted(scores, derivation.score - 1e-7) : np.searchsorted(scores, derivation.score + 1e-7)
        ]
        assert any(
            words == derivation.words and np.allclose(sums, [values[name] for name in decoder.names], atol=1e-8)
            for _, words, values in near
        )


@settings(max_examples=60, deadline=None)
@given(cases)
def test_indicators_are_scored_as_by_enumeration(case):
    rng = np.random.default_rng(case["seed"])
    rules, names, grammar = with_indicators(rng, random_rules(rng, int(rng.integers(2, 7)), absent=0.2))
    ngrams = [random_ngrams(rng, case["order"]) for _ in range(case["language_models"])]
    weights = random_weights(rng, NATIVE.names(names, len(ngrams)))
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), case["length"], p=[0.23] * 4 + [0.08])]
    models = [ngram_model_of(grams) for grams in ngrams]
    chosen = ChartSettings(pop_limit=EVERYTHING, beam=0.0, span_limit=case["limit"], copy_known=case["copy_known"])
    decoder, dense = (
        ChartDecoder(OneGrammar(some), models, weights, chosen) for some in (grammar, grammar_of(rules, names))
    )
    expected = naive.search(rules, sentence, names, ngrams, weights, case["limit"], copy_known=case["copy_known"])
    ours = next(decoder.decode(as_inputs([sentence]), nbest=40, distinct=False, engine=Threads(1)))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _, _ in expected[:40]], rtol=0, atol=1e-8)
    assert len(ours) == min(40, len(expected))
    theirs = next(dense.decode(as_inputs([sentence]), nbest=40, distinct=False, engine=Threads(1)))
    for one, other in zip(ours, theirs, strict=True):  # lists of numbers or columns: the same parts
        assert one.score == other.score
        np.testing.assert_array_equal(one.features, other.features)
    vocabulary = decoder.target_vocabulary.extended(sentence)
    columns = decoder.decode_columns(as_inputs([sentence]), vocabulary, 30)
    best = sorted(naive.distinct(expected).values(), reverse=True)[:30]
    np.testing.assert_allclose(columns.features @ decoder.weights, best, rtol=0, atol=1e-8)
    graph = decoder.hypergraph(Input(sentence))
    assert best_derivation(graph, decoder.weighing).score == pytest.approx(expected[0][0], abs=1e-8)


def test_rules_with_many_features_are_weighed_in_pieces(monkeypatch):
    rng = np.random.default_rng(4)
    _, names, grammar = with_indicators(rng, random_rules(rng, 9))
    decoder = ChartDecoder(OneGrammar(grammar), [], random_weights(rng, NATIVE.names(names, 0)))
    whole, _ = decoder._rule_scores(grammar)
    monkeypatch.setattr("camber.decode.chart.decoder._CELLS", 2 * len(names))
    assert decoder._rule_scores(grammar)[0].tolist() == whole.tolist()
    assert len(whole) == len(grammar) > 3
    seen = decoder.rule_values(as_inputs([["a"]]))
    assert tuple(seen) == (*NAMES, "word_penalty")  # indicators have nothing to bend


@settings(max_examples=80, deadline=None)
@given(cases)
def test_the_distinct_list_has_the_best_derivation_of_every_text(case):
    decoder, found, sentence = make(case)
    expected = naive.distinct(found)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=40, distinct=True, engine=Threads(1)))
    texts = [tuple(d.words) for d in ours]
    assert len(set(texts)) == len(texts) == min(40, len(expected))
    for text, derivation in zip(texts, ours, strict=True):
        assert derivation.score == pytest.approx(expected[text], abs=1e-8)
    np.testing.assert_allclose(
        [d.score for d in ours], sorted(expected.values(), reverse=True)[: len(ours)], rtol=0, atol=1e-8
    )


@settings(max_examples=60, deadline=None)
@given(cases, st.integers(1, 5))
def test_pruning_and_parts_keep_scores_true(case, pop_limit):
    decoder, expected, sentence = make(case, pop_limit)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=10, distinct=False, engine=Threads(1)))
    assert ours[0].score <= expected[0][0] + 1e-8
    for derivation in ours:
        sums = dict(zip(decoder.names, derivation.linear_sums.tolist(), strict=True))
        for k, model in enumerate(decoder.languages.models, 1):
            name = "lm" if k == 1 else f"lm{k}"
            assert sums[name] == pytest.approx(float(model.score([derivation.words])[0]), abs=1e-8)
        # parts are a tree: every part but the last is the tail of exactly one other
        tails = derivation.tails[derivation.tails >= 0].tolist()
        assert sorted(tails) == list(range(len(derivation.rules) - 1))
        for part, (one, two) in enumerate(derivation.tails.tolist()):
            for tail in (one, two):
                if tail >= 0:
                    assert tail < part
                    for spans in (derivation.spans, derivation.target_spans):
                        assert spans[part][0] <= spans[tail][0] <= spans[tail][1] <= spans[part][1]
        assert derivation.target_spans[-1].tolist() == [0, len(derivation.words)]
        assert derivation.spans[-1].tolist() == [0, len(sentence)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_states_that_stop_early_keep_scores_true(seed, order):
    # an estimated model has every suffix of its contexts: words are kept only while something longer may end in them
    rng = np.random.default_rng(seed)
    corpus = [[str(word) for word in rng.choice(TARGET[:-1], rng.integers(1, 9))] for _ in range(40)]
    trie = estimate(Sentences.encode(corpus, Vocabulary.from_text(corpus)), LmSettings(order=order))
    model = NgramModel.from_trie(trie)
    rules = random_rules(rng, 8)
    weights = random_weights(rng, NATIVE.names(NAMES, 1))
    decoder = ChartDecoder(
        OneGrammar(grammar_of(rules)), [model], weights, ChartSettings(pop_limit=EVERYTHING, beam=0.0, copy_known=True)
    )
    assert decoder._models.reach.max() < 127
    sentence = [str(word) for word in rng.choice(SOURCE, 4)]
    every = [
        naive.features(rules, derivation, sentence, NAMES, [])
        for derivation in naive.derivations(rules, sentence, limit=0)
    ]
    gains = model.score([words for words, _ in every])
    scores = []
    for (words, values), gain in zip(every, gains, strict=True):
        oov = sum(model.vocabulary.id(word) < 3 for word in words)
        values |= {"lm": float(gain), "lm_oov": float(oov)}
        scores.append(sum(weights[name] * value for name, value in values.items()))
    ours = next(decoder.decode(as_inputs([sentence]), nbest=30, distinct=False, engine=Threads(1)))
    np.testing.assert_allclose([d.score for d in ours], sorted(scores, reverse=True)[: len(ours)], rtol=0, atol=1e-7)
    assert len(ours) == min(30, len(scores))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cases)
def test_the_hypergraph_holds_every_derivation(case):
    decoder, expected, sentence = make(case)
    graph = decoder.hypergraph(Input(sentence))
    assert best_derivation(graph, decoder.weighing).score == pytest.approx(expected[0][0], abs=1e-8)
    ways = np.zeros(len(graph.spans))
    for edge in np.argsort(graph.heads, kind="stable"):
        ways[graph.heads[edge]] += np.prod([ways[tail] for tail in graph.tails[edge] if tail >= 0])
    assert ways[graph.top] == len(expected)


def toy(length=30, window=150, seed=3, pop_limit=30, order=3):
    """Return a decoder and a longer sentence."""
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 40)
    weights = dict.fromkeys(NATIVE.names(NAMES, 1), 0.5)
    decoder = ChartDecoder(
        OneGrammar(grammar_of(rules)),
        [ngram_model_of(random_ngrams(rng, order))],
        weights,
        ChartSettings(pop_limit=pop_limit, span_limit=6, window=window, copy_known=True),
    )
    return decoder, [str(word) for word in rng.choice((*SOURCE, "strange"), length)]


@pytest.mark.parametrize("length", [1, 151, 700])
def test_a_sentence_of_any_length_is_decoded_whole(length):
    decoder, sentence = toy(length, pop_limit=10)
    for derivation in next(decoder.decode(as_inputs([sentence]), nbest=3, engine=Threads(1))):
        sums = dict(zip(decoder.names, derivation.linear_sums.tolist(), strict=True))
        assert sums["lm"] == pytest.approx(float(decoder.languages.models[0].score([derivation.words])[0]), abs=1e-6)
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-6)
        covered = [
            place
            for span, tails in zip(derivation.spans.tolist(), derivation.tails.tolist(), strict=True)
            if tails == [-1, -1]
            for place in range(*span)
        ]
        assert len(covered) == len(set(covered))


def test_threads_and_batches_change_nothing():
    decoder, sentence = toy()
    sentences = [sentence[:n] for n in range(30)]
    lists = [list(decoder.decode(as_inputs(sentences), nbest=5, engine=Threads(threads))) for threads in (1, 2)]
    for one, two in zip(*lists, strict=True):
        assert [(d.words, d.score) for d in one] == [(d.words, d.score) for d in two]
    assert lists[0][0][0].words == []


def test_columns_say_what_the_derivations_say():
    decoder, sentence = toy(20, window=12)
    sentences = [sentence[:n] for n in (0, 5, 11, 20)]
    vocabulary = decoder.target_vocabulary.extended(sentence)
    columns = decoder.decode_columns(as_inputs(sentences), vocabulary, nbest=8, engine=Threads(1))
    decoded = list(decoder.decode(as_inputs(sentences), nbest=8, engine=Threads(1)))
    flat = list(itertools.chain(*decoded))
    assert columns.counts.tolist() == [len(derivations) for derivations in decoded]
    np.testing.assert_allclose(columns.features, [d.linear_sums for d in flat], atol=1e-9)
    offsets = columns.words.offsets.tolist()
    texts = [vocabulary.decode(columns.words.ids[a:b].tolist()) for a, b in itertools.pairwise(offsets)]
    assert texts == [d.words for d in flat]
    other = decoder.reweighted(dict.fromkeys(decoder.names, -0.25))
    assert other.weights.tolist() == [-0.25] * len(decoder.names)
    assert other.searching({"pop_limit": 7}).settings.pop_limit == 7


def test_derivations_become_a_list_with_parts_and_alignments():
    decoder, sentence = toy(8)
    decoded = list(decoder.decode(as_inputs([sentence, []]), nbest=4, engine=Threads(1)))
    nbest = to_nbest(decoder, decoded)
    flat = list(itertools.chain(*decoded))
    np.testing.assert_allclose(nbest.hypothesis_features(), [d.linear_sums for d in flat])
    assert nbest.texts == [" ".join(d.words) for d in flat]


def test_a_rule_that_only_renames_its_tail_is_refused():
    rules = [((1,), (1, "u"), (0.0, 0.0))]
    decoder = ChartDecoder(OneGrammar(grammar_of(rules)), [], dict.fromkeys(NATIVE.names(NAMES, 0), 1.0))
    with pytest.raises(CamberError, match=r"rule 0 of sentence 1 has \[1\] on its source side"):
        list(decoder.decode(as_inputs([["a"]]), engine=Threads(1)))


def test_links_inside_rules_become_links_of_the_sentence():
    rules = [(("a", 1, "b"), ("v", 1, "u"), (9.0, 0.0)), (("c", "d"), ("x", "y"), (9.0, 0.0))]
    plain = grammar_of(rules)
    links = np.array([[0, 2], [2, 0], [0, 0], [1, 1]], np.uint8)
    linked = replace(plain, links=links, link_offsets=np.array([0, 2, 4]))
    decoder = ChartDecoder(OneGrammar(linked), [], dict.fromkeys(NATIVE.names(NAMES, 0), 1.0))
    (best,) = next(decoder.decode(as_inputs([["z", "a", "c", "d", "b"]]), engine=Threads(1)))
    assert best.words == ["z", "v", "x", "y", "u"]
    assert decoder.word_alignment(best) == [(0, 0), (1, 4), (2, 2), (3, 3), (4, 1)]
