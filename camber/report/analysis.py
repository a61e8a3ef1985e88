"""The page of an analysis: what a job is made of, file by file."""

from __future__ import annotations

from pathlib import Path

from camber.files import write_whole
from camber.pipeline.analyse import TOLD, Analysis, Part, told_of_unknown
from camber.report.markup import Markup, document, element, join
from camber.report.style import PAGE_STYLE, picture_style

_STYLE = """
table{border-collapse:collapse;margin:.5rem 0 1rem}
td,th{padding:.25rem .9rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
td:first-child,th:first-child{text-align:left;padding-left:0}
td:last-child,th:last-child{text-align:left;min-width:220px}
tr:last-child td{font-weight:600}
.share{display:inline-block;height:.7rem;background:var(--accent);vertical-align:middle}
"""


def page(analysis: Analysis, model: str = "") -> str:
    """Return the page of an analysis, which needs nothing beside itself."""
    parts = [analysis.total, *analysis.files] if len(analysis.files) > 1 else analysis.files
    told = "How like segments are to what the model remembers; one that came before is a repetition."
    if analysis.quality:
        told += f" {TOLD}"
    told += f" {analysis.untold}".rstrip()
    title = f"Analysis{f' with {model}' if model else ''}"
    body = element("main", element("h1", title), element("p", told), join(_part(analysis, part) for part in parts))
    return document(title, picture_style() + PAGE_STYLE + _STYLE, body)


def write_analysis(out: str | Path, analysis: Analysis, model: str = "") -> None:
    """Write the page."""
    with write_whole(out) as stream:
        stream.write(page(analysis, model) + "\n")


def _part(analysis: Analysis, part: Part) -> Markup:
    head, *rows = analysis.rows(part)
    words = max(1, part.all.words)
    lines = [element("tr", *(element("th", cell) for cell in (*head, "")))]
    for row in rows:
        band = part.bands.get(row[0])
        width = 0 if band is None else 200 * band.words / words
        bar = "" if band is None else element("span", class_="share", style=f"width:{width:.0f}px")
        lines.append(element("tr", *(element("td", cell) for cell in row), element("td", bar)))
    table = element("div", element("table", *lines), class_="scroll", tabindex=0)
    return element("section", element("h2", part.name), table, element("p", told_of_unknown(part)))
