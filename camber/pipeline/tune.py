"""Tune a model that exists: its weights change, everything else stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camber.corpus.reading import read_parallel
from camber.model.bend import write_bend
from camber.model.directory import ModelDirectory, write_model
from camber.model.translator import Translator, load
from camber.tune.loop import Outcome, TuneSettings, tune


def tune_model(
    model: str | Path,
    dev_source: str | Path,
    dev_target: Sequence[str | Path] | str | Path,
    *,
    out: str | Path | None = None,
    settings: TuneSettings | None = None,
    seed: int = 1,
    threads: int = 0,
) -> Outcome:
    """Tune the weights of a model on a dev set and write it back (or to `out`), whole or not at all.

    >>> camber.tune_model("my-model", "dev.de", "dev.en").weights["lm"]                   # doctest: +SKIP
    0.43
    """
    targets = [dev_target] if isinstance(dev_target, str | Path) else list(dev_target)
    source, *references = read_parallel(dev_source, *targets)
    settings = settings or TuneSettings()
    outcome = tune(load(model), source, references, settings, seed, threads)
    with_weights(model, out or model, outcome.translator, settings)
    return outcome


def with_weights(
    model: str | Path, out: str | Path, translator: Translator, settings: TuneSettings | None
) -> Translator:
    """Write the model `out`: the files of `model` with the weights of a translator, and the bend they belong to."""
    directory = ModelDirectory.open(model)
    recorded = dict(directory.settings)
    if settings:
        recorded["tune"] = settings.to_dict()
    with write_model(out, directory.kind, recorded) as draft:
        draft.take_folder(directory.path)
        translator.weights.write(draft.path("weights.tsv"))
        write_bend(translator.decoder.bend, draft)
        draft.sizes |= directory.sizes
    return load(out)
