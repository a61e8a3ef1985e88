"""Names that a package offers without importing their modules before they are used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def attach(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names live in the modules `homes`.

    >>> look_up, names, _ = attach("camber.corpus", {"Bitext": "camber.corpus.bitext"})
    >>> look_up("Bitext").__name__, "Bitext" in names()
    ('Bitext', True)
    """

    def look_up(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(importlib.import_module(package)), *homes})

    return look_up, names, list(homes)
