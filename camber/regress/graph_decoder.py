"""The graph decoder: sentences in, n-best paths through the graphs of their predicted n-grams out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

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
from camber.decode.derivation import Derivation, HypothesisColumns
from camber.decode.languages import Languages
from camber.decode.searcher import Work
from camber.decode.windows import decode_in_windows
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.parts import Parts
from camber.lm.ngrams import NgramModel
from camber.progress import each, log
from camber.regress.graph import GramSource, Graph, Prediction, build_graph
from camber.regress.graph_settings import ALWAYS, GraphSettings, columns_of, graph_features, regression_name
from camber.regress.paths import Ends, Models, Worth, make_room, search, spell

#: sentences decoded by one task: few enough to share among threads
BATCH = 20


class Paths(NamedTuple):
    """The best paths of one sentence, best first; part `p` of path `k` is row ``offsets[k] + p``."""

    graph: Graph
    scores: F8  # [paths]
    offsets: I8  # [paths + 1]
    grams: I8  # [parts]
    features: F8  # [parts, inputs]
    copies: dict[int, str]  # words beyond the vocabulary


class GraphDecoder(Weighed):
    """Search for translations as paths through predicted n-grams, under a weighted sum of features (bicici, 4).

    Example::

        decoder = GraphDecoder(source, [lm], untuned_weights(1, source.orders))
        for nbest in decoder.decode(as_inputs([["ein", "haus"]]), nbest=10):
            print(nbest[0].words, nbest[0].score)

    A part is one word with the n-gram that led to it; the last part is the end of the sentence, and has no word.
    """

    #: the constraints that the search obeys: none
    takes: frozenset[str] = frozenset()
    #: what is counted in `work`; the last three are of the best paths
    WORK = ("n-grams", "paths kept", "sentences that nothing connected", "glued words", "repeats", "copied words")

    def __init__(
        self,
        source: GramSource,
        models: Sequence[NgramModel] | Languages,
        weights: Mapping[str, float],
        settings: GraphSettings | None = None,
        bend: Bend | None = None,
    ) -> None:
        """Make a decoder; without a `bend`, values are weighed as they are."""
        self.source, self.settings = source, settings or GraphSettings()
        self.languages = models if isinstance(models, Languages) else Languages(models)
        self.order = max(source.orders)
        if self.order < 2:
            raise CamberError(f"n-grams of {self.order} word make no graph; predict bigrams at least")
        own = graph_features(len(self.languages), source.orders, self.settings.features)
        self.weighing = Weighing(bend or LogBend(own), weights)
        self.weighing.check_inputs(own)
        if self.bend.trees(self.weighing.by_name()):
            raise CamberError("paths through n-grams cannot be weighed by trees; tune with another --bend")
        self._columns = columns_of(own, self.order)

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The settings that a model must keep, by stage."""
        return {"graph": self.settings.to_dict(), **self.source.recorded}

    @property
    def source_vocabulary(self) -> Vocabulary:
        """The source words that the source of n-grams knows."""
        return self.source.source_words

    @property
    def target_vocabulary(self) -> Vocabulary:
        """The target words of n-grams."""
        return self.source.target_words

    # --- the same search, changed ------------------------------------------------------------------------------------

    def reweighted(self, weights: Mapping[str, float]) -> GraphDecoder:
        """Return the same decoder with other weights."""
        return GraphDecoder(self.source, self.languages, weights, self.settings, self.bend)

    def weighed(self, weighing: Weighing) -> GraphDecoder:
        """Return the same decoder with another bend and its weights."""
        return GraphDecoder(self.source, self.languages, weighing.by_name(), self.settings, weighing.bend)

    def remembering(self) -> GraphDecoder:
        """Return the same decoder, which keeps what was predicted if that saves work."""
        kept = self.source.remembering()
        return GraphDecoder(kept, self.languages, self.weighing.by_name(), self.settings, self.bend)

    def searching(self, changes: Mapping[str, Any]) -> GraphDecoder:
        """Return the same decoder with some settings changed, such as ``{"beam": 100}``."""
        settings = GraphSettings.from_dict({**self.settings.to_dict(), **changes})
        return GraphDecoder(self.source, self.languages, self.weighing.by_name(), settings, self.bend)

    # --- decoding ----------------------------------------------------------------------------------------------------

    def rule_values(self, inputs: Sequence[Input]) -> Seen:
        """Return how often n-grams of each length are expected in some sentences, and how many of them so often."""
        names = [regression_name(n) for n in self.source.orders]
        batches = (inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH))
        return tally_columns(names, map(self._rule_values, batches))

    def _rule_values(self, inputs: Sequence[Input]) -> tuple[F8, I8]:
        """Return what n-grams of some sentences count, each in the column of its length, and 1 for each of them."""
        rows = [np.zeros((0, len(self.source.orders)))]
        for item, prediction in zip(inputs, self.source.predictions(inputs), strict=True):
            graph, _ = self._graph(item, prediction)
            given = graph.count == graph.count
            lengths, use = graph.length[given], (graph.count / graph.times)[given]
            rows.append(np.stack([np.where(lengths == n, use, np.nan) for n in self.source.orders], axis=1))
        table = np.concatenate(rows)
        return table, np.ones(len(table), np.int64)

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

        Every text is one path, so it comes once, `distinct` or not. An empty sentence has one derivation without parts.
        What the search did is added to `work` int64[len(WORK)], if it is given.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        done = np.zeros(len(self.WORK), np.int64)
        yield from decode_batches(_decode_batch, self, batches, nbest, distinct=distinct, engine=engine, work=done)
        if work is not None:
            work += done
        if done[2]:
            log.info(
                "%d of %d sentences: no path of predicted n-grams comes to an end, so pieces were glued",
                done[2], len(inputs),
            )  # fmt: skip

    def decode_columns(
        self, inputs: Sequence[Input], vocabulary: Vocabulary, nbest: int, engine: Engine = LOCAL
    ) -> HypothesisColumns:
        """Decode into columns of distinct hypotheses, without an object for each: what tuning needs, and quicker.

        `vocabulary` begins with the target vocabulary of the source and has every word of the inputs.
        """
        batches = [inputs[i : i + BATCH] for i in range(0, len(inputs), BATCH)]
        found = engine.map(_decode_columns, (self, vocabulary, nbest), batches)
        pieces = list(each(found, "decode", len(inputs), "sentences", lambda piece: len(piece.counts)))
        return HypothesisColumns.join(pieces, vocabulary, self.weighing)

    def word_alignment(self, derivation: Derivation) -> list[tuple[int, int]]:
        """Return the (source, target) links of a derivation: of copied words, since regression links no others."""
        copied = np.flatnonzero(derivation.features[:, self._columns.copy] > 0)
        return sorted((int(derivation.spans[p, 0]), int(derivation.target_spans[p, 0])) for p in copied)

    # --- one sentence ------------------------------------------------------------------------------------------------

    def _graph(self, item: Input, prediction: Prediction) -> tuple[Graph, dict[int, str]]:
        """Return the graph of a sentence, and the words beyond the vocabulary and its marks."""
        wrong = np.setdiff1d(prediction.lengths, self.source.orders)
        if len(wrong):
            expected = " or ".join(map(str, self.source.orders))
            raise CamberError(f"sentence {item.number}: an n-gram of {wrong[0]} words; expected {expected}")
        words = len(self.target_vocabulary)
        often = Counter(item.tokens[place] for place in prediction.unknown)
        copies: dict[int, str] = {}
        numbers = []
        for word, count in often.items():
            if self.settings.copies(word):
                known = self.target_vocabulary.id(word)
                number = known if known >= 0 else words + 2 + len(copies)
                if known < 0:
                    copies[number] = word
                numbers.append((number, count))
        return build_graph(prediction, self.order, words, numbers), copies

    def search(
        self,
        item: Input,
        prediction: Prediction,
        nbest: int,
        work: Work,
        begin: I8 | None = None,
        *,
        final: bool = True,
    ) -> Paths:
        """Search for the paths of a sentence, which `begin` in a state of language models and end there or go on."""
        settings = self.settings
        graph, copies = self._graph(item, prediction)
        longest = settings.longest(len(item), self.source.ratio)
        brevity = self._brevity(len(item), longest)
        worth, use = self._worth(graph, brevity)
        models = self._models(graph, copies, begin, final=final)
        room = make_room(len(graph.word), self.order, len(self.languages), longest, settings.beam, settings.glue_words)
        ends = Ends(np.empty(nbest), *(np.empty(nbest, np.int64) for _ in range(4)))
        kept = np.zeros(1, np.int64)
        glue = settings.glue == ALWAYS
        count = search(graph, worth, models, room, ends, longest, settings.beam, glue, settings.future, kept)
        work[0] += len(prediction)
        if not count:  # nothing connects
            if not glue:
                work[2] += 1
                count = search(graph, worth, models, room, ends, longest, settings.beam, True, settings.future, kept)
            if not count:  # there is no word at all: the path is empty
                ends.words[0], ends.path[0], ends.edge[0] = 0, 0, _empty_end(graph)
                count, ends.slots[0] = 1, 0
                ends.heap[0] = 0.0
        work[1] += kept[0]
        slots = ends.slots[:count]
        order = np.lexsort((ends.path[slots], ends.words[slots], ends.heap[:count]))
        chosen, scores = slots[order], -ends.heap[order]
        offsets = offsets_from(ends.words[chosen] + 1)
        grams, features = np.empty(offsets[-1], np.int64), np.empty((int(offsets[-1]), len(self.inputs)))
        spell(graph, models, room, ends, chosen, self._columns, use, brevity, offsets, grams, features)
        best = features[: offsets[1]]
        for place, column in ((3, self._columns.glue), (4, self._columns.repeat), (5, self._columns.copy)):
            work[place] += int((best[:, column] > 0).sum()) if column >= 0 else 0
        if offsets[-1] == 1:  # the empty path, which was not searched for
            scores = self.weighing.scores(Parts.of_dense(self.inputs, features), offsets)
        return Paths(graph, scores, offsets, grams, features, copies)

    def _brevity(self, source: int, longest: int) -> F8:
        """Return the brevity penalty of paths of 0 … `longest` words, raw."""
        lengths = np.maximum(np.arange(longest + 1), 1e-9)
        ratio = self.source.ratio
        return np.exp(np.minimum(0.0, self.settings.brevity * (ratio - source / lengths)))  # bicici 4, feature 3

    def _worth(self, graph: Graph, brevity: F8) -> tuple[Worth, F8]:
        """Return what n-grams and all else add to a score, and what one use of an n-gram counts."""
        use = graph.count / graph.times
        gram = np.zeros(len(graph.word))
        for n in self.source.orders:
            given = np.flatnonzero((graph.length == n) & (use == use))
            gram[given] = self.weighing.worth(regression_name(n), use[given])
        sums = gram.copy()
        for n in range(2, self.order + 1):
            longer = graph.length == n
            sums[longer] += sums[graph.suffix[longer]]
        columns, linear = self._columns, np.append(self.weighing.linear, 0.0)  # what there is no feature of is worth 0
        worth = Worth(
            gram, sums, -float(linear[columns.word]), float(linear[columns.repeat]), float(linear[columns.glue]),
            float(linear[columns.copy]), linear[columns.brevity] * self.inputs[columns.brevity].linear(brevity),
        )  # fmt: skip
        return worth, use

    def _models(self, graph: Graph, copies: Mapping[int, str], begin: I8 | None, *, final: bool) -> Models:
        languages = self.languages
        known = languages.words(self.target_vocabulary)
        words = np.zeros((len(languages), len(graph.word)), np.int64)
        inside = (graph.word >= 0) & (graph.word < len(self.target_vocabulary))
        words[:, inside] = known[:, graph.word[inside]]
        for number, column in zip(copies, languages.words_of(list(copies.values())).T, strict=True):
            words[:, graph.word == number] = column[:, None]
        return Models(
            languages.nodes, languages.children, self.weighing.linear[self._columns.lm :].copy(), words,
            languages.roots, languages.begin if begin is None else begin, languages.ends(final=final),
        )  # fmt: skip

    def words_of(self, paths: Paths, path: int) -> list[str]:
        """Return the words of a path."""
        vocabulary = self.target_vocabulary.words
        numbers = paths.graph.word[paths.grams[paths.offsets[path] : paths.offsets[path + 1] - 1]].tolist()
        return [vocabulary[word] if word < len(vocabulary) else paths.copies[word] for word in numbers]

    def derivations(self, item: Input, paths: Paths) -> list[Derivation]:
        """Turn paths into derivations: the rule of a part is the number of its n-gram, -1 for a copied word.

        An n-gram is predicted from the whole sentence, which is its span; copied words have their own.
        """
        derivations = []
        for path, score in enumerate(paths.scores.tolist()):
            rows = slice(*paths.offsets[path : path + 2].tolist())
            grams, words = paths.grams[rows], self.words_of(paths, path)
            places = np.minimum(np.arange(len(grams) + 1), len(words))
            spans = np.tile([0, len(item)], (len(grams), 1))
            left: dict[str, int] = {}
            copied = paths.graph.copied[grams] > 0
            for part in np.flatnonzero(copied).tolist():
                start = left.get(words[part], 0)
                place = list(item.tokens).index(words[part], start)
                left[words[part]] = place + 1
                spans[part] = place, place + 1
            targets = np.stack([places[:-1], places[1:]], axis=1)
            rules = np.where(copied, -1, grams)
            derivations.append(Derivation(self.inputs, words, score, paths.features[rows], rules, spans, targets))
        return derivations


def _empty_end(graph: Graph) -> int:
    """Return the n-gram by which a path ends that has just begun."""
    at = int(graph.context[graph.begin])
    while graph.end[at] < 0:
        at = int(graph.backoff[at])
    return int(graph.end[at])


def _decode_batch(
    shared: tuple[GraphDecoder, int, bool], batch: Sequence[Input]
) -> tuple[list[list[Derivation]], Work]:
    """Decode a batch, long sentences in windows."""
    decoder, nbest, _ = shared
    work = np.zeros(len(decoder.WORK), np.int64)

    def one(item: Input, state: I8 | None, final: bool, prediction: Prediction | None = None) -> list[Derivation]:
        predicted = decoder.source.predictions([item])[0] if prediction is None else prediction
        paths = decoder.search(item, predicted, nbest if final else 1, work, state, final=final)
        return decoder.derivations(item, paths)

    window = decoder.settings.window
    short = [item for item in batch if 0 < len(item) <= window]
    predictions = iter(decoder.source.predictions(short) if short else ())
    in_windows = partial(decode_in_windows, window=window, languages=decoder.languages, decode=one)
    decoded = []
    for item in batch:
        if not len(item):
            decoded.append([_nothing(decoder)])
        elif len(item) <= window:
            decoded.append(one(item, None, True, next(predictions)))
        else:
            decoded.append(in_windows(item))
    return decoded, work


def _nothing(decoder: GraphDecoder) -> Derivation:
    """Return the derivation of an empty sentence."""
    none = np.zeros((0, 2), np.int64)
    return Derivation(
        decoder.inputs, [], 0.0, np.zeros((0, len(decoder.inputs))), np.zeros(0, np.int64), none, none.copy()
    )


def _decode_columns(shared: tuple[GraphDecoder, Vocabulary, int], batch: Sequence[Input]) -> HypothesisColumns:
    """Decode a batch into columns."""
    decoder, vocabulary, nbest = shared
    if not all(0 < len(item) <= decoder.settings.window for item in batch):
        return HypothesisColumns.of(_decode_batch((decoder, nbest, True), batch)[0], vocabulary, decoder.weighing)
    work = np.zeros(len(decoder.WORK), np.int64)
    counts, ids, lengths, features, rules = [], [], [np.zeros(0, np.int64)], [], []
    for item, prediction in zip(batch, decoder.source.predictions(batch), strict=True):
        paths = decoder.search(item, prediction, nbest, work)
        counts.append(len(paths.scores))
        words = np.delete(paths.graph.word[paths.grams], paths.offsets[1:] - 1)
        for number, word in paths.copies.items():
            words[words == number] = vocabulary.id(word)
        ids.append(words)
        lengths.append(np.diff(paths.offsets))
        features.append(paths.features)
        rules.append(np.where(paths.graph.copied[paths.grams] > 0, -1, paths.grams))
    sizes = np.concatenate(lengths)
    parts = Parts.of_dense(
        decoder.inputs,
        np.concatenate([*features, np.zeros((0, len(decoder.inputs)))]),
        np.concatenate([*rules, np.zeros(0, np.int64)]),
    )
    design = decoder.weighing.design(parts, offsets_from(sizes))
    flat = np.concatenate([*ids, np.zeros(0, np.int64)]).astype(np.int32)
    words_of_all = Sentences(flat, offsets_from(sizes - 1), vocabulary)
    return HypothesisColumns(np.array(counts, np.int64), design.dense, words_of_all, design.sparse)
