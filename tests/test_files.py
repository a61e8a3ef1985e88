"""Files are read exactly, and every bad one is named with its line and a remedy."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.errors import InputError
from camber.files import (
    check_outputs,
    content_size,
    decode_lines,
    read_lines,
    read_parallel,
    words,
    write_lines,
    write_whole,
)


def test_plain_and_gzip_files_give_the_same_lines(tmp_path):
    data = "one\nzwei ü\n".encode()
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(data))
    (tmp_path / "misnamed").write_bytes(gzip.compress(data))
    for name in ("a.txt", "a.txt.gz", "misnamed"):
        assert read_lines(tmp_path / name) == ["one", "zwei ü"]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\ntwo", ["one", "two"]),
        ("a\u00a0b\u2028c\u2029d\x0ce\x85f\n".encode(), ["a\u00a0b\u2028c\u2029d\x0ce\x85f"]),
        (b"one\n\n  \ntwo\n", ["one", "", "  ", "two"]),
        (b"one\rstill one\n", ["one\rstill one"]),
        (b"\n", [""]),
        (b"no end", ["no end"]),
    ],
    ids=["crlf", "bom", "unicode separators", "blank lines", "lone cr", "one blank", "no final newline"],
)
def test_only_line_feeds_end_a_line(tmp_path, data, lines):
    path = tmp_path / "text"
    path.write_bytes(data)
    assert read_lines(path) == lines


def test_an_empty_file_is_an_error_that_names_it(tmp_path):
    for name, data in {"empty.txt": b"", "empty.gz": gzip.compress(b""), "bom.txt": b"\xef\xbb\xbf"}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=rf"{name}: the file is empty; give a file"):
            read_lines(tmp_path / name)


def test_invalid_utf8_is_an_error_that_names_file_and_line(tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"fine\nfine\ncaf\xe9 noir\n")
    with pytest.raises(InputError, match=r"latin1\.txt:3: invalid UTF-8 \(byte 0xe9\); convert") as caught:
        read_lines(path)
    assert caught.value.line == 3


def test_invalid_utf8_after_a_byte_order_mark_names_the_right_line(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\n\xff\n")
    with pytest.raises(InputError, match="text:2: "):
        read_lines(path)


def test_a_damaged_gzip_file_is_an_error_that_names_it(tmp_path):
    whole = gzip.compress(b"some text\n" * 1000)
    broken = bytearray(whole)
    broken[len(broken) // 2] ^= 0xFF
    for name, data in {"cut.gz": whole[:-10], "flipped.gz": bytes(broken), "short.gz": whole[:2]}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=rf"{name}: damaged gzip file"):
            read_lines(tmp_path / name)


def test_an_absent_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such file; check the path"):
        read_lines(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot be read"):
        read_lines(tmp_path)


def test_a_line_count_mismatch_names_both_counts_and_where_the_shorter_file_ends(tmp_path):
    write_lines(tmp_path / "a", ["1", "2", "3"])
    write_lines(tmp_path / "b", ["1", "2"])
    with pytest.raises(InputError, match=r"b:3: 3 lines in .*a but 2 in .*b: this file ends too early"):
        read_parallel(tmp_path / "a", tmp_path / "b")
    with pytest.raises(InputError, match=r"b:3: 2 lines in .*b but 3 in .*a"):
        read_parallel(tmp_path / "b", tmp_path / "a")
    with pytest.raises(InputError, match="b:3: "):
        read_parallel(tmp_path / "a", tmp_path / "a", tmp_path / "b")
    assert read_parallel(tmp_path / "a", tmp_path / "a") == [["1", "2", "3"]] * 2


def test_words_split_at_spaces_tabs_and_line_ends_only():
    assert words(" a \t b\u00a0c  \u2028 d\r") == ["a", "b\u00a0c", "\u2028", "d"]
    assert words("   ") == []


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")), min_size=1))
def test_written_lines_are_read_back(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("lines")
    lines[0] = lines[0].lstrip("\ufeff")  # at the very start of a file it is a byte-order mark
    for name in ("plain", "packed.gz"):
        write_lines(folder / name, lines)
        assert read_lines(folder / name) == lines


def test_gzip_output_has_the_same_bytes_every_time(tmp_path):
    write_lines(tmp_path / "a.gz", ["x"])
    write_lines(tmp_path / "b.gz", ["x"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")

    def half():
        with write_whole(path) as stream:
            stream.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"there is no such folder; make the folder .*absent"):
        write_lines(tmp_path / "absent" / "file", ["x"])
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot be written; check .*file"):
        write_lines(tmp_path / "file" / "below", ["x"])


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "there").write_text("old\n")
    (tmp_path / "link").symlink_to("folder/there")
    (tmp_path / "dangling").symlink_to("folder/new")
    for name, target in (("link", "there"), ("dangling", "new")):
        write_lines(tmp_path / name, ["new"])
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "folder" / target).read_text() == "new\n"
    assert sorted(os.listdir(tmp_path / "folder")) == ["new", "there"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / name).read_bytes()))
    reader.start()
    write_lines(tmp_path / name, ["x"])
    reader.join(10)
    assert (gzip.decompress(found[0]) if name.endswith("gz") else found[0]) == b"x\n"
    assert (tmp_path / name).is_fifo()
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(not Path("/dev/fd/1").exists(), reason="needs /dev/fd")
def test_devices_and_standard_output_are_written_to(tmp_path):
    # folders in which no file can be made: should this fail one day, it must not replace a device of the machine
    ours, theirs = os.openpty()
    device = os.ttyname(theirs)
    write_lines(device, ["x"])
    assert os.read(ours, 10).strip() == b"x"
    assert Path(device).is_char_device()
    os.close(ours)
    os.close(theirs)
    script = "from camber.files import write_lines; write_lines('/dev/fd/1', ['x'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"x\n"
    with open(tmp_path / "out", "wb") as stream:
        subprocess.run([sys.executable, "-c", script], stdout=stream, check=True)
        assert os.path.samestat(os.fstat(stream.fileno()), os.stat(tmp_path / "out"))  # written, not replaced
    assert (tmp_path / "out").read_text() == "x\n"


def test_places_for_outputs_can_be_checked_before_the_work(tmp_path):
    check_outputs(None, tmp_path / "new", tmp_path / "new.gz")
    with pytest.raises(InputError, match="it is a folder; give the name"):
        check_outputs(tmp_path / "new", tmp_path)
    with pytest.raises(InputError, match="it is a folder"):
        write_lines(tmp_path, ["x"])
    with pytest.raises(InputError, match="there is no such folder"):
        check_outputs(tmp_path / "absent" / "file")
    with pytest.raises(InputError, match="two different outputs"):
        check_outputs(tmp_path / "new", None, f"{tmp_path}/./new")
    check_outputs("/dev/null", "/dev/null")
    assert os.listdir(tmp_path) == []


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_give_lines_or_a_clear_error(data):
    try:
        lines = decode_lines(data, "file")
    except InputError as error:
        lines, broken = [], error.line
    else:
        broken = 1
    assert 1 <= broken <= data.count(b"\n") + 1
    assert all("\n" not in line for line in lines)


@pytest.mark.skipif(os.name == "nt", reason="other modes")
@pytest.mark.parametrize("name", ["plain", "packed.gz"])
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o000, 0o666), (0o077, 0o600)])
def test_written_files_have_the_modes_that_the_user_asks_for(tmp_path, name, mask, mode):
    before = os.umask(mask)
    try:
        for _ in range(2):  # new, and in the place of another
            write_lines(tmp_path / name, ["a"])
            assert (tmp_path / name).stat().st_mode & 0o777 == mode
        assert os.umask(mask) == mask  # and the mask is what it was
    finally:
        os.umask(before)


def test_what_a_file_holds_is_counted_unpacked(tmp_path):
    (tmp_path / "plain").write_bytes(b"a\n" * 7)
    (tmp_path / "packed").write_bytes(gzip.compress(b"a\n" * 2_000_000))
    assert content_size(tmp_path / "plain") == 14
    assert content_size(tmp_path / "packed") == 4_000_000
    assert content_size("/dev/null") == float("inf")  # nothing that could be read twice
