"""Programs beside each other: commands run in turn, with CPU time, memory, and instructions where valgrind is.

    runs = in_turn(5, ours=lambda: run(ours), theirs=lambda: run(theirs))
    spread([one.cpu for one in runs["ours"]])       # 1.06 (1.04-1.12)

moses2, cdec and lmplz cannot be installed with pip; who has built one names it (`--moses2`, `--cdec`, `--lmplz`). Here
is how each is called.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
#: a command of ours: what comes behind `camber`
CAMBER = (sys.executable, "-c", "from camber.cli import main; main()", "--quiet")
#: valgrind knows no processor of today: what kernels are compiled for when their instructions are counted
OLDER = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}


class Run(NamedTuple):
    """What a command took: CPU and wall seconds, megabytes at its peak; what it printed, and what it said besides."""

    cpu: float
    wall: float
    megabytes: float
    printed: str
    complained: str


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a command as a user has them: sources are compiled once, into `folder`."""
    variables = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONPYCACHEPREFIX": str(folder / "pyc")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


#: starts a command and prints what it took. A process of its own, because the peak of a child's memory counts what its
#: parent had when they parted.
_LAUNCHER = """
import json, os, sys, time
start = time.perf_counter()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(process, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, time.perf_counter() - start,
               used.ru_maxrss / 1024], file)
"""


def run(command: Sequence[object], folder: Path, variables: dict[str, str] | None = None) -> Run:
    """Run a command in a folder; it must succeed."""
    with tempfile.TemporaryDirectory() as place:
        told = Path(place) / "told"
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(told), *map(str, command)]
        done = subprocess.run(launcher, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        code, cpu, wall, megabytes = json.loads(told.read_text()) if told.exists() else (127, 0.0, 0.0, 0.0)
    if code:
        sys.exit(f"{command[0]} ended with {code}:\n{done.stderr[-1000:]}")
    return Run(cpu, wall, megabytes, done.stdout, done.stderr)


def in_turn(rounds: int, **works: Callable[[], Run]) -> dict[str, list[Run]]:
    """Do each work once a round, one after the other, so that what else the machine does hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            runs[name].append(work())
    return runs


class Spread(NamedTuple):
    """The median of some measurements, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{shown(self.median)} ({shown(self.least)}-{shown(self.most)})"


def shown(value: float) -> str:
    """Return a number with three digits that matter."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the range of some measurements."""
    return Spread(statistics.median(values), min(values), max(values))


def instructions(command: Sequence[object], folder: Path, variables: dict[str, str] | None = None) -> int | None:
    """Return how many instructions a command executes, None where valgrind is absent or does not know some of them."""
    if shutil.which("valgrind") is None:
        return None
    counting = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*counting, *map(str, command)], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    told = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    return int(told[1].replace(",", "")) if told and done.returncode == 0 else None


def millions(count: int | None) -> str:
    """Return a number of instructions in millions, a dash if it is not known."""
    return "-" if count is None else shown(count / 1e6)


# --- how each is called ----------------------------------------------------------------------------------------------


def moses2(program: Path, settings: Path, text: Path, pop_limit: int, best: Path) -> list[object]:
    """Return the command that translates `text` on one thread, and writes the 1-best with scores to `best`."""
    search = ("-search-algorithm", 1, "-cube-pruning-pop-limit", pop_limit)
    return [program, "-f", settings, "-i", text, "-threads", 1, *search, "-n-best-list", best, 1]


def cdec(program: Path, settings: Path, weights: Path, text: Path, pop_limit: int) -> list[object]:
    """Return the command that translates `text` (segments that name their grammars) and prints the 1-best."""
    return [program, "-c", settings, "-w", weights, "-i", text, "--cubepruning_pop_limit", pop_limit, "-k", 1]


def lmplz(program: Path, text: Path, arpa: Path, order: int = 5) -> list[object]:
    """Return the command that estimates a model, with the setting that suits a small text best."""
    return [program, "-o", order, "-S", "64M", "--text", text, "--arpa", arpa]


def mean_score(lines: Sequence[str]) -> float:
    """Return the mean score of the first hypotheses of an n-best list (`number ||| text ||| features ||| score`)."""
    first: dict[str, float] = {}
    for line in lines:
        fields = line.split(" ||| ")
        first.setdefault(fields[0], float(fields[3]))
    return statistics.fmean(first.values())
