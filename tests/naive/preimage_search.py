"""The pre-image search by its definition: all segmentations and orders with adjacent swaps, scored from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from naive import ngram_spectra

Text = tuple[int, ...]
#: options[start][size - 1]: what a span may become
Options = Sequence[Sequence[Sequence[Text]]]


def spans(length: int, longest: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all orders in which spans can be translated: each pair of neighbours may change places, once."""

    def go(start: int) -> Iterator[list[tuple[int, int]]]:
        if start == length:
            yield []
        for middle in range(start + 1, min(start + longest, length) + 1):
            for rest in go(middle):
                yield [(start, middle), *rest]
            for stop in range(middle + 1, min(middle + longest, length) + 1):
                for rest in go(stop):
                    yield [(middle, stop), (start, middle), *rest]

    return go(0)


def translations(options: Options) -> Iterator[tuple[list[tuple[int, int]], list[Text]]]:
    """Yield all ways to translate a sentence: spans in target order, and what each becomes."""
    longest = max(map(len, options), default=0)

    def fill(order: list[tuple[int, int]]) -> Iterator[list[Text]]:
        if not order:
            yield []
            return
        start, stop = order[0]
        own = options[start][stop - start - 1] if stop - start <= len(options[start]) else ()
        for option in own:
            for rest in fill(order[1:]):
                yield [option, *rest]

    for order in spans(len(options), longest):
        for texts in fill(order):
            yield order, texts


class Scorer:
    """Scores with dense matrices and vectors."""

    def __init__(
        self, pairs: Sequence[tuple[Text, Text]], weights: Sequence[float], ridge: float, alphas: Sequence[float] | None
    ) -> None:
        """Take the training pairs; `alphas` are those of maximum margin, None: least squares."""
        self.pairs, self.weights, self.alphas = pairs, weights, alphas
        gram = np.array([[ngram_spectra.kernel(x, z, weights) for z, _ in pairs] for x, _ in pairs])
        self.inverse = np.linalg.inv(gram + ridge * np.eye(len(pairs)))

    def vector(self, words: Text) -> dict[Text, float]:
        """Return √weight times the count of every n-gram."""
        counts = ngram_spectra.spectrum(words, len(self.weights))
        return {gram: self.weights[len(gram) - 1] ** 0.5 * count for gram, count in counts.items()}

    def score(self, source: Text, target: Text) -> float:
        """Return Eq. 10 with its sign turned, or Eq. 11, of prefixes."""
        x, y = self.vector(source), self.vector(target)
        sides = [[self.vector(pair[k]) for pair in self.pairs] for k in (0, 1)]
        if self.alphas is None:
            k_x = np.array([_product(x, other) for other in sides[0]])
            k_y = np.array([_product(y, other) for other in sides[1]])
            return float(2.0 * k_y @ self.inverse @ k_x - _product(y, y))
        left, right = (_centred([*side, own]) for side, own in zip(sides, (x, y), strict=True))
        return float(np.array(self.alphas) @ ((left[:-1] @ left[-1]) * (right[:-1] @ right[-1])))


def _product(left: dict[Text, float], right: dict[Text, float]) -> float:
    return sum(value * right.get(gram, 0.0) for gram, value in left.items())


def _centred(vectors: Sequence[dict[Text, float]]) -> np.ndarray:
    """Return dense vectors less the mean of all but the last, of length 1."""
    grams = sorted(set().union(*vectors))
    table = np.array([[vector.get(gram, 0.0) for gram in grams] for vector in vectors])
    table -= table[:-1].mean(0)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return np.asarray(table / np.where(lengths < 1e-9, 1.0, lengths))
