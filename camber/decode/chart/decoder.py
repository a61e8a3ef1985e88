"""The chart decoder: sentences and their grammars in, n-best derivations with their parts out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8
from camber.bend.bend import Bend, Seen
from camber.bend.discrete import tally_columns
from camber.bend.log import LogBend
from camber.bend.weighing import Weighed, Weighing
from camber.corpus import Sentences, Vocabulary
from camber.corpus.inputs import Input
from camber.decode.batches import decode_batches
from camber.decode.chart.constrained import Constrained, constrain, prefix_worth
from camber.decode.chart.derivation import ChartDerivation, empty_derivation, read_derivations
from camber.decode.chart.features import LM, NATIVE, PER_LM, WORD_PENALTY, ChartFeatures
from camber.decode.chart.grammar import Rules, check_grammar, lay_out, prepare
from camber.decode.chart.hypergraph import Hypergraph
from camber.decode.chart.in_context import ChartContext, known_values
from camber.decode.chart.kbest import k_best
from camber.decode.chart.lm import ChartModels, chart_models
from camber.decode.chart.parts import DerivationColumns, read_edges, read_parts
from camber.decode.chart.prefix import GIVEN, GROUPS_FULL, Prefix
from camber.decode.chart.search import search
from camber.decode.chart.settings import ChartSettings
from camber.decode.chart.workspace import Workspace
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.decode.languages import Languages
from camber.decode.searcher import Work
from camber.decode.windows import decode_in_windows
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.feature import RULE
from camber.features.parts import Parts
from camber.lm.ngrams import NgramModel
from camber.progress import each
from camber.rules.hiero.grammar import Grammar, GrammarSource

#: sentences that share work arrays: few enough to share among threads
BATCH = 25
#: numbers that are made at a time to weigh rules with many features
_CELLS = 1 << 17
#: derivations of all vertices that may be made for each one that is wanted
EFFORT = 2000


class ChartDecoder(Weighed):
    """Search for translations with synchronous rules under a weighted sum of features.

    Example::

        decoder = ChartDecoder(grammars, [lm], weights)
        for nbest in decoder.decode(as_inputs([["ein", "haus"]]), nbest=10):
            print(nbest[0].words, nbest[0].score)
    """

    #: the constraints that the search obeys
    takes = frozenset(("terms", "prefix"))
    #: what is counted in `work`
    WORK = ("dotted rules", "bundles", "language model scores of cells", "pops")

    def __init__(
        self,
        grammars: GrammarSource,
        models: Sequence[NgramModel] | Languages,
        weights: Mapping[str, float],
        settings: ChartSettings | None = None,
        features: ChartFeatures = NATIVE,
        bend: Bend | None = None,
    ) -> None:
        """Make a decoder; without a `bend`, logarithms of probabilities and counts are weighed."""
        self.grammars, self.features = grammars, features
        self.settings = settings or ChartSettings()
        self.languages = models if isinstance(models, Languages) else Languages(models)
        columns = features.all(grammars.features, len(self.languages))
        self.weighing = Weighing(bend or LogBend(columns), weights)
        self.weighing.check_inputs(columns)
        self._own = np.arange(len(grammars.features))
        trees = self.weighing.in_context(self._own)
        of_rules = [column for column, feature in enumerate(columns) if feature.scope == RULE]
        #: trees that ask about more than the grammar's features, but can be asked before the search, and the others
        self._rule_trees, self._trees = trees.split(of_rules) if trees is not None else (None, None)
        if self._rule_trees is not None:
            self._rule_trees = self._rule_trees.compact()
        self._known = np.array([], np.int64)  # what the others must know about rules
        if self._trees is not None:
            self._known = self._trees.inputs[np.isin(self._trees.inputs, of_rules)]
        # the kernels count words and natural logarithms
        own = len(self._own)
        self._weights = self.weighing.linear.copy()
        self._weights[own + WORD_PENALTY] *= features.unit
        self._weights[own + LM :: PER_LM] *= features.unit
        #: two vocabularies, and the ids of the first one's words in the second
        self._renumbered: tuple[Vocabulary, Vocabulary, I8] | None = None
        #: what k words are worth beyond their linear weight: few numbers of words, many rules
        self._words_worth = np.zeros(0)

    @cached_property
    def _models(self) -> ChartModels:
        return chart_models(self.languages, self._weights[len(self._own) + LM :: PER_LM])

    def _models_of(self, languages: Languages) -> ChartModels:
        """Return what the kernels must know about language models; of the decoder's own it is known."""
        return self._models if languages is self.languages else chart_models(languages, self._models.weights)

    @property
    def _beam(self) -> float:
        beam = self.settings.beam * float(np.abs(self._models.weights).sum())
        return beam if beam > 0 else np.inf

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"chart": self.settings.to_dict(), **self.grammars.recorded}

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that rules know."""
        return self.grammars.source_words

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words that rules produce."""
        return self.grammars.target_words

    # --- the same search, changed ------------------------------------------------------------------------------------

    def _changed(self, **changes: Any) -> ChartDecoder:
        now = {
            "grammars": self.grammars,
            "weights": self.weighing.by_name(),
            "settings": self.settings,
            "bend": self.bend,
            **changes,
        }
        return ChartDecoder(models=self.languages, features=self.features, **now)

    def reweighted(self, weights: Mapping[str, float]) -> ChartDecoder:
        """Return the same decoder with other weights."""
        return self._changed(weights=weights)

    def weighed(self, weighing: Weighing) -> ChartDecoder:
        """Return the same decoder with another bend and its weights."""
        return self._changed(weights=weighing.by_name(), bend=weighing.bend)

    def remembering(self) -> ChartDecoder:
        """Return the same decoder, which keeps the rules that it extracted for sentences."""
        return self._changed(grammars=self.grammars.remembering())

    def searching(self, changes: Mapping[str, Any]) -> ChartDecoder:
        """Return the same decoder with some settings changed, such as ``{"pop_limit": 100}``."""
        return self._changed(settings=ChartSettings.from_dict({**self.settings.to_dict(), **changes}))

    # --- decoding ----------------------------------------------------------------------------------------------------

    def rule_values(self, inputs: Sequence[Input]) -> Seen:
        """Return the raw values of the features that can be bent in all rules for some sentences, and how often each.

        A rule counts once for every sentence that it applies to. Indicators that are kept as such have nothing to bend.
        """
        dense = self.grammars.grammar(inputs[0]).features.shape[1] if inputs else len(self._own)
        names = [self.inputs[column].name for column in (*range(dense), len(self._own) + WORD_PENALTY)]
        batches = (inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH))
        return tally_columns(names, map(self._rule_values, batches))

    def _rule_values(self, inputs: Sequence[Input]) -> tuple[F8, I8]:
        """Return what can be bent of every rule for some sentences, float64[rules, dense + 1], and 1 for each rule.

        The last column is that of words.
        """
        tables = []
        for item in inputs:
            grammar = self.grammars.grammar(item)
            words = np.diff(offsets_from((grammar.target >= 0).astype(np.int64))[grammar.target_offsets])
            tables.append(np.column_stack([grammar.features, -self.features.unit * words]))
        return np.concatenate(tables), np.ones(sum(map(len, tables)), np.int64)

    def _rule_scores(self, grammar: Grammar) -> tuple[F8, F8]:
        """Return what the rules' own features are worth, float64[rules], and k words beyond their linear weight."""
        words, longest = self._words_worth, int(np.diff(grammar.target_offsets).max(initial=0))
        if len(words) <= longest:
            values = -self.features.unit * np.arange(2 * longest + 1, dtype=np.float64)
            self._words_worth = words = self.weighing.beyond_linear(self.features.word_penalty, values)
        if grammar.indicators is None:
            return self.weighing.rule_worth(grammar.features, self._own), words
        columns, worth = grammar.columns, np.empty(len(grammar))
        step = max(1, _CELLS // max(1, columns.width))
        for at in range(0, len(grammar), step):
            values = columns.values(np.arange(at, min(at + step, len(grammar))))
            worth[at : at + step] = self.weighing.rule_worth(values, self._own)
        return worth, words

    def decode(
        self,
        inputs: Sequence[Input],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        work: Work | None = None,
    ) -> Iterator[list[ChartDerivation]]:
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

        `vocabulary` has every target word of the grammars and every word of the inputs.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        found = engine.map(_decode_columns, (self, vocabulary, nbest), batches)
        pieces = list(each(found, "decode", len(inputs), "sentences", lambda piece: len(piece.counts)))
        return HypothesisColumns.join(pieces, vocabulary, self.weighing)

    def hypergraph(self, item: Input) -> Hypergraph:
        """Return everything that the search of one sentence (not longer than a window) keeps, without the beam."""
        if not 0 < len(item) <= self.settings.window:
            raise CamberError(f"a sentence of {len(item)} words; expected 1 to {self.settings.window} for a forest")
        bound = self.constrained(self.grammar(item), item)
        workspace = self.workspace([item], 2)
        begin, ends = self.languages.begin, self.languages.ends(final=True)
        top, rules = self._fill_forest(item.tokens, bound, self.languages, begin, workspace)
        forest = workspace.forest
        vertices, edges = forest.vertices[: forest.size[0]], forest.edges[: forest.size[1]]
        part_rules, features = np.empty(len(edges), np.int64), np.empty((len(edges), len(self.inputs)))
        read_edges(
            top, rules, self._models, begin, ends, self.features.unit, forest, workspace.list_room, part_rules, features
        )
        return Hypergraph(
            np.stack([vertices["begin"], vertices["end"]], axis=1),
            edges["vertex"].copy(),
            np.stack([edges["one"], edges["two"]], axis=1),
            Parts.of_dense(self.inputs, features, part_rules),
            int(top),
        )

    def word_alignment(self, derivation: ChartDerivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation."""
        return derivation.word_alignment()

    # --- one sentence ------------------------------------------------------------------------------------------------

    def grammar(self, item: Input) -> Grammar:
        """Ask for a sentence's rules, and check them."""
        grammar = self.grammars.grammar(item)
        check_grammar(grammar, tuple(feature.name for feature in self.grammars.features), item.number)
        return grammar

    def constrained(self, grammar: Grammar, item: Input) -> Constrained:
        """Return the grammar of a sentence in which its constraints are obeyed."""

        def worth(rules: I8) -> F8:
            return self.weighing.rule_worth(grammar.columns.values(rules), self._own)

        return constrain(grammar, item, worth)

    def workspace(self, inputs: Sequence[Input], nbest: int) -> Workspace:
        """Make the work arrays for some sentences."""
        longest = max(map(len, inputs))
        if not any(item.constraints for item in inputs):  # a term is never cut, however long it is
            longest = min(longest, self.settings.window)
        reach = int(self._models.longest.max(initial=0))
        return Workspace(longest, len(self.languages), reach, self.settings.pop_limit, nbest, len(self.inputs))

    def derivations(self, item: Input, workspace: Workspace, *, distinct: bool) -> list[ChartDerivation]:
        """Decode a sentence: at once, or window by window if it is very long; then the list varies the last window."""
        grammar = self.grammar(item)
        if not len(item):
            return [empty_derivation(self.inputs, grammar)]

        def one(piece: Input, state: I8, final: bool) -> list[ChartDerivation]:
            bound = self.constrained(grammar, piece)
            columns, count = self.search(
                piece.tokens, bound, self.languages, workspace, state, distinct=distinct, final=final
            )
            return read_derivations(self.inputs, columns, count, bound.grammar, piece.tokens)

        if len(item) <= self.settings.window:
            return one(item, self.languages.begin, True)
        return decode_in_windows(item, self.settings.window, self.languages, one)

    def search(
        self,
        words: Sequence[str],
        bound: Constrained,
        languages: Languages,
        workspace: Workspace,
        begin: I8,
        *,
        distinct: bool,
        final: bool = True,
    ) -> tuple[DerivationColumns, int]:
        """Call the kernels, with larger work arrays if they ask for them; return the columns, and how many are filled.

        The columns are the caller's, the other arrays are used again. The language models have the weights of this
        decoder's, in their order.
        """
        nbest, ends, models = workspace.nbest, languages.ends(final=final), self._models_of(languages)
        top, rules = self._fill_forest(words, bound, languages, begin, workspace, final=final)
        count = -1
        while count < 0:
            columns = workspace.columns()
            count = k_best(
                top, nbest, int(distinct), nbest * EFFORT, rules, workspace.forest, workspace.list_room, columns
            )
            code = count
            if count >= 0:
                code = read_parts(
                    top, count, rules, models, begin, ends, self.features.unit, workspace.forest,
                    workspace.list_room, columns,
                )  # fmt: skip
            if code < 0:
                workspace.grow(code)
                count = -1
        return columns, count

    def _fill_forest(
        self,
        words: Sequence[str],
        bound: Constrained,
        languages: Languages,
        begin: I8,
        workspace: Workspace,
        *,
        final: bool = True,
    ) -> tuple[int, Rules]:
        """Search, with larger work arrays if the kernel asks for them; return the top vertex and the rules."""
        ends = languages.ends(final=final)
        settings, models, (grammar, terms, ids, begun) = self.settings, self._models_of(languages), bound
        rules = lay_out(grammar, words, len(languages), terms, copy_known=settings.copy_known)
        targets, width = grammar.target_size, max(1, len(grammar.source_words) + len(grammar.extra_source))
        lm_words, unit = languages.words(grammar.target_words), self.features.unit
        if grammar.extra:
            lm_words = np.concatenate([lm_words, languages.words_of(grammar.extra)], axis=1)
        worth, words_worth = self._rule_scores(grammar)
        if self._rule_trees is not None:
            asked = known_values(grammar, self._rule_trees.inputs, lm_words, unit)
            worth = worth + self._rule_trees.scores(asked)
        limit = settings.span_limit and max(settings.span_limit, terms.longest)
        prefix = None
        if begun is not None:
            nat = float(np.abs(models.weights).sum()) or 1.0
            used = prefix_worth(bound, worth, words, nat)
            worth = worth - GIVEN * nat * begun.given
            longest = min(limit or len(words), len(words))
            prefix = Prefix.make(
                begun, used, len(words), longest, targets + len(words), settings.pop_limit, final=final
            )
        context = None
        if self._trees is not None:
            known = known_values(grammar, self._known, lm_words, unit)
            context = ChartContext(self._trees, unit, self._known, known, np.zeros(len(self.inputs)))
        prepare(
            rules, worth, words_worth, len(words), width, targets, lm_words, languages.words_of(words), models,
            self._weights, context,
        )  # fmt: skip
        beam = self._beam if workspace.nbest == 1 else np.inf
        top = -1
        while top < 0:
            top = search(
                ids, width, limit, settings.pop_limit, beam, rules, models, context, begin, ends,
                self._weights, prefix, workspace.forest, workspace.room,
            )  # fmt: skip
            if top == GROUPS_FULL and prefix is not None:
                prefix = prefix.larger()
            elif top < 0:
                workspace.grow(top)
        return top, rules

    def numbers(self, words: Vocabulary, vocabulary: Vocabulary) -> I8:
        """Return the ids that words of one vocabulary have in another, int64[words]."""
        known = self._renumbered
        if known is None or known[0] is not words or known[1] is not vocabulary:
            self._renumbered = known = (words, vocabulary, vocabulary.encode(words.words))
        return known[2]


def _decode_batch(
    shared: tuple[ChartDecoder, int, bool], batch: Sequence[Input]
) -> tuple[list[list[ChartDerivation]], Work]:
    """Decode some sentences, which share their work arrays."""
    decoder, nbest, distinct = shared
    workspace = decoder.workspace(batch, nbest)
    derivations = [decoder.derivations(item, workspace, distinct=distinct) for item in batch]
    return derivations, workspace.work + workspace.room.work


def _decode_columns(shared: tuple[ChartDecoder, Vocabulary, int], batch: Sequence[Input]) -> HypothesisColumns:
    """Decode some sentences into columns."""
    decoder, vocabulary, nbest = shared
    workspace = decoder.workspace(batch, nbest)
    pieces = [_columns_of(decoder, item, vocabulary, workspace) for item in batch]
    return HypothesisColumns.join(pieces, vocabulary, decoder.weighing)


def _columns_of(decoder: ChartDecoder, item: Input, vocabulary: Vocabulary, workspace: Workspace) -> HypothesisColumns:
    if not 0 < len(item) <= decoder.settings.window:
        decoded: list[Sequence[Derivation]] = [decoder.derivations(item, workspace, distinct=True)]
        return HypothesisColumns.of(decoded, vocabulary, decoder.weighing)
    bound = decoder.constrained(decoder.grammar(item), item)
    grammar = bound.grammar
    columns, count = decoder.search(
        item.tokens, bound, decoder.languages, workspace, decoder.languages.begin, distinct=True
    )
    offsets, last = columns.part_first[: count + 1], int(columns.word_first[count])
    parts = Parts.of_dense(decoder.inputs, columns.features[: offsets[-1]], columns.rule[: offsets[-1]])
    design = decoder.weighing.design(parts, offsets)
    others = vocabulary.encode([*grammar.extra, *item.tokens])
    numbers = np.concatenate([decoder.numbers(grammar.target_words, vocabulary), others])
    text = Sentences(numbers[columns.words[:last]].astype(np.int32), columns.word_first[: count + 1], vocabulary)
    return HypothesisColumns(np.array([count], np.int64), design.dense, text, design.sparse)
