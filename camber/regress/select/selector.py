"""What every way to select pairs offers, and the fair shares of many sentences."""

from __future__ import annotations

import abc
from typing import ClassVar, Self

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I4, I8, AnyArray
from camber.corpus.bitext import Bitext, Sentences
from camber.engine import LOCAL, Engine, PerThread
from camber.kernel import kernel
from camber.progress import each
from camber.regress.select.postings import Postings
from camber.regress.select.selectors import SelectSettings

#: sentences of a text that are selected for together
_BLOCK = 64


class Selector(abc.ABC):
    """A corpus with an index; :meth:`select` may be called by several threads at once."""

    #: the settings that make a difference to it
    uses: ClassVar[frozenset[str]] = frozenset({"order"})

    def __init__(self, postings: Postings, settings: SelectSettings) -> None:
        self.postings, self.settings = postings, settings
        self._memory = PerThread()

    @classmethod
    @abc.abstractmethod
    def of(cls, bitext: Bitext, settings: SelectSettings) -> Self:
        """Index a corpus."""

    @abc.abstractmethod
    def select(self, sentence: I4, count: int) -> I8:
        """Return the numbers of at most `count` pairs for a sentence, best first; of equals, the lower number.

        The sentence is words of the corpus' source vocabulary, -1 where unknown. Only pairs that have a word in common
        with it are ever selected, so they may be fewer.
        """

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return self.postings.nbytes

    def select_set(self, text: Sentences, count: int, *, per_sentence: int = 0, engine: Engine = LOCAL) -> I8:
        """Return the numbers of at most `count` pairs for all sentences of a text, best first.

        Sentences take turns, and add the best pair that is not there yet, each of its `per_sentence` best ones at most
        (0: as many as are needed).
        """
        total = min(count, len(self.postings))
        depth = per_sentence or 2 * -(-total // max(len(text), 1)) + 8
        while True:
            lists = self._lists(text, min(depth, total), engine)
            chosen, used_up = _in_turns(lists, total)
            if per_sentence or depth >= total or not any(len(lists[s]) == depth for s in used_up):
                return chosen
            depth *= 2  # a list that was cut came to its end: its sentence may have had more to add

    def _lists(self, text: Sentences, count: int, engine: Engine) -> list[I8]:
        """Return what is selected for each sentence."""
        blocks = [range(first, min(first + _BLOCK, len(text))) for first in range(0, len(text), _BLOCK)]
        lists: list[I8] = []
        found = engine.map(_select_block, (self, text, count), blocks)
        for part in each(found, "select", len(text), "sentences", len):
            lists += part
        return lists

    def _room(self, name: str, size: int, dtype: type = np.float64) -> AnyArray:
        """Return this thread's work array of a name, at least so long; new items are 0."""
        array: AnyArray | None = getattr(self._memory, name, None)
        if array is None or len(array) < size:
            array = np.zeros(size, dtype)
            setattr(self._memory, name, array)
        return array


def _select_block(shared: tuple[Selector, Sentences, int], block: range) -> list[I8]:
    selector, text, count = shared
    return [selector.select(text[s], count) for s in block]


def _in_turns(lists: list[I8], total: int) -> tuple[I8, I8]:
    """Merge lists: in every round, each adds its first item that is not there yet; return which came to their ends."""
    flat = np.concatenate([*lists, np.zeros(0, np.int64)])
    offsets = offsets_from(map(len, lists))
    at, chosen = offsets[:-1].copy(), np.empty(min(total, len(flat)), np.int64)
    seen = np.zeros(int(flat.max(initial=-1)) + 1, np.uint8)
    size = take_turns(flat, offsets, at, seen, chosen, 0)
    return chosen[:size].copy(), np.flatnonzero(at == offsets[1:])


@kernel
def take_turns(flat, offsets, at, seen, chosen, size):
    """Let ragged lists take turns: each adds its next item that is not `seen`, until `chosen` is full.

    `at` is where each list goes on; `chosen` has `size` items already. Return how many it has then.
    """
    moved = True
    while moved and size < len(chosen):
        moved = False
        for one in range(len(at)):
            place = at[one]
            while place < offsets[one + 1] and seen[flat[place]]:
                place += 1
            if place < offsets[one + 1]:
                seen[flat[place]] = 1
                chosen[size] = flat[place]
                size += 1
                place += 1
                moved = True
            at[one] = place
            if size == len(chosen):
                break
    return size
