"""The decoder of a regression: sentences in, n-best derivations out.

    decoder = RegressionDecoder(StoredRules(store), regression)
    for nbest in decoder.decode(as_inputs([["ein", "haus"]]), nbest=10):
        print(nbest[0].words, nbest[0].score)

Phrase pairs only say which words may stand where; the regression alone says how good a translation is. So nothing has a
weight here: the score of a derivation is the feature `regression`, of which a part has what the score grew by when it
was placed. The phrase pairs' own features stand beside it, for those who re-rank lists.

Least squares predict too little: a ridge makes every prediction smaller, and words in new company have no n-grams that
would predict what belongs between them, while each n-gram of a hypothesis counts fully in κ(y, y). So translations are
too short. Predictions may be multiplied by a `scale`, for which a number is chosen on a dev set (see
`camber.regress.scale`); 1 is what wang2007 does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from camber.arrays.ragged import cut, offsets_from, places_of
from camber.arrays.types import I4, I8, Bools
from camber.bend.log import LogBend
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.batches import decode_batches
from camber.decode.derivation import Derivation
from camber.decode.languages import Languages
from camber.decode.searcher import Work
from camber.decode.windows import decode_in_windows
from camber.engine import LOCAL, Engine
from camber.features.feature import CONTEXT, INDICATOR, NUMBER, RULE, Feature
from camber.regress.prediction import Prediction, Regression
from camber.regress.preimage import Grams, Hypotheses, PhraseOptions, search
from camber.regress.scorer import word_numbers
from camber.regress.settings import PreimageSettings
from camber.rules.phrase.source import PhraseBatch, PhraseSource

#: sentences whose phrases are looked up at once
BATCH = 25


class RegressionDecoder:
    """Search for the translations whose n-gram vector comes nearest to what a regression predicts."""

    #: the constraints that the search obeys: none
    takes: frozenset[str] = frozenset()
    #: what is counted in `work`
    WORK = ("hypotheses",)

    def __init__(self, rules: PhraseSource, regression: Regression, settings: PreimageSettings | None = None) -> None:
        """Make a decoder; the regression's n-grams have the word numbers of the rules."""
        self.rules, self.regression, self.settings = rules, regression, settings or PreimageSettings()
        self.inputs = (
            *rules.features,
            Feature("word_penalty", NUMBER, RULE),
            Feature("unknown", INDICATOR, RULE),
            Feature("regression", NUMBER, CONTEXT),
        )
        self.bend = LogBend(self.inputs)
        self._grams = Grams.of(regression.vectors.target_grams)

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"preimage": self.settings.to_dict(), **self.rules.recorded}

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""
        return self.rules.source_words

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""
        return self.rules.target_words

    def searching(self, changes: Mapping[str, Any]) -> RegressionDecoder:
        """Return the same decoder with some settings changed, such as ``{"beam": 10}``."""
        settings = PreimageSettings.from_dict({**self.settings.to_dict(), **changes})
        return RegressionDecoder(self.rules, self.regression, settings)

    def decode(
        self,
        inputs: Sequence[Input],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        work: Work | None = None,
    ) -> Iterator[list[Derivation]]:
        """Yield the `nbest` best derivations of every sentence, best first, in the order of the input.

        There are at most as many as the beam is wide. Every text comes once, with or without `distinct`: which phrases
        it is made of makes no difference to its score. An empty sentence has one derivation without parts.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        return decode_batches(_decode_batch, self, batches, nbest, distinct=distinct, engine=engine, work=work)

    def word_alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation, from the alignments inside its rules."""
        links: list[tuple[int, int]] = []
        for r, (source, _), (target, _) in zip(
            derivation.rules.tolist(), derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True
        ):
            inside = [(0, 0)] if r < 0 else self.rules.links_of(r).tolist()
            links += [(source + s, target + t) for s, t in inside]
        return sorted(links)

    # --- one sentence ------------------------------------------------------------------------------------------------

    def search(self, item: Input, batch: PhraseBatch, spans: I8) -> Searched:
        """Search one sentence; `spans` are those of its words in a batch of rules."""
        options = _options(item, batch, spans, self.target_vocabulary, self.settings.options)
        prediction = self.predict(item, options)
        scaled = prediction._replace(sums=prediction.sums * (self.settings.scale or 1.0))
        return Searched(options, search(options.phrases, scaled, self._grams, self.settings.beam))

    def predict(self, item: Input, options: SentenceOptions) -> Prediction:
        """Predict for all prefixes of a sentence what its options can reach."""
        return self.regression.predict(self._source_words(item), _reachable(options.phrases.words, self._grams.words))

    def best_words(self, item: Input, batch: PhraseBatch, spans: I8, scales: Sequence[float]) -> list[list[str]]:
        """Return the words of the best translation of a sentence for every scale of one prediction."""
        options = _options(item, batch, spans, self.target_vocabulary, self.settings.options)
        prediction = self.predict(item, options)
        texts = []
        for scale in scales:
            scaled = prediction._replace(sums=prediction.sums * scale)
            found = search(options.phrases, scaled, self._grams, self.settings.beam)
            texts.append(self._spelt(found, found.best()[0], options))
        return texts

    def _spelt(self, found: Hypotheses, hypothesis: int, options: SentenceOptions) -> list[str]:
        words = self.target_vocabulary.words
        return [
            words[word] if word < len(words) else options.unknown[word - len(words)] for word in found.text(hypothesis)
        ]

    def _source_words(self, item: Input) -> I4:
        """Return the numbers of a sentence's words; different unknown words have different numbers below 0."""
        return word_numbers(item.tokens, self.source_vocabulary)

    def derivations(self, searched: Searched, batch: PhraseBatch, nbest: int) -> list[Derivation]:
        """Read the best derivations out of the hypotheses of a sentence."""
        options, found = searched
        best = []
        for last in found.best()[:nbest]:
            path = found.path(last)
            chosen = found.option[path]
            own = options.rules[chosen]
            ends = found.size[path].astype(np.int64)
            begins = np.concatenate(([0], ends[:-1])) if path else ends
            scores = found.score[path]
            features = np.column_stack(
                (
                    batch.columns.values(own),
                    begins - ends,  # as everywhere, the penalty is minus the number of words
                    (own < 0).astype(np.float64),
                    np.diff(scores, prepend=0.0),
                )
            )
            rules = own if batch.numbers is None else np.where(own < 0, own, batch.numbers[own])
            best.append(
                Derivation(
                    self.inputs,
                    self._spelt(found, last, options),
                    float(found.score[last]),
                    features,
                    rules.astype(np.int64),
                    np.column_stack((found.start[path], found.stop[path])).astype(np.int64),
                    np.column_stack((begins, ends)),
                )
            )
        return best


class SentenceOptions(NamedTuple):
    """The options of a sentence's spans, and where they come from."""

    phrases: PhraseOptions
    rules: I8  # [options]: rows of the batch's store; -1: a word that is passed through
    unknown: list[str]  # words that are passed through and are no target words


class Searched(NamedTuple):
    """What was searched, and found."""

    options: SentenceOptions
    found: Hypotheses


def _options(item: Input, batch: PhraseBatch, spans: I8, vocabulary: Vocabulary, limit: int) -> SentenceOptions:
    """Collect the options of all spans: the first of each phrase, which have the greatest p(t|s).

    A word without a phrase of its own is passed through.
    """
    store = batch.store
    flat = spans.ravel()
    sizes = np.where(flat >= 0, np.minimum(np.diff(store.rule_offsets)[flat], limit), 0)
    alone = spans[:, 0] < 0
    sizes.reshape(spans.shape)[alone, 0] = 1
    rules = places_of(np.where(flat >= 0, store.rule_offsets[flat], 0), sizes)
    first = offsets_from(sizes)
    passed = first[:-1].reshape(spans.shape)[alone, 0]
    rules[passed] = -1
    known = np.flatnonzero(rules >= 0)
    starts = np.zeros(len(rules), np.int64)
    lengths = np.ones(len(rules), np.int64)
    lengths[known] = store.target_offsets[rules[known] + 1] - store.target_offsets[rules[known]]
    word_first = offsets_from(lengths)
    words = np.empty(int(word_first[-1]), np.int32)
    starts = places_of(word_first[known], lengths[known])
    words[starts] = cut(store.target_ids, store.target_offsets[rules[known]], lengths[known])[0]
    unknown: dict[str, int] = {}
    for place, word in zip(passed.tolist(), (item.tokens[i] for i in np.flatnonzero(alone).tolist()), strict=True):
        number = vocabulary.id(word)
        if number < 0:
            number = len(vocabulary) + unknown.setdefault(word, len(unknown))
        words[word_first[place]] = number
    table = np.concatenate((first[:-1].reshape(spans.shape), first[spans.shape[1] :: spans.shape[1], None]), axis=1)
    return SentenceOptions(PhraseOptions(np.ascontiguousarray(table), word_first, words), rules, list(unknown))


def _reachable(words: I4, count: int) -> Bools:
    reachable = np.zeros(count, np.bool_)
    reachable[words[words < count]] = True
    return reachable


def _decode_batch(
    shared: tuple[RegressionDecoder, int, bool], batch: Sequence[Input]
) -> tuple[list[list[Derivation]], Work]:
    """Decode a batch: short sentences, and long ones in windows."""
    decoder, nbest, _ = shared
    work = np.zeros(len(decoder.WORK), np.int64)

    def run(inputs: Sequence[Input], wanted: int) -> list[list[Derivation]]:
        if not inputs:
            return []
        rules = decoder.rules.batch(inputs)
        offsets = offsets_from(map(len, inputs))
        results = []
        for item, a, b in zip(inputs, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            searched = decoder.search(item, rules, rules.spans[a:b])
            work[0] += int(searched.found.first[-1])
            results.append(decoder.derivations(searched, rules, wanted))
        return results

    def one(item: Input, state: I8, final: bool) -> list[Derivation]:
        return run([item], nbest if final else 1)[0]

    window = decoder.settings.window
    short = iter(run([item for item in batch if len(item) <= window], nbest))
    in_windows = partial(decode_in_windows, window=window, languages=Languages([]), decode=one)
    return [next(short) if len(item) <= window else in_windows(item) for item in batch], work
