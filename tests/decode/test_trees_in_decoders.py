"""Trees inside both decoders: against all derivations of a decoder without trees, scored again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.charts import OneGrammar, grammar_of, random_rules, with_indicators
from toys.models import SOURCE, TARGET, ngram_model_of, random_model, random_ngrams, random_weights, store_of
from toys.ngram_scores import WrittenScores, random_scores

from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.bend.log import LogBend
from camber.bend.trees.bend import TreesBend
from camber.bend.trees.forest import Forest
from camber.bend.trees.tree import Tree
from camber.bend.weighing import Weighing
from camber.corpus import Vocabulary
from camber.corpus.inputs import as_inputs
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import CDEC, NATIVE
from camber.decode.chart.in_context import known_values
from camber.decode.chart.settings import ChartSettings
from camber.decode.derivation import parts_of
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.features.feature import CONTEXT, RULE, names_of
from camber.rules.phrase.source import StoredRules

EVERYTHING = 50_000  # pops: more than there are cells in any of these stacks and spans


def phrase_decoder(rng, language_models=1, **settings):
    model = random_model(rng, language_models, targets=2)
    return PhraseDecoder(
        StoredRules(store_of(model.rules)),
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        random_weights(rng, feature_names(language_models)),
        DecodeSettings(pop_limit=EVERYTHING, stack_beam=0.0, **settings),
    )


def chart_decoder(rng, language_models=1, features=NATIVE, indicators=0):
    rules = random_rules(rng, int(rng.integers(2, 7)), absent=0.2)
    grammars = OneGrammar(with_indicators(rng, rules, indicators)[2] if indicators else grammar_of(rules))
    models = [ngram_model_of(random_ngrams(rng, 3)) for _ in range(language_models)]
    return ChartDecoder(
        grammars,
        models,
        random_weights(rng, features.names(grammars.names, language_models)),
        ChartSettings(pop_limit=EVERYTHING, beam=0.0, span_limit=0, copy_known=True),
        features,
    )


def random_tree(rng, inputs, values, allowed):
    """Draw a tree of two or three leaves, constant or linear in a feature; thresholds are values that were seen."""
    nodes = int(rng.integers(1, 3))
    columns = rng.choice(allowed, nodes)
    thresholds = [float(rng.choice(values[column])) if len(values[column]) else 0.0 for column in columns]
    children = [[-1, -2]] if nodes == 1 else [[1, -1], [-2, -3]]
    slope = int(rng.choice(allowed)) if rng.random() < 0.5 else -1
    return Tree(
        columns,
        thresholds,
        rng.random(nodes) < 0.5,
        children,
        rng.normal(size=nodes + 1),
        rng.normal(size=nodes + 1) if slope >= 0 else np.zeros(nodes + 1),
        slope,
    )


def with_trees(rng, decoder, inputs, allowed, base=None):
    """Return the decoder with a few random trees beside its logarithms, or another bend."""
    plain = [item for found in decoder.decode(inputs, nbest=50, distinct=False, engine=Threads(1)) for item in found]
    dense = parts_of(decoder.inputs, plain)[0].dense()
    values = [np.unique(column[~np.isnan(column)]) for column in dense.T]
    forest = Forest(decoder.inputs, tuple(random_tree(rng, decoder.inputs, values, allowed) for _ in range(4)))
    bend = TreesBend(base or LogBend(decoder.inputs), forest)
    weights = decoder.weighing.by_name() | {
        name: float(rng.normal()) for name in bend.names if name not in decoder.names
    }
    return decoder.weighed(Weighing(bend, weights))


def scored_again(decoder, bent, inputs):
    """Return all derivations of a decoder without trees, with the scores that trees give them, best first."""
    every = next(decoder.decode(inputs, nbest=100_000, distinct=False, engine=Threads(1)))
    scores = bent.weighing.scores(*parts_of(decoder.inputs, every))
    return np.sort(scores)[::-1]


cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "length": st.integers(1, 4),
        "language_models": st.integers(0, 2),
        "scope": st.sampled_from((RULE, CONTEXT, "both")),
    }
)


def check(case, decoder):
    rng = np.random.default_rng(case["seed"] + 1)
    sentence = [str(word) for word in rng.choice((*SOURCE, "strange"), case["length"], p=[0.23] * 4 + [0.08])]
    allowed = [
        column
        for column, feature in enumerate(decoder.inputs)
        if case["scope"] in (feature.scope, "both")
        or (case["scope"] == CONTEXT and feature.name.lower().startswith("word"))
    ]
    inputs = as_inputs([sentence])
    bent = with_trees(rng, decoder, inputs, allowed)
    expected = scored_again(decoder, bent, inputs)
    ours = next(bent.decode(inputs, nbest=40, distinct=False, engine=Threads(1)))
    np.testing.assert_allclose([item.score for item in ours], expected[:40], rtol=0, atol=1e-8)
    assert len(ours) == min(40, len(expected))
    # what the decoder says is what its own list says, and so do the columns that tuning gets
    np.testing.assert_allclose(bent.weighing.scores(*parts_of(bent.inputs, ours)), [d.score for d in ours], atol=1e-8)
    words = Vocabulary(bent.target_vocabulary.words).extended(sentence)
    columns = bent.decode_columns(inputs, words, 10, Threads(1))
    assert columns.features.shape[1] == len(bent.names)
    best = next(bent.decode(inputs, nbest=10, engine=Threads(1)))
    np.testing.assert_allclose(columns.features @ bent.weights, [d.score for d in best], atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(cases)
def test_the_phrase_decoder_finds_what_scoring_everything_again_finds(case):
    check(case, phrase_decoder(np.random.default_rng(case["seed"]), case["language_models"], options=100))


@settings(max_examples=25, deadline=None)
@given(cases)
@pytest.mark.slow
def test_trees_may_ask_about_scores_of_the_ngrams_of_a_sentence(case):
    rng = np.random.default_rng(case["seed"])
    plain = phrase_decoder(rng, case["language_models"], options=100)
    # thresholds are values that were seen, so sums must be the same in any order: multiples of 1/64 are
    scores = {gram: round(64 * score) / 64 for gram, score in random_scores(rng, TARGET[:5]).items()}
    scorer = WrittenScores(scores, plain.target_vocabulary)
    weights = plain.weighing.by_name() | {"regression": float(rng.normal())}
    check(case, PhraseDecoder(plain.rules, plain.languages, weights, plain.settings, scorer=scorer))


@settings(max_examples=40, deadline=None)
@given(cases, st.sampled_from((NATIVE, CDEC)), st.sampled_from((0, 4)))
@pytest.mark.slow
def test_the_chart_decoder_finds_what_scoring_everything_again_finds(case, features, indicators):
    check(case, chart_decoder(np.random.default_rng(case["seed"]), case["language_models"], features, indicators))


def test_trees_stand_beside_bins():
    rng = np.random.default_rng(8)
    for decoder in (phrase_decoder(rng, options=100), chart_decoder(rng)):
        inputs = as_inputs([["a", "b", "strange", "c"]])
        seen = decoder.rule_values(inputs)
        bins = {name: Bins.make(values, 2, often) for name, (values, often) in seen.items() if len(values)}
        base = DiscreteBend(decoder.inputs, bins, "mnr", ("word_penalty",))
        bent = with_trees(rng, decoder, inputs, list(range(len(decoder.inputs))), base)
        assert bent.bend.kind == "mnr+trees"
        expected = scored_again(decoder, bent, inputs)
        ours = next(bent.decode(inputs, nbest=20, distinct=False, engine=Threads(1)))
        np.testing.assert_allclose([item.score for item in ours], expected[: len(ours)], rtol=0, atol=1e-8)


def test_trees_that_know_the_rule_alone_are_not_asked_in_the_search():
    rng = np.random.default_rng(3)
    decoder = phrase_decoder(rng)
    inputs = as_inputs([["a", "b", "c"]])
    bent = with_trees(rng, decoder, inputs, [0, 1])
    assert bent.weighing.in_context(np.arange(4)) is None
    assert bent.weighing.in_context(np.arange(1)) is not None
    work, bent_work = np.zeros((2, len(decoder.WORK)), np.int64)
    zero = {name: 0.0 if name.startswith("tree") else value for name, value in bent.weighing.by_name().items()}
    list(decoder.decode(inputs, work=work))
    list(bent.reweighted(zero).decode(inputs, work=bent_work))
    assert work.tolist() == bent_work.tolist()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from((NATIVE, CDEC)))
def test_what_a_chart_says_of_rules_before_the_search_is_what_their_parts_have(seed, features):
    rng = np.random.default_rng(seed)
    decoder = chart_decoder(rng, 2, features, indicators=3)
    inputs = as_inputs([["a", "b", "c"]])
    derivations = next(decoder.decode(inputs, nbest=30, distinct=False, engine=Threads(1)))
    grammar = decoder.grammar(inputs[0])
    columns = np.array([column for column, feature in enumerate(decoder.inputs) if feature.scope == RULE])
    lm_words = decoder.languages.words(grammar.target_words)
    known = known_values(grammar, columns, lm_words, features.unit)
    for derivation in derivations:
        rules = derivation.rules >= 0
        np.testing.assert_array_equal(known[derivation.rules[rules]], derivation.features[rules][:, columns])


def test_trees_about_rules_and_their_words_are_asked_before_the_search():
    rng = np.random.default_rng(6)
    decoder = chart_decoder(rng)
    inputs = as_inputs([["a", "b", "c"]])
    of_rules = [column for column, feature in enumerate(decoder.inputs) if feature.scope == RULE]
    bent = with_trees(rng, decoder, inputs, of_rules)
    assert bent._trees is None
    assert with_trees(rng, decoder, inputs, [names_of(decoder.inputs).index("lm")])._rule_trees is None


def test_trees_come_back_from_their_file(tmp_path):
    rng = np.random.default_rng(5)
    decoder = chart_decoder(rng)
    inputs = as_inputs([["a", "b", "c"]])
    for base in (None, DiscreteBend(decoder.inputs, {"p": Bins.make([0.1, 0.5], 1)}, "lnr")):
        bend = with_trees(rng, decoder, inputs, list(range(len(decoder.inputs))), base).bend
        bend.write(tmp_path / "trees.json")
        again = TreesBend.read(tmp_path / "trees.json", decoder.inputs)
        assert (again.kind, again.names) == (bend.kind, bend.names)
        weights = {name: float(rng.normal()) for name in bend.names}
        parts = parts_of(decoder.inputs, next(decoder.decode(inputs, nbest=20, distinct=False)))
        scores = [Weighing(one, weights).scores(*parts).tolist() for one in (bend, again)]
        assert scores[0] == scores[1]


@pytest.mark.parametrize("make", [phrase_decoder, chart_decoder])
def test_long_sentences_and_threads_are_scored_alike(make):
    rng = np.random.default_rng(2)
    decoder = make(rng)
    short = as_inputs([["a", "b", "c"]])
    bent = with_trees(rng, decoder, short, list(range(len(decoder.inputs))))
    bent = bent.searching({"pop_limit": 30, "window": 10})
    inputs = as_inputs([[str(word) for word in rng.choice(SOURCE, length)] for length in (0, 1, 25, 7)] * 3)
    one, two = (list(bent.decode(inputs, nbest=3, engine=Threads(threads))) for threads in (1, 2))
    for left, right in zip(one, two, strict=True):
        assert [(d.words, d.score) for d in left] == [(d.words, d.score) for d in right]
        scores = bent.weighing.scores(*parts_of(bent.inputs, left))
        np.testing.assert_allclose(scores, [d.score for d in left], atol=1e-7)
    assert "tree1" in bent.names
    assert "tree1" not in names_of(bent.inputs)
