"""Where to cut a very long sentence."""

from __future__ import annotations

from collections.abc import Sequence

_STRONG = frozenset(".;:!?…。")
_WEAK = frozenset(',)"»”、—–-')


def cut_points(words: Sequence[str], window: int) -> list[int]:
    """Return 0, the cuts, and the length: windows of at most `window` words, cut after punctuation where possible.

    >>> cut_points(["a", "b", ".", "c", "d"], 4)
    [0, 3, 5]
    """
    cuts = [0]
    while len(words) - cuts[-1] > window:
        low, high = cuts[-1] + window // 2, cuts[-1] + window
        cut = high
        for marks in (_STRONG, _WEAK):
            found = [i + 1 for i in range(low, high) if words[i] in marks]
            if found:
                cut = found[-1]
                break
        cuts.append(cut)
    cuts.append(len(words))
    return cuts
