"""The names that ``camber`` offers, as blocks of mkdocstrings: read from the package, so that none is left out."""

from __future__ import annotations

import importlib
import inspect
import re

import camber


def offered() -> dict[str, str]:
    """Return the full name of everything that the package offers, by its short name.

    >>> offered()["train"]
    'camber.pipeline.train.train'
    """
    homes = {}
    for name in sorted(set(camber.__all__) - {"__version__"}, key=str.lower):
        value = getattr(camber, name)
        homes[name] = f"{value.__module__}.{value.__qualname__}"
    return homes


def blocks() -> str:
    """Return a block for each name, with the short one as its heading."""
    return "\n".join(_block(home, f"camber.{name}", 3) for name, home in offered().items())


def modules(markdown: str) -> str:
    """Expand lines such as ``<!-- module: camber.metrics.bleu -->`` to all public names that the module defines."""
    return re.sub(r"^<!-- module: (\S+) -->$", lambda match: _module(match[1]), markdown, flags=re.MULTILINE)


def _module(name: str) -> str:
    """Return the first paragraph of a module's docstring, and a block for each of its own classes and functions.

    What `camber` itself offers has its place among :func:`blocks`.
    """
    module = importlib.import_module(name)
    told = (inspect.getdoc(module) or "").split("\n\n")[0]
    elsewhere = offered().values()
    mine = [
        key for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == name and f"{name}.{key}" not in elsewhere
        and (inspect.isclass(value) or inspect.isroutine(value)) and inspect.getdoc(value)
    ]  # fmt: skip
    return "\n".join([f"### {name}", "", told, "", *(_block(f"{name}.{key}", key, 4) for key in mine)])


def _block(home: str, heading: str, level: int) -> str:
    return f"::: {home}\n    options:\n      heading: {heading}\n      heading_level: {level}\n"
