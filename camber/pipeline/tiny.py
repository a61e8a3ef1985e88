"""A tiny corpus, and pieces of work on it that use every kernel once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from camber.align.pharaoh import Alignment, read_pharaoh, write_pharaoh
from camber.align.words import AlignSettings, align_new, learn_alignment
from camber.arrays.distinct import number_pieces
from camber.arrays.scratch import Scratch
from camber.bend.bins import Bins
from camber.bend.log import LogBend
from camber.bend.lookup import Lookup
from camber.bend.mixtures.em import EmSettings, fit_mixture
from camber.bend.mixtures.mixture import Mixture
from camber.bend.mixtures.nearest import Neighbours
from camber.bend.mixtures.perceptron import perceptron_kernels
from camber.bend.mixtures.reestimate import KeptPosteriors
from camber.bend.settings import BendSettings
from camber.bend.soft import SoftEdges
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.collapse import collapse
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import Tree
from camber.bend.weighing import Weighing
from camber.corpus import Bitext, Vocabulary
from camber.corpus.hotel import generate
from camber.corpus.inputs import Input
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.forest import forest_sums
from camber.decode.consensus.settings import ConsensusSettings
from camber.decode.lists import to_nbest
from camber.decode.phrase.features import untuned_weights
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.features.feature import CONTEXT, NUMBER, PROBABILITY, RULE, Feature, names_of
from camber.features.parts import Parts
from camber.features.weights import Weights
from camber.files import write_lines
from camber.formats.glossary.glossary import Glossary
from camber.formats.moses.phrase_table import read_moses
from camber.formats.moses.phrase_table_writing import PHRASE_TABLE, REORDERING_TABLE, write_moses
from camber.formats.moses.rule_table import read_moses_rules
from camber.kernel.table import empty_table, insert
from camber.lm.arpa import read_arpa, write_arpa
from camber.lm.kneser_ney import LmSettings, estimate, estimate_arpa
from camber.lm.ngrams import NgramModel
from camber.lm.trie import NgramTrie
from camber.memory.segments import Segments
from camber.metrics.bleu import BLEU
from camber.metrics.significance import paired_bootstrap, paired_randomisation
from camber.metrics.ter import TER
from camber.model.combination import together
from camber.model.hiero import HieroRules, untuned_hiero_weights
from camber.model.phrase import PhraseRules
from camber.model.sparse import SparseRules
from camber.model.translator import Translator
from camber.pipeline.combine import combine
from camber.pipeline.tune import dev_set, tune_translator
from camber.regress.decoder import RegressionDecoder
from camber.regress.gradients import Gradients
from camber.regress.learnt import LearntRegression
from camber.regress.prediction import LeastSquares, Vectors
from camber.regress.scorer import RegressionScorer
from camber.regress.select.coverage import coverage
from camber.regress.select.selectors import SELECTORS, make_selector
from camber.regress.settings import MAXIMUM_MARGIN, KernelSettings
from camber.regress.sparse.regressor import REGRESSORS
from camber.regress.spectrum import Spectrum
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.settings import FEATURE, GRAPH, MIXED, SparseSettings
from camber.regress.transduce.table import TableRules
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.grammar import Grammar
from camber.rules.hiero.grammar_set import GrammarSet
from camber.rules.hiero.index import CorpusIndex
from camber.rules.hiero.large import learn_inventory
from camber.rules.hiero.rule_table import RuleTable
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.large import LargeFeatures
from camber.rules.phrase.overlay import Overlay
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import StoredRules
from camber.rules.phrase.store import RuleStore
from camber.rules.words import WordKnowledge
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.tune.acting import watched
from camber.tune.bending import bent_decoder
from camber.tune.growing import grown_decoder
from camber.tune.loop import TuneSettings
from camber.tune.tuners import TUNERS


class Tiny:
    """What is made of a few sentence pairs, each when it is first asked for."""

    def __init__(self) -> None:
        self.source, self.target = generate(train=60, dev=1, test=1).train

    @cached_property
    def bitext(self) -> Bitext:
        return Bitext.encode([line.split() for line in self.source], [line.split() for line in self.target])

    @cached_property
    def alignment(self) -> Alignment:
        return learn_alignment(self.bitext, AlignSettings(model="best"), engine=Threads(1))[0]

    @cached_property
    def store(self) -> RuleStore:
        return extract(self.bitext, self.alignment, RuleSettings(significance="alpha-epsilon"), engine=Threads(1))

    @cached_property
    def trie(self) -> NgramTrie:
        with Scratch(1000) as scratch:  # as if memory were short: in parts, and in files
            estimate(self.bitext.target, LmSettings(order=3), scratch=scratch)
        return estimate(self.bitext.target, LmSettings(order=3))

    @cached_property
    def language(self) -> NgramModel:
        return NgramModel.from_trie(self.trie)

    @cached_property
    def index(self) -> CorpusIndex:
        return CorpusIndex.build(self.bitext, self.alignment)

    @cached_property
    def words(self) -> tuple[RuleSettings, WordKnowledge]:
        chosen = RuleSettings(rule_features="large", clusters=5, subword_merges=20)
        return chosen, WordKnowledge.learn(self.bitext, chosen, engine=Threads(1))

    @cached_property
    def phrases(self) -> Translator:
        poor = {**untuned_weights(1), "lm": 0.05, "word_penalty": 0.2}  # poor ones, so that tuning has work
        rules = PhraseRules(self.store, settings=DecodeSettings(pop_limit=20))
        decoder = rules.weighted([self.language], Weights(poor), None)
        return Translator(TextPipeline(TextSettings(tokenizer="none")), decoder, Weights(poor))

    @cached_property
    def hiero(self) -> Translator:
        weights = untuned_hiero_weights(1)
        return Translator(
            self.phrases.text, ChartDecoder(HieroExtractor(self.index), [self.language], weights.values), weights
        )


def phrases(tiny: Tiny) -> None:
    """Translate by phrases, and list what was found."""
    tiny.language.score(tiny.bitext.target)
    tiny.language.score(tiny.target[:2])
    translator = tiny.phrases
    lists = list(translator.translations(tiny.source[:2], nbest=3, engine=Threads(1)))
    to_nbest(translator.decoder, [[item.derivation for item in best] for best in lists])
    metric = BLEU(tokenize="none")
    rows = metric.statistics(translator.translate(tiny.source, engine=Threads(1)), [tiny.target])
    paired_bootstrap(metric, rows, rows, samples=10)
    paired_randomisation(metric, rows, rows, trials=10)


def tuners(tiny: Tiny) -> None:
    """Tune weights in every way."""
    for tuner in TUNERS:
        settings = TuneSettings(tuner=tuner, iterations=2, nbest=10)
        tune_translator(tiny.phrases, tiny.source, [tiny.target], settings, engine=Threads(1))


def aligners(tiny: Tiny) -> None:
    """Align by every model, and pairs that come later; extend what was extracted by them."""
    _, aligner = learn_alignment(tiny.bitext, AlignSettings(model="quick"), engine=Threads(1))
    align_new(aligner, tiny.bitext, engine=Threads(1))
    more = Overlay(tiny.store, tiny.index.extended(tiny.bitext, tiny.alignment))
    more.batch([tiny.store.source_vocabulary.encode(tiny.source[0].split())])


def large(tiny: Tiny) -> None:
    """Translate with the large sets of features, of phrases and of rules with gaps."""
    chosen, knowledge = tiny.words
    rules = PhraseRules(tiny.store, chosen.features, large=LargeFeatures.of(knowledge, tiny.store, chosen))
    more = HieroSettings(rule_features="large", signatures=5)
    gaps = HieroRules(tiny.index, more, inventory=learn_inventory(knowledge, tiny.index, more))
    for one in (rules, gaps):
        list(one.weighted([tiny.language], one.untuned(1)).decode([Input(tiny.source[0].split())], engine=Threads(1)))


def charts(tiny: Tiny) -> None:
    """Translate by rules with gaps, and tune their weights."""
    chart = tiny.hiero.decoder
    forest_sums(chart.hypergraph(Input(tiny.source[0].split())), chart.weighing)
    for nbest in (1, 3):
        list(tiny.hiero.translations(tiny.source[:2], nbest=nbest, engine=Threads(1)))
    settings = TuneSettings(iterations=2, nbest=10)
    tune_translator(tiny.hiero, tiny.source[:20], [tiny.target[:20]], settings, engine=Threads(1))


def wishes(tiny: Tiny) -> None:
    """Complete what was begun; obey a glossary."""
    tiny.hiero.translate(tiny.source[:2], prefix="the", engine=Threads(1))
    glossary = Glossary.of({tiny.source[0].split()[0]: "term"})
    for model in (tiny.phrases, tiny.hiero):
        model.translate(tiny.source[:2], glossary=glossary, engine=Threads(1))


def bends(tiny: Tiny) -> None:
    """Learn curves; let both models agree."""
    for model, tuner in ((tiny.phrases, "pro"), (tiny.hiero, "expected-bleu")):
        bent = TuneSettings(tuner=tuner, iterations=2, nbest=10, bend="mnr", bits=2)
        tune_translator(model, tiny.source[:20], [tiny.target[:20]], bent, engine=Threads(1))
    agreed = together([tiny.phrases, tiny.hiero], ConsensusSettings(mbr_size=5))
    combine(agreed, tiny.source[:20], [tiny.target[:20]], engine=Threads(1))
    agreed.translate(tiny.source[:2], engine=Threads(1))


def trees_of_phrases(tiny: Tiny) -> None:
    """Grow trees on phrases in context."""
    _use_trees(tiny.phrases, tiny.source, tiny.target)


def trees_of_rules(tiny: Tiny) -> None:
    """Grow trees on rules with gaps in context."""
    _use_trees(tiny.hiero, tiny.source, tiny.target)


def regressions(tiny: Tiny) -> None:
    """Translate by regressions."""
    _use_regression(tiny.bitext, tiny.store, tiny.language)


def selections(tiny: Tiny) -> None:
    """Select pairs for sentences, and translate by what these teach."""
    _use_selections(tiny.index, tiny.store, tiny.language, tiny.phrases.text, tiny.source, tiny.target)
    for kind in SELECTORS:
        selector = make_selector(kind, tiny.bitext)
        chosen = [selector.select_set(tiny.bitext.source, 5, engine=Threads(1))] * len(tiny.bitext)
        coverage(tiny.bitext.source, tiny.bitext.source, chosen)


def lookups(tiny: Tiny) -> None:
    """Bins, soft bins, edits, distinct pieces, and a memory of texts."""
    TER().statistics(["a b"], [["b a"]])
    number_pieces(tiny.bitext.source.ids, tiny.bitext.source.offsets)
    lookup = Lookup.of([Bins.make([0.1, 0.2, 0.3], bits=1)])
    lookup.find(0, [0.1])
    lookup.score([[0.1]], [0], [0.0, 1.0], [0.0])
    soft = SoftEdges.of([Bins.make([0.1, 0.2, 0.3], bits=1)], 0.25)
    soft.worth([[0.1]], soft.memberships([[0.1]]).dense()[0])
    Segments.build(TextPipeline(TextSettings()), tiny.source, tiny.target).nearest(tiny.source[0])
    features = (Feature("p", PROBABILITY, RULE), Feature("lm", NUMBER, CONTEXT))
    collapse(Parts.of_dense(features, [[0.5, -float(number)] for number in range(2000)]))
    Forest(features, (Tree.of_split(1, -3.0, (0.0, 0.1)),)).scores([[0.5, -1.0]], [1.0])
    insert(empty_table(1), 1)  # as a graph of n-grams does where some may come twice


def mixtures(_: Tiny) -> None:
    """Fit kernels of both kinds, and ask for posteriors under each."""
    points, one = np.zeros((2, 1)), np.ones(1)
    mixture = Mixture(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    kept = KeptPosteriors(points, mixture.posteriors(points, engine=Threads(1)))
    kept.update(mixture)
    kept.gradient(one, kept.scores(one), engine=Threads(1))
    kept.in_weights(kept.scores(one))
    _use_mixtures()


def files(tiny: Tiny) -> None:
    """Write and read files, and open what models are made of."""
    with TemporaryDirectory() as folder:
        _use_files(Path(folder), tiny.store, tiny.trie, tiny.alignment)
        _use_checks(Path(folder), tiny.store, tiny.index, tiny.language)


#: What has most to compile comes first, and what needs little of the others' between.
PIECES: tuple[Callable[[Tiny], None], ...] = (
    phrases,
    mixtures,
    charts,
    lookups,
    tuners,
    selections,
    regressions,
    wishes,
    files,
    aligners,
    large,
    trees_of_phrases,
    trees_of_rules,
    bends,
)


def _use_regression(bitext: Bitext, store: RuleStore, language: NgramModel) -> None:
    """Translate by regressions, of few pairs and as many pairs need it; and with one as a feature of phrases."""
    vectors = Vectors.of(bitext, Spectrum())
    regression = LeastSquares(vectors, Gradients.of(vectors.source, 0.1))
    margin = LearntRegression.learn(bitext, KernelSettings(regression=MAXIMUM_MARGIN))
    regressions = (LeastSquares.of(vectors, 0.1), regression, margin.regression(KernelSettings(), added=bitext))
    for one in regressions:
        decoder = RegressionDecoder(StoredRules(store), one)
        word = store.source_vocabulary.words[0]
        list(decoder.decode([Input([word, "?", word])], engine=Threads(1)))  # two prefixes are solved together
    rules = PhraseRules(store, scorer=RegressionScorer.of(regression, bitext.source.vocabulary))
    item = Input([bitext.source.vocabulary.words[word] for word in bitext.source[0]])
    list(rules.weighted([language], rules.untuned(1)).decode([item], nbest=2, engine=Threads(1)))


def _use_selections(
    index: CorpusIndex, store: RuleStore, language: NgramModel, text: TextPipeline, source: list[str], target: list[str]
) -> None:
    """Translate sentences by what pairs selected for them teach: every regressor with a W, and every decoder."""
    words = source[0].split()
    for name in REGRESSORS:
        if REGRESSORS.load(name).linear:
            TableRules(Instances(index, SparseSettings(instances=10, regressor=name))).rules(words)
    for decoder in (GRAPH, MIXED, FEATURE):
        rules = SparseRules(index, SparseSettings(decoder=decoder, instances=10), everything=StoredRules(store))
        weights = rules.untuned(1)
        model = Translator(text, rules.weighted([language], weights), weights)
        list(model.translations(source[:2], nbest=3, engine=Threads(1)))
        if decoder == GRAPH:
            tune_translator(model, source[:20], [target[:20]], TuneSettings(iterations=2, nbest=10), engine=Threads(1))


def _use_mixtures() -> None:
    """Fit kernels of both kinds, and ask for posteriors under each."""
    points = np.arange(8.0)[:, None]
    fitted = fit_mixture(points, 2, EmSettings(iterations=1), engine=Threads(1)).mixture
    drawn = perceptron_kernels(points, np.array([0, 8]), points[:, 0], np.zeros(1, np.int64))
    for mixture in (fitted, drawn):
        mixture.posteriors(points, owners=np.zeros(8, np.int64), engine=Threads(1))
    Neighbours.of(points).nearest(points, 1, engine=Threads(1))


def _use_trees(model: Translator, source: Sequence[str], target: Sequence[str]) -> None:
    """Grow trees, and translate with one that looks at the language model."""
    dev = dev_set(model, source[:20], [target[:20]])
    empty = bent_decoder(model.decoder, dev.inputs, "trees", BendSettings())
    for chosen in (
        {"leaf": "constant"},
        {"leaves": 2},
        {"leaf": "linear", "tree_refit": True},
        {"tree_split": "pairs"},
    ):
        settings = BendSettings.from_dict({"trees": 2, "leaves": 3, **chosen})
        grown_decoder(empty, dev, settings, 10, engine=Threads(1))
    inputs = model.decoder.inputs
    tree = Tree.of_split(names_of(inputs).index("lm"), -3.0, (0.0, 0.1))
    bend = TreesBend(LogBend(inputs), Forest(inputs, (tree,)))
    decoder = model.decoder.weighed(Weighing(bend, {**model.decoder.weighing.by_name(), "tree1": 1.0}))
    list(decoder.decode(dev.inputs[:2], engine=Threads(1)))
    watched(decoder, dev, 10, Threads(1))


def _use_checks(folder: Path, store: RuleStore, index: CorpusIndex, language: NgramModel) -> None:
    """Open what models are made of: it is checked then."""
    store.save(folder / "store")
    RuleStore.load(folder / "store")
    index.save(folder / "index")
    CorpusIndex.load(folder / "index")
    language.save(folder, "lm")
    NgramModel.load(folder, "lm")
    (folder / "table").mkdir()
    read_moses_rules(folder / "rules").save(folder / "table")
    RuleTable.load(folder / "table")
    grammars = GrammarSet.of(Grammar.empty((), Vocabulary(()), Vocabulary(())), np.zeros(2, np.int64))
    (folder / "grammars").mkdir()
    grammars.save(folder / "grammars")
    GrammarSet.load(folder / "grammars")


def _use_files(folder: Path, store: RuleStore, trie: NgramTrie, alignment: Alignment) -> None:
    write_moses(store, folder)
    read_moses(folder / PHRASE_TABLE, folder / REORDERING_TABLE)
    write_lines(folder / "rules", ["a [X] ||| b [X] ||| 1 ||| 0-0"])
    read_moses_rules(folder / "rules").grammar(Input(["a"]))
    write_arpa(folder / "lm.arpa", trie)
    read_arpa(folder / "lm.arpa")
    write_lines(folder / "text", ["a b", "b"])
    estimate_arpa(folder / "text", folder / "own.arpa", LmSettings(order=2))
    write_pharaoh(folder / "links", alignment)
    read_pharaoh(folder / "links")
