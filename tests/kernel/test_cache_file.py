"""A folder of compiled kernels that one process at a time has for itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camber.kernel.cache_file import Held

fcntl = pytest.importorskip("fcntl", reason="this system has no such locks")


def is_free(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def test_a_folder_is_held_until_it_is_given_back(tmp_path: Path) -> None:
    held = Held()
    assert held.take(str(tmp_path))
    assert not is_free(tmp_path)
    assert not held.take(str(tmp_path))  # it is ours already
    held.release()
    assert is_free(tmp_path)


def test_a_folder_that_two_threads_give_back_at_once_is_closed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, closed, close = Held(), [], os.close

    def closing(handle: int) -> None:
        closed.append(handle)
        if len(closed) < 3:
            held.release()  # as another thread would right now
        close(handle)

    held.take(str(tmp_path))
    monkeypatch.setattr(os, "close", closing)
    held.release()
    assert len(closed) == 1


def test_a_place_that_cannot_be_held_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not Held().take(str(tmp_path / "file" / "folder"))
