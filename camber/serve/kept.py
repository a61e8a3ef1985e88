"""What a server has made for somebody, until it is fetched: a few things, for some minutes, by names nobody guesses."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass

from camber.serve.calls import Refusal

#: what is kept at most, and for how many seconds
_MOST, _LONGEST = 20, 600.0


@dataclass(frozen=True)
class Finished:
    """A file that was made."""

    name: str
    data: bytes
    made: float


class Kept:
    """Files by names that only those know whom they were made for."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, Finished] = OrderedDict()

    def keep(self, name: str, data: bytes) -> str:
        """Keep a file and return what to ask for it by."""
        id = secrets.token_hex(16)
        self._files[id] = Finished(name, data, time.monotonic())
        self._forget()
        return id

    def fetch(self, id: str) -> Finished:
        """Return a file."""
        self._forget()
        if id not in self._files:
            raise Refusal(404, "this file is no longer kept; ask for it again")
        return self._files[id]

    def _forget(self) -> None:
        old = time.monotonic() - _LONGEST
        while self._files and (len(self._files) > _MOST or next(iter(self._files.values())).made < old):
            self._files.popitem(last=False)
