"""Change the source in one place at a time, and see whether the tests notice: ``python tests/mutation/mutate.py``.

`mutations` has the list: a file, what stands there once, what is put in its place, and the tests that should fail then.
All happens in copies of the project in a temporary folder, with compiled kernels of their own. Numba and pytest are
imported once, and every mutation is tried in a process that is forked from there. Tests must pass on the unchanged copy
first. A mutation is killed if a test fails, or takes far longer than before; what became of each is printed.

    python tests/mutation/mutate.py                  # all of them, on two processes
    python tests/mutation/mutate.py significance     # those whose file, text or tests have this word
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
#: CPU seconds of a mutant: no test here takes that long, and mutants may loop for ever.
SECONDS = 60
#: The share of mutants that may survive.
MOST = 0.05


@dataclass(frozen=True)
class Mutation:
    """One change: `old` stands exactly once in `file` (below `camber/`)."""

    file: str
    old: str
    new: str
    tests: str  # arguments for pytest, below `tests/`

    def __str__(self) -> str:
        return f"camber/{self.file}: {self.old.strip()!r} → {self.new.strip()!r}  ({self.tests})"

    def mutated(self, text: str) -> str:
        """Return the source with the change."""
        if text.count(self.old) != 1:
            raise SystemExit(f"{self}: the text stands there {text.count(self.old)} times, expected once")
        return text.replace(self.old, self.new)


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


def run_tests(folder: Path, cache: Path, tests: Sequence[str], log: Path, seconds: int = SECONDS) -> int:
    """Run tests of a copy in a process forked from this one; return its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            for number in (1, 2):
                os.dup2(out, number)
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

            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", *tests]))
        finally:
            os._exit(code)
    started = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() - started > 20 * seconds:  # it waits for something
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)


def arguments(tests: str) -> list[str]:
    """Return what pytest gets: paths below `tests`, and options; slow tests only where options say so."""
    words = tests.replace("~", "\0").split()
    words = [word.replace("\0", " ") for word in words]
    chosen = [f"tests/{word}" if word.startswith(("test_", *_rooms())) else word for word in words]
    return chosen if "-m" in chosen else [*chosen, "-m", "not slow"]


def _rooms() -> tuple[str, ...]:
    return tuple(f"{path.name}/" for path in (PROJECT / "tests").iterdir() if path.is_dir())


def work(number: int, mutations: Sequence[Mutation], place: Path, cache: Path, results: int) -> None:
    """Try mutations in a copy of this process's own; a line for each goes to the pipe `results`."""
    folder = copied(place / f"copy{number}")
    log = place / f"log{number}"
    for mutation in mutations:
        path = folder / "camber" / mutation.file
        text = path.read_text(encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(mutation.mutated(text), encoding="utf-8")
        before = _used()
        code = run_tests(folder, cache, arguments(mutation.tests), log)
        path.write_text(text, encoding="utf-8")
        seconds = _used() - before
        os.write(results, f"{_verdict(code)}\t{seconds:.0f} s\t{mutation}\n".encode())
        if code not in (0, 1) and code > 0:
            os.write(results, f"told\t{log.read_text(errors='replace')[-600:]!r}\n".encode())


def _used() -> float:
    """Return the CPU seconds of all that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _verdict(code: int) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "endless"
    if code < 0:
        return "crashed"
    return {0: "survived", 1: "killed", 2: "killed"}.get(code, f"no test ran ({code})")


def main() -> int:
    sys.path[:0] = [str(HERE.parent)]
    from mutation.mutations import MUTATIONS

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", help="only mutations that have one of these words")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="check the list, try nothing")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.words or any(word in str(m) for word in options.words)]
    for mutation in chosen:
        mutation.mutated((PROJECT / "camber" / mutation.file).read_text(encoding="utf-8"))
    packages = {m.file.split("/")[0] for m in chosen}
    print(f"{len(chosen)} mutations in {len(packages)} packages", flush=True)
    if options.list:
        return 0
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import hypothesis  # noqa: F401  what all mutants import is imported once
    import numba  # noqa: F401
    import pytest  # noqa: F401

    from camber.kernel.compile import cache_folder

    warm = cache_folder()
    for name in [name for name in sys.modules if name.split(".")[0] in ("camber", "mutation")]:
        del sys.modules[name]  # mutants have their own
    with tempfile.TemporaryDirectory(prefix="camber-mutants-") as folder:
        place, cache = Path(folder), Path(folder) / "cache"
        shutil.copytree(warm, cache / warm.name)
        every = sorted({word for m in chosen for word in m.tests.split() if not word.startswith("-")})
        files = sorted({word.split("::")[0] for word in every if ".py" in word})
        first = run_tests(copied(place / "whole"), cache, arguments(" ".join(files)), place / "log", 2000)
        if first != 0:
            print((place / "log").read_text(errors="replace")[-3000:])
            print(f"the tests fail on the unchanged source ({first})")
            return 2
        reading, writing = os.pipe()
        for number in range(options.processes):
            if os.fork() == 0:
                code = 1
                try:
                    os.close(reading)
                    work(number, chosen[number :: options.processes], place, cache, writing)
                    code = 0
                finally:
                    os._exit(code)
        os.close(writing)
        counts: dict[str, int] = {}
        with os.fdopen(reading, encoding="utf-8") as lines:
            for line in lines:
                verdict = line.split("\t")[0]
                counts[verdict] = counts.get(verdict, 0) + 1
                print(line, end="", flush=True)
        for _ in range(options.processes):
            os.wait()
    endless, survived = counts.get("endless", 0), counts.get("survived", 0)
    killed = counts.get("killed", 0) + counts.get("crashed", 0) + endless
    share = 100 * survived / max(1, len(chosen))
    print(f"{killed} killed ({endless} by {SECONDS} s), {survived} survived of {len(chosen)} ({share:.1f} %)")
    return int(killed + survived != len(chosen) or survived > MOST * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
