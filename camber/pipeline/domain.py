"""Corpora that count more than others: how often each pair is learnt from, and what the own domain is.

A weight says how many pairs a pair counts for when rules are counted and weighed. Weights are shares: the least one
is 1. Word alignment learns from every pair once, as all text tells it what words mean. So does the language model,
whose discounts would make no sense of repeated text; the corpora that count most have one of their own instead, which
is one more feature, with a weight that is tuned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import take_ragged
from camber.arrays.types import F8, I8, Bools
from camber.corpus import Bitext, Sentences
from camber.settings import Settings, setting


@dataclass(frozen=True)
class DomainSettings(Settings, group="Language model"):
    """What is made of corpora with different weights."""

    own_lm: bool = setting(True, "where corpora have weights: one more language model of those that count most")


def copies(weights: F8) -> I8:
    """Return how often each pair counts: whole numbers that are as large as the weights on average.

    >>> copies(np.array([0.5, 0.5, 1.25, 1.25])).tolist()
    [1, 1, 2, 3]
    """
    if not len(weights):
        return np.zeros(0, np.int64)
    relative = weights / weights.min()
    counts = np.ones(len(weights), np.int64)
    for weight in np.unique(relative):  # each corpus by itself, so that others do not change what it gives
        rows = np.flatnonzero(relative == weight)
        ends = np.floor(np.arange(len(rows) + 1) * weight + 1e-9).astype(np.int64)
        counts[rows] = np.maximum(1, np.diff(ends))
    return counts


def own_pairs(weights: F8) -> Bools | None:
    """Return which pairs are those of the own domain, the ones that count most; None if all count the same."""
    if not len(weights) or weights.min() == weights.max():
        return None
    own: Bools = weights == weights.max()
    return own


def weighed_pairs(weights: F8 | None, bitext: Bitext, alignment: Alignment) -> tuple[Bitext, Alignment]:
    """Return pairs as often as they count."""
    if weights is None or own_pairs(weights) is None:
        return bitext, alignment
    rows = np.repeat(np.arange(len(bitext)), copies(weights))
    links, offsets = take_ragged(alignment.links, alignment.offsets, rows)
    return Bitext(taken(bitext.source, rows), taken(bitext.target, rows)), Alignment(links, offsets)


def taken(sentences: Sentences, rows: I8) -> Sentences:
    """Return some sentences, with the same vocabulary."""
    return Sentences(*take_ragged(sentences.ids, sentences.offsets, rows), sentences.vocabulary)
