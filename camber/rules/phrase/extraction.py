"""From an aligned bitext to scored rules.

Phrase pairs are found sentence by sentence, sorted by what they are, and scored range by range of their source
phrases: all of a phrase's pairs are in one range, so a range needs nothing of the others but how often target phrases
occur. What does not fit into memory waits on disk (`camber.arrays.runs`), and ranges are scored where the engine says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from camber.align.lexical import LexicalTable, lexical_table
from camber.align.pharaoh import Alignment
from camber.arrays.ragged import cut, offsets_from, take_ragged
from camber.arrays.runs import Piece, SortedRuns, merged
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import Array
from camber.corpus.bitext import Bitext
from camber.corpus.vocabulary import Vocabulary
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.kernel import kernel
from camber.progress import each, step
from camber.rules.lexicon import Lexicon, hashed_lexicon
from camber.rules.phrase.pairs import Occurrences, check_alignment, find_phrases, pattern_words
from camber.rules.phrase.pieces import StoreWriter, joined
from camber.rules.phrase.scoring import (
    PhrasePairs,
    Phrases,
    gather,
    lexical_weights,
    links_of,
    orientation_probabilities,
)
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.significance import significant
from camber.rules.phrase.store import RuleStore
from camber.rules.phrase.suffixes import SortedSuffixes

#: bytes that an occurrence of a phrase pair takes while its range is scored, at most about
_WHILE_SCORED = 400
#: ranges that are in memory together: those under way on some threads, and those that wait for their turn
_RANGES = 6
#: vocabularies stay where the rules are put together
_NO_WORDS = Vocabulary(())


def extract(
    bitext: Bitext,
    alignment: Alignment,
    settings: RuleSettings | None = None,
    engine: Engine = LOCAL,
    lexicon: LexicalTable | None = None,
    scratch: Scratch = UNLIMITED,
) -> RuleStore:
    """Extract and score the phrase pairs of an aligned bitext.

    The lexical weights come from `lexicon`, by default the table of this very bitext and alignment.

    >>> store = extract(Bitext.encode([["la", "casa"]], [["the", "house"]]), Alignment.from_pairs([[(0, 0), (1, 1)]]))
    >>> [(store.source(p), store.target(r)) for p in range(store.phrases) for r in store.rules(p)]
    [(['casa'], ['house']), (['la'], ['the']), (['la', 'casa'], ['the', 'house'])]
    """
    settings = settings or RuleSettings()
    pieces = list(_extracted(bitext, alignment, settings, engine, lexicon, scratch))
    store = joined(pieces) if pieces else RuleStore.empty(reordering=settings.reordering)
    return replace(store, source_vocabulary=bitext.source.vocabulary, target_vocabulary=bitext.target.vocabulary)


def extract_into(
    folder: str | Path,
    bitext: Bitext,
    alignment: Alignment,
    settings: RuleSettings | None = None,
    engine: Engine = LOCAL,
    scratch: Scratch = UNLIMITED,
) -> None:
    """Write into `folder` what :meth:`RuleStore.save` writes of the rules, which need not fit into memory."""
    settings = settings or RuleSettings()
    with StoreWriter(Path(folder), reordering=settings.reordering) as writer:
        for piece in _extracted(bitext, alignment, settings, engine, None, scratch):
            writer.add(piece)
        writer.finish(bitext.source.vocabulary, bitext.target.vocabulary)


def _extracted(
    bitext: Bitext,
    alignment: Alignment,
    settings: RuleSettings,
    engine: Engine,
    lexicon: LexicalTable | None,
    scratch: Scratch,
) -> Iterator[RuleStore]:
    """Yield the rules of one range of source phrases after the other, without their words."""
    check_alignment(bitext, alignment)
    if min(bitext.source.ids.min(initial=0), bitext.target.ids.min(initial=0)) < 0:
        raise CamberError("the bitext has words outside its vocabularies; encode it with vocabularies of its own")
    longest = settings.max_phrase_length
    with step("sort suffixes"):
        source = SortedSuffixes.sort(bitext.source, longest, scratch)
        target = SortedSuffixes.sort(bitext.target, longest, scratch)
    target_counts = scratch.zeros((len(bitext.target.ids) * longest,), np.int32)
    words = pattern_words(longest)
    runs = SortedRuns((np.int64, *[np.int64] * words, np.uint8), scratch, parts=4)
    target_codes = len(bitext.target.ids) * (longest + 1)
    for block in find_phrases(bitext, alignment, source, target, engine):
        _count_targets(block.keys, target_codes, longest, target_counts)
        runs.add(block.keys, *block.patterns, block.orientations)
    if len(runs) == 0:
        return
    with step("sort phrases"):
        runs.sort()
    with step("count linked words"):
        words_linked = hashed_lexicon(lexical_table(bitext, alignment) if lexicon is None else lexicon)
    shared = _Scoring(
        _Side(bitext.source.ids, source.order),
        _Side(bitext.target.ids, target.order),
        target_counts,
        target_codes,
        words_linked,
        longest,
        len(runs),
        settings,
    )
    most = max(1, min(scratch.share(_RANGES) // _WHILE_SCORED, len(runs)))
    yield from each(engine.map(_scored, shared, runs.ranges(most, width=target_codes)), "score phrases", unit="ranges")


class _Side(NamedTuple):
    """One side of the text."""

    ids: Array  # int32[tokens]
    order: Array  # int64[tokens]: see `SortedSuffixes`


class _Scoring(NamedTuple):
    """What scoring any phrase pairs of the text needs."""

    source: _Side
    target: _Side
    target_counts: Array  # int32[tokens * longest]: how often a target phrase is one of a pair, by place and length
    target_codes: int
    lexicon: Lexicon
    longest: int
    total: int  # occurrences of phrase pairs
    settings: RuleSettings


@kernel
def _count_targets(keys, target_codes, longest, counts):
    """Count the target phrases of pairs: n words that stand first at `place` are counted at place * longest + n - 1."""
    for pair in range(len(keys)):
        code = keys[pair] % target_codes
        counts[code // (longest + 1) * longest + code % (longest + 1) - 1] += 1


def _scored(shared: _Scoring, piece: Piece) -> RuleStore:
    """Score the phrase pairs of some source phrases, and keep those that the settings ask for."""
    keys, *patterns, orientations = merged(piece)
    pairs = gather(Occurrences(keys, np.array(patterns), orientations, shared.target_codes), shared.longest)
    store = _assemble(pairs, shared)
    if shared.settings.significance != "none":
        store = significant(store, shared.settings.significance, shared.total)
    return store.prune(shared.settings.options_per_phrase)


def _assemble(pairs: PhrasePairs, shared: _Scoring) -> RuleStore:
    """Score counted phrase pairs and put them into the order of the store."""
    longest, source, target = shared.longest, shared.source, shared.target
    source_codes, of_source = np.unique(pairs.source, return_inverse=True)
    source_counts = np.bincount(of_source, pairs.counts, len(source_codes)).astype(np.int64)
    source_starts, source_lengths = source.order[source_codes // (longest + 1)], source_codes % (longest + 1)
    target_places, target_lengths = pairs.target // (longest + 1), pairs.target % (longest + 1)
    target_starts = target.order[target_places]
    target_counts = shared.target_counts[target_places * longest + target_lengths - 1]
    lexical = lexical_weights(
        pairs,
        Phrases(source.ids, source_starts[of_source], source_lengths[of_source]),
        Phrases(target.ids, target_starts, target_lengths),
        shared.lexicon,
        longest,
    )
    links, link_sizes = links_of(pairs.patterns, longest)
    scores = np.empty((len(pairs.counts), 4), np.float32)
    scores[:, 0] = pairs.counts / target_counts
    scores[:, 1] = lexical[:, 0]
    scores[:, 2] = pairs.counts / source_counts[of_source]
    scores[:, 3] = lexical[:, 1]
    np.maximum(scores, np.finfo(np.float32).tiny, out=scores)  # a product of small numbers may leave float32's range

    # Pairs come by source and then target id sequence; a stable sort by falling count keeps the latter for ties.
    most = int(pairs.counts.max(initial=0))
    order = np.argsort(of_source * (most + 1) + most - pairs.counts, kind="stable")
    source_ids, source_offsets = cut(source.ids, source_starts, source_lengths)
    target_ids, target_offsets = cut(target.ids, target_starts[order], target_lengths[order])
    links, link_offsets = take_ragged(links, offsets_from(link_sizes), order)
    orientations = np.zeros((len(order), 0), np.float32)
    if shared.settings.reordering:
        orientations = orientation_probabilities(pairs.orientations[order], pairs.counts[order])
    return RuleStore(
        source_ids=source_ids,
        source_offsets=source_offsets,
        rule_offsets=offsets_from(np.bincount(of_source, minlength=len(source_codes))),
        source_counts=source_counts,
        target_ids=target_ids,
        target_offsets=target_offsets,
        scores=scores[order],
        counts=np.column_stack((target_counts[order], pairs.counts[order].astype(np.int32))),
        reordering=orientations,
        links=links,
        link_offsets=link_offsets,
        source_vocabulary=_NO_WORDS,
        target_vocabulary=_NO_WORDS,
        max_phrase_length=int(source_lengths.max(initial=0)),
    )
