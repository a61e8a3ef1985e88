"""The chart decoder: sentences and their grammars in, n-best derivations with their parts out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.sparse import Counts
from camber.arrays.types import F8, I8
from camber.bend.discrete import DiscreteBend, tally
from camber.bend.weighing import Weighed, Weighing
from camber.corpus import Sentences, Vocabulary
from camber.decode.chart.derivation import (
    ChartDerivation,
    empty_derivation,
    read_derivations,
)
from camber.decode.chart.features import LM, NATIVE, PER_LM, WORD_PENALTY, ChartFeatures
from camber.decode.chart.grammar import Rules, lay_out, prepare
from camber.decode.chart.hypergraph import Hypergraph
from camber.decode.chart.kbest import k_best
from camber.decode.chart.lm import chart_models
from camber.decode.chart.parts import Found, read_edges, read_parts
from camber.decode.chart.search import search
from camber.decode.chart.settings import ChartSettings
from camber.decode.chart.workspace import Workspace
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.decode.windows import cut_points
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.lm.ngrams import END, NgramModel, step
from camber.progress import Counter, log
from camber.rules.hiero.grammar import Grammar, GrammarSource, RawGrammarSource

#: sentences that share work arrays: few enough to share among threads
BATCH = 25
#: derivations of all vertices that may be made for each one that is wanted
EFFORT = 2000


class ChartDecoder(Weighed):
    """Search for translations with synchronous rules under a weighted sum of features.

    Example::

        decoder = ChartDecoder(grammars, [lm], weights)
        for nbest in decoder.decode([["ein", "haus"]], nbest=10):
            print(nbest[0].words, nbest[0].score)
    """

    def __init__(
        self,
        grammars: GrammarSource,
        models: Sequence[NgramModel],
        weights: Mapping[str, float],
        settings: ChartSettings | None = None,
        features: ChartFeatures = NATIVE,
        bend: DiscreteBend | None = None,
    ) -> None:
        self.grammars, self.models, self.features = grammars, list(models), features
        self.settings = settings or ChartSettings()
        self.weighing = Weighing(features.names(grammars.names, len(self.models)), weights, bend)
        own = len(grammars.names)
        #: the features that depend on a rule alone: those of the grammar, and the words
        self._rule_columns = np.array([*range(own), own + WORD_PENALTY], np.int64)
        self._bent_columns = self.weighing.bent_columns(self._rule_columns)
        # few numbers of words, many rules: what they are worth is a table
        self._bent_columns[self._bent_columns == own] = -1
        self._words_worth = np.zeros(0)
        # the kernels count words and natural logarithms
        self._weights = self.weighing.linear.copy()
        self._weights[own + WORD_PENALTY] *= features.unit
        self._weights[own + LM :: PER_LM] *= features.unit
        self._language, self._begin = chart_models(self.models, self._weights[own + LM :: PER_LM])
        nat = float(np.abs(self._language.weights).sum())
        self._beam = self.settings.beam * nat if self.settings.beam * nat > 0 else np.inf
        #: the target vocabulary mapped last and its words in every language model
        self._mapped: tuple[Vocabulary, I8] | None = None
        #: two vocabularies, and the ids of the first one's words in the second
        self._renumbered: tuple[Vocabulary, Vocabulary, I8] | None = None
        self._takes_number = "number" in inspect.signature(grammars.grammar).parameters
        #: what the last call of `decode` did: dotted rules, bundles, language model scores of cells, pops
        self.work = np.zeros(4, np.int64)

    @property
    def has_raw_values(self) -> bool:
        """Whether rules keep raw probabilities and counts, from which their logarithms are made."""
        return isinstance(self.grammars, RawGrammarSource)

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        found = {"chart": self.settings.to_dict()}
        if isinstance(self.grammars, RawGrammarSource):
            found["hiero"] = self.grammars.settings.to_dict()
        return found

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""
        return self.grammars.grammar(()).source_words

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""
        return self.grammars.grammar(()).target_words

    def reweighted(self, weights: Mapping[str, float]) -> ChartDecoder:
        """Return the same decoder with other weights."""
        return ChartDecoder(self.grammars, self.models, weights, self.settings, self.features, self.bend)

    def bent(self, weights: Mapping[str, float], bend: DiscreteBend | None) -> ChartDecoder:
        """Return the same decoder with another bend and its weights; bends are made from raw values."""
        grammars = self.grammars
        if isinstance(grammars, RawGrammarSource):
            grammars = grammars.with_logarithms(logarithms=bend is None)
        return ChartDecoder(grammars, self.models, weights, self.settings, self.features, bend)

    def remembering(self) -> ChartDecoder:
        """Return the same decoder, which keeps the rules that it extracted for sentences."""
        if not isinstance(self.grammars, RawGrammarSource):
            return self
        kept = self.grammars.remembering()
        return ChartDecoder(kept, self.models, self.weighing.by_name(), self.settings, self.features, self.bend)

    def searching(self, changes: Mapping[str, Any]) -> ChartDecoder:
        """Return the same decoder with some settings changed, such as ``{"pop_limit": 100}``."""
        settings = ChartSettings.from_dict({**self.settings.to_dict(), **changes})
        return ChartDecoder(self.grammars, self.models, self.weighing.by_name(), settings, self.features, self.bend)

    def rule_values(self, sentences: Sequence[Sequence[str]]) -> dict[str, tuple[F8, I8]]:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every sentence that it applies to.
        """
        source = (
            self.grammars.with_logarithms(logarithms=False)
            if isinstance(self.grammars, RawGrammarSource)
            else self.grammars
        )
        tallies: dict[str, list[tuple[F8, I8]]] = {self.inputs[column]: [] for column in self._rule_columns}
        for first in range(0, len(sentences), BATCH):
            batch = enumerate(sentences[first : first + BATCH], first)
            table = np.concatenate([self._rule_features(self._asked(source, words, at)) for at, words in batch])
            for name, column in zip(tallies, table.T, strict=True):
                tallies[name].append(tally([(column, np.ones(len(table), np.int64))]))
        return {name: tally(found) for name, found in tallies.items()}

    def _rule_features(self, grammar: Grammar) -> F8:
        """Return the features of `_rule_columns` for every rule, float64[rules, columns]."""
        words = np.diff(offsets_from((grammar.target >= 0).astype(np.int64))[grammar.target_offsets])
        return np.column_stack([grammar.features, -self.features.unit * words])

    def _rule_scores(self, grammar: Grammar) -> tuple[F8, F8]:
        """Return what the rules' own features are worth, float64[rules], and what k words are where they are bent."""
        own = self._rule_columns[:-1]
        words, longest = self._words_worth, int(np.diff(grammar.target_offsets).max(initial=0))
        if len(words) <= longest:
            values = -self.features.unit * np.arange(2 * longest + 1, dtype=np.float64)
            self._words_worth = words = self.weighing.of_bins(self.features.word_penalty, values)
        return self.weighing.of_rules(grammar.features, self._weights[own], self._bent_columns), words

    def worth(self, name: str, values: F8) -> F8:
        """Return what raw values of a feature add to this decoder's scores, float64[values]."""
        if isinstance(self.grammars, RawGrammarSource) and self.grammars.settings.logarithms:
            values = self.grammars.linear_value(name, values)
        return self.weighing.worth(name, values)

    def decode(
        self,
        sentences: Sequence[Sequence[str]],
        nbest: int = 1,
        distinct: bool = True,
        engine: Engine = LOCAL,
        first: int = 0,
    ) -> Iterator[list[ChartDerivation]]:
        """Yield the `nbest` best derivations of every tokenised sentence, best first, in the order of the input.

        With `distinct`, every text comes once. An empty sentence has one derivation without parts. `first` is the
        number of the first sentence in the input, for grammars that come line by line.
        """
        if nbest < 1:
            raise CamberError(f"{nbest} hypotheses were asked for; at least 1 is needed")
        self.work[:] = 0
        numbered = list(enumerate(sentences, first))
        batches = [numbered[i : i + BATCH] for i in range(0, len(numbered), BATCH)]
        counter = Counter("translate", len(sentences))

        def one(batch: list[tuple[int, Sequence[str]]]) -> list[list[ChartDerivation]]:
            return self._decode_batch(batch, nbest, distinct)

        for found in engine.map(lambda _, batch: one(batch), None, batches):
            counter.add(len(found))
            yield from found

    def decode_columns(
        self,
        sentences: Sequence[Sequence[str]],
        vocabulary: Vocabulary,
        nbest: int,
        engine: Engine = LOCAL,
        first: int = 0,
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses, without an object for each: what tuning needs, and quicker.

        `vocabulary` has every target word of the grammars and every word of `sentences`.
        """
        self.work[:] = 0
        numbered = list(enumerate(sentences, first))
        batches = [numbered[i : i + BATCH] for i in range(0, len(numbered), BATCH)]
        return HypothesisColumns.join(
            list(engine.map(lambda _, batch: self._columns(batch, vocabulary, nbest), None, batches)),
            vocabulary,
            self.weighing,
        )

    def _columns(self, batch: list[tuple[int, Sequence[str]]], vocabulary: Vocabulary, nbest: int) -> HypothesisColumns:
        workspace = self._workspace(batch, nbest)
        counts, sums, bins, ids, lengths = [], [], [], [], []
        for number, words in batch:
            if 0 < len(words) <= self.settings.window:
                grammar = self._grammar(words, number)
                found, count = self._search(words, grammar, True, self._begin, True, workspace)
                parts, last = found.part_first[: count + 1], int(found.word_first[count])
                features, hits = self.weighing.of_hypotheses(
                    found.features[: parts[-1]],
                    found.rule[: parts[-1]],
                    parts,
                    np.add.reduceat(np.nan_to_num(found.features[: parts[-1]]), parts[:-1], axis=0),
                )
                spelled = np.concatenate([self._numbers(grammar.target_words, vocabulary), vocabulary.encode(words)])
                texts, sizes = spelled[found.words[:last]], np.diff(found.word_first[: count + 1])
            else:
                decoded = HypothesisColumns.of(
                    [self._decode_one(number, words, True, workspace)], vocabulary, self.weighing
                )
                count, features, hits = int(decoded.counts[0]), decoded.features, decoded.bins
                texts, sizes = decoded.words.ids, decoded.words.lengths
            counts.append(count)
            sums.append(features)
            bins += [hits] if hits is not None else []
            ids.append(texts)
            lengths.append(sizes)
        self.work += workspace.work + workspace.room.work
        text = Sentences(np.concatenate(ids).astype(np.int32), offsets_from(np.concatenate(lengths)), vocabulary)
        joined = Counts.join(bins, self.weighing.bins) if self.weighing.bins else None
        return HypothesisColumns(np.array(counts, np.int64), np.concatenate(sums), text, joined)

    def hypergraph(self, sentence: Sequence[str], number: int = 0) -> Hypergraph:
        """Return everything that the search of one sentence (not longer than a window) keeps, without the beam."""
        if not 0 < len(sentence) <= self.settings.window:
            raise CamberError(f"a sentence of {len(sentence)} words; expected 1 to {self.settings.window} for a forest")
        grammar = self._grammar(sentence, number)
        workspace = self._workspace([(number, sentence)], 2)
        top, rules, ends = self._fill_forest(sentence, grammar, self._begin, True, workspace)
        forest = workspace.forest
        vertices, edges = forest.vertices[: forest.size[0]], forest.edges[: forest.size[1]]
        part_rules, features = np.empty(len(edges), np.int64), np.empty((len(edges), len(self.inputs)))
        read_edges(
            top, rules, self._language, self._begin, ends, self.features.unit, forest, workspace.list_room, part_rules,
            features,
        )  # fmt: skip
        return Hypergraph(
            self.inputs,
            np.stack([vertices["begin"], vertices["end"]], axis=1),
            edges["vertex"].copy(),
            np.stack([edges["one"], edges["two"]], axis=1),
            part_rules,
            np.nan_to_num(features),  # what a rule lacks adds nothing
            int(top),
        )

    def _numbers(self, words: Vocabulary, vocabulary: Vocabulary) -> I8:
        """Return the ids that words of one vocabulary have in another, int64[words]."""
        known = self._renumbered
        if known is None or known[0] is not words or known[1] is not vocabulary:
            self._renumbered = known = (words, vocabulary, vocabulary.encode(words.words))
        return known[2]

    def word_alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation."""
        return derivation.word_alignment() if isinstance(derivation, ChartDerivation) else []

    # --- one batch ---------------------------------------------------------------------------------------------------

    def _decode_batch(
        self, batch: list[tuple[int, Sequence[str]]], nbest: int, distinct: bool
    ) -> list[list[ChartDerivation]]:
        workspace = self._workspace(batch, nbest)
        results = [self._decode_one(number, words, distinct, workspace) for number, words in batch]
        self.work += workspace.work + workspace.room.work
        return results

    def _workspace(self, batch: list[tuple[int, Sequence[str]]], nbest: int) -> Workspace:
        longest = min(max(len(words) for _, words in batch), self.settings.window)
        return Workspace(
            longest,
            len(self.models),
            int(self._language.longest.max(initial=0)),
            self.settings.pop_limit,
            nbest,
            len(self.inputs),
        )

    def _decode_one(
        self, number: int, words: Sequence[str], distinct: bool, workspace: Workspace
    ) -> list[ChartDerivation]:
        """Decode a sentence: at once, or window by window if it is very long; then the list varies the last window.

        The language model goes on across the cuts.
        """
        grammar = self._grammar(words, number)
        if not words:
            return [empty_derivation(grammar, len(self.inputs))]
        if len(words) <= self.settings.window:
            return self._run(words, grammar, distinct, self._begin, True, workspace)
        cuts = cut_points(words, self.settings.window)
        log.info("a sentence of %d words is decoded in %d windows", len(words), len(cuts) - 1)
        done: ChartDerivation | None = None
        state = self._begin
        for a, b in pairwise(cuts):
            final = b == len(words)
            found = self._run(words[a:b], grammar, distinct, state, final, workspace)
            joined = [piece.after(done, a) for piece in found]
            if final:
                return joined
            done = joined[0]
            state = self._state_after(found[0].words, state)
        raise AssertionError("the last window ends the sentence")

    def _asked(self, grammars: GrammarSource, words: Sequence[str], number: int) -> Grammar:
        """Ask for a sentence's rules."""
        if self._takes_number:
            found: Grammar = grammars.grammar(words, number=number)  # type: ignore[call-arg]
            return found
        return grammars.grammar(words)

    def _grammar(self, words: Sequence[str], number: int) -> Grammar:
        """Ask for a sentence's rules, and check what would make the search go round in circles."""
        grammar = self._asked(self.grammars, words, number)
        if grammar.names != self.grammars.names:
            raise CamberError(
                f"the grammar of sentence {number + 1} has the features {', '.join(grammar.names)}; expected "
                f"{', '.join(self.grammars.names)}"
            )
        if np.isinf(grammar.features).any():
            rule = int(np.argwhere(np.isinf(grammar.features))[0][0])
            raise CamberError(
                f"a feature of rule {rule} ({' '.join(grammar.source_side(rule))}) of sentence {number + 1} is not a "
                "finite number"
            )
        sizes = np.diff(grammar.source_offsets)
        lonely = sizes == 0
        single = np.flatnonzero(sizes == 1)
        lonely[single] = grammar.source[grammar.source_offsets[single]] < 0
        if lonely.any():
            rule = int(np.flatnonzero(lonely)[0])
            raise CamberError(
                f"rule {rule} of sentence {number + 1} has {' '.join(grammar.source_side(rule)) or 'nothing'} on its "
                "source side; expected a word, or two non-terminals"
            )
        return grammar

    def _lm_words(self, vocabulary: Vocabulary) -> I8:
        """Map a target vocabulary to the words of every language model: int64[models, words]."""
        mapped = self._mapped
        if mapped is None or mapped[0] is not vocabulary:
            words = np.zeros((len(self.models), len(vocabulary)), np.int64)
            for k, model in enumerate(self.models):
                words[k] = model.word_ids(vocabulary)
            self._mapped = mapped = (vocabulary, words)
        return mapped[1]

    def _state_after(self, words: Sequence[str], state: I8) -> I8:
        """Return the language models' states after more words."""
        after = state.copy()
        distinct = Vocabulary(list(dict.fromkeys(words)))
        for k, model in enumerate(self.models):
            for word in model.word_ids(distinct)[distinct.encode(words)]:
                _, after[k] = step(self._language.nodes, self._language.children, after[k], word)
        return after

    def _run(
        self,
        words: Sequence[str],
        grammar: Grammar,
        distinct: bool,
        begin: I8,
        final: bool,
        workspace: Workspace,
    ) -> list[ChartDerivation]:
        """Decode what fits into a window."""
        return read_derivations(*self._search(words, grammar, distinct, begin, final, workspace), grammar, words)

    def _search(
        self,
        words: Sequence[str],
        grammar: Grammar,
        distinct: bool,
        begin: I8,
        final: bool,
        workspace: Workspace,
    ) -> tuple[Found, int]:
        """Call the kernels, with larger work arrays if they ask for them; return the columns, and how many are filled.

        The columns are the caller's, the other arrays are used again.
        """
        nbest, targets = workspace.nbest, len(grammar.target_words)
        top, rules, ends = self._fill_forest(words, grammar, begin, final, workspace)
        count = -1
        while count < 0:
            found = workspace.found()
            count = k_best(
                top, nbest, int(distinct), nbest * EFFORT, rules, workspace.forest, workspace.list_room, found
            )
            code = count
            if count >= 0:
                code = read_parts(
                    top, count, rules, self._language, begin, ends, targets, self.features.unit, workspace.forest,
                    workspace.list_room, found,
                )  # fmt: skip
            if code < 0:
                workspace.grow(code)
                count = -1
        return found, count

    def _fill_forest(
        self, words: Sequence[str], grammar: Grammar, begin: I8, final: bool, workspace: Workspace
    ) -> tuple[int, Rules, I8]:
        """Search, with larger work arrays if the kernel asks for them; return the top vertex, the rules, the ends."""
        settings = self.settings
        rules = lay_out(grammar, words, len(self.models), settings.copy_known)
        distinct_words = Vocabulary(list(dict.fromkeys(words)))
        places = distinct_words.encode(words)
        own = np.zeros((len(self.models), len(words)), np.int64)
        for k, model in enumerate(self.models):
            own[k] = model.word_ids(distinct_words)[places]
        targets = len(grammar.target_words)
        width = max(1, len(grammar.source_words))
        prepare(
            rules, *self._rule_scores(grammar), len(words), width, targets, self._lm_words(grammar.target_words), own,
            self._language, self._weights,
        )  # fmt: skip
        ids = grammar.source_words.encode(words)
        ends = np.full(len(self.models), END if final else -1, np.int64)
        beam = self._beam if workspace.nbest == 1 else np.inf
        top = -1
        while top < 0:
            top = search(
                ids, width, settings.span_limit, settings.pop_limit, beam, rules, self._language, begin, ends,
                self._weights, workspace.forest, workspace.room,
            )  # fmt: skip
            if top < 0:
                workspace.grow(top)
        return top, rules, ends
