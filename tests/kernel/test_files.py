"""Files with digests, and a folder of compiled kernels that one process at a time has for itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camber.kernel.files import DamagedError, Held, read_whole, write_whole

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


def test_a_file_is_written_whole_and_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_whole(str(path), b"some code")
    assert read_whole(str(path)) == b"some code"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("damaged", [b"", b"x", b"cut", b"more"])
def test_a_file_that_is_not_as_it_was_written_goes_away(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "file"
    write_whole(str(path), b"some code")
    data = path.read_bytes()
    path.write_bytes({b"": b"", b"x": data[:-1] + b"x", b"cut": data[:-1], b"more": data + b"x"}[damaged])
    with pytest.raises(DamagedError):
        read_whole(str(path))
    with pytest.raises(FileNotFoundError):
        read_whole(str(path))


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(str(tmp_path / "file"), b"some code")
    assert list(tmp_path.iterdir()) == []
