"""The dev set as a decoder sees it."""

from __future__ import annotations

from collections.abc import Sequence

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
    ):
        """Keep tokenised sentences and, for each, the tokens of one or more references.

        `vocabulary` has the target words of the model; `name` is what errors call the set; `reference_length` says
        which of several references a brevity penalty looks at.
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

    def statistics(self, hypotheses: HypothesisColumns) -> I8:
        """Return the metric's statistics of every hypothesis."""
        owners = np.repeat(np.arange(len(self.inputs)), hypotheses.counts)
        return self.metric.statistics_of_ids(hypotheses.words, self.references, self.reference_offsets, owners)
