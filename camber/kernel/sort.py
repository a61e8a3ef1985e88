"""Sorting of short stretches of arrays, by insertion. Equal ones keep their order.

sort_rising(keys, 3, 8)                             # keys[3:8]
sort_falling(order, 3, 8, scores)                   # order[3:8], by the scores that they are indices of
insert_falling(scores, items, 3, 8, score, item)    # into scores[3:8] and items[3:8], which become one longer
"""

from __future__ import annotations

from camber.kernel.compile import kernel


@kernel
def sort_rising(values, first, last):
    """Sort ``values[first:last]``, the smallest first."""
    for i in range(first + 1, last):
        value = values[i]
        j = i
        while j > first and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def sort_falling(items, first, last, scores):
    """Sort ``items[first:last]``, indices of `scores`: that of the highest score first."""
    for i in range(first + 1, last):
        item = items[i]
        score = scores[item]
        j = i
        while j > first and scores[items[j - 1]] < score:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


@kernel
def insert_falling(scores, items, first, last, score, item):
    """Put an item among those in ``[first:last]``, whose scores fall, behind those with an equal score.

    What stands at `last` is overwritten.
    """
    place = last
    while place > first and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        items[place] = items[place - 1]
        place -= 1
    scores[place] = score
    items[place] = item
