"""A translator that changes texts in a way that can be seen, but not their tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any, cast

from camber.model.translator import Translator


class Echo:
    """Gives back what `change` makes of the text between tags."""

    def __init__(self, source: str, target: str, change: Callable[[str], str] = lambda text: text) -> None:
        self.text = SimpleNamespace(settings=SimpleNamespace(source_lang=source, target_lang=target), protects=True)
        self.change = change
        self.asked: list[str] = []

    def translations(self, lines: Iterable[str], **_: Any) -> Iterator[list[Any]]:
        for line in lines:
            self.asked.append(line)
            pieces = re.split(r"(<[^<>]*>|&\w+;)", line)
            text = "".join(piece if at % 2 else self.change(piece) for at, piece in enumerate(pieces))
            yield [SimpleNamespace(text=text, notes=())]


def echo(source: str = "en", target: str = "fr", change: Callable[[str], str] = lambda text: text) -> Translator[Any]:
    """Return such a translator as what it stands for."""
    return cast(Translator[Any], Echo(source, target, change))
