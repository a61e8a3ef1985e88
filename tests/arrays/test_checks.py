"""Checks of arrays that come from files: what kernels index by lies where it must, to the last cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from camber.arrays import checks as module
from camber.arrays.checks import Checks
from camber.errors import ModelError

CHECKS = Checks(Path("model"))


@pytest.mark.parametrize(
    ("offsets", "told"),
    [
        ([0, 2, 2, 5], ""),
        ([0, 3, 2, 5], "fall"),
        ([1, 2, 2, 5], "from 1 to 5, expected 0 to 5"),
        ([0, 2, 2, 4], "from 0 to 4, expected 0 to 5"),
        ([0, 2, 5], "shape"),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 1 << 20])
def test_offsets_rise_from_nothing_to_the_end(
    offsets: list[int], told: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    if not told:
        CHECKS.offsets("rows", np.array(offsets), 3, 5)
        return
    with pytest.raises(ModelError, match=told):
        CHECKS.offsets("rows", np.array(offsets), 3, 5)


def test_numbers_lie_below_their_bound_and_rise() -> None:
    CHECKS.below("ids", np.array([0, 2]), 3)
    CHECKS.below("ids", np.array([-1, 2]), 3, least=-1)
    CHECKS.below("ids", np.empty(0, np.int64), 0)
    CHECKS.rising("keys", np.array([-3, 0, 1]))
    for numbers, bound, least in (([0, 3], 3, 0), ([-1, 2], 3, 0), ([-2], 3, -1)):
        with pytest.raises(ModelError, match="numbers from"):
            CHECKS.below("ids", np.array(numbers), bound, least)
    for numbers in ([0, 0], [1, 0], [0, 1, 1]):
        with pytest.raises(ModelError, match="do not rise"):
            CHECKS.rising("keys", np.array(numbers))


def test_values_are_finite_and_no_less_than_they_may_be() -> None:
    CHECKS.finite("values", np.array([0.0, 1e300]), least=0.0)
    CHECKS.finite("values", np.empty(0))
    for values, least in (([np.nan, 0.0], -np.inf), ([np.inf], -np.inf), ([-np.inf], -np.inf), ([-1e-9], 0.0)):
        with pytest.raises(ModelError, match=r"finite ones"):
            CHECKS.finite("values", np.array(values), least)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, ">i4", np.float32, np.float64, ">f4"])
def test_one_odd_number_among_many_is_found_whatever_their_type(kind: str) -> None:
    plain = np.arange(1000).reshape(100, 10).astype(kind) % 100
    floats = plain.dtype.kind == "f"
    odd: list[float] = [-1e-30, -1.0, np.nan, np.inf, -np.inf] if floats else [100, 127, -1, -128]
    if not floats and plain.dtype.kind == "u":
        odd = odd[:2]

    def check(array: npt.NDArray[Any]) -> None:
        if floats:
            CHECKS.finite("values", array, least=0.0)
        else:
            CHECKS.below("ids", array, 100)

    check(plain[::2, 1:])
    if floats:
        check(np.append(plain, -0.0).astype(kind))
    for value in odd:
        array = plain.copy()
        array[57, 3] = value
        with pytest.raises(ModelError, match="expected"):
            check(array)
