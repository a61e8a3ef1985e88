"""Tune a model that exists: its weights change, everything else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from camber.bend.kinds import KEEP
from camber.engine import LOCAL, Engine
from camber.errors import SettingsError
from camber.files import read_parallel
from camber.metrics.metric import CLOSEST
from camber.model.directory import ModelDirectory, check_place
from camber.model.kinds import check_weighs
from camber.model.translator import Translator, load
from camber.pipeline.calibrate import calibrated_if_possible
from camber.pipeline.rewrite import with_weights
from camber.progress import Watcher, watched
from camber.tune.course import tune
from camber.tune.dev_set import DevSet
from camber.tune.grid import Grid, parse_grid, tune_grid
from camber.tune.loop import Outcome, TuneSettings
from camber.tune.tuner import Tuner


@watched
def tune_model(
    model: str | Path,
    dev_source: str | Path,
    dev_target: Sequence[str | Path] | str | Path,
    *,
    hyper_source: str | Path | None = None,
    hyper_target: Sequence[str | Path] | str | Path | None = None,
    grid: Grid | str | None = None,
    out: str | Path | None = None,
    settings: TuneSettings | Mapping[str, Any] | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Outcome:
    """Tune the weights of a model on a dev set and write it back (or to `out`), whole or not at all.

    `settings` may be those that differ from the defaults only. A bend that is kept (``{"bend": "keep"}``, the default)
    keeps the beta and gamma that the model records, unless others are named.

    With a `grid` such as ``{"bits": [4, 8], "beta": [10, 1000]}``, every combination is tuned, and the one that
    translates the hyper set best is kept; the outcome then has `trials` and the `settings` that were chosen.

    >>> camber.tune_model("my-model", "dev.de", "dev.en").weights["lm"]                   # doctest: +SKIP
    0.43
    """
    check_weighs(directory := ModelDirectory.open(model))
    check_place(out or model, directory.kind)
    source, *references = read_parallel(dev_source, *_paths(dev_target))
    hyper_targets = _paths(hyper_target or ())
    if len({bool(grid), hyper_source is not None, bool(hyper_targets)}) > 1:
        raise SettingsError("hyper-parameters need a grid, and a hyper set of source and target; give all three")
    translator = load(model)
    settings = _as_recorded(settings, translator)
    hyper = None
    if grid and hyper_source is not None:
        lines, *hyper_references = read_parallel(hyper_source, *hyper_targets)
        hyper = lines, hyper_references
    values = parse_grid(grid) if isinstance(grid, str) else grid
    outcome = tune_translator(
        translator, source, references, settings, seed=seed, engine=engine, grid=values, hyper=hyper
    )
    tuned = translator.shaped(outcome.decoder, outcome.weights)
    with_weights(model, out or model, calibrated_if_possible(tuned, source, references, engine), settings, outcome)
    return outcome


def tune_translator(
    translator: Translator,
    source: Sequence[str],
    references: Sequence[Sequence[str]],
    settings: TuneSettings | None = None,
    *,
    seed: int = 1,
    engine: Engine = LOCAL,
    tuner: Tuner | None = None,
    grid: Grid | None = None,
    hyper: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
) -> Outcome:
    """Tune the weights of a translator on raw dev lines with one or more references each.

    With a `grid`, its combinations are tuned, and `hyper` (source lines and references) chooses among them. The outcome
    has the tuned decoder; ``translator.shaped(outcome.decoder, outcome.weights)`` is the translator with it.
    """
    settings = settings or TuneSettings()
    asked: Any = {"metric": settings.metric, "reference_length": settings.reference_length}
    dev = dev_set(translator, source, references, **asked)
    if grid is None or hyper is None:
        return tune(translator.decoder, dev, settings, seed, engine, tuner)
    other = dev_set(translator, *hyper, name="hyper", **asked)
    return tune_grid(translator.decoder, dev, other, grid, settings, seed, engine)


def dev_set(
    translator: Translator,
    source: Sequence[str],
    references: Sequence[Sequence[str]],
    metric: str = "bleu",
    name: str = "dev",
    *,
    reference_length: str = CLOSEST,
) -> DevSet:
    """Return raw lines and references as a translator's decoder sees them."""
    prepared = [translator.prepare(line) for line in source]
    targets = [list(map(translator.text.target_tokens, lines, source)) for lines in references]
    return DevSet(
        [list(sentence.tokens) for sentence in prepared],
        targets,
        translator.decoder.target_vocabulary,
        metric,
        name,
        reference_length=reference_length,
        lines=source,
        finish=lambda sentence, words: translator.text.finish(words, prepared[sentence]),
    )


def _as_recorded(settings: TuneSettings | Mapping[str, Any] | None, translator: Translator) -> TuneSettings:
    """Let a bend that is kept also keep how it was tied, unless other numbers are asked for."""
    if isinstance(settings, TuneSettings):
        return settings
    named = dict(settings or {})
    known = translator.directory.settings.get("tune", {}) if translator.directory else {}
    kept = ("beta", "gamma") if named.get("bend", KEEP) == KEEP else ()
    return TuneSettings.from_dict({name: known[name] for name in kept if name in known} | named)


def _paths(files: Sequence[str | Path] | str | Path) -> list[str | Path]:
    return [files] if isinstance(files, str | Path) else list(files)
