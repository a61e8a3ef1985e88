"""The alignment error rate and its gold formats."""

from pathlib import Path

import numpy as np
import pytest

from camber.align.error_rate import Gold, error_rate, read_gold
from camber.align.pharaoh import Alignment
from camber.errors import InputError

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
GOLD = SHARED / "data" / "gold-align"
needs_gold = pytest.mark.skipif(not GOLD.exists(), reason=f"no gold alignments at {GOLD}")


def test_aer_equals_the_value_worked_out_by_hand():
    gold = Gold(
        Alignment.from_pairs([[(0, 0), (1, 1)], [(0, 0)]]),
        Alignment.from_pairs([[(0, 0), (1, 1), (2, 1)], [(0, 0), (0, 1)]]),
    )
    # A: 5 links; A∩S = {0-0} and {0-0}; A∩P = {0-0, 2-1} and {0-0, 0-1}
    rate = error_rate(Alignment.from_pairs([[(0, 0), (2, 1), (2, 2)], [(0, 0), (0, 1)], [(7, 7)]]), gold)
    assert (rate.precision, rate.recall) == (4 / 5, 2 / 3)
    assert rate.aer == pytest.approx(1 - (2 + 4) / (5 + 3))


def test_nothing_found_is_all_wrong_and_nothing_asked_is_no_error():
    nothing = Alignment.from_pairs([[]])
    some = Alignment.from_pairs([[(0, 0)]])
    assert error_rate(nothing, Gold(some, some)).aer == 1.0
    assert error_rate(nothing, Gold(nothing, nothing)).aer == 0.0


def test_both_gold_formats_say_the_same(tmp_path):
    line, rows = tmp_path / "gold.align", tmp_path / "gold.wa"
    line.write_text("0-0 1p2\n\n2-1\n")
    rows.write_text("1 1 1 S\n1 2 3 P\n0003 3 2\n3 0 1 S\n")
    for path in (line, rows):
        gold = read_gold(path)
        assert [pair.tolist() for pair in gold.sure] == [[[0, 0]], [], [[2, 1]]]
        assert [pair.tolist() for pair in gold.possible] == [[[0, 0], [1, 2]], [], [[2, 1]]]


def test_a_bad_gold_link_is_named_with_its_line(tmp_path):
    path = tmp_path / "gold.align"
    path.write_text("0-0\n0-0 1q2\n")
    with pytest.raises(InputError, match=r"gold.align:2: '1q2' is not a gold link"):
        read_gold(path)
    path.write_text("1 1 1 S\n0 1 1 S\n")
    with pytest.raises(InputError, match=r"gold.align:2: .* from 1"):
        read_gold(path)


@needs_gold
def test_hansards_files_from_zero_and_from_one_agree():
    folder = GOLD / "hansards-en-fr"
    for name in ("dev", "test"):
        zero, one = read_gold(folder / f"{name}.align.en-fr"), read_gold(folder / f"{name}.wa.nonullalign")
        assert np.array_equal(zero.sure.links, one.sure.links)
        assert np.array_equal(zero.possible.links, one.possible.links)
        assert np.array_equal(zero.possible.offsets, one.possible.offsets)
        assert error_rate(zero.sure, zero).aer == 0.0
