"""What the command refuses before the work begins, and how it ends when the outside world fails it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from camber.cli import VERBS, cli
from camber.errors import CamberError
from camber.files import write_lines
from camber.model.directory import ModelDirectory, write_model

pytestmark = pytest.mark.slow

EXTRACT = ("--source", "s", "--target", "t", "--alignment", "a", "--out", "o")
COMMAND = [sys.executable, "-c", "from camber.cli import main; main()"]
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def process(*words: object, **keywords: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *map(str, words)], stderr=subprocess.PIPE, timeout=300, check=False, **keywords
    )  # fmt: skip


# --- refused before the work -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "flags", "out"),
    [
        ("align", ("--source", "none", "--target", "none"), "--out"),
        ("lm", ("--text", "none"), "--arpa"),
        ("translate", ("none",), "--output"),
        ("translate", ("none",), "--nbest-file"),
        ("translate", ("none",), "--alignment-file"),
        ("nbest-folds", ("--source", "none", "--target", "none"), "--out"),
        ("rerank", ("apply", "none", "--nbest", "none"), "--nbest-out"),
        ("rerank", ("apply", "none", "--nbest", "none"), "--output"),
    ],
)
def test_an_output_that_cannot_be_written_is_found_before_the_input_is_read(
    verb: str, flags: tuple[str, ...], out: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    for place, told in (
        (tmp_path, "it is a folder"),
        (tmp_path / "absent" / "x", "no such folder"),
        (tmp_path / "file" / "x", "cannot be written"),
    ):
        result = run(verb, *flags, out, place)
        assert isinstance(result.exception, CamberError), result.output
        assert told in str(result.exception)


@pytest.mark.parametrize(
    "words",
    [
        ("lm", "--text", "x", "--arpa", "x"),
        ("align", "--source", "y", "--target", "x", "--out", "x"),
        ("match", "m", "--input", "x", "--output", "x"),
        ("analyse", "m", "x", "--out", "x"),
        ("translate", "m", "--input", "x", "--nbest-file", "x"),
        ("translate", "m", "--input", "x", "--alignment-file", "x"),
        ("translate", "m", "--glossary", "x", "--output", "x"),
        ("rerank", "apply", "m", "--nbest", "x", "--output", "x"),
        ("rerank", "apply", "m", "--nbest", "y", "--source", "x", "--nbest-out", "x"),
        ("score", "--ref", "x", "y", "--report", "x"),
    ],
)
def test_no_output_takes_the_place_of_what_is_read(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("x")
    (tmp_path / "x").write_text("a line\n")
    for out in ("x", "link"):
        command = [tmp_path / word if len(word) == 1 else word for word in words[:-1]]
        result = run(*command, tmp_path / out)
        assert isinstance(result.exception, CamberError), result.output
        assert "would be overwritten" in str(result.exception)
    assert (tmp_path / "x").read_text() == "a line\n"


def test_a_folder_of_tables_that_cannot_be_made_is_found_before_the_input_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    flags = ("--source", "none", "--target", "none", "--alignment", "none", "--out")
    for place, told in (
        (tmp_path, "exists already"),
        (tmp_path / "file", "exists already"),
        (tmp_path / "file" / "below", "cannot be made"),
    ):
        result = run("extract", *flags, place)
        assert isinstance(result.exception, CamberError), result.output
        assert told in str(result.exception)


def test_models_that_do_something_else_are_not_replaced(hotel_model: Path, tmp_path: Path) -> None:
    with write_model(tmp_path / "reranker", "rerank") as draft:
        draft.path("weights.tsv").write_text("x\n")
    signature = ModelDirectory.open(hotel_model).signature
    for words in (
        ("rerank", "fit", "--nbest", "none", "--ref", "none", "--model", hotel_model),
        ("tune", hotel_model, "--dev-source", "none", "--dev-target", "none", "--out", tmp_path / "reranker"),
        ("train", "--source", "none", "--target", "none", "--model", tmp_path / "reranker"),
    ):
        result = run(*words)
        assert "must not replace" in str(result.exception), result.output
    assert ModelDirectory.open(hotel_model).signature == signature


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--no-tune", "--bend", "mnr"), "--bend makes no difference with --no-tune"),
        (("--no-tune", "--tuner", "pro"), "--tuner makes no difference with --no-tune"),
        (("--held-out", 0, "--iterations", 2), "--iterations makes no difference without a dev set"),
        (("--alignment", "a", "--nbest", 9), "--nbest makes no difference without a dev set"),
        (("--dev-source", "d", "--dev-target", "d", "--held-out", 9), "--held-out makes no difference with a dev set"),
        (("--alignment", "a", "--held-out", 9), "--held-out makes no difference with --alignment"),
        (("--alignment", "a", "--align-model", "quick"), "--align-model makes no difference with --alignment"),
        (("--lm", "f", "--lm-order", 3), "--lm-order makes no difference with --lm"),
    ],
)
def test_flags_of_training_that_make_no_difference_are_refused(
    flags: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    result = run("train", "--source", "s", "--target", "t", "--model", tmp_path / "m", *flags)
    assert result.exit_code == 2, result.output
    assert told in " ".join(result.output.split())
    assert list(tmp_path.iterdir()) == []


def test_a_tuner_that_cannot_fit_bins_is_refused_before_the_work(hotel_files: Path, tmp_path: Path) -> None:
    files = ("--source", hotel_files / "train.es", "--target", hotel_files / "train.en")
    result = run("train", *files, "--model", tmp_path / "m", "--bend", "mnr", "--tuner", "mert")
    assert "mert cannot fit the bins" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (("lm", "--text", "t", "--arpa", "a", "--order", 20), "--order"),
        (("train", "--source", "s", "--target", "t", "--model", "m", "--lm-order", 20), "--lm-order"),
        (("train", "--source", "s", "--target", "t", "--model", "m", "--beta", -1), "--beta"),
        (("tune", "m", "--dev-source", "s", "--dev-target", "t", "--beta", "nan"), "--beta"),
        (("align", "--source", "s", "--target", "t", "--out", "o", "--threads", -1), "--threads"),
        (("translate", "m", "--threads", -1), "--threads"),
        (("extract", *EXTRACT, "--max-phrase-length", 0), "--max-phrase-length"),
        (("extract", *EXTRACT, "--max-phrase-length", 99), "--max-phrase-length"),
        (("lm", "--text", "t", "--arpa", "a", "--prune", "x"), "--prune"),
        (("train", "--source", "s", "--target", "t", "--model", "m", "--lm-prune", "x"), "--lm-prune"),
    ],
)  # fmt: skip
def test_a_number_out_of_its_range_is_wrong_usage_that_names_the_flag(words: tuple[object, ...], flag: str) -> None:
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert flag in result.output.split("Error:")[1]
    assert "Settings." not in result.output


def test_help_shows_the_range_of_a_number() -> None:
    assert "1<=x<=6" in run("lm", "--help").output


def test_training_says_where_the_model_is(tmp_path: Path) -> None:
    for name, lines in (("s", ["x y", "x"]), ("t", ["a b", "a"])):
        write_lines(tmp_path / name, lines)
    model = tmp_path / "my model"
    done = process("train", "--source", tmp_path / "s", "--target", tmp_path / "t", "--model", model)
    assert done.returncode == 0
    assert done.stderr.decode().splitlines()[-1] == f"model: {model}; translate with: camber translate '{model}'"


# --- when the outside world fails --------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("words", [("info",), ("--help",), ("info", "--help"), ("translate",)])
def test_a_reader_that_is_gone_ends_the_command_quietly(words: tuple[str, ...], hotel_model: Path) -> None:
    more = (hotel_model,) if words[-1] in VERBS else ()
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = process("--quiet", *words, *more, stdout=theirs, input=b"La llave.\n")
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("verb", ["info", "translate"])
def test_a_full_disk_behind_standard_output_is_a_clear_error(verb: str, hotel_model: Path) -> None:
    with open("/dev/full", "wb") as full:  # never named as an output: it must stay what it is
        done = process("--quiet", verb, hotel_model, stdout=full, input=b"La llave.\n")
    assert (done.returncode, done.stderr) == (1, b"camber: the disk is full; make room and try again\n")


@posix
@pytest.mark.parametrize("bytes_", [300, 3000, 20000, 60000])
def test_files_that_do_not_fit_are_a_clear_error_and_leave_nothing(
    bytes_: int, hotel_files: Path, tmp_path: Path
) -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))

    files = ("--source", hotel_files / "train.es", "--target", hotel_files / "train.en")
    done = process(
        "--quiet", "train", *files, "--model", tmp_path / "m", "--no-tune", "--no-keep-work", preexec_fn=limited,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    told = done.stderr.decode().splitlines()
    assert told[-1].startswith("camber: ")
    assert "Traceback" not in done.stderr.decode()
    assert not (tmp_path / "m").exists()
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


@posix
def test_streams_that_are_closed_are_told_or_do_without(hotel_model: Path, tmp_path: Path) -> None:
    """A closed stream has no number, and the next file that is opened would get it."""

    def without(numbers: tuple[int, ...], *words: object) -> subprocess.CompletedProcess[bytes]:
        return process(*words, stdout=subprocess.PIPE, preexec_fn=lambda: [os.close(number) for number in numbers])

    told = b"camber: standard input or output is closed; give a file, or /dev/null\n"
    (tmp_path / "text").write_text("La llave.\n", "utf-8")
    expected = run("translate", hotel_model, "--input", tmp_path / "text").stdout.encode()
    silent = without((2,), "translate", hotel_model, "--input", tmp_path / "text")
    assert (silent.returncode, silent.stdout) == (0, expected)
    for numbers, words in (((1,), ("info", hotel_model)), ((0,), ("translate", hotel_model)), ((0, 1), ("--help",))):
        done = without(numbers, *words)
        assert (done.returncode, done.stderr) == (1, told), done.stderr
    done = without((0, 1, 2), "translate", hotel_model, "--input", tmp_path / "text", "--output", tmp_path / "out")
    assert done.returncode == 0
    assert (tmp_path / "out").read_bytes() == expected
