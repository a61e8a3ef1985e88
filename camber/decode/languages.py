"""The language models of a search, laid into one pair of arrays; any number of them, and any automaton of that form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.types import I8
from camber.corpus import Vocabulary
from camber.lm.ngrams import END, NgramModel, concatenate, step


class Languages:
    """Language models that share their arrays. A state is one number for each of them: int64[models]."""

    def __init__(self, models: Sequence[NgramModel]) -> None:
        self.models = list(models)
        self.nodes, self.children, roots, begin = concatenate(self.models)
        self.roots = np.asarray(roots, np.int64)  # without any context
        self.begin = np.asarray(begin, np.int64)  # after <s>
        #: more than a word can add to a log probability, float64[models]: 0 unless a model was made strangely
        self.highest = np.array([_highest(model) for model in self.models], np.float64)
        #: the vocabulary that was mapped last, and its words
        self._mapped: tuple[Vocabulary, I8] | None = None

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.models)

    def words(self, vocabulary: Vocabulary) -> I8:
        """Map the words of a vocabulary to those of every model, int64[models, words]."""
        mapped = self._mapped
        if mapped is None or mapped[0] is not vocabulary:
            words = np.zeros((len(self.models), len(vocabulary)), np.int64)
            for k, model in enumerate(self.models):
                words[k] = model.word_ids(vocabulary)
            self._mapped = mapped = (vocabulary, words)
        return mapped[1]

    def words_of(self, text: Sequence[str]) -> I8:
        """Map the words of a text, int64[models, words of the text]."""
        distinct = Vocabulary(list(dict.fromkeys(text)))
        places = distinct.encode(text)
        words = np.zeros((len(self.models), len(places)), np.int64)
        for k, model in enumerate(self.models):
            words[k] = model.word_ids(distinct)[places]
        return words

    def after(self, text: Sequence[str], state: I8) -> I8:
        """Return the state after more words."""
        reached = state.copy()
        for k, words in enumerate(self.words_of(text).tolist()):
            for word in words:
                _, reached[k] = step(self.nodes, self.children, reached[k], word)
        return reached

    def ends(self, *, final: bool) -> I8:
        """Return the words that are read behind a text, int64[models]: its end, or none (-1) where it goes on."""
        return np.full(len(self.models), END if final else -1, np.int64)


def _highest(model: NgramModel) -> float:
    """Return a bound of what one step through a model can add: a backoff for each context, and the word."""
    highest = max((float(cells["log"].max(initial=0.0)) for cells in (model.nodes, model.children)), default=0.0)
    return highest * model.order
