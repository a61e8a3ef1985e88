"""Held-out pairs are the same every time and never seen in training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus.splitting import FEWEST_TO_TUNE, held_out_size, hold_out, split_into_folds
from camber.errors import CamberError


def numbered(count):
    return [f"line {number}" for number in range(count)]


@settings(deadline=None)
@given(st.integers(0, 300), st.data())
def test_a_split_has_every_pair_once(count, data):
    size = data.draw(st.integers(0, count))
    split = hold_out(numbered(count), numbered(count), size, seed=5)
    assert sorted([*split.train, *split.held]) == list(range(count))
    assert len(split.held) == size
    assert split.train.tolist() == sorted(split.train)
    assert split.held.tolist() == sorted(split.held)
    assert (split.repeating, split.dropped) == (0, 0)


def test_the_same_seed_gives_the_same_split_everywhere():
    lines = numbered(50)
    assert hold_out(lines, lines, 5, seed=1).held.tolist() == [9, 13, 20, 26, 35]
    assert hold_out(lines, lines, 5, seed=2).held.tolist() != hold_out(lines, lines, 5, seed=1).held.tolist()


def same(line):
    return " ".join(line.split()).casefold()


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from(["", " ", "a", "A", "b", " b", "c", "d", "e e", "e  E", "f"])] * 2)),
    st.integers(0, 5),
    st.integers(0, 4),
)
def test_no_line_of_a_held_out_pair_stays_in_training_or_is_held_out_twice(pairs, size, seed):
    source, target = ([pair[side] for pair in pairs] for side in (0, 1))
    split = hold_out(source, target, min(size, len(pairs)), seed)
    for side in (source, target):
        held = [same(side[i]) for i in split.held]
        assert all(held)
        assert len(set(held)) == len(held)
        assert not set(held) & {same(side[i]) for i in split.train}
    for i in range(len(pairs)):  # whatever is in neither set shares a line with one that is held out
        if i not in split.train and i not in split.held:
            assert any(same(side[i]) == same(side[k]) for side in (source, target) for k in split.held)
    assert split.dropped == len(pairs) - len(split.train) - len(split.held)
    texts = [[same(line) for line in side] for side in (source, target)]
    shared = [i for i in range(len(pairs)) if any(side[i] and side.count(side[i]) > 1 for side in texts)]
    assert split.repeating == len(shared)


def test_pairs_that_would_take_many_out_of_training_are_held_out_last():
    source = ["yes"] * 50 + numbered(20)
    target = numbered(70)
    assert hold_out(source, target, 20).held.tolist() == list(range(50, 70))
    split = hold_out(source, target, 21)
    assert len(split.held) == 21
    assert split.dropped == 49
    assert len(split.train) == 0


def test_the_usual_size_is_a_twentieth_and_at_most_a_thousand():
    assert [held_out_size(n) for n in (600, 2000, 10**6)] == [30, 100, 1000]
    assert len(hold_out(numbered(2000), numbered(2000)).held) == 100


def test_enough_pairs_for_tuning_are_held_out_or_none():
    assert [held_out_size(n) for n in (0, 1, 2, 100, 299, 300, 500, 599)] == [0, 0, 0, 0, 0, 30, 30, 30]
    assert len(hold_out(numbered(500), numbered(500)).held) == FEWEST_TO_TUNE


def test_repeats_do_not_count_as_pairs_that_could_be_held_out():
    split = hold_out(numbered(10) * 40, numbered(10) * 40)
    assert (len(split.train), len(split.held)) == (400, 0)


def test_impossible_sizes_and_texts_are_refused():
    with pytest.raises(ValueError, match="cannot hold out 4 of 3"):
        hold_out("abc", "abc", 4)
    with pytest.raises(ValueError, match="2 source but 3 target lines"):
        hold_out("ab", "abc", 1)


LINES = st.sampled_from(["", " ", "a", "A", "b", " b", "c", "d", "e e", "e  E", "f", "g"])


def groups_of(pairs):
    """Join pairs with an equal line until nothing can be joined any more."""
    groups = [{number} for number in range(len(pairs))]
    same = [[(" ".join(line.split()).casefold()) for line in pair] for pair in pairs]

    def touch(one, other):
        return any(same[i][side] and same[i][side] == same[j][side] for i in one for j in other for side in (0, 1))

    joined = True
    while joined:
        joined = False
        for one in range(len(groups)):
            for other in range(len(groups) - 1, one, -1):
                if touch(groups[one], groups[other]):
                    groups[one] |= groups.pop(other)
                    joined = True
    return groups


@settings(deadline=None)
@given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=14), st.integers(2, 4), st.integers(0, 3))
def test_no_line_of_a_fold_is_in_another_and_nothing_else_is_held_together(pairs, folds, seed):
    groups = groups_of(pairs)
    source, target = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(groups) < folds:
        with pytest.raises(CamberError, match=f"cannot be cut into {folds} folds"):
            split_into_folds(source, target, folds, seed)
        return
    split = split_into_folds(source, target, folds, seed)
    assert set(split.numbers.tolist()) == set(range(folds))
    for group in groups:
        assert len({int(split.numbers[number]) for number in group}) == 1
    assert split.together == sum(len(group) for group in groups if len(group) > 1)
    assert split.largest == max(map(len, groups))
    if split.largest == 1:
        assert np.ptp(np.bincount(split.numbers)) <= 1


def test_folds_are_the_same_for_the_same_seed_and_others_for_another():
    lines = [f"line {number}" for number in range(40)]
    first, again, other = (split_into_folds(lines, lines, 4, seed).numbers.tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert first[:12] == [3, 0, 0, 3, 0, 2, 1, 1, 2, 3, 2, 3]


def test_another_line_at_its_place_moves_no_other_pair():
    lines = [f"line {number}" for number in range(40)]
    changed = [*lines[:7], "something else", *lines[8:]]
    assert split_into_folds(lines, lines, 4).numbers.tolist() == split_into_folds(changed, lines, 4).numbers.tolist()
