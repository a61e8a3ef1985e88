"""Scores of n-grams for each sentence, against sums over the n-grams of texts and the enumeration of derivations."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import phrase_search as naive
from toys.models import SOURCE, TARGET, ngram_model_of, random_model, random_weights, store_of
from toys.ngram_scores import WrittenScores, laid_out, random_scores

from camber.corpus import Vocabulary
from camber.corpus.constraints import Constraints, Term
from camber.corpus.inputs import Input, as_inputs
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names
from camber.decode.phrase.ngram_scores import NgramAutomaton, ScoredNgrams, step_ngrams
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Threads
from camber.rules.phrase.source import StoredRules

EVERYTHING = 50_000
WORDS = TARGET[:4]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 40))
def test_the_automaton_adds_the_scores_of_all_ngrams_of_a_text(seed, order, count):
    rng = np.random.default_rng(seed)
    scored = random_scores(rng, WORDS, order, count)
    vocabulary = Vocabulary(WORDS)
    ngrams = NgramAutomaton.of(laid_out(scored, vocabulary), len(vocabulary), 1.0, np.zeros(0, np.int64))
    for _ in range(10):
        text = list(map(str, rng.choice((*WORDS, "?"), rng.integers(0, 9))))
        state, total = 0, 0.0
        for place, word in enumerate(text, 1):
            gain, state = step_ngrams(ngrams, state, vocabulary.id(word))
            total += gain
            assert total == pytest.approx(naive.ngram_sum(scored, text[:place]), abs=1e-9)


def test_equal_states_have_the_same_future_and_the_state_is_as_short_as_it_can_be():
    vocabulary = Vocabulary(WORDS)
    scored = laid_out({("u", "v", "w"): 1.0, ("v",): 0.5}, vocabulary)
    ngrams = NgramAutomaton.of(scored, len(vocabulary), 1.0, np.zeros(0, np.int64))

    def after(text):
        state = 0
        for word in text:
            _, state = step_ngrams(ngrams, state, vocabulary.id(word))
        return state

    assert after("v") == after("w") == after("vw") == after("") == 0
    assert after("wu") == after("uvu") == after("u") != after("uv")


def test_no_ngrams_are_worth_nothing():
    ngrams = NgramAutomaton.of(ScoredNgrams.none(), 3, 1.0, np.zeros(0, np.int64))
    assert step_ngrams(ngrams, 0, 2) == (0.0, 0)


def toy(rng, language_models=1, limit=6, option_limit=20, **options):
    """Return a random model whose n-grams have scores, weights for it, and a decoder."""
    model = random_model(rng, language_models, **options)
    model.scored = random_scores(rng, (*WORDS, "y"))
    store = store_of(model.rules)
    weights = random_weights(rng, (*feature_names(language_models), "regression"))
    scorer = WrittenScores(model.scored, store.target_vocabulary)
    decoder = PhraseDecoder(
        StoredRules(store),
        [ngram_model_of(ngrams) for ngrams in model.language_models],
        weights,
        DecodeSettings(pop_limit=EVERYTHING, stack_beam=0.0, distortion_limit=limit, options=option_limit),
        scorer=scorer,
    )
    return model, weights, decoder


def random_sentence(rng, length):
    """Draw known words, words that no rule has, and some of these that are target words."""
    return [str(word) for word in rng.choice((*SOURCE, "strange", "v"), length, p=[0.22] * 4 + [0.06] * 2)]


cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "length": st.integers(2, 4),
        "limit": st.sampled_from((0, 2, 6)),
        "language_models": st.integers(0, 2),
        "order": st.integers(1, 3),
        "with_reordering": st.booleans(),
        "option_limit": st.sampled_from((20, 2)),
    }
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases)
def test_searching_without_pruning_is_enumerating_all_derivations(case):
    rng = np.random.default_rng(case["seed"])
    limit, options = case["limit"], case["option_limit"]
    shape = {"order": case["order"], "with_reordering": case["with_reordering"]}
    model, weights, decoder = toy(rng, case["language_models"], limit, options, **shape)
    sentence = random_sentence(rng, case["length"])
    expected = naive.search(model, sentence, weights, limit, options)
    ours = next(decoder.decode(as_inputs([sentence]), nbest=40, distinct=False, engine=Threads(1)))
    assert len(ours) == min(40, len(expected))
    np.testing.assert_allclose([d.score for d in ours], [score for score, _ in expected[:40]], rtol=0, atol=1e-9)
    for derivation in ours:
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-9)
        assert derivation.linear_sums[-1] == pytest.approx(naive.ngram_sum(model.scored, derivation.words), abs=1e-9)
    if "v" in sentence:  # passed through, it is another word than that of the rules, though spelt alike
        return
    best = list(naive.distinct(expected).values())[:40]
    vocabulary = decoder.target_vocabulary.extended(sentence)
    columns = decoder.decode_columns(as_inputs([sentence]), vocabulary, 40)
    np.testing.assert_allclose((columns.features @ decoder.weights)[:20], best[:20], rtol=0, atol=1e-9)


def test_sentences_of_a_batch_have_scores_of_their_own_in_lists_and_columns():
    rng = np.random.default_rng(3)
    _, _, decoder = toy(rng)
    sentences = [["a", "b"], [], ["c", "a", "d"], ["a"]]
    together = list(decoder.decode(as_inputs(sentences), nbest=5))
    alone = [next(decoder.decode(as_inputs([sentence]), nbest=5)) for sentence in sentences]
    assert [[d.words for d in some] for some in together] == [[d.words for d in some] for some in alone]
    assert [[d.score for d in some] for some in together] == [[d.score for d in some] for some in alone]
    asked = {tokens for tokens, _ in decoder.scorer.asked}
    assert {("a", "b"), ("c", "a", "d"), ("a",)} <= asked
    columns = decoder.decode_columns(as_inputs(sentences), decoder.target_vocabulary.extended("abcd"), 5)
    assert columns.counts.tolist() == [len(some) for some in together]
    flat = [d.linear_sums for some in together for d in some]
    np.testing.assert_allclose(columns.features, flat, rtol=0, atol=1e-9)


def test_a_decoder_keeps_its_scorer_however_it_is_changed_and_without_one_has_no_such_feature():
    rng = np.random.default_rng(4)
    _, weights, decoder = toy(rng)
    changed = decoder.searching({"pop_limit": 10}).reweighted(weights).remembering().weighed(decoder.weighing)
    assert changed.names == decoder.names
    assert changed.names[-1] == "regression"
    plain = PhraseDecoder(decoder.rules, decoder.languages, weights)
    assert "regression" not in plain.names
    assert pickle.loads(pickle.dumps(changed)).names == changed.names


def test_windows_of_a_long_sentence_have_scores_of_their_own():
    rng = np.random.default_rng(5)
    _, _, decoder = toy(rng)
    narrow = decoder.searching({"window": 10, "pop_limit": 20, "distortion_limit": 2})
    sentence = [str(word) for word in rng.choice(SOURCE, 25)]
    (best,) = next(narrow.decode(as_inputs([sentence])))
    assert sorted(i for a, b in best.spans for i in range(a, b)) == list(range(25))
    assert best.linear_sums @ narrow.weights == pytest.approx(best.score, abs=1e-9)
    pieces = [tokens for tokens, _ in decoder.scorer.asked]
    assert [word for tokens in pieces for word in tokens] == sentence


def test_words_of_terms_are_in_no_ngram():
    rng = np.random.default_rng(6)
    model, _, decoder = toy(rng)
    terms = Constraints((Term(1, 2, (("new", "v"), ("v", "w"))),))
    ours = next(decoder.decode([Input(["a", "b", "c"], 0, terms)], nbest=20, engine=Threads(1)))
    assert any("new" in derivation.words for derivation in ours)
    for derivation in ours:
        heard = list(derivation.words)
        for rule, (first, last) in zip(derivation.rules.tolist(), derivation.target_spans.tolist(), strict=True):
            if rule == -2:
                heard[first:last] = ["a term"] * (last - first)
        assert derivation.linear_sums[-1] == pytest.approx(naive.ngram_sum(model.scored, heard), abs=1e-9)
        assert derivation.linear_sums @ decoder.weights == pytest.approx(derivation.score, abs=1e-9)
