"""Messages of gettext, also as polib reads them."""

from __future__ import annotations

import struct
from pathlib import Path

import polib
import pytest
from formats.test_bilingual_tmx import read, texts
from hypothesis import given
from hypothesis import strategies as st

from camber.errors import InputError
from camber.formats.bilingual.po import entries_of
from camber.formats.bilingual.unit import FUZZY, NEW, OBSOLETE, TRANSLATED

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: fr\\n"\n'


def po(folder: Path, text: str, header: str = HEADER) -> Path:
    path = folder / "messages.po"
    path.write_text(header + "\n" + text, "utf-8")
    return path


def test_states_and_contexts_are_known(tmp_path: Path) -> None:
    path = po(
        tmp_path,
        '# note\n#: a.c:1\n#, fuzzy, c-format\n#| msgid "old"\nmsgid "a"\nmsgstr "x"\n\nmsgid "b"\nmsgstr ""\n'
        'msgctxt "menu"\nmsgid "c"\nmsgstr "z"\n#~ msgid "d"\n#~ msgstr "w"\n',
    )
    units, tally = read(path)
    assert [(unit.source.text, unit.state, unit.context) for unit in units] == [
        ("a", FUZZY, ""), ("b", NEW, ""), ("c", TRANSLATED, "menu"), ("d", OBSOLETE, ""),
    ]  # fmt: skip
    assert tally.handled == {"header": 1, "with a context": 1}
    assert [unit.line for unit in units] == [10, 13, 15, 18]


def test_each_form_of_a_plural_is_a_unit(tmp_path: Path) -> None:
    rule = HEADER + '"Plural-Forms: nplurals=3; plural=n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2;\\n"\n'
    text = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "x"\nmsgstr[1] "y"\nmsgstr[2] "z"\n'
    units, tally = read(po(tmp_path, text, rule))
    assert texts(units) == [("%d file", "x"), ("%d files", "z"), ("%d files", "y")]
    assert tally.handled["plurals"] == 1
    one = HEADER + '"Plural-Forms: nplurals=1; plural=0;\\n"\n'
    assert texts(read(po(tmp_path, text.split("msgstr[1]")[0], one))[0]) == [("%d files", "x")]


def test_a_text_on_several_lines_is_one_line(tmp_path: Path) -> None:
    path = po(tmp_path, 'msgid ""\n"a\\n"\n"b\\tc \\"d\\" \\\\ \\303\\251"\nmsgstr "x\u2028y ||| z"\n')
    assert texts(read(path)[0]) == [('a b c "d" \\ Ã©', "x y ||| z")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_ends_a_line(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.po"
    path.write_bytes('# x\nmsgid "a"\nmsgstr ""\n"x"\n\nmsgid "b"\nmsgstr "y"\n'.replace("\n", end).encode())
    assert texts(read(path)[0]) == [("a", "x"), ("b", "y")]


@pytest.mark.parametrize("charset", ["cp1251", "CHARSET"])
def test_the_encoding_is_what_it_is_or_what_the_header_names(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "a.po"
    text = f'msgid ""\nmsgstr "Content-Type: text/plain; charset={charset}\\n"\n\nmsgid "a"\nmsgstr "шум"\n'
    for encoding in {"utf-8", "utf-16", "utf-8" if charset == "CHARSET" else charset}:
        path.write_bytes(text.encode(encoding))
        assert texts(read(path, "en", "ru")[0]) == [("a", "шум")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('msgid "a"\nmsgstr "x\n', r":7: a quotation mark is not closed"),
        ('msgid "a"\nmsgstr "x" y\n', r":7: there is text behind"),
        ('msgid "a"\nmsgid "b"\nmsgid "c"\nmsgstr "x"\nfoo\n', r":10: no line of PO: 'foo'"),
        ('msgstr "x"\n', r":6: msgstr without msgid"),
        ('msgid "a"\nmsgstr "x"\nmsgstr "y"\n', r":8: msgstr twice"),
        ('msgctxt "a"\n\nmsgid "x"\n', r":6: an entry without msgid"),
    ],
)
def test_what_is_no_po_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(po(tmp_path, text))


def test_a_file_that_is_not_there_is_not_taken_for_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "missing.po")


_texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e"), max_size=60)


@given(st.lists(st.tuples(_texts.filter(bool), _texts, st.booleans(), st.one_of(st.none(), _texts)), max_size=4))
def test_what_polib_writes_is_read_as_it_was(entries: list[tuple[str, str, bool, str | None]]) -> None:
    file = polib.POFile(wrapwidth=30)
    for source, target, fuzzy, context in entries:
        flags = ["fuzzy"] if fuzzy else []
        file.append(polib.POEntry(msgid=source, msgstr=target, flags=flags, msgctxt=context))
    found = [entry for entry in entries_of(str(file), "x.po") if entry.line > 1 and not entry.is_header]
    assert [
        (entry.parts["msgid"].text, entry.parts["msgstr"].text, "fuzzy" in entry.flags,
         entry.parts["msgctxt"].text if "msgctxt" in entry.parts else None)
        for entry in found
    ] == entries  # fmt: skip


def _mo(folder: Path) -> Path:
    file = polib.POFile()
    file.metadata = {"Language": "fr", "Plural-Forms": "nplurals=2; plural=n>1;", "Content-Type": "x; charset=UTF-8"}
    file.append(polib.POEntry(msgid="a\\n\n", msgstr='x "y"'))
    file.append(polib.POEntry(msgid="b", msgstr="z", msgctxt="menu"))
    file.append(polib.POEntry(msgid="one", msgid_plural="many", msgstr_plural={0: "un", 1: "des"}))
    path = folder / "messages.mo"
    file.save_as_mofile(str(path))
    return path


def test_compiled_messages_are_read(tmp_path: Path) -> None:
    units, _ = read(_mo(tmp_path))
    assert sorted(texts(units)) == [("a\\n", 'x "y"'), ("b", "z"), ("many", "des"), ("one", "un")]
    assert [unit.context for unit in units if unit.source.text == "b"] == ["menu"]
    assert read(_mo(tmp_path), "en", "de")[0] == []


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (8, 10**6, "ends too early"),
        (12, 10**6, "ends too early"),
        (4, 77 << 16, "MO file"),
        (32, 10**7, "behind its end"),
    ],
)
def test_a_damaged_compiled_file_is_refused(tmp_path: Path, place: int, value: int, problem: str) -> None:
    path = _mo(tmp_path)
    data = bytearray(path.read_bytes())
    data[place : place + 4] = struct.pack("<I", value)
    path.write_bytes(data)
    with pytest.raises(InputError, match=problem):
        read(path)
    path.write_bytes(data[:10])
    with pytest.raises(InputError, match="ends too early"):
        read(path)
