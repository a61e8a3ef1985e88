"""Fuzz readers for a while, guided by coverage: ``python tests/adversary/fuzz.py [--seconds 60] [READER …]``.

Each reader is fuzzed in a process of its own (atheris ends the process that it runs in), with the files that it accepts
as the beginning of its corpus. What is found stays in ``.fuzz/READER``: the corpus for the next time, and every input
that made a reader fail. Kernels run as plain Python, so that coverage guides through them, too, and an index out of
range is an error. Reading must end in a result or an error of ours, within the time and memory of `bounds`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = HERE.parent.parent / ".fuzz"


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one reader in this process, which does not return."""
    import atheris

    with atheris.instrument_imports(include=["camber", "json", "tomllib", "shlex"]):
        from adversary.bounds import bounded
        from adversary.readers import READERS

        from camber.errors import CamberError
    reader = READERS[name]
    path = Path(arguments.pop()) / reader.file
    for seed in reader.files:  # all that is imported on first use is there before anything is measured
        path.write_bytes(seed)
        reader.read(path)

    def one(data: bytes) -> None:
        path.write_bytes(data)
        with bounded(len(data)), suppress(CamberError):
            reader.read(path)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def main() -> int:
    sys.path.insert(0, str(HERE.parent))
    from adversary.readers import READERS, TOKENS

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("readers", nargs="*", default=list(READERS), metavar="READER", help=", ".join(READERS))
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=20_000, help="bytes of an input")
    options = parser.parse_args()
    failed = []
    for name in options.readers:
        place = PLACE / name.replace(" ", "-")
        corpus, work = place / "corpus", place / "work"
        for folder in (corpus, work):
            folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(READERS[name].files):
            (corpus / f"seed{number}").write_bytes(seed)
        words = place / "tokens"
        spelled = ["".join(map("\\x{:02x}".format, token)) for token in TOKENS if len(token) < 60]
        words.write_text("".join(f'"{text}"\n' for text in spelled))
        arguments = [
            *(f"-max_total_time={options.seconds}", f"-seed={options.seed}", f"-max_len={options.most}"),
            *("-timeout=20", f"-dict={words}", f"-artifact_prefix={place}/", "-print_final_stats=1", "-verbosity=0"),
            *(str(corpus), str(work)),
        ]
        paths = os.pathsep.join([str(HERE.parent.parent), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, __file__, "--one", name, *arguments],
            env=os.environ | {"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1", "CAMBER_CACHE": str(place / "cache")},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        runs = [line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        told = "ok" if done.returncode == 0 else f"FAILED, see {place}"
        print(f"{name}: {runs[0] if runs else '?'} inputs, {len(list(corpus.iterdir()))} kept: {told}", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stderr[-3000:], done.stdout[-3000:], flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        fuzz(sys.argv[2], sys.argv[3:])
    sys.exit(main())
