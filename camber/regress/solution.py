"""What solves a system with a Gram matrix, and what finds it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from camber.arrays.types import F8


class Solution(NamedTuple):
    """What solves (K + λ I) v = right."""

    values: F8  # [sentences, right-hand sides]
    steps: int  # of conjugate gradients; 0: a factor was at hand
    residual: float  # the largest over right-hand sides, relative to these


class GramSolver(Protocol):
    """Whatever solves with K + λ I."""

    def solve(self, right: F8, tolerances: F8 | None = None) -> Solution:
        """Solve for all columns of `right`, float64[sentences, k]; `tolerances` [k] stand for the solver's own."""
        ...
