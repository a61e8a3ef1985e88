"""Table 2 as a picture: BLEU-SBP on test of every row, with the standard deviation of its replicas.

    python experiments/toutanova2013/figures.py

It reads the tables in README.md, so that it shows what they say, and writes table2.svg.
"""

from __future__ import annotations

import re
from pathlib import Path

from camber.report.charts import Measured, error_bars
from camber.report.markup import Markup, element
from camber.report.pictures import alone

HERE = Path(__file__).resolve().parent
_SIZE = re.compile(r' width="(\d+)" height="(\d+)"')


def rows_of(readme: str) -> dict[str, list[Measured]]:
    """Return the rows of every table with a column "test SBP": title → name, mean, and mean ± deviation."""
    found: dict[str, list[Measured]] = {}
    for title, table in re.findall(r"\*\*(.+?)\*\*\n\n((?:\|.*\n)+)", readme):
        head, _, *lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        if "test SBP" in head:
            place = head.index("test SBP")
            for cells in lines:
                mean, spread = (float(value) for value in cells[place].split("±"))
                found.setdefault(title, []).append(Measured(cells[0], mean, mean - spread, mean + spread))
    return found


def figure(tables: dict[str, list[Measured]]) -> Markup:
    """Put the picture of each table below the other."""
    parts: list[Markup] = []
    width, below = 0, 0
    for title, rows in tables.items():
        picture = error_bars(rows, title, "BLEU-SBP on test")
        size = _SIZE.search(picture)
        assert size is not None
        heading = element("text", title, x=8, y=below + 20, class_="word")
        parts += [
            heading,
            element("g", Markup(picture.replace(' role="img"', "")), transform=f"translate(0 {below + 32})"),
        ]
        width, below = max(width, int(size[1])), below + 32 + int(size[2]) + 12
    return element(
        "svg", *parts, viewBox=f"0 0 {width} {below}", width=width, height=below, role="img",
        aria_label="BLEU-SBP on test of all rows, with the standard deviation of three replicas",
    )  # fmt: skip


if __name__ == "__main__":
    (HERE / "table2.svg").write_text(alone(figure(rows_of((HERE / "README.md").read_text("utf-8")))), "utf-8")
