"""Confidences: what a dev set says that evidence is worth."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.confidence.calibration import Calibration, fit_calibration, judge_by_list, right_words
from camber.decode.derivation import Derivation
from camber.errors import CamberError, ModelError
from camber.features.feature import CONTEXT, PROBABILITY, RULE, Feature

INPUTS = (Feature("p", PROBABILITY, RULE), Feature("lm", scope=CONTEXT))


def made_up(sentences: int, seed: int) -> tuple[list, list, list, np.ndarray]:
    """Draw lists in which a word of a rule with the probability p is right with the probability p."""
    rng = np.random.default_rng(seed)
    lists, sources, references, scores = [], [], [], []
    for _ in range(sentences):
        p = rng.uniform(0.05, 0.95, 6)
        words = [f"w{k}" for k in range(6)]
        right = rng.random(6) < p
        spans = np.column_stack([np.arange(6), np.arange(1, 7)])
        features = np.column_stack([p, np.zeros(6)])
        lists.append([Derivation(INPUTS, words, 0.0, features, np.arange(6), spans, spans)])
        sources.append([f"s{k}" for k in range(6)])
        references.append([word for word, good in zip(words, right, strict=True) if good])
        scores.append(right.mean())
    return lists, sources, references, np.array(scores)


def test_confidences_are_as_often_right_as_they_say():
    lists, sources, references, scores = made_up(800, 1)
    calibration = fit_calibration(lists, sources, [references], scores)
    lists, sources, references, scores = made_up(800, 2)
    judged = calibration.judge(lists, sources)
    sure = np.array([value for (one,) in judged for value in one.words])
    right = np.array([word in texts for (best,), texts in zip(lists, references, strict=True) for word in best.words])
    for group in np.array_split(np.argsort(sure), 5):
        assert sure[group].mean() == pytest.approx(right[group].mean(), abs=0.06)
    whole = np.array([one.sentence for (one,) in judged])
    assert whole.mean() == pytest.approx(scores.mean(), abs=0.03)
    assert np.corrcoef(whole, scores)[0, 1] > 0.4


def test_a_calibration_comes_back_from_its_file(tmp_path: Path):
    lists, sources, references, scores = made_up(50, 1)
    calibration = fit_calibration(lists, sources, [references], scores)
    calibration.write(tmp_path / "confidence.tsv")
    again = Calibration.read(tmp_path / "confidence.tsv")
    again.write(tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "confidence.tsv").read_bytes()
    one, two = calibration.judge(lists, sources), again.judge(lists, sources)
    np.testing.assert_allclose([x.words for (x,) in one], [x.words for (x,) in two], atol=1e-4)
    np.testing.assert_allclose([x.sentence for (x,) in one], [x.sentence for (x,) in two], atol=1e-4)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# camber confidence 1", "# camber weights 1", "does not begin"),
        ("scale\t", "scale\tx", "a number"),
        ("word\tbias\t", "word\tbias\tnan\t", "finite"),
        ("word\tcopied", "word\tcopies", "what this version knows"),
        ("sentence\tratio", "sentence\twords", "of its own"),
        ("scale\t", "scale\t-", "negative"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, old: str, new: str, told: str):
    lists, sources, references, scores = made_up(20, 1)
    path = tmp_path / "confidence.tsv"
    fit_calibration(lists, sources, [references], scores).write(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ModelError, match=told):
        Calibration.read(path)


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_as_many_words_are_right_as_both_texts_share(words, reference):
    flags = right_words(words, [reference])
    assert sum(flags) == sum(min(words.count(w), reference.count(w)) for w in "abc")
    for word in "abc":  # the first ones of a word
        own = [flag for w, flag in zip(words, flags, strict=True) if w == word]
        assert own == sorted(own, reverse=True)


def test_of_several_references_the_one_counts_that_has_most():
    for references in ([["a"], ["b", "c"]], [["b", "c"], ["a"]]):
        assert right_words(["a", "b", "c"], references) == [False, True, True]


def test_without_a_calibration_words_have_their_posterior():
    spans = np.array([[0, 1]])
    best = [
        Derivation(INPUTS, words, score, np.full((1, 2), np.nan), np.array([0]), spans, np.array([[0, len(words)]]))
        for words, score in ((["a", "b"], np.log(0.6)), (["a"], np.log(0.4)))
    ]
    (one, two) = judge_by_list([best], 2)[0]
    assert one.words == pytest.approx((1.0, 0.6))
    assert one.sentence == pytest.approx(0.8)
    assert two.words == pytest.approx((1.0,))


def test_nothing_translated_is_an_error_that_says_so():
    none = np.zeros((0, 2), np.int64)
    empty = Derivation(INPUTS, [], 0.0, np.zeros((0, 2)), np.zeros(0, np.int64), none, none)
    with pytest.raises(CamberError, match="no word of the dev set"):
        fit_calibration([[empty]], [[]], [[[]]], np.array([1.0]))
