"""N-best lists over a training corpus, without having been trained on it: each fold by a model of the others.

    lists = fold_lists("train.de", "train.en", "lists.work", settings=settings, folds=FoldSettings(rounds=3))
    lists.write("train.jsonl.gz")

For every fold, everything is trained on the other folds alone: truecasers, alignment, language model, rules. All folds
are translated with the same weights, which are then fitted to the lists of all folds together; with these, all are
translated again, and what is new is added (nguyen2007, 4.2). Each training stage, each fold of each round and each fit
is a stage that runs once, so an interrupted call goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8
from camber.bend.kinds import KEEP, NONE
from camber.corpus import Vocabulary
from camber.corpus.cleaning import clean
from camber.corpus.splitting import Folds, split_into_folds
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, SettingsError, UnmovedError
from camber.features.weights import Weights
from camber.files import check_outputs, read_parallel, write_lines
from camber.metrics.bleu import BLEU
from camber.nbest.formats import AUTO
from camber.nbest.pieces import format_in_pieces
from camber.pipeline.fold_columns import FoldColumns, new_rows, writing_columns
from camber.pipeline.fold_lists import FoldLists, FoldRound, FoundInFold
from camber.pipeline.methods import METHODS, weighed
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stage, Stages
from camber.pipeline.training import Made, Training
from camber.progress import Watcher, log, result, step, watched
from camber.settings import Settings, setting
from camber.text.pipeline import TextPipeline
from camber.tune.dev_set import DevSet
from camber.tune.loop import FIXED, is_still, refitted
from camber.tune.tuners import TUNERS, make_tuner

Name = str | Path

#: what is written beside a list
REFERENCES, WEIGHTS, WORK = ".ref", ".weights.tsv", ".work"
#: sentences that are decoded and merged together: bounds memory, and is enough for some threads
_BLOCK = 1000


@dataclass(frozen=True)
class FoldSettings(Settings, group="Folds"):
    """How a corpus is cut, translated and merged into one list."""

    folds: int = setting(10, "parts of the corpus; each is translated by a model of the others", low=2, high=1000)
    rounds: int = setting(7, "largest number of times that all folds are translated", low=1, high=1000)
    nbest: int = setting(100, "candidates per sentence and round", low=2)
    tuner: str = setting("expected-bleu", "how the weights of all folds are fitted to all lists", choices=TUNERS)
    metric: str = setting(
        "bleu", "what they are fitted for: BLEU, or BLEU with a strict brevity penalty", choices=("bleu", "sbp")
    )
    step: float = setting(
        0.0, "how far to go from the old to the fitted weights (0: what suits the tuner)", low=0, high=1
    )
    fit_on: int = setting(
        2_000_000,
        "hypotheses that weights are fitted to, at most: of longer lists, those of sentences drawn at random (0: all)",
        low=0,
    )


@watched
def nbest_folds(
    source: Name,
    target: Name,
    out: Name,
    *,
    work: Name | None = None,
    nbest_format: str = AUTO,
    method: str = "phrase",
    settings: TrainSettings | None = None,
    folds: FoldSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    keep_work: bool = True,
    progress: Watcher | None = None,
) -> FoldLists:
    """Write the merged n-best list of a training corpus to `out`, and ``<out>.ref``, ``<out>.weights.tsv`` beside it.

    The references are the target lines, and the weights those that were fitted to the whole list. `work` is by default
    ``<out>.work``; without `keep_work`, it is removed at the end, and the result can only tell of rounds and weights.

    >>> camber.nbest_folds("train.de", "train.en", "train.jsonl.gz")                       # doctest: +SKIP
    """
    out = Path(out)
    beside = [Path(f"{out}{ending}") for ending in (REFERENCES, WEIGHTS)]
    format_in_pieces(out, nbest_format)
    check_outputs(out, *beside, inputs=(source, target))
    place = Path(f"{out}{WORK}") if work is None else Path(work)
    lists = fold_lists(source, target, place, method=method, settings=settings, folds=folds, seed=seed, engine=engine)
    write_lines(beside[0], lists.targets)
    lists.weights.write(beside[1])
    lists.write(out, nbest_format)
    log.info("%s: %s hypotheses of %s sentences", out, f"{lists.hypotheses:,}", f"{len(lists):,}")
    if not keep_work:
        _remove(place)
    return lists


@watched
def fold_lists(
    source: Name,
    target: Name,
    work: Name,
    *,
    method: str = "phrase",
    settings: TrainSettings | None = None,
    folds: FoldSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> FoldLists:
    """Translate every line of a corpus by models that were trained without its fold, and merge the lists of all rounds.

    The lists stay in the folder `work`, and the result reads them there. The same call gives the same lists on any
    engine, and runs only what was not run before.
    """
    settings, how = settings or TrainSettings(), folds or FoldSettings()
    if settings.tune.bend not in (KEEP, NONE):
        raise SettingsError(f"lists of folds have linear features; the bend {settings.tune.bend} makes no difference")
    weighed(METHODS.load(method))  # weights of all folds are fitted to the lists
    source, target, work = Path(source), Path(target), Path(work)
    sides = read_parallel(source, target)
    split = split_into_folds(sides[0], sides[1], how.folds, seed)
    log.info("%s", split)
    _warn_if_uneven(split, how.folds)
    with Stages(work) as stages:
        task = _Task(sides[0], sides[1], split, method, settings, how, stages, seed, engine)
        return task.run(source, target)


def _warn_if_uneven(split: Folds, folds: int) -> None:
    """Tell the user if equal lines hold so much together that it cannot be spread."""
    if split.largest * folds > 2 * len(split.numbers):
        log.warning(
            "%s of %s pairs hang together by equal lines and are one fold, whose model is trained on what is left; "
            "drop lines that are repeated so often", f"{split.largest:,}", f"{len(split.numbers):,}",
        )  # fmt: skip


def _remove(work: Path) -> None:
    """Remove what the stages made."""
    for folder in sorted(work.glob("fold-*")):
        with Stages(folder) as stages:
            stages.remove()
    with Stages(work) as stages:
        stages.remove()


@dataclass(frozen=True)
class _Fold:
    """A fold, and what was trained without it."""

    number: int  # from 1
    training: Training
    made: Made


@dataclass(frozen=True)
class _Task:
    """All that is asked for."""

    sources: list[str]
    targets: list[str]
    split: Folds
    method: str
    settings: TrainSettings
    how: FoldSettings
    stages: Stages
    seed: int
    engine: Engine

    def run(self, source: Path, target: Path) -> FoldLists:
        """Train all folds; then decode and fit, until nothing new appears."""
        folds = [self.train(number, source, target) for number in range(1, self.how.folds + 1)]
        decoded: list[list[Stage]] = [[] for _ in folds]
        rounds: list[FoldRound] = []
        weights: Weights | None = None
        while True:
            for fold, stages in zip(folds, decoded, strict=True):
                stages.append(self.decode(fold, weights, stages))
            lists = self.merged(folds, decoded, weights, rounds)
            rounds, weights = [*rounds, self.shown(lists)], lists.weights
            number, last = len(rounds), rounds[-1]
            result(
                "round", "round %d: %s %.2f, length ratio %.3f, %s hypotheses (%s new)",
                number, lists.metric.name.upper(), last.score, last.ratio, f"{last.hypotheses:,}", f"{last.new:,}",
                number=number, metric=lists.metric.name, score=last.score, length_ratio=last.ratio,
                hypotheses=last.hypotheses, new=last.new,
            )  # fmt: skip
            if number == 1 and len(lists.dropped):
                log.info("%s lines are left without a list: cleaning drops them", f"{len(lists.dropped):,}")
            fitted = weights if last.new == 0 else self.fit(replace(lists, rounds=rounds), decoded)
            free = np.array([name not in FIXED for name in lists.names])
            still = is_still(fitted.vector(lists.names), weights.vector(lists.names), free)
            if last.new == 0 or still or number == self.how.rounds:
                best = f"{lists.metric.signature(1)}|lists:{last.score:.2f}"
                signature = f"tuner:{self.how.tuner}|folds:{len(folds)}|rounds:{number}|nbest:{self.how.nbest}|{best}"
                return replace(lists, rounds=rounds, weights=Weights(fitted.values, signature))
            weights = fitted

    def train(self, number: int, source: Path, target: Path) -> _Fold:
        """Train on all lines that are not in a fold."""
        others = np.flatnonzero(self.split.numbers != number - 1)
        name = f"fold {number} of {self.how.folds}"
        log.info("%s", name)
        with step(name), Stages(self.stages.folder / f"fold-{number:02}") as stages:
            training = Training(METHODS.load(self.method), self.settings, stages, self.seed, self.engine)
            return _Fold(number, training, training.make(source, target, rows=others))

    def decode(self, fold: _Fold, weights: Weights | None, before: Sequence[Stage]) -> Stage:
        """Translate a fold, and keep what is new."""
        inputs = {
            "corpus": fold.made.corpus, "lm": fold.made.language, "rules": fold.made.rules, "fold": fold.number,
            "clean": self.settings.clean, "search": weighed(fold.training.method).search_settings(self.settings),
            "nbest": self.how.nbest, "metric": self.how.metric, "weights": weights and dict(weights.values),
            "before": list(before),
        }  # fmt: skip
        return self.stages.run(
            f"lists-{len(before) + 1:02}-{fold.number:02}",
            inputs,
            lambda folder: self.find(fold, weights, [FoldColumns.open(stage.folder) for stage in before], folder),
            code=("camber.decode", "camber.bend", "camber.metrics", "camber.nbest.merge", "camber.arrays.distinct",
                  "camber.pipeline.fold_columns", "camber.pipeline.folds"),
        )  # fmt: skip

    def find(self, fold: _Fold, weights: Weights | None, before: Sequence[FoldColumns], folder: Path) -> None:
        """Decode a fold block by block, and write the hypotheses that no earlier round had."""
        translator = fold.training.untuned(fold.made)
        held = np.flatnonzero(self.split.numbers == fold.number - 1)
        source = [translator.source_tokens(self.sources[line]) for line in held]
        target = [translator.text.target_tokens(self.targets[line], self.sources[line]) for line in held]
        kept, report = clean(source, target, self.settings.clean)
        if not len(kept):
            raise CamberError(f"fold {fold.number}: no pair is left after cleaning ({report}); check both files")
        source, target = [source[i] for i in kept], [target[i] for i in kept]
        words = (word for side in (source, target) for sentence in side for word in sentence)
        vocabulary = translator.decoder.target_vocabulary.extended(words)
        decoder = translator.decoder
        names, untuned = decoder.names, decoder.weights.tolist()
        if weights is not None:
            decoder = decoder.reweighted({name: weights[name] for name in names})
        facts: dict[str, Any] = {"names": names, "untuned": untuned}
        blocks = range(0, len(source), _BLOCK)
        with writing_columns(folder, facts) as columns, step("lists", len(source), "sentences") as work:
            sums: list[I8] = []
            for first in blocks:
                last = first + _BLOCK
                dev = DevSet(source[first:last], [target[first:last]], vocabulary, self.how.metric)
                hypotheses = decoder.decode_columns(dev.inputs, dev.vocabulary, self.how.nbest, self.engine)
                statistics = dev.statistics(hypotheses)
                sums.append(statistics[offsets_from(hypotheses.counts)[:-1]].sum(0))
                columns.add(hypotheses, statistics, new_rows(before, first, hypotheses))
                work.add(len(hypotheses.counts))
            facts |= {"statistics": len(sums[0]), "best": np.sum(sums, axis=0).tolist()}
        np.save(folder / "lines.npy", held[kept])
        vocabulary.save(folder / "words.txt")

    def merged(
        self, folds: Sequence[_Fold], decoded: Sequence[Sequence[Stage]], weights: Weights | None, rounds: Any
    ) -> FoldLists:
        """Open the lists of all folds; without weights, those that the decoders had."""
        found = []
        for fold, stages in zip(folds, decoded, strict=True):
            last = stages[-1].folder
            found.append(
                FoundInFold(
                    np.load(last / "lines.npy"),
                    TextPipeline.load(fold.made.corpus.folder / "text"),
                    Vocabulary.load(last / "words.txt"),
                    [FoldColumns.open(stage.folder) for stage in stages],
                )
            )
        if weights is None:
            untuned: dict[str, float] = {}  # indicators of words may differ between folds: all of them have a column
            for columns in (fold.rounds[0] for fold in found):
                untuned |= dict(zip(columns.names, columns.facts["untuned"], strict=True))
            weights = Weights(untuned)
        metric = BLEU(tokenize="none", strict=self.how.metric == "sbp")
        return FoldLists(self.sources, self.targets, self.split.numbers, found, metric, weights, rounds)

    def shown(self, lists: FoldLists) -> FoldRound:
        """Say what the last round showed."""
        last = [fold.rounds[-1] for fold in lists.folds]
        sums = np.sum([columns.facts["best"] for columns in last], axis=0)
        new = sum(int(columns.counts.sum()) for columns in last)
        score, ratio = float(lists.metric.score(sums)), float(sums[0] / max(1, sums[1]))
        return FoldRound(score, ratio, lists.hypotheses, new, lists.weights)

    def fit(self, lists: FoldLists, decoded: Sequence[Sequence[Stage]]) -> Weights:
        """Fit one set of weights to the lists of all folds."""
        how, number = self.how, len(lists.rounds)
        inputs = {
            "lists": [list(stages) for stages in decoded], "tuner": how.tuner, "metric": how.metric, "step": how.step,
            "fit_on": how.fit_on, "seed": self.seed, "weights": dict(lists.weights.values),
        }  # fmt: skip

        def fitted(folder: Path) -> None:
            lines = lists.drawn(how.fit_on, self.seed)
            if len(lines) < np.count_nonzero(lists.counts):
                log.info("fit: to the lists of %s sentences, drawn at random", f"{len(lines):,}")
            data, weights = lists.data(lines), lists.weights.vector(lists.names)
            try:
                tuner = make_tuner(how.tuner)
                weights = refitted(tuner, data, weights, how.step, seed=self.seed + number, engine=self.engine)
            except UnmovedError:
                if number == 1:
                    raise
            Weights.from_vector(lists.names, weights).write(folder / "weights.tsv")

        stage = self.stages.run(
            f"fit-{number:02}", inputs, fitted,
            code=("camber.tune", "camber.metrics", "camber.pipeline.fold_lists", "camber.pipeline.folds"),
        )  # fmt: skip
        return Weights.read(stage.folder / "weights.tsv", lists.names)
