"""Files of compiled kernels, each with a digest before its content.

What is in them is unpickled and executed, so a file that was cut off, emptied or changed must never be used: it goes
away, which is said once, and the kernel is compiled again. Where nothing can be kept (a full disk), kernels are
compiled for this process alone, which is said once, too.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from typing import Any

from numba.core.caching import IndexDataCacheFile

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from camber.progress import log

#: Changes when files of before cannot be read.
FORMAT = "3"
_DIGEST = hashlib.sha256().digest_size
_told: set[str] = set()


def tell_once(what: str, message: str, *arguments: object) -> None:
    """Warn of something, once per process: there are hundreds of kernels."""
    if what not in _told:
        _told.add(what)
        log.warning(message, *arguments)


class _DamagedError(Exception):
    """A file whose content does not have its digest."""


class Held:
    """A folder that one process at a time has for itself, where the system has locks; they end with their owner."""

    def __init__(self) -> None:
        self._handle, self._swap = -1, threading.Lock()

    def take(self, folder: str) -> bool:
        """Wait for the folder; say whether somebody else may have been at work in it meanwhile."""
        if fcntl is None or self._handle >= 0:
            return False
        handle = -1
        try:
            os.makedirs(folder, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # it cannot be made or locked: then everybody compiles
            if handle >= 0:
                os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self) -> None:
        """Give it back, if it is held.

        Several threads may come with this when they have waited for the same kernel: only one of them closes the
        handle, whose number may be that of another file right afterwards.
        """
        with self._swap:
            handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


class CacheFile(IndexDataCacheFile):
    """Numba's index and data files of one kernel, with digests."""

    def load(self, key: Any) -> Any:
        """Return what is kept for a signature, None if nothing (that is whole) is."""
        try:
            return super().load(key)
        except _DamagedError:
            return None

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = self._read(self._index_path)
        except (FileNotFoundError, _DamagedError):
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as stream:
            stream.write(hashlib.sha256(data).digest() + data)

    def _read(self, path: str) -> Any:
        try:
            with open(path, "rb") as stream:
                digest, data = stream.read(_DIGEST), stream.read()
        except FileNotFoundError:
            raise
        except OSError as error:  # no permission, a failing disk, something else of that name
            tell_once("unread", "%s: cannot be read (%s); such kernels are compiled again", path, error.strerror)
            raise _DamagedError(path) from None
        if hashlib.sha256(data).digest() != digest:
            tell_once("damaged", "%s: a damaged file of a compiled kernel; such kernels are compiled again", path)
            try:
                os.unlink(path)
            except OSError as error:
                tell_once("kept", "%s: cannot be removed (%s)", path, error.strerror)
            raise _DamagedError(path)
        try:
            return pickle.loads(data)
        except Exception:  # of another version, which has other types of arguments, and shares our cache
            raise _DamagedError(path) from None
