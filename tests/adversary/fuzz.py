"""Fuzz readers for a while, guided by coverage: ``python tests/adversary/fuzz.py [--seconds 60] [READER …]``.

Each reader is fuzzed in a fork (atheris ends the process that it runs in), with the files that it accepts as the
beginning of its corpus; what is instrumented on import is so once. What is found stays in ``.fuzz/READER``: the corpus
for the next time, and every input that made a reader fail. Kernels run as plain Python, so that coverage guides through
them, too, and an index out of range is an error. Reading must end in a result or an error of ours, within the time and
memory of `bounds`.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
PLACE = HERE.parent.parent / ".fuzz"
#: what must be so before anything is imported
ENVIRONMENT = {"NUMBA_DISABLE_JIT": "1", "CAMBER_CACHE": str(PLACE / "cache")}


def fuzz(reader: Any, arguments: list[str], folder: Path) -> None:
    """Fuzz one reader in this process, which does not return."""
    import atheris
    from adversary.bounds import bounded

    from camber.errors import CamberError

    path = folder / reader.file

    def one(data: bytes) -> None:
        path.write_bytes(data)
        with bounded(len(data)), suppress(CamberError):
            reader.read(path)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def run(name: str, reader: Any, options: argparse.Namespace, tokens: list[bytes]) -> bool:
    """Fuzz one reader in a fork; print what came out, and say whether all was well."""
    place = PLACE / name.replace(" ", "-")
    corpus, work, told = place / "corpus", place / "work", place / "told"
    for folder in (corpus, work):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(reader.files):
        (corpus / f"seed{number}").write_bytes(seed)
    words = place / "tokens"
    spelled = ["".join(map("\\x{:02x}".format, token)) for token in tokens if len(token) < 60]
    words.write_text("".join(f'"{text}"\n' for text in spelled))
    arguments = [
        *(f"-max_total_time={options.seconds}", f"-seed={options.seed}", f"-max_len={options.most}"),
        *("-timeout=20", f"-dict={words}", f"-artifact_prefix={place}/", "-print_final_stats=1", "-verbosity=0"),
        str(corpus),
    ]
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            out = os.open(told, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND)
            for number in (1, 2):
                os.dup2(out, number)
            fuzz(reader, arguments, work)
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = told.read_text(errors="replace")
    runs = [line.split()[-1] for line in text.splitlines() if "number_of_executed_units" in line]
    outcome = "ok" if code == 0 else f"FAILED, see {place}"
    print(f"{name}: {runs[0] if runs else '?'} inputs, {len(list(corpus.iterdir()))} kept: {outcome}", flush=True)
    if code:
        print(text[-6000:], flush=True)
    return code == 0


def main() -> int:
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ENVIRONMENT)
    sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]
    import atheris

    with atheris.instrument_imports(include=["camber", "json", "tomllib", "shlex"]), TemporaryDirectory() as folder:
        from adversary.readers import READERS, TOKENS

        for reader in READERS.values():  # what is imported on first use, too, and before anything is measured
            path = Path(folder) / reader.file
            for seed in reader.files:
                path.write_bytes(seed)
                reader.read(path)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("readers", nargs="*", default=list(READERS), metavar="READER", help=", ".join(READERS))
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=20_000, help="bytes of an input")
    options = parser.parse_args()
    failed = [name for name in options.readers if not run(name, READERS[name], options, TOKENS)]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
