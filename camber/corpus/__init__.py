"""Corpora: reading, cleaning, splitting; vocabularies and bitexts."""

from camber.corpus.bitext import Bitext, Sentences
from camber.corpus.vocabulary import Vocabulary

__all__ = ["Bitext", "Sentences", "Vocabulary"]
