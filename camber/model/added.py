"""Rules from the pairs that were added to a model.

The journal keeps their tokens and links. Those of a hierarchical model are put behind its index when it is opened;
those of a phrase model become an index of their own, which is laid over its rules. Version 0.1 kept the latter in the
model's folder `added/index`, which is still read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.errors import CamberError, ModelError
from camber.model.directory import ModelDirectory
from camber.model.journal import Journal

if TYPE_CHECKING:  # imported where there are added pairs
    from camber.rules.hiero.index import CorpusIndex
    from camber.rules.phrase.overlay import Overlay
    from camber.rules.phrase.store import RuleStore

#: how often words were linked in the text that the rules of a phrase model were made from
LEXICON = "align/lexicon.npy"
_INDEX = "added/index"


def learnt_pairs(journal: Journal) -> tuple[Bitext, Alignment]:
    """Return the pairs of a journal that rules are made of; new words are numbered call by call, as they came."""
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    words: tuple[dict[str, None], dict[str, None]] = ({}, {})
    links = []
    for pairs in journal.learnt:
        for side, known, texts in zip(
            sides, words, ([pair.tokens for pair in pairs], [pair.target_tokens for pair in pairs]), strict=True
        ):
            sentences = [text.split(" ") for text in texts]
            side += sentences
            known.update(dict.fromkeys(Vocabulary.from_text(sentences).words))
        links += [[_link(text) for text in (pair.links or "").split()] for pair in pairs]
    source, target = (
        Sentences.encode(side, Vocabulary(tuple(known))) for side, known in zip(sides, words, strict=True)
    )
    return Bitext(source, target), Alignment.from_pairs(links)


def _link(text: str) -> tuple[int, int]:
    source, target = text.split("-")
    return int(source), int(target)


def open_index(directory: ModelDirectory, folder: str) -> CorpusIndex:
    """Open the index of a hierarchical model, with the added pairs at its end."""
    from camber.rules.hiero.index import CorpusIndex

    return _extended(CorpusIndex.load(directory.path / folder), directory.journal)


def open_overlay(directory: ModelDirectory, store: RuleStore) -> Overlay | None:
    """Return the rules of a phrase model with those of the added pairs, None if nothing was ever added to it."""
    old = f"{_INDEX}/index.json" in directory
    if not old and not directory.journal.learnt:
        return None
    from camber.align.lexical import LexicalTable
    from camber.rules.hiero.index import CorpusIndex
    from camber.rules.phrase.overlay import Overlay

    if old:
        index = CorpusIndex.load(directory.path / _INDEX)
    else:
        nothing = np.zeros(0, np.int32), np.zeros(1, np.int64)
        sides = (Sentences(*nothing, words) for words in (store.source_vocabulary, store.target_vocabulary))
        index = CorpusIndex.build(Bitext(*sides), Alignment(np.zeros((0, 2), np.int32), np.zeros(1, np.int64)))
    longest = directory.whole(
        directory.settings.get("rules", {}).get("max_phrase_length", store.max_phrase_length),
        "settings.rules.max_phrase_length",
    )
    lexicon = LexicalTable.load(directory.file(LEXICON)) if LEXICON in directory else None
    return Overlay(store, _extended(index, directory.journal), longest, lexicon)


def _extended(index: CorpusIndex, journal: Journal) -> CorpusIndex:
    bitext, alignment = learnt_pairs(journal)
    if not len(bitext):
        return index
    try:
        return index.extended(bitext, alignment)
    except (CamberError, ValueError) as error:
        raise ModelError(f"{journal.model}: the added pairs do not fit the model ({error})") from None
