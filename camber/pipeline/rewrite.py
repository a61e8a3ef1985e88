"""A model that exists, written again with other weights, and with what belongs to them: a bend, and confidences."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from camber.bend.kinds import KEEP
from camber.confidence.calibration import FILE as CONFIDENCE
from camber.errors import ModelError
from camber.files import write_lines
from camber.model import places
from camber.model.bend import write_bend
from camber.model.directory import Draft, ModelDirectory, write_model
from camber.model.translator import Translator, load
from camber.tune.grid import MADE_WITH, GridOutcome
from camber.tune.loop import ROUNDS, Outcome, TuneSettings

#: what a grid of hyper-parameters gave
GRID = "grid.tsv"


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
        _write_confidence(translator, draft)
        if outcome is None:
            draft.path(ROUNDS).unlink(missing_ok=True)
        else:
            write_lines(draft.path(ROUNDS), outcome.to_rows())
        if isinstance(outcome, GridOutcome):
            write_lines(draft.path(GRID), outcome.to_grid())
        else:
            draft.path(GRID).unlink(missing_ok=True)
    return load(out)


def with_confidence(model: str | Path, out: str | Path, translator: Translator) -> Translator:
    """Write the model `out`: the files of `model`, and how a translator is calibrated, whose weights are the model's.

    If `model` is not the one any more that the translator was opened from, that is an error.
    """
    directory = translator.directory or ModelDirectory.open(model)
    with write_model(out, directory.kind, directory.settings) as draft:
        now = ModelDirectory.opened(model, partial(_taken, draft, directory))
        if now.made != directory.made:
            raise ModelError(f"{model}: another model was written there while this one was calibrated; calibrate again")
        _write_confidence(translator, draft)
    return load(out)


def _write_confidence(translator: Translator, draft: Draft) -> None:
    """Write how a translator is calibrated; what was calibrated for other weights is removed."""
    if translator.calibration is None:
        draft.path(CONFIDENCE).unlink(missing_ok=True)
    else:
        translator.calibration.write(draft.path(CONFIDENCE))


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
