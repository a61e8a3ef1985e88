"""Symmetrisation against sets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.word_alignment import symmetrise as by_sets

from camber.align.pharaoh import Alignment
from camber.align.symmetrise import METHODS, symmetrise
from camber.errors import SettingsError

links = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=10)


@settings(deadline=None)
@given(st.lists(st.tuples(links, links), max_size=4), st.sampled_from(METHODS))
def test_every_method_equals_the_textbook(pairs, method):
    forward = Alignment.from_pairs([f for f, _ in pairs])
    backward = Alignment.from_pairs([b for _, b in pairs])
    got = symmetrise(forward, backward, method)
    assert [sorted(map(tuple, pair.tolist())) for pair in got] == [
        sorted(by_sets(set(f), set(b), method)) for f, b in pairs
    ]


def test_final_and_takes_only_links_between_two_free_words():
    forward, backward = Alignment.from_pairs([[(0, 0), (3, 0), (5, 5)]]), Alignment.from_pairs([[(0, 0)]])
    assert symmetrise(forward, backward, "grow-diag").links.tolist() == [[0, 0]]
    assert symmetrise(forward, backward, "grow-diag-final-and").links.tolist() == [[0, 0], [5, 5]]
    assert symmetrise(forward, backward, "grow-diag-final").links.tolist() == [[0, 0], [3, 0], [5, 5]]


def test_an_unknown_method_is_an_error_that_lists_the_known_ones():
    with pytest.raises(SettingsError, match="grow-diag-final-and"):
        symmetrise(Alignment.from_pairs([]), Alignment.from_pairs([]), "grow")
