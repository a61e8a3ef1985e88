"""What trees did is what the definition says, however lists are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import tree_acts as naive

from camber.arrays.ragged import offsets_from
from camber.bend.trees.acts import Acts
from camber.bend.trees.document import forest_to_json
from camber.bend.trees.forest import Forest
from camber.bend.trees.grower import Grower
from camber.bend.trees.rows import Rows
from camber.bend.trees.tree import Tree
from camber.features.feature import Feature
from camber.features.parts import Parts
from camber.metrics import BLEU
from camber.nbest import NBest
from camber.tune.acting import EXAMPLES, Watch
from camber.tune.boost import PartsData
from camber.tune.data import TuningData

FEATURES = (Feature("p", "probability", "rule"), Feature("n", "count", "rule"), Feature("lm", "number", "context"))
WORDS = ["a", "b", "c", "d"]


class Toy:
    """Random lists of parts, trees with weights, and what the model without trees makes of the hypotheses."""

    def __init__(self, seed: int, sentences: int = 12) -> None:
        rng = np.random.default_rng(seed)
        self.offsets = offsets_from(rng.integers(0, 6, sentences))
        hypotheses = int(self.offsets[-1])
        self.texts = [" ".join(rng.choice(WORDS, rng.integers(1, 4))) for _ in range(hypotheses)]
        self.part_offsets = offsets_from(rng.integers(0, 4, hypotheses))
        size = int(self.part_offsets[-1])
        table = np.column_stack([rng.random(size).round(1), rng.integers(0, 4, size), rng.normal(size=size).round(1)])
        table[rng.random(table.shape) < 0.2] = np.nan
        self.table = table
        self.rules = np.where(rng.random(size) < 0.1, -1, 0)
        grown = np.column_stack([rng.random(60), rng.integers(0, 4, 60), rng.normal(size=60)])
        plain, lines = Rows.of_dense(FEATURES, grown), Rows.of_dense(FEATURES, grown, slopes=("p", "n"))
        targets = [rng.normal(size=60) for _ in range(3)]
        trees = [
            Grower(plain, 2).grow(targets[0]).tree,
            Grower(plain, 5).grow(targets[1]).tree,
            Grower(lines, 3, linear=True).grow(targets[2]).tree,
            Tree.of_split(2, 0.0, (1.0, 1.0)),  # adds the same to all
        ]
        self.forest = Forest(FEATURES, tuple(trees))
        self.weights = rng.normal(size=len(trees))
        self.base = rng.normal(size=hypotheses).round(1)
        self.references = [" ".join(rng.choice(WORDS, 3)) for _ in range(sentences)]

    def lists(self) -> PartsData:
        """As the package has them, with the score of the whole model as only feature."""
        parts = Parts.of_dense(FEATURES, self.table, self.rules)
        rules = np.flatnonzero(parts.rules >= 0)
        inside = offsets_from(parts.rules >= 0)[self.part_offsets]
        scores = self.base + self.forest.sums(parts.take(rules), inside) @ self.weights
        nbest = NBest.of_hypotheses(("score",), self.offsets, self.texts, scores[:, None])
        return PartsData(TuningData.of(nbest, BLEU("none"), [self.references]), parts, self.part_offsets)

    def plain(self) -> list[list[tuple[float, str, list[dict[str, float]]]]]:
        """As the twin has them."""
        names = [feature.name for feature in FEATURES]
        rows = [dict(zip(names, row, strict=True)) for row in self.table.tolist()]
        each = [
            (
                float(self.base[h]),
                self.texts[h],
                [rows[p] for p in range(self.part_offsets[h], self.part_offsets[h + 1]) if self.rules[p] >= 0],
            )
            for h in range(len(self.texts))
        ]
        return [each[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def source(self, sentence: int) -> str:
        return f"source {sentence}"

    def finished(self, sentence: int, words: str) -> str:
        return f"{sentence}: {words}"

    def acts(self, pieces: int = 1) -> list[Acts]:
        lists = self.lists()
        watch = Watch(self.forest, self.weights, len(lists.data), self)
        for sentences in np.array_split(np.arange(len(lists.data)), pieces):
            first, last = (int(self.offsets[place]) for place in (sentences[0], sentences[-1] + 1))
            watch.add(lists.of_sentences(sentences), self.texts[first:last])
        return watch.acts()


def linear(raw: dict[str, float], name: str) -> float:
    (feature,) = (feature for feature in FEATURES if feature.name == name)
    return float(feature.linear(np.array([raw[name]]))[0])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_tree_acted_where_the_definition_says(seed: int) -> None:
    toy = Toy(seed)
    trees, weights, lists = forest_to_json(toy.forest)["trees"], toy.weights.tolist(), toy.plain()
    quality = toy.lists().data.sentence_scores()
    for number, acts in enumerate(toy.acts()):
        changed = naive.changed_sentences(trees, weights, number, lists, linear)
        gains = [quality[toy.offsets[s] + a] - quality[toy.offsets[s] + b] for s, a, b in changed]
        assert (acts.sentences, acts.of_sentences) == (len(changed), 12)
        assert (acts.better, acts.worse) == (sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))
        assert (acts.parts, acts.of_parts) == naive.parts_acted_on(trees[number], weights[number], lists)
        known = {
            (s + 1, f"source {s}", f"{s}: {lists[s][a][1]}", f"{s}: {lists[s][b][1]}", gain)
            for (s, a, b), gain in zip(changed, gains, strict=True)
        }
        assert len(acts.examples) == min(EXAMPLES, len(changed))
        assert len(known & set(acts.examples)) == len(acts.examples)
        assert [one.sentence for one in acts.examples] == sorted(one.sentence for one in acts.examples)


def test_some_trees_act_and_what_adds_the_same_to_all_acts_on_no_part() -> None:
    acts = [one for seed in range(20) for one in Toy(seed).acts()]
    assert sum(one.sentences > 0 for one in acts) > 20
    assert sum(one.better > 0 for one in acts) > 5
    assert sum(len(one.examples) == EXAMPLES < one.sentences for one in acts) > 5
    assert {one.parts for one in acts[3::4]} == {0}


@pytest.mark.parametrize("pieces", [2, 5, 12])
def test_lists_may_come_in_any_pieces(pieces: int) -> None:
    for seed in range(5):
        assert Toy(seed).acts(pieces) == Toy(seed).acts()


def test_a_tree_without_weight_does_nothing() -> None:
    toy = Toy(3)
    toy.weights = np.zeros(len(toy.forest))
    for acts in toy.acts():
        assert (acts.parts, acts.sentences, acts.examples) == (0, 0, ())
        assert acts.of_parts > 0


def test_examples_are_drawn_from_everywhere() -> None:
    """Not the first ones, and not the same for all trees."""
    toy = Toy(1, sentences=300)
    drawn = [[one.sentence for one in acts.examples] for acts in toy.acts()]
    many = [places for places in drawn if len(places) == EXAMPLES]
    assert len({tuple(places) for places in many}) == len(many) >= 3
    assert np.mean(many) > 75
