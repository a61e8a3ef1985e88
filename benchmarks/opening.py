#!/usr/bin/env python3
"""What it costs to check, when a model is opened, all that kernels index by.

    python benchmarks/opening.py [--data ../shared] [--corpora multi30k tatoeba-fr-en] [--models FOLDER …]

Models are trained on Multi30k (29,000 pairs) and Tatoeba (158,000 pairs), untuned, or are given. Each is opened as it
is and with the checks left out, in turn; CPU seconds of one thread, the least of several, from files that the operating
system has in memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from camber.arrays import checked as noted
from camber.lm.ngrams import NgramModel
from camber.model.translator import load
from camber.pipeline.train import train
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.store import RuleStore

#: what is left out, and what may take most of the time
CHECKS = ((RuleStore, "_check"), (CorpusIndex, "_check_arrays"), (NgramModel, "_check"))
CORPORA = {"multi30k": ("data/multi30k/tok", "de", "en"), "tatoeba-fr-en": ("data/tatoeba-fr-en", "fr", "en")}


@contextmanager
def unchecked() -> Iterator[None]:
    """Leave the checks out."""
    with ExitStack() as stack:
        for owner, name in CHECKS:
            stack.enter_context(patch.object(owner, name, lambda *arguments: None))
        yield


def seconds(model: Path) -> float:
    """Return the CPU seconds of opening a model once."""
    start = time.process_time()
    load(model)
    return time.process_time() - start


def measure(model: Path, times: int) -> None:
    """Print what opening a model takes, with and without checks."""
    load(model)  # compiles, and brings the files into memory
    checked, plain = [], []
    for _ in range(times):
        with patch.object(noted, "LEAST", 1 << 62):  # large files are not checked twice otherwise
            checked.append(seconds(model))
        with unchecked():
            plain.append(seconds(model))
    size = sum(path.stat().st_size for path in model.rglob("*") if path.is_file())
    more = min(checked) - min(plain)
    print(
        f"{model.name:<28}{size / 1e6:8.1f} MB  opened in {1000 * min(checked):6.1f} ms, without checks "
        f"{1000 * min(plain):6.1f} ms: {1000 * more:5.1f} ms more",
        flush=True,
    )


def main() -> None:
    """Measure all models."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--corpora", nargs="*", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--methods", nargs="*", default=["phrase", "hiero"])
    parser.add_argument("--models", nargs="*", type=Path, default=[])
    parser.add_argument("--times", type=int, default=9)
    options = parser.parse_args()
    for model in options.models:
        measure(model, options.times)
    if options.models:
        return
    with tempfile.TemporaryDirectory() as folder:
        for corpus in options.corpora:
            place, *languages = CORPORA[corpus]
            files = [options.data / place / f"train.{language}" for language in languages]
            if not files[0].exists():
                sys.exit(f"no {files[0]}; give the folder of the data with --data")
            for method in options.methods:
                model = Path(folder) / f"{corpus}-{method}"
                train(*files, model, method=method, tuned=False, keep_work=False)
                measure(model, options.times)


if __name__ == "__main__":
    main()
