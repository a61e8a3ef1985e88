"""Bent features in both decoders: against enumeration, and against the linear decoders that they must equal."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import chart_search, phrase_search
from toys.bends import random_bend
from toys.charts import NAMES, OneGrammar, grammar_of, random_rules
from toys.models import SOURCE, ngram_model_of, random_model, random_ngrams, random_weights, store_of

import camber
from camber.bend.discrete import DiscreteBend
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.corpus import Vocabulary
from camber.corpus.inputs import as_inputs
from camber.decode.chart.decoder import ChartDecoder
from camber.decode.chart.features import CDEC, NATIVE
from camber.decode.chart.settings import ChartSettings
from camber.decode.derivation import parts_of
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names, features
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.errors import CamberError
from camber.features.feature import Feature, names_of
from camber.files import read_lines
from camber.rules.phrase.features import feature_of
from camber.rules.phrase.source import StoredRules
from camber.tune.bending import bent_decoder

EVERYTHING = 50_000  # pops: more than there are cells in any of these stacks
#: features of phrase pairs; c(s) and the other counts are unknown for some
PHRASE_FEATURES = (phrase_search.SCORES, ("count_s", "count_t", "count_st", "lex_t_given_s"), ("count_st",))

cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "length": st.integers(1, 4),
        "language_models": st.integers(0, 2),
        "kind": st.sampled_from(("bins", "overlap", "raw")),
    }
)


def sentence_of(rng, length):
    """Draw known words, and now and then one that no rule has."""
    return [str(word) for word in rng.choice((*SOURCE, "strange"), length, p=[0.23] * 4 + [0.08])]


def phrase_toy(rng, language_models=1, kind="bins", window=150, option_limit=20):
    """Return a random bent phrase model: the twin's, its weights, and the decoder."""
    model = random_model(rng, language_models)
    model.names = PHRASE_FEATURES[rng.integers(len(PHRASE_FEATURES))]
    rules = [rule for some in model.rules.values() for rule in some]
    own = [phrase_search.own(model, rule) for rule in rules]
    seen = {name: [values[name] for values in own if name in values] for name in model.names}
    seen["word_penalty"] = [-len(rule.target) for rule in rules]
    inputs = features(language_models, tuple(map(feature_of, model.names)))
    bend, weights, model.bend = random_bend(rng, inputs, {} if kind == "raw" else seen, kind)
    decoder = PhraseDecoder(
        StoredRules(store_of(model.rules), model.names),
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        weights,
        DecodeSettings(pop_limit=EVERYTHING, stack_beam=0.0, options=option_limit, window=window),
        bend,
    )
    return model, weights, decoder


def chart_toy(rng, language_models=1, kind="bins", window=150, features=NATIVE):
    """Return a random bent grammar: the rules, n-grams, weights, the twin's bend, and the decoder."""
    rules = random_rules(rng, int(rng.integers(2, 9)), absent=0.2)
    seen = {name: [rule[2][at] for rule in rules] for at, name in enumerate(NAMES)}
    seen[features.word_penalty] = [
        -features.unit * sum(isinstance(symbol, str) for symbol in rule[1]) for rule in rules
    ]
    ngrams = [random_ngrams(rng, 3) for _ in range(language_models)]
    inputs = features.all(OneGrammar(grammar_of(rules)).features, language_models)
    bend, weights, twin = random_bend(rng, inputs, {} if kind == "raw" else seen, kind)
    decoder = ChartDecoder(
        OneGrammar(grammar_of(rules)),
        [ngram_model_of(grams) for grams in ngrams],
        weights,
        ChartSettings(pop_limit=EVERYTHING, beam=0.0, span_limit=0, window=window, copy_known=True),
        features,
        bend,
    )
    return rules, ngrams, weights, twin, decoder


# --- against enumeration ----------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(cases)
def test_the_phrase_decoder_finds_what_enumeration_finds(case):
    rng = np.random.default_rng(case["seed"])
    limit = int(rng.choice((20, 2)))
    model, weights, decoder = phrase_toy(rng, case["language_models"], case["kind"], option_limit=limit)
    sentence = sentence_of(rng, case["length"])
    expected = phrase_search.search(model, sentence, weights, 6, limit)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=50, distinct=False, engine=Threads(1)))
    assert len(ours) == min(50, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:50]], rtol=0, atol=1e-9)
    best = phrase_search.distinct(expected)
    for derivation in next(decoder.decode(as_inputs([sentence]), nbest=20, engine=Threads(1))):
        assert derivation.score == pytest.approx(best[tuple(derivation.words)], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_chart_decoder_finds_what_enumeration_finds(case):
    rng = np.random.default_rng(case["seed"])
    rules, ngrams, weights, twin, decoder = chart_toy(rng, case["language_models"], case["kind"])
    sentence = sentence_of(rng, case["length"])
    expected = chart_search.search(rules, sentence, NAMES, ngrams, weights, 0, twin)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=60, distinct=False, engine=Threads(1)))
    assert len(ours) == min(60, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _, _ in expected[:60]], atol=1e-8)
    best = chart_search.distinct(expected)
    for derivation in next(decoder.decode(as_inputs([sentence]), nbest=20, engine=Threads(1))):
        assert derivation.score == pytest.approx(best[tuple(derivation.words)], abs=1e-8)


# --- scores, features and counts --------------------------------------------------------------------------------------


def toys(rng, kind, window=150):
    """Yield both decoders."""
    yield phrase_toy(rng, 1, kind, window)[-1]
    yield chart_toy(rng, 1, kind, window)[-1]
    yield chart_toy(rng, 1, kind, window, CDEC)[-1]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(("bins", "overlap", "raw")), st.sampled_from((150, 10)))
@pytest.mark.slow
def test_a_score_is_weights_times_sums_plus_bins_times_counts(seed, kind, window):
    rng = np.random.default_rng(seed)
    for toy in toys(rng, kind, window):
        decoder = toy.searching({"pop_limit": 30})
        sentences = [sentence_of(rng, int(length)) for length in (0, 2, 4, 14 if window == 10 else 3)]
        decoded = list(decoder.decode(as_inputs(sentences), nbest=10, engine=Threads(1)))
        words = Vocabulary(decoder.target_vocabulary.words).extended(word for line in sentences for word in line)
        columns = decoder.decode_columns(as_inputs(sentences), words, 10, engine=Threads(1))
        flat = [item for derivations in decoded for item in derivations]
        # the columns are the derivations, in features, counts and texts
        assert columns.counts.tolist() == [len(derivations) for derivations in decoded]
        assert [columns.words[at].tolist() for at in range(len(flat))] == [words.encode(d.words).tolist() for d in flat]
        linear = columns.features.shape[1]
        assert (columns.bins is None) == (decoder.bend.width == 0)
        scores = columns.features @ decoder.weights[:linear]
        if columns.bins is not None:
            scores += columns.bins.products(decoder.weights[linear:])
        np.testing.assert_allclose(scores, [item.score for item in flat], atol=1e-8)
        for row, item in enumerate(flat):
            sums = np.nansum(item.features, axis=0)
            np.testing.assert_allclose(columns.features[row], sums[decoder.bend.linear], atol=1e-9)
            if columns.bins is not None:
                own = decoder.weighing.design(*parts_of(decoder.inputs, [item])).sparse
                assert own.dense().tolist() == columns.bins.dense()[row : row + 1].tolist()
                hits = (~np.isnan(item.features[item.rules >= 0][:, decoder.bend.columns])).sum()
                most = 3 if kind == "overlap" else 1
                assert hits <= own.dense().sum() <= most * hits


def test_what_is_no_rule_hits_no_bin():
    rng = np.random.default_rng(5)
    for decoder in toys(rng, "bins"):
        assert decoder.bend.width > 0
        sentence = ["strange", "words", "indeed"]
        every = next(decoder.decode(as_inputs([sentence]), nbest=500, distinct=False, engine=Threads(1)))
        only = next(item for item in every if (item.rules < 0).all())  # some rules are all non-terminals
        assert sorted(only.words) == sorted(sentence)
        assert decoder.weighing.design(*parts_of(decoder.inputs, [only])).sparse.dense().sum() == 0
        # the copy of the word penalty counts every word
        words = next(name for name in names_of(decoder.inputs) if name.lower().startswith("word"))
        assert only.linear_sums[names_of(decoder.inputs).index(words)] < 0
        if words in decoder.bend.bins:
            assert (words in decoder.names) == (words in decoder.bend.copied)


def test_a_language_model_cannot_be_bent():
    rng = np.random.default_rng(1)
    for decoder in toys(rng, "bins"):
        name = next(name for name in names_of(decoder.inputs) if name in ("lm", "LanguageModel"))
        some = next(iter(decoder.bend.bins.values()))
        bend = DiscreteBend(decoder.inputs, {name: some})
        with pytest.raises(CamberError, match=f"{name} cannot be bent: what it adds depends on more than the rule"):
            decoder.weighed(Weighing(bend, dict.fromkeys(bend.names, 1.0)))


def test_a_bend_for_other_features_is_refused():
    rng = np.random.default_rng(1)
    decoder = phrase_toy(rng)[-1]
    bend = DiscreteBend((Feature("a"), Feature("b")), {})
    with pytest.raises(CamberError, match="the bend was made for the features a, b"):
        decoder.weighed(Weighing(bend, {"a": 1.0, "b": 1.0}))


# --- bins with one value each equal the linear model ------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_bins_of_one_value_each_make_the_same_list(seed, chart):
    rng = np.random.default_rng(seed)
    sentences = [sentence_of(rng, int(length)) for length in (1, 3, 5)]
    if chart:
        decoder = ChartDecoder(
            OneGrammar(grammar_of(random_rules(rng, 8, absent=0.2))), [ngram_model_of(random_ngrams(rng, 3))],
            random_weights(rng, NATIVE.names(NAMES, 1)), ChartSettings(pop_limit=EVERYTHING, beam=0.0, copy_known=True),
        )  # fmt: skip
    else:
        model, names = random_model(rng), PHRASE_FEATURES[rng.integers(len(PHRASE_FEATURES))]
        decoder = PhraseDecoder(
            StoredRules(store_of(model.rules), names), [ngram_model_of(model.language_models[0])],
            random_weights(rng, feature_names(1, names)), DecodeSettings(pop_limit=EVERYTHING, stack_beam=0.0),
        )  # fmt: skip
    bent = bent_decoder(decoder, as_inputs(sentences), "bins", BendSettings(bits=20))
    assert all((bins.lows == bins.highs).all() for bins in bent.bend.bins.values())
    one = list(decoder.decode(as_inputs(sentences), nbest=10, engine=Threads(1)))
    other = list(bent.decode(as_inputs(sentences), nbest=10, engine=Threads(1)))
    for left, right in zip(one, other, strict=True):
        scores = np.array([item.score for item in left])
        np.testing.assert_allclose(scores, [item.score for item in right], atol=1e-9)
        clear = np.ones(len(scores), bool)  # what is not level with its neighbours stands in the same place
        clear[1:] &= np.diff(scores) < -1e-9
        clear[:-1] &= np.diff(scores) < -1e-9
        for at in np.flatnonzero(clear[: len(scores) - 1]):
            assert left[at].words == right[at].words


@pytest.fixture(params=["phrase", "hiero"])
def decoder(request, hotel_model, hotel_hiero):
    """The decoder of a model that was trained."""
    return camber.load(hotel_model if request.param == "phrase" else hotel_hiero).decoder


def test_a_trained_model_and_its_equal_bins_translate_the_same_with_the_same_work(decoder, hotel_files):
    sentences = [line.split() for line in read_lines(hotel_files / "test.es")]
    bent = bent_decoder(decoder, as_inputs(sentences), "bins", BendSettings(bits=20))
    work, bent_work = np.zeros((2, len(decoder.WORK)), np.int64)
    one = list(decoder.decode(as_inputs(sentences), nbest=5, engine=Threads(1), work=work))
    other = list(bent.decode(as_inputs(sentences), nbest=5, engine=Threads(1), work=bent_work))
    assert [derivations[0].words for derivations in one] == [derivations[0].words for derivations in other]
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose([item.score for item in left], [item.score for item in right], atol=1e-9)
    assert bent_work.tolist() == work.tolist()
    assert work.min() > 0


@pytest.mark.slow
def test_one_thread_and_two_give_the_same_bytes(decoder, hotel_files):
    sentences = [line.split() for line in read_lines(hotel_files / "dev.es")] * 4
    bent = bent_decoder(decoder, as_inputs(sentences[:40]), "mnr", BendSettings(bits=4))
    words = bent.target_vocabulary.extended(word for sentence in sentences for word in sentence)
    one, two = (bent.decode_columns(as_inputs(sentences), words, 10, Threads(threads)) for threads in (1, 2))
    assert one.features.tobytes() == two.features.tobytes()
    assert one.words.ids.tobytes() == two.words.ids.tobytes()
    assert one.bins.columns.tobytes() == two.bins.columns.tobytes()
    assert one.bins.values.tobytes() == two.bins.values.tobytes()


def test_many_bits_come_near_to_the_linear_model_and_few_do_not_break_it(decoder, hotel_files):
    sentences = [line.split() for line in read_lines(hotel_files / "test.es")]
    best = [derivations[0].words for derivations in decoder.decode(as_inputs(sentences))]
    for bits, least in ((12, 0.95), (6, 0.5)):
        bent = bent_decoder(decoder, as_inputs(sentences), "bins", BendSettings(bits=bits))
        same = [listed[0].words == words for listed, words in zip(bent.decode(as_inputs(sentences)), best, strict=True)]
        assert np.mean(same) >= least


# --- the values that bins are made from -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_every_rule_of_a_span_counts_in_the_phrase_decoder(seed):
    rng = np.random.default_rng(seed)
    model, _, decoder = phrase_toy(rng)
    sentences = [sentence_of(rng, int(length)) for length in (0, 1, 4, 6)] * 40  # more than a batch
    expected = {name: Counter() for name in (*model.names, "word_penalty")}
    for words in sentences:
        for a in range(len(words)):
            for b in range(a + 1, len(words) + 1):
                for rule in model.rules.get(tuple(words[a:b]), []):
                    values = phrase_search.own(model, rule) | {"word_penalty": -len(rule.target)}
                    for name, value in values.items():
                        expected[name][value] += 1
    seen = decoder.rule_values(as_inputs(sentences))
    assert {name: dict(zip(*map(np.ndarray.tolist, pair), strict=True)) for name, pair in seen.items()} == expected


def test_every_rule_of_a_sentence_counts_in_the_chart_decoder(hotel_hiero, hotel_files):
    decoder = camber.load(hotel_hiero).decoder
    sentences = [line.split() for line in read_lines(hotel_files / "test.es")]
    names = (*decoder.grammars.names, "word_penalty")
    expected = {name: Counter() for name in names}
    for words in sentences:
        raw = decoder.grammars.raw(words)
        for rule in range(len(raw)):
            target = raw.target[raw.target_offsets[rule] : raw.target_offsets[rule + 1]]
            values = [raw.column(name)[rule] for name in names[:-1]]
            for name, value in zip(names, (*values, -int((target >= 0).sum())), strict=True):
                expected[name][float(value)] += 1
    seen = decoder.rule_values(as_inputs(sentences))
    assert {name: dict(zip(*map(np.ndarray.tolist, pair), strict=True)) for name, pair in seen.items()} == expected
    # a bent decoder sees the same raw values
    again = bent_decoder(decoder, as_inputs(sentences), "bins", BendSettings(bits=4)).rule_values(as_inputs(sentences))
    assert all(np.array_equal(again[name][0], seen[name][0]) for name in names)
