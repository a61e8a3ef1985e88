#!/usr/bin/env python3
"""Language models against KenLM: estimation, queries by word and by sentence, loading, memory.

    python benchmarks/lm.py [--data ../shared] [--rounds 9] [--lmplz PATH]

Peers: pip's `kenlm` in the same run, ours and theirs in turn, medians; figures of KenLM's programs, which pip does not
install, from elsewhere (README.md beside this file) as they are. `--lmplz` runs one that you built (README.md says how,
from pip's source package), in turn with `camber lm`: whole commands on one text, medians and ranges, memory, and
instructions where valgrind is installed. All times are CPU times of one thread.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import peers
from figures import note
from peers import CAMBER, OLDER, environment, instructions, lmplz, millions, run, spread

from camber.corpus import Sentences
from camber.files import read_lines, words
from camber.lm.arpa import read_arpa, write_arpa
from camber.lm.kneser_ney import LmSettings, estimate, estimate_arpa
from camber.lm.ngrams import NgramModel

#: elsewhere, where the README's figures are from: lmplz of kenlm 0.3.0's source package, order 5,
#: multi30k/tok/train.en, the whole command with its best setting, CPU-seconds and MB
LMPLZ_SECONDS, LMPLZ_MEGABYTES = 0.47, 45
#: elsewhere: KenLM's probing table queried from C++, million words per CPU-second: held-out and training text
PROBING = {"test": 15.2, "train": 12.3}


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


class Seconds(NamedTuple):
    """CPU seconds of a work over several rounds; the best one shows it undisturbed by other processes."""

    median: float
    best: float


def in_turn(rounds: int, *works: Callable[[], object]) -> list[Seconds]:
    """Run each work once per round, in turn, and time it."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            taken.append(cpu(work))
    return [Seconds(statistics.median(taken), min(taken)) for taken in times]


def probing_bytes(counts: list[int]) -> int:
    """Return the size of KenLM's probing model: hash tables 1.5 times as large as their content.

    Unigrams: a probability and a backoff each, and an 8 + 8 byte vocabulary entry; middle orders: an 8-byte key, a
    probability and a backoff; the highest: a key and a probability.
    """
    unigrams, *middle, highest = counts
    return int((unigrams + 1) * 8 + 1.5 * (unigrams * 16 + sum(middle) * 16 + highest * 12))


def rate(count: float, seconds: Seconds) -> list[float]:
    """Return items per second: by the median, by the best round."""
    return [count / seconds.median, count / seconds.best]


def row(what: str, ours: Sequence[float], theirs: Sequence[float], unit: str, *, more_is_better: bool = True) -> None:
    """Print figures by the median and by the best round; a ratio says how many times better ours is."""
    cells = [f"{what:<52}"]
    for mine, other in zip(ours, theirs, strict=True):
        ratio = mine / other if more_is_better else other / mine
        cells.append(f"{mine:>8.2f} {other:>8.2f} {ratio:>6.2f}")
    print(*cells, unit, sep="  ", flush=True)
    note(f"{what}, times the peer", ours[0] / theirs[0] if more_is_better else theirs[0] / ours[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[2] / "shared"
    parser.add_argument("--data", type=Path, default=default, help="folder with data/ and anchors/")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--lmplz", type=Path, help="a lmplz that you built")
    args = parser.parse_args()
    arpa, text = args.data / "anchors/lm/multi30k.en.o5.arpa.gz", args.data / "data/multi30k/tok"
    if not arpa.exists() or not text.exists():
        sys.exit(f"no {arpa} or {text}: name the folder with --data")
    try:
        import kenlm
    except ImportError:
        with tempfile.TemporaryDirectory() as folder:
            commands(text / "train.en", args.lmplz and args.lmplz.resolve(), Path(folder), args.rounds)
        sys.exit("kenlm is missing, so nothing else was measured: pip install 'camber[bench]'")

    ours = NgramModel.read(arpa)  # compiles the kernels, too
    theirs = kenlm.Model(str(arpa))
    lines = {name: read_lines(text / f"{name}.en") for name in ("test", "train")}
    encoded = {name: Sentences.encode([words(line) for line in some]) for name, some in lines.items()}
    for sentences in encoded.values():
        ours.score(sentences)
    print(f"{'':<52}  {'median':^24}  {'best round':^24}")
    print(f"{'':<52}", *[f"{'camber':>8} {'kenlm':>8} {'ratio':>6}"] * 2, sep="  ")

    # queries; the test text is small, so it is read several times in a round
    speed = {}
    for name, times in (("test", 20), ("train", 1)):
        count = times * (len(encoded[name].ids) + len(encoded[name])) / 1e6
        split = [line.split() for line in lines[name]]
        ids = np.append(ours.word_ids(encoded[name].vocabulary), 0)[encoded[name].ids]

        def by_sentence_theirs(name: str = name, times: int = times) -> None:
            for _ in range(times):
                for line in lines[name]:
                    theirs.score(line)

        def by_word_theirs(split: list[list[str]] = split) -> None:
            for line in split:
                state, after = kenlm.State(), kenlm.State()
                theirs.BeginSentenceWrite(state)
                for word in [*line, "</s>"]:
                    theirs.BaseScore(state, word, after)
                    state, after = after, state

        def encoded_ours(name: str = name, times: int = times) -> None:
            for _ in range(times):
                ours.score(encoded[name])

        def strings_ours(name: str = name, times: int = times) -> None:
            for _ in range(times):
                ours.score(lines[name])

        def queries_ours(
            name: str = name,
            times: int = times,
            ids: npt.NDArray[np.int64] = ids,
        ) -> None:
            for _ in range(times):
                ours._score(ids, encoded[name].offsets, True, True)

        seconds = in_turn(args.rounds, encoded_ours, strings_ours, by_sentence_theirs, queries_ours)
        (word_seconds,) = in_turn(1 if name == "train" else 3, by_word_theirs)
        speed[name] = rate(count, seconds[2])
        found = ours.score(encoded[name]) / math.log(10)
        worst = max(abs(theirs.score(line) - found[index]) for index, line in enumerate(lines[name]))
        unit = "million words/CPU-s"
        row(f"{name}: sentences, Sentences vs. strings", rate(count, seconds[0]), speed[name], unit)
        row(f"{name}: sentences, strings vs. strings", rate(count, seconds[1]), speed[name], unit)
        row(f"{name}: words, step vs. BaseScore", rate(count, seconds[3]), rate(count / times, word_seconds), unit)
        print(f"  KenLM's probing table queried from C++, elsewhere: {PROBING[name]}")
        print(f"{'  largest difference of a sentence, log10':<52} {worst:>9.1e}")

    # memory
    counts = np.diff(read_arpa(arpa).starts)[1:].tolist()
    size, probing_size = ours.nbytes / 1e6, probing_bytes(counts) / 1e6
    row("memory of the query model", [size], [probing_size], "MB (probing)", more_is_better=False)

    # loading
    with tempfile.TemporaryDirectory() as folder:
        ours.save(folder, "lm")
        plain = Path(folder) / "lm.arpa"
        trie = estimate(encoded["train"], LmSettings(order=5))
        write_arpa(plain, trie)
        seconds = in_turn(
            args.rounds,
            lambda: NgramModel.read(plain),
            lambda: kenlm.Model(str(plain)),
            lambda: NgramModel.load(folder, "lm"),
        )
        row("reading ARPA, 781,386 n-grams", seconds[0], seconds[1], "CPU-s", more_is_better=False)
        row("opening a saved model vs. reading ARPA", seconds[2], seconds[1], "CPU-s", more_is_better=False)

        # estimation, from a text file to an ARPA file as lmplz does, and from ids to n-grams
        tokens = len(encoded["train"].ids) / 1e6

        def whole() -> None:
            estimate_arpa(text / "train.en", plain, LmSettings(order=5))

        seconds = in_turn(5, whole, lambda: estimate(encoded["train"], LmSettings(order=5)))
        for what, taken in zip(("text → ARPA", "ids → n-grams"), seconds, strict=True):
            print(f"{f'estimation, {what}':<52}  {tokens / taken.median:>8.2f} million tokens/CPU-s")
            note(f"estimation, {what}, million tokens a CPU-s", tokens / taken.median)
        commands(text / "train.en", args.lmplz and args.lmplz.resolve(), Path(folder), args.rounds)


def commands(text: Path, program: Path | None, folder: Path, rounds: int) -> None:
    """Run `camber lm` on a text, in turn with lmplz if there is one: CPU-seconds and memory of whole commands."""
    variables = environment(folder)
    ours = [*CAMBER, "lm", "--text", text.resolve(), "--arpa", folder / "ours.arpa", "--threads", 1]
    run(ours, folder, variables)  # sources and kernels are compiled then
    works = {"camber": lambda: run(ours, folder, variables)}
    if program is not None:
        theirs = lmplz(program, text.resolve(), folder / "theirs.arpa")
        works["lmplz"] = lambda: run(theirs, folder)
    runs = peers.in_turn(rounds, **works)
    for name, found in runs.items():
        print(f"{name + ', the whole command':<52}  CPU-s {spread([one.cpu for one in found])}", end="")
        print(f", {max(one.megabytes for one in found):.0f} MB")
    seconds = {name: [one.cpu for one in found] for name, found in runs.items()}
    memory = {name: max(one.megabytes for one in found) for name, found in runs.items()}
    note("the whole command, CPU-s", spread(seconds["camber"]).median, more_is_better=False)
    note("the whole command, MB", memory["camber"], more_is_better=False)
    if program is None:
        print(f"lmplz -S 64M, elsewhere: {LMPLZ_SECONDS} CPU-s, {LMPLZ_MEGABYTES} MB")
        return
    ratio = spread([a / b for a, b in zip(seconds["lmplz"], seconds["camber"], strict=True)])
    print(f"{'times as fast as lmplz':<52}  {ratio}, with {memory['camber'] / memory['lmplz']:.2f} times its memory")
    note("the whole command, times as fast as lmplz", ratio.median)
    run(ours, folder, variables | OLDER)
    counts = {"camber": instructions(ours, folder, variables | OLDER), "lmplz": instructions(theirs, folder)}
    print("M instructions:", ", ".join(f"{name} {millions(count)}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
