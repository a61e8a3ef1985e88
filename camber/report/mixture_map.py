"""Where in feature space the kernels of a re-ranker act: a map over the two features that matter most.

The shades are what the kernels add to the score of a hypothesis with these two values, on average over the other
features (:mod:`camber.bend.mixtures.plane`), as far as hypotheses are; dots are the kernels whose weights count most,
arrows lead from the hypothesis that was a sentence's best to the one that is now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import camber
from camber.arrays.types import F8
from camber.bend.mixtures.plane import Plane, planes_of
from camber.errors import CamberError, SettingsError
from camber.features.feature import names_of
from camber.report.axes import Scale, number, percent
from camber.report.curves import write_picture
from camber.report.drawing import Drawing, Point, Shape, Sheet, Text, drawing_style, svg
from camber.report.markup import Markup, document, element, text_width
from camber.report.style import PAGE_STYLE, picture_style
from camber.rerank.mixture import Mixed

WIDTH, HEIGHT = 860.0, 640.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 838.0, 86.0, 566.0
_COLUMNS, _LINES = 152, 96  # cells of the shades
SHADES = 5  # on either side of 0
_DOTS, _ARROWS = 40, 40
_LARGEST = 11.0  # radius of the dot of the heaviest kernel
_SUPPORT = 0.995  # shades cover this share of the mixture's mass
_LISTED = 20
_TOLD = 10_000  # kernels in JSON


@dataclass(frozen=True)
class Map:
    """A map of what the kernels of a re-ranker add, and planes that were not drawn."""

    mixed: Mixed
    plane: Plane
    others: Sequence[Plane] = ()

    @classmethod
    def of(cls, mixed: Mixed, features: Sequence[str] = ()) -> Map:
        """Choose the plane: through the named features, or the one that explains most."""
        weights = mixed.bend.apart(mixed.weights)[1]
        if not weights.any():
            raise CamberError("the kernels of this model add nothing, it is linear: there is nothing to draw")
        first, *others = planes_of(mixed.bend, weights, features)
        return cls(mixed, first, others)

    def sheet(self) -> Sheet:
        """Return the picture with its legend."""
        return Sheet.grid([self.drawing()], 1, legend())

    def lines(self) -> list[str]:
        """Say for the terminal what there is to see."""
        record = self.mixed.record()
        across, up = self.plane.features
        return [
            f"{self.mixed.bend.width:,} kernels, bandwidth {record['bandwidth']:g}, "
            f"{percent(record['dropped'], 2)} of the mass of posteriors was dropped",
            f"{across} and {up} explain {percent(self.plane.explained)} of the variance of what kernels add",
            f"{self.mixed.moved.changed:,} sentences of the list that it was fitted to have another best hypothesis",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the map for other programs: the plane, and its kernels with the heaviest first."""
        plane = self.plane
        order = np.argsort(-np.abs(plane.weights), kind="stable")[:_TOLD]
        kernels = [
            {
                "name": self.mixed.bend.kernel_names[int(plane.kernels[k])],
                "weight": float(plane.weights[k]),
                "prior": math.exp(plane.log_priors[k]),
                "mean": plane.means[k].tolist(),
                "deviation": plane.deviations[k].tolist(),
            }
            for k in order.tolist()
        ]
        return {"features": list(plane.features), "explained": plane.explained, "kernels": kernels}

    # --- the picture --------------------------------------------------------------------------------------------------

    def drawing(self) -> Drawing:
        """Draw shades, dots and arrows."""
        across, up = self._scales()
        name_x, name_y = self.plane.features
        share = percent(self.plane.explained)
        told = f"{self.mixed.bend.width:,} kernels; these two features explain {share} of what they add"
        items: list[Shape | Text] = [
            *self._shades(across, up),
            *_axes(across, up, name_x, name_y),
            *self._arrows(across, up),
            *self._dots(across, up),
            Text(24, 27, "What kernels add to the score", "head"),
            Text(24, 48, told),
        ]
        return Drawing(WIDTH, HEIGHT, items, f"map of what kernels add over {name_x} and {name_y}")

    def _scales(self) -> tuple[Scale, Scale]:
        """Make room for the bulk of the mixture, and for most of the arrows."""
        places = self._moved()
        sides = []
        for side, (begin, end) in enumerate([(_LEFT, _RIGHT), (_BOTTOM, _TOP)]):
            low, high = self.plane.middle_range(side)
            if len(places):
                less, more = np.quantile(places[:, :, side], [0.02, 0.98]).tolist()
                low, high = min(low, less), max(high, more)
            margin = 0.03 * (high - low) or 1.0
            sides.append(Scale(low - margin, high + margin, begin, end))
        return sides[0], sides[1]

    def _field(self, across: Scale, up: Scale) -> tuple[F8, F8, F8, F8]:
        """Return the edges of cells in both directions, and in [lines, columns] what is added (NaN: too few there)."""
        x = np.linspace(across.low, across.high, _COLUMNS + 1)
        y = np.linspace(up.low, up.high, _LINES + 1)
        middle_x, middle_y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
        added, density = self.plane.at(np.tile(middle_x, _LINES), np.repeat(middle_y, _COLUMNS))
        order = np.argsort(-density, kind="stable")
        mass = np.cumsum(density[order]) / density.sum()
        there = np.zeros(len(density), bool)
        there[order[: int(np.searchsorted(mass, _SUPPORT)) + 1]] = True
        level = float((added * density)[there].sum() / density[there].sum())  # a constant ranks nothing
        shown = np.where(there, added - level, np.nan).reshape(_LINES, _COLUMNS)
        return x, y, shown, density.reshape(_LINES, _COLUMNS)

    def _shades(self, across: Scale, up: Scale) -> list[Shape | Text]:
        x, y, shown, _ = self._field(across, up)
        sizes = np.abs(shown[~np.isnan(shown)])
        top = float(np.quantile(sizes, 0.98)) or float(sizes.max()) or 1.0
        steps = np.where(np.isnan(shown), 0, np.clip(np.trunc(shown / top * (SHADES + 0.5) * 0.999), -SHADES, SHADES))
        boxes: dict[int, list[list[Point]]] = {}
        places_x, places_y = across(x).tolist(), up(y).tolist()
        for line in range(_LINES):
            start = 0
            for column in range(1, _COLUMNS + 1):
                if column == _COLUMNS or steps[line, column] != steps[line, start]:
                    if step := int(steps[line, start]):
                        # a little wider than it is: no gaps between neighbours
                        right, bottom = places_x[column] + 0.25, places_y[line] + 0.25
                        boxes.setdefault(step, []).append(_box(places_x[start], places_y[line + 1], right, bottom))
                    start = column
        items: list[Shape | Text] = [Shape(shade(step), found, True) for step, found in sorted(boxes.items())]
        outline = _outline(~np.isnan(shown), places_x, places_y)
        return [*items, Shape("grid", outline), *_bar(top)]

    def _dots(self, across: Scale, up: Scale) -> list[Shape | Text]:
        """Draw the kernels that count most: those whose weights, times how often they are used, are the largest."""
        plane = self.plane
        counts = np.argsort(-np.abs(plane.weights), kind="stable")[:_DOTS]
        largest = float(np.abs(plane.weights[counts]).max()) or 1.0
        raising: list[list[Point]] = []
        lowering: list[list[Point]] = []
        for kernel in counts.tolist():
            x, y = across.at(float(plane.means[kernel, 0])), up.at(float(plane.means[kernel, 1]))
            if _LEFT <= x <= _RIGHT and _TOP <= y <= _BOTTOM:
                radius = max(1.8, _LARGEST * math.sqrt(abs(float(plane.weights[kernel])) / largest))
                (raising if plane.weights[kernel] > 0 else lowering).append(_disc(x, y, radius))
        return [Shape("raising", raising, True), Shape("lowering", lowering, True)]

    def _moved(self) -> F8:
        """Return where moved hypotheses were and are, float64[sample, 2, 2]; what is absent counts as the centre."""
        bend, moved = self.mixed.bend, self.mixed.moved
        at = [names_of(bend.inputs).index(name) for name in self.plane.features]
        if not len(moved):
            return np.zeros((0, 2, 2))
        places = moved.features[:, :, at]
        return np.where(np.isnan(places), bend.centre[at], places)

    def _arrows(self, across: Scale, up: Scale) -> list[Shape | Text]:
        places, gains = self._moved(), self.mixed.moved.gains
        sample = np.arange(min(_ARROWS, len(places))) * len(places) // max(1, min(_ARROWS, len(places)))
        lines: dict[str, list[list[Point]]] = {"better": [], "worse": [], "alike": []}
        for k in sample.tolist():
            (x1, y1), (x2, y2) = ((across.at(x), up.at(y)) for x, y in places[k].tolist())
            if not all(_LEFT <= x <= _RIGHT and _TOP <= y <= _BOTTOM for x, y in ((x1, y1), (x2, y2))):
                continue
            kind = "better" if gains[k] > 0 else "worse" if gains[k] < 0 else "alike"
            lines[kind] += _arrow(x1, y1, x2, y2)
        return [Shape(kind, found) for kind, found in lines.items() if found]

    # --- the page -----------------------------------------------------------------------------------------------------

    def page(self, model: str = "") -> str:
        """Return an HTML page that needs nothing else and has no scripts."""
        title = f"Where the kernels of {model} act" if model else "Where kernels act"
        mixed, record = self.mixed, self.mixed.record()
        facts = [
            (f"{mixed.bend.width:,}", "kernels"),
            (f"{record['bandwidth']:g}", "bandwidth: of the kernels' standard deviations"),
            (percent(record["dropped"], 2), "of the mass of posteriors was dropped"),
            (f"{mixed.moved.changed:,}", "sentences with another best hypothesis than by the linear model"),
        ]
        cards = [element("div", element("b", a), element("span", b), class_="card") for a, b in facts]
        across, up = self.plane.features
        sampled = len(self.plane.kernels)
        sample = f" The map is made from a random sample of {sampled:,} kernels." if sampled < mixed.bend.width else ""
        body = element(
            "main",
            element("h1", title),
            element(
                "p",
                "A linear model adds the same for a feature everywhere. Kernels are regions of the space of all "
                "features, and each learnt what a hypothesis there is worth beyond the line.",
                class_="lead",
            ),
            element("div", *cards, class_="cards"),
            element("figure", svg(self.drawing()), svg(legend()), element("figcaption", _CAPTION + sample)),
            element("h2", "Why these two features"),
            element(
                "p",
                f"What kernels add depends on all features. Given {across} and {up} alone, its mean over the others "
                f"keeps {percent(self.plane.explained, 1)} of its variance, measured on points drawn from the mixture. "
                "Of all pairs, or those with a feature that was asked for, these explain most:",
            ),
            self._pairs(),
            element("h2", "The kernels that count most"),
            self._kernels(),
            element("footer", f"Camber {camber.__version__}."),
        )
        return document(title, picture_style() + PAGE_STYLE + drawing_style(), body)

    def _pairs(self) -> Markup:
        rows = [
            element(
                "tr",
                element("td", " and ".join(plane.features)),
                element("td", percent(plane.explained, 1), class_="n"),
            )
            for plane in [self.plane, *self.others[: _LISTED // 2]]
        ]
        head = element("tr", element("th", "features"), element("th", "explained", class_="n"))
        inside = element("table", element("thead", head), element("tbody", *rows), class_="narrow")
        return element("div", inside, class_="scroll", tabindex=0)

    def _kernels(self) -> Markup:
        bend, plane = self.mixed.bend, self.plane
        names = names_of(bend.inputs)
        rows = []
        for place in np.argsort(-np.abs(plane.weights), kind="stable")[:_LISTED].tolist():
            kernel = int(plane.kernels[place])
            where = bend.raw_means(np.array([kernel]))[0].tolist()
            texts = [number(float(plane.weights[place]), 4), percent(math.exp(plane.log_priors[place]), 2)]
            cells = [element("td", text, class_="n") for text in [*texts, *(number(value) for value in where)]]
            rows.append(element("tr", element("td", bend.kernel_names[kernel]), *cells))
        titles = ["weight, less the mean", "prior", *names]
        head = element("tr", element("th", "kernel"), *(element("th", text, class_="n") for text in titles))
        return element("div", element("table", element("thead", head), element("tbody", *rows), class_="wide"),
                       class_="scroll")  # fmt: skip


def draw_map(mixed: Mixed, out: Path, features: Sequence[str] = (), axis: str = "auto", name: str = "") -> Map:
    """Draw the map of a re-ranker with kernels, over two features that may be named; `name` is the model's."""
    if axis == "log":
        raise SettingsError("the axes of a map are linear; leave --axis out")
    drawn = Map.of(mixed, features)
    write_picture(out, lambda: drawn.page(name), drawn.sheet, lambda: {"model": name, "map": drawn.to_dict()})
    return drawn


_CAPTION = (
    "Shades tell what the kernels add to the score of a hypothesis with these two values, on average over the other "
    "features and less what they add to all; they end where hardly any hypothesis is. Dots are the kernels with the "
    "largest weights, larger where the weight is; a kernel may differ from the shade around it because others overlap "
    "it. Arrows lead from the hypothesis that was a sentence's best by the linear model to the one that is now, in a "
    "sample of the list that the model was fitted to."
)


def shade(step: int) -> str:
    """Name the ink of a shade, -SHADES … SHADES.

    >>> shade(2), shade(-1)
    ('rise2', 'fall1')
    """
    return f"{'rise' if step > 0 else 'fall'}{abs(step)}"


def legend() -> Drawing:
    """Draw what dots and arrows mean."""
    y, x = 18.0, 24.0
    items: list[Shape | Text] = []
    marks: list[tuple[str, list[Shape]]] = [
        ("kernel that raises scores", [Shape("raising", [_disc(0, -4, 6)], True)]),
        ("that lowers them", [Shape("lowering", [_disc(0, -4, 6)], True)]),
        ("new best, a better one", [Shape("better", _arrow(-12, -4, 12, -4))]),
        ("a worse one", [Shape("worse", _arrow(-12, -4, 12, -4))]),
        ("as good", [Shape("alike", _arrow(-12, -4, 12, -4))]),
    ]
    for name, shapes in marks:
        for item in shapes:
            strokes = [[(a + x + 14, b + y) for a, b in stroke] for stroke in item.strokes]
            items.append(Shape(item.ink, strokes, item.closed))
        items.append(Text(x + 34, y, name))
        x += 34 + text_width(name, 12.0) + 18
    return Drawing(WIDTH, 34.0, items, "what dots and arrows mean")


def _bar(top: float) -> list[Shape | Text]:
    """Draw the scale of shades above the map."""
    wide, high, y = 22.0, 11.0, 60.0
    x = _RIGHT - (2 * SHADES + 1) * wide
    items: list[Shape | Text] = []
    for place, step in enumerate(range(-SHADES, SHADES + 1)):
        if step:
            items.append(Shape(shade(step), [_box(x + place * wide, y, x + (place + 1) * wide, y + high)], True))
    middle = x + (SHADES + 0.5) * wide
    for at, anchor, text in (
        (x, "start", number(-top, 2)),
        (middle, "middle", "0"),
        (_RIGHT, "end", f"+{number(top, 2)}"),
    ):
        items.append(Text(at, y - 6, text, "note", anchor))
    return [*items, Text(x - 12, y + high - 1, "added to the score", "note", "end")]


def _axes(across: Scale, up: Scale, name_x: str, name_y: str) -> list[Shape | Text]:
    items: list[Shape | Text] = [Shape("grid", [[*_box(_LEFT, _TOP, _RIGHT, _BOTTOM), (_LEFT, _TOP)]])]
    for tick in across.ticks(9):
        x = across.at(tick)
        items += [
            Shape("base", [[(x, _BOTTOM), (x, _BOTTOM + 5)]]),
            Text(x, _BOTTOM + 20, number(tick, 4), "note", "middle"),
        ]
    for tick in up.ticks(8):
        y = up.at(tick)
        items += [Shape("base", [[(_LEFT - 5, y), (_LEFT, y)]]), Text(_LEFT - 9, y + 4, number(tick, 4), "note", "end")]
    items.append(Text((_LEFT + _RIGHT) / 2, _BOTTOM + 44, name_x, "told", "middle"))
    return [*items, Text(_LEFT, _TOP - 9, f"↑ {name_y}", "told")]


def _outline(there: np.ndarray, x: list[float], y: list[float]) -> list[list[Point]]:
    """Return lines around the cells that are there, joined where they go on straight."""
    wide = np.pad(there, 1)
    strokes: list[list[Point]] = []
    for line in range(there.shape[0] + 1):
        strokes += [[(x[a], y[line]), (x[b], y[line])] for a, b in _runs(wide[line, 1:-1] != wide[line + 1, 1:-1])]
    for column in range(there.shape[1] + 1):
        edge = wide[1:-1, column] != wide[1:-1, column + 1]
        strokes += [[(x[column], y[a]), (x[column], y[b])] for a, b in _runs(edge)]
    return strokes


def _runs(marks: np.ndarray) -> list[tuple[int, int]]:
    """Return where runs of marks begin and end.

    >>> _runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marks.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _box(left: float, top: float, right: float, bottom: float) -> list[Point]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _disc(x: float, y: float, radius: float) -> list[Point]:
    turns = [2 * math.pi * k / 20 for k in range(20)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


def _arrow(x1: float, y1: float, x2: float, y2: float) -> list[list[Point]]:
    """Return a small ring where it begins, a line, and a head."""
    length = math.hypot(x2 - x1, y2 - y1)
    ring = [*_disc(x1, y1, 2.2), (x1 + 2.2, y1)]
    if length < 5.0:
        return [ring]
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    head = [(x2 - 6.5 * ux + side * 3.2 * uy, y2 - 6.5 * uy - side * 3.2 * ux) for side in (1, -1)]
    return [ring, [(x1 + 2.2 * ux, y1 + 2.2 * uy), (x2, y2)], [head[0], (x2, y2), head[1]]]
