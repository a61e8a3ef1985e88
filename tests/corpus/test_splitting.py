"""Held-out pairs are the same every time and never seen in training."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus.splitting import FEWEST_TO_TUNE, held_out_size, hold_out


@settings(deadline=None)
@given(st.integers(0, 300), st.data())
def test_a_split_has_every_pair_once(count, data):
    size = data.draw(st.integers(0, count))
    train, held = hold_out(count, size, seed=5)
    assert sorted([*train, *held]) == list(range(count))
    assert len(held) == size
    assert train.tolist() == sorted(train)
    assert held.tolist() == sorted(held)


def test_the_same_seed_gives_the_same_split_everywhere():
    assert hold_out(50, 5, seed=1)[1].tolist() == [9, 13, 20, 26, 35]
    assert hold_out(50, 5, seed=2)[1].tolist() != hold_out(50, 5, seed=1)[1].tolist()


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.integers(0, 5), st.integers(0, 4))
def test_no_repeat_of_a_held_out_pair_stays_in_training(keys, size, seed):
    train, held = hold_out(len(keys), min(size, len(keys)), seed, keys)
    held_keys = [keys[i] for i in held]
    assert not set(held_keys) & {keys[i] for i in train}
    assert len(set(held_keys)) == len(held_keys)
    assert len(held) == min(size, len(keys), len(set(keys)))
    assert {keys[i] for i in train} | set(held_keys) == set(keys)


def test_the_usual_size_is_a_twentieth_and_at_most_a_thousand():
    assert [held_out_size(n) for n in (600, 2000, 10**6)] == [30, 100, 1000]
    assert len(hold_out(2000)[1]) == 100


def test_enough_pairs_for_tuning_are_held_out_or_none():
    assert [held_out_size(n) for n in (0, 1, 2, 100, 299, 300, 500, 599)] == [0, 0, 0, 0, 0, 30, 30, 30]
    assert len(hold_out(500)[1]) == FEWEST_TO_TUNE


def test_repeats_do_not_count_as_pairs_that_could_be_held_out():
    train, held = hold_out(400, keys=list(range(10)) * 40)
    assert (len(train), len(held)) == (400, 0)


def test_impossible_sizes_and_keys_are_refused():
    with pytest.raises(ValueError, match="cannot hold out 4 of 3"):
        hold_out(3, 4)
    with pytest.raises(ValueError, match="2 keys for 3 pairs"):
        hold_out(3, 1, keys=["a", "b"])
