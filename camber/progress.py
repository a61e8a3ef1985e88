"""Progress on long work: silent in a library, a line on standard error from the command line.

The package logs to the logger ``camber``; the command line installs a handler (:func:`show`).
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("camber")
log.addHandler(logging.NullHandler())


def show(*, quiet: bool = False) -> None:
    """Send progress to standard error: one short line each (warnings only when `quiet`)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(logging.WARNING if quiet else logging.INFO)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Report how long a stage took: ``align: done in 3.2 s``."""
    start = time.monotonic()
    log.info("%s …", name)
    yield
    log.info("%s: done in %.1f s", name, time.monotonic() - start)


class Counter:
    """Count items of a long loop, with a line every few seconds: ``decode: 1,200 of 3,000``."""

    def __init__(self, name: str, total: int | None = None, every: float = 5.0) -> None:
        self.name, self.total, self.every = name, total, every
        self.done, self.last = 0, time.monotonic()

    def add(self, n: int = 1) -> None:
        self.done += n
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            log.info("%s: %s%s", self.name, f"{self.done:,}", f" of {self.total:,}" if self.total else "")
