"""Pictures as SVG text: phrases as ribbons, alignments as matrices, distributions, contributions of features.

They use the classes of `camber.report.style`, and have no fonts, scripts or files of their own. Every function returns
one ``<svg>`` element for a page; :func:`alone` makes a file of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.errors import CamberError
from camber.report.axes import Scale, numbers, signed
from camber.report.axes import number as written
from camber.report.markup import Markup, element, text_width
from camber.report.segmentation import Segmentation
from camber.report.style import PHRASE_COLOURS, picture_style

_WORD = 14.0  # font size of words, as in the style sheet
_SMALL = 12.0


def _picture(width: float, height: float, label: str, *body: object) -> Markup:
    """Frame a picture; `label` says to people who cannot see it what it shows."""
    return element(
        "svg", *body, viewBox=f"0 0 {width:.0f} {height:.0f}", width=round(width), height=round(height),
        role="img", aria_label=label,
    )  # fmt: skip


def _text(x: float, y: float, content: str, kind: str = "small", anchor: str = "start", **more: object) -> Markup:
    return element("text", content, x=x, y=y, class_=kind, text_anchor=anchor, **more)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _rectangle(x: float, y: float, width: float, height: float, kind: str, round_: float = 0.0) -> Markup:
    return element("rect", x=x, y=y, width=width, height=height, rx=round_ or None, class_=kind)


def alone(svg: Markup) -> str:
    """Return a picture as the text of an SVG file, with its style inside and the page's colour behind it."""
    style = element("style", Markup(picture_style() + "\nsvg{background:var(--paper)}"))
    frame, rest = svg.removeprefix("<svg").split(">", 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg"{frame}>{style}{rest}\n'


# --- phrases ---------------------------------------------------------------------------------------------------------


def ribbons(item: Segmentation) -> Markup:
    """Draw a translation: source phrases above, target phrases below, a ribbon from each to its translation."""
    height, gap, padding, between = 30.0, 7.0, 9.0, 62.0
    order = item.source_order
    colour = {k: number % PHRASE_COLOURS for number, k in enumerate(order)}

    def row(texts: Sequence[str]) -> list[tuple[float, float]]:
        """Place boxes side by side: (left, width) of each."""
        places, x = [], 0.0
        for text in texts:
            width = max(text_width(text, _WORD) + 2 * padding, 24.0)
            places.append((x, width))
            x += width + gap
        return places

    above = row([item.source_words(item.parts[k]) for k in order])
    below = row([item.target_words(part) for part in item.parts])
    widths = [row_[-1][0] + row_[-1][1] if row_ else 0.0 for row_ in (above, below)]
    total = max(*widths, 40.0)
    shift = [(total - width) / 2 + 1 for width in widths]
    top, bottom = 1.0, 1.0 + height + between
    groups = []
    for number, k in enumerate(order):
        part = item.parts[k]
        (x, w), (u, v) = above[number], below[k]
        x, u = x + shift[0], u + shift[1]
        y1, y2 = top + height, bottom
        middle = (y1 + y2) / 2
        path = (
            f"M{x:.1f} {y1:.1f}C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {y2:.1f}L{u + v:.1f} {y2:.1f}"
            f"C{u + v:.1f} {middle:.1f} {x + w:.1f} {middle:.1f} {x + w:.1f} {y1:.1f}Z"
        )
        source, target = item.source_words(part), item.target_words(part)
        label = f"{source} → {target}" + (f" ({part.note})" if part.note else "")
        groups.append(
            element(
                "g",
                element("title", label),
                element("path", d=path, class_="ribbon"),
                _rectangle(x, top, w, height, "box", 6),
                _rectangle(u, bottom, v, height, "box", 6),
                _text(x + w / 2, top + height / 2 + 5, source, "word", "middle"),
                _text(u + v / 2, bottom + height / 2 + 5, target, "word", "middle"),
                class_=f"part p{colour[k]}",
            )
        )
    label = f"{' '.join(item.source)} → {' '.join(item.target)}"
    return _picture(total + 2, bottom + height + 1, label, *groups)


def alignment_matrix(source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]]) -> Markup:
    """Draw a word alignment: a row for every source word, a column for every target word, a square for every link."""
    size = 25.0
    left = max((text_width(word, _WORD) for word in source), default=0.0) + 14
    over = max((text_width(word, _WORD) for word in target), default=0.0) * 0.8 + 22
    wide, high = size * len(target), size * len(source)
    body: list[object] = []
    for i, word in enumerate(source):
        y = over + size * i
        if i % 2 == 0:
            body.append(_rectangle(left, y, wide, size, "shade"))
        body.append(_text(left - 8, y + size / 2 + 5, word, "word", "end"))
    for i in range(len(source) + 1):
        body.append(_line(left, over + size * i, left + wide, over + size * i))
    for j, word in enumerate(target):
        x, y = left + size * (j + 0.5) + 4, over - 7
        body.append(_text(x, y, word, "word", transform=f"rotate(-52 {x:.1f} {y:.1f})"))
    for j in range(len(target) + 1):
        body.append(_line(left + size * j, over, left + size * j, over + high))
    for i, j in sorted(links):
        square = _rectangle(left + size * j + 3, over + size * i + 3, size - 6, size - 6, "cell", 4)
        body.append(element("g", element("title", f"{source[i]} – {target[j]}"), square))
    ends = [size * (j + 0.5) + 16 + 0.62 * text_width(word, _WORD) for j, word in enumerate(target)]  # of slanted words
    label = f"word alignment of “{' '.join(source)}” and “{' '.join(target)}”"
    return _picture(left + max([wide + 4, *ends]), over + high + 2, label, *body)


# --- distributions ---------------------------------------------------------------------------------------------------


class _Frame(NamedTuple):
    """Where a chart draws: its inner rectangle."""

    left: float
    top: float
    right: float
    bottom: float


_CHART = _Frame(46.0, 14.0, 452.0, 208.0)


def _steps(most: float) -> list[float]:
    """Choose round values from 0 to at least `most` for an axis.

    >>> _steps(47)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    power = 10.0 ** np.floor(np.log10(max(most, 1.0) / 4))
    step = float(next(factor * power for factor in (1, 2, 2.5, 5, 10) if max(most, 1.0) / (factor * power) <= 5))
    step = max(step, 1.0)
    return [step * k for k in range(int(np.ceil(max(most, 1.0) / step)) + 1)]


def _vertical_axis(frame: _Frame, steps: Sequence[float]) -> list[object]:
    body: list[object] = []
    for value in steps:
        y = frame.bottom - (frame.bottom - frame.top) * value / steps[-1]
        body.append(_line(frame.left, y, frame.right, y))
        body.append(_text(frame.left - 7, y + 4, f"{value:,.0f}", "small soft", "end"))
    return body


def histogram(values: npt.ArrayLike, edges: Sequence[float], label: str, unit: str) -> Markup:
    """Draw how many values lie between neighbouring edges (the last bin holds its upper edge too)."""
    counts = np.histogram(np.asarray(values, float), np.asarray(edges, float))[0].tolist()
    frame = _CHART
    steps = _steps(max(counts, default=1))
    body = _vertical_axis(frame, steps)
    across, named = (frame.right - frame.left) / max(1, len(counts)), numbers(edges)
    for k, count in enumerate(counts):
        high = (frame.bottom - frame.top) * count / steps[-1]
        x = frame.left + across * k
        bar = _rectangle(x + 1.5, frame.bottom - high, across - 3, high, "bar", min(3.0, high / 2))
        body.append(element("g", element("title", f"{named[k]} to {named[k + 1]}: {count:,}"), bar))
        if count:
            body.append(_text(x + across / 2, frame.bottom - high - 4, f"{count:,}", "small soft", "middle"))
    every = -(-int(max(text_width(name, _SMALL) for name in named) + 6) // max(1, int(across)))  # so that none touch
    for k in range(0, len(named), every):
        body.append(_text(frame.left + across * k, frame.bottom + 17, named[k], "small soft", "middle"))
    body.append(_line(frame.left, frame.bottom, frame.right, frame.bottom, "axis"))
    body.append(_text((frame.left + frame.right) / 2, frame.bottom + 38, unit, "small", "middle"))
    return _picture(frame.right + 18, frame.bottom + 46, label, *body)


def length_curves(source: npt.ArrayLike, target: npt.ArrayLike, names: tuple[str, str], label: str) -> Markup:
    """Draw how many sentences have how many words, one curve for either side."""
    sides = [np.asarray(side, np.int64) for side in (source, target)]
    longest = int(max(1, *(side.max(initial=0) for side in sides)))
    counts = [np.bincount(side, minlength=longest + 1) for side in sides]
    frame = _CHART
    steps = _steps(max(int(count.max()) for count in counts))
    across = (frame.right - frame.left) / longest
    body = _vertical_axis(frame, steps)
    for kind, count in zip(("curve", "curve other"), counts, strict=True):
        points = [
            f"{frame.left + across * k:.1f},{frame.bottom - (frame.bottom - frame.top) * int(n) / steps[-1]:.1f}"
            for k, n in enumerate(count)
        ]
        body.append(element("polyline", points=" ".join(points), class_=kind))
    for value in _steps(longest):
        if value <= longest:
            body.append(_text(frame.left + across * value, frame.bottom + 17, f"{value:g}", "small soft", "middle"))
    body.append(_line(frame.left, frame.bottom, frame.right, frame.bottom, "axis"))
    body.append(_text((frame.left + frame.right) / 2, frame.bottom + 38, "tokens in a sentence", "small", "middle"))
    for k, (name, kind) in enumerate(zip(names, ("curve", "curve other"), strict=True)):
        x, y = frame.right - text_width(max(names, key=len), _SMALL) - 44, frame.top + 16 + 19 * k
        body.append(_line(x, y - 4, x + 28, y - 4, kind))
        body.append(_text(x + 35, y, name, "small"))
    return _picture(frame.right + 18, frame.bottom + 46, label, *body)


# --- features --------------------------------------------------------------------------------------------------------


def bin_curves(before: npt.ArrayLike, after: npt.ArrayLike, names: tuple[str, str], label: str) -> Markup:
    """Draw the weights of the bins of a feature over their numbers: two curves, such as before and after training."""
    sides = [np.asarray(side, np.float64) for side in (before, after)]
    if sides[0].ndim != 1 or sides[0].shape != sides[1].shape or not len(sides[0]):
        raise CamberError(f"weights of bins of the shapes {sides[0].shape} and {sides[1].shape}; expected one of each")
    frame, both = _CHART, np.concatenate(sides)
    low, high = float(both.min()), float(both.max())
    margin = 0.06 * (high - low) or abs(high) or 1.0
    up = Scale(low - margin, high + margin, frame.bottom, frame.top)
    across = Scale(0.0, float(max(1, len(sides[0]) - 1)), frame.left, frame.right)
    body: list[object] = []
    for tick in up.ticks(6):
        body.append(_line(frame.left, up.at(tick), frame.right, up.at(tick)))
        body.append(_text(frame.left - 8, up.at(tick) + 4, written(tick), "small soft", "end"))
    for kind, side in zip(("curve other", "curve"), sides, strict=True):
        points = [f"{across.at(k):.1f},{up.at(value):.1f}" for k, value in enumerate(side.tolist())]
        body.append(element("polyline", points=" ".join(points), class_=kind))
    for tick in across.ticks(8):
        body.append(_text(across.at(tick), frame.bottom + 17, f"{tick:g}", "small soft", "middle"))
    body.append(_line(frame.left, frame.bottom, frame.right, frame.bottom, "axis"))
    body.append(_text((frame.left + frame.right) / 2, frame.bottom + 38, "number of the bin", "small", "middle"))
    for k, (name, kind) in enumerate(zip(names, ("curve other", "curve"), strict=True)):
        y = frame.top + 16 + 19 * k
        body.append(_line(frame.left + 14, y - 4, frame.left + 42, y - 4, kind))
        body.append(_text(frame.left + 49, y, name, "small"))
    return _picture(frame.right + 18, frame.bottom + 46, label, *body)


def contributions(names: Sequence[str], values: npt.ArrayLike, others: npt.ArrayLike | None, label: str) -> Markup:
    """Draw what every feature adds to a score (bars), and what it adds to another one's (ticks)."""
    bars = np.asarray(values, float)
    marks = bars if others is None else np.asarray(others, float)
    step, bar, left = 23.0, 13.0, max(text_width(name, 13) for name in names) + 20
    low, high = min(0.0, bars.min(), marks.min()), max(0.0, bars.max(), marks.max())
    wide, space = 520.0, 54.0  # space for the figures beside the longest bars
    scale = wide / ((high - low) or 1.0)
    zero = left + space - low * scale
    bottom = 6 + step * len(names)
    body: list[object] = [_line(zero, 2, zero, bottom, "axis")]
    for k, name in enumerate(names):
        y = 6 + step * k
        value, mark = float(bars[k]), float(marks[k])
        x = zero + min(0.0, value) * scale
        body.append(_text(left - 10, y + bar - 1, name, "small", "end"))
        body.append(_rectangle(x, y, abs(value) * scale, bar, "bar" if value >= 0 else "bar other", 2))
        if others is not None:
            body.append(_line(zero + mark * scale, y - 2, zero + mark * scale, y + bar + 2, "tick"))
        edge = min(value, mark, 0.0) if value < 0 else max(value, mark, 0.0)
        told = signed(value) if abs(value) >= 0.005 else "0"
        x, anchor = zero + edge * scale, "end" if value < 0 else "start"
        body.append(_text(x - 6 if value < 0 else x + 6, y + bar - 2, told, "small soft", anchor))
    return _picture(left + wide + 2 * space, bottom + 4, label, *body)


def seconds_bars(stages: Sequence[tuple[str, float | None]]) -> Markup:
    """Draw how long every stage took; None: its result was kept from an earlier run."""
    step, bar, left = 30.0, 16.0, max((text_width(name, 13) for name, _ in stages), default=0.0) + 22
    longest = max((seconds or 0.0 for _, seconds in stages), default=0.0) or 1.0
    body: list[object] = []
    for k, (name, seconds) in enumerate(stages):
        y = 6 + step * k
        wide = (seconds or 0.0) / longest * 560
        told = "kept from an earlier run" if seconds is None else f"{seconds:.1f} s"
        body.append(_text(left - 10, y + bar - 3, name, "small", "end"))
        body.append(_rectangle(left, y, max(wide, 1.5), bar, "bar", 2))
        body.append(_text(left + wide + 9, y + bar - 3, told, "small soft"))
    return _picture(left + 560 + 150, 6 + step * len(stages), "seconds of every stage", *body)
