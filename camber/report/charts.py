"""Charts of measurements as SVG: scores with error bars, scores over rounds, length ratios, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.report.axes import Scale, numbers, round_edges
from camber.report.markup import Markup, element, text_width
from camber.report.pictures import histogram
from camber.report.style import PHRASE_COLOURS


class Measured(NamedTuple):
    """A score and the interval around it."""

    name: str
    score: float
    low: float
    high: float


def error_bars(rows: Sequence[Measured], label: str, unit: str) -> Markup:
    """Draw a line for every score: a dot, and the interval that it may lie in."""
    left, step, wide = max(text_width(row.name, 13.0) for row in rows) + 22, 30.0, 470.0
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    margin = 0.08 * (high - low) or 1.0
    across = Scale(low - margin, high + margin, left, left + wide)
    bottom = 8 + step * len(rows)
    body: list[object] = []
    ticks = across.ticks(7)
    for tick, told in zip(ticks, numbers(ticks), strict=True):
        x = across.at(tick)
        body += [_line(x, 2, x, bottom), _text(x, bottom + 17, told, "small soft", "middle")]
    for k, row in enumerate(rows):
        y = 8 + step * (k + 0.5) - 4
        a, b, x = across.at(row.low), across.at(row.high), across.at(row.score)
        told = f"{row.name}: {row.score:.2f} ({row.low:.2f} to {row.high:.2f})"
        bar = [_line(a, y, b, y, "whisker"), _line(a, y - 5, a, y + 5, "whisker"), _line(b, y - 5, b, y + 5, "whisker")]
        dot = element("circle", cx=x, cy=y, r=5.0, class_="dot")
        body += [
            _text(left - 12, y + 4, row.name, "small", "end"),
            element("g", element("title", told), *bar, dot),
            _text(left + wide + 12, y + 4, f"{row.score:.2f}", "small"),
        ]
    body.append(_text(left + wide / 2, bottom + 38, unit, "small", "middle"))
    return _picture(left + wide + 70, bottom + 46, label, body)


def rounds(series: Mapping[str, Sequence[float]], label: str, unit: str, *, marked: Sequence[int] = ()) -> Markup:
    """Draw values over the rounds 1, 2, … of each series; `marked` has the round of each that was kept, from 0."""
    values = np.concatenate([np.asarray(points, np.float64) for points in series.values()])
    longest = max(map(len, series.values()))
    up, body = _frame(values, 6)
    across = Scale(0.5, longest + 0.5, _LEFT, _RIGHT)
    every = max(1, -(-longest // 12))
    for k in range(0, longest, every):
        body.append(_text(across.at(k + 1), _BOTTOM + 17, f"{k + 1}", "small soft", "middle"))
    body.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 38, unit, "small", "middle"))
    for n, (name, points) in enumerate(series.items()):
        places = [(across.at(k + 1), up.at(value)) for k, value in enumerate(points)]
        line = element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_="series")
        dots = [
            element(
                "g",
                element("title", f"{name}, round {k + 1}: {value:.4g}"),
                element("circle", cx=x, cy=y, r=6.0 if kept else 3.0, class_="kept" if kept else "point"),
            )
            for k, ((x, y), value) in enumerate(zip(places, points, strict=True))
            for kept in [n < len(marked) and marked[n] == k]
        ]
        body.append(element("g", line, *dots, class_=f"p{n % PHRASE_COLOURS}"))
    return _with_names(list(series), body, label)


#: the last length of each group of sentences; the last group has no end
_LENGTHS = (5, 10, 15, 20, 25, 30, 40, 60)


def ratios(lengths: Mapping[str, npt.ArrayLike], references: npt.ArrayLike, label: str) -> Markup:
    """Draw how long outputs are, as a share of their references, by the length of the references."""
    expected = np.asarray(references, np.float64)
    group = np.searchsorted(_LENGTHS, expected, "left")
    groups = [k for k in range(len(_LENGTHS) + 1) if expected[group == k].sum() > 0]
    series = {
        name: [float(np.asarray(one, np.float64)[group == k].sum() / expected[group == k].sum()) for k in groups]
        for name, one in lengths.items()
    }
    up, body = _frame(np.array([1.0, *(value for points in series.values() for value in points)]), 6)
    across = Scale(-0.5, len(groups) - 0.5, _LEFT, _RIGHT)
    body.append(_line(_LEFT, up.at(1.0), _RIGHT, up.at(1.0), "axis"))
    for place, k in enumerate(groups):
        first = 1 if k == 0 else _LENGTHS[k - 1] + 1
        named = f"{first}–{_LENGTHS[k]}" if k < len(_LENGTHS) else f"{first}–"
        told = element("title", f"{int((group == k).sum()):,} sentences")
        body.append(element("g", told, _text(across.at(place), _BOTTOM + 17, named, "small soft", "middle")))
    body.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 38, "words of the reference", "small", "middle"))
    for n, (name, points) in enumerate(series.items()):
        places = [(across.at(k), up.at(value)) for k, value in enumerate(points)]
        dots = [
            element("g", element("title", f"{name}: {value:.3f}"), element("circle", cx=x, cy=y, r=3.5, class_="point"))
            for (x, y), value in zip(places, points, strict=True)
        ]
        line = element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_="series")
        body.append(element("g", line, *dots, class_=f"p{n % PHRASE_COLOURS}"))
    return _with_names(list(series), body, label)


def changes(values: F8, label: str, unit: str) -> Markup:
    """Draw how many values are how large, those that are 0 left out."""
    moved = values[values != 0]
    return histogram(moved, round_edges(moved, 12) if len(moved) else [0.0, 1.0], label, unit)


# --- frames ----------------------------------------------------------------------------------------------------------

_LEFT, _TOP, _RIGHT, _BOTTOM = 56.0, 14.0, 452.0, 208.0


def _frame(values: F8, most: int) -> tuple[Scale, list[object]]:
    """Make the vertical axis that holds all values, with its lines."""
    low, high = float(values.min()), float(values.max())
    margin = 0.08 * (high - low) or 0.02 * abs(high) or 1.0
    up = Scale(low - margin, high + margin, _BOTTOM, _TOP)
    body: list[object] = []
    ticks = up.ticks(most)
    for tick, told in zip(ticks, numbers(ticks, 4), strict=True):
        y = up.at(tick)
        body += [_line(_LEFT, y, _RIGHT, y), _text(_LEFT - 8, y + 4, told, "small soft", "end")]
    body.append(_line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis"))
    return up, body


def _with_names(names: Sequence[str], body: list[object], label: str) -> Markup:
    """Add what the colours mean, below, as many to a line as there is room for."""
    x, y = _LEFT, _BOTTOM + 62
    for n, name in enumerate(names if len(names) > 1 else []):
        wide = text_width(name, 12.0) + 46
        if x > _LEFT and x + wide > _RIGHT + 18:
            x, y = _LEFT, y + 19
        sample = element("line", x1=x, y1=y - 4, x2=x + 24, y2=y - 4, class_="series")
        body += [element("g", sample, class_=f"p{n % PHRASE_COLOURS}"), _text(x + 30, y, name, "small")]
        x += wide
    return _picture(_RIGHT + 18, (y + 8) if len(names) > 1 else _BOTTOM + 46, label, body)


def _picture(width: float, height: float, label: str, body: Sequence[object]) -> Markup:
    return element(
        "svg", *body, viewBox=f"0 0 {width:.0f} {height:.0f}", width=round(width), height=round(height),
        role="img", aria_label=label,
    )  # fmt: skip


def _text(x: float, y: float, content: str, kind: str, anchor: str = "start") -> Markup:
    return element("text", content, x=x, y=y, class_=kind, text_anchor=anchor)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)
