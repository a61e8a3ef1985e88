"""Flat lists: as many lines of text for every sentence, and nothing else."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import same

from camber.errors import CamberError, InputError, SettingsError
from camber.nbest import NBest

lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\ufeff"), max_size=5)


def flat(texts, candidates):
    return NBest.of_hypotheses((), np.arange(0, len(texts) + 1, candidates), texts, np.empty((len(texts), 0)))


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.lists(lines, min_size=n, max_size=n)))))
@settings(deadline=None)
def test_texts_of_any_kind_come_back(tmp_path_factory, drawn):
    candidates, groups = drawn
    texts = [text for group in groups for text in group]
    if not texts:
        return  # an empty file is an error
    for name in ("list.flat", "list.flat.gz"):
        path = tmp_path_factory.mktemp("n") / name
        flat(texts, candidates).write(path)
        same(NBest.read(path, "flat", candidates=candidates), flat(texts, candidates))


def test_blank_lines_are_candidates_and_line_ends_are_not_part_of_them(tmp_path):
    path = tmp_path / "list"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa b\r\n\r\n\r\nc \xe2\x80\xa8 d\r\n"))
    nbest = NBest.read(path, "flat", 2, candidates=2)
    assert nbest.texts == ["a b", "", "", "c \u2028 d"]
    assert nbest.sentence_offsets.tolist() == [0, 2, 4]
    assert (nbest.scores, nbest.names) == (None, ())


@pytest.mark.parametrize(
    ("candidates", "sentences", "message"),
    [
        (4, None, r"list:6: 6 lines are no multiple of 4 candidates: the last sentence would have 2; .*--candidates"),
        (2, 4, r"list:6: 6 lines are 3 sentences of 2 candidates, but there are 4 sentences; .*--candidates right"),
        (3, 1, r"list:4: 6 lines are 2 sentences of 3 candidates, but there are 1 sentences"),
    ],
)
def test_wrong_numbers_of_lines_are_told(tmp_path, candidates, sentences, message):
    path = tmp_path / "list"
    path.write_text("a\nb\nc\nd\ne\nf\n")
    with pytest.raises(InputError, match=message):
        NBest.read(path, "flat", sentences, candidates=candidates)


def test_candidates_are_given_where_they_are_needed_and_only_there(tmp_path):
    path = tmp_path / "list"
    path.write_text("a\nb\n")
    with pytest.raises(SettingsError, match="a flat list does not tell where a sentence ends: give candidates=N"):
        NBest.read(path, "flat")
    with pytest.raises(SettingsError, match="0 candidates for every sentence; expected 1 or more"):
        NBest.read(path, "flat", candidates=0)
    with pytest.raises(InputError, match=r"format of this list is not known; name it: .*flat is N lines of text"):
        NBest.read(path)
    path.write_text("0 ||| a ||| f= 1\n")
    with pytest.raises(SettingsError, match=r"a moses list tells how many .*leave candidates .* out, or .*: flat"):
        NBest.read(path, candidates=1)


def test_a_list_that_no_flat_file_can_hold_is_refused(tmp_path):
    ragged = NBest.of_hypotheses((), [0, 2, 3], ["a", "b", "c"], np.empty((3, 0)), first=7)
    with pytest.raises(CamberError, match=r"sentence 7 has 2 hypotheses, sentence 8 has 1: .*use jsonl"):
        ragged.write(tmp_path / "list.flat")
    with pytest.raises(CamberError, match="line end"):
        flat(["a\nb"], 1).write(tmp_path / "list.flat")
    assert not list(tmp_path.iterdir())
