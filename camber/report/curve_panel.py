"""The picture of one learnt response: steps and markers above, populations below, the fitted log curve, violations."""

from __future__ import annotations

import math

import numpy as np

from camber.arrays.types import F8
from camber.bend.response import Response
from camber.report.axes import Scale, number, percent, round_values
from camber.report.drawing import Drawing, Point, Region, Shape, Text
from camber.report.markup import text_width

AXES = ("auto", "linear", "log")

WIDTH, HEIGHT = 760.0, 402.0
_LEFT, _RIGHT = 74.0, 738.0
_HEAD, _NOTE = 27.0, 48.0
_TOP, _BOTTOM = 82.0, 272.0  # of the response
_ROOF, _FLOOR = 298.0, 348.0  # of the populations
_STRIP = 46.0  # place for values that are not positive, on a logarithmic axis
_NARROWEST = 3.0  # what can be pointed at
#: the share of what a response spans that rounding may leave where there is nothing
_NOTHING = 1e-9
_MANY, _TOO_MANY = 48, 160  # bins: from here on small markers, and none


def can_be_log(response: Response) -> bool:
    """Say whether a logarithmic axis can show something of a response."""
    edges = np.concatenate([response.lows, response.highs])
    positive = edges[edges > 0]
    return len(positive) > 0 and float(positive.max()) > float(positive.min()) * (1 + 1e-9)


def fitting_axis(response: Response) -> str:
    """Choose the axis that shows more: logarithmic where values are not negative and span two powers of ten."""
    if not can_be_log(response) or response.lows[0] < 0:
        return "linear"
    edges = np.concatenate([response.lows, response.highs])
    return "log" if float(edges.max()) >= 100 * float(edges[edges > 0].min()) else "linear"


def direction_of(response: Response) -> str:
    """Name the direction of a response."""
    return {1: "rising", -1: "falling", 0: "flat"}[response.direction]


def reach(response: Response) -> str:
    """Write the least and the greatest value of a response."""
    low, high = number(float(response.values.min())), number(float(response.values.max()))
    return low if low == high else f"{low} to {high}"


def curve_formula(response: Response) -> str:
    """Write the fitted log curve, or why there is none."""
    curve = response.log_curve
    if curve is None:
        return f"no log curve ({response.no_log_curve})"
    sign = "−" if curve.slope < 0 else "+"
    level = curve.level if abs(curve.level) > _NOTHING * response.spread else 0.0  # what rounding leaves is nothing
    return f"{number(level)} {sign} {number(abs(curve.slope))} ln x"


def summary(response: Response) -> str:
    """Say in a line what there is to see.

    >>> summary(Response("p", [1, 2, 4], [1, 2, 4], [9, 9, 9], [0.0, 1.0, 2.0]))
    '3 bins, rising, none against it · log curve 0 + 1.44 ln x, explains 100 %'
    """
    bins = f"{len(response):,} bin{'s' * (len(response) != 1)}, {direction_of(response)}"
    if response.direction:
        against = int(response.violations.sum())
        bins += f", {against:,} against it" if against else ", none against it"
    if response.straight:
        bins += ", a straight line"
    fitted = response.log_curve
    if fitted is None:
        return f"{bins} · {curve_formula(response)}"
    curve = f"log curve {curve_formula(response)}"
    if fitted.explained is not None:
        curve += f", explains {percent(fitted.explained)}"
    if fitted.bins < len(response):
        curve += f" (of {fitted.bins:,} bins)"
    return f"{bins} · {curve}"


def panel(response: Response, axis: str = "auto") -> Drawing:
    """Draw a response; `axis` is auto, linear or log (which falls back to linear where nothing is positive)."""
    chosen = fitting_axis(response) if axis == "auto" or (axis == "log" and not can_be_log(response)) else axis
    across = _horizontal(response, chosen == "log")
    left, right, middle = _places(response, across)
    height = _vertical(response)
    y = height(response.values)
    fitted, steps = _fitted(response, across, height), _steps(response, left, right, middle, y)
    if response.curve is not None:
        steps = _curve(response.curve, across, height) + [shape for shape in steps if shape.ink in ("dot", "alarm")]
    items: list[Shape | Text] = [
        *_response_axis(height),
        *_value_axis(response, across),
        *_population_bars(response, left, right),
        *_bands(response, left, right),
        *(
            [*steps, *fitted] if len(response) > _TOO_MANY else [*fitted, *steps]
        ),  # a dense response would hide the curve
        Text(24, _HEAD, _cut(response.feature), "head"),
    ]
    if height.low < 0 < height.high:
        zero = height.at(0.0)
        items.insert(0, Shape("zero", [[(_LEFT, zero), (_RIGHT, zero)]]))
    return Drawing(
        WIDTH,
        HEIGHT,
        items,
        f"learnt response of {response.feature}: {summary(response)}",
        Text(24, _NOTE, summary(response)),
        _regions(response, left, right),
        (_TOP - 6, _FLOOR),
    )


def legend() -> Drawing:
    """Draw what the lines and marks mean."""
    y, x = 18.0, 24.0
    items: list[Shape | Text] = []
    for name in ("learnt response", "fitted log curve", "against the direction", "values in the bin"):
        centre = x + 14
        if name == "learnt response":
            items += [
                Shape("step", [[(x, y - 4), (x + 28, y - 4)]]),
                Shape("dot", [_disc(centre, y - 4, 3.9)], True),
            ]
        elif name == "fitted log curve":
            items.append(Shape("fit", [[(x, y - 4), (x + 28, y - 4)]]))
        elif name == "against the direction":
            items += [Shape("band", [_box(x, y - 14, x + 28, y + 5)], True),
                      Shape("alarm", [_triangle(centre, y - 4, 6.0, 1)], True)]  # fmt: skip
        else:
            items.append(
                Shape("populace", [_box(x + 3, y - 12, x + 12, y + 1), _box(x + 14, y - 8, x + 25, y + 1)], True)
            )
        items.append(Text(x + 36, y, name))
        x += 36 + text_width(name, 12.0) + 26
    return Drawing(x, 34.0, items, "what the lines and marks mean")


# --- axes ------------------------------------------------------------------------------------------------------------


def _horizontal(response: Response, logarithmic: bool) -> Scale:
    low, high = float(response.lows[0]), float(response.highs[-1])
    if not logarithmic:
        margin = (high - low) * 0.02 or abs(high) * 0.1 or 1.0
        return Scale(low - margin, high + margin, _LEFT, _RIGHT)
    seen = np.concatenate([response.lows, response.highs, response.positions])
    smallest = float(seen[seen > 0].min())
    begin = _LEFT + (_STRIP if response.highs[0] <= 0 else 0.0)
    margin = (high / smallest) ** 0.02
    return Scale(smallest / margin, high * margin, begin, _RIGHT, True)


def _vertical(response: Response) -> Scale:
    """Make room for the response and, where it is fitted, for the curve."""
    shown = [response.values] if response.curve is None else [response.values, response.curve[:, 1]]
    if response.log_curve:
        shown.append(response.log_curve(np.array(_curve_ends(response))))
    low, high = (float(end(np.concatenate(shown))) for end in (np.min, np.max))
    size = max(abs(low), abs(high))
    margin = (high - low) * 0.07 if high - low > 1e-9 * size else size * 0.2 or 1.0
    return Scale(low - margin, high + margin, _BOTTOM, _TOP)


def _places(response: Response, across: Scale) -> tuple[F8, F8, F8]:
    """Return where bins begin, end, and have their marker.

    On a logarithmic axis, bins without positive values share a strip at its beginning.
    """
    left, right, middle = (across(x) for x in (response.lows, response.highs, response.positions))
    if across.logarithmic:
        below = int(np.sum(response.highs <= 0))
        if below:
            slots = _LEFT + _STRIP * (np.arange(below) + 0.5) / (below + 0.5)
            left[:below] = right[:below] = middle[:below] = slots
    return left, right, middle


def _response_axis(height: Scale) -> list[Shape | Text]:
    ticks = height.ticks(6)
    lines = [[(_LEFT, y), (_RIGHT, y)] for y in height(ticks).tolist()]
    labels = [Text(_LEFT - 9, height.at(tick) + 4, number(tick), "note", "end") for tick in ticks]
    return [Shape("grid", lines), *labels, Text(_LEFT, _TOP - 10, "added to the score")]


def _value_axis(response: Response, across: Scale) -> list[Shape | Text]:
    """Draw the axis of the feature's values, below the populations."""
    items: list[Shape | Text] = []
    room, used = 26.0, -1e9
    for tick in across.ticks(9):
        x, label = across.at(tick), number(tick, 4)
        if not across.begin <= x <= across.end:
            continue
        half = text_width(label, 12.0) / 2
        if x - half < used + 9 or x + half > WIDTH - 2:
            items.append(Shape("base", [[(x, _FLOOR), (x, _FLOOR + 3)]]))
            continue
        items += [Shape("base", [[(x, _FLOOR), (x, _FLOOR + 5)]]), Text(x, _FLOOR + 20, label, "note", "middle")]
        used = x + half
    items.append(Shape("base", [[(across.begin, _FLOOR), (_RIGHT, _FLOOR)]]))
    if across.begin > _LEFT:
        below = response.highs <= 0
        name = "0" if (response.lows[below] == 0).all() else "≤ 0"
        edge = across.begin - 8
        items += [
            Shape("base", [[(_LEFT, _FLOOR), (edge - 8, _FLOOR)]]),
            Text((_LEFT + edge - 8) / 2, _FLOOR + 20, name, "note", "middle"),
        ]
    kind = "logarithmic" if across.logarithmic else "linear"
    items.append(
        Text((_LEFT + _RIGHT) / 2, _FLOOR + 20 + room - 6, f"value of the feature ({kind} axis)", "note", "middle")
    )
    return items


def _population_bars(response: Response, left: F8, right: F8) -> list[Shape | Text]:
    most = int(response.populations.max())
    ticks = round_values(0.0, float(most), 3) if most else [0.0]
    scale = Scale(0.0, float(max(most, 1)), _FLOOR, _ROOF)
    thin = 4.0 if len(response) <= _MANY else 1.2
    widen = np.maximum(thin - (right - left), 0.0) / 2
    gap = np.where(right - left > 6.0, 0.6, 0.0)
    bars = [
        _box(a, min(top, _FLOOR - 1.0), b, _FLOOR)  # what is there can be seen
        for a, b, top, some in zip(
            (left - widen + gap).tolist(),
            (right + widen - gap).tolist(),
            scale(response.populations).tolist(),
            response.populations.tolist(),
            strict=True,
        )
        if some
    ]
    lines = [[(_LEFT, scale.at(tick)), (_RIGHT, scale.at(tick))] for tick in ticks[1:]]
    labels = [Text(_LEFT - 9, scale.at(ticks[-1]) + 4, f"{ticks[-1]:,.0f}", "note", "end")]
    return [Shape("grid", lines), *labels, Text(_LEFT, _ROOF - 7, "values in the bin"), Shape("populace", bars, True)]


# --- the response ----------------------------------------------------------------------------------------------------


def _steps(response: Response, left: F8, right: F8, middle: F8, y: F8) -> list[Shape]:
    """Draw a step over every bin's range, thin lines from one to the next, and a marker for every bin."""
    against = response.violations
    n = len(response)
    links: list[list[Point]] = []
    backs: list[list[Point]] = []
    for k in range(n - 1):
        (backs if against[k + 1] else links).append(
            [(float(right[k]), float(y[k])), (float(left[k + 1]), float(y[k + 1]))]
        )
    wide = np.flatnonzero(right - left > 0.3).tolist()
    steps = [[(float(left[k]), float(y[k])), (float(right[k]), float(y[k]))] for k in wide]
    if n > _TOO_MANY:  # a marker each would hide the curve
        return [Shape("link", links), Shape("fine", steps), Shape("hair", backs)]
    radius, size = (3.9, 6.5) if n <= _MANY else (2.6, 4.5)
    dots = [_disc(float(middle[k]), float(y[k]), radius) for k in np.flatnonzero(~against)]
    alarms = [_triangle(float(middle[k]), float(y[k]), size, response.direction) for k in np.flatnonzero(against)]
    return [
        Shape("link", links),
        Shape("back", backs),
        Shape("step", steps),
        Shape("dot", dots, True),
        Shape("alarm", alarms, True),
    ]


def _curve(curve: F8, across: Scale, height: Scale) -> list[Shape]:
    """Draw a smooth response."""
    x, y = curve[curve[:, 0] > 0].T if across.logarithmic else curve.T
    return [Shape("step", [list(zip(across(x).tolist(), height(y).tolist(), strict=True))])]


def _bands(response: Response, left: F8, right: F8) -> list[Shape | Text]:
    """Shade the bins where the response goes back."""
    if len(response) > _TOO_MANY:
        return []
    boxes = []
    for k in np.flatnonzero(response.violations).tolist():
        widen = max(0.0, 8.0 - float(right[k] - left[k])) / 2
        boxes.append(_box(float(left[k]) - widen, _TOP - 6, float(right[k]) + widen, _BOTTOM))
    return [Shape("band", boxes, True)]


def _fitted(response: Response, across: Scale, height: Scale) -> list[Shape | Text]:
    if response.log_curve is None:
        return []
    x = np.geomspace(*_curve_ends(response), 160)
    points = zip(across(x).tolist(), height(response.log_curve(x)).tolist(), strict=True)
    return [Shape("fit", [list(points)])]


def _curve_ends(response: Response) -> tuple[float, float]:
    """Return from where to where the fitted curve is drawn: all positive values that the bins were made from."""
    seen = np.concatenate([response.lows, response.positions])
    return float(seen[seen > 0].min()), float(max(response.highs[-1], response.positions[-1]))


def _regions(response: Response, left: F8, right: F8) -> list[Region]:
    """Divide the picture among the bins; those too narrow to be pointed at are told together."""
    n = len(response)
    borders = np.concatenate([[_LEFT], (right[:-1] + left[1:]) / 2, [_RIGHT]])
    regions: list[Region] = []
    first = 0
    for k in range(n):
        # the last ones join too if what remains is too narrow
        if k == n - 1 or (borders[k + 1] - borders[first] >= _NARROWEST and borders[n] - borders[k + 1] >= _NARROWEST):
            regions.append(Region(float(borders[first]), float(borders[k + 1]), told(response, first, k)))
            first = k + 1
    return regions


def told(response: Response, first: int, last: int) -> str:
    """Say what there is to know about a bin, or about neighbouring bins.

    >>> told(Response("p", [0.1, 0.5], [0.4, 0.5], [1200, 1], [-1.0, 0.25]), 0, 0)
    'bin 1 of 2 · 0.1 to 0.4 · 1,200 values · adds −1'
    """
    n = f"{len(response):,}"
    low, high = float(response.lows[first]), float(response.highs[last])
    population = int(response.populations[first : last + 1].sum())
    values = response.values[first : last + 1]
    span = number(low, 4) if low == high else f"{number(low, 4)} to {number(high, 4)}"
    size = f"{population:,} value{'s' * (population != 1)}"
    against = int(response.violations[first : last + 1].sum())
    if first == last:
        text = f"bin {first + 1:,} of {n} · {span} · {size} · adds {number(float(values[0]), 4)}"
        return text + (" · against the direction" if against else "")
    text = f"bins {first + 1:,} to {last + 1:,} of {n} · {span} · {size} · add "
    text += f"{number(float(values.min()), 4)} to {number(float(values.max()), 4)}"
    return text + (f" · {against:,} against the direction" if against else "")


# --- shapes ----------------------------------------------------------------------------------------------------------


def _box(left: float, top: float, right: float, bottom: float) -> list[Point]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _disc(x: float, y: float, radius: float) -> list[Point]:
    turns = [2 * math.pi * k / 14 for k in range(14)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


def _triangle(x: float, y: float, size: float, direction: int) -> list[Point]:
    """Point down where the response should rise and falls, up where it should fall and rises."""
    tip = size * direction
    return [(x - size, y - 0.75 * tip), (x + size, y - 0.75 * tip), (x, y + tip)]


def _cut(name: str, widest: float = 640.0) -> str:
    """Shorten a name that is too long for its line."""
    if text_width(name, 16.0) <= widest:
        return name
    while text_width(name, 16.0) > widest:
        name = name[:-1]
    return name + "…"
