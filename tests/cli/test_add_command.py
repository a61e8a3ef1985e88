"""camber add, as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from camber.cli import cli
from camber.files import write_lines


@pytest.fixture
def model(hotel_model: Path, tmp_path: Path) -> Path:
    write_lines(tmp_path / "new.es", ["La llave, por favor.", "el zorbo está aquí ."])
    write_lines(tmp_path / "new.en", ["The key -- please!", "the blorp is here ."])
    return Path(shutil.copytree(hotel_model, tmp_path / "m"))


def run(*words: object, text: str = "") -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_added_pairs_are_told_by_info_and_used_by_translate(model: Path, tmp_path: Path) -> None:
    assert "added_pairs" not in json.loads(run("info", model, "--json"))["sizes"]
    for _ in range(2):  # as after a kill: the second call finds that all is done
        run("--quiet", "add", model, "--source", tmp_path / "new.es", "--target", tmp_path / "new.en")
    assert json.loads(run("info", model, "--json"))["sizes"]["added_pairs"] == 2
    assert "added_pairs" in run("info", model, "--verify")
    out = run("translate", model, text="La llave, por favor.\n¿Dónde está el zorbo?\n").splitlines()
    assert out[0] == "The key -- please!"
    assert "blorp" in out[1]


def test_an_n_best_file_holds_every_derivation_once(model: Path, tmp_path: Path) -> None:
    run("--quiet", "add", model, "--source", tmp_path / "new.es", "--target", tmp_path / "new.en")
    options = "--nbest", 4, "--nbest-file", tmp_path / "nbest", "--alignment-file", tmp_path / "links"
    run("translate", model, *options, text="La llave, por favor.\nla llave\n")
    lines = [line for line in (tmp_path / "nbest").read_text("utf-8").splitlines() if line.startswith("0 ")]
    assert len(lines) == len(set(lines)) >= 3
    # a recalled text has no links: those of the decoder's own translation would point anywhere
    first, second = (tmp_path / "links").read_text("utf-8").split("\n")[:2]
    assert first == ""
    assert second
