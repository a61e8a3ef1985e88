"""Hypotheses that a learner moved to and from the first place, beside the model that it started from: a small sample.

``moved.tsv`` has two lines for each sentence of the sample, the hypothesis that was the best before and the one that is
now, with their features (empty: absent) and how much better the second is by the metric of that sentence alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from camber.arrays.types import F8, I8
from camber.errors import InputError
from camber.files import decode_lines, read_bytes, write_lines
from camber.tune.data import TuningData

HEADER = "# camber moved hypotheses 1"
#: sentences of the sample
MOST = 200
_COLUMNS = ["sentence", "place", "gain"]
_PLACES = ("before", "after")


@dataclass(frozen=True, eq=False)
class Moved:
    """Pairs of hypotheses of some of the sentences whose best hypothesis changed."""

    FILE: ClassVar[str] = "moved.tsv"

    changed: int = 0  # sentences whose best hypothesis changed, of which these are a sample
    sentences: I8 = field(default_factory=lambda: np.zeros(0, np.int64))  # [sample]
    gains: F8 = field(default_factory=lambda: np.zeros(0))  # [sample]: by the sentence alone, above 0: better
    features: F8 = field(default_factory=lambda: np.zeros((0, 2, 0)))  # [sample, before and after, features]

    def __len__(self) -> int:
        """Return the size of the sample."""
        return len(self.sentences)

    @classmethod
    def between(cls, data: TuningData, before: I8, after: I8, most: int = MOST) -> Self:
        """Compare the best hypotheses of every sentence (-1: none) by two models; the sample is spread evenly."""
        changed = np.flatnonzero(before != after)
        sample = changed[np.arange(min(most, len(changed))) * len(changed) // max(1, min(most, len(changed)))]
        quality, features = data.sentence_scores(), data.present()
        rows = np.column_stack([before[sample], after[sample]])
        gains = quality[rows[:, 1]] - quality[rows[:, 0]]
        return cls(len(changed), sample, gains, features[rows])

    def write(self, path: str | Path, names: Sequence[str]) -> None:
        """Write ``moved.tsv``; numbers are written so that they come back exactly."""
        lines = [HEADER, f"# sentences {self.changed}", "\t".join([*_COLUMNS, *names])]
        for sentence, gain, pair in zip(self.sentences.tolist(), self.gains.tolist(), self.features, strict=True):
            for place, row in zip(_PLACES, pair.tolist(), strict=True):
                cells = ["" if cell != cell else repr(cell) for cell in row]
                lines.append("\t".join([str(sentence), place, repr(gain), *cells]))
        write_lines(path, lines)

    @classmethod
    def read(cls, path: str | Path, names: Sequence[str]) -> Self:
        """Read what :meth:`write` wrote."""
        lines = decode_lines(read_bytes(path), path)
        if len(lines) < 3 or lines[0] != HEADER or lines[2].split("\t") != [*_COLUMNS, *names]:
            raise InputError("no hypotheses with the features of this model", path, 1, remedy="fit the model again")
        sentences: list[int] = []
        gains: list[float] = []
        rows: list[list[float]] = []
        for number, line in enumerate(lines[3:], 4):
            try:
                sentence, place, gain, *cells = line.split("\t")
                if place != _PLACES[len(rows) % 2] or len(cells) != len(names):
                    raise ValueError
                rows.append([float(cell) if cell else np.nan for cell in cells])
                sentences.append(int(sentence))
                gains.append(float(gain))
                if np.isinf([gains[-1], *rows[-1]]).any() or np.isnan(gains[-1]):
                    raise ValueError
            except ValueError:
                told = f"{line!r} is no hypothesis with {len(names)} features"
                raise InputError(told, path, number, remedy="fit the model again") from None
        try:
            changed = int(lines[1].removeprefix("# sentences "))
            table = np.array(rows, np.float64).reshape(-1, 2, len(names))
            numbers = np.array(sentences[::2], np.int64)
        except (ValueError, OverflowError):
            raise InputError("a hypothesis lacks the one that it is compared with", path, 2) from None
        return cls(changed, numbers, np.array(gains[::2]), table)
