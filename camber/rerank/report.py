"""What re-ranking gained: on the list it was fitted to, and by cross-validation on sentences it had not seen.

report = evaluate(reranker, nbest, references, folds=5)      # fits the re-ranker, too
print("\\n".join(report.lines()))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from camber.arrays.types import F8, I8
from camber.errors import SettingsError
from camber.metrics.metric import Metric, References
from camber.metrics.oracle import corpus_oracle, oracle_scores
from camber.metrics.outside import digits_of
from camber.metrics.significance import paired_bootstrap, paired_randomisation
from camber.nbest import NBest
from camber.progress import log, step
from camber.rerank.choice import Trial
from camber.rerank.reranker import Reranker, as_references
from camber.tune.caution import of_sentences
from camber.tune.data import TuningData
from camber.tune.grid import told_value

_LEVEL = 0.05  # of significance


#: ways to choose a hypothesis of every sentence
OWN, TUNED, HELD_OUT, ORACLE = "1-best", "tuned", "held out", "oracle"


class Chosen(NamedTuple):
    """A hypothesis of every sentence, and its statistics."""

    rows: I8  # [sentences]; -1: none
    statistics: F8  # [sentences, columns]


@dataclass(frozen=True)
class HeldOut:
    """Every sentence re-ranked by weights that were fitted without it."""

    folds: int
    tuned: float
    difference: float  # from the 1-best; positive is better, whatever the metric
    p: float  # by paired approximate randomisation
    wins: float  # share of resampled test sets on which re-ranking is better
    changed: int  # sentences with another translation


@dataclass(frozen=True)
class Report:
    """Corpus scores of the 1-best, the tuned choice and the two oracles on the training list."""

    metric: str
    signature: str
    sentences: int
    hypotheses: int
    one_best: float
    tuned: float
    oracle: float
    anti_oracle: float
    oracle_at: dict[int, float]
    step: float  # how far from the own order (0) to the tuned weights (1)
    held_out: HeldOut | None = None
    bent: float | None = None  # how far from the linear model (0) to the bent one (1); None: a linear learner
    higher_is_better: bool = True  # of the metric
    learnt: dict[str, Any] = field(default_factory=dict)  # what the learner records of itself
    trials: tuple[Trial, ...] = ()  # of a grid: what was tried, and how good it was by cross-validation
    chosen: dict[str, Chosen] = field(default_factory=dict)  # by each way; not for JSON

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = asdict(replace(self, chosen={}))
        del plain["chosen"]
        return plain | {"summary": self.summary()}

    def lines(self) -> list[str]:
        """Lay the report out for people."""
        rows = [("1-best (the list's own order)", self.one_best), ("tuned, on the training list", self.tuned)]
        if self.held_out:
            rows.append((f"tuned, held out ({self.held_out.folds} folds)", self.held_out.tuned))
        rows += [("oracle", self.oracle), ("anti-oracle", self.anti_oracle)]
        rows += [(f"oracle of the first {k}", score) for k, score in self.oracle_at.items()]
        lines = [f"{self.sentences:,} sentences, {self.hypotheses:,} hypotheses", f"{'':32}{self.metric:>9}"]
        lines += [f"{name:32}{score:9.{self._digits}f}" for name, score in rows]
        lines += [f"{self.metric}|{self.signature}", ""]
        if self.bent is not None:
            lines.append(
                f"bent responses: {100 * self.bent:.0f} % of the way from the linear model (0 %: it was kept as it is)"
            )
        if "bandwidth" in self.learnt:
            lines.append(
                f"kernels: bandwidth {self.learnt['bandwidth']:g}; {100 * self.learnt['dropped']:.2f} % of the mass of "
                "posteriors was dropped"
            )
        if self.trials:
            lines.append("the grid, by cross-validation (the best was taken):")
            lines += [f"  {self._told(trial)}" for trial in self.trials]
        return [*lines, self.summary()]

    def summary(self) -> str:
        """Say in a sentence or two, honestly, what was gained."""
        if self.step == 0.0:
            return (
                f"Nothing was gained: no weights did better in {self.metric} than the list's own order, "
                "which the model keeps." + (f" Held out: {self._facts()}." if self.held_out else "")
            )
        room = abs(self.oracle - self.one_best)
        if self.held_out is None:
            gained = (self.tuned - self.one_best) * (1 if self.higher_is_better else -1)
            scores = f"{self.metric} {self.one_best:.{self._digits}f} → {self.tuned:.{self._digits}f}"
            if gained <= 0:
                verdict = "does harm even" if gained < 0 else "gains nothing even"
                return f"Re-ranking {verdict} on the list that it was fitted to: {scores}. Do not use this model."
            return (
                f"On the list that it was fitted to, re-ranking is better than the 1-best: {scores}. That flatters: "
                "--held-out 5 tells what to expect of other sentences."
            )
        held = self.held_out
        facts = self._facts()
        share = (
            f" It is {100 * held.difference / room:.0f} % of what the oracle of this list would gain."
            if room > 0
            else ""
        )
        if held.changed == 0:
            return f"Nothing was gained: on sentences that it had not seen, re-ranking chose the 1-best. {facts}."
        if held.p >= _LEVEL:
            return f"Nothing was gained that chance would not explain: on sentences that it had not seen, {facts}."
        if held.difference > 0:
            return f"Re-ranking helps on sentences that it had not seen: {facts}.{share}"
        return f"Re-ranking does harm on sentences that it had not seen: {facts}. Do not use this model."

    def _facts(self) -> str:
        held = self.held_out
        if held is None:
            return ""
        digits, change = self._digits, held.tuned - self.one_best
        scores = f"{self.one_best:.{digits}f} → {held.tuned:.{digits}f} ({change:+.{digits}f}"
        return f"{self.metric} {scores}, p = {held.p:.4f})"

    def _told(self, trial: Trial) -> str:
        values = " ".join(f"{key}={told_value(value)}" for key, value in trial.values.items())
        return f"{values}: " + ("failed" if trial.score is None else f"{trial.score:.{self._digits}f}")

    @property
    def _digits(self) -> int:
        return digits_of(self.signature)


def evaluate(
    reranker: Reranker,
    nbest: NBest,
    refs: References | Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    folds: int = 0,
    trials: int = 10_000,
    oracle_at: Sequence[int] = (10,),
) -> Report:
    """Fit `reranker` on the whole list and report; with `folds` also by cross-validation.

    Sentence `s` is in fold ``s % folds``.
    """
    data = reranker.tuning_data(nbest, refs, sources)
    metric = data.metric
    missing = missing_rows(metric, nbest, refs)
    own = nbest.best()
    one_best = _table(data, own, missing)
    chosen = {OWN: Chosen(own, one_best)}
    held = None
    if folds:
        held, chosen[HELD_OUT] = _held_out(reranker, data, one_best, missing, folds, trials)
    reranker.fit_data(data).watch(data, nbest, sources)
    best_rows = data.best_by(reranker.fitted.scores(data.present(), data.parts))
    tuned = _table(data, best_rows, missing)
    chosen[TUNED] = Chosen(best_rows, tuned)
    best, worst = (
        corpus_oracle(metric, data.statistics, data.sentence_offsets, worst=side, missing=data.missing)
        for side in (False, True)
    )
    chosen[ORACLE] = Chosen(best, _table(data, best, missing))
    longest = int(np.diff(nbest.sentence_offsets).max(initial=0))
    ks = [k for k in oracle_at if k < longest]
    return Report(
        metric.name,
        metric.signature(len(as_references(refs))),
        len(nbest),
        nbest.hypotheses,
        _score(metric, one_best),
        _score(metric, tuned),
        data.score_of(best),
        data.score_of(worst),
        oracle_scores(metric, data.statistics, data.sentence_offsets, ks, data.missing),
        reranker.fitted.step,
        held,
        reranker.fitted.bent,
        metric.higher_is_better,
        reranker.fitted.record(),
        reranker.trials,
        chosen,
    )


def _held_out(
    reranker: Reranker,
    data: TuningData,
    one_best: F8,
    missing: dict[int, F8],
    folds: int,
    trials: int,
) -> tuple[HeldOut, Chosen]:
    if not 2 <= folds <= len(data):
        raise SettingsError(f"{folds} folds of {len(data)} sentences; expected 2 to {len(data)}")
    chosen = np.full(len(data), -1, np.int64)
    fold_of = np.arange(len(data)) % folds
    for fold in range(folds):
        name = f"held out: fold {fold + 1} of {folds}"
        with step(name):
            reranker.fit_data(of_sentences(data, np.flatnonzero(fold_of != fold)))
            best = data.best_by(reranker.fitted.scores(data.present(), data.parts))
            chosen[fold_of == fold] = best[fold_of == fold]
        log.info("%s", name)
    tuned = _table(data, chosen, missing)
    metric = data.metric
    score, base = _score(metric, tuned), _score(metric, one_best)
    held = HeldOut(
        folds,
        score,
        score - base if metric.higher_is_better else base - score,
        paired_randomisation(metric, one_best, tuned, trials, reranker.seed),
        paired_bootstrap(metric, one_best, tuned, 1000, reranker.seed).wins,
        int((tuned != one_best).any(1).sum()),
    )
    return held, Chosen(chosen, tuned)


def missing_rows(metric: Metric, nbest: NBest, refs: References | Sequence[str] | None) -> dict[int, F8]:
    """Return the statistics of an empty translation for every sentence without hypotheses."""
    empty = np.flatnonzero(np.diff(nbest.sentence_offsets) == 0)
    if not len(empty):
        return {}
    rows = metric.statistics([""] * len(empty), as_references(refs), empty)
    return dict(zip(empty.tolist(), rows.astype(np.float64), strict=True))


def _table(data: TuningData, chosen: I8, missing: dict[int, F8]) -> F8:
    """Return the statistics of one hypothesis per sentence, float64[sentences, columns]."""
    rows = data.statistics[np.maximum(chosen, 0)] if data.hypotheses else np.zeros((len(data), len(data.missing)))
    for sentence in np.flatnonzero(chosen < 0).tolist():
        rows[sentence] = missing[sentence]
    return rows


def _score(metric: Metric, table: F8) -> float:
    return float(metric.score(table.sum(0)))
