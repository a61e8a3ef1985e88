"""Odd input, odd settings, threads, batches and work arrays: none of them changes what a sentence becomes."""

import logging

import numpy as np
import pytest
from toys.models import ngram_model_of, random_model, random_weights, store_of

from camber.corpus.inputs import as_inputs
from camber.decode.phrase import batch
from camber.decode.phrase import decoder as phrase
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names, untuned_weights
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.progress import log
from camber.rules.phrase.source import StoredRules


@pytest.fixture(scope="module")
def model():
    """A random model with two language models, and weights for it."""
    rng = np.random.default_rng(11)
    model = random_model(rng, 2)
    return (
        StoredRules(store_of(model.rules)),
        [ngram_model_of(n) for n in model.language_models],
        random_weights(rng, feature_names(2)),
    )


def sentences(count, seed=1, longest=20):
    rng = np.random.default_rng(seed)
    return [[str(w) for w in rng.choice(list("abcde"), rng.integers(0, longest))] for _ in range(count)]


def plain(decoded):
    """Return everything that a list of derivations says, to compare bit by bit."""
    return [
        [(d.words, d.score, d.features.tobytes(), d.rules.tolist(), d.spans.tolist()) for d in found]
        for found in decoded
    ]


def test_an_empty_sentence_has_one_derivation_without_parts(model):
    decoder = PhraseDecoder(*model)
    for text in ([[]], [[], []], [[], ["a"], []]):
        decoded = list(decoder.decode(as_inputs(text), nbest=5, engine=Threads(1)))
        assert len(decoded) == len(text)
        (only,) = decoded[0]
        assert (only.words, only.score, only.features.shape) == ([], 0.0, (0, len(decoder.names)))
        assert decoder.word_alignment(only) == []
    assert list(decoder.decode(as_inputs([]), engine=Threads(1))) == []


def test_an_unknown_word_is_passed_through(model):
    decoder = PhraseDecoder(*model)
    (only,) = next(decoder.decode(as_inputs([["Zürich"]]), nbest=5, engine=Threads(1)))
    assert only.words == ["Zürich"]
    assert only.rules.tolist() == [-1]
    assert only.features[0, decoder.names.index("unknown")] == 1
    assert decoder.word_alignment(only) == [(0, 0)]


def test_special_tokens_are_ordinary_words(model):
    decoder = PhraseDecoder(*model)
    words = ["<s>", "</s>", "<unk>", "|||"]
    (best,) = next(decoder.decode(as_inputs([words]), engine=Threads(1)))
    assert sorted(best.words) == sorted(words)


def test_a_sentence_of_two_thousand_words_is_translated_in_windows(model):
    decoder = PhraseDecoder(*model, DecodeSettings(pop_limit=20))
    rng = np.random.default_rng(2)
    sentence = [str(word) for word in rng.choice([*"abcde", ","], 2000)]
    notes = []
    handler = logging.Handler()
    handler.emit = lambda record: notes.append(record.getMessage())
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        derivations = next(decoder.decode(as_inputs([sentence]), nbest=3, engine=Threads(1)))
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert any("2000 words" in note and "windows" in note for note in notes)
    assert 1 <= len(derivations) <= 3
    for derivation in derivations:
        covered = sorted(i for a, b in derivation.spans.tolist() for i in range(a, b))
        assert covered == list(range(2000))
        np.testing.assert_allclose(derivation.linear_sums @ decoder.weights, derivation.score, rtol=1e-12)
        for k, lm in enumerate(decoder.languages.models):
            np.testing.assert_allclose(derivation.features[:, 14 + k].sum(), lm.score([derivation.words])[0])


def test_threads_and_batches_do_not_change_a_bit(model, monkeypatch):
    text = sentences(40)
    decoder = PhraseDecoder(*model, DecodeSettings(pop_limit=40))
    together = plain(decoder.decode(as_inputs(text), nbest=4, engine=Threads(1)))
    assert plain(decoder.decode(as_inputs(text), nbest=4, engine=Threads(1))) == together
    alone = (listed for words in text for listed in decoder.decode(as_inputs([words]), nbest=4, engine=Threads(1)))
    assert plain(alone) == together
    backwards = plain(decoder.decode(as_inputs(text[::-1]), nbest=4, engine=Threads(1)))
    assert backwards[::-1] == together
    monkeypatch.setattr(phrase, "BATCH", 7)
    for threads in (1, 2):
        assert plain(decoder.decode(as_inputs(text), nbest=4, engine=Threads(threads))) == together


def test_work_is_counted_the_same_with_any_number_of_threads(model, monkeypatch):
    monkeypatch.setattr(phrase, "BATCH", 5)
    decoder = PhraseDecoder(*model, DecodeSettings(pop_limit=40))
    counts = []
    for threads in (1, 2):
        work = np.zeros(len(decoder.WORK), np.int64)
        list(decoder.decode(as_inputs(sentences(30)), engine=Threads(threads), work=work))
        counts.append(work.tolist())
    assert counts[0] == counts[1]
    assert min(counts[0]) > 0


def test_work_arrays_that_grow_give_the_same_result(model, monkeypatch):
    text = sentences(12, longest=12)
    decoder = PhraseDecoder(*model, DecodeSettings(pop_limit=60))
    expected = plain(decoder.decode(as_inputs(text), nbest=20, engine=Threads(1)))
    grown = []

    class Tiny(batch.Workspace):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.coverages = self.edges = self.cells = self.items = 1

        def grow(self, code):
            grown.append(code)
            super().grow(code)

    monkeypatch.setattr(phrase, "Workspace", Tiny)
    assert plain(decoder.decode(as_inputs(text), nbest=20, engine=Threads(1))) == expected
    assert len(set(grown)) == 4, "every kind of array had to grow"


def test_the_list_grows_with_the_number_asked_for(model):
    decoder = PhraseDecoder(*model, DecodeSettings(pop_limit=200))
    sentence = [list("abcab")]
    long = plain(decoder.decode(as_inputs(sentence), nbest=60, distinct=False, engine=Threads(1)))[0]
    short = plain(decoder.decode(as_inputs(sentence), nbest=7, distinct=False, engine=Threads(1)))[0]
    assert long[:7] == short


def test_a_missing_weight_is_named(model):
    store, lms, weights = model
    with pytest.raises(CamberError, match="lm2"):
        PhraseDecoder(store, lms, {name: value for name, value in weights.items() if name != "lm2"})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_weight_that_is_not_a_number_is_refused(model, value):
    store, lms, weights = model
    with pytest.raises(CamberError, match="finite"):
        PhraseDecoder(store, lms, weights | {"distortion": value})


def test_senseless_sizes_are_refused(model):
    with pytest.raises(CamberError, match="at least 1"):
        list(PhraseDecoder(*model).decode(as_inputs([["a"]]), nbest=0))
    for change in ({"pop_limit": 0}, {"distortion_limit": -2}, {"options": 0}, {"window": 1}):
        with pytest.raises(SettingsError, match=next(iter(change))):
            DecodeSettings(**change)


def test_untuned_weights_are_complete():
    for count in range(4):
        assert set(untuned_weights(count)) == set(feature_names(count))
