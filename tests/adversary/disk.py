"""Run something on a small disk of its own, which can be filled.

    with_disk(lambda disk: …, megabytes=16)

The disk is a file system in memory that a fork mounts in a name space of its own, so that nothing outside sees it, and
nothing has to be taken down. Where the operating system does not allow that, :class:`NotAllowed` is raised.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from camber.errors import CamberError
from camber.model.places import is_full

_NEW_MOUNTS, _NEW_USER, _PRIVATE = 0x00020000, 0x10000000, 1 << 18 | 1 << 14


#: files and folders that a disk has room for
ENTRIES = 1000


class NotAllowed(Exception):
    """This machine does not let us mount anything."""


def with_disk(trial: Callable[[Path], None], megabytes: int = 64) -> None:
    """Run a trial in a fork, with the folder of a small disk; AssertionError if it fails."""
    folder = Path(tempfile.mkdtemp(prefix="camber-disk-"))
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        child = os.fork()
        if child == 0:
            code = 3
            with contextlib.suppress(BaseException):
                code = _run(trial, folder, megabytes)
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        folder.rmdir()  # empty: the disk was the fork's
    if code == 4:
        raise NotAllowed
    assert code == 0, f"the trial failed (exit code {code}); see above"


def _run(trial: Callable[[Path], None], folder: Path, megabytes: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS) != 0 and libc.unshare(_NEW_USER | _NEW_MOUNTS) != 0:
        return 4
    size = f"size={megabytes}m,nr_inodes={ENTRIES}".encode()
    if libc.mount(b"none", b"/", None, _PRIVATE, None) != 0 or libc.mount(
        b"camber", os.fsencode(folder), b"tmpfs", 0, size
    ):
        return 4
    try:
        trial(folder)
    except BaseException:
        traceback.print_exc()
        return 2
    return 0


@contextlib.contextmanager
def left(disk: Path, kilobytes: int) -> Iterator[None]:
    """Fill a disk but for so many kilobytes while the block runs."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    with open(ballast, "wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, free.f_bavail * free.f_frsize - (kilobytes << 10)))
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def entries_left(disk: Path, count: int) -> Iterator[None]:
    """Fill a disk with files until so many files and folders more can be made, while the block runs."""
    ballast = disk / "ballast"
    ballast.mkdir()
    for number in range(os.statvfs(disk).f_favail - count):
        (ballast / str(number)).touch()
    try:
        yield
    finally:
        shutil.rmtree(ballast)


def refused(action: Callable[[], object]) -> bool:
    """Run an action; say whether it was refused because the disk is full, as its user would be told."""
    try:
        action()
    except CamberError as error:
        if "full" not in str(error) and "No space left" not in str(error):
            raise
        return True
    except OSError as error:
        if not is_full(error):
            raise
        return True
    return False
