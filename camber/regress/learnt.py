"""A regression that was learnt, as a model keeps it: the pairs, and the multipliers of maximum margin.

N-gram vectors are not kept: they are made anew when a model is opened, which takes less time than reading them would.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_array, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.types import F8
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.progress import log
from camber.regress.continued import continued
from camber.regress.margin import Centred, Margin, MarginRegression
from camber.regress.prediction import LeastSquares, MaximumMargin, Regression, Vectors
from camber.regress.settings import MAXIMUM_MARGIN, KernelSettings

#: version of the folder that :meth:`LearntRegression.save` writes
FORMAT = 1
_ARRAYS: Shapes = {
    "source_ids": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "target_ids": (np.int32, 1),
    "target_offsets": (np.int64, 1),
}

_FACTS = {"ngrams": tuple, "margin": bool, "gap": float}


@dataclass(frozen=True)
class LearntRegression:
    """Pairs, and what was learnt of them beyond themselves."""

    bitext: Bitext
    ngrams: tuple[int, int]  # of source and target
    alphas: F8 | None = None  # [pairs] of maximum margin; least squares need none
    gap: float = 0.0  # relative duality gap at which they were left

    @classmethod
    def learn(cls, bitext: Bitext, settings: KernelSettings) -> LearntRegression:
        """Learn what must be learnt before anything is translated."""
        vectors = Vectors.of(bitext, settings.spectrum)
        ngrams = len(vectors.source_grams), len(vectors.target_grams)
        if settings.regression != MAXIMUM_MARGIN:
            return cls(bitext, ngrams)
        fitted = MarginRegression(settings.cost, settings.gap, settings.epochs).fit(vectors.source, vectors.target)
        tell = log.info if fitted.gap <= settings.gap else log.warning
        tell("maximum margin: relative duality gap %.2g after %d epochs", fitted.gap, fitted.epochs)
        return cls(bitext, ngrams, fitted.alphas, fitted.gap)

    def regression(self, settings: KernelSettings, added: Bitext | None = None) -> Regression:
        """Make the regression, with the pairs that were added since; their vocabularies begin with those here."""
        bitext = self.bitext if added is None else _joined(self.bitext, added)
        vectors = Vectors.of(bitext, settings.spectrum)
        if self.alphas is None:
            return LeastSquares.of(vectors, settings.ridge)
        alphas = continued(vectors, self.alphas, settings.cost)
        sides = Centred.of(vectors.source), Centred.of(vectors.target)
        scaled = alphas / (sides[0].lengths * sides[1].lengths)
        return MaximumMargin(vectors, Margin(alphas, scaled, np.nan, np.nan, 0))

    def sizes(self) -> dict[str, Any]:
        """Return what a reader of a model wants to know."""
        sizes: dict[str, Any] = {"pairs": len(self.bitext)}
        sizes |= zip(("source_ngrams", "target_ngrams"), self.ngrams, strict=True)
        if self.alphas is not None:
            sizes |= {"support_pairs": int((self.alphas > 0.0).sum()), "duality_gap": self.gap}
        return sizes

    def save(self, folder: Path) -> None:
        """Write the pairs and the multipliers; words are those of the model's rules."""
        folder.mkdir(parents=True, exist_ok=True)
        sides = {"source": self.bitext.source, "target": self.bitext.target}
        save_arrays(
            folder,
            {f"{name}_{part}": getattr(side, part) for name, side in sides.items() for part in ("ids", "offsets")},
            _ARRAYS,
        )
        if self.alphas is not None:
            save_arrays(folder, {"alphas": self.alphas})
        facts = {"ngrams": self.ngrams, "margin": self.alphas is not None, "gap": self.gap}
        save_facts(folder / "regression.json", FORMAT, facts)

    @classmethod
    def load(cls, folder: Path, source: Vocabulary, target: Vocabulary) -> LearntRegression:
        """Open what :meth:`save` wrote, with the words of the model's rules."""
        facts = read_facts(folder / "regression.json", "a regression", FORMAT, _FACTS)
        arrays = open_arrays(folder, _ARRAYS)
        sides = [
            Sentences(arrays[f"{name}_ids"], arrays[f"{name}_offsets"], words)
            for name, words in (("source", source), ("target", target))
        ]
        alphas = open_array(folder / "alphas.npy", np.float64, 1) if facts["margin"] else None
        checks, pairs = Checks(folder), len(sides[0].offsets) - 1
        for name, side in zip(("source", "target"), sides, strict=True):
            checks.offsets(f"{name}_offsets", side.offsets, pairs, len(side.ids))
            checks.below(f"{name}_ids", side.ids, len(side.vocabulary), least=-1)
        if alphas is not None:
            checks.shape("alphas", alphas, pairs)
            checks.finite("alphas", alphas, least=0.0)
        return cls(Bitext(*sides), facts["ngrams"], alphas, facts["gap"])


def _joined(first: Bitext, second: Bitext) -> Bitext:
    """Put pairs behind others; the vocabularies of the second begin with those of the first."""
    sides = (
        Sentences(
            np.concatenate((one.ids, two.ids)),
            np.concatenate((one.offsets, one.offsets[-1] + two.offsets[1:])),
            two.vocabulary,
        )
        for one, two in ((first.source, second.source), (first.target, second.target))
    )
    return Bitext(*sides)
