"""N-gram spectra as the definition has them: all n-grams of a sentence, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def spectrum(words: Sequence[int], order: int) -> Counter[tuple[int, ...]]:
    """Return how often each n-gram of 1 … `order` words stands in a sentence."""
    return Counter(tuple(words[start : start + n]) for n in range(1, order + 1) for start in range(len(words) - n + 1))


def kernel(left: Sequence[int], right: Sequence[int], weights: Sequence[float]) -> float:
    """Return the weighted number of pairs of equal n-grams."""
    one, two = spectrum(left, len(weights)), spectrum(right, len(weights))
    return sum(weights[len(gram) - 1] * count * two[gram] for gram, count in one.items())
