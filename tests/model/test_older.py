"""Models of older formats are read in today's terms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import camber
from camber.features.feature import PROBABILITY
from camber.features.weights import Weights
from camber.files import read_lines
from camber.model import directory as module
from camber.model.directory import ModelDirectory, write_model
from camber.model.translator import Translator
from camber.rules.hiero.extraction import HieroSettings

pytestmark = pytest.mark.slow


def with_tight_edges(path: Path, place: Path, *, told: bool = True) -> Translator:
    """Write a hierarchical model as one with tight edges, which perhaps does not say so."""
    directory = ModelDirectory.open(path)
    settings = {**directory.settings}
    settings["hiero"] = {name: value for name, value in settings["hiero"].items() if name != "edges"}
    if told:
        settings["hiero"]["edges"] = "tight"
    with write_model(place, "hiero", settings) as draft:
        draft.take_folder(path)
        draft.sizes |= directory.sizes
    return camber.load(place)


def written_as_format_1(
    model: Translator, weights: Weights, place: Path, monkeypatch: pytest.MonkeyPatch, *, logarithms: bool
) -> Translator:
    """Write a hierarchical model as the first format had it."""
    assert model.directory is not None
    monkeypatch.setattr(module, "FORMAT", 1)
    settings = {**model.directory.settings}
    settings["hiero"] = {name: value for name, value in settings["hiero"].items() if name != "edges"}
    settings["hiero"]["logarithms"] = logarithms
    with write_model(place, "hiero", settings) as draft:
        draft.take_folder(model.directory.path)
        weights.write(draft.path("weights.tsv"))
        draft.sizes |= model.directory.sizes
    monkeypatch.undo()
    assert ModelDirectory.open(place).format == 1
    return camber.load(place)


def test_costs_to_the_base_10_become_natural_logarithms(
    hotel_hiero: Path, hotel_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = with_tight_edges(hotel_hiero, tmp_path / "tight")
    units = {
        feature.name: (-1.0 if feature.kind == PROBABILITY else 1.0) * math.log(10.0)
        for feature in model.decoder.inputs
        if feature.logarithmic
    }
    costs = Weights({name: value * units.get(name, 1.0) for name, value in model.weights.values.items()})
    assert costs["p_coherent"] == pytest.approx(-0.3)  # as it was
    old = written_as_format_1(model, costs, tmp_path / "old", monkeypatch, logarithms=True)
    np.testing.assert_allclose(old.decoder.weights, model.decoder.weights)
    lines = read_lines(hotel_files / "test.es")
    for one, other in zip(model.translations(lines), old.translations(lines), strict=True):
        assert one[0].text == other[0].text
        assert one[0].derivation.score == pytest.approx(other[0].derivation.score)


def test_raw_values_become_a_bend_and_a_tuned_model_is_of_todays_format(
    hotel_hiero: Path, hotel_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = camber.load(hotel_hiero)
    old = written_as_format_1(model, model.weights, tmp_path / "old", monkeypatch, logarithms=False)
    assert old.decoder.bend.kind == "raw"
    assert old.weights.values == model.weights.values
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    camber.tune_model(tmp_path / "old", *dev, out=tmp_path / "new", settings={"iterations": 1, "nbest": 5})
    again = ModelDirectory.open(tmp_path / "new")
    assert again.format == module.FORMAT == 2
    assert "logarithms" not in again.settings["hiero"]
    assert camber.load(tmp_path / "new").decoder.bend.kind == "raw"


def test_rules_of_models_that_do_not_say_how_their_edges_are_have_tight_ones(hotel_hiero: Path, tmp_path: Path) -> None:
    model = camber.load(hotel_hiero)
    assert model.directory is not None
    assert model.directory.settings["hiero"]["edges"] == HieroSettings().edges == "loose"
    old = with_tight_edges(hotel_hiero, tmp_path / "old", told=False)
    assert old.decoder.grammars.settings.edges == "tight"
    assert old.decoder.recorded["hiero"]["edges"] == "tight"  # and stay so when it is tuned
