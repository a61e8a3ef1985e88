"""What every experiment does: find the data, keep finished runs, measure, put tables into its README."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from camber.engine import Engine
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report import write_report

METRIC = BLEU(tokenize="none")

#: name of a set → its source lines and its reference
Sets = Mapping[str, tuple[list[str], ...]]


def arguments(description: str, folder: Path) -> argparse.ArgumentParser:
    """Return a parser with the options of all experiments; `folder` is the experiment's own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=folder.parents[1].parent / "shared")
    parser.add_argument("--work", type=Path, default=folder / "runs")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    return parser


def multi30k(options: argparse.Namespace) -> Path:
    """Return the folder of the tokenised text, and make the work folder."""
    text: Path = options.data / "data" / "multi30k" / "tok"
    if not text.is_dir():
        raise SystemExit(f"{text}: no such folder; name the data folder with --data")
    options.work.mkdir(parents=True, exist_ok=True)
    return text


def dev_and_test(text: Path, language: str) -> Sets:
    """Read the sets of a language pair."""
    return {
        name: (read_lines(text / f"{name}.{language}"), read_lines(text / f"{name}.en")) for name in ("dev", "test")
    }


def kept(place: Path, make: Callable[[], Any]) -> Any:
    """Return what an earlier run left in a JSON file, or make and keep it; an interrupted run leaves nothing."""
    if not place.exists():
        part = place.with_suffix(".part")
        part.write_text(json.dumps(make()))
        part.rename(place)
    return json.loads(place.read_text())


def scores(translator: Translator, sets: Sets, engine: Engine) -> dict[str, float]:
    """Return BLEU of every set."""
    return {
        name: float(METRIC.score(METRIC.statistics(translator.translate(source, engine), [target]).sum(0)))
        for name, (source, target) in sets.items()
    }


def spread(values: Sequence[float]) -> str:
    """Return mean ± standard deviation; a single value as it is."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


def write_tables(folder: Path, text: str, name: str = "tables") -> None:
    """Put `text` behind a mark of the experiment's README, up to the next end, and write all of it as a page."""
    readme = folder / "README.md"
    before, mark, rest = readme.read_text().partition(f"<!-- {name} -->")
    readme.write_text(f"{before}{mark}\n{text}\n<!-- end -->{rest.partition('<!-- end -->')[2]}")
    print(f"the whole as a page: {write_report(folder)}")
