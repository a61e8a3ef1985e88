"""What every derivation promises, whatever the model: its parts add up, and they cover the sentence."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.models import ngram_model_of, random_model, random_weights, store_of

from camber.corpus.inputs import as_inputs
from camber.decode.lists import to_nbest
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.rules.phrase.source import StoredRules


def toy_decoder(seed, language_models=2, **options):
    rng = np.random.default_rng(seed)
    model = random_model(rng, language_models)
    weights = random_weights(rng, feature_names(language_models))
    lms = [ngram_model_of(ngrams) for ngrams in model.language_models]
    return PhraseDecoder(StoredRules(store_of(model.rules)), lms, weights, DecodeSettings(**options))


def check(decoder, sentence, derivation):
    """Check all promises of one derivation."""
    features = derivation.features
    assert features.shape == (len(derivation.rules), len(decoder.names))
    np.testing.assert_allclose(derivation.linear_sums @ decoder.weights, derivation.score, rtol=0, atol=1e-8)
    assert sorted(i for a, b in derivation.spans.tolist() for i in range(a, b)) == list(range(len(sentence)))
    edges = [0, *derivation.target_spans[:, 1].tolist()]
    assert derivation.target_spans.tolist() == [list(pair) for pair in pairwise(edges)]
    assert edges[-1] == len(derivation.words)
    unknown, lm = decoder.names.index("unknown"), len(decoder.inputs) - len(decoder.languages)
    for k, model in enumerate(decoder.languages.models):
        whole = model.score([derivation.words])[0] if sentence else 0.0
        np.testing.assert_allclose(features[:, lm + k].sum(), whole, rtol=0, atol=1e-8)
    links = set(decoder.word_alignment(derivation))
    for r, (a, b), (c, d), row in zip(
        derivation.rules, derivation.spans.tolist(), derivation.target_spans.tolist(), features, strict=True
    ):
        text = derivation.words[c:d]
        if r < 0:
            assert text == sentence[a:b]
            assert row[unknown] == 1
            assert np.isnan(row[: len(decoder.rules.features)]).all()  # it has none of the features of rules
            assert (a, c) in links
        else:
            phrase = int(np.searchsorted(decoder.rules.store.rule_offsets, r, side="right")) - 1
            assert decoder.rules.store.source(phrase) == sentence[a:b]
            assert decoder.rules.store.target(r) == text
            assert row[unknown] == 0
        links -= {(s, t) for s, t in links if a <= s < b and c <= t < d}
    assert not links, "a link from one phrase to another"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from("abcde"), min_size=1, max_size=9), st.integers(0, 2))
def test_parts_add_up_and_cover_the_sentence(seed, sentence, language_models):
    decoder = toy_decoder(seed, language_models, pop_limit=30)
    derivations = next(decoder.decode(as_inputs([sentence]), nbest=10, distinct=False, engine=Threads(1)))
    assert all(a.score >= b.score - 1e-9 for a, b in pairwise(derivations))  # best first, but for a sum's last bits
    for derivation in derivations:
        check(decoder, sentence, derivation)


def test_parts_add_up_on_a_real_model(anchor):
    decoder = anchor.decoder(pop_limit=50)
    text = anchor.text[:40]
    for sentence, derivations in zip(text, decoder.decode(as_inputs(text), nbest=5, engine=Threads(1)), strict=True):
        for derivation in derivations:
            check(decoder, sentence, derivation)


@pytest.mark.parametrize("length", [63, 64, 65, 130, 200])
def test_parts_add_up_in_long_sentences_with_and_without_windows(length):
    sentence = [str(word) for word in np.random.default_rng(length).choice(list("abcde"), length)]
    scores = []
    for window in (length, 50):
        decoder = toy_decoder(3, pop_limit=100, window=window)
        derivations = next(decoder.decode(as_inputs([sentence]), nbest=3, engine=Threads(1)))
        for derivation in derivations:
            check(decoder, sentence, derivation)
        scores.append(derivations[0].score)
    # windows forbid phrases across the cuts, and leave out a few reordering features: little may change
    assert scores[0] == pytest.approx(scores[1], rel=0.2)


def test_a_column_list_keeps_parts_and_scores():
    decoder = toy_decoder(4, pop_limit=50)
    decoded = list(decoder.decode(as_inputs([list("abc"), [], list("de")]), nbest=4, engine=Threads(1)))
    nbest = to_nbest(decoder, decoded)
    flat = [derivation for derivations in decoded for derivation in derivations]
    assert nbest.sentence_offsets.tolist() == np.cumsum([0, *(len(derivations) for derivations in decoded)]).tolist()
    for n, derivation in enumerate(flat):
        a, b = nbest.part_offsets[n : n + 2]
        np.testing.assert_array_equal(nbest.parts.dense()[a:b], derivation.features)
        assert nbest.scores[n] == derivation.score
