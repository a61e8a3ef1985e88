"""Combine models: weights for what they agree upon, fitted to a dev set, and a directory that holds all of them.

combine_models(["phrases", "hiero"], "dev.de", "dev.en", "both")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8, I8
from camber.corpus.inputs import as_inputs
from camber.decode.consensus.grams import pair_bleu
from camber.decode.consensus.search import ConsensusSearch, Joined
from camber.decode.consensus.settings import ConsensusSettings
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.feature import names_of
from camber.features.weights import Weights
from camber.files import read_parallel
from camber.metrics.bleu import BLEU
from camber.model.combination import COMBINATION, TABLE, check_member, together, write_members
from camber.model.directory import ModelDirectory, check_place, write_model
from camber.model.translator import Translator, load
from camber.progress import Watcher, each, result, watched
from camber.settings import setting
from camber.tune.data import TuningData
from camber.tune.tuners import TUNERS, make_tuner, tuner_settings

#: how sharply scores tell hypotheses: what is tried, in units of the standard deviation of a list's scores
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)
#: what PRO is told: there are few lists, whose features are alike, and with less restraint it learns them by heart
PRO = "brevity=smoothed l2=100"
#: parts of the dev set that are held out one after the other to see whether fitted weights help
FOLDS = 2


@dataclass(frozen=True)
class CombineSettings(ConsensusSettings, group="Tuning"):
    """How models are combined."""

    tuner: str = setting("pro", "how weights are fitted to the joined lists", choices=TUNERS)
    tuner_options: str = setting("", f'settings of the tuner\'s own; of pro, without any, "{PRO}"')

    @property
    def own(self) -> dict[str, Any]:
        """The settings of the tuner's own."""
        return tuner_settings(self.tuner, self.tuner_options or (PRO if self.tuner == "pro" else ""))


@dataclass(frozen=True)
class Combined:
    """What came out: BLEU on dev, and the weights."""

    members: tuple[float, ...]  # of each model alone
    untuned: float  # all members alike, the best of the scales
    held_out: float  # weights fitted to one part of the dev set, seen on the other
    dev: float  # weights fitted to all of it, on itself; those of the untuned if they were no better
    fitted: bool  # whether fitted weights are kept
    weights: Weights
    scales: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**vars(self), "weights": self.weights.values}

    def __str__(self) -> str:
        alone = ", ".join(f"{score:.2f}" for score in self.members)
        kept = "fitted weights are kept" if self.fitted else "weights stay as they are untuned"
        return (
            f"BLEU on dev: {alone} alone, {self.untuned:.2f} together and untuned, {self.held_out:.2f} with weights "
            f"fitted to the other half; {kept} ({self.dev:.2f})"
        )


@watched
def combine_models(
    models: Sequence[str | Path],
    dev_source: str | Path,
    dev_target: Sequence[str | Path] | str | Path,
    out: str | Path,
    *,
    settings: CombineSettings | Mapping[str, Any] | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Combined:
    """Fit a combination of models to a dev set, and write it as the model `out`, whole or not at all.

    The scale of the posteriors is the best of some on dev, with all members alike; then weights of all features are
    fitted, and kept if they translate the half of dev better that they were not fitted to.

    >>> camber.combine_models(["phrases", "hiero"], "dev.de", "dev.en", "both").weights      # doctest: +SKIP
    """
    chosen = settings if isinstance(settings, CombineSettings) else CombineSettings.from_dict(dict(settings or {}))
    if len({Path(model).resolve() for model in models}) < len(models):
        raise CamberError("a model is named twice; a combination wants different ones")
    if Path(out).resolve() in [Path(model).resolve() for model in models]:
        raise CamberError(f"{out}: one of the models that are combined; choose another name for the combination")
    check_place(out, COMBINATION)
    make_tuner(chosen.tuner, **chosen.own)  # an unknown setting is told before anything is decoded
    directories = [ModelDirectory.open(model) for model in models]
    for directory in directories:
        check_member(directory)
    targets = [dev_target] if isinstance(dev_target, str | Path) else list(dev_target)
    source, *references = read_parallel(dev_source, *targets)
    own = ConsensusSettings.from_dict({name: getattr(chosen, name) for name in ConsensusSettings().to_dict()})
    translator = together([load(model) for model in models], own)
    result = combine(translator, source, references, chosen, seed=seed, engine=engine)
    recorded = {TABLE: {**own.to_dict(), "scales": list(result.scales)}, "combine": chosen.to_dict()}
    with write_model(out, COMBINATION, recorded) as draft:
        write_members(draft, directories, translator.memory)
        result.weights.write(draft.path("weights.tsv"))
    return result


def combine(
    translator: Translator[ConsensusSearch],
    source: Sequence[str],
    references: Sequence[Sequence[str]],
    settings: CombineSettings | None = None,
    *,
    seed: int = 1,
    engine: Engine = LOCAL,
) -> Combined:
    """Fit the weights of translators together to raw dev lines with one or more references each."""
    settings = settings or CombineSettings()
    search = translator.decoder
    inputs = as_inputs([translator.source_tokens(line) for line in source])
    lists = list(search.joined(inputs, engine=engine))
    dev = _Lists(lists, _statistics(translator, lists, source, references))
    deviations = np.array([dev.mean_deviation(m) for m in range(len(search.members))])
    start = np.array(list(search.weights.values()))
    untuned, scales, data = -1.0, np.zeros(0), None
    for scale, columns in zip(SCALES, dev.data(search, [scale / deviations for scale in SCALES]), strict=True):
        score = float(columns.corpus_score(start))
        result("scale", "scale %s: BLEU %.2f on dev, untuned", scale, score, scale=scale, score=score)
        if score > untuned:
            untuned, scales, data = score, scale / deviations, columns
    assert data is not None
    tuner = make_tuner(settings.tuner, **settings.own)

    def fit(part: TuningData) -> F8:
        return tuner.fit(part, start, seed=seed, engine=engine).weights

    sums = np.zeros(data.statistics.shape[1])
    places = np.arange(len(data))
    for fold in each(range(FOLDS), "held-out folds"):
        inside, outside = (_part(data, places[rows]) for rows in (places % FOLDS != fold, places % FOLDS == fold))
        sums += outside.sums_of(outside.one_best(fit(inside)))
    held_out = float(data.metric.score(sums))
    fitted = held_out > untuned
    weights = fit(data) if fitted else start
    return Combined(
        tuple(dev.alone(m) for m in range(len(search.members))),
        untuned,
        held_out,
        float(data.corpus_score(weights)),
        fitted,
        Weights.from_vector(
            names_of(search.inputs), weights, f"combine|tuner:{settings.tuner}" if fitted else "untuned"
        ),
        tuple(scales.tolist()),
    )


def _part(data: TuningData, sentences: I8) -> TuningData:
    """Return the columns of some sentences."""
    starts, counts = data.sentence_offsets[sentences], np.diff(data.sentence_offsets)[sentences]
    return data.take(places_of(starts, counts), offsets_from(counts))


class _Lists:
    """The joined lists of a dev set with the statistics of their hypotheses."""

    def __init__(self, lists: Sequence[Joined], statistics: I8) -> None:
        self.lists, self.statistics = lists, statistics
        self.offsets = offsets_from([len(joined.words) for joined in lists])
        self.metric = BLEU(tokenize="none")

    def mean_deviation(self, member: int) -> float:
        """Return how much scores of a member's lists vary: the mean of standard deviations, of lists of several."""
        columns = [joined.scores[:, member] for joined in self.lists]
        found = [np.std(column[~np.isnan(column)]) for column in columns if (~np.isnan(column)).sum() > 1]
        return float(np.mean(found)) if found and np.mean(found) > 0 else 1.0

    def alone(self, member: int) -> float:
        """Return BLEU of a member's best hypotheses."""
        rows = [
            at + int(np.nanargmax(joined.scores[:, member]))
            for at, joined in zip(self.offsets, self.lists, strict=False)
        ]
        return float(self.metric.score(self.statistics[rows].sum(0)))

    def data(self, search: ConsensusSearch, scales: Sequence[F8]) -> list[TuningData]:
        """Return the columns that weights are fitted to, for several scales of the posteriors."""
        tables: list[list[F8]] = [[] for _ in scales]
        for joined in self.lists:
            pairs = pair_bleu(joined.words)
            for own, some in zip(tables, scales, strict=True):
                own.append(np.nan_to_num(search.table(joined, some, pairs)))
        names = names_of(search.inputs)
        return [TuningData(names, np.concatenate(own), self.offsets, self.statistics, self.metric) for own in tables]


def _statistics(
    translator: Translator[ConsensusSearch],
    lists: Sequence[Joined],
    source: Sequence[str],
    references: Sequence[Sequence[str]],
) -> I8:
    """Return BLEU's statistics of all hypotheses, on the words that models see."""
    texts = [" ".join(item.words) for joined in lists for _, item in joined.derivations]
    owners = np.repeat(np.arange(len(lists)), [len(joined.words) for joined in lists])
    words = [
        [" ".join(translator.text.target_tokens(*pair)) for pair in zip(lines, source, strict=True)]
        for lines in references
    ]
    return BLEU(tokenize="none").statistics(texts, words, owners)
