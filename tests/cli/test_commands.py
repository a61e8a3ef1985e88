"""The command `camber`, as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from camber.cli import VERBS, cli
from camber.files import read_lines
from camber.nbest.nbest import NBest

pytestmark = pytest.mark.slow


def camber(*words: object, text: str | bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    data = text.encode() if isinstance(text, str) else text
    command = [sys.executable, "-c", "from camber.cli import main; main()", *map(str, words)]
    return subprocess.run(command, input=data, capture_output=True, timeout=300, check=False)


def test_help_is_quick_because_it_imports_no_compiler() -> None:
    script = "import sys\nfrom camber.cli import cli\n"
    script += (
        "try:\n    cli(['--help'])\nexcept SystemExit:\n    pass\nprint('numba' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(verb: str) -> None:
    done = camber(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(b"Usage:")


def test_wrong_usage_is_code_2_and_a_users_error_is_code_1_without_a_traceback(tmp_path: Path) -> None:
    wrong = camber("translate")
    assert wrong.returncode == 2
    absent = camber("translate", tmp_path / "nothing")
    assert absent.returncode == 1
    assert b"no such model" in absent.stderr
    assert b"Traceback" not in wrong.stderr + absent.stderr
    assert camber("fly").returncode == 2


def test_standard_input_to_standard_output_line_by_line(hotel_model: Path) -> None:
    done = camber("translate", hotel_model, text="La llave, por favor.\r\n\nLa llave, por favor.")
    assert done.returncode == 0
    lines = done.stdout.decode().split("\n")
    assert len(lines) == 4
    assert lines[0] == lines[2] != ""
    assert lines[1] == lines[3] == ""


def test_bad_utf8_on_standard_input_names_the_line(hotel_model: Path) -> None:
    done = camber("translate", hotel_model, text=b"La llave.\n\xff\xfe\n")
    assert done.returncode == 1
    assert b"standard input:2" in done.stderr
    assert b"Traceback" not in done.stderr


def test_files_n_best_lists_and_alignments_are_written(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    for kind in ("moses", "jsonl"):
        done = camber(
            "--quiet", "translate", hotel_model, "--input", hotel_files / "test.es", "--output", tmp_path / "out",
            "--nbest", 5, "--nbest-file", tmp_path / kind, "--nbest-format", kind,
            "--alignment-file", tmp_path / "links", "--threads", 1,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        nbest = NBest.read(tmp_path / kind)
        assert len(nbest) == len(read_lines(tmp_path / "out")) == len(read_lines(tmp_path / "links")) == 40
        assert nbest.hypotheses > 100
        assert nbest.scores is not None
        assert (nbest.scores[:-1] >= nbest.scores[1:] - 1e-9)[: nbest.sentence_offsets[1] - 1].all()


def test_an_n_best_list_without_a_file_is_wrong_usage(hotel_model: Path) -> None:
    assert camber("translate", hotel_model, "--nbest", 5).returncode == 2


def test_nothing_half_written_remains_after_an_error(hotel_model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"La llave.\n\xff\n")
    done = camber("translate", hotel_model, "--input", tmp_path / "in", "--output", tmp_path / "out")
    assert done.returncode == 1
    assert b"in:2: invalid UTF-8" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_train_from_the_command_line_with_a_config_that_flags_override(hotel_files: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('[lm]\norder = 2\n[align]\nmodel = "quick"\n[rules]\nmax_phrase_length = 3\n')
    done = camber(
        "train", "--source", hotel_files / "dev.es", "--target", hotel_files / "dev.en", "--model", tmp_path / "m",
        "--config", tmp_path / "c.toml", "--max-phrase-length", 4, "--held-out", 0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    info = camber("info", tmp_path / "m", "--json", "--verify")
    facts = json.loads(info.stdout)
    assert facts["settings"]["lm"]["order"] == facts["sizes"]["lm_order"] == 2
    assert facts["settings"]["rules"]["max_phrase_length"] == 4
    assert facts["settings"]["align"]["model"] == "quick"
    assert not {"hiero", "chart", "sparse", "graph"} & set(facts["settings"])  # of other methods
    shown = camber("info", tmp_path / "m")
    assert facts["signature"].encode() in shown.stdout


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        (b"a\nb\n", b"a\n", b"ends too early"),
        (b"", b"", b"the file is empty"),
        (b"a\n\xe9\n", b"a\nb\n", b"s:2: invalid UTF-8"),
        (b"\x1f\x8bgarbage", b"a\n", b"damaged gzip"),
    ],
)
def test_a_bad_corpus_is_an_error_that_names_file_and_line(
    tmp_path: Path, source: bytes, target: bytes, told: bytes
) -> None:
    (tmp_path / "s").write_bytes(source)
    (tmp_path / "t").write_bytes(target)
    done = camber("train", "--source", tmp_path / "s", "--target", tmp_path / "t", "--model", tmp_path / "m")
    assert done.returncode == 1
    assert told in done.stderr
    assert str(tmp_path / "t" if told == b"ends too early" else tmp_path / "s").encode() in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_tuning_from_the_command_line_writes_another_model(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    done = camber(
        "tune", hotel_model, "--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en",
        "--out", tmp_path / "tuned", "--tuner", "pro", "--iterations", 2, "--nbest", 10, "--json",
        "--report", tmp_path / "report.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    page = (tmp_path / "report.html").read_text("utf-8")
    for title in ("Learning curves", "Scores", "Lengths", "tuned against before", "Weights"):
        assert f"<h2>{title}</h2>" in page
    rounds = (tmp_path / "tuned" / "rounds.tsv").read_text().splitlines()[1:]
    assert [[float(value) for value in line.split("\t")[2:4]] for line in rounds] == found["rounds"][0]
    assert len(found["rounds"][0]) == 2
    facts = json.loads(camber("info", tmp_path / "tuned", "--json").stdout)
    assert facts["weights"] == found["weights"]
    assert facts["settings"]["tune"]["tuner"] == "pro"


@pytest.mark.parametrize("words", [("tokenize", "--lang", "en"), ("detokenize", "--lang", "en"), ("translate",)])
def test_nothing_is_a_text_too_from_a_file_and_from_a_pipe(
    words: tuple[str, ...], hotel_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").write_bytes(b"")
    verb, *flags = words
    arguments = [verb, *([str(hotel_model)] if verb == "translate" else flags)]
    for more in ([], ["--input", str(tmp_path / "empty")]):
        done = CliRunner().invoke(cli, ["--quiet", *arguments, *more], input=b"")
        assert (done.exit_code, done.stdout) == (0, "")


def test_a_reader_that_goes_away_is_no_error(hotel_files: Path, hotel_model: Path) -> None:
    command = f'"{sys.executable}" -c "from camber.cli import main; main()" --quiet translate "{hotel_model}"'
    done = subprocess.run(
        f'{command} < "{hotel_files / "train.es"}" | head -1', shell=True, capture_output=True, timeout=300, check=True
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
