"""Try mutations in copies of the project, on several processes."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from mutation.change import Mutation, arguments
from mutation.mutations import MUTATIONS
from mutation.record import NOTICED, SURVIVED
from mutation.trials import Trial, copied, prepare, run_tests

#: CPU seconds of tests on the unchanged source, where kernels may have to be compiled.
UNCHANGED = 600
#: CPU seconds that a mutant gets beyond three times what its tests take.
BEYOND = 20


class Bench:
    """Two copies of the project, one of them to be changed, and a cache of kernels."""

    def __init__(self, place: Path, warm: Path) -> None:
        self.log, self.cache, self.warm = place / "log", place / "cache", warm
        self.whole, self.changed = copied(place / "whole"), copied(place / "changed")

    def unchanged(self, tests: str) -> Trial:
        """Run tests on the source as it is; kernels that they compile are kept for whoever runs them next."""
        trial = run_tests(self.whole, self.warm.parent, arguments(tests), self.log, UNCHANGED)
        for path in self.warm.rglob("*.nb?"):
            kept = self.cache / path.relative_to(self.warm.parent)
            with suppress(FileNotFoundError):  # another process may be at work there
                if not kept.exists() or kept.stat().st_size != path.stat().st_size:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, kept)
        return trial

    def mutant(self, mutation: Mutation, seconds: int) -> tuple[str, Trial]:
        """Run its tests on a mutation; return the verdict."""
        path = self.changed / "camber" / mutation.file
        text = path.read_text(encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_text(mutation.mutated(text), encoding="utf-8")
        trial = self._in_time(arguments(mutation.tests), seconds)
        path.write_text(text, encoding="utf-8")
        return _verdict(trial), trial

    def _in_time(self, tests: list[str], seconds: int) -> Trial:
        """Run tests again as long as compiling took their time: what was compiled is kept."""
        while True:
            before = self._kernels()
            trial = run_tests(self.changed, self.cache, tests, self.log, seconds)
            if trial.compiling and seconds < UNCHANGED:
                seconds *= 2
            elif not trial.out_of_time or self._kernels() == before:
                return trial

    def _kernels(self) -> int:
        return sum(1 for _ in self.cache.rglob("*.nbc"))


def _verdict(trial: Trial) -> str:
    if trial.compiling:
        return "compiled for too long"
    if trial.out_of_time:
        return "endless"
    if trial.code < 0:
        return "crashed"
    return {0: SURVIVED, 1: "killed", 2: "killed"}.get(trial.code, f"no test ran ({trial.code})")


def work(
    groups: Sequence[Sequence[Mutation]], numbers: int, place: Path, warm: Path, results: int, until: float
) -> None:
    """Try groups of mutations that have the same tests; their numbers come from a pipe, and results go to another."""
    bench = Bench(place, warm)
    while time.monotonic() < until and (number := os.read(numbers, 2)):
        group = groups[int.from_bytes(number, "big")]
        trial = bench.unchanged(group[0].tests)
        if trial.code != 0:
            _tell(results, -1, f"fail on the unchanged source: {group[0].tests}", trial)
            continue
        for mutation in group:
            verdict, after = bench.mutant(mutation, int(3 * trial.seconds + BEYOND))
            _tell(results, MUTATIONS.index(mutation), verdict, after)


def _tell(results: int, number: int, verdict: str, trial: Trial) -> None:
    told = "" if verdict in (*NOTICED, SURVIVED) else trial.told
    line = json.dumps([number, verdict, round(trial.seconds), told[-600:]]) + "\n"
    os.write(results, line.encode())  # short enough to come in one piece


def attempt(chosen: Sequence[Mutation], processes: int, until: float) -> Iterator[tuple[Mutation | None, str]]:
    """Try mutations; yield each with its verdict, and problems without. No new tests begin after `until`."""
    by_tests: dict[str, list[Mutation]] = {}
    for mutation in chosen:
        by_tests.setdefault(mutation.tests, []).append(mutation)
    groups = list(by_tests.values())
    warm = prepare()
    with tempfile.TemporaryDirectory(prefix="camber-mutants-") as folder:
        (reading, writing), (numbers, giving) = os.pipe(), os.pipe()
        os.write(giving, b"".join(number.to_bytes(2, "big") for number in range(len(groups))))
        os.close(giving)
        for process in range(processes):
            if os.fork() == 0:
                code = 1
                try:
                    os.close(reading)
                    work(groups, numbers, Path(folder) / str(process), warm, writing, until)
                    code = 0
                finally:
                    os._exit(code)
        os.close(writing)
        os.close(numbers)
        with os.fdopen(reading, encoding="utf-8") as lines:
            for line in lines:
                number, verdict, seconds, told = json.loads(line)
                mutation = MUTATIONS[number] if number >= 0 else None
                print(f"{verdict}\t{seconds} s\t{mutation or ''}", *filter(None, [told]), sep="\n", flush=True)
                yield mutation, verdict
        for _ in range(processes):
            os.wait()
