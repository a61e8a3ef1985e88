"""The mean of tuners that err in different ways, as far from the first weights as held-out sentences confirm.

Expected BLEU (:mod:`camber.tune.held`) sees the corpus as a whole, PRO (:mod:`camber.tune.pro`) sees pairs of
hypotheses of one sentence, and MIRA (:mod:`camber.tune.mira`) one pair that matters at a time. What each learns by
heart of a short dev set is its own affair, so their mean has less of it than any. Weights have no size of their own, so
all are scaled until scores vary alike; then

    w = (1 - step) w° + step · mean(held, pro, mira)

with the step that ranks sentences best which none had seen, on average over resampled sets of them (the best step on
one set is mostly luck); w° are the weights that tuning began with.

    tuned = Blend().fit(data, start, seed=1)            # start: w°
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError, TuneError
from camber.metrics.sentence import BREVITY
from camber.progress import log
from camber.settings import Settings, setting
from camber.tune.caution import FEW, mean_step
from camber.tune.data import Tuned, TuningData
from camber.tune.guards import check_task, finished
from camber.tune.held import HeldBleu
from camber.tune.mira import Mira
from camber.tune.pro import Pro
from camber.tune.tuner import HOME, REGULARISER, SPARSE, Tuner

#: of the sentences that are held out in turn
FOLDS = 5
#: whose weights can be averaged
MEMBERS = ("held-bleu", "pro", "mira")


@dataclass(frozen=True)
class Blend(Settings):
    """The mean of expected BLEU near the first weights, of PRO, and of MIRA."""

    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER, HOME})
    step: ClassVar[float] = 1.0

    of: str = setting(",".join(MEMBERS), f"whose weights are averaged, with commas: {', '.join(MEMBERS)}")
    held: float = setting(1.0, "expected BLEU: how strongly weights are held to the first ones (0: not)", low=0.0)
    l2: float = setting(1.0, "PRO: strength of the L2 penalty on the summed loss", low=0.0)
    brevity: str = setting("smoothed", "PRO: brevity penalty of sentence BLEU+1", choices=BREVITY)
    cautious: bool = setting(True, "leave the first weights only as far as held-out sentences of the list confirm")

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.of.split(",")
        if len(set(names)) < len(names) or not set(names) <= set(MEMBERS):
            raise SettingsError(
                f"Blend.of is {self.of!r}; expected some of {', '.join(MEMBERS)}, with commas, each once"
            )

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the weights; the objective is the metric of the list.

        A bend has a caution of its own (:mod:`camber.tune.confirming`), so under a `regulariser` there is none here.
        """
        first = data.start(start)
        check_task(self, data, regulariser)

        def mean(part: TuningData) -> F8:
            return self._mean(part, first, seed, engine, regulariser)

        far, step = mean(data), 1.0
        careful = self.cautious and regulariser is None and len(data) >= FEW
        if careful and data.spread(data.scores(first)) > 0.0:
            step = mean_step(data, lambda part: (first, mean(part)), seed=seed, folds=FOLDS)
            log.info("tuner: held-out sentences confirm %.0f %% of the way from the first weights", 100.0 * step)
        weights = (1.0 - step) * first + step * far
        # staying where held-out sentences confirm nothing is an outcome, not a failure
        return finished(data, weights, data.corpus_score(weights), {"step": step}, moved=not np.array_equal(far, first))

    def _members(self, data: TuningData, regulariser: Regulariser | None) -> list[Tuner]:
        """Return the tuners that are asked: those that take bins and ties where there are any."""
        known: dict[str, Tuner] = {
            "held-bleu": HeldBleu(held=self.held),
            "pro": Pro(l2=self.l2, brevity=self.brevity),
            "mira": Mira(),
        }
        needs = {need for need, there in ((SPARSE, data.counts), (REGULARISER, regulariser)) if there is not None}
        asked = [known[name] for name in self.of.split(",") if needs <= known[name].takes]
        if not asked:
            raise TuneError(f"none of the tuners that a blend of {self.of} asks can fit bins; let it be of pro, too")
        return asked

    def _mean(self, data: TuningData, first: F8, seed: int, engine: Engine, regulariser: Regulariser | None) -> F8:
        """Return the mean of all, by whose scores hypotheses differ as much as by the first weights."""
        fitted = []
        for tuner in self._members(data, regulariser):
            try:
                fitted.append(tuner.fit(data, first, seed=seed, engine=engine, regulariser=regulariser).weights)
            except TuneError:  # it finds nothing to learn from in these sentences; another may
                continue
        if not fitted:
            return first
        like = data.spread(data.scores(first)) or 1.0
        spreads = [data.spread(data.scores(weights)) or like for weights in fitted]
        scaled = [weights * (like / spread) for weights, spread in zip(fitted, spreads, strict=True)]
        return np.where(data.fixed, first, np.mean(scaled, axis=0))
