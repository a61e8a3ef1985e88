"""A check of files runs once, and again when anything about them changed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from camber.arrays import checked
from camber.arrays.checked import checked_once


class Looking:
    """A check that counts how often it ran, and refuses what is empty."""

    def __init__(self, path: Path) -> None:
        self.path, self.times = path, 0

    def look(self, least: int) -> None:
        self.times += 1
        if len(self.path.read_bytes()) < least:
            raise ValueError("too short")


@pytest.fixture
def looking(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(checked, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(checked, "LEAST", 5)
    monkeypatch.setattr(checked, "RECENT", 0)
    path = tmp_path / "file"
    path.write_bytes(b"content")
    return Looking(path)


def run(looking):
    checked_once([looking.path], partial(looking.look, 3))
    return looking.times


def test_what_passed_is_not_looked_at_again_until_it_changes(looking):
    assert [run(looking), run(looking)] == [1, 1]
    before = looking.path.stat()
    looking.path.write_bytes(b"another")
    os.utime(looking.path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as if nothing had happened
    assert looking.path.stat().st_mtime_ns == before.st_mtime_ns
    assert [run(looking), run(looking)] == [2, 2]
    copy = looking.path.with_name("copy")
    copy.write_bytes(looking.path.read_bytes())
    looking.path = copy
    assert run(looking) == 3


def test_what_did_not_pass_is_looked_at_again(looking):
    looking.path.write_bytes(b"x" * 8)
    for times in (1, 2):
        with pytest.raises(ValueError, match="too short"):
            checked_once([looking.path], partial(Looking.look, looking, 100))
        assert looking.times == times


@pytest.mark.parametrize(("name", "value"), [("LEAST", 1000), ("RECENT", 10**12)])
def test_small_files_and_those_that_changed_just_now_are_always_looked_at(looking, monkeypatch, name, value):
    monkeypatch.setattr(checked, name, value)
    assert [run(looking), run(looking)] == [1, 2]


def test_a_cache_that_cannot_be_written_makes_no_difference(looking, monkeypatch):
    monkeypatch.setattr(checked, "cache_folder", lambda: Path(os.devnull) / "none")
    assert [run(looking), run(looking)] == [1, 2]
