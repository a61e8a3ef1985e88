"""Settings and thresholds of a regressor, tuned for F1 on sentences with references (bicici 3.1).

examples = [Example.of(pairs, sentence, reference, Spectrum(2, "weighted")), …]
tuned = tune([Lasso(penalty=penalty) for penalty in (0.5, 1.0, 2.0)], examples)
tuned.regressor, tuned.thresholds, tuned.measures.f1
evaluate(tuned.regressor, tuned.thresholds, others)      # on other sentences
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from camber.arrays.types import F8, I4, I8, Bools
from camber.corpus.bitext import Bitext, Sentences
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.progress import each
from camber.regress.sparse.measures import NOTHING, Measures
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.regressor import REGRESSORS, Regressor
from camber.regress.sparse.thresholds import above, best_thresholds
from camber.regress.spectrum import NgramMap, Spectrum


@dataclass(frozen=True, eq=False)
class Example:
    """A problem, and which target n-grams its reference has."""

    problem: Problem
    wanted: Bools  # [target n-grams]
    unreachable: I8  # [orders]: distinct n-grams of the reference that no instance has, by length

    @classmethod
    def of(cls, pairs: Bitext, sentence: I4, reference: Sequence[str], spectrum: Spectrum) -> Example:
        """Make the problem of a sentence, and compare with a reference (words)."""
        problem = Problem.of(pairs, sentence, spectrum)
        known, _ = NgramMap.of(pairs.target, spectrum)
        words = Sentences.encode([reference], pairs.target.vocabulary)
        wanted = np.zeros(problem.target.width, bool)
        wanted[known.rows(words).columns] = True
        own, _ = NgramMap.of(Sentences.encode([reference]), spectrum)
        distinct = np.bincount(own.lengths, minlength=spectrum.order + 1)[1:]
        reached = np.bincount(problem.target_lengths[wanted], minlength=spectrum.order + 1)[1:]
        return cls(problem, wanted, distinct - reached)

    def of_lengths(self, lengths: Collection[int]) -> Example:
        """Return the example of the n-grams of some lengths alone."""
        kept = np.isin(self.problem.target_lengths, list(lengths))
        orders = np.arange(1, len(self.unreachable) + 1)
        missed = np.where(np.isin(orders, list(lengths)), self.unreachable, 0)
        return Example(self.problem.of_lengths(lengths), self.wanted[kept], missed)


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best of several regressors, with its thresholds, and what they reach on the sentences they were tuned on."""

    regressor: Regressor
    thresholds: F8  # by length
    measures: Measures


def grid(name: str, values: Mapping[str, Sequence[Any]]) -> list[Regressor]:
    """Make a regressor for every combination of values.

    >>> [one.penalty for one in grid("lasso", {"penalty": [0.5, 1.0]})]
    [0.5, 1.0]
    """
    kind: Any = REGRESSORS.load(name)
    return [kind.from_dict(dict(zip(values, each, strict=True))) for each in itertools.product(*values.values())]


def tune(regressors: Sequence[Regressor], examples: Sequence[Example], *, engine: Engine = LOCAL) -> Tuned:
    """Try regressors on sentences, each with its best thresholds; the first with the highest F1 is returned."""
    if not regressors or not examples:
        raise CamberError("nothing to tune: give regressors to choose from and sentences with references")
    lengths = np.concatenate([example.problem.target_lengths for example in examples])
    wanted = np.concatenate([example.wanted for example in examples])
    missed = sum(int(example.unreachable.sum()) for example in examples)
    orders = max(len(example.unreachable) for example in examples)
    best: Tuned | None = None
    for regressor in regressors:
        values = np.concatenate(list(_predictions(regressor, examples, engine)))
        thresholds = best_thresholds(values, lengths, wanted, missed, orders)
        measures = Measures.of(above(values, lengths, thresholds), wanted, missed)
        if best is None or measures.f1 > best.measures.f1:
            best = Tuned(regressor, thresholds, measures)
    assert best is not None
    return best


def evaluate(regressor: Regressor, thresholds: F8, examples: Sequence[Example], *, engine: Engine = LOCAL) -> Measures:
    """Return the measures of sentences, by their summed counts."""
    total = NOTHING
    for example, values in zip(examples, _predictions(regressor, examples, engine), strict=True):
        predicted = above(values, example.problem.target_lengths, thresholds)
        total = total.plus(Measures.of(predicted, example.wanted, int(example.unreachable.sum())))
    return total


def settings_of(regressor: Regressor) -> dict[str, Any]:
    """Return the settings of a regressor, by name."""
    return dataclasses.asdict(regressor)  # type: ignore[call-overload]


def _predictions(regressor: Regressor, examples: Sequence[Example], engine: Engine) -> Iterator[F8]:
    found = engine.map(_predict, regressor, [example.problem for example in examples])
    return each(found, "predict", len(examples), "sentences")


def _predict(regressor: Regressor, problem: Problem) -> F8:
    return regressor.predict(problem)
