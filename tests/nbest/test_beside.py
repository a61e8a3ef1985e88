"""Lists of parts of texts, and files beside lists: lines of sentences, scores of hypotheses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import same_hypotheses

from camber.errors import CamberError, InputError
from camber.nbest import NBest
from camber.nbest.beside import lines_beside, scores_beside

words = st.text("abcäß", min_size=1, max_size=3)


@st.composite
def parts(draw):
    """A list of a part of a text: its first and its last sentence have hypotheses, others may have none."""
    sizes = draw(st.lists(st.integers(0, 3), max_size=4))
    sizes = [draw(st.integers(1, 2)), *sizes, draw(st.integers(1, 2))]
    total = sum(sizes)
    texts = draw(st.lists(words, min_size=total, max_size=total))
    first, scores = draw(st.integers(0, 2000)), np.arange(total) * -0.5
    return NBest.of_hypotheses((), np.cumsum([0, *sizes]), texts, np.empty((total, 0)), scores, first=first)


@given(parts(), st.sampled_from(["moses", "joshua", "jsonl", "tsv", "fairseq"]))
@settings(deadline=None)
def test_the_numbers_of_a_part_come_back_in_every_format(tmp_path_factory, part, format):
    path = tmp_path_factory.mktemp("n") / "list"
    part.write(path, format)
    whole = NBest.read(path, format)
    assert len(whole) == part.first + len(part)
    again = whole.covered()
    assert again.first == part.first
    same_hypotheses(again, part)


@given(parts(), st.integers(0, 3))
@settings(deadline=None)
def test_a_part_in_its_text_is_covered_by_itself(part, more):
    text = part.in_text(part.first + len(part) + more)
    assert (len(text), text.first) == (part.first + len(part) + more, 0)
    same_hypotheses(text.covered(), part)
    assert text.covered().first == part.first
    if more:
        with pytest.raises(CamberError, match="do not fit into a text of"):
            part.in_text(part.first + len(part) - 1)


def test_sentences_whose_source_is_known_are_covered_too(tmp_path):
    path = tmp_path / "out"
    path.write_text("S-3\tx\nS-4\ty\nH-4\t-1\tb\nS-5\tz\n")
    part = NBest.read(path).covered()
    assert (part.first, part.sources, part.sentence_offsets.tolist()) == (3, ["x", "y", "z"], [0, 0, 1, 1])


def test_choosing_rows_keeps_the_numbers_of_sentences():
    part = NBest.of_hypotheses((), [0, 2, 3], ["a", "b", "c"], np.empty((3, 0)), first=5)
    assert part.of_rows([np.array([1, 0]), np.array([2])]).first == 5
    assert part.of_sentences([1]).first == 0


def test_lines_are_those_of_the_part_or_of_the_whole_text(caplog):
    part = NBest.of_hypotheses((), [0, 1, 2], ["a", "b"], np.empty((2, 0)), first=3)
    whole = ["0", "1", "2", "3", "4"]
    assert lines_beside(part, ["3", "4"], "f") == ["3", "4"]
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    assert lines_beside(part, whole, "f") == ["3", "4"]
    assert lines_beside(part, [*whole, "5"], "f") == ["3", "4"]
    assert "f: of its 6 lines, those of the sentences 3 to 4 (from 0) are used" in caplog.text
    for wrong in (["3"], ["2", "3", "4"], whole[:4]):
        with pytest.raises(
            InputError, match=rf"f:{len(wrong) + 1}: {len(wrong)} lines, but the list has the sentences"
        ):
            lines_beside(part, wrong, "f")
    counted_from_1 = NBest.of_hypotheses((), [0, 1, 2], ["a", "b"], np.empty((2, 0)), first=1)
    assert lines_beside(counted_from_1, ["x", "y"], "f") == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n", r"f:2: 1 scores comet for 2 hypotheses; give a number for every hypothesis"),
        ("1\n2\n3\n", r"f:3: 3 scores comet for 2 hypotheses"),
        ("1\nnan\n", r"f:2: comet is nan; expected a finite number"),
        ("-inf\n1\n", r"f:1: comet is -inf"),
        ("1\n\n", r"f:2: comet '' is not a number"),
        ("1\n2 3\n", r"f:2: comet '2 3' is not a number"),
    ],
)
def test_bad_scores_are_told_with_their_line(tmp_path, text, message):
    (tmp_path / "f").write_text(text)
    nbest = NBest.of_hypotheses((), [0, 2], ["a", "b"], np.empty((2, 0)))
    with pytest.raises(InputError, match=message):
        scores_beside(nbest, "comet", tmp_path / "f")


def test_scores_follow_the_order_of_the_file(tmp_path):
    """Fairseq writes sentences in the order of their lengths; scores of its H lines stand in the same order."""
    (tmp_path / "out").write_text("H-1\t-1\tb\nH-1\t-2\tbb\nH-0\t-3\ta\nH-2\t-4\tc\n")
    (tmp_path / "scores").write_text("10\n11\n0\n20\n")
    nbest = NBest.read(tmp_path / "out")
    assert nbest.texts == ["a", "b", "bb", "c"]
    assert scores_beside(nbest, "s", tmp_path / "scores").tolist() == [0, 10, 11, 20]
    some = nbest.of_sentences([1, 2])
    assert some.places.tolist() == [0, 1, 3]
    nbest.write(tmp_path / "out2", "fairseq")
    assert NBest.read(tmp_path / "out2").places is None
