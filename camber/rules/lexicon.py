"""A table of lexical probabilities as kernels probe it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.align.lexical import LexicalTable
from camber.arrays.types import Array
from camber.kernel import kernel
from camber.kernel.table import empty_table, find, insert


class Lexicon(NamedTuple):
    """A lexical table by (source word + 1) * stride + target word + 1, where NULL is word -1."""

    slots: Array  # int64[slots]
    values: Array  # float64[slots, 2]: p(s|t), p(t|s)
    stride: int


def hashed_lexicon(table: LexicalTable) -> Lexicon:
    """Put a lexical table into a form that kernels probe."""
    slots = empty_table(len(table))
    lexicon = Lexicon(slots, np.zeros((len(slots), 2)), table.target_words + 1)
    _fill_lexicon(table.keys, table.source_given_target, table.target_given_source, lexicon.slots, lexicon.values)
    return lexicon


@kernel
def lexicon_slot(lexicon, source, target):
    """Return where an entry of the lexical table is, -1 if there is none."""
    return find(lexicon.slots, (source + 1) * lexicon.stride + target + 1)


@kernel
def _fill_lexicon(keys, source_given_target, target_given_source, slots, values):
    for row in range(len(keys)):
        slot = insert(slots, keys[row])
        values[slot, 0] = source_given_target[row]
        values[slot, 1] = target_given_source[row]
