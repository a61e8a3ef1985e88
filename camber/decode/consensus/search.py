"""A search that lets others search, and takes what their hypotheses agree upon.

Every member lists its best derivations of a sentence. The lists are joined by their words, and ordered by a weighted
sum of the features of :mod:`camber.decode.consensus.features`. With one member and weights that expect BLEU, this is
minimum Bayes risk decoding (Kumar and Byrne 2004); with several it is a combination of systems.

    search = ConsensusSearch([decoder])
    search = ConsensusSearch([phrases, hiero], weights=tuned)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8, I8
from camber.bend.log import LogBend
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.consensus.features import BLEU, PER_MEMBER, ConsensusFeatures
from camber.decode.consensus.grams import pair_bleu
from camber.decode.consensus.settings import GAINS, ConsensusSettings
from camber.decode.derivation import Derivation
from camber.decode.searcher import Searcher, Work
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.feature import Feature, names_of


@dataclass(frozen=True)
class Agreed(Derivation):
    """A member's derivation as the consensus sees it: its first part has all features, the others none."""

    links: tuple[tuple[int, int], ...] = ()
    tails: I8 | None = None  # of a chart's parts


@dataclass(frozen=True)
class Joined:
    """The hypotheses of a sentence that the members found, each once, those of the first member before the others'."""

    derivations: list[tuple[int, Derivation]]  # the first member that found each, and its derivation
    words: list[I8]  # as ids of this sentence
    scores: F8  # [hypotheses, members], NaN: not found


@dataclass(frozen=True)
class _Settings:
    """What can be changed of the members' searches."""

    members: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings of all members; where they differ, those of the first that has one."""
        values: dict[str, Any] = {}
        for settings in self.members:
            values = {**settings.to_dict(), **values}
        return values


class ConsensusSearch:
    """Order what one or several searches find by what it has in common."""

    def __init__(
        self,
        members: Sequence[Searcher],
        settings: ConsensusSettings | None = None,
        weights: Mapping[str, float] | None = None,
        scales: npt.ArrayLike | None = None,
    ) -> None:
        """Join searches that read the same words.

        Without `weights`, the gain that the settings name counts. `scales` are those of the members' posteriors; else
        all have that of the settings, for scores that vary as much from hypothesis to hypothesis as one member's do.
        """
        self.members, self.own = tuple(members), settings or ConsensusSettings()
        self.features = ConsensusFeatures(len(self.members))
        self.takes = frozenset.intersection(*(frozenset(member.takes) for member in self.members))
        usual = self.features.linear_bleu() if self.own.mbr_gain == GAINS[0] else self.features.expected_bleu()
        self.weights = dict(usual if weights is None else weights)
        if tuple(self.weights) != names_of(self.inputs):
            raise CamberError(
                f"weights for {', '.join(self.weights)}, but the consensus of {len(self.members)} models has "
                f"{', '.join(names_of(self.inputs))}"
            )
        self.scales = None if scales is None else np.array(scales, np.float64)
        self._vector = np.array(list(self.weights.values()))
        self._needs_bleu = any(self._vector[m * PER_MEMBER + BLEU] != 0.0 for m in range(len(self.members)))
        self.WORK = tuple(name for member in self.members for name in getattr(member, "WORK", ()))

    @property
    def inputs(self) -> tuple[Feature, ...]:
        """The features of a hypothesis."""
        return self.features.all

    @cached_property
    def bend(self) -> LogBend:
        """What is done to features before they are weighed: nothing."""
        return LogBend(self.inputs)

    @property
    def settings(self) -> _Settings:
        """How the members search."""
        return _Settings(tuple(member.settings for member in self.members))

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep."""
        return {"consensus": self.own.to_dict()}

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that any member knows."""
        first, *others = (member.source_vocabulary for member in self.members)
        for other in others:
            first = first.extended(other.words)
        return first

    def searching(self, changes: Mapping[str, Any]) -> ConsensusSearch:
        """Return the same search with some settings of the members changed, of those that have them."""
        members = []
        for member in self.members:
            known = member.settings.to_dict()
            members.append(member.searching({name: value for name, value in changes.items() if name in known}))
        return ConsensusSearch(members, self.own, self.weights, self.scales)

    def decode(
        self,
        inputs: Sequence[Input],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        work: Work | None = None,
    ) -> Iterator[list[Agreed]]:
        """Yield the `nbest` best hypotheses of every sentence, best first, in the order of the input.

        Every text comes once, whatever `distinct` says.
        """
        for joined in self.joined(inputs, nbest, engine=engine, work=work):
            yield self._ordered(joined, nbest)

    def joined(
        self, inputs: Sequence[Input], nbest: int = 1, *, engine: Engine = LOCAL, work: Work | None = None
    ) -> Iterator[Joined]:
        """Yield what the members find for every sentence, in one list."""
        size, lists, at = max(nbest, self.own.mbr_size), [], 0
        for member in self.members:
            end = at + len(getattr(member, "WORK", ()))
            share = None if work is None else work[at:end]
            lists.append(member.decode(inputs, size, distinct=True, engine=engine, work=share))
            at = end
        for found in zip(*lists, strict=True):
            yield _join(found)

    def table(self, joined: Joined, scales: F8 | None = None, pairs: F8 | None = None) -> F8:
        """Return the features of joined hypotheses, float64[hypotheses, features], with their `pair_bleu`."""
        scales = self.scales if scales is None else scales
        if scales is None:
            scales = self.own.mbr_scale / np.maximum(_deviations(joined.scores), 1e-9)
        return self.features.columns(joined.words, joined.scores, scales, pairs)

    def _ordered(self, joined: Joined, nbest: int) -> list[Agreed]:
        table = self.table(joined, pairs=pair_bleu(joined.words) if self._needs_bleu else None)
        scores = np.nan_to_num(table) @ self._vector
        order = np.argsort(-scores, kind="stable")[:nbest]
        return [self._agreed(joined.derivations[row], float(scores[row]), table[row]) for row in order.tolist()]

    def _agreed(self, found: tuple[int, Derivation], score: float, row: F8) -> Agreed:
        member, item = found
        features = np.full((len(item.rules), len(row)), np.nan)
        features[:1] = row
        return Agreed(
            self.inputs,
            item.words,
            score if len(features) else 0.0,
            features,
            item.rules,
            item.spans,
            item.target_spans,
            tuple(self.members[member].word_alignment(item)),
            getattr(item, "tails", None),
        )

    def word_alignment(self, derivation: Any) -> list[tuple[int, int]]:
        """Return the (source, target) links of a hypothesis: those of the first member that found it."""
        return list(derivation.links)

    def with_weights(self, weights: Mapping[str, float], scales: npt.ArrayLike) -> ConsensusSearch:
        """Return the same search with other weights, and scales of its members' posteriors."""
        return ConsensusSearch(self.members, self.own, weights, scales)

    def of_size(self, size: int) -> ConsensusSearch:
        """Return the same search that compares so many hypotheses of each member."""
        return ConsensusSearch(self.members, replace(self.own, mbr_size=size), self.weights, self.scales)


def _join(found: Sequence[Sequence[Derivation]]) -> Joined:
    """Join the lists of a sentence by their words."""
    rows: dict[tuple[str, ...], int] = {}
    derivations: list[tuple[int, Derivation]] = []
    places: list[tuple[int, int, float]] = []
    for member, best in enumerate(found):
        for item in best:
            row = rows.setdefault(tuple(item.words), len(rows))
            if row == len(derivations):
                derivations.append((member, item))
            places.append((row, member, item.score))
    scores = np.full((len(rows), len(found)), np.nan)
    for row, member, score in places:
        if not score <= scores[row, member]:  # the better of two, and any against none
            scores[row, member] = score
    numbers: dict[str, int] = {}
    words = [np.array([numbers.setdefault(word, len(numbers)) for word in key], np.int64) for key in rows]
    return Joined(derivations, words, scores)


def _deviations(scores: F8) -> F8:
    """Return the standard deviations of the scores of every member's list."""
    listed = ~np.isnan(scores)
    count = np.maximum(listed.sum(0), 1)
    means = np.where(listed, scores, 0.0).sum(0) / count
    return np.asarray(np.sqrt(np.where(listed, (scores - means) ** 2, 0.0).sum(0) / count))
