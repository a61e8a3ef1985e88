"""Trees beside another bend: each adds what it makes of a part's raw features, times a weight (toutanova2013).

    bend = TreesBend(LogBend(inputs), forest)
    bend.names                              # those of the logarithms, then tree1, tree2, …

Trees that ask only about what is known of a rule are part of the rule's one number before the search; the others are
asked where a part is placed. A part that is no rule, such as a word that is passed through, gets nothing of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8
from camber.bend.bend import LOCAL, Bend, Design, Seen
from camber.bend.discrete import DiscreteBend
from camber.bend.log import LogBend
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.settings import TREE_SETTINGS, BendSettings
from camber.bend.trees.context import ContextTrees
from camber.bend.trees.description import WeighedTree, weighed_trees
from camber.bend.trees.document import read_forest, write_forest
from camber.bend.trees.forest import Forest
from camber.errors import InputError, SettingsError
from camber.features.feature import Feature, names_of
from camber.features.parts import Parts

if TYPE_CHECKING:
    from camber.bend.weighing import Weighing

TREES = "trees"


@dataclass(frozen=True, eq=False)
class TreesBend:
    """A bend, and trees over the same inputs."""

    base: Bend
    forest: Forest
    FILE: ClassVar[str] = "trees.json"

    def __post_init__(self) -> None:
        if names_of(self.forest.features) != names_of(self.base.inputs):
            raise SettingsError(
                f"trees over {', '.join(names_of(self.forest.features))}, but the features are "
                f"{', '.join(names_of(self.base.inputs))}"
            )

    @property
    def kind(self) -> str:
        """Its name among the kinds of bends: "trees", or that of the other bend before it."""
        return TREES if self.base.kind == "none" else f"{self.base.kind}+{TREES}"

    @property
    def scope(self) -> str:
        """Local, as the other bend must be: a tree acts on parts."""
        return self.base.scope if self.base.scope != LOCAL else LOCAL

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """What parts have, column by column."""
        return self.base.inputs

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What has weights: the other bend's dense columns, the trees, its sparse columns."""
        return (*self.base.names[: self._dense], *self.forest.names, *self.base.names[self._dense :])

    @property
    def width(self) -> int:
        """How many of the names, the last ones, are sparse."""
        return self.base.width

    @property
    def grows(self) -> bool:
        """Whether there is no tree yet."""
        return not len(self.forest)

    def with_forest(self, forest: Forest) -> TreesBend:
        """Return the same with other trees."""
        return TreesBend(self.base, forest)

    @property
    def _dense(self) -> int:
        return len(self.base.names) - self.base.width

    def _apart(self, weights: F8) -> tuple[F8, F8]:
        """Return the weights of the other bend, and those of the trees."""
        first, last = self._dense, self._dense + len(self.forest)
        return np.concatenate([weights[:first], weights[last:]]), weights[first:last]

    def _known_by(self, columns: I8) -> list[int]:
        """Return the trees that ask about these inputs alone."""
        seen = set(columns.tolist())
        return [number for number, tree in enumerate(self.forest.trees) if seen.issuperset(tree.features_used)]

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return the settings of the other bend, and those of trees."""
        return (*_base_class(kind).settings(_base_kind(kind)), *TREE_SETTINGS)

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> TreesBend:
        """Make it without any tree yet: trees grow from lists of hypotheses."""
        base = _base_class(kind).make(_base_kind(kind), inputs, seen, settings)
        return cls(base, Forest(tuple(inputs), ()))

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return a start of the other bend; trees count nothing yet."""
        return {**self.base.start(old, seen), **dict.fromkeys(self.forest.names, 0.0)}

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the inputs as a linear model takes them: float64[names] → [inputs]."""
        return self.base.linear_weights(self._apart(weights)[0])

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return what features of rules add, and what the trees make of them that ask about nothing else."""
        own, of_trees = self._apart(weights)
        worth = self.base.rule_worth(values, columns, own)
        known, forest = self._of_columns(columns)
        return worth + forest.scores(values, of_trees[known]) if known else worth

    def _of_columns(self, columns: I8) -> tuple[list[int], Forest]:
        """Return the trees that ask about these inputs alone, and a forest of them over these columns."""
        key = columns.tobytes()
        if key not in self._forests:
            known = self._known_by(columns)
            place = {int(column): at for at, column in enumerate(columns)}
            trees = [
                replace(
                    tree,
                    features=np.array([place[feature] for feature in tree.features.tolist()], np.int64),
                    slope=place[tree.slope] if tree.linear else -1,
                )
                for tree in (self.forest.trees[number] for number in known)
            ]
            self._forests[key] = known, Forest(tuple(self.inputs[column] for column in place), tuple(trees))
        return self._forests[key]

    @cached_property
    def _forests(self) -> dict[bytes, tuple[list[int], Forest]]:
        return {}

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return the trees that ask about more than these inputs."""
        known = self._known_by(columns)
        others = [number for number in range(len(self.forest)) if number not in known]
        of_trees = self._apart(weights)[1]
        others = [number for number in others if of_trees[number] != 0.0]
        return ContextTrees.of(self.forest.take(others), of_trees[others]) if others else None

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add to the score by themselves, float64[values]: without trees."""
        return self.base.worth(name, values, self._apart(weights)[0])

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add beyond their linear weight by themselves, float64[values]."""
        return self.base.beyond_linear(name, values, self._apart(weights)[0])

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return what has weights: the other bend's columns, and the sums of trees over the parts that are rules."""
        dense, sparse = self.base.design(parts, offsets)
        rules = parts.rules >= 0
        inside = offsets_from(rules)[offsets]
        sums = self.forest.sums(parts.take(np.flatnonzero(rules)), inside)
        return Design(np.hstack([dense, sums]), sparse)

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Return what ties the sparse weights of the other bend."""
        return self.base.penalty(settings, tuned)

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return the curves of the other bend."""
        return self.base.show(weights)

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """Return the trees with their weights."""
        return weighed_trees(self.forest, (weights[name] for name in self.forest.names))

    def told(self, weights: Mapping[str, float]) -> list[str]:
        """Return what each tree asks, what its leaves are worth, how many parts ended there, and what it did."""
        return [line for tree in self.trees(weights) for line in tree.lines()]

    def write(self, path: str | Path) -> None:
        """Write ``trees.json``, and the file of the other bend beside it."""
        write_forest(path, self.forest)
        if self.base.FILE:
            self.base.write(Path(path).with_name(self.base.FILE))

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> TreesBend:
        """Read what :meth:`write` wrote."""
        forest = read_forest(path)
        features = tuple(forest.features if inputs is None else inputs)
        bins = Path(path).with_name(DiscreteBend.FILE)
        base: Bend = DiscreteBend.read(bins, features) if bins.exists() else LogBend(features)
        if names_of(forest.features) != names_of(features):
            raise InputError(
                f"trees over {', '.join(names_of(forest.features))}, but the features are "
                f"{', '.join(names_of(features))}",
                path,
                remedy="tune the model again with --bend",
            )
        return cls(base, Forest(features, forest.trees))


def _base_kind(kind: str) -> str:
    """Return the other bend of a kind.

    >>> _base_kind("trees"), _base_kind("mnr+trees")
    ('none', 'mnr')
    """
    return kind.removesuffix(TREES).removesuffix("+") or "none"


def _base_class(kind: str) -> type[LogBend] | type[DiscreteBend]:
    return LogBend if _base_kind(kind) == "none" else DiscreteBend
