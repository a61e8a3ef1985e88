"""Curves of several systems over one axis, such as BLEU by the size of a corpus, as SVG text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from camber.errors import CamberError
from camber.report.axes import Scale, number
from camber.report.markup import Markup, element, text_width
from camber.report.pictures import alone
from camber.report.style import PHRASE_COLOURS

_SMALL = 12.0
_LEFT, _TOP, _WIDTH, _HEIGHT = 64.0, 26.0, 460.0, 250.0

#: name of a curve → its points
Curves = Mapping[str, Sequence[tuple[float, float]]]


def line_chart(curves: Curves, across: str, up: str, label: str, *, logarithmic: bool = False) -> str:
    """Return an SVG file: a curve with a dot for each point, the axes' names, and the curves' names beside it.

    `logarithmic` is for both axes, whose values must be above 0. `label` says to people who cannot see the picture what
    it shows.
    """
    points = [point for curve in curves.values() for point in curve]
    if not points or (logarithmic and min(min(point) for point in points) <= 0.0):
        raise CamberError("a chart without points, or one of logarithms with points that have none")
    places = {name: [_moved(point, logarithmic) for point in curve] for name, curve in curves.items()}
    sides = list(zip(*(place for curve in places.values() for place in curve), strict=True))
    x = Scale(*_range(sides[0], 0.04), _LEFT, _LEFT + _WIDTH)
    y = Scale(*_range(sides[1], 0.08), _TOP + _HEIGHT, _TOP)
    body: list[object] = [element("text", up, x=_LEFT, y=_TOP - 10, class_="small")]
    for tick in _ticks(y, logarithmic):
        body.append(element("line", x1=_LEFT, y1=y.at(tick), x2=_LEFT + _WIDTH, y2=y.at(tick), class_="line"))
        body.append(_text(_LEFT - 8, y.at(tick) + 4, _written(tick, logarithmic), "end"))
    bottom = _TOP + _HEIGHT
    body.append(element("line", x1=_LEFT, y1=bottom, x2=_LEFT + _WIDTH, y2=bottom, class_="axis"))
    for tick in _ticks(x, logarithmic):
        body.append(_text(x.at(tick), bottom + 17, _written(tick, logarithmic), "middle"))
    body.append(element("text", across, x=_LEFT + _WIDTH / 2, y=bottom + 38, class_="small", text_anchor="middle"))
    for k, (name, curve) in enumerate(places.items()):
        colour = f"var(--p{k % PHRASE_COLOURS})"
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in curve)
        body.append(element("polyline", points=path, fill="none", stroke=colour, stroke_width=2))
        for (a, b), (first, second) in zip(curve, curves[name], strict=True):
            told = element("title", f"{name}: {number(first)}, {number(second)}")
            body.append(element("circle", told, cx=f"{x.at(a):.1f}", cy=f"{y.at(b):.1f}", r=3.5, fill=colour))
        at = _TOP + 10 + 19 * k
        body.append(element("circle", cx=_LEFT + _WIDTH + 18, cy=at - 4, r=4, fill=colour))
        body.append(element("text", name, x=_LEFT + _WIDTH + 28, y=at, class_="small"))
    width = round(_LEFT + _WIDTH + 40 + max(text_width(name, _SMALL) for name in curves))
    height = round(bottom + 46)
    picture = element(
        "svg", *body, viewBox=f"0 0 {width} {height}", width=width, height=height, role="img", aria_label=label
    )
    return alone(picture)


def _moved(point: tuple[float, float], logarithmic: bool) -> tuple[float, float]:
    return (math.log10(point[0]), math.log10(point[1])) if logarithmic else point


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = margin * (high - low) or abs(high) * margin or 1.0
    return low - room, high + room


def _ticks(scale: Scale, logarithmic: bool) -> list[float]:
    """Return round values; of logarithms, those of 1, 2 and 5 times powers of ten."""
    if not logarithmic:
        return list(scale.ticks(6))
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    values = [power + math.log10(digit) for power in powers for digit in (1, 2, 5)]
    inside = [value for value in values if scale.low <= value <= scale.high]
    return inside if len(inside) <= 8 else [value for value in inside if float(value).is_integer()]


def _written(tick: float, logarithmic: bool) -> str:
    value = 10.0**tick if logarithmic else tick
    return f"{value:,.0f}" if value >= 1000.0 else number(value)


def _text(x: float, y: float, content: str, anchor: str) -> Markup:
    return element("text", content, x=x, y=y, class_="small soft", text_anchor=anchor)
