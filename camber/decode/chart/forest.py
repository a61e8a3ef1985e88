"""Sums over all derivations of a forest: what tuners need that learn from everything the search kept.

The weight of a derivation is exp(score), its score the weighted sum of its features. The inside sum of a vertex goes
over its derivations, the outside sum over what may surround it; their product says how likely an edge is (Goodman,
1999). The gradient of log Z is the vector of expected features.

    graph = decoder.hypergraph(Input(sentence))
    sums = forest_sums(graph, decoder.weighing)
    sums.log_z, sums.features
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.bend import Design
from camber.bend.weighing import Weighing
from camber.decode.chart.hypergraph import Hypergraph
from camber.errors import CamberError
from camber.kernel import kernel


@dataclass(frozen=True)
class ForestSums:
    """Sums over the derivations of the top vertex, which are taken to be as likely as their weights are large."""

    log_z: float  # the logarithm of the sum of all weights
    inside: F8  # [vertices] logarithms
    outside: F8  # [vertices] logarithms; -inf: in no derivation
    edges: F8  # [edges] how often a derivation uses an edge, expected
    features: F8  # [names] expected: the gradient of `log_z` with respect to the weights


@dataclass(frozen=True)
class BestDerivation:
    """The derivation of the top vertex with the highest score."""

    score: float
    edges: I8  # numbers of its edges, those of tails before those of heads
    features: F8  # [names] their sum: what has weights


def forest_sums(graph: Hypergraph, weighing: Weighing) -> ForestSums:
    """Sum over all derivations by the weights of a bend.

    >>> forest_sums(decoder.hypergraph(Input(["ein", "haus"])), decoder.weighing).log_z     # doctest: +SKIP
    -3.21
    """
    design = _design(graph, weighing)
    inside, outside, used = _run(graph, design, weighing, best=False)
    return ForestSums(float(inside[graph.top]), inside, outside, used, _expected(design, used))


def best_derivation(graph: Hypergraph, weighing: Weighing) -> BestDerivation:
    """Return the best derivation, perhaps under other weights than those of the search; of equal ones, one."""
    design = _design(graph, weighing)
    inside, _, used = _run(graph, design, weighing, best=True)
    edges = np.flatnonzero(used)
    edges = edges[np.argsort(graph.heads[edges], kind="stable")]
    return BestDerivation(
        float(inside[graph.top]), np.repeat(edges, used[edges].astype(np.int64)), _expected(design, used)
    )


def _design(graph: Hypergraph, weighing: Weighing) -> Design:
    """Return what has weights of every edge."""
    if weighing.inputs != graph.parts.features:
        raise CamberError(f"weights for {len(weighing.inputs)} features, but a forest has {len(graph.parts.features)}")
    return weighing.design(graph.parts, np.arange(len(graph.parts) + 1))


def _expected(design: Design, used: F8) -> F8:
    """Return what has weights, as often as edges are used: float64[names]."""
    dense = used @ design.dense
    return dense if design.sparse is None else np.concatenate([dense, design.sparse.project(used)])


def _run(graph: Hypergraph, design: Design, weighing: Weighing, *, best: bool) -> tuple[F8, F8, F8]:
    scores = np.ascontiguousarray(weighing.scores_of(design))
    if not np.isfinite(scores).all():
        raise CamberError("the score of an edge is not a finite number; check the weights")
    inside, outside = np.empty(len(graph.spans)), np.empty(len(graph.spans))
    chosen, used = np.empty(len(graph.spans), np.int64), np.empty(len(graph.heads))
    _sum(
        np.argsort(graph.heads, kind="stable"),
        np.ascontiguousarray(graph.heads, np.int64),
        np.ascontiguousarray(graph.tails, np.int64),
        scores,
        graph.top,
        best,
        inside,
        outside,
        chosen,
        used,
    )
    if inside[graph.top] == -np.inf:
        raise CamberError("the forest has no derivation")
    return inside, outside, used


@kernel
def _add(a, b):
    """Return log(exp a + exp b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel
def _sum(order, heads, tails, scores, top, best, inside, outside, chosen, used):
    """Fill the sums of vertices and the expected uses of edges; `order`: edges by rising heads.

    With `best`, the best derivation counts alone: `inside` has best scores, `used` how often it has an edge.
    """
    for vertex in range(len(inside)):
        inside[vertex] = -np.inf
        outside[vertex] = 0.0 if best else -np.inf
        chosen[vertex] = -1
    for at in range(len(order)):
        edge = order[at]
        used[edge] = 0.0
        total = scores[edge]
        for place in range(2):
            if tails[edge, place] >= 0:
                total += inside[tails[edge, place]]
        head = heads[edge]
        if not best:
            inside[head] = _add(inside[head], total)
        elif total > inside[head]:
            inside[head] = total
            chosen[head] = edge
    if inside[top] == -np.inf:
        return
    outside[top] = 1.0 if best else 0.0  # with `best`: how often the derivation has a vertex
    for at in range(len(order) - 1, -1, -1):
        edge = order[at]
        head, one, two = heads[edge], tails[edge, 0], tails[edge, 1]
        if best:
            if chosen[head] == edge:
                used[edge] = outside[head]
                if one >= 0:
                    outside[one] += outside[head]
                if two >= 0:
                    outside[two] += outside[head]
            continue
        if outside[head] == -np.inf:
            continue
        above = outside[head] + scores[edge]
        first = inside[one] if one >= 0 else 0.0
        second = inside[two] if two >= 0 else 0.0
        used[edge] = np.exp(above + first + second - inside[top])
        if one >= 0:
            outside[one] = _add(outside[one], above + second)
        if two >= 0:
            outside[two] = _add(outside[two], above + first)
