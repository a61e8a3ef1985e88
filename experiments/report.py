"""An experiment as one HTML page that needs nothing else: its README, pictures inside, and error bars of its tables.

    python experiments/report.py clark2014 [--out report.html]

Every experiment's `--write` does this, too, after it has put its tables into the README. Of Markdown, it knows what
these files use.
"""

from __future__ import annotations

import argparse
import base64
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from camber.report.blocks import figure, table, write_page
from camber.report.charts import Measured, error_bars
from camber.report.markup import Markup, element, escape, join

HERE = Path(__file__).resolve().parent
_INLINE = re.compile(r"`([^`]+)`|!\[([^\]]*)\]\(([^)]+)\)|\[([^\]]+)\]\([^)]+\)|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*")
_MEAN = re.compile(r"\**(-?\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)\**")


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write the page of an experiment beside its README (or to `out`), and return where it is."""
    out = out or folder / "report.html"
    title, *rest = (folder / "README.md").read_text("utf-8").split("\n")
    write_page(out, title.lstrip("# "), "", *Page(folder).blocks(rest), style=_STYLE)
    return out


_STYLE = """
img{max-width:100%;height:auto}
td{min-width:3rem}
p,li{max-width:60rem}
ul,ol{padding-left:1.4rem}
li{margin:.35rem 0}
pre{overflow-x:auto}
.scroll{margin:.6rem 0 1.6rem}
@media(max-width:700px){p img,td img{max-width:none;width:34rem}p:has(img){overflow-x:auto}}
"""
#: an item of a list: how it begins, and what it says
_ITEM = re.compile(r"([-*]|\d+\.) (.*)")


class Page:
    """Turns the lines of a README into markup."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def blocks(self, lines: Sequence[str]) -> Iterator[Markup]:
        """Yield headings, paragraphs, lists, tables and code."""
        at = 0
        while at < len(lines):
            line = lines[at]
            if line.startswith("```"):
                end = next(k for k in range(at + 1, len(lines)) if lines[k].startswith("```"))
                yield element("pre", "\n".join(lines[at + 1 : end]))
            elif line.startswith("|"):
                end = at
                while end + 1 < len(lines) and lines[end + 1].startswith("|"):
                    end += 1
                yield from self.table([_cells(row) for row in lines[at : end + 1]])
            elif not line.strip() or re.fullmatch(r"\s*<!--.*-->\s*|</?details>.*", line):
                end = at
            elif _ITEM.match(line):
                items = []
                end = at - 1
                while end + 1 < len(lines) and (item := _ITEM.match(lines[end + 1])):
                    first, end = end + 1, _end(lines, end + 1)
                    items.append(" ".join([item[2], *(part.strip() for part in lines[first + 1 : end + 1])]))
                kind = "ol" if line[0].isdigit() else "ul"
                yield element(kind, *(element("li", self.inline(item)) for item in items))
            else:
                end = _end(lines, at)
                yield self.text(" ".join(part.strip() for part in lines[at : end + 1]))
            at = end + 1

    def text(self, line: str) -> Markup:
        """Return a heading or a paragraph."""
        if heading := re.match(r"(#+) (.*)", line):
            return element(f"h{min(len(heading[1]), 3)}", self.inline(heading[2]))
        return element("p", self.inline(line))

    def inline(self, text: str) -> Markup:
        """Return text with its code, emphasis and pictures; of links, what they are called."""
        pieces, end = [], 0
        for match in _INLINE.finditer(text):
            pieces.append(escape(text[end : match.start()]))
            code, label, image, link, bold, slanted = match.groups()
            if code is not None:
                pieces.append(element("code", code))
            elif image is not None:
                pieces.append(self.picture(label, image))
            elif link is not None:
                pieces.append(self.inline(link))
            else:
                pieces.append(element("b" if bold else "em", self.inline(bold or slanted)))
            end = match.end()
        return join([*pieces, escape(text[end:])])

    def picture(self, label: str, name: str) -> Markup:
        """Return a picture as part of the page."""
        data = base64.b64encode((self.folder / name).read_bytes()).decode()
        return Markup(f'<img alt="{escape(label or name)}" src="data:image/svg+xml;base64,{data}">')

    def table(self, rows: Sequence[Sequence[str]]) -> Iterator[Markup]:
        """Yield a table, and a chart for each of its columns that has means and deviations of a test."""
        head, _, *body = rows
        yield table([self.inline(cell) for cell in head], [[self.inline(cell) for cell in row] for row in body])
        for column, name in enumerate(head):
            found = [(row, _MEAN.fullmatch(row[column])) for row in body]
            if "test" in name.lower() and sum(match is not None for _, match in found) > 1:
                bars = [
                    Measured(_plain(row[0]), float(match[1]), *(float(match[1]) + k * float(match[2]) for k in (-1, 1)))
                    for row, match in found
                    if match
                ]
                told = f"{name}: means, and standard deviations of replicas"
                yield figure(error_bars(bars, told, name), told)


def _cells(row: str) -> list[str]:
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


def _plain(text: str) -> str:
    return re.sub(r"[`*]", "", text)


def _end(lines: Sequence[str], at: int) -> int:
    """Return the last line of the block that a line begins."""
    while at + 1 < len(lines) and lines[at + 1].strip() and not _begins(lines[at + 1]):
        at += 1
    return at


def _begins(line: str) -> bool:
    """Say whether a line begins another block."""
    return bool(re.match(r"#|\||```|[-*] |\d+\. |<", line))


def main() -> None:
    """Write the page of one experiment."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("experiment", choices=sorted(path.parent.name for path in HERE.glob("*/README.md")))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(write_report(HERE / options.experiment, options.out))


if __name__ == "__main__":
    main()
