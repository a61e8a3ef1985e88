"""The phrase decoder: sentences in, n-best derivations with their parts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from, places_of
from camber.arrays.types import F8, I8
from camber.bend.bend import Bend, Seen
from camber.bend.discrete import tally_columns
from camber.bend.log import LogBend
from camber.bend.weighing import Weighed, Weighing
from camber.corpus import Sentences, Vocabulary
from camber.corpus.inputs import Input
from camber.decode.batches import decode_batches
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.decode.languages import Languages
from camber.decode.phrase import batch as kernels
from camber.decode.phrase.batch import DerivationColumns, Limits, Workspace, decode_batch, part_rows, spell
from camber.decode.phrase.constrained import Draft, obey, reaches
from camber.decode.phrase.features import DISTORTION, LM, WORD_PENALTY, features
from camber.decode.phrase.in_context import PhraseContext
from camber.decode.phrase.ngram_scores import NgramAutomaton, NgramScorer
from camber.decode.phrase.options import (
    Chosen,
    LanguageModels,
    Options,
    Words,
    choose_options,
    lay_out,
    rule_columns,
    rule_values,
    rules_of,
)
from camber.decode.phrase.prefix import Costs, prefix_spans
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.searcher import Work
from camber.decode.windows import decode_in_windows
from camber.engine import LOCAL, Engine
from camber.features.feature import INDICATOR, RULE, Feature
from camber.features.parts import Parts
from camber.lm.ngrams import NgramModel
from camber.progress import each
from camber.rules.phrase.source import PhraseBatch, PhraseSource

#: sentences decoded by one call of the kernel: enough to share options, few enough to share among threads
BATCH = 125
#: derivations looked at for every distinct text that is wanted
DISTINCT_FACTOR = 100


#: nats of the language models: what a word of a prefix costs that rules give, but not where it stands; and what a
#: source word that the prefix uses up would have cost its translation
GIVEN, UNSAID = 8.0, 4.0


class Searched(NamedTuple):
    """What the kernels left of a batch."""

    batch: PhraseBatch
    columns: DerivationColumns
    options: Options
    unknown: list[str]
    work: Work


class PhraseDecoder(Weighed):
    """Search for translations under a weighted sum of features.

    Example::

        decoder = PhraseDecoder(StoredRules(store), [lm], weights)
        for nbest in decoder.decode(as_inputs([["ein", "haus"]]), nbest=10):
            print(nbest[0].words, nbest[0].score)
    """

    #: the constraints that the search obeys
    takes = frozenset(("terms", "prefix", "walls"))
    #: what is counted in `work`
    WORK = ("edges", "language model scores of cells", "pops")

    def __init__(
        self,
        rules: PhraseSource,
        models: Sequence[NgramModel] | Languages,
        weights: Mapping[str, float],
        settings: DecodeSettings | None = None,
        bend: Bend | None = None,
        scorer: NgramScorer | None = None,
    ) -> None:
        """Make a decoder; without a `bend`, logarithms of probabilities and counts are weighed.

        A `scorer` of n-grams brings one more feature; the words of its n-grams are the rules' target words.
        """
        self.rules, self.settings, self.scorer = rules, settings or DecodeSettings(), scorer
        self.languages = models if isinstance(models, Languages) else Languages(models)
        own = features(len(self.languages), rules.features, () if scorer is None else (scorer.feature,))
        self.weighing = Weighing(bend or LogBend(own), weights)
        self.weighing.check_inputs(own)
        self._own = len(rules.features)
        self._trees = self.weighing.in_context(rule_columns(self._own))

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"decode": self.settings.to_dict(), **self.rules.recorded}

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""
        return self.rules.source_words

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""
        return self.rules.target_words

    # --- the same search, changed ------------------------------------------------------------------------------------

    def reweighted(self, weights: Mapping[str, float]) -> PhraseDecoder:
        """Return the same decoder with other weights."""
        return PhraseDecoder(self.rules, self.languages, weights, self.settings, self.bend, self.scorer)

    def weighed(self, weighing: Weighing) -> PhraseDecoder:
        """Return the same decoder with another bend and its weights."""
        return PhraseDecoder(self.rules, self.languages, weighing.by_name(), self.settings, weighing.bend, self.scorer)

    def remembering(self) -> PhraseDecoder:
        """Return the same decoder, which keeps rules and scores of n-grams if that saves work."""
        kept = self.rules.remembering()
        scorer = None if self.scorer is None else self.scorer.remembering()
        return PhraseDecoder(kept, self.languages, self.weighing.by_name(), self.settings, self.bend, scorer)

    def searching(self, changes: Mapping[str, Any]) -> PhraseDecoder:
        """Return the same decoder with some settings changed, such as ``{"pop_limit": 100}``."""
        settings = DecodeSettings.from_dict({**self.settings.to_dict(), **changes})
        return PhraseDecoder(self.rules, self.languages, self.weighing.by_name(), settings, self.bend, self.scorer)

    # --- decoding ----------------------------------------------------------------------------------------------------

    def rule_values(self, inputs: Sequence[Input]) -> Seen:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every span of source words that it applies to. Indicators have nothing to bend.
        """
        own = [feature.name for feature in self.rules.features if feature.kind != INDICATOR]
        names = [*own, self.inputs[self._own + WORD_PENALTY].name]
        batches = (inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH))
        return tally_columns(names, map(self._rule_values, batches))

    def _rule_values(self, inputs: Sequence[Input]) -> tuple[F8, I8]:
        """Return what can be bent of every rule for some sentences, and how many spans it applies to."""
        batch = self.rules.batch(inputs).without_indicators()
        phrases, often = np.unique(batch.spans[batch.spans >= 0], return_counts=True)
        values = rule_values(batch, rules_of(batch.store, phrases))
        return values, np.repeat(often, np.diff(batch.store.rule_offsets)[phrases])

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

        With `distinct`, every text comes once. An empty sentence has one derivation without parts. What the search did
        is added to `work` int64[len(WORK)], if it is given.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        return decode_batches(_decode_batch, self, batches, nbest, distinct=distinct, engine=engine, work=work)

    def decode_columns(
        self, inputs: Sequence[Input], vocabulary: Vocabulary, nbest: int, engine: Engine = LOCAL
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses, without an object for each: what tuning needs, and quicker.

        `vocabulary` begins with the target vocabulary of the rules and has every word of the inputs.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        found = engine.map(_decode_columns, (self, vocabulary, nbest), batches)
        pieces = list(each(found, "decode", len(inputs), "sentences", lambda piece: len(piece.counts)))
        return HypothesisColumns.join(pieces, vocabulary, self.weighing)

    def word_alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation, from the alignments inside its rules."""
        links: list[tuple[int, int]] = []
        links_of = self.rules.links_of
        for r, (source, source_end), (target, target_end) in zip(
            derivation.rules.tolist(), derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True
        ):
            if r < 0:  # no rule has links inside: its words go together
                links += [(s, t) for s in range(source, source_end) for t in range(target, target_end)]
            else:
                inside = links_of(r).tobytes()  # quicker than a list of lists
                if len(inside) == 2:  # most rules have one link
                    links.append((source + inside[0], target + inside[1]))
                    continue
                links += [(source + s, target + t) for s, t in zip(inside[::2], inside[1::2], strict=True)]
        return sorted(links)

    # --- one batch ---------------------------------------------------------------------------------------------------

    def search(
        self,
        inputs: Sequence[Input],
        languages: Languages,
        nbest: int,
        *,
        distinct: bool,
        begin: I8 | None = None,
        final: bool = True,
    ) -> Searched:
        """Search sentences that fit into a window, which `begin` in a state and end there or go on.

        The language models have the weights of this decoder's, in their order. Where n-grams have scores, which are
        those of one sentence, there is one.
        """
        rules = self.rules.batch(inputs)
        if any(item.constraints for item in inputs):
            rules = self._constrained(rules, inputs)
        bound, sources = rules.bound, [word for item in inputs for word in item.tokens]
        spans, phrases, unknown = _number_phrases(rules.spans, bound.tokens if bound else sources)
        weights = self.weighing.linear[self._own + LM : self._own + LM + len(languages)].copy()
        models = LanguageModels(languages.nodes, languages.children, weights, languages.highest * weights)
        known = languages.words(self.target_vocabulary)
        if bound and bound.extra:
            known = np.concatenate([known, languages.words_of(bound.heard)], axis=1)
        words = Words(languages.roots, known, languages.words_of(unknown))
        context = None
        if self._trees is not None:
            made = bound.made if bound else np.zeros(0, bool)
            context = PhraseContext(
                self._trees, rules.columns, rules.store.reordering, np.zeros(len(self.inputs)), made
            )
        chosen = choose_options(self.weighing, self.settings.options, rules, phrases, models, words, context)
        states = languages.begin if begin is None else begin
        if self.scorer is not None:
            (item,) = inputs
            models = models._replace(ngrams=self._ngrams(self.scorer, item, chosen, rules, unknown))
            states = np.append(states, 0)
        options = lay_out(chosen, self.weighing, rules, models, words, context)
        places = bound.places if bound else np.zeros(len(inputs), np.int64)
        sizes = np.array([len(item) for item in inputs], np.int64)
        task = kernels.Sentences(
            spans,
            offsets_from(sizes * (places + 1)),
            places,
            places if final else np.zeros_like(places),
            offsets_from(sizes),
            np.concatenate([reaches(item) for item in inputs]),
            _stays(spans[:, 0], phrases, sizes, places, moving=self.settings.unknown == "move"),
            np.tile(states, (len(inputs), 1)),
            np.tile(languages.ends(final=final), (len(inputs), 1)),
        )
        columns = DerivationColumns.make(len(inputs), len(sources), nbest, len(self.inputs) - self._own)
        workspace = Workspace(max(map(len, inputs)), len(states), self.settings.pop_limit, nbest)
        # where the language models have no weight, there is nothing to measure by
        beam = self.settings.stack_beam * float(np.abs(weights).sum()) if nbest == 1 else 0.0
        limits = Limits(
            self.weighing.linear[self._own + DISTORTION],
            self.settings.distortion_limit,
            self.settings.pop_limit,
            beam or np.inf,
            nbest,
            int(distinct),
            nbest * DISTINCT_FACTOR,
        )
        code = -1
        while code < 0:
            code = decode_batch(
                task, limits, options, rules.store.reordering, models, context, workspace.future(), workspace.room(),
                workspace.list_room(), columns,
            )  # fmt: skip
            if code < 0:
                workspace.grow(code)
        if rules.numbers is not None:  # rules are known outside by numbers that do not depend on the batch
            parts = columns.rule[: columns.next[2]]
            parts[parts >= 0] = rules.numbers[parts[parts >= 0]]
        return Searched(rules, columns, options, unknown, workspace.work)

    def _constrained(self, batch: PhraseBatch, inputs: Sequence[Input]) -> PhraseBatch:
        """Return the batch of some sentences in which their constraints are obeyed."""
        draft = Draft(batch, self.target_vocabulary)
        pieces = obey(draft, inputs)
        for number, item in enumerate(inputs):
            if item.constraints.prefix:
                pieces[number] = prefix_spans(draft, pieces[number], item, self._costs(batch, pieces[number]))
        places = [len(item.constraints.prefix) for item in inputs]
        tokens = [
            word for item, count in zip(inputs, places, strict=True) for _ in range(count + 1) for word in item.tokens
        ]
        return draft.finish(np.concatenate(pieces), places, tokens)

    def _costs(self, batch: PhraseBatch, spans: I8) -> Costs:
        """Return what it costs to use words up for a prefix: in nats of the language models, and what rules say."""
        nat = float(np.abs(self.weighing.linear[self._own + LM :][: len(self.languages)]).sum()) or 1.0
        alone = spans[:, 0]
        known = np.unique(alone[alone >= 0])
        rows = rules_of(batch.store, known)
        worth = self.weighing.rule_worth(rule_values(batch, rows), rule_columns(self._own))
        sizes = batch.store.rule_offsets[known + 1] - batch.store.rule_offsets[known]
        best = np.maximum.reduceat(worth, offsets_from(sizes)[:-1]) if len(rows) else worth
        source = np.full(len(spans), -GIVEN * nat)
        source[alone >= 0] = best[np.searchsorted(known, alone[alone >= 0])] - UNSAID * nat
        return Costs(GIVEN * nat, source)

    def _ngrams(
        self, scorer: NgramScorer, item: Input, chosen: Chosen, rules: PhraseBatch, unknown: Sequence[str]
    ) -> NgramAutomaton:
        """Score the n-grams that the options of a sentence can make."""
        target = self.target_vocabulary
        passed = np.array([target.id(word) for word in unknown], np.int64)
        words = np.union1d(chosen.target_words(rules.store), passed[passed >= 0])
        words = words[words < len(target)]  # those of terms may be others
        return NgramAutomaton.of(scorer.scored(item, words), len(target), self.weighing.linear[-1], passed)

    def derivations(self, searched: Searched) -> Iterator[list[Derivation]]:
        """Turn the kernels' columns into derivations, sentence by sentence."""
        columns, options, vocabulary = searched.columns, searched.options, self.target_vocabulary.words
        extra, known = searched.batch.bound.extra if searched.batch.bound else (), len(vocabulary)
        parts = int(columns.next[2])
        own = searched.batch.values(options.rule[columns.option[:parts]])
        features = np.concatenate((own, columns.features[:parts]), axis=1)
        starts = options.word_first[columns.option[:parts]]
        sizes = options.word_first[columns.option[:parts] + 1] - starts
        spelt = {-1 - u: word for u, word in enumerate(searched.unknown)} | {known + t: w for t, w in enumerate(extra)}
        words = [
            spelt[t] if t < 0 or t >= known else vocabulary[t]
            for t in options.target[places_of(starts, sizes)].tolist()
        ]
        places = np.empty((parts, 2), np.int64)  # of the words of every part, among those of all
        places[:, 1] = np.cumsum(sizes)
        places[:, 0] = places[:, 1] - sizes
        bounds = columns.part_first.tolist()
        spoken = np.append(places[:, 0], len(words))[columns.part_first].tolist()
        scores = columns.score.tolist()
        first = 0
        for count in columns.count.tolist():
            derivations = []
            for n in range(first, first + count):
                a, b = bounds[n], bounds[n + 1]
                derivations.append(
                    Derivation(
                        self.inputs,
                        words[spoken[n] : spoken[n + 1]],
                        scores[n],
                        features[a:b],
                        columns.rule[a:b],
                        columns.span[a:b],
                        places[a:b] - spoken[n],
                    )
                )
            first += count
            yield derivations


def _decode_batch(
    shared: tuple[PhraseDecoder, int, bool], batch: Sequence[Input]
) -> tuple[list[list[Derivation]], Work]:
    """Decode a batch: short sentences together, long ones in windows."""
    decoder, nbest, distinct = shared
    work = np.zeros(len(decoder.WORK), np.int64)

    def run(inputs: Sequence[Input], wanted: int, **where: Any) -> list[list[Derivation]]:
        if not inputs:
            return []
        if decoder.scorer is not None and len(inputs) > 1:
            return [derivations for item in inputs for derivations in run([item], wanted, **where)]
        searched = decoder.search(inputs, decoder.languages, wanted, distinct=distinct, **where)
        np.add(work, searched.work, out=work)
        return list(decoder.derivations(searched))

    def one(item: Input, state: I8, final: bool) -> list[Derivation]:
        return run([item], nbest if final else 1, begin=state, final=final)[0]

    window = decoder.settings.window
    short = [item for item in batch if len(item) <= window]
    free = iter(run([item for item in short if not item.constraints], nbest))  # constraints of others change nothing
    bound = iter(run([item for item in short if item.constraints], nbest))
    in_windows = partial(decode_in_windows, window=window, languages=decoder.languages, decode=one)
    return [
        in_windows(item) if len(item) > window else next(bound if item.constraints else free) for item in batch
    ], work


def _decode_columns(shared: tuple[PhraseDecoder, Vocabulary, int], batch: Sequence[Input]) -> HypothesisColumns:
    """Decode a batch into columns."""
    decoder, vocabulary, nbest = shared
    if max(map(len, batch), default=0) > decoder.settings.window or any(item.constraints for item in batch):
        return HypothesisColumns.of(_decode_batch((decoder, nbest, True), batch)[0], vocabulary, decoder.weighing)
    if decoder.scorer is not None and len(batch) > 1:
        pieces = [_decode_columns(shared, [item]) for item in batch]
        return HypothesisColumns.join(pieces, vocabulary, decoder.weighing)
    searched = decoder.search(batch, decoder.languages, nbest, distinct=True)
    columns, options = searched.columns, searched.options
    count, parts = int(columns.next[1]), int(columns.next[2])
    offsets = np.zeros(count + 1, np.int64)
    chosen = columns.option[:parts]
    ids = np.empty(int((options.word_first[chosen + 1] - options.word_first[chosen]).sum()), np.int32)
    spell(columns, options, vocabulary.encode(searched.unknown), offsets, ids)
    design = decoder.weighing.design(_parts(decoder.inputs, searched), columns.part_first[: count + 1])
    return HypothesisColumns(columns.count, design.dense, Sentences(ids, offsets, vocabulary), design.sparse)


def _parts(inputs: tuple[Feature, ...], searched: Searched) -> Parts:
    """Return all parts of a batch; what is known of a rule before the search is that of its option."""
    batch, columns, options = searched.batch, searched.columns, searched.options
    parts, own = int(columns.next[2]), batch.columns.width
    inside, outside = (
        np.array([at for at, feature in enumerate(inputs[own:]) if (feature.scope == RULE) == known], np.int64)
        for known in (True, False)
    )
    rows, first, context = np.empty(parts, np.int32), np.empty(parts, np.int64), np.empty((parts, len(outside)))
    count = part_rows(columns, outside, np.full(len(options.rule), -1, np.int64), rows, first, context)
    first = first[:count]
    values = batch.values(options.rule[columns.option[first]])
    table = np.concatenate((values, columns.features[first][:, inside]), axis=1)
    return Parts(inputs, table, rows, context, columns.rule[:parts])


def _stays(alone: I8, phrases: I8, sizes: I8, places: I8, *, moving: bool) -> I8:
    """Return for every word of a batch whether it comes right behind the one before it: int64[words].

    Those are words that are passed through, and what is behind them, unless they are `moving`. `alone`: the phrases of
    single words, for each place of a prefix; what may follow that is last.
    """
    if moving:
        return np.zeros(int(sizes.sum()), np.int64)
    ends = np.cumsum(sizes * (places + 1))
    alone = np.concatenate([alone[end - size : end] for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)])
    passed = (alone >= 0) & (phrases[alone] < 0)
    behind = np.concatenate([[False], passed[:-1]])
    behind[offsets_from(sizes)[:-1][sizes > 0]] = False
    return (passed | behind).astype(np.int64)


def _number_phrases(spans: I8, flat: Sequence[str]) -> tuple[I8, I8, list[str]]:
    """Number the phrases of a batch: spans by these numbers, the phrases of the store (-1 - u: unknown word u), and the
    words without a rule of their own, which are passed through, unless a constraint has other plans for them (-2).
    """
    alone = np.flatnonzero(spans[:, 0] == -1).tolist()
    unknown = list(dict.fromkeys(flat[i] for i in alone))
    number = {word: u for u, word in enumerate(unknown)}
    phrases, inverse = np.unique(spans, return_inverse=True)
    local = inverse.reshape(spans.shape).astype(np.int64)
    absent = int(np.searchsorted(phrases, 0))
    phrases, local = phrases[absent:], local - absent
    local[alone, 0] = [len(phrases) + number[flat[i]] for i in alone]
    return local, np.concatenate([phrases, -1 - np.arange(len(unknown), dtype=np.int64)]), unknown
