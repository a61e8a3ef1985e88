"""From an aligned bitext to scored rules."""

from __future__ import annotations

import numpy as np

from camber.align.lexical import LexicalTable, lexical_table
from camber.align.pharaoh import Alignment
from camber.arrays.ragged import cut, offsets_from, take_ragged
from camber.corpus.bitext import Bitext
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.rules.phrase.pairs import check_alignment, find_phrases
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


def extract(
    bitext: Bitext,
    alignment: Alignment,
    settings: RuleSettings | None = None,
    engine: Engine = LOCAL,
    lexicon: LexicalTable | None = None,
) -> RuleStore:
    """Extract and score the phrase pairs of an aligned bitext.

    The lexical weights come from `lexicon`, by default the table of this very bitext and alignment.

    >>> store = extract(Bitext.encode([["la", "casa"]], [["the", "house"]]), Alignment.from_pairs([[(0, 0), (1, 1)]]))
    >>> [(store.source(p), store.target(r)) for p in range(store.phrases) for r in store.rules(p)]
    [(['casa'], ['house']), (['la'], ['the']), (['la', 'casa'], ['the', 'house'])]
    """
    settings = settings or RuleSettings()
    check_alignment(bitext, alignment)
    if min(bitext.source.ids.min(initial=0), bitext.target.ids.min(initial=0)) < 0:
        raise CamberError("the bitext has words outside its vocabularies; encode it with vocabularies of its own")
    longest = settings.max_phrase_length
    source, target = SortedSuffixes.sort(bitext.source, longest), SortedSuffixes.sort(bitext.target, longest)
    pairs = gather(find_phrases(bitext, alignment, source, target, engine), longest)
    lexicon = lexical_table(bitext, alignment) if lexicon is None else lexicon
    store = assemble(bitext, pairs, source, target, lexicon, reordering=settings.reordering)
    if settings.significance != "none":
        store = significant(store, settings.significance, total=int(pairs.counts.sum()))
    return store.prune(settings.options_per_phrase)


def assemble(
    bitext: Bitext,
    pairs: PhrasePairs,
    source: SortedSuffixes,
    target: SortedSuffixes,
    lexicon: LexicalTable,
    *,
    reordering: bool,
) -> RuleStore:
    """Score counted phrase pairs and put them into the order of the store."""
    source_codes, of_source = np.unique(pairs.source, return_inverse=True)
    target_codes, of_target = np.unique(pairs.target, return_inverse=True)
    source_counts = np.bincount(of_source, pairs.counts, len(source_codes)).astype(np.int64)
    target_counts = np.bincount(of_target, pairs.counts, len(target_codes)).astype(np.int64)
    source_starts, source_lengths = source.starts_of(source_codes), source.lengths_of(source_codes)
    target_starts, target_lengths = target.starts_of(target_codes), target.lengths_of(target_codes)
    lexical = lexical_weights(
        pairs,
        Phrases(bitext.source.ids, source_starts[of_source], source_lengths[of_source]),
        Phrases(bitext.target.ids, target_starts[of_target], target_lengths[of_target]),
        lexicon,
        source.longest,
    )
    links, link_sizes = links_of(pairs.patterns, source.longest)
    scores = np.empty((len(pairs.counts), 4), np.float32)
    scores[:, 0] = pairs.counts / target_counts[of_target]
    scores[:, 1] = lexical[:, 0]
    scores[:, 2] = pairs.counts / source_counts[of_source]
    scores[:, 3] = lexical[:, 1]
    np.maximum(scores, np.finfo(np.float32).tiny, out=scores)  # a product of small numbers may leave float32's range

    # Pairs come by source and then target id sequence; a stable sort by falling count keeps the latter for ties.
    most = int(pairs.counts.max(initial=0))
    order = np.argsort(of_source * (most + 1) + most - pairs.counts, kind="stable")
    source_ids, source_offsets = cut(bitext.source.ids, source_starts, source_lengths)
    targets = of_target[order]
    target_ids, target_offsets = cut(bitext.target.ids, target_starts[targets], target_lengths[targets])
    links, link_offsets = take_ragged(links, offsets_from(link_sizes), order)
    orientations = np.zeros((len(order), 0), np.float32)
    if reordering:
        orientations = orientation_probabilities(pairs.orientations[order], pairs.counts[order])
    return RuleStore(
        source_ids=source_ids,
        source_offsets=source_offsets,
        rule_offsets=offsets_from(np.bincount(of_source, minlength=len(source_codes))),
        source_counts=source_counts,
        target_ids=target_ids,
        target_offsets=target_offsets,
        scores=scores[order],
        counts=np.column_stack((target_counts[targets].astype(np.int32), pairs.counts[order].astype(np.int32))),
        reordering=orientations,
        links=links,
        link_offsets=link_offsets,
        source_vocabulary=bitext.source.vocabulary,
        target_vocabulary=bitext.target.vocabulary,
        max_phrase_length=int(source_lengths.max(initial=0)),
    )
