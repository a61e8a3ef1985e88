"""What a sentence learns from pairs selected for it: n-grams, rules of W, phrases of the pairs, both beside others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import transduction as naive

from camber.align.pharaoh import Alignment
from camber.arrays.ragged import offsets_from
from camber.corpus import Bitext
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.errors import SettingsError
from camber.regress.graph import marks_of
from camber.regress.transduce.grams import RegressedGrams
from camber.regress.transduce.individual import IndividualRules, MixedRules
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.ngrams import NgramRows
from camber.regress.transduce.regression import SentenceRegression
from camber.regress.transduce.scored import ScoredRules
from camber.regress.transduce.sentence_rules import numbers_of
from camber.regress.transduce.settings import SparseSettings
from camber.regress.transduce.table import TableRules
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import StoredRules

texts = st.lists(st.lists(st.integers(-1, 3), max_size=6), max_size=5)
lengths = st.sampled_from([(1,), (2,), (1, 2), (2, 3), (1, 2, 3)])
sentences = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


def flat(text):
    return np.array([word for line in text for word in line], np.int32), offsets_from([len(line) for line in text])


def known(words, chosen):
    """Return the vector of a sentence as the twin has it, without n-grams with unknown words."""
    return {gram: value for gram, value in naive.vector(words, chosen).items() if min(gram) >= 0}


@given(texts, lengths, st.sampled_from([(), (3,)]))
def test_ngrams_are_numbered_and_counted_as_defined(text, chosen, barred):
    grams = NgramRows.of(*flat(text), chosen, 4, barred)
    names = [tuple(grams.words(column).tolist()) for column in range(len(grams))]
    assert len(set(names)) == len(names)
    for line, row in zip(text, grams.rows.dense(), strict=True):
        expected = {gram: value for gram, value in known(line, chosen).items() if gram != barred}
        assert {name: value for name, value in zip(names, row, strict=True) if value} == pytest.approx(expected)


@given(texts, texts, lengths)
def test_other_texts_have_vectors_over_known_ngrams(text, others, chosen):
    others = [[word for word in line if word >= 0] for line in others]
    grams = NgramRows.of(*flat(text), chosen, 4)
    if not len(grams):
        return
    names = [tuple(grams.words(column).tolist()) for column in range(len(grams))]
    for line, row in zip(others, grams.vectors(*flat(others)).dense(), strict=True):
        whole = known(line, chosen)
        assert row == pytest.approx([whole.get(name, 0.0) for name in names])


def corpus_of(drawn, aligned=True):
    source, target = (list(side) for side in zip(*drawn, strict=True))
    links = [[(k, k) for k in range(min(len(s), len(t)))] if aligned else [] for s, t in drawn]
    return CorpusIndex.build(Bitext.encode(source, target), Alignment.from_pairs(links))


def instances_of(drawn, **settings):
    chosen = {"instances": 3, "regressor": "ridge", "regressor_settings": "penalty=0.5", **settings}
    return Instances(corpus_of(drawn), SparseSettings.from_dict(chosen))


def dense_ridge(instances, sentence, shortest, order):
    """Return W in the unit of the vectors, {(t, s): value}, of the sentence's own n-grams, and its prediction."""
    corpus = instances.corpus
    chosen = instances.select(instances.encode(sentence)).tolist()
    span = range(shortest, order + 1)
    words = [[tuple(side.vocabulary.decode(side[k])) for k in chosen] for side in (corpus.source, corpus.target)]
    rows = [[naive.vector(line, span) for line in side] for side in words]
    names = [sorted({gram for row in side for gram in row}) for side in rows]
    x, y = (
        np.array([[row.get(name, 0.0) for name in some] for row in side]).reshape(len(chosen), len(some))
        for side, some in zip(rows, names, strict=True)
    )
    weights = y.T @ np.linalg.solve(x @ x.T + 0.5 * np.eye(len(x)), x)
    own = naive.vector(sentence, span)
    return {(t, s): weights[i, j] for i, t in enumerate(names[1]) for j, s in enumerate(names[0]) if s in own}, own


@pytest.mark.slow
@given(pairs, sentences, st.sampled_from([(1, 1), (1, 2), (2, 2)]))
def test_rules_of_w_are_those_of_the_definition(drawn, sentence, span):
    instances = instances_of(drawn, decoder="table", shortest=span[0], order=span[1])
    weights, _ = dense_ridge(instances, sentence, *span)
    unit = {(t, s): value * np.sqrt(len(s) / len(t)) for (t, s), value in weights.items()}
    # what is nearly 0 may be either side of it
    expected = {key: scores for key, scores in naive.table_of(unit).items() if unit[key[1], key[0]] > 1e-6}
    rules = TableRules(instances).rules(sentence)
    store = rules.store
    found = {
        (tuple(store.source(p)), tuple(store.target(r))): (store.scores[r, 0], store.scores[r, 2])
        for p in range(store.phrases)
        for r in store.rules(p)
    }
    assert expected.keys() <= found.keys()
    for key, (backward, forward) in expected.items():
        assert found[key] == pytest.approx((backward, forward), rel=1e-3, abs=1e-5)
    for at in range(len(sentence)):
        for n in range(span[1]):
            phrase, own = rules.spans[at, n], tuple(sentence[at : at + n + 1])
            assert (phrase >= 0) == (len(own) == n + 1 and own in {s for s, _ in found})
            assert phrase < 0 or tuple(store.source(phrase)) == own


@pytest.mark.slow
@given(pairs, sentences)
def test_expected_counts_are_w_times_the_sentence(drawn, sentence):
    instances = instances_of(drawn)
    (prediction,) = RegressedGrams(instances).predictions(as_inputs([sentence]))
    weights, own = dense_ridge(instances, sentence, 1, 2)
    words = instances.corpus.target.vocabulary
    marks = marks_of(words)
    for gram in range(len(prediction)):
        ids = prediction.ids[prediction.offsets[gram] : prediction.offsets[gram + 1]].tolist()
        if not set(ids) & set(marks):
            name = tuple(words.decode(ids))
            value = sum(weight * own[s] for (t, s), weight in weights.items() if t == name)
            assert prediction.counts[gram] == pytest.approx(value / np.sqrt(len(name)), abs=1e-6)
    selected = instances.pairs(instances.select(instances.encode(sentence)))[0].source
    have = {selected.vocabulary.words[word] for word in selected.ids.tolist()}
    assert prediction.unknown == tuple(at for at, word in enumerate(sentence) if word not in have)


@pytest.mark.slow
@given(pairs, sentences)
def test_individual_rules_are_extracted_from_the_selected_pairs_alone(drawn, sentence):
    instances = instances_of(drawn, decoder="individual", phrase_length=3)
    source = IndividualRules(instances, RuleSettings())
    rules = source.rules(sentence)
    chosen = instances.select(instances.encode(sentence)).tolist()
    alone = corpus_of([drawn[k] for k in chosen]) if chosen else None
    expected = {}
    if alone is not None:
        store = extract(alone.bitext, alone.alignment, RuleSettings(max_phrase_length=3), Threads(1))
        for p in range(store.phrases):
            for r in store.rules(p):
                expected[tuple(store.source(p)), tuple(store.target(r))] = store.scores[r].tolist()
    spans = {tuple(sentence[a:b]) for a in range(len(sentence)) for b in range(a + 1, len(sentence) + 1)}
    store = rules.store
    found = {
        (tuple(store.source(p)), tuple(store.target(r))): store.scores[r].tolist()
        for p in range(store.phrases)
        for r in store.rules(p)
    }
    assert found == {key: value for key, value in expected.items() if key[0] in spans}
    for rule, number in enumerate(rules.numbers.tolist()):
        assert sorted(source.links_of(number).tolist()) == sorted(store.links_of(rule).tolist())


@pytest.mark.slow
@given(pairs, sentences, st.sampled_from([0.0, 0.3, 1.0]))
def test_mixed_probabilities_are_weighted_means(drawn, sentence, share):
    instances = instances_of(drawn, decoder="mixed", phrase_length=3, instances=2, share=share)
    settings = RuleSettings(max_phrase_length=3)
    everything = StoredRules(extract(instances.corpus.bitext, instances.corpus.alignment, settings, Threads(1)))
    source = MixedRules(instances, settings, everything)

    def table(store, rules_of):
        return {
            tuple(store.source(p)): {
                tuple(store.target(r)): (float(store.scores[r, 0]), float(store.scores[r, 2])) for r in rules_of(p)
            }
            for p in range(store.phrases)
        }

    own = source.own.rules(sentence).store
    spans = {tuple(sentence[a:b]) for a in range(len(sentence)) for b in range(a + 1, len(sentence) + 1)}
    whole = {key: rules for key, rules in table(everything.store, everything.store.rules).items() if key in spans}
    expected = naive.mixture(whole, table(own, own.rules), share)
    rules = source.rules(sentence)
    found = table(rules.store, rules.store.rules)
    assert found.keys() == expected.keys()
    for key in found:
        assert found[key].keys() == expected[key].keys()
        for target, scores in found[key].items():
            assert scores == pytest.approx(expected[key][target], rel=1e-5, abs=1e-30)
    for rule, number in enumerate(rules.numbers.tolist()):
        assert sorted(source.links_of(number).tolist()) == sorted(rules.store.links_of(rule).tolist())
    for at in range(len(sentence)):
        for n in range(rules.spans.shape[1]):
            phrase = rules.spans[at, n]
            assert phrase < 0 or rules.store.source(phrase) == sentence[at : at + n + 1]


@pytest.mark.slow
@given(pairs, sentences)
def test_rules_are_scored_by_the_bilinear_form_of_w(drawn, sentence):
    instances = instances_of(drawn, decoder="feature")
    settings = RuleSettings(max_phrase_length=3)
    everything = StoredRules(extract(instances.corpus.bitext, instances.corpus.alignment, settings, Threads(1)))
    rules = ScoredRules(instances, settings, everything).rules(sentence)
    weights, _ = dense_ridge(instances, sentence, 1, 2)
    for phrase in range(rules.store.phrases):
        for rule in rules.store.rules(phrase):
            expected = naive.bilinear(
                weights, tuple(rules.store.source(phrase)), tuple(rules.store.target(rule)), (1, 2)
            )
            assert rules.more[rule, 0] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_batch_keeps_the_rules_of_sentences_apart_and_remembering_changes_nothing():
    drawn = [(["a", "b"], ["x", "y"]), (["b", "c"], ["y", "z"]), (["c"], ["q"]), (["a"], ["x"])]
    instances = instances_of(drawn, decoder="individual", instances=1, phrase_length=2)
    source = IndividualRules(instances, RuleSettings()).remembering()
    inputs = as_inputs([["a", "b"], ["c"], ["b", "c"]])
    for _ in range(2):
        batch = source.batch(inputs)
        store = batch.store
        for at, sentence in ((0, ["a", "b"]), (3, ["b", "c"])):
            phrase = batch.spans[at, 1]
            assert store.source(phrase) == sentence
        assert [store.target(r) for r in store.rules(batch.spans[2, 0])] == [["q"]]  # of its one pair
        assert [store.target(r) for r in store.rules(batch.spans[4, 0])] == [["z"]]
        assert batch.numbers is not None
        assert (batch.numbers == numbers_of(store)).all()
    assert source.remembering() is source


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"order": 1}, "paths go through n-grams of 2 words"),
        ({"shortest": 3}, "at most the order, 2"),
        ({"regressor": "ridge", "regressor_settings": "penalti=1"}, "unknown setting 'penalti'"),
        ({"selector_settings": "order=0"}, "expected at least 1"),
        ({"instances": 0}, "expected at least 1"),
    ],
)
def test_wrong_settings_are_told(changes, told):
    with pytest.raises(SettingsError, match=told):
        SparseSettings.from_dict(changes)


def test_a_sentence_of_unknown_words_selects_nothing_and_has_no_rules():
    instances = instances_of([(["a"], ["x"])])
    (prediction,) = RegressedGrams(instances).predictions(as_inputs([["?", "!"]]))
    assert len(prediction) == 0
    assert prediction.unknown == (0, 1)
    for source in (TableRules(instances), IndividualRules(instances, RuleSettings())):
        batch = source.batch(as_inputs([["?", "!"]]))
        assert len(batch.store) == 0
        assert (batch.spans < 0).all()


def test_what_has_no_w_makes_no_phrases():
    class Nothing:
        linear = False

    regression = SentenceRegression(instances_of([(["a"], ["x"])]), Nothing())
    with pytest.raises(SettingsError, match="without a W"):
        regression.check_linear()
