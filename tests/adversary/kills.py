"""Kill a process at any of its file-system events.

    for event in itertools.count():
        if not killed(action, folder, event):      # True: the process was killed at this event
            break

The action runs in a fork, so that nothing is imported or compiled again. Events are those of Python's audit hooks that
touch a path inside `folder`: files opened for writing, renames, links, removals, new and removed folders.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from camber.corpus.hotel import generate
from camber.files import write_lines

#: audited events that change something
CHANGES = frozenset(
    ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "shutil.rmtree", "open")
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def killed(action: Callable[[], Any], folder: Path, event: int) -> bool:
    """Run an action in a fork that is killed at the event with this number (from 0); say whether it came so far.

    An action that fails by itself is an error.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _run(action, os.fspath(folder), event)
        os._exit(3)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return False
    raise AssertionError(f"the action failed by itself (status {status})")


def _run(action: Callable[[], Any], folder: str, event: int) -> None:
    seen = 0

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if name not in CHANGES or not isinstance(arguments[0], str | os.PathLike):
            return
        if not os.fspath(arguments[0]).startswith(folder):
            return
        if name == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & _WRITING:
                return
        if seen == event:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    sys.addaudithook(hook)
    try:
        action()
    except BaseException:
        traceback.print_exc()
        os._exit(2)
    os._exit(0)


def text_files(folder: Path) -> Path:
    """Write a small parallel text into a folder: train, shorter (less of it) and dev, in Spanish and English."""
    corpus = generate(train=120, dev=12, test=5, seed=5)
    for name, sides in (("train", corpus.train), ("dev", corpus.dev), ("shorter", corpus.train)):
        for language, lines in zip(("es", "en"), sides, strict=True):
            write_lines(folder / f"{name}.{language}", lines[:90] if name == "shorter" else lines)
    return folder
