"""Bins in place of features."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.bent_scores import Bend

from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend, tally
from camber.bend.log import LogBend
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.errors import InputError, SettingsError
from camber.features.feature import CONTEXT, COUNT, NUMBER, PROBABILITY, RULE, Feature
from camber.features.parts import Parts

NAMES = ("p", "q", "word_penalty", "lm")
INPUTS = (
    Feature("p", PROBABILITY, RULE),
    Feature("q", COUNT, RULE),
    Feature("word_penalty", NUMBER, RULE),
    Feature("lm", NUMBER, CONTEXT),
)
P = (Feature("p", NUMBER, RULE),)


def bend_of(rng: np.random.Generator, kind: str = "bins", copied: tuple[str, ...] = ("word_penalty",)) -> DiscreteBend:
    """A bend with random bins; the language model is not bent."""
    bins = {name: Bins.make(np.round(rng.normal(size=20), 1), bits=int(rng.integers(0, 4))) for name in NAMES[:3]}
    return DiscreteBend(INPUTS, bins, kind, copied)


def test_names_are_those_of_other_features_then_those_of_bins() -> None:
    bend = DiscreteBend(INPUTS, {"q": Bins.make([1.0, 2.0], 1), "p": Bins.make([1.0], 1)}, copied=("q",))
    assert bend.names == ("q", "word_penalty", "lm", "p@0", "q@0", "q@1")
    assert bend.chains.tolist() == [[0, 1], [1, 3]]
    assert bend.width == 3


def test_without_bins_everything_is_linear() -> None:
    bend = DiscreteBend(INPUTS, {}, "raw")
    assert (bend.names, bend.width, bend.chains.shape) == (NAMES, 0, (0, 2))
    assert bend.linear_weights(np.arange(4.0)).tolist() == [0, 1, 2, 3]


@given(st.integers(0, 2**32 - 1), st.sampled_from(("bins", "overlap", "lnr", "mnr")))
def test_counts_are_the_bins_that_rules_hit(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    bend = bend_of(rng, kind)
    sizes = rng.integers(0, 5, 6)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    features, present = np.round(rng.normal(size=(offsets[-1], 4)), 1), rng.random(offsets[-1]) < 0.8
    parts = Parts.of_dense(INPUTS, features, np.where(present, 7, -1))
    counts = bend.counts(parts, offsets).dense()
    twin = Bend({name: (bins.lows.tolist(), []) for name, bins in bend.bins.items()}, kind == "overlap")
    places = {name: at for at, name in enumerate(bend.names[len(bend.linear) :])}
    for row in range(len(sizes)):
        hits: Counter[int] = Counter()
        for part in range(offsets[row], offsets[row + 1]):
            for name, value in zip(NAMES[:3], features[part], strict=False):
                hits.update(places[f"{name}@{hit}"] for hit in twin.hits(name, value) if present[part])
        assert {int(at): counts[row, at] for at in np.flatnonzero(counts[row])} == hits


@given(st.integers(0, 2**32 - 1), st.sampled_from(("bins", "overlap")))
def test_what_a_value_adds_is_the_sum_over_the_bins_that_it_hits(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    bend = bend_of(rng, kind)
    weights = rng.normal(size=len(bend.names))
    values = bend.bin_values(weights)
    one = np.zeros((1, 4))
    for name, (first, _) in zip(bend.bins, bend.chains.tolist(), strict=True):
        one[0, NAMES.index(name)] = np.round(rng.normal(), 1)
        hit = int(bend.bins[name].of(one[0, NAMES.index(name)]))
        single = DiscreteBend(INPUTS, {name: bend.bins[name]}, kind)
        own = weights[[bend.names.index(other) for other in single.names if "@" in other]]
        counts = single.counts(Parts.of_dense(INPUTS, one), np.array([0, 1]))
        assert counts.products(own)[0] == pytest.approx(values[first + hit])


def test_overlap_is_the_own_bin_and_both_neighbours() -> None:
    bend = DiscreteBend(P, {"p": Bins.make([1.0, 2.0, 3.0, 4.0], 2)}, "overlap")
    hits = bend.counts(Parts.of_dense(P, [[1.0], [2.0], [4.0]]), np.arange(4)).dense()
    assert hits.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]


def test_a_start_with_one_value_for_each_bin_is_the_old_model() -> None:
    values = np.array([0.1, 0.5, 0.9])
    seen = {"p": (values, np.ones(3, np.int64)), "word_penalty": (-values, np.ones(3, np.int64))}
    bend = DiscreteBend.make("bins", INPUTS, seen, BendSettings(bits=4))
    assert bend.copied == ("word_penalty",)
    old = Weighing(LogBend(INPUTS), {"p": 7.0, "q": 2.0, "word_penalty": -3.0, "lm": 1.0})
    start = bend.start(old, seen)
    assert tuple(start) == bend.names
    # the copy of the word penalty takes it all, its bins nothing
    assert list(start.values()) == [2.0, -3.0, 1.0, *(7.0 * np.log(values)), 0.0, 0.0, 0.0]


def test_a_feature_that_no_rule_has_is_not_bent() -> None:
    none = (np.zeros(0), np.zeros(0, np.int64))
    assert DiscreteBend.make("mnr", INPUTS, {"p": none, "word_penalty": none}, BendSettings(bits=4)).names == NAMES


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, width=64).map(lambda x: x + 0.0), st.integers(1, 9)), max_size=20),
    st.integers(0, 20),
)
def test_a_tally_counts_equal_values_however_it_is_cut(pairs: list[tuple[float, int]], cut: int) -> None:
    pieces = [
        (np.array([value for value, _ in some]), np.array([count for _, count in some], np.int64))
        for some in (pairs[:cut], pairs[cut:])
    ]
    expected: Counter[float] = Counter()
    for value, count in pairs:
        expected[value] += count
    values, often = tally(pieces)
    assert list(zip(values.tolist(), often.tolist(), strict=True)) == sorted(expected.items())


# --- bins.tsv ---------------------------------------------------------------------------------------------------------

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=12)


@given(numbers, numbers, st.sampled_from(("bins", "overlap", "lnr", "mnr", "raw")))
def test_a_written_bend_comes_back_to_the_last_bit(p: list[float], q: list[float], kind: str) -> None:
    bins = {name: Bins.make(values, 3) for name, values in (("p", p), ("q", q)) if values}
    bend = DiscreteBend(INPUTS, bins, kind, ("q",) if q else ())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bins.tsv"
        bend.write(path)
        again = DiscreteBend.read(path, INPUTS)
    assert (again.inputs, again.kind, again.copied, again.names) == (bend.inputs, bend.kind, bend.copied, bend.names)
    for name, own in bend.bins.items():
        assert again.bins[name].lows.tobytes() == own.lows.tobytes()
        assert again.bins[name].highs.tobytes() == own.highs.tobytes()
        assert again.bins[name].populations.tobytes() == own.populations.tobytes()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# camber bins 1 mnr", "nothing", r"bins\.tsv:1: no bins of ours"),
        ("# camber bins 1 mnr", "# camber bins 1 curly", "no bend with bins is called 'curly'"),
        ("# inputs p q", "# inputs x q", "bins for p, but the features are x, q"),
        ("# copied word_penalty", "# copied q", "q cannot be kept beside bins"),
        ("p\t1\t0.2", "p\t1\tmuch", r"bins\.tsv:6: not a bin: could not convert string to float: 'much'"),
        ("p\t1\t0.2", "p\t1\tnan", "the edges of bins must rise"),
        ("p\t1\t0.2", "p\t1\t0.1", "the edges of bins must rise"),
        ("p\t1\t", "p\t2\t", r"bins\.tsv:6: not a bin: bin 2 of p comes out of order"),
        ("p\t1\t", "p\t", r"bins\.tsv:6: not a bin: not enough values"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "bins.tsv"
    bins = {"p": Bins.make([0.1, 0.2], 1), "word_penalty": Bins.make([-1.0], 1)}
    DiscreteBend(INPUTS, bins, "mnr", ("word_penalty",)).write(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=problem) as caught:
        DiscreteBend.read(path)
    assert "bins.tsv" in str(caught.value)
    assert "tune the model again" in str(caught.value)


def test_bins_for_other_features_are_refused(tmp_path: Path) -> None:
    DiscreteBend(INPUTS, {"p": Bins.make([0.1, 0.2], 1)}).write(tmp_path / "bins.tsv")
    with pytest.raises(
        InputError, match=r"bins\.tsv:2: bins for the features p, q, word_penalty, lm, but these are p;"
    ):
        DiscreteBend.read(tmp_path / "bins.tsv", P)


def test_an_unknown_kind_or_feature_is_refused() -> None:
    with pytest.raises(SettingsError, match="no bend with bins is called 'wavy'"):
        DiscreteBend(INPUTS, {}, "wavy")
    with pytest.raises(SettingsError, match="bins for z"):
        DiscreteBend(INPUTS, {"z": Bins.make([1.0], 1)})
