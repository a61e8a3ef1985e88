"""How much the hypotheses of a sentence have in common: n-grams by their posterior, and expected sentence BLEU.

A list says how likely each of its hypotheses is. An n-gram is as likely as all hypotheses that have it together, p(g).
A hypothesis with many likely n-grams is a good bet whichever of the others is right: the sum of p(g) over its n-grams
is what a linear approximation of expected BLEU is made of (Tromble, Kumar, Och and Macherey 2008, Eq. 8 to 10).

    gram_posteriors(words, posteriors)[h, k, n - 1]     # sum over the n-grams of hypothesis h by what list k thinks
    pair_bleu(words) @ posteriors                       # BLEU+1 of h, were a hypothesis of list k the reference
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8
from camber.kernel import kernel
from camber.kernel.table import capacity_for, clear, first_slot, mix, next_slot, same_run

#: longest n-gram
ORDER = 4


def gram_posteriors(words: Sequence[npt.ArrayLike], posteriors: npt.ArrayLike, order: int = ORDER) -> F8:
    """Sum the posteriors of the n-grams of every hypothesis: float64[hypotheses, lists, order].

    words: ids of each hypothesis' words; posteriors [hypotheses, lists], 0 where a list lacks a hypothesis. An n-gram
    counts as often as the hypothesis has it; p(g) asks only whether the others have it.

    >>> gram_posteriors([[1, 2], [1, 3]], [[0.75], [0.25]], order=2)[:, 0].tolist()
    [[1.75, 0.75], [1.25, 0.25]]
    """
    flat, offsets = _flat(words)
    chances = _matrix(posteriors, len(offsets) - 1)
    sums = np.zeros((len(offsets) - 1, chances.shape[1], order))
    work = _work(len(flat), chances.shape[1])
    for n in range(order):
        _sum_grams(flat, offsets, chances, n, *work, sums)
    return sums


def pair_bleu(words: Sequence[npt.ArrayLike], order: int = ORDER) -> F8:
    """Return BLEU+1 (0 to 1) of every hypothesis with every one as its reference: float64[hypotheses, hypotheses].

    Sentence BLEU with one added to matches and n-grams of orders 2 and more (`camber.metrics.sentence`). Times
    posteriors, it is the BLEU that a hypothesis may expect.

    >>> pair_bleu([[1, 2], [3]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    flat, offsets = _flat(words)
    rows = len(offsets) - 1
    grams = np.empty((order, len(flat)), np.int64)
    slots, ids, hashes, first, last, _ = _work(len(flat), 1)
    for n in range(order):
        _number_grams(flat, offsets, n, slots, ids, hashes, first, last)
        grams[n] = ids
    matches = np.zeros((rows, rows, order), np.int64)
    seen = np.zeros(len(flat), np.int64)
    stamp = np.zeros(len(flat), np.int64)
    _match(grams, offsets, seen, stamp, matches)
    scores = np.zeros((rows, rows))
    _score(matches, np.diff(offsets), scores)
    return scores


def _flat(words: Sequence[npt.ArrayLike]) -> tuple[I4, I8]:
    arrays = [np.asarray(row, np.int32) for row in words]
    return np.concatenate([*arrays, np.zeros(0, np.int32)]), offsets_from(map(len, arrays))


def _matrix(posteriors: npt.ArrayLike, rows: int) -> F8:
    chances = np.ascontiguousarray(posteriors, np.float64)
    if chances.ndim != 2 or len(chances) != rows:
        raise ValueError(f"posteriors have the shape {chances.shape}, expected ({rows}, lists)")
    return chances


def _work(tokens: int, lists: int) -> tuple[I8, I8, I8, I8, I8, F8]:
    """Make the work arrays: slots; of tokens the n-gram's number and hash; of n-grams place, last hypothesis, sums."""
    i8 = np.int64
    return (
        np.empty(capacity_for(tokens), i8),
        np.empty(tokens, i8),
        np.zeros(tokens, i8),
        np.empty(tokens, i8),
        np.empty(tokens, i8),
        np.empty((tokens, lists)),
    )


@kernel
def _number_grams(words, offsets, n, slots, ids, hashes, first, last):
    """Number the distinct n-grams of length ``n + 1``: the number of each token's n-gram in `ids`, -1: none begins.

    `hashes` holds those of length `n`, and then those of length ``n + 1``. Return how many there are.
    """
    clear(slots)
    count = 0
    for h in range(len(offsets) - 1):
        for at in range(offsets[h], offsets[h + 1]):
            ids[at] = -1
            if at + n >= offsets[h + 1]:
                continue
            seed = np.int64(0) if n == 0 else hashes[at]
            hashes[at] = mix(seed * 0x2545F4914F6CDD1D + words[at + n] + 1)
            slot = first_slot(slots, hashes[at])
            while slots[slot] >= 0 and not same_run(words, first[slots[slot]], words, at, n + 1):
                slot = next_slot(slots, slot)
            if slots[slot] < 0:
                slots[slot] = count
                first[count] = at
                last[count] = -1
                count += 1
            ids[at] = slots[slot]
    return count


@kernel
def _sum_grams(words, offsets, chances, n, slots, ids, hashes, first, last, likely, sums):
    """Add up p(g) over the n-grams of length ``n + 1`` of every hypothesis."""
    count = _number_grams(words, offsets, n, slots, ids, hashes, first, last)
    lists = chances.shape[1]
    for g in range(count):
        for k in range(lists):
            likely[g, k] = 0.0
    for h in range(len(offsets) - 1):
        for at in range(offsets[h], offsets[h + 1]):
            g = ids[at]
            if g >= 0 and last[g] != h:
                last[g] = h
                for k in range(lists):
                    likely[g, k] += chances[h, k]
    for h in range(len(offsets) - 1):
        for at in range(offsets[h], offsets[h + 1]):
            if ids[at] >= 0:
                for k in range(lists):
                    sums[h, k, n] += likely[ids[at], k]


@kernel
def _match(grams, offsets, seen, stamp, matches):
    """Count how many n-grams every two hypotheses share, each as often as both have it."""
    hypotheses, mark = len(offsets) - 1, 0
    for n in range(len(grams)):
        for token in range(len(stamp)):
            stamp[token] = 0
        mark = 0
        for h in range(hypotheses):
            for other in range(h, hypotheses):
                # `seen`: how often h has an n-gram that was not matched yet; made anew for each pair
                mark += 1
                for at in range(offsets[h], offsets[h + 1]):
                    g = grams[n, at]
                    if g < 0:
                        break
                    if stamp[g] != mark:
                        stamp[g] = mark
                        seen[g] = 0
                    seen[g] += 1
                shared = 0
                for at in range(offsets[other], offsets[other + 1]):
                    g = grams[n, at]
                    if g < 0:
                        break
                    if stamp[g] == mark and seen[g] > 0:
                        seen[g] -= 1
                        shared += 1
                matches[h, other, n] = shared
                matches[other, h, n] = shared


@kernel
def _score(matches, lengths, scores):
    """Fill in BLEU+1 of every pair."""
    hypotheses, orders = len(lengths), matches.shape[2]
    for h in range(hypotheses):
        for other in range(hypotheses):
            if lengths[h] == 0 or matches[h, other, 0] == 0:
                continue
            log_score = min(0.0, 1.0 - lengths[other] / lengths[h])
            for n in range(orders):
                more = 0.0 if n == 0 else 1.0
                total = max(lengths[h] - n, 0) + more
                log_score += np.log((matches[h, other, n] + more) / total) / orders
            scores[h, other] = np.exp(log_score)
