"""Run tests on a copy of the project, in a process that is forked from this one.

What all mutants need (Numba, pytest, hypothesis, the compiler) is ready before the fork; the package itself is not, as
every mutant has its own.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation.change import PROJECT


def prepare() -> Path:
    """Import what all mutants import, let the compiler get ready; return the folder of compiled kernels."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import hypothesis  # noqa: F401
    import numba
    import pytest  # noqa: F401
    import scipy.sparse  # noqa: F401

    numba.njit(lambda number: number + 1)(1)
    sys.path[:0] = [str(PROJECT)]
    from camber.kernel.place import cache_folder

    folder = cache_folder()
    for name in [name for name in sys.modules if name.split(".")[0] == "camber"]:
        del sys.modules[name]
    sys.path.remove(str(PROJECT))
    return folder


def copied(folder: Path) -> Path:
    """Copy what tests need; compiled Python comes along, so that a mutant compiles one module."""
    for name in ("camber", "tests"):
        shutil.copytree(PROJECT / name, folder / name, copy_function=shutil.copy2)
    for path in PROJECT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy2(path, folder / path.name)
    for name in ("docs", "benchmarks", "experiments"):
        if (PROJECT / name).is_dir():
            (folder / name).symlink_to(PROJECT / name)
    return folder


@dataclass(frozen=True)
class Trial:
    """How tests ended: the exit code of pytest (negative for a signal), CPU seconds, and the end of what they told."""

    code: int
    seconds: float
    told: str

    @property
    def out_of_time(self) -> bool:
        """Whether they were ended because they took too long."""
        return self.code in (-signal.SIGXCPU, -signal.SIGKILL)

    @property
    def compiling(self) -> bool:
        """Whether they were ended while a kernel was compiled."""
        return self.out_of_time and "numba/core/compiler" in self.told


def run_tests(folder: Path, cache: Path, tests: Sequence[str], log: Path, seconds: int) -> Trial:
    """Run tests of a copy for at most so many CPU seconds."""
    before = _used()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _run(folder, cache, tests, log, seconds)
        finally:
            os._exit(code)
    started = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            told = log.read_text(errors="replace")[-8000:] if log.exists() else ""
            return Trial(os.waitstatus_to_exitcode(status), _used() - before, told)
        if time.monotonic() - started > 20 * seconds:  # it waits for something
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)


def _run(folder: Path, cache: Path, tests: Sequence[str], log: Path, seconds: int) -> int:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND)
    for number in (1, 2):
        os.dup2(out, number)
    faulthandler.register(signal.SIGXCPU, out, chain=True)  # also where a kernel goes round for ever
    os.chdir(folder)
    os.environ |= {
        "CAMBER_CACHE": str(cache),
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(log.parent / "hypothesis"),
    }
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder)]
    import pytest

    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", *tests]))


def _used() -> float:
    """Return the CPU seconds of all that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
