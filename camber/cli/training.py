"""What commands that train share: the flags of all stages, and settings from a TOML file and those flags."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from camber.cli.options import given, naming_flags, refuse_idle, settings_options
from camber.pipeline.methods import METHODS, tables_of
from camber.pipeline.settings import STAGES, TrainSettings, read_config
from camber.regress.settings import NONE

#: stages whose flags carry the stage's name, because a field's name alone would say too little
_PREFIXES = {name: name for name in ("align", "lm", "hiero", "chart", "kernel", "preimage", "sparse", "graph")}


def stage_options(but: Iterable[str] = ()) -> Callable[[Any], Any]:
    """Decorate a command with a flag for every setting of a training, but for those of some stages."""
    left_out = set(but)

    def decorate(command: Any) -> Any:
        for name, cls in reversed(STAGES.items()):
            if name not in left_out:
                command = settings_options(cls, prefix=_PREFIXES.get(name, ""))(command)
        return command

    return decorate


def stage_flags(stage: str) -> list[str]:
    """Return the parameters of a stage's settings."""
    prefix = f"{_PREFIXES[stage]}_" if stage in _PREFIXES else ""
    return [prefix + item.name for item in dataclasses.fields(STAGES[stage])]


def train_settings(
    config: Path | None, values: dict[str, Any], but: Iterable[str] = ()
) -> tuple[TrainSettings, dict[str, dict[str, Any]]]:
    """Make settings from the tables of a file and from flags, which go first; also return the tables.

    The flags are removed from a command's `values`. `but` are the stages that the command has no flags of.
    """
    tables = read_config(config) if config else {}
    used = tables_of(METHODS.load(values["method"]))
    left_out = set(but)
    for name, cls in STAGES.items():
        if name in left_out:
            continue
        chosen = given(cls, values, _PREFIXES.get(name, ""))
        if chosen and name not in used:
            refuse_idle(stage_flags(name), f"to --method {values['method']}")
        tables.setdefault(name, {}).update(chosen)
    with naming_flags({cls: _PREFIXES.get(name, "") for name, cls in STAGES.items()}):
        settings = TrainSettings.from_dict(tables)
    if "regression" in used:
        if settings.regression.regression == NONE:
            refuse_idle(stage_flags("kernel"), "without --regression")
        refuse_idle(["kernel_regression"], "beside --regression, which says which one")
    return settings, tables
