"""Texts in numbers: read from bytes as from lists of words."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.arrays.scratch import UNLIMITED
from camber.corpus import Sentences
from camber.errors import InputError
from camber.files import decode_lines, words
from camber.lm import text as text_module
from camber.lm.text import numbered_sentences, read_text

PIECES = [
    "a",
    "b",
    "ab",
    "longer-than-eight",
    "longer-than-eighT",
    "<s>",
    "<unk>",
    "</s>",
    "é",
    "字",
    "\u2028",
    "\x0b",
    "\x00",
]
TEXTS = st.lists(st.sampled_from([*PIECES, " ", "  ", "\t", "\r", "\r\n", "\n", "\n\n"]), min_size=1, max_size=40).map(
    "".join
)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from([1, 2, 100]), st.booleans())
def test_a_file_reads_as_its_words_do(tmp_path_factory, text, room, marked):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(b"\xef\xbb\xbf" * marked + text.encode())
    sentences = [words(line) for line in decode_lines(path.read_bytes())]
    expected = numbered_sentences(Sentences.encode(sentences), UNLIMITED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "_ROOM", room)
        found = read_text(path, UNLIMITED)
    split = read_text(path, UNLIMITED, words)
    for one in (found, split):
        assert one.words == expected.words
        assert one.tokens.tolist() == expected.tokens.tolist()
        assert one.longest == expected.longest


def test_special_tokens_are_warned_of_in_their_order(tmp_path, caplog):
    (tmp_path / "text").write_text("a </s> <unk>\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "camber"):
        assert read_text(tmp_path / "text", UNLIMITED).tokens.tolist() == [1, 3, 0, 0, 2]
    assert [record.args[0] for record in caplog.records] == ["<unk>", "</s>"]


@pytest.mark.parametrize("tokenise", [None, words])
def test_bad_files_are_refused_with_their_line(tmp_path, tokenise):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\n\xff\n")
    with pytest.raises(InputError, match="invalid UTF-8") as caught:
        read_text(path, UNLIMITED, tokenise)
    assert caught.value.line == 3
    path.write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(InputError, match="empty"):
        read_text(path, UNLIMITED, tokenise)
