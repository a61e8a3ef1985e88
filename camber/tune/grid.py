"""Choose hyper-parameters on a third set: tune every combination on dev, keep the one that translates that set best.

grid = {"bits": [4, 8], "beta": [10, 1000]}
outcome = tune_grid(decoder, dev_set, hyper_set, grid, TuneSettings(bend="mnr"))
print("\\n".join(outcome.lines()))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from camber.bend.kinds import KEEP, settings_of
from camber.bend.settings import TREE_SETTINGS, BendSettings
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError, TuneError
from camber.progress import log, result, step
from camber.tune.acting import watched
from camber.tune.confirming import confirmed
from camber.tune.course import classical_first, made_decoder
from camber.tune.dev_set import DevSet
from camber.tune.loop import Outcome, TuneSettings, tune_bent
from camber.tune.tuner import Tuner

#: the strength of the tuner's L2 penalty
PENALTY = "l2"
#: what may be searched
KEYS = (*(item.name for item in fields(BendSettings)), PENALTY)
#: settings that a bend is made with: one that is kept is as it is
MADE_WITH = ("bits", *TREE_SETTINGS)
Value = float | str | bool
Grid = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Trial:
    """One combination: its values, and how well it did."""

    values: Mapping[str, Value]
    features: int  # that have a weight; 0 where none could be made
    dev: float  # mean over the replicas
    hyper: float  # of the tuned model; NaN where tuning failed
    failure: str = ""  # why


@dataclass(frozen=True)
class GridOutcome(Outcome):
    """The best tuning of a grid, its settings, and all trials."""

    settings: TuneSettings
    trials: tuple[Trial, ...]

    @property
    def best(self) -> Trial:
        """The trial that was kept: the best on the hyper set, the first among equals."""
        return max(self.trials, key=lambda trial: -np.inf if trial.failure else trial.hyper)

    def lines(self) -> list[str]:
        """Lay the trials out as a table; the one that was kept has a star."""
        rows = [["", *(self.trials[0].values), "features", "dev", "hyper"]]
        for trial in self.trials:
            scores = [f"{trial.dev:.2f}", f"{trial.hyper:.2f}"] if not trial.failure else ["-", "failed"]
            mark = "*" if trial is self.best else ""
            rows.append([mark, *map(told_value, trial.values.values()), f"{trial.features:,}", *scores])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]

    def to_grid(self) -> list[str]:
        """Return the lines of `grid.tsv`: the values, how many features, and both scores, exactly."""
        lines = ["\t".join([*self.trials[0].values, "features", "dev", "hyper", "kept"])]
        for trial in self.trials:
            values = (value if isinstance(value, str) else repr(value) for value in trial.values.values())
            numbers = map(repr, (trial.features, trial.dev, trial.hyper))
            lines.append("\t".join([*values, *numbers, "yes" if trial is self.best else "no"]))
        return lines


def told_value(value: Value) -> str:
    """Return a value for people, as a grid names it.

    >>> told_value(1000.0), told_value("linear"), told_value(True)
    ('1000', 'linear', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"


def parse_grid(text: str, settings: type[BendSettings] = BendSettings) -> dict[str, list[Value]]:
    """Read a grid from a line such as ``bits=4,8 beta=10,1000`` or ``leaf=constant,linear tree_refit=false,true``.

    Values of a field of the `settings` are of its type, all others numbers.

    >>> parse_grid("bits=4,8 beta=0.5")
    {'bits': [4, 8], 'beta': [0.5]}
    """
    grid: dict[str, list[Value]] = {}
    for item in text.split():
        key, equals, values = item.partition("=")
        if not equals or not values:
            raise SettingsError(f"grid: {item!r}; expected key=value,value,… such as bits=4,8,12")
        if key in grid:
            raise SettingsError(f"grid: {key} is named twice; give all its values at once: {key}=…,…")
        grid[key] = [_value(key, value, settings) for value in values.split(",")]
    return grid


def _value(key: str, text: str, settings: type[BendSettings]) -> Value:
    kind = next((type(item.default) for item in fields(settings) if item.name == key), float)
    if kind is str and text:
        return text
    if kind is bool and text in ("true", "false"):
        return text == "true"
    for number in (int, float) if kind in (int, float) else ():
        try:
            return number(text)
        except ValueError:
            continue
    expected = {bool: "true or false", str: "a name"}.get(kind, "a number")
    raise SettingsError(f"grid: {key} is {text!r}; expected {expected}")


def combinations(grid: Grid, settings: TuneSettings, kind: str) -> list[tuple[dict[str, Value], TuneSettings, Tuner]]:
    """Return every combination that makes a difference, with its settings and tuner; all values are checked.

    `kind` is the bend of the model that is tuned; what does not apply to it is left out.
    """
    if unknown := [key for key in grid if key not in KEYS]:
        raise SettingsError(f"grid: no hyper-parameter {', '.join(unknown)}; there are {', '.join(KEYS)}")
    if empty := [key for key, values in grid.items() if not len(values)]:
        raise SettingsError(f"grid: no values for {', '.join(empty)}; give at least one")
    for key, values in grid.items():
        for value in values:
            _checked({key: value}, settings)
    of_bends = {item.name for item in fields(BendSettings)}
    useless = [
        key
        for key in grid
        if key in of_bends and (key not in settings_of(kind) or (key in MADE_WITH and settings.bend == KEEP))
    ]
    if useless and len(useless) == len(grid):
        raise SettingsError(
            f"grid: {', '.join(useless)} makes no difference to bend {settings.bend}; name another with --bend"
        )
    if useless:
        log.warning("grid: %s makes no difference to bend %s and is left out", ", ".join(useless), settings.bend)
    axes = {key: list(dict.fromkeys(values)) for key, values in grid.items() if key not in useless}
    if not axes:
        raise SettingsError("the grid is empty; name values to try, such as bits=4,8,12")
    return [
        (values, *_checked(values, settings))
        for values in (dict(zip(axes, chosen, strict=True)) for chosen in product(*axes.values()))
    ]


def _checked(values: Mapping[str, Value], settings: TuneSettings) -> tuple[TuneSettings, Tuner]:
    """Return settings and a tuner with these values; values out of range are errors."""
    named: dict[str, Any] = {key: value for key, value in values.items() if key != PENALTY}
    tuner = settings.make_tuner()
    if PENALTY in values:
        strength, known = values[PENALTY], {item.name for item in fields(tuner)}  # type: ignore[arg-type]
        if isinstance(strength, str):
            raise SettingsError(f"grid: l2 is {strength!r}; expected a number")
        if "variance" in known:  # a Gaussian prior is the same penalty
            if strength < 0:
                raise SettingsError(f"grid: l2 is {strength:g}; expected at least 0")
            tuner = settings.make_tuner(variance=1.0 / strength if strength > 0 else 0.0)
        elif "l2" in known:
            tuner = settings.make_tuner(l2=strength)
        else:
            raise SettingsError(f"grid: {settings.tuner} has no L2 penalty to search; leave l2 out, or use --tuner pro")
    return replace(settings, **named), tuner


def tune_grid(
    decoder: LogLinear,
    dev: DevSet,
    hyper: DevSet,
    grid: Grid,
    settings: TuneSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
) -> GridOutcome:
    """Tune every combination of a grid on dev, and return the one whose model translates the hyper set best.

    The grammars of all sentences are extracted once, and a bend is made once for all combinations that differ in other
    settings, such as bins for each number of bits. A combination whose tuning fails is recorded as such; if all fail,
    the first error is raised. A cautious bend goes from the classical model towards the best of the grid as far as
    held-out sentences of dev confirm.
    """
    settings = settings or TuneSettings()
    kind = settings.bend if settings.bend != KEEP else decoder.bend.kind
    todo = combinations(grid, settings, kind)
    remembering = decoder.remembering()
    classical = classical_first(remembering, dev, todo[0][1], seed, engine, todo[0][2])
    begin = classical.decoder if classical else remembering
    bent: dict[tuple[Value, ...], LogLinear] = {}  # by what bends are made with
    best: Outcome | None = None
    chosen, with_tuner = settings, todo[0][2]
    failed: TuneError | None = None
    trials: list[Trial] = []
    for number, (values, combined, tuner) in enumerate(todo, 1):
        name = ", ".join(f"{key} {told_value(value)}" for key, value in values.items())
        log.info("grid %d of %d: %s", number, len(todo), name)
        shape = tuple(getattr(combined, key) for key in MADE_WITH)
        features = 0
        try:
            if shape not in bent:
                bent[shape] = made_decoder(begin, dev, combined, seed, engine)
            features = len(bent[shape].names)
            with step(f"grid {number} of {len(todo)}"):
                outcome = tune_bent(bent[shape], dev, combined, seed, engine, tuner)
        except TuneError as error:
            log.warning("grid %d of %d: %s", number, len(todo), error)
            trials.append(Trial(values, features, float("nan"), float("nan"), str(error)))
            failed = failed or error
            continue
        score = _score(outcome.decoder, hyper, engine)
        result(
            "trial", "grid %d of %d: %s %.2f on the hyper set", number, len(todo), hyper.metric.name.upper(), score,
            number=number, values=values, metric=hyper.metric.name, hyper=score, dev=float(outcome.scores.mean()),
        )  # fmt: skip
        before = max((trial.hyper for trial in trials if not trial.failure), default=-np.inf)
        trials.append(Trial(values, features, float(outcome.scores.mean()), score))
        if best is None or score > before:
            best, chosen, with_tuner = outcome, combined, tuner
    if best is None:
        raise failed or TuneError("the grid is empty")
    if classical:
        best = confirmed(classical, best, dev, chosen, seed, engine, with_tuner).outcome
    weighing = watched(best.decoder, dev, chosen.nbest, engine)
    outcome = GridOutcome(best.weights, best.replicas, decoder.weighed(weighing), chosen, tuple(trials))
    kept = ",".join(f"{key}={told_value(value)}" for key, value in outcome.best.values.items())
    signature = f"{best.weights.signature}|grid:{kept}|hyper:{outcome.best.hyper:.2f}"
    return replace(outcome, weights=replace(best.weights, signature=signature))


def _score(decoder: LogLinear, hyper: DevSet, engine: Engine) -> float:
    """Return the metric of the best translations of a set."""
    hypotheses = decoder.decode_columns(hyper.inputs, hyper.vocabulary, 1, engine)
    return float(hyper.metric.score(hyper.statistics(hypotheses).sum(0)))
