"""Drawings as lists of shapes and texts, which become SVG here and PNG in `camber.report.png`: the same picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from camber.report.markup import Markup, element, join
from camber.report.style import picture_style

Point = tuple[float, float]


@dataclass(frozen=True)
class Ink:
    """How a shape is drawn; colours are names of `camber.report.style`."""

    stroke: str = ""
    width: float = 1.0
    fill: str = ""
    opacity: float = 1.0
    dash: tuple[float, float] | None = None

    def css(self) -> str:
        """Return the declarations of a style sheet."""
        parts = [f"fill:{f'var(--{self.fill})' if self.fill else 'none'}"]
        if self.stroke:
            parts.append(f"stroke:var(--{self.stroke});stroke-width:{self.width:g};stroke-linecap:round")
            parts.append("stroke-linejoin:round")
        if self.dash:
            parts.append(f"stroke-dasharray:{self.dash[0]:g} {self.dash[1]:g}")
        if self.opacity < 1:
            parts.append(f"opacity:{self.opacity:g}")
        return ";".join(parts)


@dataclass(frozen=True)
class Letters:
    """How a text is set."""

    size: float = 12.0
    colour: str = "ink"
    bold: bool = False


@dataclass(frozen=True)
class Shape:
    """Lines or, if `closed`, areas, all of one kind of ink."""

    ink: str
    strokes: Sequence[Sequence[Point]]
    closed: bool = False


@dataclass(frozen=True)
class Text:
    """A line of text; `anchor` is start, middle or end."""

    x: float
    y: float
    content: str
    letters: str = "note"
    anchor: str = "start"


@dataclass(frozen=True)
class Runs:
    """A line of text in which some words are set otherwise: (content, letters) one behind the other."""

    x: float
    y: float
    pieces: Sequence[tuple[str, str]]


Item = Shape | Text | Runs


@dataclass(frozen=True)
class Region:
    """A place that tells something when it is pointed at."""

    left: float
    right: float
    told: str


@dataclass(frozen=True)
class Drawing:
    """Shapes and texts; `regions` span `depth` (top, bottom), and tell instead of the text `quiet`."""

    width: float
    height: float
    items: Sequence[Item]
    label: str
    quiet: Text | None = None
    regions: Sequence[Region] = ()
    depth: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Sheet:
    """Drawings at places: (x, y, drawing)."""

    width: float
    height: float
    placed: Sequence[tuple[float, float, Drawing]] = field(default_factory=list)

    @classmethod
    def grid(cls, drawings: Sequence[Drawing], columns: int, below: Drawing | None = None) -> Sheet:
        """Put drawings side by side and below each other, and one more below all."""
        wide = max(drawing.width for drawing in drawings)
        placed: list[tuple[float, float, Drawing]] = []
        bottom = 0.0
        for first in range(0, len(drawings), columns):
            row = drawings[first : first + columns]
            placed += [(wide * k, bottom, drawing) for k, drawing in enumerate(row)]
            bottom += max(drawing.height for drawing in row)
        if below:
            placed.append((0.0, bottom, replace(below, width=wide * columns)))
            bottom += below.height
        return cls(wide * columns, bottom, placed)

    def above(self, other: Sheet) -> Sheet:
        """Put another sheet below this one."""
        moved = [(x, y + self.height, drawing) for x, y, drawing in other.placed]
        return Sheet(max(self.width, other.width), self.height + other.height, [*self.placed, *moved])


#: all kinds of ink and letters that drawings use
INKS = {
    "grid": Ink("line", 1.0),
    "base": Ink("soft", 1.0),
    "zero": Ink("soft", 1.0, opacity=0.55, dash=(1.0, 4.0)),
    "band": Ink(fill="bad", opacity=0.09),
    "populace": Ink(fill="accent", opacity=0.38),
    "fit": Ink("soft", 2.0, opacity=0.8, dash=(7.0, 5.0)),
    "link": Ink("accent", 1.2, opacity=0.5),
    "back": Ink("bad", 1.6),
    "hair": Ink("bad", 0.7),
    "step": Ink("accent", 3.0),
    "fine": Ink("accent", 1.5),
    "dot": Ink("paper", 1.1, fill="accent"),
    "alarm": Ink("paper", 1.2, fill="bad"),
    "node": Ink("line", 1.0, fill="paper"),
    "flow": Ink(fill="accent", opacity=0.28),
    "plus": Ink(fill="accent", opacity=0.85),
    "minus": Ink(fill="other", opacity=0.85),
}
LETTERS = {
    "head": Letters(15.0, bold=True),
    "note": Letters(12.0, "soft"),
    "told": Letters(12.0, "ink"),
    "tiny": Letters(10.5, "soft"),
    "with": Letters(12.0, "accent", bold=True),
    "without": Letters(12.0, "other", bold=True),
}


def drawing_style() -> str:
    """Return the style sheet that drawings need, beside that of all pictures."""
    inks = "".join(f"svg .{name}{{{ink.css()}}}\n" for name, ink in INKS.items())
    letters = "".join(
        f"svg .{name}{{font-size:{kind.size:g}px;fill:var(--{kind.colour});font-weight:{650 if kind.bold else 400}}}\n"
        for name, kind in LETTERS.items()
    )
    return (
        f"{inks}{letters}svg .hit{{fill:var(--ink);opacity:0}}\nsvg .bin .told{{visibility:hidden}}\n"
        "svg .bin:hover .hit{opacity:.08}\nsvg .bin:hover .told{visibility:visible}\n"
        "svg .bin:hover~.quiet{visibility:hidden}\n"
    )


def _path(shape: Shape) -> Markup:
    end = "Z" if shape.closed else ""
    data = "".join(
        "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in stroke) + end for stroke in shape.strokes if len(stroke)
    )
    return element("path", d=data, class_=shape.ink)


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _words(item: Text, kind: str = "") -> Markup:
    anchor = None if item.anchor == "start" else item.anchor
    return element("text", item.content, x=item.x, y=item.y, class_=kind or item.letters, text_anchor=anchor)


def _runs(item: Runs) -> Markup:
    spans = [element("tspan", content, class_=letters) for content, letters in item.pieces]
    return element("text", *spans, x=item.x, y=item.y)


def _drawn(item: Item) -> Markup:
    if isinstance(item, Shape):
        return _path(item)
    return _runs(item) if isinstance(item, Runs) else _words(item)


def _group(drawing: Drawing) -> Markup:
    body = [_drawn(item) for item in drawing.items]
    if drawing.quiet:
        top, bottom = drawing.depth
        for region in drawing.regions:
            wide = region.right - region.left
            hit = element("rect", x=region.left, y=top, width=wide, height=bottom - top, class_="hit")
            told = _words(replace(drawing.quiet, content=region.told), "told")
            body.append(element("g", hit, told, class_="bin"))
        body.append(_words(drawing.quiet, f"{drawing.quiet.letters} quiet"))
    return join(body)


def svg(drawing: Drawing) -> Markup:
    """Return a drawing as an element of a page."""
    return element(
        "svg", _group(drawing), viewBox=f"0 0 {drawing.width:.0f} {drawing.height:.0f}", width=round(drawing.width),
        height=round(drawing.height), role="img", aria_label=drawing.label,
    )  # fmt: skip


def svg_file(sheet: Sheet) -> str:
    """Return the text of an SVG file, with its style inside."""
    body = [element("g", _group(drawing), transform=f"translate({x:.0f} {y:.0f})") for x, y, drawing in sheet.placed]
    style = element("style", Markup(f"{picture_style()}{drawing_style()}svg{{background:var(--paper)}}\n"))
    label = "; ".join(drawing.label for _, _, drawing in sheet.placed)
    return element(
        "svg", style, *body, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {sheet.width:.0f} {sheet.height:.0f}",
        width=round(sheet.width), height=round(sheet.height), role="img", aria_label=label,
    )  # fmt: skip
