"""Merging lists: a union without repeats, in the order of discovery."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import list_of_parts

from camber.errors import CamberError
from camber.features.feature import Feature
from camber.nbest import NBest
from camber.nbest.merge import merge, without_repeats


@st.composite
def lists(draw, sentences=3):
    """Few different texts and features, so that many hypotheses repeat."""
    sizes = draw(st.lists(st.integers(0, 4), min_size=sentences, max_size=sentences))
    count = sum(sizes)
    parts = [draw(st.integers(0, 2)) for _ in range(count)]
    values = draw(
        st.lists(st.sampled_from([-0.0, 0.0, 1.0, math.nan]), min_size=2 * sum(parts), max_size=2 * sum(parts))
    )
    return list_of_parts(
        ("x", "y"),
        np.cumsum([0, *sizes]),
        np.cumsum([0, *parts]),
        np.array(values).reshape(-1, 2),
        [draw(st.sampled_from(["a", "b"])) for _ in range(count)],
        np.arange(count, dtype=float),
        extra={"comet": np.arange(count) / 3},
        tokens=[f"t{row}" for row in range(count)],
        sources=["a", "", "c"][:sentences],
        targets=["A", "B", "C"][:sentences],
        rules=np.arange(sum(parts)),
    )


def rows(nbest):
    """The hypotheses of every sentence as plain values."""
    table = [tuple(map(str, row)) for row in (nbest.hypothesis_features() + 0.0).tolist()]  # NaN is not NaN
    offsets = nbest.sentence_offsets.tolist()
    return [[(nbest.texts[i], *table[i]) for i in range(a, b)] for a, b in pairwise(offsets)]


@given(lists(), lists())
@settings(deadline=None)
def test_a_merged_list_has_every_hypothesis_once_in_the_order_of_discovery(one, other):
    expected = [list(dict.fromkeys([*a, *b])) for a, b in zip(rows(one), rows(other), strict=True)]
    assert rows(merge(one, other)) == expected
    assert rows(without_repeats(one)) == [list(dict.fromkeys(group)) for group in rows(one)]
    again = merge(merge(one, other), other)
    assert rows(again) == expected


@given(lists())
@settings(deadline=None)
def test_other_columns_go_along(nbest):
    merged = merge(nbest, nbest, scores=True)
    for index, (score, comet) in enumerate(zip(merged.scores, merged.extra["comet"], strict=True)):
        origin = int(score)
        assert merged.texts[index] == nbest.texts[origin]
        assert comet == origin / 3
        assert merged.tokens[index] == f"t{origin}"
        parts = slice(*nbest.part_offsets[origin : origin + 2])
        own = slice(*merged.part_offsets[index : index + 2])
        assert np.array_equal(merged.parts.dense()[own], nbest.parts.dense()[parts], equal_nan=True)
        assert merged.parts.rules[own].tolist() == nbest.parts.rules[parts].tolist()
    assert (merged.sources, merged.targets) == (nbest.sources, nbest.targets)
    assert merge(nbest, replace(nbest, sources=None, targets=["", "B", ""])).targets == nbest.targets
    assert merge(nbest, nbest).scores is None


def test_features_in_another_order_are_the_same_features():
    one = NBest.of_hypotheses(("x", "y"), [0, 1], ["a"], [[1.0, 2.0]])
    other = NBest.of_hypotheses(("y", "x"), [0, 2], ["a", "a"], [[2.0, 1.0], [1.0, 2.0]])
    assert merge(one, other).parts.dense().tolist() == [[1.0, 2.0], [2.0, 1.0]]


def test_lists_that_do_not_belong_together_are_refused():
    one = NBest.of_hypotheses(("x",), [0, 1], ["a"], [[1.0]])
    with pytest.raises(CamberError, match="1 and 2 sentences"):
        merge(one, NBest.of_hypotheses(("x",), [0, 1, 1], ["a"], [[1.0]]))
    with pytest.raises(CamberError, match="only one of them has x, z"):
        merge(one, NBest.of_hypotheses(("z",), [0, 1], ["a"], [[1.0]]))
    with pytest.raises(CamberError, match=r"different features .* kind='count'"):
        merge(one, NBest.of_hypotheses((Feature("x", "count"),), [0, 1], ["a"], [[1.0]]))
    with pytest.raises(CamberError, match=r"different text .* sentence 0 is 's' and 't'"):
        merge(replace(one, sources=["s"]), replace(one, sources=["t"]))
