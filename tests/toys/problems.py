"""Random problems of sparse regression: counts times √length, with equal columns and rows among them."""

from __future__ import annotations

import numpy as np

from camber.arrays.sparse import Counts
from camber.regress.sparse.problem import Problem


def draw_problem(
    rng: np.random.Generator, *, instances: int, sources: int, targets: int, share: float = 0.35
) -> Problem:
    """Draw a problem whose lengths are 1 or 2; some columns are equal, some empty."""
    sides, lengths = [], []
    for width in (sources, targets):
        counts = rng.integers(1, 3, (instances, width)) * (rng.random((instances, width)) < share)
        copies = rng.integers(0, width, width // 3)
        counts[:, rng.integers(0, width, width // 3)] = counts[:, copies]
        lengths.append(rng.integers(1, 3, width).astype(np.uint8))
        sides.append(counts * np.sqrt(lengths[-1].astype(np.float64)))
    own = (rng.random(sources) < 0.5) * np.sqrt(lengths[0].astype(np.float64))
    return Problem(*(Counts.of_dense(table) for table in (*sides, own[None])), *lengths)
