"""Matches by the textbook: the edit distance to every segment, by recursion, and a sort."""

from __future__ import annotations

from functools import cache


def distance(one, two, fold, weight, near):
    """Return the least cost of turning a row of words into another one."""

    @cache
    def rest(i, j):
        if i == len(one):
            return sum(weight(fold(word)) for word in two[j:])
        if j == len(two):
            return sum(weight(fold(word)) for word in one[i:])
        first, second = weight(fold(one[i])), weight(fold(two[j]))
        if one[i] == two[j]:
            change = 0
        elif fold(one[i]) == fold(two[j]):
            change = near
        else:
            change = max(first, second)
        return min(change + rest(i + 1, j + 1), first + rest(i + 1, j), second + rest(i, j + 1))

    return rest(0, 0)


def matches(query, segments, times, threshold, best, *, fold, weight, near):
    """Return (segment, distance, length) of the segments that are most like the query."""
    found = []
    for number, words in enumerate(segments):
        length = max(sum(weight(fold(word)) for word in row) for row in (query, words))
        cost = distance(tuple(query), tuple(words), fold, weight, near)
        if length and (length - cost) * 10_000 >= threshold * 10_000 * length - 1e-6 * length:
            found.append((cost / length, -times[number], -number, (number, cost, length)))
    return [item for *_, item in sorted(found)[:best]]
