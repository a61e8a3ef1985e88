"""The dev set as a decoder sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from camber.arrays.types import I8
from camber.corpus import Sentences, Vocabulary
from camber.corpus.inputs import as_inputs
from camber.decode.derivation import HypothesisColumns
from camber.errors import CamberError, TuneError
from camber.metrics.bleu import BLEU
from camber.metrics.metric import CLOSEST


class DevSet:
    """The dev set as a model sees it: tokens, and references as ids of one vocabulary."""

    def __init__(
        self,
        source: Sequence[Sequence[str]],
        references: Sequence[Sequence[Sequence[str]]],
        vocabulary: Vocabulary,
        metric: str,
        name: str = "dev",
        *,
        reference_length: str = CLOSEST,
        lines: Sequence[str] | None = None,
        finish: Callable[[int, Sequence[str]], str] | None = None,
    ):
        """Keep tokenised sentences and, for each, the tokens of one or more references.

        `vocabulary` has the target words of the model; `name` is what errors call the set; `reference_length` says
        which of several references a brevity penalty looks at. For people, `lines` are the raw sentences, and `finish`
        makes raw text of the number of a sentence and the words of its translation.
        """
        if not source or not references:
            raise TuneError(f"the {name} set is empty; give at least one sentence with a reference")
        for texts in references:
            if len(texts) != len(source):
                raise CamberError(
                    f"{len(source):,} {name} sentences but {len(texts):,} reference lines; expected as many"
                )
        self.inputs = as_inputs(source)
        by_sentence = [words for group in zip(*references, strict=True) for words in group]
        self.vocabulary = vocabulary.extended(word for words in (*source, *by_sentence) for word in words)
        self.references = Sentences.encode(by_sentence, self.vocabulary)
        self.reference_offsets = np.arange(len(source) + 1) * len(references)
        self.metric = BLEU(tokenize="none", strict=metric == "sbp", reference_length=reference_length)
        self._lines, self._finish = lines, finish

    def statistics(self, hypotheses: HypothesisColumns) -> I8:
        """Return the metric's statistics of every hypothesis."""
        return self.statistics_of(hypotheses.words, np.repeat(np.arange(len(self.inputs)), hypotheses.counts))

    def statistics_of(self, words: Sentences, owners: I8) -> I8:
        """Return the metric's statistics of some hypotheses, given the sentence that each belongs to."""
        return self.metric.statistics_of_ids(words, self.references, self.reference_offsets, owners)

    def source(self, sentence: int) -> str:
        """Return a sentence as people read it."""
        return " ".join(self.inputs[sentence].tokens) if self._lines is None else self._lines[sentence]

    def finished(self, sentence: int, words: Sequence[str]) -> str:
        """Return the words of a translation of a sentence as people read them."""
        return " ".join(words) if self._finish is None else self._finish(sentence, words)
