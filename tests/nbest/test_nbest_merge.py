"""Merging hypotheses: a union without repeats, in the order of discovery."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from camber.nbest.merge import first_of_each

#: Few different values, so that many hypotheses repeat.
VALUES = st.sampled_from([-0.0, 0.0, 1.0, math.nan])
HYPOTHESES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), VALUES, VALUES), max_size=12)


def plain(hypothesis):
    """What can be compared: NaN is not NaN, and 0 is -0."""
    sentence, text, *features = hypothesis
    return (sentence, text, *(str(value + 0.0) for value in features))


@given(HYPOTHESES, HYPOTHESES)
def test_every_hypothesis_is_kept_once_in_the_order_of_discovery(one, other):
    both = [*one, *other]
    owners, texts = (np.array([hypothesis[k] for hypothesis in both], np.int64) for k in (0, 1))
    features = np.array([hypothesis[2:] for hypothesis in both], np.float64).reshape(-1, 2)
    kept = first_of_each(owners, texts, features).tolist()
    expected = sorted(dict.fromkeys(map(plain, both)), key=lambda hypothesis: hypothesis[0])  # stable in a sentence
    assert [plain(both[row]) for row in kept] == expected
    assert all(plain(both[row]) not in map(plain, both[:row]) for row in kept)
