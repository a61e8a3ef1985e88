"""Figures 2 to 4 as SVG: BLEU by the number of instances."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from decoding import SIZES

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 420, 260, 46, 36, 28, 96
COLOURS = {"L2": "#8a5a00", "lasso": "#005a9c", "phrases": "#b3261e", "individual": "#3d7a3d"}


def draw(folder: Path, work: Path) -> None:
    """Write the figures that there are numbers for."""
    for name, kind, place, title in (
        ("multi30k", "graph", "figure2", "de→en, graphs of 2-grams"),
        ("eutrans", "graph", "figure3", "es→en, graphs of 1&2-grams"),
        ("multi30k", "table", "figure4", "de→en, W as a phrase table"),
        ("eutrans", "table", "figure4.eutrans", "es→en, W as a phrase table"),
    ):
        read = {
            "L2": [_bleu(work / name / f"{kind}.ridge.{size}.json") for size in SIZES],
            "lasso": [_bleu(work / name / f"{kind}.lasso.{size}.json") for size in SIZES],
            "individual": [_bleu(work / name / f"individual.2.{size}.json") for size in SIZES],
        }
        level = _bleu(work / name / "phrase.json")
        if level is not None and all(value is not None for value in read["L2"]):
            curves = {label: values for label, values in read.items() if None not in values}
            (folder / f"{place}.svg").write_text(chart(curves, {"phrases": level}, title), encoding="utf-8")


def _bleu(place: Path) -> float | None:
    return float(json.loads(place.read_text())["bleu"]) if place.exists() else None


def chart(curves: Mapping[str, Sequence[float]], levels: Mapping[str, float], title: str) -> str:
    """Return curves over numbers of instances, and levels, as SVG."""
    title = escape(title)
    values = [value for curve in curves.values() for value in curve] + list(levels.values())
    low, high = 5 * int(min(values) // 5), 5 * (int(max(values) // 5) + 1)

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / (len(SIZES) - 1)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value - low) / (high - low)

    body = [f'<text x="{LEFT}" y="16" font-weight="bold">{title}</text>']
    for value in range(low, high + 1, 5):
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>')
        body.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value}</text>')
    for place, size in enumerate(SIZES):
        body.append(f'<text x="{x(place):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{size}</text>')
    body.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">instances</text>')
    ends: list[tuple[float, str]] = []
    for label, level in levels.items():
        body.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(level):.1f}" y2="{y(level):.1f}" '
            f'stroke="{COLOURS[label]}" stroke-dasharray="5 3"/>'
        )
        ends.append((y(level), label))
    for label, curve in curves.items():
        points = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(curve))
        body.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[label]}" stroke-width="2"/>')
        body += [
            f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="3" fill="{COLOURS[label]}"/>'
            for place, value in enumerate(curve)
        ]
        ends.append((y(curve[-1]), label))
    last = -99.0
    for at, label in sorted(ends):  # labels that would lie over each other move down
        last = max(at, last + 13)
        body.append(f'<text x="{WIDTH - RIGHT + 8}" y="{last + 4:.1f}" fill="{COLOURS[label]}">{label}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="BLEU by instances: {title}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
