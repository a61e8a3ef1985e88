"""Command-line options made from settings: one flag per field, with the same name and default."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from camber.settings import Settings

Made = TypeVar("Made", bound=Settings)

#: An input file; whether it exists is checked by the reader, whose message names file and remedy.
FILE = click.Path(path_type=Path)

threads_option = click.option("--threads", default=0, show_default="all cores", help="Threads to use.")
seed_option = click.option("--seed", default=1, show_default=True, help="Seed of everything random.")


def settings_options(*classes: type[Settings]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with a flag for every field of the given settings classes."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for cls in reversed(classes):
            hints = typing.get_type_hints(cls)
            for item in reversed(dataclasses.fields(cls)):
                flag = "--" + item.name.replace("_", "-")
                choices = item.metadata.get("choices")
                kind: Any = click.Choice(choices) if choices else hints[item.name]
                if hints[item.name] is bool:
                    flag = f"{flag}/--no-{flag[2:]}"
                command = click.option(
                    flag, item.name, type=kind, default=item.default, show_default=True, help=item.metadata["help"]
                )(command)
        return command

    return decorate


def pick(cls: type[Made], values: dict[str, Any]) -> Made:
    """Take the fields of a settings class out of a command's keyword arguments (they are removed there)."""
    return cls(**{item.name: values.pop(item.name) for item in dataclasses.fields(cls)})
