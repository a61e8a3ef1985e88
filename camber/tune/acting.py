"""See trees at work: rank lists with all of them, and with each of them left out (:mod:`camber.bend.trees.acts`).

A tree adds its sum over the parts of a hypothesis, times its weight. To leave it out is to subtract that, so one pass
over a list tells of all trees. What a search would find without a tree is another question: only lists are ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8
from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.forest import Forest
from camber.bend.weighing import Weighing
from camber.corpus import Sentences
from camber.decode.derivation import parts_of
from camber.engine import LOCAL, Engine
from camber.progress import log
from camber.tune.boost import PartsData
from camber.tune.data import TuningData
from camber.tune.dev_set import DevSet

#: examples of each tree
EXAMPLES = 3
#: sentences at a time
CHUNK = 100
#: a difference of scores below this share of them is rounding
ROUNDING = 1e-9


class Readable(Protocol):
    """What makes texts for people of the sentences of a set and of their translations."""

    def source(self, sentence: int) -> str:
        """Return a sentence."""

    def finished(self, sentence: int, words: Any) -> str:
        """Return a translation of it, given as the lists have it."""


class Change(NamedTuple):
    """A sentence of some lists on which a tree acted, and the hypotheses that are best with and without it."""

    sentence: int
    with_tree: int
    without: int
    better: float  # how much the metric of the sentence is better with it


class Watch:
    """Counts what each tree does to the lists of a set, which come in pieces, in their order."""

    def __init__(self, forest: Forest, weights: F8, sentences: int, readable: Readable) -> None:
        """Watch trees with their weights float64[trees] rank the lists of so many sentences."""
        self.forest, self.weights, self.sentences, self.readable = forest, weights, sentences, readable
        self._seen = 0  # sentences
        self._ends = [np.zeros(tree.leaves, np.int64) for tree in forest.trees]  # parts that ended in each leaf
        self._counts = np.zeros((len(forest), 3), np.int64)  # sentences: changed, better, worse
        # the number of sentences is the seed: the same set has the same examples, however it is cut
        self._random = np.random.default_rng(sentences)
        self._drawn: list[list[tuple[float, Example]]] = [[] for _ in forest.trees]

    def add(self, lists: PartsData, translations: Sequence[Any]) -> None:
        """Look at the next lists, whose only linear feature is the score by the whole model: translations [hypotheses].

        Translations may be of any type that can be compared, and that the texts for people can be made from.
        """
        scores = lists.data.features[:, 0]
        chosen = lists.data.best_by(scores)
        quality = lists.data.sentence_scores()
        lots = self._random.random((len(lists.data), len(self.forest)))
        for tree, weight in enumerate(self.weights.tolist()):
            alone = self.forest.take([tree])
            ends = alone.leaves_of_parts(lists.distinct)[:, 0]
            np.add.at(self._ends[tree], ends, lists.same.counts)
            without = scores - weight * lists.sums(alone.values_of_parts(lists.distinct)[:, 0])
            best = lists.data.best_by(without)
            there = np.flatnonzero(best >= 0)
            lead = without[best[there]] - without[chosen[there]]
            acted = there[lead > ROUNDING * np.maximum(1.0, np.abs(scores[chosen[there]]))].tolist()
            changes = [
                Change(s, a, b, float(quality[a] - quality[b]))
                for s, a, b in zip(acted, chosen[acted].tolist(), best[acted].tolist(), strict=True)
                if translations[a] != translations[b]  # lists may have a text twice
            ]
            for change in changes:
                self._counts[tree] += (1, change.better > 0.0, change.better < 0.0)
            self._draw(tree, changes, lots[:, tree], translations)
        self._seen += len(lists.data)

    def _draw(self, tree: int, changes: Sequence[Change], lots: F8, translations: Sequence[Any]) -> None:
        """Keep the examples with the lowest lots."""
        first = sorted(changes, key=lambda change: lots[change.sentence])[:EXAMPLES]
        self._drawn[tree] += [(float(lots[change.sentence]), self._example(change, translations)) for change in first]
        self._drawn[tree] = sorted(self._drawn[tree])[:EXAMPLES]

    def _example(self, change: Change, translations: Sequence[Any]) -> Example:
        sentence = self._seen + change.sentence
        one, two = (
            self.readable.finished(sentence, translations[hypothesis])
            for hypothesis in (change.with_tree, change.without)
        )
        return Example(sentence + 1, self.readable.source(sentence), one, two, change.better)

    def acts(self) -> list[Acts]:
        """Return what each tree did; its examples are in the order of the sentences."""
        return [
            Acts(
                self._acted_on(tree),
                int(self._ends[tree].sum()),
                changed,
                self.sentences,
                better,
                worse,
                tuple(sorted(example for _, example in self._drawn[tree])),
            )
            for tree, (changed, better, worse) in enumerate(self._counts.tolist())
        ]

    def _acted_on(self, number: int) -> int:
        """Return how many parts got something else than what the most frequent leaf adds."""
        tree, ends = self.forest.trees[number], self._ends[number]
        usual = int(np.argmax(ends))  # the first of equals
        adds = np.column_stack([tree.constants, tree.coefficients]) * self.weights[number]
        return int(ends[(adds != adds[usual]).any(1)].sum())


def watched(decoder: Any, dev: DevSet, nbest: int, engine: Engine = LOCAL) -> Weighing:
    """Return the weighing of a tuned decoder, whose trees know what they do to its lists of a set."""
    weighing: Weighing = decoder.weighing
    by_name = weighing.by_name()
    trees = weighing.bend.trees(by_name)
    if not trees:
        return weighing
    forest: Forest = decoder.bend.forest
    watch = Watch(forest, np.array([tree.weight for tree in trees]), len(dev.inputs), dev)
    for first in range(0, len(dev.inputs), CHUNK):
        decoded = list(decoder.decode(dev.inputs[first : first + CHUNK], nbest, engine=engine))
        flat = [item for best in decoded for item in best]
        sizes = np.array([len(best) for best in decoded], np.int64)
        translations = [item.words for item in flat]
        owners = np.repeat(np.arange(first, first + len(decoded)), sizes)
        statistics = dev.statistics_of(Sentences.encode(translations, dev.vocabulary), owners)
        scores = np.array([item.score for item in flat]).reshape(-1, 1)
        data = TuningData(("score",), scores, offsets_from(sizes), statistics, dev.metric)
        watch.add(PartsData(data, *parts_of(decoder.inputs, flat)), translations)
    acts = watch.acts()
    log.info("trees: %d of %d change translations of dev", sum(one.sentences > 0 for one in acts), len(acts))
    return Weighing(decoder.bend.with_forest(forest.with_acts(acts)), by_name)
