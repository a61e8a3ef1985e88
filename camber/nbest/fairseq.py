"""What ``fairseq-generate`` and ``fairseq-interactive`` print, as an n-best list.

    S-3     ein Haus                the source            T-3     a house     the reference, if there is one
    H-3     -0.31   a hou@@ se      score and tokens      D-3     -0.31   a house     the same, detokenised
    P-3     -0.2 -0.1 -0.5 -0.4     log probability of every token, the end's last
    A-3     0-0 1-1 1-2             word alignment

Sentences come in any order (fairseq sorts them by length), lines of other kinds are messages and are skipped. The text
of a hypothesis is that of its D line, or of the H line where there is none. Every token is a part with one feature,
``P``: its log probability, given those before it.
"""

from __future__ import annotations

import re
from array import array
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.errors import CamberError, InputError
from camber.features.feature import CONTEXT, NUMBER, Feature
from camber.features.parts import Parts
from camber.files import write_whole
from camber.nbest.formats import Format
from camber.nbest.nbest import NBest
from camber.nbest.reading import numbered_lines, sentence_number
from camber.nbest.writing import shortest
from camber.numbers import number

FEATURE = Feature("P", NUMBER, CONTEXT)
_LINE = re.compile(r"([STHDPA])-([0-9]+)\t")


class _Reader:
    """Collect lines by sentence; D, P and A belong to the last H of their sentence."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.line = path, 0
        self.owners, self.scores = array("q"), array("d")
        self.columns: dict[str, list[str | None]] = {"H": [], "D": [], "A": []}
        self.values: list[array[float] | None] = []
        self.last: dict[int, int] = {}  # sentence → its latest hypothesis
        self.sides: dict[str, dict[int, str]] = {"S": {}, "T": {}}

    def fail(self, problem: str, remedy: str = "") -> NoReturn:
        raise InputError(problem, self.path, self.line, remedy=remedy)

    def add(self, kind: str, sentence: int, rest: str) -> None:
        if kind in self.sides:
            if self.sides[kind].setdefault(sentence, rest) != rest:
                self.fail(f"another {kind}-{sentence} line, and it differs", "give the output of one run")
            return
        if kind == "H":
            self.last[sentence] = len(self.owners)
            self.owners.append(sentence)
            self.values.append(None)
            score, text = self._scored(rest)
            self.scores.append(score)
            for name, column in self.columns.items():
                column.append(text if name == "H" else None)
            return
        if sentence not in self.last:
            self.fail(f"{kind}-{sentence} before any H-{sentence}", "keep the lines in the order of fairseq")
        row = self.last[sentence]
        if (self.values[row] if kind == "P" else self.columns[kind][row]) is not None:
            self.fail(f"a second {kind}-{sentence} for the same hypothesis")
        if kind == "P":
            self.values[row] = array("d", [number(v, "token score", self.path, self.line) for v in rest.split()])
        else:
            self.columns[kind][row] = self._scored(rest)[1] if kind == "D" else rest

    def _scored(self, rest: str) -> tuple[float, str]:
        score, tab, text = rest.partition("\t")
        if not tab:
            self.fail(f"no text after the score {score.strip()!r}", "H and D lines are: H-0, score, text, with tabs")
        return number(score, "score", self.path, self.line), text

    def _given(self, kind: str, absent: int) -> bool:
        """Say whether a kind of line is there for all hypotheses; for some only is an error."""
        total = len(self.owners)
        if 0 < absent < total:
            raise InputError(
                f"{kind} lines for {total - absent:,} of {total:,} hypotheses", self.path, remedy="give all or none"
            )
        return absent == 0

    def finished(self, sentences: int | None) -> NBest:
        if not self.owners:
            raise InputError("no H line: not the output of fairseq-generate", self.path)
        highest = max(self.owners)
        total = 1 + max(highest, *(max(side, default=0) for side in self.sides.values()))
        if sentences is not None and sentences < total:
            raise InputError(f"sentences up to {total - 1} (from 0), but there are only {sentences}", self.path)
        total = total if sentences is None else sentences
        owners = np.frombuffer(self.owners, np.int64)
        order = np.argsort(owners, kind="stable")
        listed = order.tolist()
        detokenised = self._given("D", self.columns["D"].count(None))
        aligned = self._given("A", self.columns["A"].count(None))
        scored = self._given("P", self.values.count(None))
        values = [self.values[row] or array("d") for row in listed]
        part_offsets = offsets_from(len(own) if scored else 1 for own in values)
        table = np.concatenate([np.frombuffer(own, np.float64) for own in values]) if scored else np.empty(0)
        tokens = [str(self.columns["H"][row]) for row in listed]
        return NBest(
            offsets_from(np.bincount(owners, minlength=total)),
            part_offsets,
            Parts.of_dense(
                (FEATURE,) if scored else (),
                table.reshape(int(part_offsets[-1]), int(scored)),
                np.full(int(part_offsets[-1]), -1),
            ),
            [str(self.columns["D"][row]) for row in listed] if detokenised else tokens,
            np.frombuffer(self.scores, np.float64)[order],
            alignments=[str(self.columns["A"][row]) for row in listed] if aligned else None,
            tokens=tokens if detokenised else None,
            places=None if np.array_equal(order, np.arange(len(order))) else order,
            sources=self._side("S", total),
            targets=self._side("T", total),
        )

    def _side(self, kind: str, total: int) -> list[str] | None:
        lines = self.sides[kind]
        return [lines.get(sentence, "") for sentence in range(total)] if lines else None


def read_fairseq(path: str | Path, sentences: int | None = None, at_least: int = 1) -> NBest:
    """Read fairseq's output, one part per token where it has P lines; an error names its line.

    All hypotheses have the same features, so that `at_least` changes nothing.
    """
    reader = _Reader(path)
    for reader.line, line in numbered_lines(path):
        if match := _LINE.match(line):
            reader.add(match[1], sentence_number(match[2], path, reader.line), line[match.end() :])
    return reader.finished(sentences)


def write_fairseq(nbest: NBest, path: str | Path) -> None:
    """Write a list as fairseq would; it must have scores, and no feature but ``P``."""
    if nbest.scores is None or nbest.names not in ((), (FEATURE.name,)):
        what = "without scores" if nbest.scores is None else f"with the features {', '.join(nbest.names)}"
        raise CamberError(f"a list {what} cannot be written as fairseq's output; use jsonl")
    token_scores = nbest.features[0].linear(nbest.parts.column(FEATURE.name)) if nbest.names else np.empty(0)
    if np.isnan(token_scores).any():
        raise CamberError("a list in which some parts lack P cannot be written as fairseq's output; use jsonl")
    with write_whole(path) as stream:

        def put(kind: str, sentence: int, *fields: str) -> None:
            line = "\t".join(fields)
            if "\n" in line or "\r" in line:
                raise CamberError(f"{line!r} cannot be written as fairseq's output (it has a line end); use jsonl")
            stream.write(f"{kind}-{sentence}\t{line}\n")

        bounds, scores = nbest.part_offsets.tolist(), nbest.scores.tolist()
        for sentence, (start, end) in enumerate(pairwise(nbest.sentence_offsets.tolist()), nbest.first):
            for kind, side in (("S", nbest.sources), ("T", nbest.targets)):
                if side is not None:
                    put(kind, sentence, side[sentence - nbest.first])
            for row in range(start, end):
                score, text = shortest(scores[row]), nbest.texts[row]
                put("H", sentence, score, text if nbest.tokens is None else nbest.tokens[row])
                if nbest.tokens is not None:
                    put("D", sentence, score, text)
                if nbest.names:
                    put("P", sentence, " ".join(map(shortest, token_scores[bounds[row] : bounds[row + 1]].tolist())))
                if nbest.alignments is not None:
                    put("A", sentence, nbest.alignments[row])


def _looks_like(line: str, number: int) -> bool:
    return _LINE.match(line) is not None


FAIRSEQ = Format("fairseq", (), _looks_like, read_fairseq, write_fairseq, any_feature=False)
