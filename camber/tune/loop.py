"""The loop: decode the dev set, merge the lists, fit weights, again, until nothing new appears.

dev = DevSet(tokens, [reference_tokens], decoder.target_vocabulary, "bleu")
outcome = tune_bent(decoder, dev, TuneSettings(tuner="mira"))
outcome.weights.write("weights.tsv")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8, AnyArray, Bools
from camber.bend.bend import Bend
from camber.bend.kinds import CHOICES, KEEP, settings_of
from camber.bend.neighbours import Regulariser
from camber.bend.settings import BENDS, BendSettings
from camber.decode.derivation import HypothesisColumns
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.errors import UnmovedError
from camber.features.weights import Weights
from camber.metrics.bleu import BLEU
from camber.metrics.metric import CLOSEST, REFERENCE_LENGTHS
from camber.nbest.merge import first_of_each
from camber.progress import log, result, step
from camber.settings import setting
from camber.tune.data import TuningData
from camber.tune.dev_set import DevSet
from camber.tune.tuner import HOME, SPARSE, Tuner
from camber.tune.tuners import TUNERS, make_tuner, refuse, tuner_settings

#: features that the loop leaves alone: an unknown word is passed through whatever its weight is
FIXED = ("unknown",)
#: stop when no weight changes by more than this share of the largest
STILL = 1e-4
#: how far (as the standard deviation of a logarithm) further replicas start from the model's weights
OFF = 0.1

#: sentences at a time whose equal hypotheses are looked for
_MERGED = 200


@dataclass(frozen=True)
class TuneSettings(BendSettings, group="Tuning"):
    """How weights are tuned on a dev set."""

    tuner: str = setting("blend", "how weights are fitted to the n-best lists", choices=TUNERS)
    tuner_options: str = setting(
        "", 'settings of the tuner\'s own, such as "held=3 l2=10"; an unknown one lists them all'
    )
    metric: str = setting(
        "bleu", "what to tune for: BLEU, or BLEU with a strict brevity penalty", choices=("bleu", "sbp")
    )
    reference_length: str = setting(
        CLOSEST, "which of several references the brevity penalty looks at", choices=REFERENCE_LENGTHS
    )
    iterations: int = setting(10, "largest number of times that the dev set is decoded", low=1)
    patience: int = setting(3, "stop when so many rounds brought nothing better (0: never)", low=0)
    nbest: int = setting(100, "candidates per sentence", low=2)
    bend: str = setting(
        KEEP,
        "response to the features of rules; none: a weight for each logarithm; raw: the same without logarithms; bins: "
        "a weight for every bin of values; overlap: bins that reach over their neighbours; lnr, mnr: bins tied to "
        "their neighbours, linearly or by any monotone curve; keep: as it is in the model",
        choices=CHOICES,
        group=BENDS,
    )
    cautious: bool = setting(
        True,
        "tune the classical model first, and go from it towards a bend only as far as held-out sentences of the dev "
        "set confirm",
        group=BENDS,
    )
    replicas: int = setting(1, "independent runs, whose weights are averaged", low=1)
    step: float = setting(
        0.0, "how far to go from the old to the fitted weights (0: what suits the tuner)", low=0, high=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tuner_options:
            self.make_tuner()  # what it does not know is an error now, not after the first decoding

    def make_tuner(self, **more: object) -> Tuner:
        """Make the tuner, with its own settings; `more` of them come first."""
        return make_tuner(self.tuner, **{**tuner_settings(self.tuner, self.tuner_options), **more})


#: the file of a model that tells the rounds of its tuning, for people and reports
ROUNDS = "rounds.tsv"


@dataclass(frozen=True)
class Round:
    """What one pass over the dev set showed."""

    score: float  # of the best hypotheses, decoded with the weights of this round
    ratio: float  # their length / the references'
    hypotheses: int  # in the merged list
    new: int  # of them new
    weights: F8
    spread: float  # of the scores of a sentence's hypotheses, by these weights


@dataclass(frozen=True)
class Replica:
    """One run of the loop: its rounds, and the best of them."""

    rounds: list[Round]

    @property
    def best(self) -> Round:
        """The round with the highest score on dev, the first among equals."""
        return max(self.rounds, key=lambda shown: shown.score)


@dataclass(frozen=True)
class Outcome:
    """Tuned weights, and how they came about."""

    weights: Weights
    replicas: list[Replica]
    decoder: LogLinear  # with these weights, and the bend that they belong to

    @property
    def scores(self) -> F8:
        """The dev score of every replica, float64[replicas]."""
        return np.array([replica.best.score for replica in self.replicas])

    def to_rows(self) -> list[str]:
        """Return the lines of `rounds.tsv`: every round of every replica, scores and length ratios exactly."""
        rows = [
            f"{replica}\t{number}\t{float(one.score)!r}\t{float(one.ratio)!r}\t{one.hypotheses}\t{one.new}"
            for replica, each in enumerate(self.replicas, 1)
            for number, one in enumerate(each.rounds, 1)
        ]
        return ["replica\tround\tscore\tratio\thypotheses\tnew", *rows]

    def __str__(self) -> str:
        mean = f"{self.scores.mean():.2f}"
        return (
            mean if len(self.scores) == 1 else f"{mean} ± {self.scores.std(ddof=1):.2f} ({len(self.scores)} replicas)"
        )


def tune_bent(
    decoder: LogLinear,
    dev: DevSet,
    settings: TuneSettings,
    seed: int = 1,
    engine: Engine = LOCAL,
    tuner: Tuner | None = None,
) -> Outcome:
    """Tune the weights of a decoder that is bent already, and remembers grammars perhaps.

    The first replica starts from the decoder's weights, further ones from weights a little off, each with a seed of its
    own; their best weights, each scaled to the same size, are averaged.
    """
    replicas = []
    for number in range(settings.replicas):
        if settings.replicas > 1:
            log.info("replica %d of %d", number + 1, settings.replicas)
        own_seed = seed + 1000 * number
        start = decoder.weights.copy()
        if number:
            start *= np.exp(OFF * np.random.default_rng(own_seed).standard_normal(len(start)))
        replicas.append(_replica(decoder, dev, settings, tuner, start, own_seed, engine))
    free = np.array([name not in FIXED for name in decoder.names])
    first = replicas[0].best
    points = [
        _alike(replica.best.weights, free, replica.best.spread, first.spread, first.weights) for replica in replicas
    ]
    signature = _signature(dev, settings, decoder.bend, replicas)
    weights = Weights.from_vector(decoder.names, np.mean(points, axis=0), signature=signature)
    outcome = Outcome(weights, replicas, decoder.reweighted(weights.values))
    log.info("tuned: %s on dev %s", dev.metric.name.upper(), outcome)
    return outcome


def _signature(dev: DevSet, settings: TuneSettings, bend: Bend, replicas: Sequence[Replica]) -> str:
    score = np.mean([replica.best.score for replica in replicas])
    applied = settings_of(bend.kind)
    known = {"beta": settings.strength(bend.kind), "gamma": settings.gamma}
    shape = "".join(f"|{name}:{value:g}" for name, value in known.items() if name in applied)
    own = f"({settings.tuner_options.replace(' ', ',')})" if settings.tuner_options else ""
    return (
        f"tuner:{settings.tuner}{own}|bend:{bend.kind}{shape}|nbest:{settings.nbest}|replicas:{len(replicas)}|"
        f"dev:{score:.2f}|" + dev.metric.signature(int(dev.reference_offsets[1]))
    )


def _alike(weights: F8, free: Bools, spread: float, like: float, others: F8) -> F8:
    """Scale the tuned weights so that scores, which vary by `spread`, vary by `like`: rankings stay.

    Those that are not free are taken from `others`.
    """
    return np.where(free, weights * (like / spread), others) if min(spread, like) > 0 else weights


def _replica(
    decoder: LogLinear,
    dev: DevSet,
    settings: TuneSettings,
    tuner: Tuner | None,
    start: F8,
    seed: int,
    engine: Engine,
) -> Replica:
    """Run the loop once."""
    tuner = tuner or settings.make_tuner()
    free = np.array([name not in FIXED for name in decoder.names])
    penalty = decoder.bend.penalty(settings, [name for name in decoder.names if name not in FIXED])
    check_bins(tuner, decoder.bend)
    weights, rounds = np.where(free, start, decoder.weights), []
    home = weights
    data: TuningData | None = None
    for number in range(1, settings.iterations + 1):
        here = decoder.reweighted(dict(zip(decoder.names, weights.tolist(), strict=True)))
        last = number == settings.iterations
        nbest = 1 if last and number > 1 else settings.nbest
        with step(f"round {number} of at most {settings.iterations}"):
            hypotheses = here.decode_columns(dev.inputs, dev.vocabulary, nbest, engine)
            statistics = dev.statistics(hypotheses)
            sums = statistics[offsets_from(hypotheses.counts)[:-1]].sum(0)
            data, new = merged(data, hypotheses, statistics, decoder.names, dev.metric)
        shown = Round(
            float(dev.metric.score(sums)), float(sums[0] / max(1, sums[1])), data.hypotheses, new, weights,
            data.spread(data.scores(weights)),
        )  # fmt: skip
        rounds.append(shown)
        result(
            "round", "tune %d: %s %.2f, length ratio %.3f, %s hypotheses (%s new)",
            number, dev.metric.name.upper(), shown.score, shown.ratio, f"{shown.hypotheses:,}", f"{new:,}",
            number=number, metric=dev.metric.name, score=shown.score, length_ratio=shown.ratio,
            hypotheses=shown.hypotheses, new=new,
        )  # fmt: skip
        best = max(range(number), key=lambda index: rounds[index].score)
        if (last and number > 1) or new == 0 or number - 1 - best >= (settings.patience or number):
            break
        try:
            with step(f"fit to {shown.hypotheses:,} hypotheses"):
                fitted = refitted(
                    tuner, data, weights, settings.step, seed=seed + number, engine=engine, penalty=penalty, home=home
                )
        except UnmovedError:
            if number == 1:
                raise
            break  # the weights are as good for the merged list as any the tuner tried
        if is_still(fitted, weights, free):
            break
        weights = fitted
    return Replica(rounds)


def check_bins(tuner: Tuner, bend: Bend) -> None:
    """Refuse a tuner that cannot fit as many weights as bins have."""
    if bend.width and SPARSE not in tuner.takes:
        raise refuse(tuner, [SPARSE], f"the {bend.width:,} weights of a bent model")


def refitted(
    tuner: Tuner,
    data: TuningData,
    weights: F8,
    step: float = 0.0,
    *,
    seed: int,
    engine: Engine = LOCAL,
    penalty: Regulariser | None = None,
    home: F8 | None = None,
) -> F8:
    """Return weights on the way from those of a round to what suits its merged list: as far as `step` (0: the tuner's).

    A tuner that takes `HOME` starts from those that tuning began with, `home`, if they are known.
    A tuner that goes part of the way has its weights scaled first, so that scores vary by them as they did.
    """
    step = step or tuner.step
    start = weights if home is None or HOME not in tuner.takes else home
    fitted = tuner.fit(data, start, seed=seed, engine=engine, regulariser=penalty).weights
    if step >= 1:
        return fitted
    spread, like = (data.spread(data.scores(vector)) for vector in (fitted, weights))
    return (1 - step) * weights + step * _alike(fitted, ~data.fixed, spread, like, weights)


def is_still(fitted: F8, weights: F8, free: Bools) -> bool:
    """Say whether no free weight changed by anything that matters."""
    return bool(np.abs(fitted - weights)[free].max() < STILL * np.abs(weights[free]).max())


class _Side(NamedTuple):
    """Hypotheses that are merged with others."""

    offsets: I8  # [sentences + 1]
    features: F8
    statistics: AnyArray
    bins: Counts | None
    marks: F8  # two numbers for the bins of each, if there are any

    @classmethod
    def of(cls, offsets: I8, features: F8, statistics: AnyArray, bins: Counts | None) -> _Side:
        marks = np.zeros((len(features), 0)) if bins is None else bins.fingerprints()
        return cls(offsets, features, statistics, bins, marks)


def merged(
    data: TuningData | None,
    hypotheses: HypothesisColumns,
    statistics: I8,
    names: Sequence[str],
    metric: BLEU,
) -> tuple[TuningData, int]:
    """Add hypotheses to a list, but none that is there with the same features and statistics; also say how many.

    Equal ones are looked for among some sentences at a time: with many features, a list is large enough once.
    """
    sides = [_Side.of(offsets_from(hypotheses.counts), hypotheses.features, statistics, hypotheses.bins)]
    if data is not None:
        if data.names != tuple(names):
            raise ValueError(f"a list of the features {data.names} is not merged with one of {tuple(names)}")
        data.forget()
        sides.insert(0, _Side.of(data.sentence_offsets, data.features, data.statistics, data.counts))
    firsts = offsets_from([len(side.features) for side in sides])  # the numbers of their rows, side after side
    orders, counts = [], np.zeros(len(hypotheses.counts), np.int64)
    for first in range(0, len(counts), _MERGED):
        last = min(first + _MERGED, len(counts))
        here = [slice(side.offsets[first], side.offsets[last]) for side in sides]
        owners = np.concatenate([owners_of(side.offsets[first : last + 1]) for side in sides])
        found = [
            (side.statistics[own], side.features[own], side.marks[own]) for side, own in zip(sides, here, strict=True)
        ]
        order = first_of_each(owners, *(np.concatenate(column) for column in zip(*found, strict=True)))
        rows = np.concatenate([np.arange(own.start, own.stop) + at for own, at in zip(here, firsts, strict=False)])
        orders.append(rows[order])
        counts[first:last] = np.bincount(owners[order], minlength=last - first)
    every = np.concatenate([*orders, np.zeros(0, np.int64)])
    features = np.empty((len(every), hypotheses.features.shape[1]))
    at = 0
    for order in orders:
        for side, low, high in zip(sides, firsts, firsts[1:], strict=False):
            own = (order >= low) & (order < high)
            features[at : at + len(order)][own] = side.features[order[own] - low]
        at += len(order)
    bins = None
    if hypotheses.bins is not None:
        bins = Counts.join([side.bins for side in sides if side.bins is not None], hypotheses.bins.width).take(every)
    fixed = np.array([name in FIXED for name in names])
    kept = np.concatenate([side.statistics for side in sides])[every]
    result = TuningData(tuple(names), features, offsets_from(counts), kept, metric, fixed, counts=bins)
    return result, result.hypotheses - (0 if data is None else data.hypotheses)
