"""What trees cost in decoding, in both decoders.

    python benchmarks/trees.py [--data ../shared] [--work FOLDER] [phrase hiero] [--trees 25] [--leaves 2] [--json]

Trains a phrase model and a hierarchical model on Multi30k de-en with the package itself (into FOLDER if one is named,
where they are found again), and translates the test set with a linear model and with made-up trees beside it: features
and thresholds are drawn from the parts of the dev set's translations, what leaves are worth is small, so that all do
about the same search.

rule     trees that ask about what is known of a rule before the search
context  trees whose first question is about what is known where a part is placed: language model, distortion,
         reordering; half of the others are, too

One thread, CPU time. All decoders take turns on every few sentences, each piece counts with its median over the
repetitions, and ratios of sums to the linear decoder's are shown: other work on the machine hits all alike. `search`
leaves out the extraction of rules (hierarchical models only).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bend import METHODS, PIECE, ROOT, decode, model_of

from camber.bend.log import LogBend
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import Tree
from camber.bend.weighing import Weighing
from camber.corpus.inputs import as_inputs
from camber.decode.derivation import parts_of
from camber.engine import Threads
from camber.features.feature import RULE
from camber.files import read_lines, words

#: what is asked about first: features of rules alone, or those of context
SCOPES = ("rule", "context")
#: the spread of what leaves are worth
WORTH = 0.01
#: bars: what decoding with trees may take, by scope
BARS = {"rule": 1.1, "context": 1.5}


def drawn_tree(
    rng: np.random.Generator, values: Sequence[np.ndarray], choices: Sequence[list[int]], leaves: int
) -> Tree:
    """Draw a tree: a list of features (the last one for the first question), then a feature, then a value of it."""
    lists = [choices[-1], *(choices[rng.integers(len(choices))] for _ in range(leaves - 2))]
    columns = [int(rng.choice(some)) for some in lists]
    thresholds = [float(rng.choice(values[column])) for column in columns]
    children = [[k + 1 if k + 2 < leaves else -leaves, -1 - k] for k in range(leaves - 1)]  # a chain of questions
    constants = WORTH * rng.normal(size=leaves)
    return Tree(columns, thresholds, rng.random(leaves - 1) < 0.5, children, constants, np.zeros(leaves), -1)


def with_trees(linear: Any, text: Sequence[Sequence[str]], scope: str, trees: int, leaves: int) -> Any:
    """Return a decoder with made-up trees."""
    best = [found[0] for found in linear.decode(as_inputs(text), engine=Threads(1))]
    parts = parts_of(linear.inputs, best)[0]
    dense = parts.dense()[parts.rules >= 0]  # trees grow from parts that are rules
    values = [np.unique(column[~np.isnan(column)]) for column in dense.T]
    varied = [column for column in range(len(values)) if len(values[column]) > 1]
    of_rules = [column for column in varied if linear.inputs[column].scope == RULE]
    others = [column for column in varied if linear.inputs[column].scope != RULE]
    rng = np.random.default_rng(1)
    choices = [of_rules] if scope == "rule" else [of_rules, others]
    forest = Forest(linear.inputs, tuple(drawn_tree(rng, values, choices, leaves) for _ in range(trees)))
    bend = TreesBend(LogBend(linear.inputs), forest)
    weights = {**linear.weighing.by_name(), **dict.fromkeys(forest.names, 1.0)}
    return linear.weighed(Weighing(bend, weights))


def compare(decoders: Mapping[str, Any], text: Sequence[Sequence[str]], repeat: int) -> dict[str, dict[str, float]]:
    """Return milliseconds of CPU time per sentence of all decoders, and their ratios to the first."""
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    times = np.empty((len(decoders), repeat, len(pieces)))
    every = list(decoders.values())
    for decoder in every:
        decode(decoder, text)  # compiles, and extracts the rules that are kept
    for again in range(repeat):
        for number, piece in enumerate(pieces):
            for turn in np.roll(np.arange(len(every)), again + number):
                times[turn, again, number] = decode(every[turn], piece)
    least = 1e3 * np.median(times, axis=1).sum(axis=1) / len(text)
    return {name: {"ms": float(own), "ratio": float(own / least[0])} for name, own in zip(decoders, least, strict=True)}


def work_of(decoder: Any, text: Sequence[Sequence[str]]) -> list[int]:
    """Return what a search did."""
    work = np.zeros(len(decoder.WORK), np.int64)
    list(decoder.decode(as_inputs(text), engine=Threads(1), work=work))
    return work.tolist()


def measure(method: str, data: Path, place: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one method."""
    linear = model_of(method, data, place).decoder
    text, dev = ([words(line) for line in read_lines(data / name)] for name in ("test.de", "dev.de"))
    text = text[: options.sentences]
    decoders = {"linear": linear}
    for scope in SCOPES:
        decoders[scope] = with_trees(linear, dev[:200], scope, options.trees, options.leaves)
    figures: dict[str, Any] = {
        "method": method,
        "work": {name: work_of(decoder, text) for name, decoder in decoders.items()},
        "decoding": compare(decoders, text, options.repeat),
    }
    if method == "hiero":
        kept = {name: decoder.remembering() for name, decoder in decoders.items()}
        figures["search"] = compare(kept, text, options.repeat)
    return figures


def show(figures: dict[str, Any]) -> None:
    """Print the figures of one method."""
    print(f"\n{figures['method']}")
    for name, work in figures["work"].items():
        print(f"  work, {name:<8} {work}")
    for title in ("decoding", "search"):
        for name, times in figures.get(title, {}).items():
            bar = f"   bar {BARS[name]}" if name in BARS else ""
            print(f"  {title:<10}{name:<10}{times['ms']:8.3f} ms/sentence{times['ratio']:8.3f}{bar}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help=f"which models: {', '.join(METHODS)} (default: all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/multi30k")
    parser.add_argument("--work", type=Path, help="where models are made, and found again")
    parser.add_argument("--trees", type=int, default=25)
    parser.add_argument("--leaves", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=250, help="how many sentences of the test set")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="for machines")
    options = parser.parse_args()
    if unknown := set(options.methods) - set(METHODS):
        parser.error(f"no method {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    data = options.data / "data" / "multi30k" / "tok"
    if not data.is_dir():
        sys.exit(f"{data} is absent; name the folder that has data/multi30k with --data")
    with tempfile.TemporaryDirectory(prefix="camber-bench-") as temporary:
        place = options.work or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        results = []
        for method in options.methods or METHODS:
            results.append(measure(method, data, place, options))
            if not options.json:
                show(results[-1])
        if options.json:
            print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
