"""Tune a model that exists: its weights change, everything else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from camber.bend.kinds import KEEP
from camber.engine import LOCAL, Engine
from camber.errors import ModelError, SettingsError
from camber.files import read_parallel, write_lines
from camber.metrics.metric import CLOSEST
from camber.model import places
from camber.model.bend import write_bend
from camber.model.directory import Draft, ModelDirectory, check_place, write_model
from camber.model.kinds import check_weighs
from camber.model.translator import Translator, load
from camber.tune.course import tune
from camber.tune.dev_set import DevSet
from camber.tune.grid import MADE_WITH, Grid, GridOutcome, parse_grid, tune_grid
from camber.tune.loop import Outcome, TuneSettings
from camber.tune.tuner import Tuner

#: what a grid of hyper-parameters gave
GRID = "grid.tsv"


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
    with_weights(model, out or model, tuned, settings, outcome)
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


def with_weights(
    model: str | Path,
    out: str | Path,
    translator: Translator,
    settings: TuneSettings | None,
    outcome: Outcome | None = None,
) -> Translator:
    """Write the model `out`: the files of `model` with the weights of a translator, and the bend they belong to.

    If the weights are the outcome of a grid, its trials and the settings that it chose are kept. If `model` is not the
    one any more that the translator was opened from, that is an error, and the weights are kept beside `out`.
    """
    directory = translator.directory or ModelDirectory.open(model)
    recorded = dict(directory.settings)
    if isinstance(outcome, GridOutcome):
        settings = outcome.settings
    if settings:
        bend = translator.decoder.bend
        before = recorded.get("tune", {}) if settings.bend == KEEP else {}
        made_with = {name: before[name] for name in MADE_WITH if name in before}
        recorded["tune"] = replace(settings, bend=bend.kind, **made_with).to_dict()
    recorded |= translator.decoder.recorded
    with write_model(out, directory.kind, recorded) as draft:
        now = ModelDirectory.opened(model, partial(_taken, draft, directory))  # again: pairs may have been added since
        if now.made != directory.made:
            raise _replaced(Path(model), Path(out), translator)
        translator.weights.write(draft.path("weights.tsv"))
        write_bend(translator.decoder.bend, draft)
        if isinstance(outcome, GridOutcome):
            write_lines(draft.path(GRID), outcome.to_rows())
        else:
            draft.path(GRID).unlink(missing_ok=True)
    return load(out)


def _taken(draft: Draft, before: ModelDirectory, now: ModelDirectory) -> ModelDirectory:
    """Take over the files of a model if it is still the one that it was before; return what is there now."""
    if now.made == before.made:
        draft.take_model(now)
    return now


def _replaced(model: Path, out: Path, translator: Translator) -> ModelError:
    """Keep the weights of a translator whose model is not there any more, and return the error that says so."""
    beside = places.free_name(out.resolve(), "tuned")
    beside.mkdir()
    translator.weights.write(beside / "weights.tsv")
    bend = translator.decoder.bend
    if bend.FILE:
        bend.write(beside / bend.FILE)
    return ModelError(
        f"{model}: another model was written there while this one was tuned; it stays as it is, and the tuned weights "
        f"of the one before are in {beside}; tune again, and give --out to write elsewhere"
    )
