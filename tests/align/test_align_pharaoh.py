"""Reading and writing alignments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.align.pharaoh import Alignment, read_pharaoh, write_pharaoh
from camber.errors import InputError

position = st.one_of(st.integers(0, 12), st.sampled_from([99, 100, 1999, 123_456_789]))
pairs_of_links = st.lists(st.lists(st.tuples(position, position), max_size=6), max_size=6)


@settings(deadline=None)
@given(pairs_of_links)
def test_what_is_written_is_read_back_and_looks_like_pharaoh(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pharaoh") / "a.align"
    alignment = Alignment.from_pairs(pairs)
    write_pharaoh(path, alignment)
    expected = "".join(" ".join(f"{s}-{t}" for s, t in sorted(set(links))) + "\n" for links in pairs)
    assert path.read_text() == expected
    back = read_pharaoh(path)
    assert back.links.tolist() == alignment.links.tolist()
    assert back.offsets.tolist() == alignment.offsets.tolist()


def test_links_in_any_order_with_repeats_tabs_and_crlf_are_read_sorted(tmp_path):
    path = tmp_path / "a.align"
    path.write_bytes(b"\xef\xbb\xbf3-1 0-2\t0-1 3-1\r\n\n  1-1 \n0-0")
    assert [pair.tolist() for pair in read_pharaoh(path)] == [[[0, 1], [0, 2], [3, 1]], [], [[1, 1]], [[0, 0]]]


@pytest.mark.parametrize("text", ["0-", "-1", "1", "a-b", "1-2-3", "1-2x", "0–1", "1.5-2", "٣-1", "0-99999999999"])
def test_something_that_is_no_link_is_named_with_its_line(tmp_path, text):
    path = tmp_path / "bad.align"
    path.write_text(f"0-0\n0-0 {text} 1-1\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"bad.align:2: .*{text}.* is not a link"):
        read_pharaoh(path)


def test_links_outside_the_pair_are_refused_and_counting_from_one_is_suspected(tmp_path):
    path = tmp_path / "one.align"
    path.write_text("0-0\n1-1 2-3\n")
    with pytest.raises(InputError, match=r"one.align:2: link 2-3 lies outside .* 2 and 3 words; .*count from 1"):
        read_pharaoh(path, [(1, 1), (2, 3)])
    with pytest.raises(InputError, match="2 alignments for 3 sentence pairs"):
        read_pharaoh(path, [(1, 1), (2, 3), (4, 4)])
    assert len(read_pharaoh(path, [(1, 1), (3, 4)])) == 2


def test_swapping_twice_changes_nothing():
    alignment = Alignment.from_pairs([[(0, 2), (1, 0), (1, 1)], [], [(2, 0)]])
    assert alignment.swapped()[0].tolist() == [[0, 1], [1, 1], [2, 0]]
    assert np.array_equal(alignment.swapped().swapped().links, alignment.links)
