"""A lock between processes: a file that the operating system holds for its owner and frees when the owner dies.

So a lock of a dead process is never in the way, and a process number that is used again confuses nobody.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from camber.errors import InUseError
from camber.progress import log

#: seconds between two attempts to take a lock
_PAUSE = 0.01


class Lock:
    """Hold `path` while the block runs; raise :class:`InUseError` if another process (or thread) holds it.

    That is told at once, or when it has not become free for `patience` seconds.

    >>> with Lock("/tmp/example.lock", "the work folder"):
    ...     pass
    """

    def __init__(self, path: str | Path, what: str, patience: float = 0.0) -> None:
        self.path, self.what, self.patience = Path(path), what, patience
        self._handle = -1

    def __enter__(self) -> Self:
        deadline = time.monotonic() + self.patience
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _take(handle):
                if time.monotonic() < deadline:
                    os.close(handle)
                    time.sleep(_PAUSE)
                    continue
                owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip() if hasattr(os, "pread") else ""
                os.close(handle)
                raise InUseError(
                    f"{self.what} is in use by another process{f' (number {owner})' if owner else ''}; "
                    f"wait until it is done, or stop it"
                )
            try:
                if os.path.samestat(os.fstat(handle), os.stat(self.path)):
                    break
            except FileNotFoundError:
                pass
            os.close(handle)  # the last owner removed the file after we had opened it: what we hold is not the lock
        self._handle = handle
        with suppress(OSError):  # whose lock it is helps others; on a full disk it goes unsaid
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        handle, self._handle = self._handle, -1
        try:
            self.path.unlink(missing_ok=True)  # while we hold it, so that nobody else's is removed
        except OSError:
            log.debug("%s: the lock file stays", self.path)  # Windows keeps a file that is open
        os.close(handle)


def _take(handle: int) -> bool:
    """Lock an open file without waiting; say whether it is ours now."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        log.warning("this file system has no locks (%s): do not run two trainings here at once", error.strerror)
    return True
