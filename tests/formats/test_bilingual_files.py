"""Files are told by their content, packed or not; tables; languages; text without codes."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from adversary.bounds import bounded
from formats.test_bilingual_tmx import read, texts, tmx, tuv
from hypothesis import given
from hypothesis import strategies as st

from camber.errors import InputError
from camber.formats.bilingual.files import UNIT_FORMATS, UnitFormat, files_in, format_of, head_of
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import REVIEW, Tally
from camber.formats.xml import quoted


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<?xml version="1.0"?>\n<!-- <xliff> -->\n<!DOCTYPE tmx [<!ENTITY a "<b>">]>\n<tmx/>', "tmx"),
        ("\ufeff<xliff version='1.2'/>", "xliff"),
        ("<x:xliff xmlns:x='a'/>", "xliff"),
        ('# note\n\n#, fuzzy\nmsgid ""\nmsgstr ""\n', "po"),
        ("a\tb\nc\td\n", "table"),
        ("msgid and more\nof a text\n", "plain"),
        ("<b>bold</b> text\n", "plain"),
        ("", "plain"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_formats_are_told_by_content(text: str, name: str, encoding: str) -> None:
    assert format_of(head_of(text.encode(encoding), "file")) == name


def test_pieces_of_pages_are_told_by_their_name() -> None:
    text = b"<p>one<br>&eacute;t&eacute;</p>\n<p>two"
    assert [format_of(head_of(text, name)) for name in ("a.html", "A.HTM", "a.html.gz", "a.txt")] == [
        "html", "html", "html", "plain",
    ]  # fmt: skip
    assert format_of(head_of(b"<xliff/>", "a.html")) == "xliff"
    assert format_of(head_of(b"one", "a.htm")) == "html"


def test_damaged_archives_are_told_with_their_name(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a\u00e9.tsv", "a\tx\n")
    data = whole.getvalue()
    at = data.rindex("\u00e9".encode())
    damaged = [data[:at] + b"\xff" + data[at + 1 :], data[: len(data) // 2], data[:-1]]
    for method in (12, 14, 99):  # bzip2, LZMA, none that there is
        place = data.index(b"PK\x01\x02") + 10
        changed = bytearray(data)
        changed[8:10] = changed[place : place + 2] = method.to_bytes(2, "little")
        damaged.append(bytes(changed))
    for case in damaged:
        (tmp_path / "a.zip").write_bytes(case)
        with pytest.raises(InputError, match=r"a\.zip.*damaged or locked"):
            sum(1 for file in files_in(tmp_path / "a.zip") for _ in file.units(Languages("en", "fr"), Tally()))


def test_formats_of_other_packages_are_asked_before_those_that_take_any_text(
    install: Callable[[str, dict[str, str]], None],
) -> None:
    install("camber.unit_formats", {"notes": "formats.test_bilingual_files:NOTES"})
    assert format_of(head_of(b"NOTES\ta\n", "file")) == "notes"
    assert format_of(head_of(b"a\tb\n", "file")) == "table"


NOTES = UnitFormat(lambda head: head.text.startswith("NOTES"), lambda *_: iter(()))


@pytest.mark.parametrize(
    "data",
    [b"\n", b"# x\n", b" \t", b"\r", b"<!--", b"<?x", b"<!DOCTYPE a [", b"]>", b"'", b'"', b"a\t", b"#~ ", b"<a "],
)
def test_formats_are_told_soon_whatever_a_file_begins_with(data: bytes) -> None:
    for before in (b"", b"<", b"<!DOCTYPE x ", b"# ", b"msgid"):
        with bounded(1 << 16), suppress(InputError):
            assert format_of(head_of((before + data * 60_000)[: 1 << 16], "file")) in (*UNIT_FORMATS, "plain")


def test_packed_files_and_archives_are_told_by_content(tmp_path: Path) -> None:
    plain = tmx(tmp_path, tuv("en", "a") + tuv("fr", "x"))
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert texts(read(packed)[0]) == [("a", "x")]
    archive = tmp_path / "archive"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("in/memory.tmx", plain.read_bytes())
        out.writestr("__MACOSX/._memory.tmx", b"\0\1")
        out.writestr("b.tsv", "b\ty\n")
    assert texts(read(archive)[0]) == [("a", "x"), ("b", "y")]
    assert [file.path for file in files_in(archive)] == [f"{archive}/in/memory.tmx", f"{archive}/b.tsv"]


def test_what_else_is_in_an_archive_is_left_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        out.writestr("picture.png", b"\x89PNG\0\0")
        out.writestr("project.xml", '<?xml version="1.0"?><project/>')
        out.writestr("a.tsv", "a\tx\n")
    units, tally = read(tmp_path / "a.zip")
    assert texts(units) == [("a", "x")]
    assert tally.skipped == {"of another format": 2}
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(InputError, match="not a text"):
        read(tmp_path / "picture.png")


def test_archives_that_are_damaged_or_hold_too_much_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.tsv", "a\tb\n" * 100_000)
    data = archive.read_bytes()
    monkeypatch.setattr("camber.files.FREE_BYTES", 1000)
    with pytest.raises(InputError, match=r"a\.zip/a\.tsv: this zip file holds more than"):
        read(archive)
    archive.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="damaged or locked zip archive"):
        read(archive)
    monkeypatch.undo()
    archive.write_bytes(data[:60] + b"\xff\xff\xff" + data[63:])
    with pytest.raises(InputError, match="damaged or locked zip archive"):
        read(archive)
    with zipfile.ZipFile(archive, "w"):
        pass
    with pytest.raises(InputError, match="holds no files"):
        read(archive)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a\tx\nb\ty\n", [("a", "x"), ("b", "y")]),
        ('a "quoted" one\tx\n', [('a "quoted" one', "x")]),
        ('"a ""quoted"" one"\t"x"\n', [('a "quoted" one', '"x"')]),
        ('"""a"""\t"x"" y"\n', [('"a"', 'x" y')]),
        ('"a" and "b"\t""\na ""b"\t"x"" y\n', [('"a" and "b"', '""'), ('a ""b"', '"x"" y')]),
        ('\ufeffa,"x, y"\r\n"b\nc",z\r\n', [("a", "x, y"), ("b c", "z")]),
        ("a;x\nb;y\n", [("a", "x"), ("b", "y")]),
        ("fr\ten\tnote\nx\ta\tn\n", [("a", "x")]),
        ("id,target,source\n1,x,a\n", [("a", "x")]),
        ("source\ttarget\tsource language\ttarget language\na\tx\ten-GB\tfr\nb\ty\ten\tde\n", [("a", "x")]),
        ("\n\na\tx\n", [("a", "x")]),
    ],
)
def test_tables_with_and_without_header(tmp_path: Path, text: str, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path / "table.csv"
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes(text.removeprefix("\ufeff" if encoding == "utf-16" else "").encode(encoding))
        assert texts(read(path)[0]) == pairs


def test_states_in_tables_count(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("source\ttarget\tstatus\tauthor\na\tx\tneeds review\tAnna\n")
    units, _ = read(path)
    assert (units[0].state, units[0].author) == (REVIEW, "Anna")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tx\nb\n", r":2: 1 column, expected 2"),
        ("a\tx\nb\ty\tz\n", r":2: 3 columns, expected 2"),
        ("a\tx\ty\n", r":1: 3 columns without a header"),
        ("en\tde\na\tb\n", r":1: no column in fr"),
        ('a,"x\nb,y\n', r":1: not a table"),
        ("a\tx\nb\t\udcff\n", r":2: invalid UTF-8 \(byte 0xff\)"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=problem):
        read(path)


def test_other_xml_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<book><p>a</p></book>")
    with pytest.raises(InputError, match="root element book"):
        read(path)
    path.write_text('<?xml version="1.0"?><tbx/>')
    with pytest.raises(InputError, match="glossary"):
        read(path)
    path.write_bytes(bytes(range(200)))
    with pytest.raises(InputError, match="not a text"):
        read(path)


@given(st.text(st.sampled_from("a&<>\"'\n\r\t é")))
def test_attributes_are_written_as_the_standard_library_writes_them(value: str) -> None:
    assert quoted(value) == quoteattr(value)
