"""N-best lists whose good hypotheses lie on an island of the feature space, or nowhere in particular."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from toys.lists import with_values

from camber.nbest import NBest

WORDS = [f"w{number}" for number in range(40)]


def island(sentences: int = 120, size: int = 8, seed: int = 1) -> tuple[NBest, list[str]]:
    """Make a list whose hypotheses with (x, y) near (1, -1) are good, and all others bad.

    No line tells them apart, nor a curve for each feature: other points have the same x, or the same y. The own scores
    tell nothing.
    """
    rng = np.random.default_rng(seed)
    references, texts, rows = [], [], []
    for _ in range(sentences):
        reference = rng.choice(WORDS, 10)
        references.append(" ".join(reference))
        for x, y in rng.uniform(-3.0, 3.0, (size, 2)).tolist():
            words = reference.copy()
            words[: 1 if (x - 1.0) ** 2 + (y + 1.0) ** 2 < 1.5 else 6] = "x"
            texts.append(" ".join(words))
            rows.append([x, y])
    scores = rng.normal(0.0, 1.0, len(texts))
    return NBest.of_hypotheses(("x", "y"), np.arange(sentences + 1) * size, texts, rows, scores), references


def nowhere(sentences: int = 60, size: int = 6, seed: int = 3, *, own: bool = False) -> tuple[NBest, list[str]]:
    """Make a list of the same texts whose features tell nothing; with `own`, its own order is right."""
    nbest, references = island(sentences, size, seed)
    rng = np.random.default_rng(seed)
    if own:
        right = np.array([10 - text.split().count("x") for text in nbest.texts])
        nbest = replace(nbest, scores=right + rng.normal(0.0, 0.5, len(right)))
    return with_values(nbest, rng.normal(size=(nbest.hypotheses, 2))), references
