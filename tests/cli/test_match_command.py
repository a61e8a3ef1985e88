"""camber match, as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from camber.cli import cli
from camber.errors import CamberError, ModelError
from camber.files import read_lines, write_lines
from camber.model.translator import load
from camber.pipeline.add import add
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train


def run(*words: object, text: str = "") -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_training_pair_is_found_with_what_is_other_marked(hotel_model: Path, hotel_files: Path) -> None:
    source, target = (read_lines(hotel_files / f"train.{side}") for side in ("es", "en"))
    line = f"{source[0]} extra"
    assert f"100 %  {source[0]}\n" in run("match", hotel_model, text=source[0])
    assert "{+extra+}" in run("match", hotel_model, text=line)
    rows = [row.split("\t") for row in run("match", hotel_model, "--tsv", "--best", 1, text=line).splitlines()]
    ((number, percent, _, *pair),) = rows
    assert (number, pair) == ("1", [source[0], target[0]])
    assert 70 <= int(percent) < 100
    told = json.loads(run("match", hotel_model, "--json", text=line))
    assert told["matches"][0]["source"] == source[0]
    assert "".join(piece["line"] for piece in told["matches"][0]["difference"]) == line


def test_the_memory_knows_every_pair_of_the_training_once(hotel_model: Path, hotel_files: Path) -> None:
    pairs = set(zip(*(read_lines(hotel_files / f"train.{side}") for side in ("es", "en")), strict=True))
    assert json.loads(run("info", hotel_model, "--json"))["sizes"]["memory"] == len(pairs)
    model = load(hotel_model)
    for source, target in list(pairs)[:50]:
        assert (source, target) in [(match.source, match.target) for match in model.matches(source, 1.0, 20)]


def test_added_pairs_join_the_memory_and_come_first(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(hotel_model, tmp_path / "m"))
    line = read_lines(hotel_files / "train.es")[0]
    model = add(path, [line, "el zorbo está aquí"], ["a new one", "the blorp is here"])
    first, second = model.matches(line, 0.9, 2)
    assert (first.target, first.added, second.added) == ("a new one", True, False)
    assert model.matches("el zorbo está allí")[0].percent == 75


def test_a_model_without_a_memory_says_what_to_do(hotel_files: Path, tmp_path: Path, caplog) -> None:
    settings = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}, "memory": {"memory": False}})
    model = train(hotel_files / "dev.es", hotel_files / "dev.en", tmp_path / "m", held_out=0, settings=settings)
    assert not (tmp_path / "m" / "memory").exists()
    with pytest.raises(ModelError, match=r"no memory of its training .*; train it again"):
        model.matches("hola")
    model = add(tmp_path / "m", ["hola zorbo"], ["hi blorp"])
    assert [match.target for match in model.matches("hola zorbo")] == ["hi blorp"]
    assert "only added pairs" in caplog.text


def test_a_damaged_memory_is_told(hotel_model: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(hotel_model, tmp_path / "m"))
    file = path / "memory" / "words.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelError, match="checksum"):
        load(path)


def test_a_threshold_is_a_share(hotel_model: Path) -> None:
    for threshold in (0, 1.1, float("nan")):
        with pytest.raises(CamberError, match="expected a share"):
            load(hotel_model).matches("hola", threshold)


def test_lines_of_a_file_are_numbered(hotel_model: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "in", ["nothing like this xyz", ""])
    run("match", hotel_model, "--input", tmp_path / "in", "--output", tmp_path / "out")
    assert read_lines(tmp_path / "out") == ["1: nothing like this xyz", "2: "]
