"""Sums over forests: against enumeration, against finite differences, against the decoder."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.forest import derivations, log_sum, sums

from camber.align.pharaoh import Alignment
from camber.bend.log import LogBend
from camber.bend.weighing import Weighing
from camber.corpus import Bitext, Sentences
from camber.corpus.inputs import Input, as_inputs
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import NATIVE
from camber.decode.chart.forest import best_derivation, forest_sums
from camber.decode.chart.hypergraph import Hypergraph
from camber.decode.chart.settings import ChartSettings
from camber.engine import Threads
from camber.errors import CamberError
from camber.features.feature import NUMBER, RULE, Feature
from camber.features.parts import Parts
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.rules.hiero.extraction import HieroExtractor
from camber.rules.hiero.index import CorpusIndex

NAMES = ("one", "two", "three")
INPUTS = tuple(Feature(name, NUMBER, RULE) for name in NAMES)


@st.composite
def hypergraphs(draw: st.DrawFn) -> Hypergraph:
    """A few vertices, edges in any order; some vertices may lead nowhere, and some be reached from nowhere."""
    vertices = draw(st.integers(1, 5))
    edges = []
    for head in range(vertices):
        tail = st.integers(-1, head - 1)
        edges += [(head, draw(tail), draw(tail)) for _ in range(draw(st.integers(0 if head else 1, 2)))]
    edges = draw(st.permutations(edges))
    table = np.array(edges, np.int64).reshape(-1, 3)
    value = st.floats(-3, 3)
    features = np.array([draw(st.lists(value, min_size=3, max_size=3)) for _ in edges])
    spans = np.zeros((vertices, 2), np.int64)
    return Hypergraph(spans, table[:, 0], table[:, 1:], Parts.of_dense(INPUTS, features), vertices - 1)


def weighing(weights) -> Weighing:
    """Weights of the three features."""
    return Weighing(LogBend(INPUTS), dict(zip(NAMES, weights, strict=True)))


WEIGHTS = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(hypergraphs(), WEIGHTS)
def test_sums_and_the_best_derivation_equal_enumeration(graph, weights):
    features = graph.parts.dense()
    scores = (features @ weights).tolist()
    heads, tails = graph.heads.tolist(), graph.tails.tolist()
    log_z, used, best = sums(heads, tails, graph.top, scores)
    if log_z == -math.inf:
        with pytest.raises(CamberError, match="no derivation"):
            forest_sums(graph, weighing(weights))
        return
    found = forest_sums(graph, weighing(weights))
    assert found.log_z == pytest.approx(log_z)
    np.testing.assert_allclose(found.edges, used, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.features, np.array(used) @ features, rtol=1e-9, atol=1e-9)
    for vertex in range(len(graph.spans)):
        below = [sum(scores[edge] for edge in d) for d in derivations(heads, tails, vertex)]
        assert found.inside[vertex] == pytest.approx(log_sum(below))
    top = best_derivation(graph, weighing(weights))
    assert top.score == pytest.approx(best)
    assert sum(scores[edge] for edge in top.edges) == pytest.approx(best)
    assert sorted(top.edges.tolist()) in [sorted(d) for d in derivations(heads, tails, graph.top)]
    np.testing.assert_allclose(top.features, features[top.edges].sum(0), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(hypergraphs(), WEIGHTS)
def test_expected_features_are_the_gradient_of_log_z(graph, weights):
    try:
        sums = forest_sums(graph, weighing(weights))
    except CamberError:
        return
    step = 1e-5
    for feature in range(3):
        move = np.eye(3)[feature] * step
        up, down = (forest_sums(graph, weighing(weights + sign * move)).log_z for sign in (1, -1))
        slope = (up - down) / (2 * step)
        assert sums.features[feature] == pytest.approx(slope, abs=1e-4, rel=1e-6)


def test_the_sum_over_a_searched_sentence_is_that_over_its_list():
    source, target = [["ein", "mann", "mit", "hut"], ["ein", "hut"]], [["a", "man", "with", "hat"], ["one", "hat"]]
    links = Alignment.from_pairs([[(n, n) for n in range(len(line))] for line in source])
    language = NgramModel.from_trie(estimate(Sentences.encode(target), LmSettings(order=2)))
    extractor = HieroExtractor(CorpusIndex.build(Bitext.encode(source, target), links))
    weights = {name: 0.1 * (n % 5 - 2) for n, name in enumerate(NATIVE.names(extractor.names, 1))}
    decoder = ChartDecoder(extractor, [language], weights, ChartSettings(pop_limit=100_000, beam=0.0))
    sentence = ["ein", "mann", "hut"]
    everything = next(decoder.decode(as_inputs([sentence]), nbest=100_000, distinct=False, engine=Threads(1)))
    graph = decoder.hypergraph(Input(sentence))
    sums = forest_sums(graph, decoder.weighing)
    scores = np.array([item.score for item in everything])
    assert sums.log_z == pytest.approx(log_sum(scores.tolist()))
    likely = np.exp(scores - sums.log_z)
    np.testing.assert_allclose(sums.features, likely @ np.array([item.linear_sums for item in everything]))
    assert best_derivation(graph, decoder.weighing).score == pytest.approx(scores[0])


def test_bad_weights_are_refused():
    graph = Hypergraph(
        np.zeros((1, 2), np.int64),
        np.zeros(1, np.int64),
        np.full((1, 2), -1),
        Parts.of_dense(INPUTS, np.ones((1, 3))),
        0,
    )
    with pytest.raises(CamberError, match="weights for 1 features, but a forest has 3"):
        forest_sums(graph, Weighing(LogBend(INPUTS[:1]), {"one": 1.0}))
    with pytest.raises(CamberError, match="not a finite number"):
        forest_sums(graph, weighing([1.0, np.nan, 0.0]))
    assert forest_sums(graph, weighing([1.0, 2.0, 3.0])).log_z == 6
