"""The work arrays of the chart decoder, which grow when a sentence needs more."""

from __future__ import annotations

import numpy as np

from camber.decode.chart import cells, kbest, parts
from camber.decode.chart.hypergraph import Forest, Room
from camber.decode.chart.kbest import ListRoom
from camber.decode.chart.parts import DerivationColumns


class Workspace:
    """Makes the work arrays of some sentences, larger ones when a kernel asks for them."""

    def __init__(self, length: int, models: int, longest: int, pop_limit: int, nbest: int, features: int) -> None:
        self.length, self.models, self.longest, self.pops = max(1, length), models, longest, pop_limit
        self.nbest, self.features = nbest, features
        self.edges = 8192 + 64 * min(pop_limit, 1000) * self.length // 4
        self.items = 4096
        self.bundles = 2048
        self.cells = 4096 + 3 * min(pop_limit, 10_000)
        self.derivations = 4096 + 64 * nbest
        self.parts = (3 * self.length + 3) * nbest
        self.words = (4 * self.length + 16) * nbest
        self.work = np.zeros(4, np.int64)
        self._make()

    def _make(self) -> None:
        self.forest = Forest.make(self.edges, self.models, self.longest)
        self.room = Room.make(
            self.length, self.models, self.longest, self.edges, self.items, self.bundles, self.cells, self.pops
        )
        self._make_list()

    def _make_list(self) -> None:
        self.list_room = ListRoom.make(
            self.derivations, self.edges, 4 * self.length + 8, self.models, self.longest
        )  # fmt: skip

    def columns(self) -> DerivationColumns:
        """Make room for the derivations of one sentence."""
        return DerivationColumns.make(self.nbest, self.parts, self.words, self.features)

    def grow(self, code: int) -> None:
        """Double the size of the arrays that were too small."""
        if code >= cells.CELLS_FULL:
            self.edges *= 2 if code == cells.EDGES_FULL else 1
            self.items *= 2 if code == cells.ITEMS_FULL else 1
            self.bundles *= 2 if code == cells.BUNDLES_FULL else 1
            self.cells *= 2 if code in (cells.CELLS_FULL, cells.BUNDLES_FULL) else 1
            self.work += self.room.work
            self._make()
        elif code == kbest.DERIVATIONS_FULL:
            self.derivations *= 2
            self._make_list()
        elif code == parts.PARTS_FULL:
            self.parts *= 2
        else:
            self.words *= 2
