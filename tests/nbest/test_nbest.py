"""The n-best type: sums over parts, best hypotheses, one more feature, checks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import list_of_parts

from camber.errors import CamberError
from camber.features.feature import Feature
from camber.metrics import BLEU

finite = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def lists(draw, min_parts=0):
    """Draw lists with empty groups, hypotheses without parts, empty texts."""
    groups = draw(st.lists(st.lists(st.integers(min_parts, 3), max_size=3), max_size=4))
    counts = [count for group in groups for count in group]
    width = draw(st.integers(0, 3))
    parts = sum(counts)
    table = draw(st.lists(st.lists(finite, min_size=width, max_size=width), min_size=parts, max_size=parts))
    spans = np.arange(2 * parts).reshape(parts, 2) if draw(st.booleans()) else None
    return list_of_parts(
        tuple("abc"[:width]),
        np.cumsum([0] + [len(group) for group in groups]),
        np.cumsum([0, *counts]),
        np.array(table, float).reshape(parts, width),
        [draw(st.text("ab éß", max_size=5)) for _ in counts],
        np.array([draw(finite) for _ in counts]) if draw(st.booleans()) else None,
        spans,
        spans,
        None,
        ["0-0 1-2"] * len(counts) if draw(st.booleans()) else None,
        {"comet": np.arange(len(counts)) / 7} if draw(st.booleans()) else {},
    )


@given(lists())
@settings(deadline=None)
def test_the_features_of_a_hypothesis_are_the_sums_over_its_parts(nbest):
    sums = nbest.hypothesis_features()
    assert sums.shape == (nbest.hypotheses, len(nbest.names))
    for index in range(nbest.hypotheses):
        expected = np.zeros(len(nbest.names))
        for part in range(nbest.part_offsets[index], nbest.part_offsets[index + 1]):
            expected += nbest.parts.dense()[part]
        np.testing.assert_allclose(sums[index], expected, rtol=1e-12, atol=1e-6)


@given(lists())
@settings(deadline=None)
def test_the_best_hypothesis_has_the_highest_score_and_is_the_first_among_equals(nbest):
    owner = nbest.sentences().tolist()
    scores = np.zeros(nbest.hypotheses) if nbest.scores is None else nbest.scores
    for sentence, best in enumerate(nbest.best().tolist()):
        group = [index for index in range(nbest.hypotheses) if owner[index] == sentence]
        assert best == (max(group, key=lambda index: (scores[index], -index)) if group else -1)
    assert nbest.best_texts() == [nbest.texts[index] if index >= 0 else "" for index in nbest.best()]


@given(lists(min_parts=1), st.data())
@settings(deadline=None)
def test_one_more_feature_leaves_the_rest_as_it_is(nbest, data):
    values = np.array([data.draw(finite) for _ in range(nbest.hypotheses)])
    wider = nbest.with_feature("new", values)
    assert wider.names == (*nbest.names, "new")
    assert np.array_equal(wider.hypothesis_features()[:, -1], values)
    assert np.array_equal(wider.parts.dense()[:, :-1], nbest.parts.dense())
    per_part = nbest.with_feature("new", np.ones(len(nbest.parts)))
    assert per_part.hypothesis_features()[:, -1].tolist() in (np.diff(nbest.part_offsets).tolist(), [1] * len(values))


def simple(**changes):
    given = {
        "features": ("lm", "words"),
        "sentence_offsets": np.array([0, 2, 2, 3]),
        "part_offsets": np.array([0, 2, 3, 3]),
        "values": np.array([[1.0, 2], [3, 4], [5, 6]]),
        "texts": ["a b", "b", ""],
        "scores": np.array([0.5, 0.7, 0.1]),
    }
    return list_of_parts(**(given | changes))


def test_a_sentence_without_hypotheses_and_a_hypothesis_without_parts_are_fine():
    nbest = simple()
    assert len(nbest) == 3
    assert nbest.hypothesis_features().tolist() == [[4, 6], [5, 6], [0, 0]]
    assert nbest.best().tolist() == [1, -1, 2]
    assert nbest.best_texts([1, 0, 0]) == ["a b", "", ""]
    assert nbest.sentences().tolist() == [0, 0, 2]
    with pytest.raises(CamberError, match="no part to hold it"):
        simple(values=np.zeros((4, 2)), part_offsets=[0, 3, 4, 4]).with_feature("x", [1, 2, 3])
    with pytest.raises(CamberError, match=r"2 values, expected 3"):
        nbest.with_feature("x", [1, 2])


def test_metric_statistics_are_those_of_the_texts():
    bleu = BLEU("none")
    rows = simple().statistics(bleu, [["a b", "x", "y"]])
    assert rows[:, 2].tolist() == [2, 1, 0]
    assert rows.shape == (3, 10)


def test_spans_are_written_as_moses_does():
    nbest = simple(source_spans=[[0, 2], [2, 3], [0, 1]], target_spans=[[0, 1], [1, 4], [0, 1]])
    assert [nbest.segmentation(index) for index in range(3)] == ["0-1=0 2=1-3", "0=0", ""]
    assert simple().segmentation(0) == ""
    assert simple(segmentations=["x", "y", ""]).segmentation(1) == "y"


@pytest.mark.parametrize(
    "changes",
    [
        {"sentence_offsets": [0, 2]},
        {"sentence_offsets": [1, 3]},
        {"sentence_offsets": [0, 2, 1, 3]},
        {"sentence_offsets": []},
        {"part_offsets": [0, 2, 3]},
        {"part_offsets": [0, 1, 2, 4]},
        {"features": ("lm",)},
        {"scores": [1.0]},
        {"source_spans": [[0, 1]]},
        {"alignments": ["0-0"]},
        {"extra": {"comet": np.ones(2)}},
    ],
)
def test_columns_that_do_not_fit_are_refused(changes):
    with pytest.raises(ValueError, match=r"shape|offsets"):
        simple(**changes)


@pytest.mark.parametrize("names", [("lm", "lm"), ("lm", "two words"), ("lm", "")])
def test_bad_names_are_refused(names):
    with pytest.raises(CamberError, match="cannot name a feature"):
        simple(features=names)


@pytest.mark.parametrize("scope", ["rule", "context"])
def test_infinite_features_and_scores_that_are_no_numbers_never_go_on(scope):
    with pytest.raises(CamberError, match=r"a feature of hypothesis 1 \('b'\) is not a finite number"):
        simple(features=("lm", Feature("words", "number", scope)), values=[[1, 2], [3, 4], [5, np.inf]])
    with pytest.raises(CamberError, match="a score of hypothesis 2"):
        simple(scores=[1, 2, np.inf])
    with pytest.raises(CamberError, match="a comet of hypothesis 0"):
        simple(extra={"comet": [np.nan, 1, 2]})


def test_what_all_parts_lack_is_absent_and_logarithms_are_summed():
    features = (Feature("p", "probability", "rule"), Feature("lm", "number", "context"))
    nbest = simple(features=features, values=[[0.5, np.nan], [np.nan, -1.0], [np.nan, -2.0]], rules=[7, -1, 2])
    assert nbest.features == features
    np.testing.assert_array_equal(nbest.hypothesis_features(), [[np.log(0.5), -1], [np.nan, -2], [0, 0]])
    per_hypothesis = simple(part_offsets=[0, 1, 2, 3]).with_feature("new", [1.0, np.nan, 3.0])
    assert np.isnan(per_hypothesis.hypothesis_features()[:, 2]).tolist() == [False, True, False]


def test_a_value_of_a_hypothesis_is_credited_to_its_first_part():
    nbest = simple(values=np.zeros((4, 2)), part_offsets=[0, 2, 3, 4])
    column = nbest.with_feature(Feature("p", "probability"), [0.5, 1.0, 0.25]).parts.column("p")
    np.testing.assert_array_equal(column, [0.5, np.nan, 1.0, 0.25])
