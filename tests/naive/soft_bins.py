"""Bins with soft edges, sigmoid by sigmoid."""

import math
from itertools import pairwise


def edges_and_widths(lows, highs, softness, reach):
    """The inner edges, and their widths: each at most any other's plus the way to it divided by `reach`."""
    edges = []
    for high, low in zip(highs, lows[1:], strict=False):
        middle = high + 0.5 * (low - high)
        edges.append(middle if middle > high else low)
    ends = [lows[0], *edges, highs[-1]]
    own = [
        max(softness * min(ends[k + 1] - ends[k], ends[k + 2] - ends[k + 1]), math.ulp(edge))
        for k, edge in enumerate(edges)
    ]
    widths = [min(w + abs(e - edge) / reach for e, w in zip(edges, own, strict=True)) for edge in edges]
    return edges, widths


def memberships(lows, highs, softness, reach, x):
    """How much x is in every bin; nothing if x is absent."""
    if not lows or x != x:
        return [0.0] * len(lows)
    above = [1.0]
    for edge, width in zip(*edges_and_widths(lows, highs, softness, reach), strict=True):
        z = (x - edge) / width
        above.append(1.0 if z >= reach else 0.0 if z <= -reach else 1.0 / (1.0 + math.exp(-z)))
    above.append(0.0)
    return [high - low for high, low in pairwise(above)]
