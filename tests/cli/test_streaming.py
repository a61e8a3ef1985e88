"""camber translate as a part of a pipe: answers as lines come, lists on the way, whole lines whatever happens."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import camber
from camber.cli.streams import LineWriter, count_lines, lines_of
from camber.errors import InputError
from camber.files import read_lines, write_lines

COMMAND = [sys.executable, "-c", "from camber.cli import main; main()", "--quiet", "translate"]


def run(*words: object, text: bytes = b"", code: int = 0) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([*COMMAND, *map(str, words)], input=text, capture_output=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done


class Conversation:
    """A running `camber translate`, to which one talks."""

    def __init__(self, *words: object, terminal: bool = False) -> None:
        ours, theirs = pty.openpty() if terminal else os.pipe()[::-1]
        self.ours = ours
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, words)], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        os.close(theirs)
        self._stop = threading.Timer(300, self.process.kill)
        self._stop.start()

    def ask(self, line: str) -> str:
        """Send a line, and return the answer, which must come before the input ends."""
        os.write(self.ours, line.encode() + b"\n")
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().removesuffix("\n")

    def end(self) -> int:
        os.close(self.ours)
        assert self.process.stdout is not None
        assert self.process.stdout.read() == b""
        self._stop.cancel()
        return self.process.wait(60)


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_is_answered_before_the_next_one_is_there(
    terminal: bool, hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    lines = read_lines(hotel_files / "test.es")[:5]
    flags = [] if terminal else ["--line-buffered"]
    talk = Conversation(hotel_model, *flags, "--threads", 1, terminal=terminal)
    answers = [talk.ask(line) for line in lines]
    if terminal:
        os.write(talk.ours, b"\x04")  # the end of what is typed
        assert talk.process.wait(60) == 0
    assert talk.end() == 0
    assert answers == camber.load(hotel_model).translate(lines)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["moses", "joshua", "jsonl", "tsv"])
@pytest.mark.parametrize("model", ["phrase", "hiero", "bins", "consensus"])
def test_lines_and_blocks_give_the_same_bytes_in_every_file(
    model: str, kind: str, hotel_files: Path, hotel_model: Path, hotel_hiero: Path, bins: Path, tmp_path: Path
) -> None:
    models: list[object] = {"phrase": [hotel_model], "hiero": [hotel_hiero], "bins": [bins],
                            "consensus": [hotel_model, hotel_hiero]}[model]  # fmt: skip
    memory = {"phrase": ["--fuzzy", 0.6], "bins": ["--fuzzy", 0.6], "hiero": ["--fuzzy", 1], "consensus": []}[model]
    lines = read_lines(hotel_files / "test.es")[:12]
    glossary = tmp_path / "terms.tsv"
    write_lines(glossary, ["llave\tlatchkey"])
    requests = tmp_path / "requests.jsonl"
    write_lines(requests, [json.dumps({"prefix": "The"} if number % 3 == 0 else {}) for number in range(len(lines))])
    outcomes = []
    for flags in ([], ["--line-buffered"]):
        folder = tmp_path / f"made{len(flags)}"
        folder.mkdir()
        text = "\n".join(lines).encode()
        done = run(
            *models, "--nbest", 3, "--nbest-file", folder / "list", "--nbest-format", kind, "--threads", 1,
            "--confidence", folder / "sure", "--alignment-file", folder / "links", "--glossary", glossary,
            "--constraints", requests, *memory, *flags, text=text,
        )  # fmt: skip
        outcomes.append({path.name: path.read_bytes() for path in folder.iterdir()} | {"output": done.stdout})
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0]) == {"list", "sure", "links", "output"}
    assert outcomes[0]["output"].count(b"\n") == len(lines)
    assert outcomes[0]["list"].count(b"\n") > len(lines)


@pytest.fixture(scope="session")
def bins(hotel_files: Path, hotel_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hotel's model with bins, which lists name only where some hypothesis has them."""
    out = tmp_path_factory.mktemp("bins") / "model"
    how: dict[str, Any] = {"bend": "bins", "bits": 3, "cautious": False, "iterations": 2, "nbest": 20, "tuner": "pro"}
    camber.tune_model(hotel_model, hotel_files / "dev.es", hotel_files / "dev.en", settings=how, out=out)
    return out


@pytest.mark.slow
def test_a_list_goes_into_a_pipe_while_lines_come(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    talk = Conversation(hotel_model, "--line-buffered", "--nbest", 2, "--nbest-file", pipe, "--threads", 1)
    with open(pipe, encoding="utf-8") as listed:
        for number, line in enumerate(read_lines(hotel_files / "test.es")[:3]):
            answer = talk.ask(line)
            first = listed.readline().split(" ||| ")
            assert first[:2] == [str(number), answer]
            while not listed.readline().startswith(f"{number} "):
                raise AssertionError("there are two candidates for every line")
        assert talk.end() == 0


@pytest.mark.slow
def test_a_reader_that_goes_away_has_whole_lines_and_leaves_no_file(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    many = tmp_path / "many"
    write_lines(many, read_lines(hotel_files / "train.es") * 20)
    words = [*COMMAND, str(hotel_model), "--input", str(many), "--nbest-file", str(tmp_path / "list")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as going:
        assert going.stdout is not None
        assert going.stderr is not None
        read = going.stdout.readline()
        going.stdout.close()
        assert going.wait(300) == 141
        assert going.stderr.read() == b""
    assert read.endswith(b"\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many"]


@pytest.mark.slow
def test_ctrl_c_leaves_whole_lines_on_output_and_no_file(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    lines = read_lines(hotel_files / "test.es")
    expected = "".join(line + "\n" for line in camber.load(hotel_model).translate(lines)).encode()
    many = tmp_path / "many"
    write_lines(many, lines * 500)
    words = [*COMMAND, str(hotel_model), "--input", str(many), "--nbest-file", str(tmp_path / "list")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as going:
        assert going.stdout is not None
        read = going.stdout.read(100)
        going.send_signal(signal.SIGINT)
        read += going.stdout.read()
        assert going.wait(300) == 130
    assert read.endswith(b"\n")
    assert (expected * 500).startswith(read)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many"]


def test_what_is_written_is_whole_lines_even_if_ctrl_c_comes_while_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupting:
        """An output in whose middle Ctrl-C is pressed."""

        written = ""

        def write(self, text: str) -> None:
            half = len(text) // 2
            self.written += text[:half]
            signal.raise_signal(signal.SIGINT)
            self.written += text[half:]

        def flush(self) -> None:
            pass

    out = Interrupting()
    monkeypatch.setattr(sys, "stdout", out)
    writer = LineWriter(at_once=True)
    with pytest.raises(KeyboardInterrupt):
        writer.write("one line\n")
    assert out.written == "one line\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_waits_is_written_when_an_error_ends_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        with LineWriter() as out:
            out.write("one line\n")
            raise ValueError("bad line")

    with pytest.raises(ValueError, match="bad line"):
        work()
    assert capsys.readouterr().out == "one line\n"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_lines_of_a_file_are_read_one_by_one_and_counted(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"text{ending}"
    write_lines(path, ["\ufeffone", "two\r", "", "four"])
    assert list(lines_of(path)) == ["one", "two", "", "four"]
    assert count_lines(path) == 4


def test_the_last_line_counts_without_its_end(tmp_path: Path) -> None:
    for text, count in (("", 0), ("one", 1), ("one\n", 1), ("one\ntwo", 2)):
        (tmp_path / "text").write_text(text)
        assert count_lines(tmp_path / "text") == count == len(list(lines_of(tmp_path / "text")))
    assert count_lines(None) is None


def test_a_bad_line_of_a_file_is_named_after_those_before_it_came(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"one\n\xff\n")
    lines = lines_of(tmp_path / "text")
    assert next(lines) == "one"
    with pytest.raises(InputError, match=r"text:2: invalid UTF-8 \(byte 0xff\)"):
        next(lines)
