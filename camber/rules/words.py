"""What is learnt about the words of a training text for features of rules: clusters, and linked pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from camber.align.lexical import LexicalTable, lexical_table
from camber.align.words import AlignSettings, align_corpus
from camber.arrays.files import open_array
from camber.arrays.types import I4, I8
from camber.corpus.bitext import Bitext, Sentences
from camber.corpus.clusters import WordClusters
from camber.corpus.subwords import Subwords
from camber.engine import LOCAL, Engine
from camber.progress import log, step
from camber.rules.settings import WordSettings

_SIDES = ("source", "target")


@dataclass(frozen=True)
class SideWords:
    """The words of one language."""

    counts: I8  # [words] how often the text has each
    clusters: I4  # [words]
    subwords: Subwords

    @classmethod
    def learn(cls, text: Sentences, settings: WordSettings) -> Self:
        """Cluster the words of a text, and learn to cut them."""
        counts = np.bincount(text.ids, minlength=len(text.vocabulary)).astype(np.int64)
        with step("cluster words"):
            learnt = WordClusters.learn(text, settings.clusters)
        perplexity = np.exp(-learnt.log_likelihood / max(1, len(text.ids) + len(text)))
        log.info("clusters: %d, bigram perplexity %.1f after %d rounds", settings.clusters, perplexity, learnt.rounds)
        with step("learn pieces of words"):
            return cls(counts, learnt.of_word, Subwords.learn(text, settings.subword_merges))


@dataclass(frozen=True)
class WordKnowledge:
    """Both languages, and how often their pieces of words were linked."""

    source: SideWords
    target: SideWords
    lexicon: LexicalTable  # of pieces

    @classmethod
    def learn(
        cls, bitext: Bitext, settings: WordSettings, align: AlignSettings | None = None, engine: Engine = LOCAL
    ) -> Self:
        """Learn from a bitext with its own vocabularies."""
        source, target = SideWords.learn(bitext.source, settings), SideWords.learn(bitext.target, settings)
        pieces = Bitext(source.subwords.cut(bitext.source), target.subwords.cut(bitext.target))
        return cls(source, target, lexical_table(pieces, align_corpus(pieces, align, engine)))

    @property
    def sides(self) -> Mapping[str, SideWords]:
        """Both languages by name."""
        return {"source": self.source, "target": self.target}

    def save(self, folder: Path) -> None:
        """Write what was learnt into a folder."""
        for name, side in self.sides.items():
            side.subwords.save(folder / name)
            np.save(folder / name / "counts.npy", side.counts)
            np.save(folder / name / "clusters.npy", side.clusters)
        self.lexicon.save(folder / "lexicon.npy")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open what :meth:`save` wrote."""
        source, target = (
            SideWords(
                open_array(folder / name / "counts.npy", np.int64, 1),
                open_array(folder / name / "clusters.npy", np.int32, 1),
                Subwords.load(folder / name),
            )
            for name in _SIDES
        )
        return cls(source, target, LexicalTable.load(folder / "lexicon.npy"))
