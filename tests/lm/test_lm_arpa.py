"""ARPA files: read, written, and refused with file and line where they are wrong."""

from __future__ import annotations

import gzip
import logging
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import backoff

from camber.corpus import Sentences
from camber.errors import InputError
from camber.lm.arpa import _format_number, _parse_number, read_arpa, write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel

GOOD = r"""\data\
ngram 1=5
ngram 2=2

\1-grams:
-1.5	<unk>
-99	<s>	-0.25
-0.75	</s>
-0.5	a	-0.125
-1.25	b

\2-grams:
-0.5	<s> a
-0.625	a b

\end\
"""


def read(tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_arpa(path)


def test_columns_are_those_of_the_file(tmp_path):
    trie = read(tmp_path, GOOD)
    assert trie.words == ("<unk>", "<s>", "</s>", "a", "b")
    assert trie.starts.tolist() == [0, 1, 6, 8]
    assert trie.rows(2).tolist() == [[1, 3], [3, 4]]
    assert trie.probability[1:].tolist() == [-1.5, -99, -0.75, -0.5, -1.25, -0.5, -0.625]
    assert trie.backoff[1:].tolist() == [0, -0.25, 0, -0.125, 0, 0, 0]
    assert len(trie) == 7


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\t", "  "),
        lambda text: "a comment before it\n\n" + text,
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("-0.625", "-6.25E-1").replace("-0.125", "-.125"),
        lambda text: text.replace("-grams:\n", "-grams:\n\n"),
    ],
)
def test_harmless_variations_of_the_format_read_the_same(tmp_path, change):
    plain, other = read(tmp_path, GOOD), read(tmp_path, change(GOOD))
    assert other.words == plain.words
    np.testing.assert_allclose(other.probability, plain.probability, rtol=1e-15)
    np.testing.assert_allclose(other.backoff, plain.backoff, rtol=1e-15)
    assert other.prefix.tolist() == plain.prefix.tolist()


def test_gzip_is_told_by_its_content(tmp_path):
    assert len(read(tmp_path, gzip.compress(GOOD.encode()))) == 7


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\\data\\", "data", None, "not an ARPA file"),
        ("ngram 1=5", "ngram 1=x", 2, "not a count"),
        ("ngram 1=5", "ngram 2=5", 2, "order 2 where order 1"),
        ("ngram 1=5", "ngram 1=0", 5, "no unigrams"),
        ("ngram 1=5", "ngram 1=6", 11, "5 1-grams where the header counts 6"),
        ("ngram 1=5", "ngram 1=4", 10, "expected"),
        ("ngram 2=2", "ngram 2=3", 15, "2 2-grams where the header counts 3"),
        ("ngram 2=2", "ngram 2=999999999999", 5, "more than the file can hold"),
        ("\\2-grams:\n", "", 12, "expected"),
        ("\\end\\", "", 17, "the end of the file"),
        ("-0.625\ta b", "0.625\ta b", 14, "positive"),
        ("-0.625\ta b", "nan\ta b", 14, "not a finite number"),
        ("-0.625\ta b", "-inf\ta b", 14, "not a finite number"),
        ("-0.625\ta b", "-1e99\ta b", 14, "not a finite number"),
        ("-0.625\ta b", "-0.6x\ta b", 14, "not a finite number"),
        ("-0.625\ta b", "-0.625\ta", 14, "fewer than 2 words"),
        ("-0.625\ta b", "-0.625\ta c", 14, "not among the unigrams"),
        ("-0.625\ta b", "-0.625\t<s> a", 14, "given twice"),
        ("-0.625\ta b", "-0.625\ta b\tnan", 14, "backoff"),
        ("-0.625\ta b", "-0.625\ta b\t-1\t-2", 14, "more fields"),
        ("-1.25\tb", "-1.25\ta", 10, "given twice"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path, old, new, line, message):
    assert old in GOOD
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert caught.value.line == line


def test_invalid_utf8_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match="invalid UTF-8") as caught:
        read(tmp_path, GOOD.encode().replace(b"b\n", b"\xff\n"))
    assert caught.value.line == 10


def test_a_model_without_unknown_word_gets_one_with_a_warning(tmp_path, caplog):
    text = GOOD.replace("-1.5\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4")
    with caplog.at_level(logging.WARNING, "camber"):
        trie = read(tmp_path, text)
    assert "no <unk> among the unigrams; taking log10 p = -100" in caplog.text
    assert trie.words[0] == "<unk>"
    assert trie.probability[1] == -100


def test_an_upper_case_unknown_word_is_the_unknown_word(tmp_path):
    trie = read(tmp_path, GOOD.replace("<unk>", "<UNK>"))
    assert trie.words[0] == "<unk>"
    assert trie.probability[1] == -1.5


def test_unusual_characters_stay_inside_words(tmp_path):
    words = ["10\u00a0000", "a\u2028b", "|||", "=", "\\data\\", "x\x0by", "日本", "a\rb"]
    trie = estimate(Sentences.encode([words, words[:2]]), LmSettings(order=2))
    path = tmp_path / "odd.arpa"
    write_arpa(path, trie)
    assert read_arpa(path).words == trie.words


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=7), min_size=1, max_size=20),
    st.integers(1, 4),
    st.sampled_from([".arpa", ".arpa.gz"]),
)
def test_what_is_written_reads_back_the_same(tmp_path_factory, corpus, order, ending):
    path = tmp_path_factory.mktemp("arpa") / f"model{ending}"
    trie = estimate(Sentences.encode(corpus), LmSettings(order=order))
    write_arpa(path, trie)
    again = read_arpa(path)
    assert again.words == trie.words
    for column in ("starts", "prefix", "word", "suffix"):
        assert getattr(again, column).tolist() == getattr(trie, column).tolist()
    np.testing.assert_allclose(again.probability, trie.probability, atol=5.1e-8)
    np.testing.assert_allclose(again.backoff, trie.backoff, atol=5.1e-8)


digits = st.text("0123456789", max_size=11)
sign = st.sampled_from(["", "-", "+"])
exponent = st.builds("{}{}{}".format, st.sampled_from("eE"), sign, st.text("0123456789", min_size=1, max_size=2))
likely = st.builds("{}{}.{}".format, sign, st.sampled_from("0123456789"), digits)
any_number = st.builds("{}{}{}{}{}".format, sign, digits, st.sampled_from(["", "."]), digits, st.just("") | exponent)


@settings(max_examples=300, deadline=None)
@given(
    likely | any_number,
    st.sampled_from(["", "\t", "\n", " ", "\r\n", "x", ".", "-", "/", ":"]),
    st.text("0123456789. ", max_size=9),
)
def test_numbers_are_those_of_python(text, after, rest):
    whole = "a\t" + text + after + rest
    value, end, good = _parse_number(np.frombuffer(whole.encode(), np.uint8), 2)
    field = re.match(r"[^ \t\r\n]*", whole[2:])[0]
    try:
        expected = float(field)
    except ValueError:
        assert not good
        return
    assert good == (abs(expected) < 1e9)
    if good:
        assert value == pytest.approx(expected, rel=1e-15)
        assert end == 2 + len(field)
        if re.fullmatch(r"-?\d\.\d{1,8}", field):
            assert value == expected


@settings(max_examples=300, deadline=None)
@given(
    st.floats(-12, 0)
    | st.floats(-1e9, 1e9, exclude_min=True, exclude_max=True)
    | st.integers(-(10**9), 10**9).map(lambda tenths: tenths / 1e7)
)
def test_numbers_are_written_with_seven_decimals_at_most(value):
    text = np.zeros(40, np.uint8)
    written = text[: _format_number(value, text, 0)].tobytes().decode()
    assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d{0,6}[1-9])?", written)
    assert written != "-0"
    assert abs(float(written) - value) <= 5.1e-8 + abs(value) * 3e-16


def test_a_small_buffer_writes_the_same(tmp_path, monkeypatch):
    text = Sentences.encode([["a", "word-that-is-long", "b"], ["b", "é", "a"], ["a", "b"]])
    trie = estimate(text, LmSettings(order=3))
    write_arpa(tmp_path / "whole.arpa", trie)
    monkeypatch.setattr("camber.lm.arpa._BUFFER", 1)
    monkeypatch.setattr("camber.lm.arpa._AT_ONCE", 2)
    write_arpa(tmp_path / "pieces.arpa", trie)
    assert (tmp_path / "pieces.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()


number = st.floats(-9, 0).map(lambda value: round(value, 5))


@st.composite
def holey_models(draw):
    """Draw a model in which prefixes and suffixes of n-grams may be missing."""
    words = ["<s>", "</s>", "<unk>", "a", "b", "c"]
    model = {(word,): (draw(number), draw(number)) for word in words}
    inner = st.sampled_from(["<unk>", "a", "b", "c"])
    rows = st.tuples(
        st.sampled_from(["<s>", "a", "b", "c"]), st.lists(inner, max_size=2), st.sampled_from(["</s>", "a", "b", "c"])
    )
    for first, middle, last in draw(st.lists(rows, max_size=12)):
        gram = (first, *middle, last)
        model[gram] = (draw(number), draw(number) if len(gram) < 4 else 0.0)
    return model


@settings(max_examples=150, deadline=None)
@given(holey_models(), st.lists(st.lists(st.sampled_from("abcd"), max_size=7), min_size=1, max_size=4))
@pytest.mark.slow
def test_models_with_missing_prefixes_and_suffixes_give_the_textbook_probabilities(tmp_path_factory, model, text):
    order = max(map(len, model))
    path = tmp_path_factory.mktemp("holey") / "model.arpa"
    levels = [{gram: values for gram, values in model.items() if len(gram) == n} for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(level)}" for n, level in enumerate(levels, 1))]
    for n, level in enumerate(levels, 1):
        lines += ["", f"\\{n}-grams:", *(f"{p}\t{' '.join(gram)}\t{b}" for gram, (p, b) in level.items())]
    path.write_text("\n".join([*lines, "", "\\end\\", ""]), encoding="utf-8")
    compiled = NgramModel.read(path)
    scores, offsets = compiled.word_scores(text)
    expected = [score for line in text for score in backoff.score(model, order, line)]
    np.testing.assert_allclose(scores / np.log(10), expected, rtol=1e-6, atol=1e-6)
    assert offsets[-1] == len(scores)
