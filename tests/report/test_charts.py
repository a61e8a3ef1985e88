"""What stands at the axes of charts can be told apart and read."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from camber.report.axes import fixed, numbers, signed
from camber.report.charts import changes, rounds
from camber.report.markup import text_width

_TEXT = re.compile(r'<text x="([^"]+)" y="([^"]+)" class="small soft" text-anchor="(\w+)">([^<]*)</text>')


def texts(svg: str, anchor: str) -> list[tuple[float, float, str]]:
    """Return place and content of the labels of an axis."""
    return [(float(x), float(y), told) for x, y, at, told in _TEXT.findall(svg) if at == anchor]


def test_ratios_close_to_one_have_labels_that_differ() -> None:
    labels = [told for _, _, told in texts(rounds({"a": [1.0012, 1.0009, 0.9989]}, "", ""), "end")]
    assert len(labels) > 2
    assert len(set(labels)) == len(labels)


@given(
    st.lists(st.floats(-9, 9).filter(lambda x: abs(x) > 1e-3), min_size=2, max_size=30), st.sampled_from([1.0, 1e-3])
)
def test_labels_below_bars_do_not_touch(values: list[float], scale: float) -> None:
    labels = texts(changes(np.array(values) * scale, "", ""), "middle")
    lowest = max(y for _, y, _ in labels)
    row = [(x, told) for x, y, told in labels if y == lowest]
    for (x, told), (next_x, next_told) in pairwise(row):
        assert next_x - x > (text_width(told, 12.0) + text_width(next_told, 12.0)) / 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_different_values_of_an_axis_are_written_differently(values: list[float]) -> None:
    rounded = [float(f"{value:.12g}") for value in values]
    assert len(set(numbers(rounded))) == len(set(rounded))


@given(st.floats(-100, 100))
def test_signs_are_those_of_what_is_written(value: float) -> None:
    assert float(fixed(value).replace("−", "-")) == float(f"{value:.2f}")
    assert float(signed(value).replace("−", "-")) == float(f"{value:.2f}")
    assert signed(value)[0] == ("0" if abs(value) < 0.005 else "+−"[value < 0])
