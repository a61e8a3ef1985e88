"""Cleaning drops exactly what its settings name, and counts it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus.cleaning import CleanReport, CleanSettings, clean
from camber.errors import SettingsError

SIDE = st.lists(st.lists(st.sampled_from("ab"), max_size=6), min_size=12, max_size=12)


def test_each_reason_is_counted_once():
    pairs = [
        (["a"], ["x"]),
        ([], ["x"]),
        (["a"], []),
        ([], []),
        (["a"] * 6, ["x"]),
        (["a"] * 5, ["x"]),
        (["a"], ["x"]),
    ]
    source, target = zip(*pairs, strict=True)
    kept, report = clean(source, target, CleanSettings(max_length=5, max_ratio=3.0, drop_duplicates=True))
    assert kept.tolist() == [0]
    assert report == CleanReport(total=7, kept=1, empty_source=2, empty_target=1, too_long=1, ratio=1, duplicate=1)
    assert str(report) == (
        "kept 1 of 7 pairs; dropped 6: 2 with an empty source side, 1 with an empty target side, 1 too long, "
        "1 of too different lengths, 1 repeated"
    )


def test_repeated_pairs_stay_unless_asked():
    kept, report = clean([["a"], ["a"]], [["x"], ["x"]])
    assert kept.tolist() == [0, 1]
    assert str(report) == "kept 2 of 2 pairs"


def test_the_same_source_with_another_target_is_no_duplicate():
    kept, _ = clean([["a"], ["a"]], [["x"], ["y"]], CleanSettings(drop_duplicates=True))
    assert kept.tolist() == [0, 1]


@settings(deadline=None)
@given(SIDE, SIDE, st.booleans(), st.integers(1, 6), st.floats(1, 6))
def test_what_is_kept_obeys_the_settings_and_the_counts_add_up(source, target, drop, length, ratio):
    settings = CleanSettings(max_length=length, max_ratio=ratio, drop_duplicates=drop)
    kept, report = clean(source, target, settings)
    pairs = [(tuple(source[i]), tuple(target[i])) for i in kept]
    for left, right in pairs:
        assert 0 < len(left) <= length
        assert 0 < len(right) <= length
        assert max(len(left), len(right)) <= ratio * min(len(left), len(right))
    assert not drop or len(set(pairs)) == len(pairs)
    assert sorted(kept) == kept.tolist()
    dropped = report.empty_source + report.empty_target + report.too_long + report.ratio + report.duplicate
    assert report.total == len(source) == report.kept + dropped
    assert len(clean([source[i] for i in kept], [target[i] for i in kept], settings)[0]) == len(kept)


def test_no_pairs_at_all_is_not_an_error():
    kept, report = clean([], [])
    assert len(kept) == 0
    assert report.total == 0


def test_settings_out_of_range_are_refused():
    with pytest.raises(SettingsError, match=r"max_ratio is 0\.5; expected at least 1"):
        CleanSettings(max_ratio=0.5)
    with pytest.raises(SettingsError, match="max_length"):
        CleanSettings(max_length=0)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 2.5, 9.0])
def test_a_pair_at_the_edge_of_the_ratio_is_kept_on_either_side(ratio):
    short, edge = ["a"] * 2, ["x"] * int(2 * ratio)
    beyond = [*edge, "x"]
    kept, report = clean([short, edge, short, beyond], [edge, short, beyond, short], CleanSettings(max_ratio=ratio))
    assert kept.tolist() == [0, 1]
    assert report.ratio == 2


def test_a_pair_of_the_greatest_length_is_kept():
    sides = [["a"] * 5, ["a"] * 6]
    assert clean(sides, sides, CleanSettings(max_length=5))[0].tolist() == [0]
