"""Word alignment: error rate and CPU-seconds of both models, against fast_align in the same run.

    python benchmarks/align.py [--data ../shared] [--only hansards|multi30k]

Two corpora: the Hansards protocol (gold test sentences, then dev, Europarl and Tatoeba, lower-cased: 168k pairs; AER of
the test sentences with grow-diag-final-and) and Multi30k de-en (29k pairs, time only). Every aligner is a process of
its own, and its whole time counts: starting, reading, both directions, writing. `camber` runs twice and the second run
counts, so that its kernels are compiled. The peer is pip's systran-align, which is fast_align as a library. The figures
of fast_align and eflomal themselves come from another machine (README.md beside this file) and are printed as they are.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import note

ROOT = Path(__file__).resolve().parent.parent
GOLD = "data/gold-align/hansards-en-fr"

#: Measured elsewhere: (AER or None, CPU-seconds), both directions, grow-diag-final-and.
ELSEWHERE = {
    "hansards": {"fast_align (elsewhere)": (0.169, 38.0), "eflomal (elsewhere)": (0.098, 51.0)},
    "multi30k": {"fast_align (elsewhere)": (None, 7.2), "eflomal (elsewhere)": (None, 26.8)},
}


def cpu_of(*command: str | Path) -> float:
    """Run a command to its end; return its CPU-seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_peer(source: Path, target: Path, out: Path) -> None:
    """Align two files with systran-align, with the options that fast_align's own page recommends (-d -o -v)."""
    import systran_align

    sides = [[line.split() for line in path.read_text(encoding="utf-8").splitlines()] for path in (source, target)]
    with tempfile.TemporaryDirectory() as folder:
        text, forward, backward = (str(Path(folder) / name) for name in ("text", "forward", "backward"))
        with open(text, "w", encoding="utf-8") as stream:
            stream.writelines(f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(*sides, strict=True))
        systran_align.generate_alignment_probabilities(
            text, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        aligner = systran_align.Aligner(forward, backward)
        with open(out, "w", encoding="utf-8") as stream:
            for found in aligner.align_batch(*sides):
                stream.write(" ".join(f"{s}-{t}" for s, t in found["alignments"]) + "\n")


def hansards(data: Path, work: Path) -> tuple[Path, Path]:
    """Put the training text of the protocol together."""
    from sacremoses import MosesTokenizer

    paths = work / "hansards.en", work / "hansards.fr"
    for path in paths:
        lang = path.suffix[1:]
        tokenise = MosesTokenizer(lang=lang).tokenize
        with open(path, "w", encoding="utf-8") as out:
            for name in (f"{GOLD}/test", f"{GOLD}/dev", "data/europarl-fr-en-10k/all"):
                for line in (data / f"{name}.{lang}").read_text(encoding="utf-8").split("\n")[:-1]:
                    out.write(line.strip().lower() + "\n")
            for line in (data / f"data/tatoeba-fr-en/train.{lang}").read_text(encoding="utf-8").split("\n")[:-1]:
                out.write(tokenise(line.strip(), return_str=True, escape=False).lower() + "\n")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    parser.add_argument("--only", choices=tuple(ELSEWHERE), help="one corpus instead of both")
    parser.add_argument("--peer", nargs=3, type=Path, metavar=("SOURCE", "TARGET", "OUT"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        run_peer(*args.peer)
        return
    if not (args.data / GOLD).exists():
        parser.exit(1, f"no benchmark data in {args.data}: give --data a folder with {GOLD} and data/multi30k/tok\n")

    from camber.align.error_rate import error_rate, read_gold
    from camber.align.pharaoh import read_pharaoh

    work = Path(tempfile.mkdtemp(prefix="camber-bench-"))
    text = args.data / "data/multi30k/tok"
    for name in [args.only] if args.only else ELSEWHERE:
        source, target = hansards(args.data, work) if name == "hansards" else (text / "train.de", text / "train.en")
        gold = read_gold(args.data / GOLD / "test.align.en-fr") if name == "hansards" else None
        out = work / "out.align"
        rows: dict[str, tuple[float | None, float]] = {}
        for model in ("quick", "best"):
            command = ("camber", "align", "--source", source, "--target", target, "--model", model, "--out", out)
            cpu_of(*command)
            cpu = cpu_of(*command)
            rows[f"camber {model}"] = (error_rate(read_pharaoh(out), gold).aer if gold else None, cpu)
        peer = "systran-align (here)"
        try:
            cpu = cpu_of(sys.executable, __file__, "--peer", source, target, out)
            rows[peer] = (error_rate(read_pharaoh(out), gold).aer if gold else None, cpu)
        except subprocess.CalledProcessError:
            print("systran-align did not run; pip install 'camber[bench]'", file=sys.stderr)
        rows |= ELSEWHERE[name]
        reference = rows[peer if peer in rows else "fast_align (elsewhere)"][1]
        print(f"\n{name:<26}{'AER':>8}{'CPU-s':>9}{'times the peer':>16}")
        for row, (aer, cpu) in rows.items():
            print(f"{row:<26}{'' if aer is None else f'{aer:.4f}':>8}{cpu:>9.1f}{cpu / reference:>16.2f}", flush=True)
            if row.startswith("camber") and peer in rows:
                note(f"{name}, {row}: times as fast as systran-align", reference / cpu)
            if row.startswith("camber") and aer is not None:
                note(f"{name}, {row}: times the alignment error rate is in 1", 1 / aer)


if __name__ == "__main__":
    main()
