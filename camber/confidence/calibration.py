"""How sure a translation is: what evidence was worth on a development set, and what it says of new translations.

The confidence of a word is the probability that a reference translation has it, each word of the reference counted
once; that of a translation is the chrF that it is expected to have, from 0 to 1. Both are logistic regressions on
evidence, fitted to translations of a dev set whose references are known.

    calibration = fit_calibration(lists, sources, references, scores)
    sure = calibration.judge(lists, sources)[0][0]
    sure.sentence, sure.words
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from camber.arrays.types import F8
from camber.confidence.evidence import SENTENCE, WORD, Evidence, add_posteriors, gather, word_posteriors
from camber.confidence.logistic import Logistic, fit_logistic
from camber.decode.derivation import Derivation
from camber.errors import CamberError, ModelError
from camber.files import decode_lines, read_bytes, write_lines

#: the file of a model that has it
FILE = "confidence.tsv"
#: candidates of a list that posteriors are taken over
CANDIDATES = 10
#: how much likelier a better score is: what is tried
SCALES = tuple(2.0**power for power in range(-7, 3))
_HEADER = "# camber confidence 1"
#: figures that are written: more depend on how a machine sums
_FIGURES = 6


class Confidence(NamedTuple):
    """How sure a translation is, and its words: from 0 to 1."""

    sentence: float
    words: tuple[float, ...]  # of each word of the derivation


@dataclass(frozen=True)
class Calibration:
    """What evidence is worth."""

    scale: float  # p ∝ exp(scale · score) over a list
    word: Logistic
    sentence: Logistic

    def judge(
        self, lists: Sequence[Sequence[Derivation]], sources: Sequence[Sequence[str]], count: int = 1
    ) -> list[list[Confidence]]:
        """Say how sure the first `count` derivations of each sentence's list are."""
        evidence = gather(lists, sources, count)
        add_posteriors(evidence, lists, self.scale)
        words = self._add_words(evidence).tolist()
        sentences, offsets = self.sentence.probabilities(evidence.sentences).tolist(), evidence.offsets.tolist()
        judged, done = [], 0
        for source, wanted in zip(sources, evidence.wanted, strict=True):
            rows = range(done, done + wanted)
            done += wanted
            judged.append(
                [
                    Confidence(sentences[row] if len(source) else 1.0, tuple(words[offsets[row] : offsets[row + 1]]))
                    for row in rows
                ]
            )
        return judged

    def _add_words(self, evidence: Evidence) -> F8:
        """Fill the columns of sentences that depend on how sure their words are; return that, float64[words]."""
        odds = self.word.odds(evidence.words)
        words = self.word.probabilities(evidence.words)
        for row, (first, last) in enumerate(zip(evidence.offsets[:-1], evidence.offsets[1:], strict=True)):
            if last > first:
                evidence.sentences[row, -3] = odds[first:last].mean()
                evidence.sentences[row, -2] = odds[first:last].min()
                evidence.sentences[row, -1] = words[first:last].mean()
        return words

    # --- as a file ---------------------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Write it as a table for people."""
        rows = [_HEADER, "of\tevidence\tvalue", f"list\tscale\t{self.scale:g}"]
        for name, columns, model in (("word", WORD, self.word), ("sentence", SENTENCE, self.sentence)):
            values = zip(("bias", *columns), (model.bias, *model.weights.tolist()), strict=True)
            rows += [f"{name}\t{column}\t{value:.{_FIGURES}g}" for column, value in values]
        write_lines(path, rows)

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read what :meth:`write` wrote."""

        def fail(problem: str) -> NoReturn:
            raise ModelError(f"{path}: {problem}; calibrate the model again (camber calibrate)")

        lines = decode_lines(read_bytes(path), path)
        if len(lines) < 3 or lines[0] != _HEADER:
            fail(f"does not begin with {_HEADER!r}")
        found: dict[tuple[str, str], float] = {}
        for number, line in enumerate(lines[2:], 3):
            cells = line.split("\t")
            try:
                of, name, value = cells[0], cells[1], float(cells[2])
            except (IndexError, ValueError):
                fail(f"line {number} is no row of three cells with a number in the last")
            if not math.isfinite(value) or (of, name) in found or len(cells) != 3:
                fail(f"line {number} is no row of its own with a finite number")
            found[of, name] = value
        wanted = [("list", "scale"), *(("word", name) for name in ("bias", *WORD))]
        wanted += [("sentence", name) for name in ("bias", *SENTENCE)]
        if found.keys() != set(wanted):
            fail(f"is not about what this version knows: {', '.join(map(' '.join, found.keys() ^ set(wanted)))}")
        if found["list", "scale"] < 0:
            fail("the scale is negative")
        word, sentence = (
            Logistic(found[of, "bias"], np.array([found[of, name] for name in names]))
            for of, names in (("word", WORD), ("sentence", SENTENCE))
        )
        return cls(found["list", "scale"], word, sentence)


def fit_calibration(
    lists: Sequence[Sequence[Derivation]],
    sources: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    scores: F8,
) -> Calibration:
    """Learn what evidence is worth from the lists of dev sentences, the tokens of their references, and their scores.

    `references` are lists of sentences, one for each set of references; `scores` float64[sentences] are the chrF of
    the first derivations, from 0 to 1. The scale is that by which words are told apart best.
    """
    evidence = gather(lists, sources, 1)
    right = np.array(
        [
            flag
            for row, best in enumerate(lists)
            for flag in right_words(best[0].words, [texts[row] for texts in references])
        ],
        float,
    )
    if not len(right):
        raise CamberError("no word of the dev set was translated, so nothing can be said about how sure words are")
    fitted = []
    for scale in SCALES:
        add_posteriors(evidence, lists, scale)
        word = fit_logistic(evidence.words, right)
        fitted.append((word.loss(evidence.words, right), scale, word))
    _, scale, word = min(fitted, key=lambda item: item[:2])
    add_posteriors(evidence, lists, scale)
    blank = Logistic(0.0, np.zeros(len(SENTENCE)))
    Calibration(scale, word, blank)._add_words(evidence)
    return Calibration(scale, word, fit_logistic(evidence.sentences, np.asarray(scores, np.float64)))


def right_words(words: Sequence[str], references: Sequence[Sequence[str]]) -> list[bool]:
    """Say which words a reference has, each word of it counted once; of several references, the one with most.

    >>> right_words(["the", "the", "dog"], [["the", "cat"], ["a", "dog"]])
    [True, False, False]
    """
    best: list[bool] = [False] * len(words)
    for reference in references:
        left = Counter(reference)
        flags = []
        for word in words:
            flags.append(left[word] > 0)
            left[word] -= 1
        if sum(flags) > sum(best):
            best = flags
    return best


def judge_by_list(lists: Sequence[Sequence[Derivation]], count: int = 1) -> list[list[Confidence]]:
    """Say how sure derivations are where nothing was calibrated: posteriors over the list, and their mean."""
    judged = []
    for best in lists:
        some = []
        for item in best[:count]:
            words = word_posteriors([item, *(other for other in best if other is not item)], 1.0)
            some.append(Confidence(sum(words) / len(words) if words else 1.0, tuple(words)))
        judged.append(some)
    return judged
