"""Command-line options made from settings: one flag per field, with the same name and default."""

from __future__ import annotations

import dataclasses
import math
import re
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from camber.cli.groups import RUNNING, option
from camber.engine import Engine, Threads
from camber.errors import SettingsError
from camber.registry import Registry
from camber.settings import Settings

Made = TypeVar("Made", bound=Settings)

#: An input file; whether it exists is checked by the reader, whose message names file and remedy.
FILE = click.Path(path_type=Path)


class Registered(click.ParamType):
    """A name of a registry; which names there are is looked up when help or an error tells it."""

    name = "choice"

    def __init__(self, registry: Registry[Any]) -> None:
        self.registry = registry

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.registry)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.registry:
            return str(value)
        known = ", ".join(map(repr, self.registry))
        return self.fail(f"{value!r} is not one of {known}.", param, ctx)


#: where a cluster's address stands in a context, until the engine is made
_CLUSTER = "camber.cluster"


def _engine(context: click.Context, parameter: click.Parameter, threads: int) -> Engine:
    where, folder = context.meta.get(f"{_CLUSTER}.where"), context.meta.get(f"{_CLUSTER}.folder")
    if where is None:
        if folder is not None:
            raise click.UsageError("--cluster-folder makes no difference without --cluster")
        return Threads(threads)
    if context.get_parameter_source("engine") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--threads and --cluster exclude each other: workers have threads of their own")
    from camber.engine.cluster import Cluster

    cluster = Cluster.open(where, folder)
    context.call_on_close(cluster.close)
    return cluster


def _noted(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def note(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta[f"{_CLUSTER}.{name}"] = value

    return note


#: how many threads of this machine a command may use; its argument is called `engine`
threads_option = option(
    "--threads",
    "engine",
    type=click.IntRange(0),
    default=0,
    show_default="all cores",
    help="Threads to use.",
    callback=_engine,
    group=RUNNING,
)


def engine_option(command: Any) -> Any:
    """Decorate a command with the flags that say where it computes: threads, or a cluster."""
    for flag in (
        option(
            "--cluster-folder",
            type=FILE,
            is_eager=True,
            expose_value=False,
            callback=_noted("folder"),
            help="A folder that all machines of the cluster have under this name; what is mapped from it is not sent.",
            group=RUNNING,
        ),
        option(
            "--cluster",
            metavar="ADDRESS",
            is_eager=True,
            expose_value=False,
            callback=_noted("where"),
            help="Compute on a Dask cluster: tcp://host:port of its scheduler, or local:N for N processes here.",
            group=RUNNING,
        ),
        threads_option,
    ):
        command = flag(command)
    return command


class MemorySize(click.ParamType):
    """An amount of memory, such as 2G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from camber.arrays.scratch import memory_size

        if isinstance(value, int):
            return value
        try:
            return memory_size(value)
        except SettingsError as error:
            return self.fail(str(error), param, ctx)


#: how much memory a command may use; its argument is called `most_memory`
memory_option = option(
    "--memory",
    "most_memory",
    type=MemorySize(),
    default=None,
    show_default="half of what is free",
    help="Memory to use, such as 2G; what needs more is kept on disk meanwhile. The result is the same.",
    group=RUNNING,
)


def json_option(told: str) -> Callable[[Any], Any]:
    """Decorate a command with ``--json``: a result for machines, `told` by its help, and progress for them, too."""

    def switch(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
        if value:
            from camber.cli.display import show

            show(quiet=context.find_root().params.get("quiet", False), as_json=True)
        return value

    help = f"{told} Progress, messages and errors are JSON on standard error."
    return click.option("--json", "as_json", is_flag=True, is_eager=True, callback=switch, help=help)


seed_option = option("--seed", default=1, show_default=True, help="Seed of everything random.", group=RUNNING)


def settings_options(
    *classes: type[Settings], prefix: str = "", shown: str = "", but: Collection[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with a flag for every field of the given settings classes, such as ``--[prefix-]order``.

    `shown` is what help calls the default, where it is not that of the class; `but` are fields without a flag.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for cls in reversed(classes):
            hints = typing.get_type_hints(cls)
            for item in reversed(dataclasses.fields(cls)):
                if item.name in but:
                    continue
                name = f"{prefix}_{item.name}" if prefix else item.name
                flag = "--" + name.replace("_", "-")
                choices = item.metadata.get("choices")
                kind: Any = click.Choice(tuple(choices)) if choices else _number(hints[item.name], item.metadata)
                more: dict[str, Any] = {}
                if item.metadata.get("only_off"):
                    flag, more = f"--{item.metadata.get('contrary') or f'no-{flag[2:]}'}", {"flag_value": False}
                elif hints[item.name] is bool:
                    flag = f"{flag}/--{item.metadata.get('contrary') or f'no-{flag[2:]}'}"
                command = option(
                    flag,
                    name,
                    type=kind,
                    default=item.default,
                    show_default=shown or not more,
                    **more,
                    help=item.metadata["help"],
                    group=cls.group_of(item.name),
                )(command)
        return command

    return decorate


def _number(kind: type, rule: Mapping[str, Any]) -> Any:
    """Return a type that tells the user the range of a number, in its help and when it is left."""
    low, high = rule.get("low"), rule.get("high")
    if kind not in (int, float) or (low is None and high is None):
        return kind
    return click.IntRange(low, high) if kind is int else _FloatRange(low, high)


class _FloatRange(click.FloatRange):
    """A range that NaN is not in; click compares, and no comparison with NaN is true."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        return self.fail(f"{value} is not a number.", param, ctx) if math.isnan(number) else number


def refuse_idle(names: Iterable[str], reason: str) -> None:
    """Refuse flags that the user named though they make no difference, such as ``--gamma`` for free bins."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} makes no difference {reason}")


def pick(cls: type[Made], values: dict[str, Any]) -> Made:
    """Take the fields of a settings class out of a command's keyword arguments (they are removed there)."""
    chosen = {item.name: values.pop(item.name) for item in dataclasses.fields(cls)}
    with naming_flags({cls: ""}):
        return cls(**chosen)


@contextmanager
def naming_flags(prefixes: Mapping[type[Settings], str]) -> Iterator[None]:
    """Turn errors of settings, which speak of a class and its field, into wrong usage that speaks of a flag."""
    try:
        yield
    except SettingsError as error:
        told = str(error)
        for cls, prefix in prefixes.items():
            for item in dataclasses.fields(cls):
                name = f"{prefix}_{item.name}" if prefix else item.name
                told = re.sub(rf"\b{cls.__name__}\.{item.name}\b", "--" + name.replace("_", "-"), told)
        raise click.UsageError(told) from None


def given(cls: type[Settings], values: dict[str, Any], prefix: str = "", but: Collection[str] = ()) -> dict[str, Any]:
    """Take the fields out of the keyword arguments, but return only those that the user named on the command line."""
    context = click.get_current_context()
    named = {}
    for item in dataclasses.fields(cls):
        if item.name in but:
            continue
        name = f"{prefix}_{item.name}" if prefix else item.name
        value = values.pop(name)
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            named[item.name] = value
    return named
