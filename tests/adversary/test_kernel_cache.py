"""A cache of compiled kernels that is damaged, or cannot be written: kernels are compiled again, and that is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from camber.kernel.image import usable

USE = """
from camber.cli.display import show
show()
import numpy as np
from camber.kernel.table import empty_table, insert
print(insert(empty_table(4), 42) >= 0)
"""
AS_NUMBA_KEEPS = """
from camber.kernel import compile
compile.usable = lambda: False
"""
NOT_KEPT = "compiled kernels cannot be kept"


def run(cache: Path, code: str = USE) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"CAMBER_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A cache with images, and one as it is on systems that images are not for, by what was run."""
    made = {code: tmp_path_factory.mktemp("cache") for code in (USE, AS_NUMBA_KEEPS + USE)}
    for code, cache in made.items():
        assert run(cache, code).stdout == "True\n"
    return made


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".image", ".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], flipped])
def test_a_damaged_cache_is_compiled_again(
    caches: dict[str, Path], ending: str, damage: Callable[[bytes], bytes]
) -> None:
    if ending == ".image" and not usable():
        pytest.skip("images are not for this system")
    code = USE if ending == ".image" else AS_NUMBA_KEEPS + USE
    warm = caches[code]
    kept = {path: path.read_bytes() for path in warm.rglob("*" + ending)}
    assert kept
    for path, data in kept.items():
        path.write_bytes(damage(data))
    done = run(warm, code)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert done.stderr.count("damaged file of a compiled kernel") == 1
    again = run(warm, code)
    assert (again.stdout, again.stderr) == ("True\n", "")  # whole again, and nothing is compiled


@pytest.mark.slow
def test_a_cache_that_cannot_be_read_is_compiled_again(tmp_path: Path) -> None:
    assert run(tmp_path).stdout == "True\n"
    for path in list(tmp_path.rglob("*.image")):
        path.unlink()
        path.mkdir()  # what nobody can read as a file, not even the superuser
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert done.stderr.count("cannot be read (Is a directory)") == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")
def test_a_full_disk_leaves_kernels_uncached(tmp_path: Path) -> None:
    full = """
import builtins, errno
whole = builtins.open
def opened(path, mode="r", *rest, **keywords):
    if "w" in mode and ".image" in str(path):
        return whole("/dev/full", mode, *rest, **keywords)
    return whole(path, mode, *rest, **keywords)
builtins.open = opened
"""
    done = run(tmp_path, full + USE)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert done.stderr.count(NOT_KEPT) == 1


@pytest.mark.slow
def test_a_cache_that_has_no_place_at_all_leaves_kernels_uncached(tmp_path: Path) -> None:
    nowhere = """
import os, tempfile
def refuse(*_, **__):
    raise OSError(28, "No space left on device")
os.mkdir = tempfile.mkdtemp = tempfile.TemporaryFile = tempfile.gettempdir = refuse
"""
    done = run(tmp_path / "absent", nowhere + USE)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert done.stderr.count(NOT_KEPT) == 1
