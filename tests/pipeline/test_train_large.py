"""Training with the large set of features, from text to tuned weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import camber
from camber.engine import Threads
from camber.features.feature import INDICATOR
from camber.files import read_lines
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

FEW = {"lm": {"order": 3}, "align": {"model": "quick"}}


@pytest.fixture(scope="module")
def large(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with the large features, as it is before tuning."""
    place = tmp_path_factory.mktemp("large") / "model"
    settings = TrainSettings.from_dict({**FEW, "rules": {"rule_features": "large"}})
    train(hotel_files / "train.es", hotel_files / "train.en", place, held_out=0, settings=settings, engine=Threads(1))
    return place


def texts_and_scores(model: Translator, lines: list[str]) -> list[list[tuple[str, float]]]:
    best = model.translations(lines, 5, engine=Threads(1))
    return [[(item.text, item.derivation.score) for item in some] for some in best]


@pytest.mark.slow
def test_an_untuned_model_translates_exactly_like_base(large: Path, hotel_model: Path, hotel_files: Path) -> None:
    model, base = camber.load(large), camber.load(hotel_model)
    lines = read_lines(hotel_files / "test.es")
    assert texts_and_scores(model, lines) == texts_and_scores(base, lines)
    names = model.decoder.names
    assert 170 < len(names) < 210
    assert len(set(names)) == len(names)
    new = set(names) - set(base.decoder.names)
    assert {model.weights[name] for name in new} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("tuner", ["pro", "mira"])
def test_training_tunes_them(hotel_files: Path, tmp_path: Path, tuner: str) -> None:
    tables = {"rules": {"rule_features": "large"}, "tune": {"tuner": tuner, "iterations": 3, "nbest": 30}}
    model = train(
        hotel_files / "train.es",
        hotel_files / "train.en",
        tmp_path / "model",
        dev_source=hotel_files / "dev.es",
        dev_target=hotel_files / "dev.en",
        settings=TrainSettings.from_dict({**FEW, **tables}),
        engine=Threads(1),
    )
    assert tuner in model.weights.signature
    indicators = [feature.name for feature in model.decoder.rules.features if feature.kind == INDICATOR]
    assert np.count_nonzero([model.weights[name] for name in indicators]) > 5
    lines = read_lines(hotel_files / "test.es")
    for best in model.translations(lines[:10], 5, engine=Threads(1)):
        for item in best:  # what is listed is what was searched for
            assert item.derivation.linear_sums @ model.decoder.weights == pytest.approx(item.derivation.score, abs=1e-9)


@pytest.mark.slow
def test_added_pairs_have_the_same_features(hotel_files: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict({**FEW, "rules": {"rule_features": "base, inserts, count_st"}})
    place = tmp_path / "model"
    train(hotel_files / "train.es", hotel_files / "train.en", place, held_out=0, settings=settings, engine=Threads(1))
    before = camber.load(place)
    lines = read_lines(hotel_files / "test.es")
    camber.add(place, ["el zorro duerme"], ["the fox is asleep"])
    model = camber.load(place)
    assert model.decoder.names == before.decoder.names
    assert model.translate(["el zorro duerme"]) == ["the fox is asleep"]
    same = [one == other for one, other in zip(before.translate(lines), model.translate(lines), strict=True)]
    assert np.mean(same) > 0.8
