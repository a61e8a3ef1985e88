"""Instance selection: the best 250 of 158,000 pairs for a line, beside bm25s; and what a selection is worth.

    python benchmarks/selection.py [--data ../shared] [--train]

Every way to select indexes the training pairs of tatoeba-fr-en and selects 250 for each line of its dev set, one line
at a time. bm25s indexes the same words, and is asked for the 250 best, also a line at a time, with its two backends;
the quicker one is the peer. scov and tcov are the shares of the lines' bigrams that the selected sources and targets
have. One thread, CPU time, after a first call that compiles.

`--train` trains phrase models (default weights; language model and all of the selected pairs alone) on what `camber
select` chooses for a test set, and on as many pairs drawn at random, and tells BLEU on that test set; some minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from figures import note

import camber
from camber.corpus import Bitext, Sentences
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.metrics import BLEU
from camber.regress.select.coverage import coverage
from camber.regress.select.selectors import SELECTORS, make_selector
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

COUNT = 250
#: corpus, its folder, languages, and how many pairs are chosen of how many
TRAININGS = (("tatoeba-fr-en", "", "fr", "en", 20_000), ("multi30k", "raw", "de", "en", 5_000))
DRAWS = 3


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU-seconds of a call, and what it returned."""
    begin = time.process_time()
    outcome = call()
    return time.process_time() - begin, outcome


def tokenised(folder: Path, name: str, pipeline: TextPipeline | None = None) -> tuple[TextPipeline, list[Any]]:
    """Return the words of both sides of a text, cased as the training text suggests."""
    sides = [read_lines(folder / f"{name}.{side}") for side in ("fr", "en")]
    pipeline = pipeline or TextPipeline.learn(TextSettings(source_lang="fr", target_lang="en"), *sides)
    splits = (pipeline.source_tokens, pipeline.target_tokens)
    return pipeline, [[split(line) for line in side] for split, side in zip(splits, sides, strict=True)]


def report(name: str, build: float, seconds: float, peer: float, size: float, covered: Sequence[float]) -> None:
    """Print a row of the table."""
    memory = f"{size / 1e6:.0f}" if size else "–"
    ratio = f"{peer / seconds:.1f}" if peer else "–"
    shares = "  ".join(f"{share:.3f}" for share in covered)
    if ratio != "–" and not name.startswith("bm25s"):
        note(f"{name}, times as fast as bm25s", peer / seconds)
    print(f"{name:24} {build:8.2f} {memory:>6} {1e3 * seconds:12.2f} {ratio:>6}   {shares}", flush=True)


def peer_lists(words: list[list[str]], lines: list[list[str]], backend: str) -> tuple[float, float, list[Any]]:
    """Return CPU-seconds of bm25s for its index and for each line, and what it found."""
    import bm25s

    def build() -> Any:
        retriever = bm25s.BM25(backend=backend)
        retriever.index(words, show_progress=False)
        return retriever

    def ask(retriever: Any, line: list[str]) -> Any:
        return retriever.retrieve([line], k=COUNT, show_progress=False, n_threads=1)[0][0]

    seconds, retriever = timed(build)
    for line in lines[:20]:
        ask(retriever, line)
    whole, found = timed(lambda: [ask(retriever, line) for line in lines if line])
    return seconds, whole / len(found), found


def selections(folder: Path) -> None:
    """Print the table of speed, memory and coverage."""
    pipeline, (source, target) = tokenised(folder, "train")
    _, (lines, translations) = tokenised(folder, "dev", pipeline)
    bitext = Bitext.encode(source, target)
    text, references = (
        Sentences.encode(side, known.vocabulary)
        for side, known in zip((lines, translations), (bitext.source, bitext.target), strict=True)
    )

    def covered(found: Sequence[Any]) -> tuple[float, float]:
        sides = ((bitext.source, text), (bitext.target, references))
        first, second = (coverage(side, asked, found).share(2) for side, asked in sides)
        return first, second

    print(f"{len(bitext):,} pairs, {len(text):,} lines, {COUNT} pairs for each")
    print(f"{'':24} {'index, s':>8} {'MB':>6} {'a line, ms':>12} {'ratio':>6}   scov   tcov")
    peer = 0.0
    if find_spec("bm25s"):
        backends = ["numpy", *(["numba"] if find_spec("numba") else [])]
        runs = {f"bm25s, {backend}": peer_lists(source, lines, backend) for backend in backends}
        peer = min(seconds for _, seconds, _ in runs.values())
        for name, (build, seconds, found) in runs.items():
            report(name, build, seconds, peer, 0.0, covered(found))
    else:
        print("bm25s is not installed (pip install bm25s): no peer in this run")
    for kind in SELECTORS:
        make_selector(kind, bitext).select(text[0], COUNT)
        build, selector = timed(lambda kind=kind: make_selector(kind, bitext))
        selector.select(text[0], COUNT)
        whole, found = timed(lambda selector=selector: [selector.select(line, COUNT) for line in text])
        report(kind, build, whole / len(text), peer, selector.nbytes, covered(found))
    everything = [np.arange(len(bitext))] * len(text)
    print(f"{'the whole corpus':60} {'{:.3f}  {:.3f}'.format(*covered(everything))}")


def trained(folder: Path, work: Path, source: Path, target: Path, languages: tuple[str, str]) -> float:
    """Train on two files, translate the test set, and return BLEU."""
    first, second = languages
    settings = camber.TrainSettings.from_dict({"text": {"source_lang": first, "target_lang": second}})
    model = camber.train(
        source, target, work / "model", settings=settings, held_out=0, keep_work=False, engine=Threads(1)
    )
    output = model.translate(read_lines(folder / f"test.{first}"), engine=Threads(1))
    metric = BLEU()
    references = [read_lines(folder / f"test.{second}")]
    return float(metric.score(metric.statistics(output, references).sum(0)))


def trainings(data: Path) -> None:
    """Print BLEU by what was trained on."""
    for name, place, first, second, count in TRAININGS:
        folder = data / name / place
        files = folder / f"train.{first}", folder / f"train.{second}"
        sides = [read_lines(path) for path in files]
        print(f"\n{name}, {first}→{second}: {count:,} of {len(sides[0]):,} pairs, BLEU on the test set")
        text = TextSettings(source_lang=first, target_lang=second)
        with tempfile.TemporaryDirectory() as scratch:
            work = Path(scratch)
            drawn = []
            for draw in range(DRAWS):
                rows = random.Random(draw).sample(range(len(sides[0])), count)
                for ending, side in zip((first, second), sides, strict=True):
                    write_lines(work / f"drawn.{ending}", [side[i] for i in sorted(rows)])
                drawn.append(trained(folder, work, work / f"drawn.{first}", work / f"drawn.{second}", (first, second)))
            scores = ", ".join(f"{score:.2f}" for score in drawn)
            print(f"{'drawn at random':24} {np.mean(drawn):.2f} ({scores})", flush=True)
            for kind in SELECTORS:
                chosen = camber.select(
                    *files, folder / f"test.{first}", count, score=kind, out=work / "chosen", text=text,
                    engine=Threads(1), test_target=folder / f"test.{second}",
                )  # fmt: skip
                score = trained(folder, work, work / f"chosen.{first}", work / f"chosen.{second}", (first, second))
                told = f"scov {chosen.source.share(2):.3f}, tcov {chosen.target.share(2):.3f}" if chosen.target else ""
                print(f"{kind:24} {score:.2f}  {told}", flush=True)
            print(f"{'all pairs':24} {trained(folder, work, *files, (first, second)):.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--train", action="store_true", help="train on selections, too")
    arguments = parser.parse_args()
    data = arguments.data / "data"
    if not (data / "tatoeba-fr-en").is_dir():
        sys.exit(f"{data / 'tatoeba-fr-en'} is absent: give the folder that holds data/tatoeba-fr-en with --data")
    selections(data / "tatoeba-fr-en")
    if arguments.train:
        trainings(data)


if __name__ == "__main__":
    main()
