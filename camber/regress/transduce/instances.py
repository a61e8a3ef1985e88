"""The pairs of a corpus, and those that are selected for a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import take_ragged
from camber.arrays.types import I4, I8
from camber.corpus import Bitext, Sentences
from camber.regress.select.selectors import make_selector
from camber.regress.transduce.settings import SparseSettings
from camber.rules.hiero.index import CorpusIndex


class Instances:
    """An aligned corpus with an index for selection. Threads may share it.

    instances = Instances(index, SparseSettings())
    sentence = instances.encode(["ein", "haus"])
    bitext, alignment = instances.pairs(instances.select(sentence))
    """

    def __init__(self, corpus: CorpusIndex, settings: SparseSettings) -> None:
        """Index a corpus for the selector that the settings name."""
        self.corpus, self.settings = corpus, settings
        self.selector = make_selector(settings.selector, corpus.bitext, settings.selecting())

    def encode(self, tokens: Sequence[str]) -> I4:
        """Return words as numbers of the source vocabulary, -1 where unknown."""
        return self.corpus.source.vocabulary.encode(tokens).astype(np.int32)

    def select(self, sentence: I4) -> I8:
        """Return the numbers of the pairs that are selected for a sentence, best first."""
        return self.selector.select(sentence, self.settings.instances)

    def pairs(self, chosen: I8) -> tuple[Bitext, Alignment]:
        """Return some pairs and their links; the vocabularies are those of the whole corpus."""
        corpus = self.corpus
        sides = (
            Sentences(*take_ragged(side.ids, side.offsets, chosen), side.vocabulary)
            for side in (corpus.source, corpus.target)
        )
        return Bitext(*sides), Alignment(*take_ragged(corpus.alignment.links, corpus.alignment.offsets, chosen))

    @property
    def ratio(self) -> float:
        """Source words for each target word of the corpus."""
        return len(self.corpus.source.ids) / max(1, len(self.corpus.target.ids))
