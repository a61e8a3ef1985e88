"""Which models can tell the best hypotheses from the others."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from toys.lists import list_of_parts

import camber.bend
from camber.bend import separable
from camber.errors import CamberError


def h(*values):
    return [{"h": value} for value in values]


def answers(answer):
    return answer.linear.separable, answer.globally.separable, answer.locally.separable


# clark2014, Figure 4: the best hypotheses are h = 1 1 and h = 3 3
FIGURE_4 = [[h(1.0, 1.0), h(2.0, 2.0)], [h(2.0, 2.0), h(3.0, 3.0)]]
GOOD_4 = [[1.0, 0.0], [0.0, 1.0]]
# Figure 5: a collision
FIGURE_5 = [[h(2.0, 2.0), h(4.0)]]
GOOD_5 = [[1.0, 0.0]]
# Figure 6: four sentences, two features; the first hypothesis is the best
A, B, ZERO, FOUR = {"A": 1.0}, {"B": 1.0}, {"A": 0.0}, {"B": -4.0}
FIGURE_6 = [[[B], [A, A]], [[A, A, B], [ZERO]], [[FOUR, B, B, B], [A]], [[FOUR, A], [B, B]]]
GOOD_6 = [[1.0, 0.0]] * 4


def test_figure_4_a_collinearity_over_two_sentences():
    answer = separable(FIGURE_4, GOOD_4)
    assert answers(answer) == (False, True, True)
    assert answer.linear.sentences.tolist() == [True, True]
    assert sorted(answer.linear.conflicts) == [(0, 1), (3, 2)]
    assert answer.linear.margin == 0.0
    assert min(answer.globally.margin, answer.locally.margin) > 0.0
    assert set(answer.locally.weights) == {("h", 1.0), ("h", 2.0), ("h", 3.0)}
    assert set(answer.globally.weights) == {("h", 2.0), ("h", 4.0), ("h", 6.0)}
    for alone, good in zip(FIGURE_4, GOOD_4, strict=True):
        assert answers(separable([alone], [good])) == (True, True, True)


def test_a_collinearity_within_one_sentence():
    answer = separable([[h(1.0), h(2.0), h(3.0)]], [[0.0, 1.0, 0.0]])
    assert answers(answer) == (False, True, True)
    assert answer.linear.sentences.tolist() == [False]


def test_figure_5_a_collision():
    answer = separable(FIGURE_5, GOOD_5)
    assert answers(answer) == (False, False, True)
    assert answer.linear.conflicts == answer.globally.conflicts == [(0, 1)]
    assert set(answer.locally.weights) == {("h", 2.0), ("h", 4.0)}


@pytest.mark.parametrize("absent", [0.0, None])
def test_figure_6_a_bent_boundary(absent):
    answer = separable(FIGURE_6, GOOD_6, absent=absent)
    assert (answer.linear.separable, answer.locally.separable) == (False, True)
    assert answer.linear.sentences.all()
    names = {("A", 1.0), ("B", 1.0), ("B", -4.0)}  # as printed: h = 0 fires nothing
    assert set(answer.locally.weights) == (names if absent == 0.0 else names | {("A", 0.0)})
    assert len(answer.linear.conflicts) >= 2


def test_the_weights_found_do_separate():
    weights = separable(FIGURE_6, GOOD_6, absent=0.0).locally.weights
    for best, other in FIGURE_6:
        score = [sum(weights.get((n, v), 0.0) for part in x for n, v in part.items()) for x in (best, other)]
        assert score[0] > score[1]


def test_a_list_with_parts_gives_the_same_as_plain_lists():
    parts = [part for sentence in FIGURE_6 for hypothesis in sentence for part in hypothesis]
    lengths = [len(hypothesis) for sentence in FIGURE_6 for hypothesis in sentence]
    nbest = list_of_parts(
        ("A", "B"),
        np.arange(0, 9, 2),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.array([[part.get(name, 0.0) or np.nan for name in "AB"] for part in parts]),
        [""] * 8,
    )
    answer = separable(nbest, np.tile([1.0, 0.0], 4))
    assert answers(answer) == answers(separable(FIGURE_6, GOOD_6, absent=0.0))
    assert set(answer.locally.weights) == {("A", 1.0), ("B", 1.0), ("B", -4.0)}


def test_an_absent_feature_fires_no_indicator():
    lists = [[[{"h": 1.0, "g": 1.0}], [{"h": 1.0}]], [[{"h": 1.0, "g": float("nan")}], [{"h": 2.0}]]]
    answer = separable(lists, [[1.0, 0.0], [1.0, 0.0]])
    assert set(answer.locally.weights) == {("h", 1.0), ("h", 2.0), ("g", 1.0)}
    assert answers(answer) == (True, True, True)


def test_equal_qualities_need_no_separation_and_all_of_the_best_count():
    same = h(1.0)
    assert answers(separable([[same, same]], [[0.5, 0.5]])) == (True, True, True)
    answer = separable([[h(1.0), h(3.0), h(2.0)]], [[1.0, 1.0, 0.0]])  # both 1 and 3 must beat 2
    assert answer.linear.pairs == 2
    assert answers(answer) == (False, True, True)


def test_sums_that_differ_by_rounding_are_equal():
    answer = separable([[h(0.1, 0.2), h(0.3)]], [[1.0, 0.0]])
    assert answers(answer) == (False, False, True)


def test_some_features_only():
    lists = [[[{"a": 1.0, "b": 1.0}], [{"a": 1.0, "b": 2.0}]]]
    assert answers(separable(lists, [[1.0, 0.0]])) == (True, True, True)
    assert answers(separable(lists, [[1.0, 0.0]], features=["a"])) == (False, False, False)
    with pytest.raises(CamberError, match="no feature c; it has: a, b"):
        separable(lists, [[1.0, 0.0]], features=["c"])


def test_empty_lists_and_wrong_qualities():
    assert answers(separable([], [])) == (True, True, True)
    assert answers(separable([[], [[]]], [[], [1.0]])) == (True, True, True)
    assert answers(separable([[[], []]], [[1.0, 0.0]])) == (False, False, False)
    with pytest.raises(CamberError, match="1 qualities for 2"):
        separable([[h(1.0), h(2.0)]], [[1.0]])
    with pytest.raises(CamberError, match="infinite"):
        separable([[h(np.inf), h(2.0)]], [[1.0, 0.0]])


def test_the_summary_names_all_three():
    text = str(separable(FIGURE_4, GOOD_4))
    assert [line.split()[0] for line in text.splitlines()] == ["linear", "globally", "locally"]
    assert camber.bend.separable is separable


def vectors(lists, kind):
    """The sparse vector of every hypothesis under a model, as a dict."""
    made = []
    for sentence in lists:
        for hypothesis in sentence:
            vector = {}
            if kind == "locally":
                for part in hypothesis:
                    for item in part.items():
                        vector[item] = vector.get(item, 0) + 1
            else:
                for part in hypothesis:
                    for name, value in part.items():
                        vector[name] = vector.get(name, 0.0) + value
                if kind == "globally":
                    vector = dict.fromkeys(vector.items(), 1)
            made.append(vector)
    return made


def contradictory(rows):
    """Whether a mixture of the rows (shares not negative, of sum 1) is 0: then no weights can be right (Gordan)."""
    keys = sorted({key for row in rows for key in row}, key=repr)
    dense = np.array([[row.get(key, 0) for key in keys] + [1.0] for row in rows], float)
    return nnls(dense.T, np.array([0.0] * len(keys) + [1.0]))[1] < 1e-8


def perceptron_separates(rows, rounds=50):
    weights = {}
    for _ in range(rounds):
        wrong = [row for row in rows if sum(weights.get(k, 0.0) * v for k, v in row.items()) <= 0.0]
        if not wrong:
            return True
        for row in wrong:
            for key, value in row.items():
                weights[key] = weights.get(key, 0.0) + value
    return False


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([1, 500]))
@settings(deadline=None, max_examples=120)
def test_random_lists_against_a_perceptron_and_a_search_for_contradictions(seed, first):
    # Weights that are right on every pair prove "separable"; a mixture of differences that is 0 proves the contrary.
    rng = np.random.default_rng(seed)
    lists, good = [], []
    for _ in range(rng.integers(1, 4)):
        sentence = []
        for _ in range(2 if rng.random() < 0.7 else 3):
            parts = [{} for _ in range(rng.integers(1, 3))]
            for part in parts:
                for name in "ab":
                    if rng.random() < 0.8:
                        part[name] = float(rng.integers(-1, 3))
            sentence.append(parts)
        lists.append(sentence)
        good.append([1.0] + [0.0] * (len(sentence) - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["camber.bend.separable"], "FIRST_PAIRS", first)
        found = separable(lists, good)
    starts = np.cumsum([0] + [len(sentence) for sentence in lists])
    for kind in ("linear", "globally", "locally"):
        answer, made = getattr(found, kind), vectors(lists, kind)
        rows, pairs = [], []
        for start, sentence in zip(starts, lists, strict=False):
            for other in range(start + 1, start + len(sentence)):
                keys = made[start].keys() | made[other].keys()
                rows.append({k: made[start].get(k, 0) - made[other].get(k, 0) for k in keys})
                pairs.append((int(start), int(other)))
        assert answer.pairs == len(rows)
        if answer.separable:
            assert not contradictory(rows)
            assert all(sum(answer.weights.get(k, 0.0) * v for k, v in row.items()) > 0.0 for row in rows)
        else:
            assert not perceptron_separates(rows)
            assert answer.margin == 0.0
            chosen = [row for row, pair in zip(rows, pairs, strict=True) if pair in answer.conflicts]
            assert contradictory(chosen)
