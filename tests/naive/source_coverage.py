"""Coverage as a Python integer, and future costs by recursion."""

from __future__ import annotations

import math


def future_cost(costs, i, j):
    """Return the best estimate for words i..j-1: one phrase (`costs`), or two parts."""
    whole = costs.get((i, j), -math.inf)
    halves = (future_cost(costs, i, cut) + future_cost(costs, cut, j) for cut in range(i + 1, j))
    return 0.0 if i == j else max([whole, *halves])


def first_gap(covered, length):
    """Return the first position that is not covered."""
    return next((i for i in range(length) if not covered >> i & 1), length)


def rest_cost(covered, length, future):
    """Sum the future costs of the maximal runs of free words; `future` is a function of (i, j)."""
    total, start = 0.0, None
    for i in range(length + 1):
        free = i < length and not covered >> i & 1
        if free and start is None:
            start = i
        if not free and start is not None:
            total += future(start, i)
            start = None
    return total


def jumped_over(covered, length):
    """Count the covered words that have a gap before and behind them."""
    free = [i for i in range(length) if not covered >> i & 1]
    return free[-1] - free[0] + 1 - len(free) if free else 0
