"""From translation memories and translated files to parallel text: TMX, XLIFF, PO, MO, tables."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from camber.errors import CamberError, InputError, SettingsError
from camber.files import check_outputs, read_lines, write_whole
from camber.formats.bilingual.files import UnitFile, files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Segment, Tally, Unit, pair_of
from camber.progress import Watcher, log, step, watched

Name = str | Path

#: the most that a pair may count, in pairs of the file that counts least
MOST_TIMES = 1000
#: pairs that are written together
_TOGETHER = 1000
#: what the stage of a training writes
SIDES, WEIGHTS, ORIGINS = ("imported.source", "imported.target"), "weights.npy", "corpora.json"
#: beside the sides: a line for each pair, with both sides as JSON where they have inline codes
CODED = "imported.coded"


@dataclass(frozen=True)
class Corpus:
    """A file to learn from, and how much each of its pairs counts."""

    path: Path
    weight: float = 1.0

    @classmethod
    def of(cls, given: Name | Corpus) -> Corpus:
        """Return what ``FILE`` or ``FILE:WEIGHT`` says; a file whose name ends so is meant itself.

        >>> Corpus.of("mine.tmx:5")
        Corpus(path=PosixPath('mine.tmx'), weight=5.0)
        """
        if isinstance(given, Corpus):
            return given
        found = re.fullmatch(r"(.+):([-+.\deE]+|nan|inf)", str(given), re.S)
        if found is None or os.path.exists(str(given)):
            return cls(Path(given))
        try:
            weight = float(found[2])
        except ValueError:
            return cls(Path(given))
        if not (math.isfinite(weight) and weight > 0):
            raise SettingsError(f"the weight of {found[1]} is {found[2]}; expected a number above 0")
        return cls(Path(found[1]), weight)


def check_weights(corpora: Sequence[Corpus]) -> None:
    """Refuse weights that are too far from each other: a pair is counted so many times."""
    weights = sorted(corpora, key=lambda corpus: corpus.weight)
    if weights and weights[-1].weight > MOST_TIMES * weights[0].weight:
        least, most = weights[0], weights[-1]
        raise SettingsError(
            f"a pair of {most.path} (weight {most.weight:g}) shall count more than {MOST_TIMES:,} times as much as one "
            f"of {least.path} ({least.weight:g}); leave that file out, or give weights that are nearer to each other"
        )


@dataclass
class Imported:
    """What one file gave: its pairs, and why other units gave none."""

    path: str
    format: str = ""
    pairs: int = 0
    tally: Tally = field(default_factory=Tally)
    problem: str = ""  # why it could not be read, or not to its end

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        found = {"file": self.path, "format": self.format, "pairs": self.pairs, **self.tally.to_dict()}
        return found | ({"problem": self.problem} if self.problem else {})

    def __str__(self) -> str:
        counted = f"{self.path}: {self.pairs:,} pairs"
        if self.format:
            counted += f" of {self.tally.units + _outside(self.tally):,} units ({self.format})"
        lines = [counted if self.pairs or not self.problem else f"{self.path}: nothing"]
        if self.problem:
            lines.append(f"  {'read up to this: ' if self.pairs else ''}{self.problem}")
        if self.tally.skipped:
            lines.append(f"  left out: {_listed(self.tally.skipped)}")
        if self.tally.handled:
            lines.append(f"  seen: {_listed(self.tally.handled)}")
        return "\n".join(lines)


@dataclass
class ImportReport:
    """What all files gave."""

    files: list[Imported]

    @property
    def pairs(self) -> int:
        """Pairs of all files."""
        return sum(file.pairs for file in self.files)

    @property
    def broken(self) -> list[Imported]:
        """Files that could not be read, or not to their end."""
        return [file for file in self.files if file.problem]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        return {
            "pairs": self.pairs,
            "skipped": dict(sum((file.tally.skipped for file in self.files), Counter()).most_common()),
            "files": [file.to_dict() for file in self.files],
        }

    def __str__(self) -> str:
        lines = [str(file) for file in self.files]
        if len(self.files) > 1:
            lines.append(f"all files: {self.pairs:,} pairs")
        return "\n".join(lines)

    def write(self, path: Name) -> None:
        """Write the report: as JSON if the file's name ends so, else as it is told to people."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) if str(path).endswith(".json") else str(self)
        with write_whole(path) as stream:
            stream.write(text + "\n")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def _outside(tally: Tally) -> int:
    """Return how many units were left out before they were looked at."""
    return sum(
        count for reason, count in tally.skipped.items() if reason.startswith(("no text in the source", "from "))
    )


@watched
def import_files(
    files: Sequence[Name] | Name,
    source_lang: str,
    target_lang: str,
    out: Name | None = None,
    *,
    unconfirmed: bool = False,
    keep_going: bool = False,
    progress: Watcher | None = None,
) -> ImportReport:
    """Write the pairs of translation memories and translated files as parallel text: ``<out>.de`` and ``<out>.en``.

    The files may be TMX, XLIFF, PO, MO, TSV or CSV, packed by gzip or in zip archives. Codes in a text are left out,
    and each is one line. What is not translated, fuzzy, obsolete, or waits for somebody to look at it, is left out;
    with `unconfirmed`, guesses and what is not confirmed come along. A file that is broken gives nothing, or with
    `keep_going` what came before the break, and the report says what is wrong with it; the other files are read all
    the same. Without `out`, nothing is written but the report is made.

    >>> camber.import_files("memory.tmx", "de", "en", "train")                      # doctest: +SKIP
    """
    paths = [files] if isinstance(files, str | Path) else list(files)
    languages = _languages(source_lang, target_lang)
    outputs = outputs_of(out, languages) if out is not None else []
    check_outputs(*outputs, inputs=paths)
    with ExitStack() as stack:
        sides = [stack.enter_context(write_whole(path)) for path in outputs]
        report = ImportReport([])
        for path in paths:
            report.files += _read(path, languages, sides, unconfirmed=unconfirmed, keep_going=keep_going)
        if not report.pairs:
            _tell_of_nothing(report, languages)
    return report


def outputs_of(out: Name, languages: Languages) -> list[Path]:
    """Return the names of both sides' files."""
    packed = ".gz" if str(out).endswith(".gz") else ""
    prefix = str(out).removesuffix(packed)
    if languages.source == languages.target:
        raise SettingsError(f"source and target language are both {languages.source!r}")
    return [Path(f"{prefix}.{code}{packed}") for code in languages]


def import_corpora(
    corpora: Sequence[Corpus],
    source_lang: str,
    target_lang: str,
    folder: Path,
    *,
    unconfirmed: bool = False,
    keep_going: bool = False,
    remedy: str = "mend these files, leave them out, or take what can be read: --keep-going",
) -> ImportReport:
    """Write the pairs of files to learn from into a folder, with the weight of each pair, for the stages of a training.

    Inline codes are left out of the pairs, and kept beside them (:func:`read_coded`). A broken file is an error, which
    ends with a `remedy`, unless `keep_going` takes what came before the break.
    """
    languages = _languages(source_lang, target_lang)
    report, weights = ImportReport([]), []
    origins: list[dict[str, Any]] = []
    with ExitStack() as stack:
        sides = [stack.enter_context(write_whole(folder / name)) for name in (*SIDES, CODED)]
        for corpus in corpora:
            found = _read(corpus.path, languages, sides, unconfirmed=unconfirmed, keep_going=keep_going)
            report.files += found
            count = sum(file.pairs for file in found)
            weights.append(np.full(count, corpus.weight))
            origins.append({"file": str(corpus.path), "weight": corpus.weight, "pairs": count})
        if report.broken and not keep_going:
            told = "\n  ".join(file.problem for file in report.broken)
            raise CamberError(f"{told}\n  {remedy}")
        if not report.pairs:
            _tell_of_nothing(report, languages)
    np.save(folder / WEIGHTS, np.concatenate(weights))
    (folder / ORIGINS).write_text(json.dumps(origins, indent=1), "utf-8")
    return report


def read_coded(folder: Path) -> dict[int, tuple[str, str]]:
    """Return both sides with their inline codes, by the number of the pair, of those that have some."""
    found = {row: json.loads(line) for row, line in enumerate(read_lines(folder / CODED)) if line}
    return {row: (source, target) for row, (source, target) in found.items()}


def _languages(source: str, target: str) -> Languages:
    if not source or not target:
        raise SettingsError("nothing says between which languages; give source_lang and target_lang")
    return Languages(source, target)


def _tell_of_nothing(report: ImportReport, languages: Languages) -> None:
    problem = f"no pair from {languages.source} to {languages.target} was found"
    if all(file.problem for file in report.files):
        raise CamberError(f"{problem}:\n{report}")
    codes = sum((file.tally.languages for file in report.files), Counter[str]())
    there = f" (there are texts in {', '.join(sorted(codes))})" if codes else ""
    raise CamberError(f"{problem}:\n{report}\n  check the languages{there}, or give files with translations")


def _read(
    path: Name, languages: Languages, sides: Sequence[IO[str]], *, unconfirmed: bool, keep_going: bool
) -> list[Imported]:
    """Add the pairs of a file, or of all files in an archive, to both sides, if there are any.

    A third stream, if there is one, gets what :func:`read_coded` reads.
    """
    try:
        inside = list(files_in(path))
    except InputError as error:
        log.warning("%s", error)
        return [Imported(str(path), problem=str(error))]
    return [_one(file, languages, sides, unconfirmed=unconfirmed, keep_going=keep_going) for file in inside]


def _one(
    file: UnitFile, languages: Languages, sides: Sequence[IO[str]], *, unconfirmed: bool, keep_going: bool
) -> Imported:
    """Add the pairs of a file to both sides: all of them, or, if it is broken, none or those before the break."""
    found = Imported(file.path)
    skipped = found.tally.skipped
    # a reader gives units before it meets an error, so that they wait here for the end
    with ExitStack() as stack:
        counted = stack.enter_context(step(f"read {file.path}", unit="pairs"))
        waiting = [stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")) for _ in sides]
        held: tuple[list[str], ...] = tuple([] for _ in range(max(2, len(sides))))  # counted even if nobody keeps them
        try:
            for unit in file.units(languages, found.tally):
                reason, source, target = pair_of(unit, unconfirmed=unconfirmed)
                if reason:
                    skipped[reason] += 1
                    continue
                held[0].append(source)
                held[1].append(target)
                if len(held) > 2:
                    held[2].append(_coded(unit))
                if len(held[0]) == _TOGETHER:
                    found.pairs += _flush(held, waiting)
                    counted.add(_TOGETHER)
        except InputError as error:
            found.problem = str(error)
            log.warning("%s", error)
        found.pairs += _flush(held, waiting)
        if found.problem and not keep_going:
            found.pairs = 0
        found.format = file.format
        if found.pairs:
            for side, stream in zip(sides, waiting, strict=True):
                stream.seek(0)
                shutil.copyfileobj(stream, side, 1 << 16)
    if not found.pairs and not found.problem:
        reasons = f" ({_listed(skipped)})" if skipped else ""
        hint = "; it has no translations: parallel text is --source and --target" if found.format == "plain" else ""
        hint = hint if found.tally.units or skipped else "; there is nothing in it"
        log.warning("%s: no pairs%s%s", file.path, reasons, hint)
    return found


def _coded(unit: Unit) -> str:
    """Return both sides of a unit with their inline codes as a line of JSON, nothing if they have none."""
    target = unit.target or Segment()
    if not (unit.source.codes or target.codes):
        return ""
    return json.dumps([unit.source.markup_line, target.markup_line], ensure_ascii=False)


def _flush(held: tuple[list[str], ...], waiting: Sequence[IO[str]]) -> int:
    """Write the lines of all sides that are held, and return how many they were."""
    count = len(held[0])
    if count:
        for lines, stream in zip(held, waiting, strict=False):
            stream.write("\n".join(lines) + "\n")
    for lines in held:
        lines.clear()
    return count
