"""Sorted runs give back what was added, sorted, whatever fits into memory."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.arrays.runs import SortedRuns, merged
from camber.arrays.scratch import PREFIX, Scratch, half_of_what_is_free, memory_size
from camber.errors import SettingsError


def gone_through(blocks, memory, most, width=1):
    """Add rows (key, number), and return ranges as lists, and how many runs there were."""
    with Scratch(memory) as scratch:
        runs = SortedRuns((np.int64, np.int32), scratch)
        number = 0
        for keys in blocks:
            runs.add(np.array(keys, np.int64), np.arange(number, number + len(keys), dtype=np.int32))
            number += len(keys)
        assert len(runs) == number
        ranges = [[column.tolist() for column in merged(piece)] for piece in runs.ranges(most, width)]
        return ranges, runs.runs


BLOCKS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=12)


@given(BLOCKS, st.sampled_from([None, 1, 300, 2000]), st.integers(1, 20), st.sampled_from([1, 4]))
def test_rows_come_sorted_and_equal_keys_in_the_order_in_which_they_were_added(blocks, memory, most, width):
    flat = [key for keys in blocks for key in keys]
    ranges, _ = gone_through(blocks, memory, most, width)
    rows = [row for keys, numbers in ranges for row in zip(keys, numbers, strict=True)]
    assert rows == sorted((key, number) for number, key in enumerate(flat))
    groups = [{key // width for key in keys} for keys, _ in ranges]
    assert sum(map(len, groups)) == len(set().union(*groups))  # no group is cut in two


def test_little_memory_makes_many_runs_and_ranges_are_as_long_as_they_are_asked_for():
    rng = np.random.default_rng(3)
    blocks = [rng.integers(0, 100_000, 500).tolist() for _ in range(40)]
    ranges, runs = gone_through(blocks, 100_000, 1000)
    assert runs == 20  # two blocks each
    assert max(len(keys) for keys, _ in ranges) < 1500
    assert 15 < len(ranges) < 30
    assert gone_through(blocks, None, 1000)[1] == 1


@pytest.mark.skipif(os.name == "nt", reason="needs blocks of files")
@pytest.mark.parametrize("able", [True, False])
def test_a_large_array_has_its_room_on_the_disk_before_anything_is_written_to_it(able, tmp_path, monkeypatch):
    """A page that is mapped and finds no room on a full disk ends the process without a word."""

    def unable(*_):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    if not able:
        monkeypatch.setattr(os, "posix_fallocate", unable, raising=False)
    with Scratch(8000, tmp_path) as scratch:
        scratch.empty((100_000,), np.float64)
        (file,) = tmp_path.glob(f"{PREFIX}*/*.array")
        assert file.stat().st_blocks * 512 >= 800_000


def test_large_arrays_are_files_and_files_go_with_the_block(tmp_path):
    with Scratch(8000, tmp_path) as scratch:
        assert not list(tmp_path.iterdir())
        small, large = scratch.zeros((10, 10), np.int64), scratch.zeros((1000, 2), np.int64)
        assert not isinstance(small.base, np.memmap)
        assert [path.stat().st_size for path in tmp_path.glob(f"{PREFIX}*/*.array")] == [16_000]
        assert not large.any()
        large[999, 1] = 7
        assert large.sum() == 7
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(tmp_path):
    code = (
        "import sys, time\n"
        "from camber.arrays.scratch import Scratch\n"
        "scratch = Scratch(1, sys.argv[1]).__enter__()\n"
        "scratch.empty((1000,), 'i8')\n"
        "print('made', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "made\n"
        left = list(tmp_path.iterdir())
        with Scratch(1, tmp_path) as scratch:
            scratch.path("x")
            assert left[0].is_dir()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert list(tmp_path.iterdir()) == left
    with Scratch(1, tmp_path) as scratch:
        scratch.path("x")
        assert not left[0].exists()
    assert not list(tmp_path.iterdir())


def test_sizes_are_read_as_people_write_them():
    assert [memory_size(text) for text in ("1", "2k", "1.5 MB", "3GiB")] == [1, 2048, 3 << 19, 3 << 30]
    for text in ("", "0", "-1G", "much", "2X", "nan", "1e9"):
        with pytest.raises(SettingsError, match="no amount of memory"):
            memory_size(text)
    assert half_of_what_is_free() > 1 << 20
