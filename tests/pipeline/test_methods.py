"""Methods of training: ours, and those of other packages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import camber
from camber.align.pharaoh import Alignment
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.cli.train import command
from camber.corpus import Bitext
from camber.engine import Engine
from camber.pipeline.methods import METHODS
from camber.pipeline.methods.phrase import PhraseMethod
from camber.pipeline.settings import SHARED, STAGES, WEIGHED, TrainSettings
from camber.pipeline.train import train


class OneToOne(PhraseMethod):
    """A method of another package: phrase pairs from the first link of every pair."""

    name = "first-links"
    tables = ("decode",)

    def make_rules(
        self,
        bitext: Bitext,
        alignment: Alignment,
        settings: TrainSettings,
        engine: Engine,
        folder: Path,
        scratch: Scratch = UNLIMITED,
    ) -> None:
        first = Alignment.from_pairs([[tuple(links[0].tolist())] if len(links) else [] for links in alignment])
        super().make_rules(bitext, first, settings, engine, folder, scratch)


METHOD = OneToOne()


@pytest.fixture
def first_links(monkeypatch: pytest.MonkeyPatch, install: Callable[[str, dict[str, str]], None]) -> str:
    monkeypatch.setitem(sys.modules, "first_links", sys.modules[__name__])
    install("camber.methods", {"first-links": "first_links:METHOD"})
    return "first-links"


def test_every_table_of_settings_is_shared_or_of_a_method() -> None:
    tables = [table for name in METHODS for table in METHODS.load(name).tables]
    assert not set(tables) & {*SHARED, *WEIGHED}
    assert {*SHARED, *WEIGHED, *tables} == set(STAGES)


def test_our_methods_are_named_as_they_are_registered() -> None:
    assert [METHODS.load(name).name for name in METHODS] == list(METHODS)
    assert all(METHODS.help(name) for name in METHODS)


def test_another_package_brings_a_method(first_links: str, hotel_files: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}})
    files = hotel_files / "train.es", hotel_files / "train.en"
    model = train(*files, tmp_path / "m", method=first_links, tuned=False, settings=settings)
    assert model.directory is not None
    assert model.directory.kind == "phrase"
    assert camber.load(tmp_path / "m").translate(["la llave"]) == model.translate(["la llave"])


def test_the_command_offers_the_methods_of_other_packages(first_links: str, hotel_files: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, ["--help"]).output.replace("\n", "")
    assert "[phrase|hiero|kernel|sparse|first-links]" in shown
    files = ["--source", str(hotel_files / "train.es"), "--target", str(hotel_files / "train.en")]
    told = CliRunner().invoke(command, [*files, "--model", str(tmp_path / "m"), "--method", "other"])
    assert told.exit_code == 2
    assert "'other' is not one of 'phrase', 'hiero', 'kernel', 'sparse', 'first-links'." in told.output
    told = CliRunner().invoke(
        command, [*files, "--model", str(tmp_path / "m"), "--method", first_links, "--max-phrase-length", "3"]
    )
    assert told.exit_code == 2
    assert "--max-phrase-length makes no difference to --method first-links" in told.output
