"""Phrase decoding: speed against search quality on Moses' own model, beside moses2 if there is one.

    python benchmarks/decode.py [--data ../shared] [--sentences 1000] [--json]
    python benchmarks/decode.py --moses2 ~/moses/bin/moses2 [--rounds 5]

Multi30k de-en, the test set, MERT weights, one thread; loading and compiling are excluded, CPU time is the best of some
repetitions. Moses cannot be installed with pip: figures of it from elsewhere (README.md beside this file) are printed
as they are, and say nothing of speed here. `--moses2` runs one that you built, in turn with ours: CPU-seconds of 1,000
sentences without those of the first one, medians and ranges, the pop limit of ours that reaches its mean score, memory,
the whole command for one line, and instructions of a sentence where valgrind is installed. The gain of a second thread
is wall-clock time: run this on an idle machine.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sacrebleu
from figures import note
from peers import (
    CAMBER,
    OLDER,
    Spread,
    environment,
    in_turn,
    instructions,
    mean_score,
    millions,
    moses2,
    run,
    shown,
    spread,
)

from camber.corpus.inputs import as_inputs
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.files import read_lines
from camber.model.translator import load
from camber.pipeline.convert_moses import convert_moses

ROOT = Path(__file__).resolve().parent.parent
POP_LIMITS = (30, 50, 70, 100, 200, 300, 400, 600, 1000, 2000)
#: of moses2, beside it
PEER_POP_LIMITS = (50, 100, 200, 400, 1000)
#: how many sentences have their instructions counted
COUNTED = 50
#: Pop limit of the n-best rows, as the peers had it
NBEST_POP_LIMIT = 1000


class Peer(NamedTuple):
    """A row of README.md beside this file ("Phrase decoding: speed against search quality")."""

    name: str
    pop_limit: int
    rate: float  # sentences per CPU-second, the better end of a range
    score: float | None  # mean 1-best model score
    bleu: float


PEERS = (
    Peer("moses2", 50, 1150, -41.6999, 40.11),
    Peer("moses2", 100, 700, -41.6905, 40.28),
    Peer("moses2", 200, 400, -41.6867, 40.22),
    Peer("moses2", 400, 271, -41.6838, 40.29),
    Peer("moses2", 1000, 121, -41.6830, 40.27),
    Peer("moses2", 5000, 16, -41.6823, 40.30),
    Peer("moses", 400, 86, None, 40.28),
    Peer("moses", 1000, 40, -41.6828, 40.32),
)
#: 100-best at pop limit 1000, sentences per second; peak memory in MB; gain of a second thread (the same README)
PEER_NBEST = {"moses2": 83, "moses": 28}
PEER_MEMORY = {"moses2": 187, "moses": 880}
PEER_THREADS = {"moses2": 1.99, "moses": 2.0}

#: What a fresh process reports about its resident memory, in MB: after the imports, after loading, and the peak
MEMORY_PROBE = """
import sys
from camber.engine import Threads
from camber.model.translator import load
def size(name):
    # not getrusage: its maximum includes the parent's size at the time of the fork
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith(name))
imported = size("VmRSS")
model = load(sys.argv[1])
loaded = size("VmRSS")
with open(sys.argv[2], encoding="utf-8") as file:
    model.translate(file.read().splitlines(), engine=Threads(1))
print(imported, loaded, size("VmHWM"))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--sentences", type=int, default=1000, help="how many of the 1,000 test sentences")
    parser.add_argument("--repeat", type=int, default=2, help="repetitions, of which the best counts")
    parser.add_argument("--moses2", type=Path, help="a moses2 that you built")
    parser.add_argument("--moses2-ini", type=Path, help="its settings [anchors/moses/moses.ini]")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run beside moses2")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    args = parser.parse_args()
    anchors, text = args.data / "anchors", args.data / "data/multi30k/tok"
    if not (anchors / "moses/moses.ini").exists() or not (text / "test.de").exists():
        parser.exit(
            1, f"no benchmark data in {args.data}: give --data a folder with data/multi30k/tok and anchors/moses\n"
        )
    references = read_lines(text / "test.en")
    sources = read_lines(text / "test.de")[: args.sentences]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        convert_moses(anchors / "moses/moses.ini", model)
        result = measure(model, sources, references[: len(sources)], args.repeat)
        result["memory"] |= probe_memory(model, sources, Path(folder) / "source.txt")
        if args.moses2 is not None:
            result["moses2"] = side_by_side(args, model, sources, Path(folder))
    # mean scores are comparable over the same sentences only
    result["peers"] = [compare(peer, result["curve"]) for peer in PEERS] if len(sources) == len(references) else []
    tell_figures(result)
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        report(result)


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(model: Path, sources: list[str], references: list[str], repeat: int) -> dict[str, Any]:
    """Return the curve, the n-best row, the gain of a second thread, and the size of the model's arrays."""
    own = load(model).decoder
    weights = dict(zip(own.names, own.weights.tolist(), strict=True))
    sentences = [line.split() for line in sources]

    def decoder(pop_limit: int) -> PhraseDecoder:
        settings = own.settings.to_dict() | {"pop_limit": pop_limit}
        return PhraseDecoder(own.rules, own.languages, weights, DecodeSettings.from_dict(settings))

    list(own.decode(as_inputs(sentences[:2]), engine=Threads(1)))  # compile, and read the pages that matter
    curve = []
    for pop_limit in POP_LIMITS:
        one = decoder(pop_limit)
        found, cpu, _ = best_time(one, sentences, repeat)
        work = np.zeros(len(one.WORK), np.int64)
        list(one.decode(as_inputs(sentences), work=work))
        curve.append(
            {
                "pop_limit": pop_limit,
                "cpu_seconds": cpu,
                "rate": len(sentences) / cpu,
                "score": float(np.mean([item[0].score for item in found])),
                "bleu": bleu([" ".join(item[0].words) for item in found], references),
                "work": dict(zip(("edges", "lm_scores", "pops"), (work / len(sentences)).tolist(), strict=True)),
            }
        )
    found, cpu, _ = best_time(decoder(NBEST_POP_LIMIT), sentences, repeat, nbest=100)
    nbest = {"cpu_seconds": cpu, "rate": len(sentences) / cpu, "mean_length": float(np.mean([len(f) for f in found]))}
    _, _, alone = best_time(own, sentences, repeat)
    _, _, shared = best_time(own, sentences, repeat, threads=2)
    arrays = [getattr(own.rules.store, field.name) for field in fields(own.rules.store)]
    rules = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    return {
        "sentences": len(sentences),
        "curve": curve,
        "nbest": nbest,
        "two_threads": {"wall_one": alone, "wall_two": shared, "gain": alone / shared},
        "memory": {"rule_bytes": rules, "lm_bytes": sum(lm.nbytes for lm in own.languages.models)},
    }


def best_time(
    decoder: PhraseDecoder, sentences: list[list[str]], repeat: int, nbest: int = 1, threads: int = 1
) -> tuple[list[Any], float, float]:
    """Decode `repeat` times; return the derivations, the least CPU-seconds and the least wall-clock seconds."""
    cpu, wall = [], []
    found: list[Any] = []
    for _ in range(repeat):
        start = time.process_time(), time.perf_counter()
        found = list(decoder.decode(as_inputs(sentences), nbest=nbest, engine=Threads(threads)))
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    return found, min(cpu), min(wall)


def bleu(lines: list[str], references: list[str]) -> float:
    return float(sacrebleu.corpus_bleu(lines, [references], tokenize="none", force=True).score)


def probe_memory(model: Path, sources: list[str], scratch: Path) -> dict[str, float]:
    """Load and translate in a process of its own; return its resident sizes in MB (nothing where there is no /proc)."""
    if not Path("/proc/self/status").exists():
        return {}
    scratch.write_text("".join(line + "\n" for line in sources), encoding="utf-8")
    command = [sys.executable, "-c", MEMORY_PROBE, str(model), str(scratch)]
    sizes = []
    for _ in range(2):  # the first may have to compile, which takes more memory than to translate
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        sizes.append([float(size) for size in done.stdout.split()])
    imported, loaded, peak = min(sizes, key=lambda size: size[-1])
    return {"mb_imported": imported, "mb_loaded": loaded, "mb_peak": peak}


def side_by_side(args: argparse.Namespace, model: Path, sources: list[str], folder: Path) -> dict[str, Any]:
    """Run moses2 and ours in turn, at several pop limits."""
    program = args.moses2.resolve()
    settings = (args.moses2_ini or args.data / "anchors/moses/moses.ini").resolve()
    texts = {}
    for name, count in (("all", len(sources)), ("some", COUNTED + 1), ("one", 1)):
        texts[name] = folder / f"{name}.txt"
        texts[name].write_text("".join(line + "\n" for line in sources[:count]), encoding="utf-8")
    lists, variables = folder / "lists", environment(folder)
    lists.mkdir()

    def theirs(pop_limit: int, text: str) -> list[object]:
        return moses2(program, settings, texts[text], pop_limit, lists / f"{pop_limit}.{text}")

    def ours(pop_limit: int, text: str) -> list[object]:
        return [*CAMBER, "translate", model, "--pop-limit", pop_limit, "--threads", 1, "--input", texts[text]]

    own = load(model).decoder
    sentences = as_inputs([line.split() for line in sources])
    mine = {pop: own.searching({"pop_limit": pop}) for pop in POP_LIMITS}
    seconds: dict[tuple[str, int], list[float]] = {}
    for _ in range(args.rounds):
        for pop in PEER_POP_LIMITS:
            whole, start = (run(theirs(pop, text), settings.parent) for text in ("all", "one"))
            seconds.setdefault(("moses2", pop), []).append(whole.cpu - start.cpu)
        for pop in POP_LIMITS:
            begin = time.process_time()
            scores = [item[0].score for item in mine[pop].decode(sentences, engine=Threads(1))]
            seconds.setdefault(("camber", pop), []).append(time.process_time() - begin)
            mine_score = float(np.mean(scores))
            seconds.setdefault(("score", pop), []).append(mine_score)
    rows, counts = [], functools.cache(lambda best: counted(lambda text: ours(best, text), folder, variables | OLDER))
    for pop in PEER_POP_LIMITS:
        score = mean_score(read_lines(lists / f"{pop}.all"))
        reached = [limit for limit in POP_LIMITS if round(seconds["score", limit][0], 4) >= round(score, 4)]
        best = min(reached, key=lambda limit: statistics.median(seconds["camber", limit]), default=None)
        row: dict[str, Any] = {"pop_limit": pop, "score": score, "cpu": spread(seconds["moses2", pop])}
        row["instructions"] = counted(lambda text, pop=pop: theirs(pop, text), settings.parent, None)
        if best is not None:
            ratios = [a / b for a, b in zip(seconds["moses2", pop], seconds["camber", best], strict=True)]
            row |= {"our_pop_limit": best, "our_score": seconds["score", best][0]}
            row |= {"our_cpu": spread(seconds["camber", best]), "ratio": spread(ratios)}
            row["our_instructions"] = counts(best)
        rows.append(row)
    run(ours(400, "one"), folder, variables)  # sources and kernels are compiled then
    starts = in_turn(
        args.rounds,
        moses2=lambda: run(theirs(400, "one"), settings.parent),
        camber=lambda: run(ours(400, "one"), folder, variables),
        moses2_all=lambda: run(theirs(400, "all"), settings.parent),
        camber_all=lambda: run(ours(400, "all"), folder, variables),
    )
    return {
        "rows": rows,
        "one_line": {name: spread([one.cpu for one in starts[name]]) for name in ("moses2", "camber")},
        "megabytes": {name: max(one.megabytes for one in starts[f"{name}_all"]) for name in ("moses2", "camber")},
    }


def counted(command: Callable[[str], list[object]], folder: Path, variables: dict[str, str] | None) -> float | None:
    """Return the instructions of a sentence: those of some without those of the first; None where none are counted."""
    if variables is not None:
        run(command("one"), folder, variables)  # compiled for the processor that valgrind knows
    some, one = (instructions(command(text), folder, variables) for text in ("some", "one"))
    return None if some is None or one is None else (some - one) / COUNTED


def tell_figures(result: dict[str, Any]) -> None:
    """Note what tells whether anything became slower."""
    for row in result["curve"]:
        note(f"pop limit {row['pop_limit']}, sentences a CPU-s", row["rate"])
        note(f"pop limit {row['pop_limit']}, mean score above -43", row["score"] + 43)
    note("100-best, sentences a CPU-s", result["nbest"]["rate"])
    note("two threads, times one", result["two_threads"]["gain"])
    if "mb_peak" in result["memory"]:
        note("peak memory, MB", result["memory"]["mb_peak"], more_is_better=False)
    for row in result.get("moses2", {}).get("rows", ()):
        if "ratio" in row:
            note(f"times moses2 at pop limit {row['pop_limit']}", row["ratio"].median)


def compare(peer: Peer, curve: list[dict[str, Any]]) -> dict[str, Any]:
    """Put our fastest row that reaches the peer's score beside it (its BLEU is not a measure of search)."""
    row = peer._asdict()
    if peer.score is not None:
        # as precise as the peers print
        reached = [ours for ours in curve if round(ours["score"], 4) >= peer.score]
        best = max(reached, key=lambda ours: ours["rate"], default=None)
        row |= {name: best and best[key] for name, key in (("our_pop_limit", "pop_limit"), ("our_rate", "rate"))}
    return row


# --- telling ----------------------------------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> None:
    """Print the tables."""
    print(f"{result['sentences']:,} sentences, one thread\n")
    print("pop limit   CPU-s  sent/CPU-s  mean score   BLEU | per sentence:   edges  LM scores    pops")
    for row in result["curve"]:
        work = row["work"]
        print(
            f"{row['pop_limit']:9d} {row['cpu_seconds']:7.2f} {row['rate']:11.0f}"
            f" {row['score']:11.4f} {row['bleu']:6.2f} | {work['edges']:21.0f} {work['lm_scores']:10.0f}"
            f" {work['pops']:7.0f}"
        )
    if "moses2" in result:
        report_moses2(result["moses2"])
    if result["peers"]:
        print("\nelsewhere (another machine) | here, at an equal or better score")
        print("peer    pop limit  sent/CPU-s  mean score   BLEU | pop limit  sent/CPU-s")
    for row in result["peers"]:
        score = "          -" if row["score"] is None else f"{row['score']:11.4f}"
        line = f"{row['name']:7s} {row['pop_limit']:9d} {row['rate']:11.0f} {score} {row['bleu']:6.2f} |"
        reached = row.get("our_rate") is not None
        print(line, f"{row['our_pop_limit']:9d} {row['our_rate']:11.0f}" if reached else "        -")
    nbest, threads, memory = result["nbest"], result["two_threads"], result["memory"]
    peers = ", ".join(f"{name} {rate}" for name, rate in PEER_NBEST.items())
    print(
        f"\n100-best at pop limit {NBEST_POP_LIMIT}: {nbest['rate']:.0f} sentences/CPU-s,"
        f" {nbest['mean_length']:.0f} texts a sentence (elsewhere: {peers})"
    )
    peers = ", ".join(f"{name} {gain}" for name, gain in PEER_THREADS.items())
    print(f"two threads: {threads['gain']:.2f} times one (wall clock, idle machine needed; elsewhere: {peers})")
    peers = ", ".join(f"{name} {size} MB" for name, size in PEER_MEMORY.items())
    arrays = (memory["rule_bytes"] + memory["lm_bytes"]) / 1e6
    rules, models = memory["rule_bytes"] / 1e6, memory["lm_bytes"] / 1e6
    print(f"memory: model arrays {arrays:.1f} MB (rules {rules:.1f}, language models {models:.1f})", end="")
    if "mb_peak" in memory:
        print(
            f"; a process: {memory['mb_imported']:.0f} MB with Python and libraries, {memory['mb_loaded']:.0f} with the"
            f" model opened (pages are read when needed), {memory['mb_peak']:.0f} at its peak in translation",
            end="",
        )
    print(f" (elsewhere: {peers})")


def report_moses2(found: dict[str, Any]) -> None:
    """Print what ran beside moses2."""
    print("\nbeside moses2, CPU-s without loading, median (range); millions of instructions a sentence")
    print(f"{'moses2':>7}{'mean score':>12}{'CPU-s':>22}{'M':>7} |", end="")
    print(f"{'camber':>7}{'score':>10}{'CPU-s':>22}{'M':>7}{'ratio':>20}")
    for row in found["rows"]:
        count = row["instructions"]
        print(f"{row['pop_limit']:7d}{row['score']:12.4f}{row['cpu']!s:>22}{millions(count):>7} |", end="")
        if "ratio" in row:
            mine = f"{row['our_score']:10.4f}{row['our_cpu']!s:>22}{millions(row['our_instructions']):>7}"
            print(f"{row['our_pop_limit']:7d}{mine}{row['ratio']!s:>20}")
        else:
            print(" not reached")
    for what, unit in (("one_line", "CPU-s for one line, the whole command"), ("megabytes", "MB at the peak")):
        told = ", ".join(
            f"{name} {value if isinstance(value, Spread) else shown(value)}" for name, value in found[what].items()
        )
        print(f"{unit}: {told}")


if __name__ == "__main__":
    main()
