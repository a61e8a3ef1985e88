"""A translation that was begun: what the spans of a sentence may become, for each place of the prefix.

A hypothesis with j words of the prefix goes on with candidates that agree with the prefix from there on: all of their
words, or all that is left of it. The prefix may have words that no rule gives, in any order. So short spans may also
become a few words of the prefix, whatever these are, and one span may always become all that is left of it; hence
every prefix can be had. That costs something for each word that a rule would have given, and what the words of the
span are worth otherwise, so that none is better off than others by being used up. A word that no rule gives costs
nothing: it must come in every translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from camber.arrays.ragged import take_ragged
from camber.arrays.types import F8, I8
from camber.corpus.inputs import Input
from camber.decode.phrase.constrained import BLOCKED, NONE, Draft

#: source words, and words of the prefix, that may be taken for translations of each other
LOOSE = 3


class Costs(NamedTuple):
    """What it costs to use a span up for words of the prefix."""

    given: float  # for each word that a rule gives
    source: F8  # [source words] what the best rules for each word are worth


def prefix_spans(draft: Draft, spans: I8, item: Input, costs: Costs) -> I8:
    """Return spans for each place of the prefix, and for what follows it: int64[(places + 1) * length, longest]."""
    prefix, length = item.constraints.prefix, len(item)
    rows = np.full(((len(prefix) + 1) * length, spans.shape[1]), BLOCKED, np.int64)
    rows[len(prefix) * length :] = spans
    found = _Candidates(draft, spans, item)
    ids, ends = [draft.word(word) for word in prefix], found.endings(prefix, open=item.constraints.open)
    free = spans[:, 0] != BLOCKED
    loose = {
        (begin, size)
        for begin in range(length)
        for size in range(min(LOOSE, spans.shape[1], length - begin))
        if free[begin : begin + size + 1].all()
    }
    loose |= {(term.begin, term.end - term.begin - 1) for term in item.constraints.terms}
    for place in range(len(prefix)):
        agreeing = found.agreeing(ids, ends, place)
        shared: dict[int, int] = {}
        here = rows[place * length : (place + 1) * length]
        left = len(prefix) - place
        sizes = sorted({*range(1, min(LOOSE, left) + 1), left})
        made = [ids[place : place + words] for words in sizes]  # one row for all spans that may become it
        lost = np.cumsum([0.0, *(costs.given if number in found.given else 0.0 for number in ids[place:])])
        for begin, size in np.argwhere((spans != BLOCKED) & (spans != NONE)).tolist():
            phrase = int(spans[begin, size])
            if phrase in agreeing and (begin, size) not in loose:
                if phrase not in shared:
                    shared[phrase] = draft.add(agreeing[phrase])
                here[begin, size] = shared[phrase]
        for begin, size in loose:
            worth = float(costs.source[begin : begin + size + 1].sum())
            more = [draft.make_ids(row, worth - lost[len(row)]) for row in made]
            if size == 0 and spans[begin, 0] == NONE and item.tokens[begin] == prefix[place]:
                more.append(draft.make_ids(ids[place : place + 1], 0.0))  # it is passed through
            here[begin, size] = draft.add([*agreeing.get(int(spans[begin, size]), ()), *more])
    return rows


class _Candidates:
    """All candidates for the spans of a sentence, by their first words."""

    def __init__(self, draft: Draft, spans: I8, item: Input) -> None:
        self.draft = draft
        phrases, numbers, firsts = [], [], []
        given: set[int] = set()
        for phrase in np.unique(spans[(spans != NONE) & (spans != BLOCKED)]).tolist():
            rows = np.array(draft.candidates(phrase), np.int64)
            known, made = rows[rows >= 0], rows[rows < 0].tolist()
            ids, offsets = take_ragged(draft.store.target_ids, draft.store.target_offsets, known)
            given.update(np.unique(ids).tolist())
            given.update(word for row in made for word in draft.target(row))
            firsts += [ids[offsets[:-1]].astype(np.int64), np.array([draft.target(row)[0] for row in made], np.int64)]
            numbers += [known, np.array(made, np.int64)]
            phrases.append(np.full(len(rows), phrase, np.int64))
        none = np.zeros(0, np.int64)
        self.phrase, self.number, self.first = (np.concatenate([*some, none]) for some in (phrases, numbers, firsts))
        #: words that some candidate has, or that are passed through
        self.given = given | {draft.word(item.tokens[at]) for at in np.flatnonzero(spans[:, 0] == NONE).tolist()}

    def endings(self, prefix: Sequence[str], *, open: bool) -> set[int]:
        """Return the words that the last one of the prefix may be: itself, or, if no rule has it, what it begins."""
        last = self.draft.word(prefix[-1])
        if not open or last in self.given:
            return {last}
        words, known = self.draft.words.words, len(self.draft.words)
        return {last, *(w for w in self.given if w < known and words[w].startswith(prefix[-1]))}

    def agreeing(self, ids: list[int], ends: set[int], place: int) -> dict[int, list[int]]:
        """Return the candidates of each phrase that agree with the prefix from a place on."""
        last = len(ids) - 1
        wanted = np.array(sorted(ends) if place == last else [ids[place]], np.int64)
        found: dict[int, list[int]] = {}
        for at in np.flatnonzero(np.isin(self.first, wanted)).tolist():
            row = self.draft.target(int(self.number[at]))[: last + 1 - place]
            if all(word == ids[place + k] or (place + k == last and word in ends) for k, word in enumerate(row)):
                found.setdefault(int(self.phrase[at]), []).append(int(self.number[at]))
        return found
