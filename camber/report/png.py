"""Drawings as PNG, by matplotlib (the extra `plots`), which is imported only here."""

from __future__ import annotations

import io
from typing import Any

from camber.errors import CamberError
from camber.report.drawing import INKS, LETTERS, Drawing, Runs, Shape, Sheet, Text
from camber.report.style import LIGHT

#: one unit of a drawing is a CSS pixel: 96 to the inch; PNG files have twice as many, for sharp screens and for print
_PIXELS, _DOTS = 96.0, 192.0
_POINTS = 72.0 / _PIXELS
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def check_matplotlib() -> None:
    """Raise an error that says what to install where matplotlib is absent."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise CamberError(
            "PNG pictures need matplotlib: pip install 'camber[plots]'; .svg and .html need nothing"
        ) from None


def png(sheet: Sheet) -> bytes:
    """Return the bytes of a PNG file; the same drawing gives the same bytes."""
    check_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # no pyplot and no settings of the user: a picture must not depend on what else is drawn in this process
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        figure = Figure(figsize=(sheet.width / _PIXELS, sheet.height / _PIXELS), dpi=_DOTS, facecolor=LIGHT["paper"])
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, sheet.width)
        axes.set_ylim(sheet.height, 0)
        axes.set_axis_off()
        for x, y, drawing in sheet.placed:
            _draw(axes, drawing, x, y)
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=_DOTS, metadata={"Software": None})
    return stream.getvalue()


def _draw(axes: Any, drawing: Drawing, x: float, y: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for order, item in enumerate([*drawing.items, *([drawing.quiet] if drawing.quiet else [])]):
        if isinstance(item, Shape):
            ink = INKS[item.ink]
            parts = [
                Path([(x + a, y + b) for a, b in ([*stroke, stroke[0]] if item.closed else stroke)], closed=item.closed)
                for stroke in item.strokes
            ]
            if not parts:
                continue
            # one path, as in SVG: areas that overlap do not add up
            drawn = PathPatch(
                Path.make_compound_path(*parts),
                facecolor=LIGHT[ink.fill] if ink.fill else "none",
                edgecolor=LIGHT[ink.stroke] if ink.stroke else "none",
                linewidth=ink.width * _POINTS if ink.stroke else 0.0,
                linestyle=(0, tuple(length / ink.width for length in ink.dash)) if ink.dash else "solid",
                capstyle="round",
                joinstyle="round",
                alpha=ink.opacity,
                zorder=order,
            )
            axes.add_patch(drawn)
            continue
        if isinstance(item, Runs):
            _set_runs(axes, item, x, y, order)
        else:
            _set(axes, item, x, y, order)


def _set(axes: Any, item: Text, x: float, y: float, order: float) -> Any:
    kind = LETTERS[item.letters]
    return axes.text(
        x + item.x,
        y + item.y,
        item.content,
        ha=_ANCHORS[item.anchor],
        va="baseline",
        size=kind.size * _POINTS * 0.94,  # matplotlib's own font is wider than those of browsers
        color=LIGHT[kind.colour],
        weight="bold" if kind.bold else "normal",
        parse_math=False,  # a dollar sign in a name is a dollar sign
        zorder=order,
    )


def _set_runs(axes: Any, item: Runs, x: float, y: float, order: float) -> None:
    """Set pieces one behind the other: each begins where the one before it ended."""
    at = item.x

    def width(content: str, letters: str) -> float:
        probe = _set(axes, Text(at, item.y, content, letters), x, y, order)
        extent = probe.get_window_extent(axes.figure.canvas.get_renderer()).width
        probe.remove()
        return float(extent) * _PIXELS / _DOTS

    for content, letters in item.pieces:
        _set(axes, Text(at, item.y, content, letters), x, y, order)
        at += width(f"|{content}|", letters) - width("||", letters)  # so that spaces at the ends count
