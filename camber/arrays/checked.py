"""Checks of large files that run once: what was found whole is remembered in the user's cache folder.

To check that no kernel can be led astray by gigabytes of arrays means to read them all; a model of millions of sentence
pairs would take seconds to open, and seem to take as much memory as its files. So a check that passed is noted under
what the system says of the files: which ones they are, how long, and when anything about them last changed. That time
is set by the system and cannot be set back, as that of the content can. A copy is another file, and is checked again.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from camber.kernel.place import cache_folder

#: bytes of files that are worth a note: fewer are checked in a fraction of a second
LEAST = 500_000_000
#: a file that changed so many nanoseconds ago may change again at what the system takes for the same time
RECENT = 2_000_000_000


def checked_once(files: Iterable[Path], check: partial[None]) -> None:
    """Run the check of these files, a method with its arguments, unless it passed before and nothing changed since."""
    place = _note(list(files), check) if os.name == "posix" else None  # elsewhere, that time is another one
    if place is not None and place.exists():
        return
    check()
    if place is not None:
        with suppress(OSError):
            place.parent.mkdir(exist_ok=True)
            place.touch()


def _note(files: list[Path], check: partial[None]) -> Path | None:
    """Return where it is noted that files were checked; None for small ones, and those that changed just now."""
    method: Any = check.func
    code = Path(inspect.getfile(method)).stat()  # a check that knows more runs again
    facts: list[object] = [method.__qualname__, code.st_size, code.st_mtime_ns]
    size = newest = 0
    for path in files:
        of = path.stat()
        facts += [of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns]
        size += of.st_size
        newest = max(newest, of.st_ctime_ns)
    if size < LEAST or time.time_ns() - newest < RECENT:
        return None
    return cache_folder() / "checked" / hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
