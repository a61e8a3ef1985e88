"""Measure what re-ranking gains on lists of three engines, by cross-validation on sentences it had not seen.

    python benchmarks/rerank.py [--data ../shared] [--folds 5] [--tuners mert,pro,…] [--learners linear,mnr,…]

The peers in the same run: the engine's own order (1-best), the list sorted by the language model alone or by consensus
alone (minimum Bayes risk), and the oracle. The neural list has hardly any features of its own: it gets a language model
of tatoeba-fr-en/train.fr, made by our own estimation, and lengths; with and without consensus.

First comes the recipe of the README on that list, command by command, with no setting but the files: fitted to the
first half, applied to the second, which it has not seen.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import note

from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.lm.kneser_ney import estimate_arpa
from camber.lm.ngrams import NgramModel
from camber.metrics import BLEU
from camber.metrics.significance import paired_randomisation
from camber.nbest import NBest
from camber.rerank.features import text_features
from camber.rerank.learners import LEARNERS
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.settings import FeatureSettings
from camber.text.tokenise import Tokenizer
from camber.tune.tuners import TUNERS, takers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tuners", default=",".join(TUNERS))
    parser.add_argument("--learners", default="linear", help="of " + ", ".join(LEARNERS))
    parser.add_argument("--lists", default="", help="only those whose name has this in it")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    lists = arguments.data / "data" / "nbest"
    if not lists.is_dir():
        sys.exit(f"{lists} is absent: give the folder that holds data/nbest with --data")

    if arguments.lists in "recipe":
        recipe(lists / "t5-tatoeba-en-fr-pool", arguments.data / "data" / "tatoeba-fr-en" / "train.fr", arguments)
    folder = lists / "moses-europarl-100x100"
    measure("moses-europarl-100x100", NBest.read(folder / "nbest.moses"), [folder / "ref.en"], "none", arguments)
    folder = lists / "joshua-bn-en-hiero"
    references = [folder / f"ref.en.{number}" for number in range(4)]
    measure("joshua-bn-en-hiero", NBest.read(folder / "nbest.joshua"), references, "none", arguments)
    folder = lists / "t5-tatoeba-en-fr-pool"
    nbest, sources = NBest.read(folder / "nbest"), read_lines(folder / "src.en")
    lm = language_model(arguments.data / "data" / "tatoeba-fr-en" / "train.fr")
    more = {"lm": lm, "lm_language": "fr", "length": True}
    for consensus in (False, True):
        name = "t5-tatoeba-en-fr-pool + lm, length" + (", consensus" if consensus else "")
        measure(name, nbest, [folder / "ref.fr"], "13a", arguments, sources, more | {"consensus": consensus})


def recipe(folder: Path, text: Path, arguments: argparse.Namespace) -> None:
    """Run the README's commands on the two halves of a list."""
    lines, references = read_lines(folder / "nbest"), read_lines(folder / "ref.fr")
    half = len(references) // 2
    numbers = [int(line.split()[0]) for line in lines]
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        write_lines(here / "dev.nbest", [line for line, number in zip(lines, numbers, strict=True) if number < half])
        write_lines(here / "test.nbest", [line for line, number in zip(lines, numbers, strict=True) if number >= half])
        write_lines(here / "dev.fr", references[:half])
        write_lines(here / "test.fr", references[half:])
        write_lines(here / "own", NBest.read(here / "test.nbest").covered().best_texts())

        def camber(*words: str) -> str:
            print("  camber", *words)
            whole = [sys.executable, "-c", "import camber.cli; camber.cli.main()", *words]
            return subprocess.run(whole, cwd=here, check=True, stdout=subprocess.PIPE, text=True).stdout

        print(f"\nthe README's recipe, fitted to sentences 0 to {half - 1}, applied to {half} to {len(references) - 1}")
        camber("lm", "--text", str(text.resolve()), "--language", "fr", "--arpa", "fr.arpa")
        fitted = camber(
            "rerank", "fit", "--nbest", "dev.nbest", "--ref", "dev.fr", "--lm", "fr.arpa", "--lm-language", "fr",
            "--length", "--held-out", str(arguments.folds), "--model", "my-reranker", "--json",
        )  # fmt: skip
        camber("rerank", "apply", "my-reranker", "--nbest", "test.nbest", "--output", "test.out")
        own, best = json.loads(camber("score", "--ref", "test.fr", "own", "test.out", "--json"))
        report = json.loads(fitted)
    print(f"{'':26}{'1-best':>9}{'re-ranked':>10}{'p':>9}")
    held = report["held_out"]
    print(f"{'first half, held out':26}{report['one_best']:9.2f}{held['tuned']:10.2f}{held['p']:9.4f}")
    print(f"{'second half':26}{own['score']:9.2f}{best['score']:10.2f}{best['randomisation_p']:9.4f}", flush=True)
    note("the README's recipe, times the BLEU of the engine", best["score"] / own["score"])


def language_model(path: Path) -> NgramModel:
    with tempfile.TemporaryDirectory() as folder:
        estimate_arpa(path, f"{folder}/arpa", tokenise=Tokenizer("moses", "fr").tokenise)
        return NgramModel.read(f"{folder}/arpa")


def measure(name, nbest, paths, tokenize, arguments, sources=None, features=None) -> None:
    if arguments.lists not in name:
        return
    references = [read_lines(path) for path in paths]
    print(
        f"\n{name}: {len(nbest):,} sentences, {nbest.hypotheses:,} hypotheses, {len(nbest.names)} features of its own"
    )
    print(f"{'':26}{'training':>9}{'held out':>9}{'gain':>7}{'p':>9}{'changed':>9}{'CPU s':>7}")
    features = features or {}
    report = None
    ways = [(learner, tuner) for learner in arguments.learners.split(",") for tuner in arguments.tuners.split(",")]
    for learner, tuner in ways:
        if tuner not in takers(LEARNERS.load(learner).needs):
            continue
        before = time.process_time()
        reranker = Reranker(learner, tuner, tokenize=tokenize, engine=Threads(arguments.threads), **features)
        report = evaluate(reranker, nbest, references, sources, arguments.folds)
        seconds = time.process_time() - before
        held = report.held_out
        name = f"{learner}, {tuner}"
        print(
            f"{name:26}{report.tuned:9.2f}{held.tuned:9.2f}{held.difference:+7.2f}{held.p:9.4f}{held.changed:9,}"
            f"{seconds:7.1f}",
            flush=True,
        )
    print(f"{'1-best':26}{'':9}{report.one_best:9.2f}")
    bleu = BLEU(tokenize)
    rows = nbest.statistics(bleu, references)
    settings = FeatureSettings(consensus=True, lm_language=features.get("lm_language", ""))
    columns = text_features(nbest, settings, features.get("lm"))
    for column in ("lm", "consensus"):
        if column in columns:
            chosen, own = rows[nbest.best(columns[column])], rows[nbest.best()]
            score, p = float(bleu.score(chosen.sum(0))), paired_randomisation(bleu, own, chosen)
            print(f"{column + ' alone':26}{'':9}{score:9.2f}{score - report.one_best:+7.2f}{p:9.4f}")
    print(f"{'oracle':26}{'':9}{report.oracle:9.2f}{report.oracle - report.one_best:+7.2f}")
    print(f"{'anti-oracle':26}{'':9}{report.anti_oracle:9.2f}{report.anti_oracle - report.one_best:+7.2f}")


if __name__ == "__main__":
    main()
