"""The rule store: all phrase pairs of a model in flat, memory-mapped arrays, sorted by source phrase.

Source phrases are unique and stand in the order of their id sequences, a prefix before its extensions, so that all
phrases that start at a position are found by narrowing one range of the sorted list word after word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.checked import checked_once
from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, read_facts, save_arrays, save_facts
from camber.arrays.ragged import offsets_from, take_ragged
from camber.arrays.types import F4, I4, I8, U1, Bools
from camber.corpus.vocabulary import Vocabulary
from camber.errors import CamberError, ModelError, SettingsError
from camber.kernel import kernel
from camber.rules.phrase.features import COUNT_NAMES, SCORE_NAMES, STORE_NAMES

#: The columns of `RuleStore.reordering`: relative to the previous phrase (backward), then to the next (forward).
REORDERING_NAMES = (
    "monotone_backward",
    "swap_backward",
    "discontinuous_backward",
    "monotone_forward",
    "swap_forward",
    "discontinuous_forward",
)

#: No source phrase is longer, whatever a store says.
_LONGEST = 1000

#: Version of the folder that :meth:`RuleStore.save` writes.
FORMAT = 1

#: Every array of the store with its type and its number of dimensions.
ARRAYS: Shapes = {
    "source_ids": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "rule_offsets": (np.int64, 1),
    "source_counts": (np.int64, 1),
    "target_ids": (np.int32, 1),
    "target_offsets": (np.int64, 1),
    "scores": (np.float32, 2),
    "counts": (np.int32, 2),
    "reordering": (np.float32, 2),
    "links": (np.uint8, 2),
    "link_offsets": (np.int64, 1),
}


#: The files of the vocabularies.
WORDS = ("source.vocabulary.txt", "target.vocabulary.txt")


@dataclass(frozen=True)
class RuleStore:
    """P source phrases with R rules in all; the rules of phrase p are the rows ``rule_offsets[p]:rule_offsets[p + 1]``.

    Rules of one phrase stand by falling p(t|s), then by target id sequence. Probabilities are raw: no logarithms.
    Where a table had no counts, the counts are 0; where it had no alignments, there are no links.
    """

    source_ids: I4  # [words of all source phrases]
    source_offsets: I8  # [P + 1] into source_ids
    rule_offsets: I8  # [P + 1] into the rules
    source_counts: I8  # [P] c(s)
    target_ids: I4  # [words of all targets]
    target_offsets: I8  # [R + 1] into target_ids
    scores: F4  # [R, 4] columns SCORE_NAMES
    counts: I4  # [R, 2] c(t), c(s, t)
    reordering: F4  # [R, 6] columns REORDERING_NAMES, or [R, 0]
    links: U1  # [K, 2] (source, target) positions inside the phrase pair
    link_offsets: I8  # [R + 1] into links
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    max_phrase_length: int  # words of the longest source phrase

    @classmethod
    def empty(cls, *, reordering: bool = True) -> RuleStore:
        """Return a store without rules."""
        widths = {"scores": len(SCORE_NAMES), "counts": 2, "reordering": len(REORDERING_NAMES) * reordering, "links": 2}
        arrays: dict[str, Any] = {
            name: np.zeros((0, widths[name]) if name in widths else int(name.endswith("_offsets")), kind)
            for name, (kind, _) in ARRAYS.items()
        }
        return cls(**arrays, source_vocabulary=Vocabulary(()), target_vocabulary=Vocabulary(()), max_phrase_length=0)

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.target_offsets) - 1

    @property
    def phrases(self) -> int:
        """The number of distinct source phrases."""
        return len(self.source_offsets) - 1

    @property
    def has_reordering(self) -> bool:
        """Whether every rule has the six orientation probabilities."""
        return self.reordering.shape[1] > 0

    def source(self, phrase: int) -> list[str]:
        """Return the words of a source phrase."""
        a, b = self.source_offsets[phrase : phrase + 2]
        return self.source_vocabulary.decode(self.source_ids[a:b])

    def target(self, rule: int) -> list[str]:
        """Return the target words of a rule."""
        a, b = self.target_offsets[rule : rule + 2]
        return self.target_vocabulary.decode(self.target_ids[a:b])

    def rules(self, phrase: int) -> range:
        """Return the rows of the rules of a source phrase, best first."""
        return range(int(self.rule_offsets[phrase]), int(self.rule_offsets[phrase + 1]))

    def links_of(self, rule: int) -> U1:
        """Return the (source, target) links inside a rule, uint8[links, 2]."""
        return self.links[self.link_offsets.item(rule) : self.link_offsets.item(rule + 1)]

    def table(self, names: Sequence[str]) -> F4:
        """Return raw scores and counts of all rules, float32[R, names]; NaN for a count that is not known.

        >>> store.table(["count_s", "count_st", "lex_t_given_s"])                   # doctest: +SKIP
        """
        if tuple(names) == SCORE_NAMES:
            return self.scores
        columns = np.empty((len(self), len(names)), np.float32)
        for column, name in enumerate(names):
            if name in SCORE_NAMES:
                columns[:, column] = self.scores[:, SCORE_NAMES.index(name)]
            elif name in COUNT_NAMES:
                if name == "count_s":
                    columns[:, column] = np.repeat(self.source_counts, np.diff(self.rule_offsets))
                else:
                    columns[:, column] = self.counts[:, COUNT_NAMES.index(name) - 1]
                columns[columns[:, column] <= 0, column] = np.nan
            elif name == "source_words":
                columns[:, column] = np.repeat(np.diff(self.source_offsets), np.diff(self.rule_offsets))
            elif name == "target_words":
                columns[:, column] = np.diff(self.target_offsets)
            else:
                raise SettingsError(f"no rule feature is called {name!r}; known: {', '.join(STORE_NAMES)}")
        return columns

    # --- finding -----------------------------------------------------------------------------------------------

    def find(self, phrase_ids: npt.ArrayLike) -> int:
        """Return the index of a source phrase, -1 if it has no rules."""
        ids = np.atleast_1d(np.asarray(phrase_ids, np.int64))
        if not 0 < len(ids) <= self.max_phrase_length:
            return -1
        return int(self.spans(ids)[0, len(ids) - 1])

    def spans(self, sentence_ids: npt.ArrayLike) -> I8:
        """Return int64[J, max_phrase_length]: the phrase that starts at j and has k + 1 words is at [j, k], or -1.

        Unknown words are -1 in `sentence_ids`.
        """
        ids = np.ascontiguousarray(sentence_ids, np.int64)
        out = np.empty((len(ids), max(self.max_phrase_length, 1)), np.int64)
        lookup_spans(ids, out.shape[1], self.source_ids, self.source_offsets, out)
        return out

    # --- pruning -----------------------------------------------------------------------------------------------

    def prune(self, limit: int) -> RuleStore:
        """Keep the best `limit` rules of every source phrase by p(t|s) (0: all); ties go by target id sequence."""
        if limit < 0:
            raise CamberError(f"cannot keep {limit} rules of a phrase; give a number above 0, or 0 for all")
        sizes = np.diff(self.rule_offsets)
        if limit == 0 or sizes.max(initial=0) <= limit:
            return self
        rank = np.arange(len(self)) - np.repeat(self.rule_offsets[:-1], sizes)
        return self.select(rank < limit)

    def select(self, keep: Bools) -> RuleStore:
        """Keep the rules where ``keep[rule]`` holds, and the source phrases that still have rules."""
        rows = np.flatnonzero(keep)
        left = np.add.reduceat(np.append(keep, False), self.rule_offsets[:-1], dtype=np.int64)
        phrases = np.flatnonzero(left)
        source_ids, source_offsets = take_ragged(self.source_ids, self.source_offsets, phrases)
        target_ids, target_offsets = take_ragged(self.target_ids, self.target_offsets, rows)
        links, link_offsets = take_ragged(self.links, self.link_offsets, rows)
        return replace(
            self,
            source_ids=source_ids,
            source_offsets=source_offsets,
            rule_offsets=offsets_from(left[phrases]),
            source_counts=self.source_counts[phrases],
            target_ids=target_ids,
            target_offsets=target_offsets,
            scores=self.scores[rows],
            counts=self.counts[rows],
            reordering=self.reordering[rows],
            links=links,
            link_offsets=link_offsets,
            max_phrase_length=int(np.diff(source_offsets).max(initial=0)),
        )

    # --- files -------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Write one ``.npy`` file per array, the vocabularies as text, and a small ``rules.json``, into `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_arrays(folder, {name: getattr(self, name) for name in ARRAYS}, ARRAYS)
        save_words(folder, self.source_vocabulary, self.target_vocabulary, self.max_phrase_length)

    @classmethod
    def load(cls, folder: str | Path) -> RuleStore:
        """Open what :meth:`save` wrote; the arrays are memory-mapped (copy-on-write), so little is read now."""
        folder = Path(folder)
        facts = read_facts(folder / "rules.json", "a rule store", FORMAT, {"max_phrase_length": int})
        store = cls(
            **open_arrays(folder, ARRAYS),
            source_vocabulary=Vocabulary.load(folder / WORDS[0]),
            target_vocabulary=Vocabulary.load(folder / WORDS[1]),
            **facts,
        )
        files = [folder / f"{name}.npy" for name in ARRAYS]
        checked_once([*files, *(folder / name for name in WORDS)], partial(store._check, folder))
        return store

    def _check(self, folder: Path) -> None:
        """Refuse arrays that a kernel would read outside of."""
        checks = Checks(folder)
        phrases, rules = len(self.source_counts), len(self.scores)
        checks.offsets("source_offsets", self.source_offsets, phrases, len(self.source_ids))
        checks.offsets("rule_offsets", self.rule_offsets, phrases, rules)
        checks.offsets("target_offsets", self.target_offsets, rules, len(self.target_ids))
        checks.offsets("link_offsets", self.link_offsets, rules, len(self.links))
        checks.shape("scores", self.scores, rules, len(SCORE_NAMES))
        checks.shape("counts", self.counts, rules, 2)
        checks.shape("reordering", self.reordering, rules, len(REORDERING_NAMES) if self.has_reordering else 0)
        checks.shape("links", self.links, len(self.links), 2)
        checks.below("source_ids", self.source_ids, len(self.source_vocabulary))
        checks.below("target_ids", self.target_ids, len(self.target_vocabulary))
        checks.finite("scores", self.scores, least=0.0)
        checks.finite("reordering", self.reordering, least=0.0)
        bad = _unsorted(self.source_ids, self.source_offsets)
        checks.that(bad < 0, "source_ids", f"phrase {bad} does not come after the one before it")
        bad = _outside(self.source_offsets, self.rule_offsets, self.target_offsets, self.link_offsets, self.links)
        checks.that(bad < 0, "links", f"rule {bad} has a link outside its words")
        longest = int(np.diff(self.source_offsets).max(initial=0))
        if self.max_phrase_length < longest or self.max_phrase_length > max(longest, _LONGEST):
            raise ModelError(f"{folder / 'rules.json'}: max_phrase_length {self.max_phrase_length}; {checks.remedy}")


def save_words(folder: Path, source: Vocabulary, target: Vocabulary, longest: int) -> None:
    """Write what belongs to the arrays of a store: the vocabularies, and the length of its longest source phrase."""
    source.save(folder / WORDS[0])
    target.save(folder / WORDS[1])
    save_facts(folder / "rules.json", FORMAT, {"max_phrase_length": longest})


@kernel
def _unsorted(ids, offsets):
    """Return the first phrase that is empty or does not come after the one before it, -1: all are sorted."""
    for phrase in range(len(offsets) - 1):
        start, end = offsets[phrase], offsets[phrase + 1]
        if start == end:
            return phrase
        if phrase == 0:
            continue
        before = offsets[phrase - 1]
        while before < offsets[phrase] and start < end and ids[before] == ids[start]:
            before += 1
            start += 1
        if start == end or (before < offsets[phrase] and ids[before] > ids[start]):
            return phrase
    return -1


@kernel
def _outside(source_offsets, rule_offsets, target_offsets, link_offsets, links):
    """Return the first rule with a link outside its words, -1: none."""
    rule = link = start = np.int64(0)
    for phrase in range(len(rule_offsets) - 1):
        words = source_offsets[phrase + 1] - source_offsets[phrase]
        last_rule = rule_offsets[phrase + 1]
        while rule < last_rule:
            end, last = target_offsets[rule + 1], link_offsets[rule + 1]
            while link < last:
                if links[link, 0] >= words or links[link, 1] >= end - start:
                    return rule
                link += 1
            start = end
            rule += 1
    return np.int64(-1)


@kernel
def lookup_spans(sentence_ids, longest, source_ids, source_offsets, out):
    """Fill ``out[j, k]`` with the phrase of the k + 1 words from j on, or -1.

    sentence_ids int64[J], source_ids int32[words], source_offsets int64[P + 1], out int64[J, longest].
    """
    phrases = len(source_offsets) - 1
    words = len(sentence_ids)
    for start in range(words):
        low, high = 0, phrases  # the phrases that begin with the words seen so far
        for k in range(longest):
            out[start, k] = -1
            if low >= high or start + k >= words:
                continue
            word = sentence_ids[start + k]
            if word < 0:
                high = low
                continue
            # Only the first of the range may be the prefix itself, without a word at place k: it sorts before the rest.
            first, last = low, high
            while first < last:
                middle = (first + last) >> 1
                at = source_offsets[middle] + k
                if at >= source_offsets[middle + 1] or source_ids[at] < word:
                    first = middle + 1
                else:
                    last = middle
            low = first
            last = high
            while first < last:
                middle = (first + last) >> 1
                if source_ids[source_offsets[middle] + k] <= word:
                    first = middle + 1
                else:
                    last = middle
            high = first
            if low < high and source_offsets[low + 1] - source_offsets[low] == k + 1:
                out[start, k] = low
