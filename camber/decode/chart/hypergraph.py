"""The forest of a searched sentence: vertices (a span in a language model state) and the edges into them, as arrays.

An edge is a rule with its tails, which are vertices. All edges into a vertex form a chain that begins with the best
one. What an edge adds to the scores of its tails does not depend on how these were made, so any choice of an edge for
every vertex on the way down from the top is a derivation, and its score is the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.types import I8, Array
from camber.decode.chart.lm import Pieces
from camber.features.parts import Parts
from camber.kernel.table import capacity_for

VERTEX = np.dtype(
    [
        ("score", np.float64),  # of its best derivation
        ("edge", np.int64),  # the best edge into it, the first of the chain
        ("begin", np.int64),  # source words
        ("end", np.int64),
        ("place", np.int64),  # words of a prefix that have come at its end
    ]
)
EDGE = np.dtype(
    [
        ("score", np.float64),  # with the best derivations of its tails
        ("rule", np.int64),  # or GLUE, START
        ("one", np.int64),  # the vertex in place of the first non-terminal, -1: none
        ("two", np.int64),  # of the second
        ("next", np.int64),  # edge into the same vertex, -1: none
        ("vertex", np.int64),
    ]
)
#: rules of the decoder's own, in `EDGE.rule`: S → S X, S → X
GLUE, START = -1, -2


class Forest(NamedTuple):
    """Vertices and edges; how many of each there are is in `size`."""

    vertices: Array  # VERTEX
    pieces: Pieces  # of the vertices
    edges: Array  # EDGE
    size: Array  # int64[2]: vertices, edges

    @classmethod
    def make(cls, edges: int, models: int, longest: int) -> Forest:
        """Make room for so many edges, and at most as many vertices."""
        return cls(
            np.empty(edges, VERTEX),
            Pieces.make(edges, models, longest),
            np.empty(edges, EDGE),
            np.zeros(2, np.int64),
        )


@dataclass(frozen=True)
class Hypergraph:
    """All that the search of a sentence kept, for those who sum or maximise over it themselves.

    Vertices are numbered so that tails come before heads; edges into a vertex may be anywhere.
    """

    spans: I8  # [vertices, 2] source words
    heads: I8  # [edges] vertices
    tails: I8  # [edges, 2] vertices, -1: none
    parts: Parts  # [edges]; rules as in ChartDerivation
    top: int  # the vertex of the whole sentence


ITEM = np.dtype([("node", np.int64), ("one", np.int64), ("two", np.int64)])
BUNDLE = np.dtype(
    [
        ("kind", np.int64),  # GRAMMAR, or GLUE, START
        ("rule", np.int64),  # rules rule .. rule + rules - 1 of the sorted order
        ("rules", np.int64),
        ("one", np.int64),  # rows of the first tail
        ("ones", np.int64),
        ("two", np.int64),
        ("twos", np.int64),
        ("place", np.int64),  # words of a prefix that have come at its end
        ("extra", np.float64),  # what it is worth beyond its rules
        ("next", np.int64),  # another bundle that ends at the same place of a prefix, -1: none
    ]
)
CELL = np.dtype(
    [
        ("bundle", np.int64),
        ("rule", np.int64),
        ("one", np.int64),
        ("two", np.int64),
        ("known", np.int64),
        ("score", np.float64),
        ("hint", np.float64),
    ]
)
#: places in `Room.counts`
ITEMS, BUNDLES, CELLS, QUEUE, COUNTS = range(5)


class Room(NamedTuple):
    """The work arrays of the search."""

    cell_first: Array  # int64[length + 1, length + 1]: rows of X over a span
    cell_count: Array  # int64[length + 1, length + 1]
    start_first: Array  # int64[length + 1]: rows of S over the first words
    start_count: Array  # int64[length + 1]
    rows: Array  # int64[vertices]: those of a span by falling score
    items: Array  # ITEM: dotted rules from one source word on
    item_first: Array  # int64[length + 2]: by their end
    bundles: Array  # BUNDLE: rules with the same source side and tails
    cells: Array  # CELL: their members that were queued
    cell_pieces: Pieces  # of the cells
    heap_scores: Array  # float64[cells]
    heap_cells: Array  # int64[cells]
    slots: Array  # int64, a power of two: vertices of one span by state
    counts: Array  # int64[COUNTS]
    work: Array  # int64[4]: dotted rules, bundles, language model scores of cells, pops; over all sentences

    @classmethod
    def make(
        cls, length: int, models: int, longest: int, edges: int, items: int, bundles: int, cells: int, pops: int
    ) -> Room:
        """Make room for sentences of up to `length` words."""
        side = length + 1
        return cls(
            np.empty((side, side), np.int64),
            np.empty((side, side), np.int64),
            np.empty(side, np.int64),
            np.empty(side, np.int64),
            np.empty(edges, np.int64),
            np.empty(items, ITEM),
            np.empty(side + 1, np.int64),
            np.empty(bundles, BUNDLE),
            np.empty(cells, CELL),
            Pieces.make(cells, models, longest),
            np.empty(cells),
            np.empty(cells, np.int64),
            np.empty(capacity_for(pops), np.int64),
            np.zeros(COUNTS, np.int64),
            np.zeros(4, np.int64),
        )
