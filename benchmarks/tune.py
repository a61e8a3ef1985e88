"""The inner optimisers on Moses' own n-best list: CPU-seconds and BLEU beside Moses' figures.

    python benchmarks/tune.py [--data ../shared] [--seeds 3] [--threads 1] [--skip-large] [--only-bins]

Moses cannot be installed with pip. Its figures were measured on another machine, see README.md beside this file, on the
same list with 14 weights; they are printed as they are. "Ten times" is here the same list ten times over, each copy
with some noise on the features (Moses' figures are for ten iterations' lists merged, 728,660 hypotheses).

With bins, tied by MNR, expected BLEU is to take at most twice PRO's CPU time: measured on 100-best translations of a
third of Multi30k's dev set, merged over three rounds, at three strengths.

The plain-Python twin of the line search (tests/naive/tuners.py) runs on the first sentences, as a peer in the same run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figures import note

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from naive import tuners  # noqa: E402

import camber  # noqa: E402
from camber.bend.neighbours import Regulariser  # noqa: E402
from camber.bend.settings import BendSettings  # noqa: E402
from camber.engine import Threads  # noqa: E402
from camber.metrics import BLEU  # noqa: E402
from camber.nbest import NBest  # noqa: E402
from camber.pipeline.settings import TrainSettings  # noqa: E402
from camber.pipeline.tune import dev_set  # noqa: E402
from camber.tune import ExpectedBleu, HeldBleu, Likelihood, Mert, Mira, Pro, TuningData  # noqa: E402
from camber.tune.bending import bent_decoder  # noqa: E402
from camber.tune.loop import merged  # noqa: E402
from camber.tune.mert import LineSearch  # noqa: E402

#: CPU-seconds and BLEU of Moses' programs (README.md beside this file): on the list, on ten lists.
MOSES: dict[str, tuple[float | None, float | None, float | None]] = {
    "Mert": (27.5, 40.88, 85.0),
    "Pro": (1.3, None, 2.3),
    "Mira": (0.22, 40.30, 1.16),
    "ExpectedBleu": (None, None, None),
    "HeldBleu": (None, None, None),
    "Likelihood": (None, None, None),
}

#: Moses' untuned weights, in the order of the list's features.
UNTUNED = np.array([0.3] * 6 + [0.3, 0.5, -1.0, 0.2] + [0.2] * 4)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU-seconds of a call, and what it gave."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def repeated(data: TuningData, times: int, noise: float = 0.01) -> TuningData:
    """Return the list `times` over, every copy but the first with noise relative to the features' spread."""
    rng = np.random.default_rng(1)
    spread = noise * data.scales()
    order = np.argsort(np.tile(data.owners, times), kind="stable")
    tables = [data.features]
    tables += [data.features + rng.standard_normal(data.features.shape) * spread for _ in range(times - 1)]
    return TuningData(
        data.names,
        np.concatenate(tables)[order],
        data.sentence_offsets * times,
        np.tile(data.statistics, (times, 1))[order],
        data.metric,
    )


def cell(value: float | None, form: str = "{:.2f}") -> str:
    return "-" if value is None else form.format(value)


def table(data: TuningData, seeds: int, threads: int, large: bool) -> None:
    print(
        f"\n{data.hypotheses:,} hypotheses of {len(data):,} sentences, {len(data.names)} weights, {threads} thread(s)"
    )
    print(f"  untuned {data.corpus_score(UNTUNED):.2f}, oracle {data.score_of(data.oracle()):.2f} BLEU\n")
    print(f"  {'':14} {'CPU-s':>7} {'BLEU, mean (lowest) of seeds':>29}   {'Moses elsewhere: CPU-s':>22} {'BLEU':>6}")
    for tuner in (Mert(), Pro(), Mira(), ExpectedBleu(), HeldBleu(), Likelihood()):
        name = type(tuner).__name__
        runs = [
            cpu(lambda t=tuner, s=s: t.fit(data, UNTUNED, seed=s, engine=Threads(threads))) for s in range(1, seeds + 1)
        ]  # type: ignore[misc]
        seconds = float(np.mean([run[0] for run in runs]))
        scores = [run[1].metric for run in runs]
        note(f"{name}, {'many' if large else 'few'} hypotheses, CPU-s", seconds, more_is_better=False)
        note(f"{name}, {'many' if large else 'few'} hypotheses, times a BLEU of the list", float(np.mean(scores)))
        small, bleu, big = MOSES[name]
        theirs = big if large else small
        reached = f"{np.mean(scores):.2f} ({min(scores):.2f})"
        print(f"  {name:14} {seconds:7.2f} {reached:>29}   {cell(theirs):>22} {cell(None if large else bleu):>6}")


def rprop_and_mert(data: TuningData, seeds: int) -> None:
    """Compare RProp on expected BLEU with MERT: nguyen2007 found it about 6 times faster, with equal BLEU."""

    def best(tuner: Any) -> tuple[float, float]:
        runs = [cpu(lambda s=s: tuner.fit(data, UNTUNED, seed=s, engine=Threads(1))) for s in range(1, seeds + 1)]  # type: ignore[misc]
        return min(run[0] for run in runs), float(np.mean([run[1].metric for run in runs]))

    seconds, bleu = best(ExpectedBleu())
    print(
        f"\n  RProp on expected BLEU: {seconds:.2f} CPU-s, {bleu:.2f} BLEU; the paper: about 6 times faster than MERT"
    )
    for told, mert in (
        ("20 starts, one of them by 50 steps of RProp", Mert()),
        ("from the given weights alone", Mert(restarts=1)),
    ):
        other, reached = best(mert)
        print(f"  MERT, {told}: {other:.2f} CPU-s, {reached:.2f} BLEU; ratio {other / seconds:.1f}")
        note(f"RProp, times as fast as MERT, {told}", other / seconds)


def line_searches(data: TuningData, sentences: int) -> None:
    """Compare one exact line search with the plain twin on the first sentences."""
    rows = int(data.sentence_offsets[sentences])
    small = TuningData(
        data.names,
        data.features[:rows],
        data.sentence_offsets[: sentences + 1],
        data.statistics[:rows],
        data.metric,
    )
    scores, slopes = small.scores(UNTUNED), small.columns[7]
    lists = small.sentence_offsets.tolist(), scores.tolist(), slopes.tolist(), small.statistics.tolist()
    search = LineSearch(small)
    slow, (reached, _) = cpu(lambda: tuners.line_search(*lists))
    quick, line = cpu(lambda: [search.along(scores, slopes) for _ in range(100)][-1])
    print(
        f"\n  one line search, {sentences} sentences, {rows:,} hypotheses: BLEU {line.quality:.4f}, twin {reached:.4f}"
    )
    print(f"  twin {slow:.2f} CPU-s, ours {quick / 100 * 1e3:.3f} ms: ratio {slow / (quick / 100):,.0f}")
    note("a line search, times as fast as the twin in plain Python", slow / (quick / 100))


def bins(text: Path, work: Path, strengths: tuple[float, ...] = (1e3, 1e5, 1e7)) -> None:
    """Compare the tuners of tied bins on the lists of an untuned phrase model and two rounds after it."""
    settings = TrainSettings.from_dict({"text": {"tokenizer": "none"}})
    model = camber.train(
        text / "train.de", text / "train.en", work / "m", held_out=0, tuned=False, settings=settings, engine=Threads(1)
    )
    source, target = ((text / f"dev.{side}").read_text("utf-8").splitlines()[::3] for side in ("de", "en"))
    dev = dev_set(model, source, [target])
    decoder = bent_decoder(model.decoder, dev.inputs, "mnr", BendSettings(bits=8))

    def tied(data: TuningData, beta: float) -> Regulariser | None:
        return decoder.bend.penalty(BendSettings(bits=8, beta=beta), [data.names[at] for at in data.free.tolist()])

    data, weights = None, decoder.weights
    for _ in range(3):
        if data is not None:
            weights = HeldBleu().fit(data, decoder.weights, seed=1, regulariser=tied(data, 1e5)).weights
        here = decoder.reweighted(dict(zip(decoder.names, weights.tolist(), strict=True)))
        found = here.decode_columns(dev.inputs, dev.vocabulary, 100, Threads(1))
        data, _ = merged(data, found, dev.statistics(found), decoder.names, dev.metric)
    assert data is not None
    print(f"\n  {data.bins:,} bins tied by MNR, {data.hypotheses:,} hypotheses of {len(data):,} sentences")
    print(f"  {'beta':>8} {'':14} {'CPU-s':>7} {'steps':>6} {'BLEU of the list':>17} {'of PRO CPU':>11}")
    for beta in strengths:
        first = None
        for tuner in (Pro(), ExpectedBleu(), HeldBleu()):
            seconds, tuned = cpu(
                lambda t=tuner, b=beta: t.fit(data, decoder.weights, seed=1, regulariser=tied(data, b))
            )  # type: ignore[misc]
            first = first or seconds
            print(
                f"  {beta:8g} {type(tuner).__name__:14} {seconds:7.2f} {tuned.info['steps']:6} {tuned.metric:17.2f}"
                f" {seconds / first:10.1f}×",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--skip-large", action="store_true", help="leave out the list that is ten times as long")
    parser.add_argument("--only-bins", action="store_true", help="measure nothing but tied bins")
    args = parser.parse_args()
    found = args.data / "anchors/moses/dev.untuned.nbest100.gz"
    text = args.data / "data/multi30k/tok/dev.en"
    if not found.exists() or not text.exists():
        parser.exit(1, f"no benchmark data in {args.data}: give --data a folder with data/ and anchors/\n")
    with tempfile.TemporaryDirectory(prefix="camber-bench-") as work:
        bins(text.parent, Path(work))
    if args.only_bins:
        return
    references = text.read_text("utf-8").splitlines()
    seconds, nbest = cpu(lambda: NBest.read(found, sentences=len(references)))
    BLEU("none").statistics(["a"], [["a"]])  # compile, outside the measurements
    making, data = cpu(lambda: TuningData.of(nbest, BLEU("none"), [references]))
    print(f"reading the list {seconds:.2f} CPU-s, statistics and columns {making:.2f} CPU-s")
    for tuner in (
        Mert(restarts=2),
        Pro(samples=10, steps=1),
        Mira(epochs=1),
        ExpectedBleu(steps=1),
        Likelihood(steps=1),
    ):
        tuner.fit(data, UNTUNED, seed=1)
    table(data, args.seeds, args.threads, large=False)
    if not args.skip_large:
        table(repeated(data, 10), 1, args.threads, large=True)
    rprop_and_mert(data, max(3, args.seeds))
    line_searches(data, 8)


if __name__ == "__main__":
    main()
