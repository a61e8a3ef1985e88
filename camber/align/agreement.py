"""Two HMM alignment models, one for each direction, that are trained to agree (Liang, Taskar & Klein 2006).

Each pass computes, for every possible link, its posterior under either model; their product is the link's expected
count for *both*. A rare word that gathers unrelated words in one direction does not do so in the other, so it finds no
support. The first passes use model 1 (every position is equally likely), the later ones the HMM with learnt jumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from camber.align import hmm
from camber.align.cognates import likeness
from camber.align.links import LinkIndex
from camber.align.pharaoh import Alignment
from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import F4, F8, I4, I8, Array, Bools, Records
from camber.corpus.bitext import Bitext
from camber.engine import LOCAL, Engine, split_evenly
from camber.progress import each

#: Pairs are worked on in so many ranges, whatever the number of threads: more if there are more than so many in each
_RANGES, _LARGE = 32, 50_000


@dataclass
class Agreement:
    """Parameters of both directions; NULL's words are those of the other side."""

    lexical: Records  # hmm.LEXICAL[entries] of a link index
    null_target: F4  # [target words] p(t|NULL)
    null_source: F4  # [source words] p(s|NULL)
    jumps: F4  # [2 directions, plain and reversed, width]: weight of a jump, 0 in the middle
    p_null: float


class Trainer:
    """Train both directions on a bitext and its link index, pass by pass."""

    def __init__(
        self, bitext: Bitext, index: LinkIndex, *, alpha: float, cognates: float, p_null: float, engine: Engine = LOCAL
    ) -> None:
        """Begin with all words equally likely; `alpha` is the pseudo-count of any pair, `cognates` of equal words."""
        self.bitext, self.index, self.alpha, self.engine = bitext, index, alpha, engine
        source, target = bitext.source, bitext.target
        self._longest = max(source.longest, target.longest, 1)
        source_words, target_words = max(len(source.vocabulary), 1), max(len(target.vocabulary), 1)
        lexical = np.empty(index.entry_count, hmm.LEXICAL)
        lexical["forward"], lexical["backward"] = 1 / target_words, 1 / source_words
        self.model = Agreement(
            lexical,
            np.full(target_words, 1 / target_words, np.float32),
            np.full(source_words, 1 / source_words, np.float32),
            np.empty((2, 2, hmm.jump_width(self._longest)), np.float32),
            p_null,
        )
        distance = np.arange(self.model.jumps.shape[2]) - self.model.jumps.shape[2] // 2
        self._set_jumps(0, np.exp(-np.abs(distance - 1) / 2))
        self._set_jumps(1, np.exp(-np.abs(distance - 1) / 2))
        self._prior = np.float32(cognates) * likeness(index, source.vocabulary, target.vocabulary)
        # occurrences that NULL gets when none of them is linked; pseudo-counts are no occurrences
        self.source_free, self.target_free = np.zeros(source_words), np.zeros(target_words)
        hmm.add_up(index.entry_offsets, index.entry_targets, self._prior, self.source_free, self.target_free)
        self.source_free += np.bincount(source.ids, minlength=source_words)
        self.target_free += np.bincount(target.ids, minlength=target_words)
        #: expected counts of the last pass: of every entry, and of every word with any partner
        self.counts = self._prior
        self.source_totals, self.target_totals = np.zeros(source_words), np.zeros(target_words)
        # what earlier text counted for pairs of words that do not meet in this one (see `go_on`)
        self._elsewhere = np.zeros(source_words), np.zeros(target_words)
        self._ranges = _even_ranges(source.lengths * target.lengths * (source.lengths + target.lengths + 8))

    def train(self, mixture_passes: int, chain_passes: int) -> None:
        """Run passes of model 1, then of the HMM."""
        passes = mixture_passes + chain_passes
        for number in range(1, passes + 1):
            chain = number > mixture_passes
            jump_counts = self._count(chain, f"pass {number} of {passes}")
            self._maximise()
            if chain:
                for direction in range(2):
                    self._set_jumps(direction, jump_counts[direction])

    def go_on(
        self,
        known: F4,
        met: Bools,
        source_words: F8,
        target_words: F8,
        jumps: F4,
    ) -> None:
        """Start from the counts of earlier text instead: of entries, float32, where `met` says that they met there.

        `source_words` and `target_words` are float64[words, 2]: times linked, and occurrences with pseudo-counts; words
        beyond their end are new. `jumps` are the weights of both directions, float32[2, width].
        """
        index = self.index
        owner = owners_of(index.entry_offsets)
        sides = (owner, self.source_free, self._elsewhere[0], source_words), (
            index.entry_targets, self.target_free, self._elsewhere[1], target_words
        )  # fmt: skip
        for words, free, elsewhere, before in sides:
            free -= np.bincount(words[met], self._prior[met], len(free))  # was counted when they met
            free[: len(before)] += before[:, 1]
            elsewhere[: len(before)] = before[:, 0]
            elsewhere -= np.bincount(words, known, len(free))
            np.maximum(elsewhere, 0, out=elsewhere)
        self._prior = self.counts = np.where(met, known, self._prior)
        self.model.jumps[:, 0] = jumps
        self.model.jumps[:, 1] = jumps[:, ::-1]
        self._maximise()

    def revise(self, passes: int) -> None:
        """Run passes of the HMM that leave the jumps as they are."""
        for number in range(1, passes + 1):
            self._count(True, f"pass {number} of {passes}")
            self._maximise()

    def decode(self, threshold: float) -> tuple[Alignment, Alignment]:
        """Return, of either direction, the best link of every word.

        The best link has the largest mean posterior √(p_forward · p_backward); below `threshold` the word has none.
        """
        source, target = self.bitext.source, self.bitext.target
        found = self.engine.map(_best, (self._shared(True), threshold**2), self._pieces())
        told = each(zip(self._ranges, found, strict=True), "links", len(self.bitext), "pairs", lambda it: len(it[0]))
        forward, backward = zip(*(best for _, best in told), strict=True) if self._ranges else ((), ())
        return (
            _one_per_word(_joined(forward), target.offsets, False),
            _one_per_word(_joined(backward), source.offsets, True),
        )

    def _shared(self, chain: bool) -> _Shared:
        return _Shared(self.model, chain, self.bitext.source.longest, self.bitext.target.longest)

    def _pieces(self) -> Iterator[hmm.Pairs]:
        """Yield the pairs of every range, numbered from 0 on."""
        source, target, index = self.bitext.source, self.bitext.target, self.index
        for pairs in self._ranges:
            here = slice(pairs.start, pairs.stop + 1)
            sources, targets, links = source.offsets[here], target.offsets[here], index.offsets[here]
            yield hmm.Pairs(
                sources - sources[0],
                targets - targets[0],
                source.ids[sources[0] : sources[-1]],
                target.ids[targets[0] : targets[-1]],
                links - links[0],
                index.entries[links[0] : links[-1]],
            )

    def _count(self, chain: bool, name: str) -> F8:
        """Count the links of all pairs, return the expected jumps, float64[2, jumps].

        `name` is what progress calls it. Every entry's counts are added in the order of the pairs, wherever that is.
        """
        bounds = [part.start for part in split_evenly(self.index.entry_count, self.engine.parts)] or [0]
        both = zip(self._ranges, self._pieces(), strict=True)
        told = each(both, name, len(self.bitext), "pairs", lambda item: len(item[0]))
        shared = self._shared(chain), np.array(bounds, np.int64)
        nothing = np.zeros((2, self.model.jumps.shape[2]))
        bases = [(nothing, prior) for prior in np.split(self._prior, bounds[1:])]
        merged = self.engine.exchange(_counted, shared, (pairs for _, pairs in told), _added, bases)
        jumps, counts = zip(*merged, strict=True)
        self.counts = _joined(counts)
        found: F8 = jumps[0]
        return found

    def _maximise(self) -> None:
        """Set the lexical parameters from the counts."""
        source_totals, target_totals = (totals.copy() for totals in self._elsewhere)
        hmm.maximise(
            self.index.entry_offsets,
            self.index.entry_targets,
            self.alpha,
            self.counts,
            source_totals,
            target_totals,
            self.model.lexical,
        )
        # what found no partner is NULL's
        self.model.null_source[:] = _shares(self.source_free - source_totals)
        self.model.null_target[:] = _shares(self.target_free - target_totals)
        self.source_totals, self.target_totals = source_totals, target_totals

    def _set_jumps(self, direction: int, counts: F8) -> None:
        """Set the weights of jumps from counts float64[jumps]; jumps of similar great length share theirs."""
        weights = counts.copy()
        distance = np.arange(len(weights)) - len(weights) // 2
        for low, high in ((7, 9), (9, 12), (12, 17), (17, 25), (25, len(weights))):
            for sign in (1, -1):
                bucket = (sign * distance >= low) & (sign * distance < high)
                if bucket.any():
                    weights[bucket] = weights[bucket].mean()
        # no jump is out of the question: texts differ in how far they reorder
        weights = weights / max(weights.sum(), 1e-300) + 1e-3
        self.model.jumps[direction, 0] = weights
        self.model.jumps[direction, 1] = weights[::-1]


class _Shared(NamedTuple):
    """What the expectation of all pairs needs."""

    model: Agreement
    chain: bool
    longest_source: int
    longest_target: int


class _Part(NamedTuple):
    """What some pairs count for a range of entries."""

    jumps: F8  # [2, jumps] expected, of all their links
    entries: I4  # [links] from the range's first one on
    posterior: F4  # [links]


def _expectation(shared: _Shared, pairs: hmm.Pairs) -> tuple[F8, F4]:
    """Return the expected jumps of some pairs, float64[2, jumps], and the posteriors of their links, float32[links]."""
    model = shared.model
    jump_counts = np.zeros((2, model.jumps.shape[2]), np.float64)
    posterior = np.empty(len(pairs.entries), np.float32)
    hmm.expect(
        0,
        len(pairs.link_offsets) - 1,
        pairs,
        hmm.Parameters(model.lexical, model.null_target, model.null_source, model.jumps, np.float32(model.p_null)),
        shared.chain,
        hmm.workspace(shared.longest_source, shared.longest_target),
        jump_counts,
        posterior,
    )
    return jump_counts, posterior


def _counted(both: tuple[_Shared, I8], pairs: hmm.Pairs) -> list[_Part]:
    """Return what some pairs count for each range of entries; the ranges begin at bounds, int64[ranges]."""
    shared, bounds = both
    jumps, posterior = _expectation(shared, pairs)
    if len(bounds) == 1:
        return [_Part(jumps, pairs.entries, posterior)]
    owners = np.searchsorted(bounds, pairs.entries, "right") - 1
    order = np.argsort(owners.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=len(bounds)))[:-1]
    entries = np.split((pairs.entries - bounds[owners].astype(np.int32))[order], ends)
    return [_Part(jumps, *both) for both in zip(entries, np.split(posterior[order], ends), strict=True)]


def _added(base: tuple[F8, F4], parts: Iterable[_Part]) -> tuple[F8, F4]:
    """Return the expected jumps of all pairs, and the counts of a range of entries, on top of those of the base."""
    jumps, counts = base[0].copy(), base[1].copy()
    for part in parts:
        jumps += part.jumps
        hmm.count_links(part.entries, part.posterior, counts)
    return jumps, counts


def _best(both: tuple[_Shared, float], pairs: hmm.Pairs) -> tuple[I4, I4]:
    """Return the best source word of every target word of some pairs, and the other way round; -1: there is none."""
    shared, threshold = both
    _, posterior = _expectation(shared, pairs)
    forward, backward = np.full(len(pairs.target_ids), -1, np.int32), np.full(len(pairs.source_ids), -1, np.int32)
    hmm.best_links(
        0,
        len(pairs.link_offsets) - 1,
        pairs.source_offsets,
        pairs.target_offsets,
        pairs.link_offsets,
        posterior,
        threshold,
        np.empty(max(shared.longest_source, shared.longest_target, 1), np.float32),
        forward,
        backward,
    )
    return forward, backward


def _joined(arrays: Sequence[Array]) -> Array:
    """Return arrays behind each other; a single one as it is."""
    if not arrays:
        return np.zeros(0, np.int32)
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _even_ranges(cost: I8) -> list[range]:
    """Cut the pairs into ranges of about the same cost.

    The text alone says where: jumps are added range by range, and so their last digits depend on it.
    """
    total = offsets_from(cost)
    ranges = max(_RANGES, len(cost) // _LARGE)
    cuts = np.searchsorted(total, np.linspace(0, total[-1], ranges + 1)[1:-1])
    bounds = [0, *cuts.tolist(), len(cost)]
    return [range(a, b) for a, b in pairwise(bounds) if b > a]


def _shares(mass: F8) -> F4:
    """Normalise a mass that may be a little below zero by rounding."""
    mass = np.maximum(mass, 1e-3)
    return (mass / mass.sum()).astype(np.float32)


def _one_per_word(best: I4, offsets: I8, of_source: bool) -> Alignment:
    """Turn the partner of every word (or -1) into links, in the order of those words."""
    linked = best >= 0
    place = np.arange(len(best)) - np.repeat(offsets[:-1], np.diff(offsets))
    columns = (place[linked], best[linked]) if of_source else (best[linked], place[linked])
    links = np.stack(columns, axis=1).astype(np.int32)
    return Alignment(links, offsets_from(linked)[offsets])
