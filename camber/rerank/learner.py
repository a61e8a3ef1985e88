"""What every learner offers: fitted to a list's columns, it scores hypotheses and shows what it learnt.

A learner's class declares which tuners it can use, and which settings make a difference to it. It may stand under
several names (:mod:`camber.rerank.learners`), and is told under which it is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.engine import LOCAL, Engine
from camber.errors import TuneError, UnmovedError
from camber.features.parts import HypothesisParts
from camber.metrics.outside import Outside
from camber.model.directory import Draft, ModelDirectory
from camber.rerank.settings import ResponseSettings
from camber.tune.data import TuningData
from camber.tune.tuners import make_tuner


@dataclass(frozen=True)
class Fitting:
    """How a learner is to be fitted."""

    learner: str  # its name
    own_order: int  # the column of the feature that ranks the list as it is
    tuner: str
    _: KW_ONLY
    tuner_settings: Mapping[str, Any] = field(default_factory=dict)
    responses: ResponseSettings = field(default_factory=ResponseSettings)
    cautious: bool = True  # leave the list's own order only as far as held-out sentences confirm
    seed: int = 1
    engine: Engine = LOCAL

    def tuned(
        self,
        data: TuningData,
        start: F8,
        size: Callable[[F8], float],
        *,
        whole: bool,
        regulariser: Regulariser | None = None,
    ) -> F8:
        """Return tuned weights of the size 1, or the start where there is nothing to learn.

        If `data` is the whole list, then what no tuner can learn from is an error.
        """
        tuner = make_tuner(self.tuner, **self.tuner_settings)
        try:
            tuned = tuner.fit(data, start, seed=self.seed, engine=self.engine, regulariser=regulariser)
        except UnmovedError:
            return start
        except TuneError:
            if whole:
                raise
            return start  # these sentences alone teach nothing
        return tuned.weights / size(tuned.weights)


@dataclass(frozen=True)
class Texts:
    """The texts of a list, for people."""

    translations: Sequence[str]  # [hypotheses]
    sources: Sequence[str] | None = None  # [sentences]

    def source(self, sentence: int) -> str:
        """Return a source sentence; empty where none are known."""
        return "" if self.sources is None else self.sources[sentence]

    def finished(self, sentence: int, words: str) -> str:
        """Return a translation, which is text already."""
        return words


class Learner(Protocol):
    """What was learnt, and on the class how."""

    default_tuner: ClassVar[str]
    needs: ClassVar[frozenset[str]]  # what its tuner must take (constants of `camber.tune.tuner`)
    task: ClassVar[str]  # what its tuner fits, for messages

    @classmethod
    def settings(cls, learner: str) -> frozenset[str]:
        """Return the fields of :class:`ResponseSettings` that make a difference to the learner of this name."""
        ...

    @classmethod
    def fit(cls, data: TuningData, how: Fitting) -> Self:
        """Learn from the columns of a list, and from ``data.parts`` if it looks at them."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a list, in the order of `scores`."""
        ...

    @property
    def step(self) -> float:
        """How far from the list's own order (0) to the tuned weights (1)."""
        ...

    @property
    def bent(self) -> float | None:
        """How far from a linear model (0) to the learnt curves (1); None if it learns no curves."""
        ...

    def scores(self, features: F8, parts: HypothesisParts | None = None) -> F8:
        """Return the score of every hypothesis: [hypotheses, features], NaN where absent → [hypotheses].

        `parts` are those of the hypotheses, where a list has them.
        """
        ...

    def responses(self) -> list[Response]:
        """Return the learnt curve of every feature that has one."""
        ...

    def trees(self) -> list[WeighedTree]:
        """Return the trees that were learnt."""
        ...

    def watched(self, data: TuningData, texts: Texts) -> Self:
        """Return the same, which knows what its trees do to a list; what has none has nothing to know."""
        ...

    def keeping_order(self, data: TuningData, own_order: int) -> Self:
        """Return a learner of the same shape that ranks as the feature `own_order` does."""
        ...

    def record(self) -> dict[str, Any]:
        """Return what the model records of it in ``model.toml``, beside the re-ranker's settings."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return what there is to count."""
        ...

    def save(self, draft: Draft) -> None:
        """Write its files."""
        ...

    @classmethod
    def load(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Self:
        """Open what :meth:`save` wrote and :meth:`record` returned."""
        ...


def on_scale_of_100(data: TuningData) -> TuningData:
    """Return the list with outside scores on the scale that tuners expect; other metrics are on it already."""
    if not isinstance(data.metric, Outside):
        return data
    return replace(data, statistics=data.metric.on_scale_of_100(data.statistics))
