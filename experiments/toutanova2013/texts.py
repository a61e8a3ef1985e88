"""The texts of the experiment, and how they are cut: Dev-Train, Dev-Select, and what is left to train on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from camber.files import read_lines, write_lines

#: held-out sentences are drawn with this
SEED = 20
#: shorter sentences are not held out, as in the dev and test sets of Tatoeba
SHORTEST = 3


@dataclass(frozen=True)
class Text:
    """A parallel text."""

    name: str
    folder: str  # below the data folder
    source: str
    title: str
    settings: dict[str, str] = field(default_factory=dict)  # of the text stage


TEXTS = {
    "fi": Text("fi", "data/tatoeba-fi-en", "fi", "Tatoeba, fi→en"),
    "de": Text("de", "data/multi30k/tok", "de", "Multi30k, de→en", {"tokenizer": "none"}),
}


@dataclass(frozen=True)
class Sizes:
    """Numbers of sentence pairs; 0 for `train`, `dev` and `test` means all of the file."""

    more: int  # held-out training text that Dev-Train has beside the dev set
    select: int  # held-out training text
    train: int = 0
    dev: int = 0
    test: int = 0  # held-out training text in place of the test set


def cut(text: Text, sizes: Sizes, data: Path, work: Path) -> Path:
    """Write the sets of a text and return their folder; they are the same every time.

    Nothing is trained on that has, but for case and punctuation, the source or the target of a held-out sentence.
    """
    origin, folder = data / text.folder, work / f"text.{text.name}"
    if not origin.is_dir():
        raise SystemExit(f"{origin}: no such folder; name the data folder with --data")
    folder.mkdir(parents=True, exist_ok=True)
    pairs = _read(origin, "train", text, sizes.train)
    held = _held_out(pairs, sizes.more + sizes.select + sizes.test)
    sides = [{_bare(pairs[k][side]) for k in held} for side in (0, 1)]
    left = [pair for pair in pairs if _bare(pair[0]) not in sides[0] and _bare(pair[1]) not in sides[1]]
    more, select, test = np.split(np.array(held, np.int64), [sizes.more, sizes.more + sizes.select])
    sets = {
        "train": left,
        "dev-train": _read(origin, "dev", text, sizes.dev) + [pairs[k] for k in more],
        "dev-select": [pairs[k] for k in select],
        "test": [pairs[k] for k in test] if sizes.test else _read(origin, "test", text, 0),
    }
    for name, lines in sets.items():
        for side, language in enumerate((text.source, "en")):
            write_lines(folder / f"{name}.{language}", [pair[side] for pair in lines])
    return folder


def _read(origin: Path, name: str, text: Text, most: int) -> list[tuple[str, str]]:
    pairs = list(zip(read_lines(origin / f"{name}.{text.source}"), read_lines(origin / f"{name}.en"), strict=True))
    return pairs[:most] if most else pairs


def _bare(line: str) -> str:
    """Return a line without case and punctuation.

    >>> _bare("A dog, running.")
    'a dog running'
    """
    return " ".join("".join(c if c.isalnum() else " " for c in line.lower()).split())


def _held_out(pairs: Sequence[tuple[str, str]], count: int) -> list[int]:
    """Draw pairs, with different targets and sources."""
    chosen: list[int] = []
    seen: set[str] = set()
    for k in np.random.default_rng(SEED).permutation(len(pairs)).tolist():
        source, target = map(_bare, pairs[k])
        if len(chosen) < count and len(target.split()) >= SHORTEST and not {source, target} & seen:
            chosen.append(k)
            seen |= {source, target}
    return chosen
