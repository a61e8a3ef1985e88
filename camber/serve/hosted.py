"""A model that is served: opened, opened again when it was replaced or added to, and added to."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from camber.errors import CamberError
from camber.formats.glossary.glossary import Glossary
from camber.model.directory import MANIFEST
from camber.model.translator import Translator, load
from camber.progress import log
from camber.serve.languages import plain_code

#: what tells models on disk apart without reading them
Facts = tuple[tuple[str, int, int, int], ...]


class Hosted:
    """A model directory and the translator that was opened from it.

    `translator` is replaced by another object when the directory changes: whoever took it before goes on with the old
    one, whose pages are given back when the last such request ends.
    """

    def __init__(self, path: str | Path, source: str = "", target: str = "", glossary: Path | None = None) -> None:
        self.path = Path(path)
        self.facts = facts_of(self.path)
        self.translator: Translator[Any] = load(self.path)
        self.source, self.target = source or self._language("source"), target or self._language("target")
        self.glossary = Glossary.read(glossary, self.source, self.target) if glossary else None
        self._adder: Any = None
        self._whole: tuple[Translator[Any], Translator[Any]] | None = None
        self._lock = threading.Lock()  # among threads that add or open

    def _language(self, side: str) -> str:
        code: str = getattr(self.translator.text.settings, f"{side}_lang")
        if not code:
            raise CamberError(
                f"{self.path}: this model does not say which languages it translates; name them: "
                f"camber serve de-en={self.path}"
            )
        return plain_code(code)

    @property
    def name(self) -> str:
        """What the model is called: its directory."""
        return self.path.resolve().name

    def reading(self, *, split: bool) -> Translator[Any]:
        """Return the translator, which takes the sentences of a line one by one, or not."""
        if split or not self.translator.text.settings.split:
            return self.translator
        if self._whole is None or self._whole[0] is not self.translator:
            self._whole = self.translator, self.translator.reading({"split": False})
        return self._whole[1]

    def serves(self, translator: Translator[Any]) -> bool:
        """Say whether a translator is the one that is open now, or reads as that does."""
        whole = self._whole is not None and self._whole[0] is self.translator and self._whole[1] is translator
        return whole or translator is self.translator

    def changed(self) -> bool:
        """Say whether the directory is no longer what was opened."""
        return facts_of(self.path) != self.facts

    def reopen(self) -> bool:
        """Open the directory again if it changed; what cannot be opened leaves the old model in service."""
        with self._lock:
            facts = facts_of(self.path)
            if facts == self.facts:
                return False
            self.facts = facts  # a damaged model is complained of once
            if not any(name == MANIFEST for name, *_ in facts):
                log.warning("%s: the model is gone; the one that was opened stays in service", self.path)
                return False
            try:
                self.translator = load(self.path)
            except CamberError as error:
                log.warning("%s; the model that was opened before stays in service", error)
                return False
            log.info("%s: opened again", self.path)
            return True

    def add(self, source: str, target: str, author: str = "") -> int:
        """Add a pair to the model, with who and when, and open it again; return how many pairs came in."""
        from camber.engine import Threads
        from camber.pipeline.add import Adder

        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock:
            if self._adder is None:
                self._adder = Adder(self.path)
            count: int = self._adder.add([source], [target], author=author, time=now, engine=Threads(1))
            facts = facts_of(self.path)
            self.translator = self._adder.load()
            self.facts = facts
            return count

    def forget(self, source: str, target: str, author: str = "") -> int:
        """Take a pair back, with who and when, and open the model again; return how many were still known."""
        from camber.pipeline.forget import forget

        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock:
            count = len(forget(self.path, pairs=[(source, target)], author=author, time=now))
            facts = facts_of(self.path)
            self.translator = load(self.path)
            self.facts = facts
            return count


def facts_of(path: Path) -> Facts:
    """Return what changes when a model is replaced or pairs are added: its manifest, and the folders of its journal."""
    found = []
    for place in (path, path / MANIFEST, path / "added"):
        try:
            facts = os.stat(place)
        except OSError:
            continue
        found.append((place.name, facts.st_ino, facts.st_mtime_ns if place != path else 0, facts.st_dev))
    return tuple(found)
