"""What bends cost in decoding: nothing much, since bins are looked up once for each rule, before the search.

    python benchmarks/bend.py [--data ../shared] [--work FOLDER] [phrase hiero] [--bits 12] [--json]

Trains a phrase model and a hierarchical model on Multi30k de-en with the package itself (into FOLDER if one is named,
where they are found again), and translates the test set with features as they are (linear) and bent.

equal    a bin for each value that the test set's rules have, worth what the linear model gives to it. The search must
         then be the same: the same translations, the same scores up to rounding, the same work.
12 bits  at most 4,096 bins for each feature, made from the rules of the dev set and worth about what the linear model
         gives to them: what decoding costs. `search` leaves out the extraction of rules (hierarchical models only).

One thread, CPU time. Linear and bent decoding take turns on every few sentences, each piece counts with its median
over the repetitions, and the ratio of the sums is shown: other work on the machine hits both alike.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import note

import camber
from camber.bend.settings import BendSettings
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.features.weights import Weights
from camber.files import read_lines, words
from camber.model.translator import Translator
from camber.pipeline.rewrite import with_weights
from camber.pipeline.settings import TrainSettings
from camber.tune.bending import bent_decoder

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("phrase", "hiero")
#: sentences that are decoded before the other decoder's turn: whole batches of both decoders
PIECE = 125

#: a fresh process that says how much memory it took (in MB; 0 where there is no /proc)
PROBE = """
import os, sys
import camber
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
translator = camber.load(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    text = [line.split() for line in file]
list(translator.decoder.decode(as_inputs(text[: int(sys.argv[3])]), engine=Threads(1)))
if os.path.exists("/proc/self/status"):
    with open("/proc/self/status") as file:
        print(next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM")))
else:
    print(0.0)
"""


def model_of(method: str, data: Path, work: Path) -> Translator:
    """Train a model, or open it if it is there."""
    folder = work / method
    if not folder.is_dir():
        settings = TrainSettings.from_dict({"text": {"tokenizer": "none"}, "align": {"model": "quick"}})
        camber.train(
            data / "train.de", data / "train.en", folder, method=method, held_out=0, tuned=False, settings=settings
        )
    return camber.load(folder)


def decode(decoder: Any, text: Sequence[Sequence[str]]) -> float:
    """Decode text; return the CPU-seconds."""
    start = time.process_time()
    for _ in decoder.decode(as_inputs(text), engine=Threads(1)):
        pass
    return time.process_time() - start


def compare(linear: Any, bent: Any, text: Sequence[Sequence[str]], repeat: int) -> dict[str, float]:
    """Return milliseconds of CPU time per sentence of both decoders, and their ratio."""
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    times = np.empty((2, repeat, len(pieces)))
    for decoder in (linear, bent):
        decode(decoder, pieces[0])  # compiles, or loads what was compiled
    for again in range(repeat):
        for number, piece in enumerate(pieces):
            for turn in (0, 1) if (again + number) % 2 else (1, 0):
                times[turn, again, number] = decode((linear, bent)[turn], piece)
    one, two = 1e3 * np.median(times, axis=1).sum(axis=1) / len(text)
    return {"linear_ms": one, "bent_ms": two, "ratio": two / one}


def same_search(linear: Any, bent: Any, text: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Compare the best translations, their scores, and the work of two searches."""
    work, bent_work = np.zeros((2, len(linear.WORK)), np.int64)
    one = [best[0] for best in linear.decode(as_inputs(text), engine=Threads(1), work=work)]
    two = [best[0] for best in bent.decode(as_inputs(text), engine=Threads(1), work=bent_work)]
    return {
        "sentences": len(text),
        "same": sum(a.words == b.words for a, b in zip(one, two, strict=True)),
        "largest_difference": max(abs(a.score - b.score) for a, b in zip(one, two, strict=True)),
        "linear_work": work.tolist(),
        "bent_work": bent_work.tolist(),
    }


def memory(model: Path, text: Path, count: int) -> float:
    """Return the peak memory in MB of a process that translates the first lines of a text: the smaller of two runs."""
    command = [sys.executable, "-c", PROBE, str(model), str(text), str(count)]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    return min(map(float, runs))


def measure(method: str, data: Path, work: Path, bits: int, count: int, repeat: int) -> dict[str, Any]:
    """Measure one method."""
    translator = model_of(method, data, work)
    linear = translator.decoder
    text, dev = ([words(line) for line in read_lines(data / name)] for name in ("test.de", "dev.de"))
    text = text[:count]
    equal = bent_decoder(linear, as_inputs(text), "bins", BendSettings(bits=20))
    bent = bent_decoder(linear, as_inputs(dev), "bins", BendSettings(bits=bits))
    figures: dict[str, Any] = {
        "method": method,
        "bins": bent.bend.width,
        "equal_bins": equal.bend.width,
        "equal": same_search(linear, equal, text),
        "near": same_search(linear, bent, text),
        "decoding": compare(linear, bent, text, repeat),
        "decoding_equal": compare(linear, equal, text, repeat),
    }
    if method == "hiero":
        figures["search"] = compare(linear.remembering(), bent.remembering(), text, repeat)
    shaped = translator.shaped(bent, Weights(bent.weighing.by_name(), signature="near the untuned model"))
    with_weights(work / method, work / f"{method}-bent", shaped, None)
    sizes = {name: memory(work / name, data / "test.de", count) for name in (method, f"{method}-bent")}
    figures["memory"] = {"linear_mb": sizes[method], "bent_mb": sizes[f"{method}-bent"]}
    return figures


def show(figures: dict[str, Any], bits: int) -> None:
    """Print the figures of one method."""
    equal, near = figures["equal"], figures["near"]
    print(f"\n{figures['method']}")
    print(
        f"  equal bins ({figures['equal_bins']:,}): {equal['same']:,} of {equal['sentences']:,} translations the same, "
        f"scores within {equal['largest_difference']:.1e}"
    )
    print(f"    work, linear / bent: {equal['linear_work']} / {equal['bent_work']}")
    print(f"  {bits} bits ({figures['bins']:,} bins): {near['same']:,} of {near['sentences']:,} translations the same")
    print(f"    work, linear / bent: {near['linear_work']} / {near['bent_work']}")
    rows = [(f"decoding, {bits} bits", "decoding"), ("decoding, equal bins", "decoding_equal")]
    rows += [(f"search, {bits} bits", "search")] * ("search" in figures)
    print(f"  {'CPU time, ms/sentence':<26}{'linear':>10}{'bent':>10}{'ratio':>10}")
    for title, key in rows:
        times = figures[key]
        print(f"  {title:<26}{times['linear_ms']:>10.3f}{times['bent_ms']:>10.3f}{times['ratio']:>10.3f}")
        note(f"{figures['method']}, {title}, times the linear decoder", times["ratio"], more_is_better=False)
    sizes = figures["memory"]
    ratio = sizes["bent_mb"] / max(1e-9, sizes["linear_mb"])
    print(f"  {'peak memory, MB':<26}{sizes['linear_mb']:>10.0f}{sizes['bent_mb']:>10.0f}{ratio:>10.3f}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help=f"which models: {', '.join(METHODS)} (default: all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/multi30k")
    parser.add_argument("--work", type=Path, help="where models are made, and found again")
    parser.add_argument("--bits", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=250, help="how many sentences of the test set")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="for machines")
    arguments = parser.parse_args()
    if unknown := set(arguments.methods) - set(METHODS):
        parser.error(f"no method {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    data = arguments.data / "data" / "multi30k" / "tok"
    if not data.is_dir():
        sys.exit(f"{data} is absent; name the folder that has data/multi30k with --data")
    with tempfile.TemporaryDirectory(prefix="camber-bench-") as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        results = []
        for method in arguments.methods or METHODS:
            figures = measure(method, data, work, arguments.bits, arguments.sentences, arguments.repeat)
            results.append(figures)
            if not arguments.json:
                show(figures, arguments.bits)
        if arguments.json:
            print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
