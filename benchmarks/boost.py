"""Growing trees: CPU-seconds for 25 boosted regression trees, binning included, beside LightGBM on the same rows.

    python benchmarks/boost.py [--scale 1.0] [--trees 25] [--leaves 2,8] [--whole]

Two tables of random numbers: 5 million rows of 15 real features, and 1 million rows of 190 features of which 170 are
indicators that 2 % of the rows have. Targets are a sum of lines and conjunctions with noise. Both learners get float64
rows, one thread, at most 255 bins, squared errors, at least 20 rows in a leaf and a learning rate of 0.5; LightGBM gets
the second table also as a sparse matrix, its histograms by rows and by columns, and the quickest of all counts. What is
left of the variance of the targets must agree.

`--whole` boosts a list as large as toutanova2013's instead (12,000 sentences, 500 hypotheses, about 52 million parts,
190 features, 25 rounds on all cores) and prints time and memory; it takes some minutes and 8 GB.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from figures import note

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.bend.trees.grower import Grower
from camber.bend.trees.rows import Rows
from camber.engine import Threads
from camber.features.feature import CONTEXT, INDICATOR, NUMBER, RULE, Feature
from camber.features.parts import Parts
from camber.metrics import BLEU
from camber.tune.boost import Boost, PartsData
from camber.tune.data import TuningData

LEAST, RATE, BINS = 20, 0.5, 255


def real_table(rows: int, seed: int = 1) -> tuple[tuple[Feature, ...], Any, Any]:
    """Return features, values and targets of a table of real numbers."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 15))
    targets = 0.3 * values[:, 0] + ((values[:, 1] < 0.2) & (values[:, 2] > -0.3)) + np.abs(values[:, 3])
    return tuple(Feature(f"f{at}", NUMBER) for at in range(15)), values, targets + rng.normal(size=rows)


def sparse_table(rows: int, seed: int = 2) -> tuple[tuple[Feature, ...], Any, Any]:
    """Return features, values and targets of a table in which most features are rare indicators."""
    rng = np.random.default_rng(seed)
    values = np.zeros((rows, 190))
    values[:, :20] = rng.normal(size=(rows, 20))
    for column in range(20, 190):
        values[rng.integers(0, rows, rows // 50), column] = 1.0
    targets = 0.3 * values[:, 0] + ((values[:, 1] < 0.2) & (values[:, 2] > -0.3))
    targets += 2.0 * values[:, 30] - 2.0 * values[:, 40] * (values[:, 4] > 0.0)
    kinds = [NUMBER] * 20 + [INDICATOR] * 170
    return (
        tuple(Feature(f"f{at}", kind) for at, kind in enumerate(kinds)),
        values,
        targets + rng.normal(size=rows),
    )


def ours(features: tuple[Feature, ...], values: Any, targets: Any, trees: int, leaves: int) -> float:
    """Boost with Camber; return the share of the variance that is left."""
    rest = targets - targets.mean()
    before = rest.var()
    grower = Grower(Rows.of_dense(features, values, most=BINS), leaves, least=LEAST, engine=Threads(1))
    for _ in range(trees):
        grower.grow(rest).add_to(rest, -RATE)
    return float(rest.var() / before)


def lightgbm_with(lightgbm: Any, values: Any, targets: Any, trees: int, leaves: int, by: str) -> Callable[[], Any]:
    """Return a call that boosts with LightGBM and returns its model; `by`: how histograms are summed."""
    parameters = {
        "objective": "regression", "num_leaves": leaves, "learning_rate": RATE, "max_bin": BINS, "num_threads": 1,
        "min_data_in_leaf": LEAST, "min_sum_hessian_in_leaf": 0.0, "verbosity": -1, by: True,
    }  # fmt: skip

    def boost() -> Any:
        return lightgbm.train(parameters, lightgbm.Dataset(values, targets), num_boost_round=trees)

    return boost


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU-seconds of a call, and what it returned."""
    start = time.process_time()
    outcome = call()
    return time.process_time() - start, outcome


def compare(name: str, table: tuple[tuple[Feature, ...], Any, Any], trees: int, leaves: int, lightgbm: Any) -> None:
    """Measure both on one table and print a line."""
    features, values, targets = table
    own, left = timed(lambda: ours(features, values, targets, trees, leaves))
    line = f"{name:<34} {leaves} leaves: camber {own:6.2f} CPU-s, {left:.4f} of the variance left"
    if lightgbm is not None:
        import scipy.sparse

        shapes = [values]
        if any(feature.kind == INDICATOR for feature in features):
            shapes.append(scipy.sparse.csr_matrix(values))
        quickest, model = min(
            (
                timed(lightgbm_with(lightgbm, shape, targets, trees, leaves, by))
                for shape in shapes
                for by in ("force_col_wise", "force_row_wise")
            ),
            key=lambda outcome: outcome[0],
        )
        rest = targets - model.predict(values, num_threads=1)
        line += f" | LightGBM {quickest:6.2f}, {rest.var() / targets.var():.4f} | ratio {quickest / own:.2f}"
        note(f"{name}, {leaves} leaves, times as fast as LightGBM", quickest / own)
    print(line, flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--trees", type=int, default=25)
    parser.add_argument("--leaves", default="2,8")
    parser.add_argument("--whole", action="store_true", help="boost a list as large as the paper's instead")
    given = parser.parse_args()
    if given.whole:
        whole_list(given.scale, given.trees)
        return
    try:
        import lightgbm
    except ImportError:
        lightgbm = None
        print("LightGBM is absent (pip install 'camber[bench]'): no peer to compare with")
    for features, values, targets in (real_table(2000), sparse_table(2000)):  # compile first
        for leaves in (2, 8):
            ours(features, values, targets, 2, leaves)
    for name, make, rows in (
        ("5M rows, 15 real features", real_table, 5_000_000),
        ("1M rows, 190 features, 170 sparse", sparse_table, 1_000_000),
    ):
        table = make(int(given.scale * rows))
        for leaves in map(int, given.leaves.split(",")):
            compare(name, table, given.trees, leaves, lightgbm)


REAL_OF_RULES, REAL_IN_CONTEXT, INDICATORS, FIRED = 12, 8, 170, 2
RULES, OPTIONS, SIZE, LONGEST = 300_000, 800, 500, 13


def random_list(sentences: int) -> PartsData:
    """Return lists of 500 hypotheses of some 4 to 13 parts; a sentence has 800 distinct ones, a sixth of all."""
    rng = np.random.default_rng(1)
    kinds = [NUMBER] * REAL_OF_RULES + [INDICATOR] * INDICATORS
    features = [Feature(f"r{at}", kind, RULE) for at, kind in enumerate(kinds)]
    features += [Feature(f"c{at}", NUMBER, CONTEXT) for at in range(REAL_IN_CONTEXT)]
    table = np.zeros((RULES, len(kinds)))
    table[:, :REAL_OF_RULES] = rng.normal(size=(RULES, REAL_OF_RULES)).round(3)
    fired = rng.integers(0, INDICATORS, (RULES, FIRED))
    table[np.arange(RULES)[:, None], REAL_OF_RULES + fired] = 1.0
    hypotheses = sentences * SIZE
    part_offsets = offsets_from(rng.integers(4, LONGEST + 1, hypotheses))
    parts = int(part_offsets[-1])
    rows, context = np.empty(parts, np.int32), np.empty((parts, REAL_IN_CONTEXT))
    sums = np.empty((hypotheses, REAL_OF_RULES + REAL_IN_CONTEXT))
    columns, counts = np.empty(FIRED * parts, np.int32), np.empty(FIRED * parts, np.float32)
    offsets, filled = np.zeros(hypotheses + 1, np.int64), 0
    statistics = np.empty((hypotheses, 10))
    statistics[:, [0, 1, 6]], statistics[:, 7], statistics[:, 8], statistics[:, 9] = 20.0, 19.0, 18.0, 17.0
    for sentence in range(sentences):
        own = slice(sentence * SIZE, (sentence + 1) * SIZE)
        starts = part_offsets[own.start : own.stop + 1]
        there = slice(int(starts[0]), int(starts[-1]))
        option_rows = rng.integers(0, RULES, OPTIONS)
        option_context = rng.normal(size=(OPTIONS, REAL_IN_CONTEXT)).round(3)
        options = rng.integers(0, OPTIONS, there.stop - there.start)
        rows[there], context[there] = option_rows[options], option_context[options]
        inside = table[rows[there], :REAL_OF_RULES]
        sums[own] = np.add.reduceat(np.hstack([inside, context[there]]), starts[:-1] - starts[0])
        hit = (starts - starts[0]) * FIRED
        own_counts = Counts.gather(fired[rows[there]].ravel(), hit, INDICATORS)
        size = len(own_counts.columns)
        columns[filled : filled + size], counts[filled : filled + size] = own_counts.columns, own_counts.values
        offsets[own.start + 1 : own.stop + 1] = filled + own_counts.offsets[1:]
        filled += size
        bad = (inside[:, 0] < -0.5) & (context[there, 0] > 0.3)
        quality = (
            14.0 - np.add.reduceat(bad, starts[:-1] - starts[0]) + 0.2 * sums[own, 1] + 2.0 * rng.normal(size=SIZE)
        )
        for order in range(4):
            statistics[own, 2 + order] = np.clip(np.round(quality) - 2 * order, 0, 20 - order)
    names = tuple(f.name for f in features if f.kind == NUMBER) + tuple(f.name for f in features if f.kind == INDICATOR)
    sparse = Counts(INDICATORS, offsets, columns[:filled], counts[:filled])
    data = TuningData(names, sums, np.arange(0, hypotheses + 1, SIZE), statistics, BLEU("none"), counts=sparse)
    return PartsData(data, Parts(tuple(features), table, rows, context, rows), part_offsets)


def whole_list(scale: float, trees: int) -> None:
    """Boost a list of the size of the paper's, and print what that took."""
    settings = Boost(rounds=trees)
    settings.fit(small := random_list(4), np.zeros(len(small.data.names)), seed=1)  # compile first
    sentences = int(12_000 * scale)
    start = time.perf_counter()
    train = random_list(sentences)
    print(
        f"{sentences:,} sentences, {train.data.hypotheses:,} hypotheses, {len(train.parts):,} parts, "
        f"{len(train.parts.features)} features, made in {time.perf_counter() - start:.0f} s; "
        f"at most {peak():.2f} GB so far",
        flush=True,
    )
    start, used = time.perf_counter(), time.process_time()
    boosted = settings.fit(train, np.zeros(len(train.data.names)), seed=1)
    print(
        f"{len(boosted.forest)} trees on {len(train.same.firsts):,} distinct parts: "
        f"{time.perf_counter() - start:.0f} s, "
        f"{time.process_time() - used:.0f} CPU-s, at most {peak():.2f} GB; loss per pair "
        f"{boosted.rounds[0].objective:.4f} → {boosted.rounds[-1].objective:.4f}"
    )


def peak() -> float:
    """Return the most memory that this process had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
