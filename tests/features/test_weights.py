"""Weights: a self-describing file, exact, and strict about names."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.errors import CamberError, InputError
from camber.features.weights import Weights

words = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1).filter(lambda text: text[0] != "#")
numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(words, numbers), st.text("abc:|.1 ", max_size=9))
@settings(deadline=None)
def test_weights_come_back_exactly(tmp_path_factory, values, signature):
    path = tmp_path_factory.mktemp("w") / "weights.tsv"
    weights = Weights(values, signature.strip())
    weights.write(path)
    again = Weights.read(path, list(values))
    assert again == weights
    assert again.names == tuple(values)
    assert [math.copysign(1, again[n]) for n in again] == [math.copysign(1, values[n]) for n in values]


def test_the_file_describes_itself(tmp_path):
    path = tmp_path / "weights.tsv"
    Weights({"lm": 0.5, "p": 0.1}, "version:1").write(path)
    assert path.read_text() == ("# camber weights 1\n# signature version:1\nname\tweight\nlm\t0.5\np\t0.1\n")


def test_a_vector_follows_the_order_asked_for():
    weights = Weights.from_vector(["a", "b"], [1, 2], "s")
    vector = weights.vector(["b", "a"])
    assert vector.dtype == np.float64
    assert vector.tolist() == [2.0, 1.0]


def test_a_feature_called_name_is_not_taken_for_the_header(tmp_path):
    path = tmp_path / "weights.tsv"
    Weights({"name": 1.0, "weight": 2.0}).write(path)
    assert Weights.read(path).names == ("name", "weight")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r":1: not a weights file"),
        ("lm\t0.5\n", r":1: not a weights file"),
        ("# camber weights 2\nlm\t1\n", r":1: weights format 2, expected 1"),
        ("# camber weights 1\nlm\t1\nlm\t2\n", r":3: weight lm repeats line 2; keep one"),
        ("# camber weights 1\nlm\tnan\n", r":2: the weight of lm is nan; expected a finite number"),
        ("# camber weights 1\n\nlm\t-inf\n", r":3: the weight of lm is -inf"),
        ("# camber weights 1\nlm\thalf\n", r":2: weight 'half' of lm is not a number"),
        ("# camber weights 1\nlm 0.5\n", r":2: 1 column, expected name and weight"),
        ("# camber weights 1\nlm\t1\tx\n", r":2: 3 columns"),
        ("# camber weights 1\n\t1\n", r":2: '' cannot name a weight"),
        ("# camber weights 1\nl m\t1\n", r":2: 'l m' cannot name a weight"),
        ("# camber weights 1\nlm\t1\ntm\t2\n", r":3: unknown weight tm; known: lm, words"),
        ("# camber weights 1\nlm\t1\n", r"weights.tsv: no weight for words"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "weights.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Weights.read(path, ["lm", "words"])


def test_bad_weights_cannot_be_made():
    for values in ({"a": math.nan}, {"a": math.inf}, {"a b": 1.0}, {"": 1.0}, {"#a": 1.0}, {"a\n": 1.0}):
        with pytest.raises(CamberError):
            Weights(values)
    with pytest.raises(CamberError, match="occurs twice"):
        Weights.from_vector(["a", "a"], [1, 2])
    with pytest.raises(CamberError, match="1 weights for 2 names"):
        Weights.from_vector(["a", "b"], [1])
    with pytest.raises(CamberError, match="one line"):
        Weights({}, signature="a\nb")
    weights = Weights({"a": 1.0})
    with pytest.raises(CamberError, match="unknown weight a"):
        weights.vector(["b"])
    with pytest.raises(CamberError, match="no weight for b"):
        weights.vector(["a", "b"])
    with pytest.raises(CamberError, match="a occurs twice among the features"):
        weights.vector(["a", "a"])
