"""The phrase decoder: sentences in, n-best derivations with their parts out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from camber.corpus import Vocabulary
from camber.decode import stack_search
from camber.decode.features import DISTORTION, LM, feature_names
from camber.decode.kbest import ITEM, k_best, part_features
from camber.decode.options import Options, build_options
from camber.decode.settings import DecodeSettings
from camber.decode.stack_search import CELL, EDGE, GROUP, HYPOTHESIS, future_costs, search
from camber.decode.windows import cut_points
from camber.engine import in_order
from camber.errors import CamberError
from camber.kernel import kernel
from camber.lm.ngrams import END, NgramModel, concatenate, step
from camber.progress import Counter, log
from camber.rules.store import RuleStore, lookup_spans

F8 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int64]

#: sentences decoded by one call of the kernel: enough to share options, few enough to share among threads
BATCH = 125
#: derivations looked at for every distinct text that is wanted
DISTINCT_FACTOR = 20


@dataclass(frozen=True)
class Derivation:
    """One hypothesis: its words, its score, and its parts in target order."""

    words: list[str]
    score: float
    features: F8  # [parts, features], unweighted, in context
    rules: I8  # [parts]; -1: a word passed through
    spans: I8  # [parts, 2] source words begin .. end (exclusive)
    target_spans: I8  # [parts, 2]


class PhraseDecoder:
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
    ) -> None:
        self.store, self.models = store, list(models)
        self.settings = settings or DecodeSettings()
        self.names = feature_names(len(self.models))
        missing = [name for name in self.names if name not in weights]
        if missing:
            raise CamberError(f"no weight for {', '.join(missing)}; the features are {', '.join(self.names)}")
        self.weights = np.array([weights[name] for name in self.names], np.float64)
        if not np.isfinite(self.weights).all():
            raise CamberError("a weight is not a finite number")
        self.nodes, self.children, roots, begin = concatenate(self.models)
        self.roots, self.begin = np.asarray(roots, np.int64), np.asarray(begin, np.int64)
        self.lm_words = np.zeros((len(self.models), len(store.target_vocabulary)), np.int64)
        for k, model in enumerate(self.models):
            self.lm_words[k] = model.word_ids(store.target_vocabulary)
        #: what the last call of `decode` did: pops, cells scored by the language model, edges, hypotheses
        self.work = np.zeros(4, np.int64)

    def decode(
        self, sentences: Sequence[Sequence[str]], nbest: int = 1, distinct: bool = True, threads: int = 0
    ) -> Iterator[list[Derivation]]:
        """Yield the `nbest` best derivations of every tokenised sentence, best first, in the order of the input.

        With `distinct`, every text comes once. An empty sentence has one derivation without parts.
        """
        if nbest < 1:
            raise CamberError(f"{nbest} hypotheses were asked for; at least 1 is needed")
        self.work[:] = 0
        batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
        counter = Counter("translate", len(sentences))

        def one(batch: Sequence[Sequence[str]]) -> list[list[Derivation]]:
            return self._decode_batch(batch, nbest, distinct)

        for found in in_order(one, batches, threads):
            counter.add(len(found))
            yield from found

    # --- one batch ---------------------------------------------------------------------------------------------------

    def _decode_batch(self, batch: Sequence[Sequence[str]], nbest: int, distinct: bool) -> list[list[Derivation]]:
        short = [i for i, words in enumerate(batch) if len(words) <= self.settings.window]
        pieces = [batch[i] for i in short]
        begin = np.tile(self.begin, (len(pieces), 1))
        results = dict(zip(short, self._run(pieces, nbest, distinct, begin, np.ones(len(pieces), np.int64)), strict=True))
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
        for a, b in zip(cuts, cuts[1:], strict=False):
            final = b == len(words)
            wanted = nbest if final else 1
            found = self._run([words[a:b]], wanted, distinct, state[None, :], np.array([final], np.int64))[0]
            joined = [_join(done, piece, a) for piece in found]
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
                _, after[k] = step(self.nodes, self.children, after[k], word)
        return after

    def _run(
        self, batch: Sequence[Sequence[str]], nbest: int, distinct: bool, begin: I8, ends: I8
    ) -> list[list[Derivation]]:
        """Call the kernel for sentences that fit, with larger work arrays if it asks for them."""
        if not batch:
            return []
        store, settings = self.store, self.settings
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum([len(words) for words in batch], out=offsets[1:])
        ids = np.concatenate([store.source_vocabulary.encode(words) for words in batch])
        longest = max(1, store.max_phrase_length)
        spans = np.empty((len(ids), longest), np.int64)
        _lookup(ids, offsets, longest, store.source_ids, store.source_offsets, spans)

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
        options = build_options(self, phrases, unknown_words)

        length = int(np.diff(offsets).max(initial=0))
        count = len(batch) * nbest
        parts = int(offsets[-1]) * nbest
        path_first = np.zeros(count + 1, np.int64)
        found = np.zeros(len(batch), np.int64)
        scores = np.zeros(count)
        features = np.empty((parts, len(self.names)))
        rules, chosen = np.empty(parts, np.int64), np.empty(parts, np.int64)
        part_spans = np.empty((parts, 2), np.int64)
        end_words = np.where(ends[:, None] > 0, END, -1) * np.ones(len(self.models), np.int64)
        state = np.zeros(3, np.int64)  # next sentence, next hypothesis, next part
        room = Workspace(length, longest, len(self.models), settings, nbest, distinct)
        work = np.zeros(4, np.int64)
        while state[0] < len(batch):
            code = _decode(
                local, offsets, *options_arrays(options), store.scores, store.reordering,
                self.nodes, self.children, np.ascontiguousarray(begin), end_words, self.weights,
                settings.distortion_limit, store.reordering.shape[1] == 6,
                settings.pop_limit, settings.stack_limit, settings.beam, nbest, distinct, nbest * DISTINCT_FACTOR,
                *room.arrays(), path_first, found, scores, features, rules, part_spans, chosen, state, work,
            )  # fmt: skip
            if code < 0:
                room.grow(code)
        self.work += work
        return list(self._derivations(found, path_first, scores, features, rules, part_spans, chosen, options, unknown))

    def _derivations(
        self,
        found: I8,
        path_first: I8,
        scores: F8,
        features: F8,
        rules: I8,
        spans: I8,
        chosen: I8,
        options: Options,
        unknown: list[str],
    ) -> Iterator[list[Derivation]]:
        """Turn the kernel's columns into derivations, sentence by sentence."""
        vocabulary = self.store.target_vocabulary.words
        h = 0
        for count in found.tolist():
            result = []
            for n in range(h, h + count):
                a, b = int(path_first[n]), int(path_first[n + 1])
                words: list[str] = []
                lengths = np.zeros(b - a + 1, np.int64)
                for row in range(a, b):
                    first, last = options.word_first[chosen[row] : chosen[row] + 2].tolist()
                    for t in options.target[first:last].tolist():
                        words.append(vocabulary[t] if t >= 0 else unknown[-1 - t])
                    lengths[row - a + 1] = len(words)
                result.append(
                    Derivation(
                        words,
                        float(scores[n]),
                        features[a:b],
                        rules[a:b],
                        spans[a:b],
                        np.stack([lengths[:-1], lengths[1:]], axis=1),
                    )
                )
            h += count
            yield result


def options_arrays(options: Options) -> tuple[npt.NDArray[np.generic], ...]:
    """Return the columns in the order in which the kernel takes them."""
    return (
        options.first,
        options.rule,
        options.base,
        options.estimate,
        options.reorder,
        options.order,
        options.score,
        options.word_first,
        options.words,
        options.target,
        options.inner_state,
        options.inner_rest,
    )


def _join(left: Derivation | None, right: Derivation, offset: int) -> Derivation:
    """Put the derivation of a window behind what precedes it; `offset` source words came before."""
    if left is None:
        return right
    return Derivation(
        left.words + right.words,
        left.score + right.score,
        np.concatenate([left.features, right.features]),
        np.concatenate([left.rules, right.rules]),
        np.concatenate([left.spans, right.spans + offset]),
        np.concatenate([left.target_spans, right.target_spans + len(left.words)]),
    )


class Workspace:
    """The arrays that the search works in, made once per batch and grown when the kernel asks for it."""

    def __init__(
        self, length: int, longest: int, models: int, settings: DecodeSettings, nbest: int, distinct: bool
    ) -> None:
        self.length, self.models, self.pops = max(1, length), models, settings.pop_limit
        self.hypotheses = self.length * settings.pop_limit + 1
        self.coverages = 64 * self.length + 1024
        self.edges = 4096
        self.cells = 4096 + 3 * settings.pop_limit
        self.groups = self.length * min(settings.stack_limit, settings.pop_limit) + 2
        self.items = 4096 + (64 * nbest * self.length if nbest > 1 else 0)
        self.nbest, self.distinct = nbest, distinct

    def grow(self, code: int) -> None:
        """Make the arrays that were too small twice as large."""
        if code == stack_search.COVERAGES_FULL:
            self.coverages *= 2
        elif code == stack_search.EDGES_FULL:
            self.edges *= 2
        elif code == stack_search.CELLS_FULL:
            self.cells *= 2
        else:
            self.items *= 2

    def arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        """Make the work arrays, in the order in which the kernel takes them."""
        heap = max(self.cells, self.items)
        slots = 1 << math.ceil(math.log2(2 * self.pops + 2))
        coverage_slots = 1 << math.ceil(math.log2(2 * self.coverages))
        return (
            np.empty((self.length + 1, self.length + 1)),  # future
            np.empty(self.hypotheses, HYPOTHESIS),
            np.empty((self.hypotheses, self.models), np.int64),  # states
            np.empty((self.coverages, self.length // 64 + 1), np.uint64),  # bits
            np.empty(coverage_slots, np.int64),
            np.empty(self.coverages, np.int64),  # gaps
            np.empty(self.coverages),  # cost
            np.empty(self.groups, GROUP),
            np.empty(self.length + 2, np.int64),  # stack_first
            np.empty((3, self.hypotheses), np.int32),  # rows
            np.empty((3, self.hypotheses)),  # row_score
            np.empty(self.edges, EDGE),
            np.empty(self.cells, CELL),
            np.empty((self.cells, self.models), np.int64),  # cell_states
            np.empty(heap),  # heap_scores
            np.empty(heap, np.int64),  # heap_cells
            np.empty(slots, np.int64),
            np.empty(self.pops + 1, np.int64),  # heads
            np.empty(self.items, ITEM),
            np.empty((self.nbest, 2), np.int64),  # seen
            np.empty(self.length * self.nbest + 1, np.int32),  # path
        )


@kernel
def _lookup(ids, offsets, longest, source_ids, source_offsets, spans):
    """Find the phrases of every span of every sentence."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        lookup_spans(ids[a:b], longest, source_ids, source_offsets, spans[a:b])


@kernel
def _decode(
    spans,
    offsets,
    option_first,
    option_rule,
    option_base,
    option_estimate,
    option_reorder,
    option_order,
    option_score,
    option_word_first,
    option_words,
    option_target,
    inner_state,
    inner_rest,
    rule_scores,
    rule_reordering,
    nodes,
    children,
    begin_states,
    end_words,
    weights,
    distortion_limit,
    with_reordering,
    pop_limit,
    stack_limit,
    beam,
    nbest,
    distinct,
    tries,
    future,
    hyps,
    states,
    bits,
    coverage_slots,
    gaps,
    cost,
    groups,
    stack_first,
    rows,
    row_score,
    edges,
    cells,
    cell_states,
    heap_scores,
    heap_cells,
    slots,
    heads,
    items,
    seen,
    path,
    path_first,
    found,
    scores,
    features,
    rules,
    part_spans,
    chosen,
    state,
    work,
):
    """Decode sentences state[0].. of the batch; return a negative code when a work array is too small."""
    lm_weights = weights[LM:]
    while state[0] < len(offsets) - 1:
        s = state[0]
        a, b = offsets[s], offsets[s + 1]
        h, part = state[1], state[2]
        if a == b:
            found[s] = 1
            scores[h] = 0.0
            path_first[h + 1] = part
            state[0], state[1] = s + 1, h + 1
            continue
        future_costs(spans[a:b], option_first, option_estimate, future)
        best = search(
            spans[a:b], future, option_first, option_base, option_estimate, option_reorder, option_order, option_score,
            option_word_first, option_words, inner_state, inner_rest, nodes, children, begin_states[s], end_words[s],
            lm_weights, weights[DISTORTION], distortion_limit, with_reordering, pop_limit, stack_limit, beam,
            hyps, states, bits, coverage_slots, gaps, cost, groups, stack_first, rows, row_score, edges, cells,
            cell_states, heap_scores, heap_cells, slots, heads, work,
        )  # fmt: skip
        if best < 0:
            return best
        count, end = k_best(
            hyps, best, nbest, distinct, option_word_first, option_target, items, heap_scores, heap_cells, seen, tries,
            path_first, path, scores, h, 0,
        )  # fmt: skip
        if end < 0:
            return -9
        for n in range(count):
            part_features(
                hyps, path, path_first[h + n], path_first[h + n + 1], option_rule, rule_scores, rule_reordering,
                option_word_first, option_words, nodes, children, begin_states[s], end_words[s],
                features, rules, part_spans, chosen, part + path_first[h + n],
            )  # fmt: skip
        for n in range(count, -1, -1):
            path_first[h + n] += part
        found[s] = count
        state[0], state[1], state[2] = s + 1, h + count, part + end
    return 0
