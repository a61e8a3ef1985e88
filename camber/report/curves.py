"""The learnt curves and trees of a model as an interactive page, a picture (SVG, or PNG: extra `plots`), or JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import camber
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.errors import CamberError, SettingsError
from camber.files import write_lines
from camber.report import trees
from camber.report.curve_panel import (
    AXES,
    can_be_log,
    curve_formula,
    direction_of,
    fitting_axis,
    legend,
    panel,
    reach,
    summary,
)
from camber.report.drawing import Sheet, drawing_style, svg, svg_file
from camber.report.learnt import Learnt, learnt
from camber.report.markup import Markup, document, element
from camber.report.style import PAGE_STYLE, picture_style

if TYPE_CHECKING:
    from camber.report.mixture_map import Map

KINDS = (".html", ".svg", ".png", ".json")

#: the page lists the bins of features with no more than these; the picture tells about all of them
_LISTED = 256


def curves(
    model: Any, out: str | Path = "curves.html", features: Sequence[str] = (), axis: str = "auto"
) -> list[Response | WeighedTree | Map]:
    """Draw the learnt responses and trees of a model (a folder, or one that is open) into a .html, .svg or .png file.

    A .json file has their numbers instead: `Response.to_dict` of the curves, `WeighedTree.to_json` of the trees.

    `features` names those to draw, in this order, with the trees that ask about them; none: all that are bent, and all
    trees. `axis` is linear, log, or auto, which chooses for each feature. Returns what was drawn: curves, then trees.
    What kernels learnt is drawn as a map over two features, which may be named.

    >>> camber.curves("my-model", "figure7.png", ["p_coherent", "count_s"])               # doctest: +SKIP
    """
    out = Path(out)
    if out.suffix.lower() not in KINDS:
        raise CamberError(f"{out}: no such kind of picture; expected a name that ends in {', '.join(KINDS)}")
    if axis not in AXES:
        raise SettingsError(f"unknown axis {axis!r}; known: {', '.join(AXES)}")
    if out.suffix.lower() == ".png":
        from camber.report.png import check_matplotlib

        check_matplotlib()  # before the model is opened: that may take a while
    found = learnt(model)
    if found.kernels is not None:
        from camber.report.mixture_map import draw_map

        return [draw_map(found.kernels, out, features, axis, _name(model))]
    chosen = found.of_features(features)
    write_curves(out, chosen, axis, _name(model))
    return [*chosen.responses, *chosen.trees]


def write_curves(out: str | Path, shown: Learnt, axis: str = "auto", model: str = "") -> None:
    """Write what was learnt as a page, a picture or JSON, which the ending of the name tells; all or nothing."""

    def told() -> dict[str, Any]:
        return {
            "model": model,
            "curves": [response.to_dict() for response in shown.responses],
            "trees": [tree.to_json() for tree in shown.trees],
        }

    write_picture(Path(out), lambda: page(shown, axis, model), lambda: sheet(shown, axis), told)


def write_picture(
    out: Path, page: Callable[[], str], sheet: Callable[[], Sheet], told: Callable[[], dict[str, Any]]
) -> None:
    """Write a page, a picture or JSON, which the ending of the name tells; all or nothing."""
    kind = out.suffix.lower()
    if kind == ".html":
        write_lines(out, [page()])
    elif kind == ".svg":
        write_lines(out, [svg_file(sheet())])
    elif kind == ".json":
        write_lines(out, [json.dumps(told(), indent=1, ensure_ascii=False)])
    else:
        from camber.report.png import png

        _write_bytes(out, png(sheet()))


def sheet(shown: Learnt, axis: str = "auto") -> Sheet:
    """Put the pictures of all curves and trees on one sheet: below each other, or in columns if there are many."""
    if not shown.responses:
        return trees.sheet_of_trees(shown.trees)
    columns = 1 if len(shown.responses) <= 3 else 2 if len(shown.responses) <= 12 else 3
    upper = Sheet.grid([panel(response, axis) for response in shown.responses], columns, legend())
    return upper.above(trees.sheet_of_trees(shown.trees)) if shown.trees else upper


def _write_bytes(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise CamberError(f"{path}: cannot be written ({error.strerror}); check the folder") from None


def _name(model: Any) -> str:
    """Return the name of a model's folder; empty for one that was never saved."""
    path = model if isinstance(model, str | Path) else getattr(getattr(model, "directory", None), "path", "")
    return Path(path).resolve().name if path else ""


# --- the page --------------------------------------------------------------------------------------------------------

_STYLE = """
.switch{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;align-items:baseline;border:0;
 margin:1.4rem 0 0;padding:.7rem 0;background:var(--paper);border-bottom:1px solid var(--line);font-size:.9rem}
.switch b{font-weight:600;color:var(--soft)}
.switch label{cursor:pointer}
.switch input{accent-color:var(--accent);margin:0 .35em 0 0}
figure{scroll-margin-top:4rem;width:auto}
figure svg{margin:0 auto;width:100%;max-width:960px}
.legend svg{margin:.6rem 0 0 -1.4rem}
@media(max-width:700px){figure svg{width:600px}}
.view:not(.fits){display:none}
main:has(#axis-linear:checked) .view{display:none}
main:has(#axis-linear:checked) .view.linear{display:block}
main:has(#axis-log:checked) .view{display:none}
main:has(#axis-log:checked) .view.log{display:block}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
details{margin:.4rem 0 .3rem;font-size:.9rem}
summary{cursor:pointer;color:var(--soft);font-size:.87rem}
tr.bad td{color:var(--bad)}
@media print{.switch{display:none}}
"""

_CHOICES = {"auto": "what fits the feature", "linear": "linear", "log": "logarithmic"}


def page(shown: Learnt, axis: str = "auto", model: str = "") -> str:
    """Return an HTML page that needs nothing else and has no scripts.

    Pointing at a bin and choosing an axis are the business of the style sheet.
    """
    what = "features" if shown.responses else "trees"
    title = f"What the {what} of {model} learnt" if model else f"What the {what} learnt"
    facts = [*(_facts(shown.responses) if shown.responses else []), *(trees.facts(shown.trees) if shown.trees else [])]
    cards = [element("div", element("b", a), element("span", b), class_="card") for a, b in facts]
    lead = [_CURVES] * bool(shown.responses) + [_TREES] * bool(shown.trees)
    body = element(
        "main",
        element("h1", title),
        element("p", " ".join(lead), class_="lead"),
        element("div", *cards, class_="cards"),
        *(_section(shown.responses, axis) if shown.responses else []),
        *([trees.section(shown.trees)] if shown.trees else []),
        element("footer", f"Camber {camber.__version__}."),
    )
    style = picture_style() + PAGE_STYLE + drawing_style() + _STYLE + (trees.STYLE if shown.trees else "")
    return document(title, style, body)


_CURVES = (
    "A linear model multiplies a feature by one weight. Here the values of a feature are sorted into bins, and each "
    "bin learnt what it adds to the score: together, a curve."
)
_TREES = "Trees ask about several features at once, and add to the score what no weight of a single feature can."


def _facts(responses: Sequence[Response]) -> list[tuple[str, str]]:
    against = sum(int(response.violations.sum()) for response in responses)
    bins = sum(len(response) for response in responses)
    return [
        (f"{len(responses):,}", f"bent feature{'s' * (len(responses) != 1)}"),
        (f"{bins:,}", f"bin{'s' * (bins != 1)}"),
        (f"{against:,}", "against the direction of their feature"),
    ]


def _section(responses: Sequence[Response], axis: str) -> list[Markup]:
    return [
        _overview(responses),
        element("h2", "Curves"),
        element(
            "p",
            "A step covers the values that its bin was made from, with a marker in the middle of them (the geometric "
            "middle where all are positive). The grey curve is the nearest a + b ln x by least squares, each bin "
            "counting with its population. A bin is marked where the response turns back against its overall "
            "direction. Point at a bin to read it.",
        ),
        element("div", svg(legend()), class_="legend"),
        _switch(axis),
        *(_figure(number_, response) for number_, response in enumerate(responses)),
    ]


def _switch(axis: str) -> Markup:
    options = [
        element(
            "label",
            # ids and words of our own; an input has no end tag, which `element` would write
            Markup(f'<input type="radio" name="axis" id="axis-{name}"{" checked" * (name == axis)}>'),
            words,
        )
        for name, words in _CHOICES.items()
    ]
    return element("fieldset", element("b", "Axis of values"), *options, class_="switch")


def _overview(responses: Sequence[Response]) -> Markup:
    rows = []
    for place, response in enumerate(responses):
        curve = response.log_curve
        explained = "" if curve is None or curve.explained is None else f"{100 * curve.explained:.1f} %"
        rows.append(
            element(
                "tr",
                element("td", element("a", response.feature, href=f"#curve-{place}")),
                element("td", f"{len(response):,}", class_="n"),
                element("td", direction_of(response)),
                element("td", f"{int(response.violations.sum()):,}", class_="n"),
                element("td", reach(response)),
                element("td", curve_formula(response)),
                element("td", explained, class_="n"),
            )
        )
    headings = [("feature", ""), ("bins", "n"), ("direction", ""), ("against it", "n"), ("adds to the score", ""),
                ("fitted log curve", ""), ("explained", "n")]  # fmt: skip
    head = element("tr", *(element("th", name, class_=kind or None) for name, kind in headings))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element("div", table, class_="scroll")


def _figure(place: int, response: Response) -> Markup:
    fits = fitting_axis(response)
    views = []
    for axis in ("linear", "log") if can_be_log(response) else ("linear",):
        kinds = ["view", axis] if can_be_log(response) else ["view", "linear", "log"]
        if axis == fits:
            kinds.append("fits")
        views.append(element("div", svg(panel(response, axis)), class_=" ".join(kinds)))
    notes = []
    if not can_be_log(response):
        notes.append("A logarithmic axis cannot show this feature: it has no two positive values.")
    return element(
        "figure", *views, *(element("figcaption", note) for note in notes), _bins(response), id=f"curve-{place}"
    )


def _bins(response: Response) -> Markup:
    """List the bins, for those who want the numbers."""
    if len(response) > _LISTED:
        return element("figcaption", f"{len(response):,} bins are too many to list here.")
    rows = [
        element(
            "tr",
            *(
                element("td", text, class_="n")
                for text in (f"{k + 1}", f"{low:.6g}", f"{high:.6g}", f"{population:,}", f"{value:.6g}")
            ),
            class_="bad" if against else None,
        )
        for k, (low, high, population, value, against) in enumerate(
            zip(response.lows, response.highs, response.populations, response.values, response.violations, strict=True)
        )
    ]
    head = element("tr", *(element("th", text, class_="n") for text in ("bin", "from", "to", "values", "adds")))
    table = element("table", element("thead", head), element("tbody", *rows), class_="narrow")
    return element("details", element("summary", "The bins as a table"), element("div", table, class_="scroll"))


def lines(drawn: Sequence[Response | WeighedTree | Map]) -> list[str]:
    """Return a line for the terminal about every curve and every tree, and some about a map."""
    responses = [item for item in drawn if isinstance(item, Response)]
    forest = [item for item in drawn if isinstance(item, WeighedTree)]
    maps = [item for item in drawn if not isinstance(item, Response | WeighedTree)]
    wide = max([0, *(len(response.feature) for response in responses), *(len(tree.name) for tree in forest)])
    told = [*(f"{response.feature:<{wide}}  {summary(response)}" for response in responses), *trees.lines(forest, wide)]
    return told + [line for each in maps for line in each.lines()]


__all__ = ["curves", "lines", "page", "sheet", "write_curves"]
