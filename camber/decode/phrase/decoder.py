"""The phrase decoder: sentences in, n-best derivations with their parts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F4, F8, I8
from camber.bend.discrete import DiscreteBend, tally
from camber.bend.weighing import Weighed, Weighing
from camber.corpus import Sentences, Vocabulary
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.decode.phrase.batch import Found, Workspace, decode_batch, lookup_batch, summarise
from camber.decode.phrase.features import DISTORTION, LM, SMALLEST, feature_names
from camber.decode.phrase.options import LanguageModels, Options, build_options, rule_columns, rule_features
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.windows import cut_points
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.lm.ngrams import END, NgramModel, concatenate, step
from camber.progress import Counter, log
from camber.rules.phrase.store import SCORE_NAMES, RuleStore

if TYPE_CHECKING:
    from camber.rules.phrase.overlay import Overlay


#: sentences decoded by one call of the kernel: enough to share options, few enough to share among threads
BATCH = 125
#: derivations looked at for every distinct text that is wanted
DISTINCT_FACTOR = 100


class PhraseDecoder(Weighed):
    """Search for translations under a weighted sum of features.

    Example::

        decoder = PhraseDecoder(store, [lm], weights)
        for nbest in decoder.decode([["ein", "haus"]], nbest=10):
            print(nbest[0].words, nbest[0].score)
    """

    def __init__(
        self,
        store: RuleStore,
        models: Sequence[NgramModel],
        weights: Mapping[str, float],
        settings: DecodeSettings | None = None,
        added: Overlay | None = None,
        bend: DiscreteBend | None = None,
        features: Sequence[str] = SCORE_NAMES,
    ) -> None:
        """Make a decoder; `features` are those of the rules themselves, any of `RULE_FEATURES`."""
        self.store, self.models = store, list(models)
        self.added = added  # pairs that were added since the store was made
        self.settings = settings or DecodeSettings()
        self.features = tuple(features)
        self.table = store.table(self.features)
        self.weighing = Weighing(feature_names(len(self.models), self.features), weights, bend)
        self.rule_columns = rule_columns(len(self.features))
        self.bent_columns = self.weighing.bent_columns(self.rule_columns)
        nodes, children, roots, begin = concatenate(self.models)
        self.language_models = LanguageModels(nodes, children, self.weighing.linear[len(self.features) + LM :].copy())
        self.roots, self.begin = np.asarray(roots, np.int64), np.asarray(begin, np.int64)
        self.lm_words = np.zeros((len(self.models), len(self.target_vocabulary)), np.int64)
        for k, model in enumerate(self.models):
            self.lm_words[k] = model.word_ids(self.target_vocabulary)
        #: what the last call of `decode` did: edges, language model scores of cells, pops
        self.work = np.zeros(3, np.int64)

    @property
    def has_raw_values(self) -> bool:
        """Whether rules keep raw probabilities and counts, from which their logarithms are made."""
        return True

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"decode": self.settings.to_dict()}

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""
        return (self.added or self.store).source_vocabulary

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""
        return (self.added or self.store).target_vocabulary

    def reweighted(self, weights: Mapping[str, float]) -> PhraseDecoder:
        """Return the same decoder with other weights."""
        return self.bent(weights, self.bend)

    def bent(self, weights: Mapping[str, float], bend: DiscreteBend | None) -> PhraseDecoder:
        """Return the same decoder with another bend and its weights."""
        return PhraseDecoder(self.store, self.models, weights, self.settings, self.added, bend, self.features)

    def remembering(self) -> PhraseDecoder:
        """Return this decoder: its rules are a table, and there is nothing that would be worth keeping."""
        return self

    def searching(self, changes: Mapping[str, Any]) -> PhraseDecoder:
        """Return the same decoder with some settings changed, such as ``{"pop_limit": 100}``."""
        settings = DecodeSettings.from_dict({**self.settings.to_dict(), **changes})
        weights = self.weighing.by_name()
        return PhraseDecoder(self.store, self.models, weights, settings, self.added, self.bend, self.features)

    def rule_values(self, sentences: Sequence[Sequence[str]]) -> dict[str, tuple[F8, I8]]:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every span of source words that it applies to.
        """
        tallies: dict[str, list[tuple[F8, I8]]] = {self.inputs[column]: [] for column in self.rule_columns}
        for first in range(0, len(sentences), BATCH):
            batch = [self.source_vocabulary.encode(words) for words in sentences[first : first + BATCH]]
            store, spans, _ = self._rules_of(batch)
            phrases, often = np.unique(spans[spans >= 0], return_counts=True)
            features = rule_features(store, self._table_of(store), phrases, False)
            weight = np.repeat(often, np.diff(store.rule_offsets)[phrases])
            for name, column in zip(tallies, features.T, strict=True):
                tallies[name].append(tally([(column, weight)]))
        return {name: tally(found) for name, found in tallies.items()}

    def worth(self, name: str, values: F8) -> F8:
        """Return what raw values of a feature add to this decoder's scores, float64[values]."""
        if self.bend is None and name in self.features:
            values = np.log(np.maximum(values, SMALLEST))
        return self.weighing.worth(name, values)

    def decode(
        self,
        sentences: Sequence[Sequence[str]],
        nbest: int = 1,
        distinct: bool = True,
        engine: Engine = LOCAL,
        first: int = 0,
    ) -> Iterator[list[Derivation]]:
        """Yield the `nbest` best derivations of every tokenised sentence, best first, in the order of the input.

        With `distinct`, every text comes once. An empty sentence has one derivation without parts. `first`, the number
        of the first sentence in the input, makes no difference to a table of phrases.
        """
        if nbest < 1:
            raise CamberError(f"{nbest} hypotheses were asked for; at least 1 is needed")
        self.work[:] = 0
        batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
        counter = Counter("translate", len(sentences))

        def one(batch: Sequence[Sequence[str]]) -> list[list[Derivation]]:
            return self._decode_batch(batch, nbest, distinct)

        for found in engine.map(lambda _, batch: one(batch), None, batches):
            counter.add(len(found))
            yield from found

    def decode_columns(
        self, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary, nbest: int, engine: Engine = LOCAL
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses, without an object for each: what tuning needs, and quicker.

        `vocabulary` begins with the target vocabulary of the rules and has every word of `sentences`.
        """
        self.work[:] = 0
        batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
        return HypothesisColumns.join(
            list(engine.map(lambda _, batch: self._columns(batch, vocabulary, nbest), None, batches)),
            vocabulary,
            self.weighing,
        )

    def _columns(self, batch: Sequence[Sequence[str]], vocabulary: Vocabulary, nbest: int) -> HypothesisColumns:
        if max(map(len, batch), default=0) > self.settings.window:
            return HypothesisColumns.of(self._decode_batch(batch, nbest, True), vocabulary, self.weighing)
        begin = np.tile(self.begin, (len(batch), 1))
        found, options, unknown = self._search(batch, nbest, True, begin, np.ones(len(batch), np.int64))
        count, parts = int(found.next[1]), int(found.next[2])
        sums, offsets = np.zeros((count, len(self.inputs))), np.zeros(count + 1, np.int64)
        chosen = found.option[:parts]
        ids = np.empty(int((options.word_first[chosen + 1] - options.word_first[chosen]).sum()), np.int32)
        summarise(found, options, vocabulary.encode(unknown), sums, offsets, ids)
        features, bins = self.weighing.of_hypotheses(
            found.features[:parts], found.rule[:parts], found.part_first[: count + 1], sums
        )
        return HypothesisColumns(found.count, features, Sentences(ids, offsets, vocabulary), bins)

    def word_alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation, from the alignments inside its rules."""
        rules = self.added or self.store
        found = []
        for r, (source, _), (target, _) in zip(
            derivation.rules.tolist(), derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True
        ):
            links = [(0, 0)] if r < 0 else rules.links_of(r).tolist()
            found += [(source + s, target + t) for s, t in links]
        return sorted(found)

    # --- one batch ---------------------------------------------------------------------------------------------------

    def _decode_batch(self, batch: Sequence[Sequence[str]], nbest: int, distinct: bool) -> list[list[Derivation]]:
        short = [i for i, words in enumerate(batch) if len(words) <= self.settings.window]
        pieces = [batch[i] for i in short]
        begin = np.tile(self.begin, (len(pieces), 1))
        results = dict(
            zip(short, self._run(pieces, nbest, distinct, begin, np.ones(len(pieces), np.int64)), strict=True)
        )
        for i, words in enumerate(batch):
            if i not in results:
                results[i] = self._decode_long(words, nbest, distinct)
        return [results[i] for i in range(len(batch))]

    def _decode_long(self, words: Sequence[str], nbest: int, distinct: bool) -> list[Derivation]:
        """Decode a very long sentence window by window; the language model goes on across the cuts.

        The n-best list varies the last window only.
        """
        cuts = cut_points(words, self.settings.window)
        log.info("a sentence of %d words is decoded in %d windows", len(words), len(cuts) - 1)
        done: Derivation | None = None
        state = self.begin
        for a, b in pairwise(cuts):
            final = b == len(words)
            wanted = nbest if final else 1
            found = self._run([words[a:b]], wanted, distinct, state[None, :], np.array([final], np.int64))[0]
            joined = [piece.after(done, a) for piece in found]
            if final:
                return joined
            done = joined[0]
            state = self._state_after(found[0].words, state)
        raise AssertionError("the last window ends the sentence")

    def _state_after(self, words: Sequence[str], state: I8) -> I8:
        """Return the language models' states after more words."""
        after = state.copy()
        distinct = Vocabulary(list(dict.fromkeys(words)))
        for k, model in enumerate(self.models):
            for word in model.word_ids(distinct)[distinct.encode(words)]:
                _, after[k] = step(self.language_models.nodes, self.language_models.children, after[k], word)
        return after

    def _run(
        self, batch: Sequence[Sequence[str]], nbest: int, distinct: bool, begin: I8, ends: I8
    ) -> list[list[Derivation]]:
        """Decode sentences that fit into a window."""
        return list(self._derivations(*self._search(batch, nbest, distinct, begin, ends))) if batch else []

    def _rules_of(self, sentences: Sequence[I8]) -> tuple[RuleStore, I8, I8 | None]:
        """Return a store with the rules of sentences (ids of words), the phrase of every span, and the rules' numbers.

        The numbers are None where they are the rows of the store.
        """
        if self.added:
            return self.added.batch(sentences)
        store, longest = self.store, max(1, self.store.max_phrase_length)
        ids = np.concatenate(sentences)
        spans = np.empty((len(ids), longest), np.int64)
        offsets = offsets_from(np.array([len(words) for words in sentences], np.int64))
        lookup_batch(ids, offsets, longest, store.source_ids, store.source_offsets, spans)
        return store, spans, None

    def _table_of(self, store: RuleStore) -> F4:
        """Return the own features of a store's rules, float32[R, features]."""
        return self.table if store is self.store else store.table(self.features)

    def _search(
        self, batch: Sequence[Sequence[str]], nbest: int, distinct: bool, begin: I8, ends: I8
    ) -> tuple[Found, Options, list[str]]:
        """Call the kernel, with larger work arrays if it asks for them; also return the options and unknown words."""
        settings = self.settings
        sentences = [self.source_vocabulary.encode(words) for words in batch]
        offsets = offsets_from(np.array([len(words) for words in batch], np.int64))
        store, spans, numbers = self._rules_of(sentences)

        # words without a rule of their own are passed through
        flat = [word for words in batch for word in words]
        alone = np.flatnonzero(spans[:, 0] < 0)
        unknown = list(dict.fromkeys(flat[i] for i in alone))
        number = {word: u for u, word in enumerate(unknown)}
        phrases, inverse = np.unique(spans, return_inverse=True)
        local = inverse.reshape(spans.shape).astype(np.int64)
        if len(phrases) and phrases[0] < 0:
            phrases, local = phrases[1:], local - 1
        local[alone, 0] = [len(phrases) + number[flat[i]] for i in alone]
        unknown_words = np.zeros((len(self.models), len(unknown)), np.int64)
        for k, model in enumerate(self.models):
            unknown_words[k] = model.word_ids(Vocabulary(unknown))
        phrases = np.concatenate([phrases, -1 - np.arange(len(unknown), dtype=np.int64)])
        table = self._table_of(store)
        options = build_options(self, store, table, phrases, unknown_words)

        found = Found.make(len(batch), len(flat), nbest, len(self.inputs))
        end_words = np.repeat(np.where(ends > 0, END, -1)[:, None], len(self.models), axis=1).astype(np.int64)
        workspace = Workspace(max(map(len, batch)), len(self.models), settings.pop_limit, nbest)
        code = -1
        while code < 0:
            code = decode_batch(
                local, offsets, options, table, int(self.bend is None), store.reordering,
                self.language_models, np.ascontiguousarray(begin), end_words,
                self.weighing.linear[len(self.features) + DISTORTION], settings.distortion_limit, settings.pop_limit,
                nbest, int(distinct), nbest * DISTINCT_FACTOR,
                workspace.future(), workspace.room(), workspace.list_room(), found,
            )  # fmt: skip
            if code < 0:
                workspace.grow(code)
        self.work += workspace.work
        if numbers is not None:  # rules are known outside by numbers that do not depend on the batch
            parts = found.rule[: found.next[2]]
            parts[parts >= 0] = numbers[parts[parts >= 0]]
        return found, options, unknown

    def _derivations(self, found: Found, options: Options, unknown: list[str]) -> Iterator[list[Derivation]]:
        """Turn the kernel's columns into derivations, sentence by sentence."""
        vocabulary = self.target_vocabulary.words
        h = 0
        for count in found.count.tolist():
            result = []
            for n in range(h, h + count):
                a, b = int(found.part_first[n]), int(found.part_first[n + 1])
                words: list[str] = []
                lengths = np.zeros(b - a + 1, np.int64)
                for row in range(a, b):
                    first, last = options.word_first[found.option[row] : found.option[row] + 2].tolist()
                    for t in options.target[first:last].tolist():
                        words.append(vocabulary[t] if t >= 0 else unknown[-1 - t])
                    lengths[row - a + 1] = len(words)
                result.append(
                    Derivation(
                        words,
                        float(found.score[n]),
                        found.features[a:b],
                        found.rule[a:b],
                        found.span[a:b],
                        np.stack([lengths[:-1], lengths[1:]], axis=1),
                    )
                )
            h += count
            yield result
