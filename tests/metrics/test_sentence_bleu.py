"""Sentence BLEU, and many corpus BLEUs at once."""

import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.tuning_lists import bleu_rows

from camber.errors import SettingsError
from camber.metrics import BLEU, TER, ChrF
from camber.metrics.sentence import corpus_scores, lengths_in_words, sentence_bleu, sentence_scores

words = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=5))
@settings(deadline=None)
def test_bleu_plus_one_is_sacrebleus_add_k(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    rows = BLEU("none").statistics(hypotheses, [references])
    judge = sacrebleu.BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False)
    for score, hypothesis, reference in zip(sentence_bleu(rows), hypotheses, references, strict=True):
        assert score == pytest.approx(judge.sentence_score(hypothesis, [reference]).score, abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0]), st.booleans(), st.booleans())
@settings(deadline=None)
def test_smoothing_is_the_papers(seed, alpha, everywhere, smoothed):
    rows = bleu_rows(np.random.default_rng(seed), 4)
    scores = sentence_bleu(rows, 4, alpha, all_orders=everywhere, brevity="smoothed" if smoothed else "plain")
    for score, row in zip(scores, rows.tolist(), strict=True):
        logs = 0.0
        for n in range(4):
            extra = alpha if everywhere or n > 0 else 0.0
            logs += math.log((row[2 + n] + extra) / (row[6 + n] + extra)) / 4
        penalty = min(0.0, 1.0 - (row[1] + alpha * smoothed) / row[0])
        assert score == pytest.approx(100 * math.exp(logs + penalty))


@given(
    st.integers(0, 10**6),
    st.sampled_from(["exp", "floor", "add-k", "none"]),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None)
def test_the_kernel_scores_sums_as_the_metric_does(seed, smooth, order, zeros, effective):
    rng = np.random.default_rng(seed)
    metric = BLEU("none", smooth=smooth, order=order, effective_order=effective)
    totals = rng.integers(0 if zeros else 5, 12, (20, order))
    matches = np.minimum(rng.integers(0, 9, (20, order)), totals)
    sums = np.column_stack([rng.integers(0, 12, (20, 2)), matches, totals]).astype(float)
    np.testing.assert_allclose(corpus_scores(metric, sums), metric.score(sums), rtol=1e-12)


def test_other_metrics_are_turned_so_that_higher_is_better():
    for metric, sign in ((TER(), -1), (ChrF(), 1)):
        rows = metric.statistics(["a b c", "x"], [["a b c", "y z"]])
        np.testing.assert_allclose(sentence_scores(metric, rows), sign * metric.score(rows.astype(float)))
        np.testing.assert_allclose(corpus_scores(metric, rows.astype(float)), sign * metric.score(rows.astype(float)))
        assert lengths_in_words(metric, rows) is None
    for strict in (False, True):
        bleu = BLEU("none", strict=strict)
        assert lengths_in_words(bleu, bleu.statistics(["a b c", "x"], [["a", "y z"]])).tolist() == [3, 1]


def test_bad_settings_are_errors():
    with pytest.raises(SettingsError, match="known: plain, smoothed"):
        sentence_bleu(np.ones((1, 10)), brevity="none")
    with pytest.raises(SettingsError, match="at least 0"):
        sentence_bleu(np.ones((1, 10)), alpha=-1)
