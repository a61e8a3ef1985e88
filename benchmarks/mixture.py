"""Gaussian mixtures: EM beside scikit-learn, nearest kernels beside faiss, and the posteriors of a great many kernels.

    python benchmarks/mixture.py [--scale 1.0] [--whole]

Points are made up: sentences lie along a few directions of a space of 11 features, hypotheses of each close together.
EM is timed where splitting has arrived at so many kernels, with two rounds after each split. scikit-learn's
GaussianMixture (diagonal covariances) starts from the same; its round is a third of what a fit of four takes longer
than a fit of one. The first round is printed, too: all that is done for one alone, with new memory. faiss is
asked with several numbers of lists and probes, and the quickest that finds at least 99.9 % of the 16 nearest kernels
counts; ours finds all.

One thread, CPU-seconds, each measurement in a process of its own, whose peak memory is that of all it did. `--whole`
adds the posteriors of 1 million points under 300,000 kernels, which takes minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from figures import note

from camber.bend.mixtures.em import EmSettings, fit_mixture, maximise
from camber.bend.mixtures.expectation import Cloud, expect
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.nearest import Neighbours
from camber.engine import Threads

FEATURES, LIST, NEAREST, RECALL = 11, 35, 16, 0.999
ONE = Threads(1)


def hypotheses(count: int, size: int = LIST, seed: int = 1) -> Any:
    """Return features of hypotheses in lists of some size, float64[count, 11], each with mean 0 and variance 1."""
    rng = np.random.default_rng(seed)
    lists = -(-count // size)
    strengths = np.array([1.5, 1.0, 0.7, 0.5])
    centres = (strengths * rng.normal(size=(lists, 4))) @ rng.normal(size=(4, FEATURES))
    centres += 0.4 * rng.normal(size=centres.shape)
    inside = 0.25 * rng.normal(size=(count, 5)) @ rng.normal(size=(5, FEATURES))
    points = np.repeat(centres, size, axis=0)[:count] + inside + 0.1 * rng.normal(size=(count, FEATURES))
    return (points - points.mean(0)) / points.std(0)


def start(points: Any, kernels: int) -> Mixture:
    """Return what splitting begins its last rounds with: as many kernels as asked for, trained a little."""
    return fit_mixture(points, kernels, EmSettings(iterations=2), engine=ONE).mixture


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU-seconds of a call, and what it returned."""
    begin = time.process_time()
    outcome = call()
    return time.process_time() - begin, outcome


def peak() -> float:
    """Return the most memory that this process had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def em_ours(count: int, kernels: int) -> tuple[float, float, float, float]:
    """Return CPU-seconds of a round, memory in GB, a point's log likelihood in the third, CPU-seconds of a first."""
    points = hypotheses(count)
    mixture, floors = start(points, kernels), np.full(FEATURES, 1e-3)
    first = timed(lambda: maximise(mixture, expect(mixture, points, engine=ONE), floors))[0]
    cloud = Cloud.of(points)
    for _ in range(2):
        mixture = maximise(mixture, expect(mixture, cloud, engine=ONE), floors)

    def one_round() -> float:
        sums = expect(mixture, cloud, engine=ONE)
        maximise(mixture, sums, floors)
        return sums.log_likelihood / count

    seconds, likelihood = min(timed(one_round) for _ in range(3))
    return seconds, peak(), likelihood, first


def em_peer(count: int, kernels: int) -> tuple[float, float, float, float]:
    """Return the same of scikit-learn."""
    import warnings

    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore")  # that so few rounds are no convergence
    points = hypotheses(count)
    mixture = start(points, kernels)

    def fit(rounds: int) -> Any:
        return GaussianMixture(
            kernels,
            covariance_type="diag",
            tol=0.0,
            reg_covar=1e-3,
            max_iter=rounds,
            init_params="random",
            means_init=mixture.means,
            precisions_init=1.0 / mixture.variances,
            weights_init=np.exp(mixture.log_priors),
        ).fit(points)

    first = timed(lambda: fit(1))[0]
    one = timed(lambda: fit(1))[0]
    four = timed(lambda: fit(4))[0]
    return (four - one) / 3.0, peak(), float(fit(3).lower_bound_), first


def kernels_and_queries(kernels: int, queries: int) -> tuple[Any, Any]:
    """Return points as perceptron kernels are, two for each sentence, and others."""
    points = hypotheses(kernels + queries, size=2)
    return points[:kernels], points[kernels:]


def nearest_ours(kernels: int, queries: int) -> tuple[float, float, Any]:
    """Return CPU-seconds, memory, and the kernels that were found."""
    means, asked = kernels_and_queries(kernels, queries)
    near = Neighbours.of(means)
    near.nearest(asked[:10], NEAREST, engine=ONE)
    seconds, found = min(
        (timed(lambda: near.nearest(asked, NEAREST, engine=ONE)[1]) for _ in range(3)), key=lambda run: run[0]
    )
    return seconds, peak(), found


def nearest_peer(kernels: int, queries: int, lists: int) -> list[tuple[float, float, int, Any]]:
    """Return CPU-seconds, memory, probes and kernels found of faiss with so many lists, for several probes."""
    import faiss

    faiss.omp_set_num_threads(1)
    means, asked = (part.astype(np.float32) for part in kernels_and_queries(kernels, queries))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(FEATURES), FEATURES, lists)
    index.train(means)
    index.add(means)
    runs = []
    for probes in (8, 16, 32, 64, 128):
        index.nprobe = probes
        seconds, found = min((timed(lambda: index.search(asked, NEAREST)[1]) for _ in range(3)), key=lambda run: run[0])
        runs.append((seconds, peak(), probes, found))
    return runs


def posteriors(count: int, kernels: int, bandwidth: float) -> tuple[float, float, float, float]:
    """Return CPU-seconds, memory, and posteriors kept and mass dropped of a point."""
    points = hypotheses(count)
    means = points[np.sort(np.random.default_rng(3).choice(count, min(kernels, count), replace=False))]
    if kernels > count:
        means = hypotheses(kernels, size=2, seed=4)
    mixture = Mixture(means, np.ones((1, FEATURES)), np.full(kernels, -np.log(kernels)), np.arange(kernels) // 2)
    owners = np.arange(count) // LIST
    mixture.posteriors(points[:20], bandwidth=bandwidth, owners=owners[:20], engine=ONE)
    seconds, kept = timed(lambda: mixture.posteriors(points, bandwidth=bandwidth, owners=owners, engine=ONE))
    return seconds, peak(), len(kept.sparse.columns) / count, float(kept.dropped.mean())


def alone(task: Callable[..., Any], *given: Any) -> Any:
    """Run a task in a new process, in which libraries are told to use one thread before they are loaded."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(task, *given).result()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the points")
    parser.add_argument("--whole", action="store_true", help="also 1M points under 300,000 kernels")
    given = parser.parse_args()
    peers = {name: find_spec(name) is not None for name in ("sklearn", "faiss")}
    for name, there in peers.items():
        if not there:
            print(f"{name} is absent (pip install 'camber[bench]'): no peer to compare with")
    alone(em_ours, 2000, 64)  # compile first
    for count, kernels in ((50_000, 1024), (200_000, 4096), (200_000, 16_384)):
        count = int(given.scale * count)
        own, memory, likelihood, own_first = alone(em_ours, count, kernels)
        line = f"EM, a round, {count:,} points × {kernels:,} kernels: "
        line += f"camber {own:.3f} CPU-s (first {own_first:.3f}), {memory:.2f} GB"
        if peers["sklearn"] and kernels == 1024:
            other, memory, other_likelihood, first = alone(em_peer, count, kernels)
            line += f" | scikit-learn {other:.2f} CPU-s (first {first:.2f}), {memory:.2f} GB"
            line += f" | ratio {other / own:.1f} (first {first / own_first:.1f})"
            line += f" | log likelihood {likelihood:.4f}, {other_likelihood:.4f}"
            note("a round of EM, times as fast as scikit-learn", other / own)
        print(line, flush=True)
    queries = int(given.scale * 10_000)
    own, memory, found = alone(nearest_ours, 300_000, queries)
    line = f"{NEAREST} nearest of 300,000 kernels, {queries:,} queries: camber {own:.3f} CPU-s, {memory:.2f} GB, exact"
    if peers["faiss"]:
        runs = [(*run, lists) for lists in (512, 1024, 2048) for run in alone(nearest_peer, 300_000, queries, lists)]
        rated = [
            (seconds, memory, recall(which, found), probes, lists) for seconds, memory, probes, which, lists in runs
        ]
        seconds, memory, share, probes, lists = min(run for run in rated if run[2] >= RECALL)
        line += f" | faiss IVF{lists}, {probes} probes {seconds:.3f} CPU-s, {memory:.2f} GB, recall {share:.4f}"
        line += f" | ratio {seconds / own:.2f}"
        note("nearest kernels, times as fast as faiss", seconds / own)
    print(line, flush=True)
    sizes = [(100_000, 60_000)] + [(1_000_000, 300_000)] * given.whole
    for count, kernels in sizes:
        count = int(given.scale * count)
        for bandwidth in (0.1, 0.25):
            own, memory, kept, dropped = alone(posteriors, count, kernels, bandwidth)
            print(
                f"posteriors, {count:,} points × {kernels:,} kernels, bandwidth {bandwidth}: camber {own:.1f} CPU-s, "
                f"{memory:.2f} GB, {kept:.1f} kept, {dropped:.4f} of the mass dropped",
                flush=True,
            )


def recall(found: Any, exact: Any) -> float:
    """Return the share of the nearest that were found."""
    return float(np.mean([len({*some} & {*all_}) / NEAREST for some, all_ in zip(found, exact, strict=True)]))


if __name__ == "__main__":
    main()
