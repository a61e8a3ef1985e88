"""Regressions of all target n-grams of a sentence: the lasso beside scikit-learn's and celer's, at an equal gap.

    python benchmarks/lasso.py [--data ../shared] [--sentences 20] [--peer-sentences 2]

Sentences of 10 to 20 words of a dev set (Multi30k de-en, tatoeba-fr-en), for each the 250 pairs that the usual way to
select chooses, vectors of 1- and 2-grams (weighted). The lasso is that of ‖y - X w‖² + λ ‖w‖₁ for every target n-gram,
to a duality gap of 1e-4 ‖y‖². The peers get the same matrix, sparse by columns, and half of that as `tol`, since their
objective is half of ours; scikit-learn gets all targets in one call, celer one after the other. The gaps that were
reached are computed anew here, for all in the same way. One thread, CPU time, after a first call that compiles; the
peers get the first sentences only, since they are slow.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from figures import note

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything loads a library with threads of its own

import numpy as np
import scipy.sparse

from camber.arrays.ragged import offsets_from
from camber.corpus import Bitext, Sentences
from camber.files import read_lines
from camber.regress.select.selectors import USUAL, make_selector
from camber.regress.sparse.collapse import collapse_sources, distinct_columns
from camber.regress.sparse.lasso import Lasso
from camber.regress.sparse.problem import Problem
from camber.regress.sparse.ridge import Ridge
from camber.regress.sparse.stagewise import Stagewise
from camber.regress.spectrum import Spectrum
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

COUNT, GAP = 250, 1e-4
PENALTIES = (0.3, 1.0, 3.0)
CORPORA = (("multi30k", "raw", "de", "en"), ("tatoeba-fr-en", "", "fr", "en"))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU-seconds of a call, and what it returned."""
    begin = time.process_time()
    outcome = call()
    return time.process_time() - begin, outcome


def problems_of(folder: Path, first: str, second: str, sentences: int) -> list[Problem]:
    """Return the problems of the first sentences of 10 to 20 words of the dev set."""
    sides = [read_lines(folder / f"train.{side}") for side in (first, second)]
    pipeline = TextPipeline.learn(TextSettings(source_lang=first, target_lang=second), *sides)
    splits = (pipeline.source_tokens, pipeline.target_tokens)
    bitext = Bitext.encode(*([split(line) for line in side] for split, side in zip(splits, sides, strict=True)))
    lines = [pipeline.source_tokens(line) for line in read_lines(folder / f"dev.{first}")]
    text = Sentences.encode([line for line in lines if 10 <= len(line) <= 20][:sentences], bitext.source.vocabulary)
    selector = make_selector(USUAL, bitext)

    def chosen(side: Sentences, pairs: Any) -> Sentences:
        parts = [side[int(pair)] for pair in pairs]
        return Sentences(np.concatenate(parts), offsets_from(map(len, parts)), side.vocabulary)

    problems = []
    for sentence in text:
        pairs = selector.select(sentence, COUNT)
        both = Bitext(chosen(bitext.source, pairs), chosen(bitext.target, pairs))
        problems.append(Problem.of(both, sentence, Spectrum(2, "weighted")))
    return problems


def matrices(problem: Problem) -> tuple[Any, Any]:
    """Return both sides as scipy's matrices, by columns."""
    return tuple(
        scipy.sparse.csr_matrix(
            (rows.values.astype(np.float64), rows.columns, rows.offsets), (len(rows), rows.width)
        ).tocsc()
        for rows in (problem.source, problem.target)
    )


def worst_gap(x: Any, y: Any, weights: Any, penalty: float) -> float:
    """Return the largest gap of all targets, relative to ‖y‖²; weights [targets, sources] are sparse."""
    wanted = y.toarray()
    residual = wanted - (x @ weights.T).toarray()
    steepest = 2 * np.abs(x.T @ residual).max(0)
    lengths, products = (residual**2).sum(0), (wanted * residual).sum(0)
    limit = penalty / np.maximum(steepest, 1e-300)
    scale = np.clip(products / np.maximum(lengths, 1e-300), -limit, limit)
    dual = 2 * scale * products - scale**2 * lengths
    primal = lengths + penalty * np.asarray(abs(weights).sum(1)).ravel()
    return float(((primal - dual) / (wanted**2).sum(0)).max())


def peer_weights(kind: Any, x: Any, y: Any, penalty: float) -> Any:
    """Fit all targets by a peer's class, in one call where it takes several, and return the weights of all."""
    if getattr(kind, "takes_many", False):
        model = kind(alpha=penalty / (2 * x.shape[0]), fit_intercept=False, tol=GAP / 2)
        return scipy.sparse.csr_matrix(model.fit(x, y.toarray()).coef_)
    rows = []
    for t in range(y.shape[1]):
        model = kind(alpha=penalty / (2 * x.shape[0]), fit_intercept=False, tol=GAP / 2)
        rows.append(scipy.sparse.csr_matrix(model.fit(x, y[:, [t]].toarray().ravel()).coef_))
    return scipy.sparse.vstack(rows).tocsr()


def peers() -> dict[str, Any]:
    """Return the peers that are installed."""
    found: dict[str, Any] = {}
    if find_spec("sklearn"):
        from sklearn.linear_model import Lasso as Theirs

        found["scikit-learn"] = lambda **settings: Theirs(max_iter=100_000, **settings)
        found["scikit-learn"].takes_many = True
    if find_spec("celer"):
        from celer import Lasso as Celers

        found["celer"] = lambda **settings: Celers(**settings)
    for name in {"scikit-learn", "celer"} - set(found):
        print(f"{name} is not installed (pip install {name}): no such peer in this run")
    return found


def lassos(problems: list[Problem], compared: int) -> None:
    """Print CPU time and gaps of the lasso, ours and theirs."""
    print(f"{'':34} {'CPU-s a sentence':>17} {'longest':>8} {'ratio':>7} {'largest gap':>12}")
    sides = [matrices(problem) for problem in problems[:compared]]
    for penalty in PENALTIES:
        lasso = Lasso(penalty=penalty, gap=GAP)
        times = [timed(lambda lasso=lasso, problem=problem: lasso.fits(problem)) for problem in problems]
        gaps = []
        for (x, y), (_, fits), problem in zip(sides, times, problems, strict=False):
            weights = fits.coefficients(np.arange(problem.source.width))
            sparse = scipy.sparse.csr_matrix(
                (weights.values, weights.sources, weights.offsets), (y.shape[1], x.shape[1])
            )
            gaps.append(worst_gap(x, y, sparse, penalty))
        seconds = [second for second, _ in times]
        print(
            f"{f'camber, λ = {penalty}':34} {np.mean(seconds):17.4f} {max(seconds):8.4f} {'':7} {max(gaps):12.1e}",
            flush=True,
        )
        own = float(np.mean(seconds[:compared]))
        for name, kind in peers().items():
            theirs = [timed(lambda case=(kind, x, y, penalty): peer_weights(*case)) for x, y in sides]
            mean = float(np.mean([second for second, _ in theirs]))
            gap = max(worst_gap(x, y, weights, penalty) for (x, y), (_, weights) in zip(sides, theirs, strict=True))
            longest = max(second for second, _ in theirs)
            told = f"{name}, λ = {penalty}, {compared} sentences"
            print(f"{told:34} {mean:17.4f} {longest:8.4f} {mean / own:7.1f} {gap:12.1e}", flush=True)
            note(f"λ = {penalty}, times as fast as {name}", mean / own)


def others(problems: list[Problem]) -> None:
    """Print CPU time of the other regressions."""
    for name, regressor in (
        ("fsr, 100 steps of 0.1", Stagewise(iterations=100, step=0.1)),
        ("fsr, 1,000 steps of 0.01", Stagewise(iterations=1000, step=0.01)),
        ("ridge", Ridge()),
    ):
        regressor.predict(problems[0])
        seconds = [timed(lambda one=regressor, problem=problem: one.predict(problem))[0] for problem in problems]
        print(f"{name:34} {np.mean(seconds):17.4f} {max(seconds):8.4f}", flush=True)
        note(f"{name}, CPU-s a sentence", float(np.mean(seconds)), more_is_better=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--peer-sentences", type=int, default=2)
    arguments = parser.parse_args()
    data = arguments.data / "data"
    warnings.filterwarnings("ignore")
    for name, place, first, second in CORPORA:
        folder = data / name / place
        if not folder.is_dir():
            sys.exit(f"{folder} is absent: give the folder that holds data/{name} with --data")
        problems = problems_of(folder, first, second, arguments.sentences)
        distinct = [(len(collapse_sources(p.source)), len(distinct_columns(p.target))) for p in problems]
        sizes = [(p.source.width, p.target.width) for p in problems]
        print(f"\n{name}, {first}→{second}: {len(problems)} sentences of 10 to 20 words, {COUNT} instances; n-grams:")
        print(
            "{:.0f} × {:.0f}".format(*np.mean(sizes, 0)),
            "distinct {:.0f} × {:.0f}".format(*np.mean(distinct, 0)),
            sep=", ",
        )
        Lasso().predict(problems[0])
        lassos(problems, arguments.peer_sentences)
        others(problems)


if __name__ == "__main__":
    main()
