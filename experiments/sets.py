"""Eight sets of text, each with pairs to train on, a pool to tune on or to judge by, and test text.

The pool is split in three, so that replicas differ in what they tune on and are judged by; test text is translated
once, with what was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import camber
from camber.corpus.splitting import hold_out
from camber.engine import Engine
from camber.files import read_lines, write_lines
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings

PARTS = 3  # of a pool
SEED = 1


@dataclass(frozen=True)
class Text:
    """Where the lines of a set are, and how they are written."""

    folder: str
    source: str  # language, also the ending of file names
    raw: bool = True  # as people write; else tokenised and in lower case
    pairs: int = 30_000  # of the training text that are used, at most
    held: int = 0  # pairs of the training text that join the pool, which else is small


TEXTS = {
    "multi30k-de": Text("multi30k/tok", "de", raw=False),
    "multi30k-fr": Text("multi30k/tok", "fr", raw=False),
    "tatoeba-fi": Text("tatoeba-fi-en", "fi"),
    "tatoeba-fr": Text("tatoeba-fr-en", "fr"),
    "pythondocs-fr": Text("pythondocs-fr-en", "fr"),
    "europarl-fr": Text("europarl-fr-en-10k", "fr", raw=False, held=400),
    "callhome-es": Text("callhome-es-en", "es"),
    "eutrans-es": Text("eutrans-es-en", "es", held=800),
}
#: lines of a pool and of a test set at most, and words of their source lines
POOL, TEST, LONGEST = 900, 500, 60


@dataclass(frozen=True)
class Lines:
    """Pairs of lines."""

    source: list[str]
    target: list[str]

    def __getitem__(self, rows: slice) -> Lines:
        return Lines(self.source[rows], self.target[rows])

    def __add__(self, other: Lines) -> Lines:
        return Lines(self.source + other.source, self.target + other.target)

    def short(self) -> Lines:
        """Return the pairs whose source is not very long: a few of those would cost as much as all others."""
        return self.of([row for row, line in enumerate(self.source) if len(line.split()) <= LONGEST])

    def of(self, rows: list[int]) -> Lines:
        return Lines([self.source[row] for row in rows], [self.target[row] for row in rows])


@dataclass(frozen=True)
class Set:
    """A set as experiments use it."""

    name: str
    text: Text
    train: Lines
    pool: Lines
    test: Lines

    def part(self, number: int) -> Lines:
        """Return every third line of the pool."""
        return self.pool[number::PARTS]

    def others(self, number: int) -> Lines:
        """Return the rest of the pool."""
        return self.pool.of([row for row in range(len(self.pool.source)) if row % PARTS != number])


def read_set(name: str, data: Path) -> Set:
    """Read a set; pairs that join the pool share no line with those that are trained on."""
    text = TEXTS[name]

    def read(part: str) -> Lines:
        stem = data / "data" / text.folder / part
        return Lines(read_lines(stem.with_suffix(f".{text.source}")), read_lines(stem.with_suffix(".en")))

    train, pool = read("train")[: text.pairs], read("dev")
    if text.held:
        split = hold_out(train.source, train.target, text.held, SEED)
        pool, train = pool + train.of(split.held.tolist()), train.of(split.train.tolist())
    return Set(name, text, train, pool.short()[:POOL], read("test").short()[:TEST])


def trained(data: Set, method: str, work: Path, engine: Engine) -> Translator:
    """Return the untuned model of a set; the second method takes over what the first one aligned."""
    folder = work / data.name
    folder.mkdir(parents=True, exist_ok=True)
    language = data.text.source
    for ending, lines in ((language, data.train.source), ("en", data.train.target)):
        if not (folder / f"train.{ending}").exists():
            write_lines(folder / f"train.{ending}", lines)
    text = {"source_lang": language, "target_lang": "en"} if data.text.raw else {"tokenizer": "none"}
    return camber.train(
        folder / f"train.{language}",
        folder / "train.en",
        folder / method,
        method=method,
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict({"text": text}),
        seed=SEED,
        engine=engine,
    )
