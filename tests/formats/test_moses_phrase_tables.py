"""Moses' phrase and reordering tables, in and out."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import camber.formats.moses.phrase_table
import camber.formats.moses.phrase_table_writing
from camber.align.pharaoh import Alignment
from camber.corpus import Bitext
from camber.errors import InputError
from camber.formats.moses.phrase_table import read_moses
from camber.formats.moses.phrase_table_writing import PHRASE_TABLE, REORDERING_TABLE, format_numbers, write_moses
from camber.rules.phrase.extraction import extract

ANCHORS = Path(__file__).resolve().parents[2].parent / "shared" / "anchors" / "moses"

TABLE = """\
a b ||| x ||| 0.5 0.25 1 1e-05 ||| 0-0 1-0 ||| 2 1 1 ||| |||
a ||| x ||| 0.5 0.1 0.25 0.2 ||| 0-0 ||| 2 4 1 ||| |||
a ||| y z ||| 1 0.1 0.75 0.3 ||| 0-1 ||| 3 4 3 ||| |||
"""
REORDERING = """\
a b ||| x ||| 0.6 0.2 0.2 0.2 0.2 0.6
a ||| x ||| 0.2 0.6 0.2 0.6 0.2 0.2
a ||| y z ||| 0.1 0.2 0.7 0.3 0.3 0.4
"""


def read(tmp_path, table, reordering=None):
    (tmp_path / "phrases").write_text(table, encoding="utf-8", newline="")
    if reordering is not None:
        (tmp_path / "reordering").write_text(reordering, encoding="utf-8", newline="")
    return read_moses(tmp_path / "phrases", tmp_path / "reordering" if reordering is not None else None)


def rows(store):
    return [
        (" ".join(store.source(p)), " ".join(store.target(r)), store.scores[r].tolist())
        for p in range(store.phrases)
        for r in store.rules(p)
    ]


def test_a_table_is_read_with_everything_in_it(tmp_path):
    store = read(tmp_path, TABLE, REORDERING)
    assert [row[:2] for row in rows(store)] == [("a", "y z"), ("a", "x"), ("a b", "x")]
    assert store.scores[2].tolist() == np.float32([0.5, 0.25, 1, 1e-5]).tolist()
    assert store.counts.tolist() == [[3, 3], [2, 1], [2, 1]]
    assert store.source_counts.tolist() == [4, 1]
    assert store.links.tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]
    assert store.link_offsets.tolist() == [0, 1, 2, 4]
    assert store.reordering[0].tolist() == np.float32([0.1, 0.2, 0.7, 0.3, 0.3, 0.4]).tolist()
    assert store.max_phrase_length == 2


@pytest.mark.parametrize(
    "line",
    [
        "a ||| x ||| 1 1 1 1",
        "a ||| x ||| 1 1 1 1 |||",
        "a ||| x ||| 1 1 1 1 ||| |||",
        "a ||| x ||| 1 1 1 1 ||| ||| |||",
        "a ||| x ||| 1 1 1 1 |||  |||",
        "a  |||  x ||| 1 1 1 1\r",
        "a ||| x ||| 1 1 1 1 ||| ||| ||| {{Tree}} ||| more",
    ],
)
def test_alignments_and_counts_may_be_missing_and_more_fields_are_passed_over(tmp_path, line):
    store = read(tmp_path, line + "\n")
    assert rows(store) == [("a", "x", [1.0] * 4)]
    assert (store.links.shape, store.counts.tolist(), store.has_reordering) == ((0, 2), [[0, 0]], False)


def test_old_tables_without_the_joint_count_get_it_from_the_probability(tmp_path):
    store = read(tmp_path, "a ||| x ||| 0.5 1 0.75 1 ||| 0-0 ||| 6 4\n")
    assert (store.counts.tolist(), store.source_counts.tolist()) == ([[6, 3]], [4])


def test_a_no_break_space_is_part_of_a_word(tmp_path):
    store = read(tmp_path, "10\u00a0000 b ||| x\u2028y ||| 1 1 1 1\n")
    assert store.source(0) == ["10\u00a0000", "b"]
    assert store.target(0) == ["x\u2028y"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a ||| x", r"phrases:2: .*not a rule.*source \|\|\| target"),
        (" ||| x ||| 1 1 1 1", "phrases:2: .*not a rule"),
        ("", "phrases:2: .*not a rule"),
        ("a ||| x ||| 1 1 1", "phrases:2: 3 numbers, expected 4.*p_s_given_t"),
        ("a ||| x ||| 1 1 1 1 2.718", "phrases:2: 5 numbers, expected 4"),
        ("a ||| x ||| 1 1 one 1", "phrases:2: 'one' is not a number"),
        ("a ||| x ||| 1 nan 1 1", "phrases:2: 'nan' is not a number"),
        ("a ||| x ||| 1 -0.5 1 1", "phrases:2: -0.5 is not a probability.*not logarithms"),
        ("a ||| x ||| 1 1 1 1 ||| 0-0 0:1", "phrases:2: '0:1' is not a link"),
        ("a ||| x ||| 1 1 1 1 ||| 0-1", "phrases:2: link 0-1 lies outside"),
        ("a ||| x ||| 1 1 1 1 ||| 0-0 ||| 1", "phrases:2: 1 counts, expected 3"),
        ("a ||| x ||| 1 1 1 1 ||| 0-0 ||| 1 x 1", "phrases:2: 'x' is not a number"),
        ("q ||| q ||| 1 1 1 1 ||| 0-0 ||| 1 1 1", "phrases:2: this phrase pair was there before"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, f"q ||| q ||| 1 1 1 1 ||| 0-0 ||| 1 1 1\n{line}\n")


def test_a_bad_reordering_table_is_named(tmp_path):
    with pytest.raises(InputError, match=r"'a' \|\|\| 'y z' has no line in .*reordering"):
        read(tmp_path, TABLE, "".join(REORDERING.splitlines(keepends=True)[:2]))
    with pytest.raises(InputError, match="reordering:3: 3 numbers, expected 6"):
        read(tmp_path, TABLE, REORDERING.replace(" 0.3 0.3 0.4", ""))
    with pytest.raises(InputError, match="no line in"):
        read(tmp_path, TABLE, "")
    with pytest.raises(InputError, match="the phrase table is empty"):
        read(tmp_path, "")


def test_lines_of_other_phrases_in_the_reordering_table_do_no_harm(tmp_path):
    more = read(tmp_path, TABLE, "zebra ||| x ||| 1 0 0 1 0 0\n" + REORDERING + "a ||| zebra ||| 1 0 0 1 0 0\n")
    assert np.array_equal(more.reordering, read(tmp_path, TABLE, REORDERING).reordering)


@pytest.mark.slow
def test_a_written_table_is_what_was_read(tmp_path):
    write_moses(read(tmp_path, TABLE, REORDERING), tmp_path)
    assert gzip.decompress((tmp_path / PHRASE_TABLE).read_bytes()).decode() == TABLE
    assert gzip.decompress((tmp_path / REORDERING_TABLE).read_bytes()).decode() == REORDERING


def test_the_same_rules_are_written_as_the_same_bytes(tmp_path):
    store = read(tmp_path, TABLE, REORDERING)
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        contents.append([path.read_bytes() for path in write_moses(store, tmp_path / name)])
    assert contents[0] == contents[1]


def test_tables_larger_than_the_buffers_are_read_and_written(tmp_path, monkeypatch):
    lines = [f"w{n} ||| {'x' * n}é{n} ||| 1 0.5 1 0.25 ||| 0-0 ||| 1 1 1 ||| |||\n" for n in range(300)]
    monkeypatch.setattr(camber.formats.moses.phrase_table, "_SLOTS", 8)
    monkeypatch.setattr(camber.formats.moses.phrase_table_writing, "_BUFFER", 100)
    store = read(tmp_path, "".join(lines))
    write_moses(store, tmp_path)
    assert gzip.decompress((tmp_path / PHRASE_TABLE).read_bytes()).decode() == "".join(sorted(lines))


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "latin").write_bytes(TABLE.encode() + "é ||| x ||| 1 1 1 1\n".encode("latin-1"))
    with pytest.raises(InputError, match="latin:4: invalid UTF-8"):
        read_moses(tmp_path / "latin")


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1) | st.floats(0, 1e-300), st.sampled_from([".6g", ".17g", "f", "e", ".30f"]))
def test_numbers_are_read_as_python_reads_them(tmp_path_factory, value, form):
    path = tmp_path_factory.mktemp("table") / "t"
    path.write_text(f"a ||| x ||| {value:{form}} 1 1 1\n")
    assert read_moses(path).scores[0, 0] == pytest.approx(np.float32(f"{value:{form}}"), rel=1e-6, abs=1e-44)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "ab", "a-", "a\x01", "é", "}", "~", "|", "\U0001f600"]), min_size=1, max_size=5),
        min_size=1,
        max_size=6,
    )
)
def test_lines_are_sorted_by_their_bytes_and_read_back(tmp_path_factory, sentences):
    folder = tmp_path_factory.mktemp("tables")
    links = Alignment.from_pairs([[(i, i) for i in range(len(sentence))] for sentence in sentences])
    store = extract(Bitext.encode(sentences, [sentence[::-1] for sentence in sentences]), links)
    write_moses(store, folder)
    lines = gzip.decompress((folder / PHRASE_TABLE).read_bytes()).splitlines(keepends=True)
    assert len(lines) == len(store)
    assert lines == sorted(lines)
    back = read_moses(folder / PHRASE_TABLE, folder / REORDERING_TABLE)
    escaped = {tuple(" ".join(side).replace("|", "&#124;") for side in row[:2]) for row in _pairs(store)}
    assert {(row[0], row[1]) for row in rows(back)} == escaped


def _pairs(store):
    return [(store.source(p), store.target(r)) for p in range(store.phrases) for r in store.rules(p)]


@settings(max_examples=400, deadline=None)
@given(st.floats(0, 1e9, width=32) | st.floats(0, 1, width=32) | st.integers(0, 149).map(lambda k: 2.0**-k))
def test_numbers_are_written_as_c_writes_them(value):
    assert format_numbers([value]) == [f"{np.float32(value).item():g}"]


@pytest.mark.slow
@pytest.mark.skipif(not ANCHORS.exists(), reason="Moses' tables are not here")
def test_moses_own_tables_are_written_as_they_were_read(tmp_path):
    store = read_moses(ANCHORS / PHRASE_TABLE, ANCHORS / REORDERING_TABLE)
    write_moses(store, tmp_path)
    for name in (PHRASE_TABLE, REORDERING_TABLE):
        assert gzip.decompress((tmp_path / name).read_bytes()) == gzip.decompress((ANCHORS / name).read_bytes())
    again = read_moses(tmp_path / PHRASE_TABLE, tmp_path / REORDERING_TABLE)
    for item in dataclasses.fields(store):
        left, right = getattr(store, item.name), getattr(again, item.name)
        assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right, item.name
