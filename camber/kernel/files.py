"""Files of compiled kernels, each with a digest before its content, and folders that one process has for itself.

What is in them is executed, so a file that was cut off, emptied or changed must never be used: it goes away, which is
said once, and the kernel is compiled again. Where nothing can be kept (a full disk), kernels are compiled for this
process alone, which is said once, too.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from camber.progress import log

#: Changes when files of before cannot be read.
FORMAT = "4"
_DIGEST = hashlib.sha256().digest_size
_told: set[str] = set()


def tell_once(what: str, message: str, *arguments: object) -> None:
    """Warn of something, once per process: there are hundreds of kernels."""
    if what not in _told:
        _told.add(what)
        log.warning(message, *arguments)


class DamagedError(Exception):
    """A file whose content does not have its digest."""


def with_digest(data: bytes) -> bytes:
    """Return what a file is to have: the digest of `data`, then `data`."""
    return hashlib.sha256(data).digest() + data


def read_whole(path: str) -> bytes:
    """Return the content of a file without its digest; FileNotFoundError if it is absent, DamagedError if damaged."""
    try:
        with open(path, "rb") as stream:
            digest, data = stream.read(_DIGEST), stream.read()
    except FileNotFoundError:
        raise
    except OSError as error:  # no permission, a failing disk, something else of that name
        tell_once("unread", "%s: cannot be read (%s); such kernels are compiled again", path, error.strerror)
        raise DamagedError(path) from None
    if hashlib.sha256(data).digest() != digest:
        tell_once("damaged", "%s: a damaged file of a compiled kernel; such kernels are compiled again", path)
        try:
            os.unlink(path)
        except OSError as error:
            tell_once("kept", "%s: cannot be removed (%s)", path, error.strerror)
        raise DamagedError(path)
    return data


def write_whole(path: str, data: bytes) -> None:
    """Write a file with its digest: whole, or not at all."""
    folder, name = os.path.split(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=name)
    os.close(handle)
    try:
        with open(temporary, "wb") as stream:
            stream.write(with_digest(data))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


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

        Several threads may come with this: only one of them closes the handle, whose number may be that of another
        file right afterwards.
        """
        with self._swap:
            handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)
