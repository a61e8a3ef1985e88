"""Training with the large set of features, from text to tuned weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import camber
from camber.corpus.inputs import Input
from camber.engine import Threads
from camber.features.feature import INDICATOR
from camber.files import read_lines
from camber.model.translator import Translator
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.tune import tune_model

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


@pytest.fixture(scope="module")
def large_hiero(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hierarchical model with the large features, as it is before tuning."""
    place = tmp_path_factory.mktemp("large-hiero") / "model"
    settings = TrainSettings.from_dict({**FEW, "hiero": {"rule_features": "large"}})
    files = hotel_files / "train.es", hotel_files / "train.en"
    train(*files, place, method="hiero", held_out=0, settings=settings, engine=Threads(1))
    return place


def tuned(model: Path, files: Path, place: Path, **settings: Any) -> Translator:
    """Tune a model on the dev set, and open what was written."""
    chosen = {"iterations": 3, "nbest": 30, "cautious": False, **settings}
    tune_model(model, files / "dev.es", files / "dev.en", out=place, settings=chosen, engine=Threads(1))
    return camber.load(place)


@pytest.mark.slow
def test_an_untuned_hierarchical_model_translates_exactly_like_base(
    large_hiero: Path, hotel_hiero: Path, hotel_files: Path
) -> None:
    model, base = camber.load(large_hiero), camber.load(hotel_hiero)
    lines = read_lines(hotel_files / "test.es")
    assert texts_and_scores(model, lines) == texts_and_scores(base, lines)
    names = model.decoder.names
    assert 170 < len(names) < 210
    assert len(set(names)) == len(names)
    assert {model.weights[name] for name in set(names) - set(base.decoder.names)} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("tuner", ["pro", "mira"])
def test_hierarchical_models_are_tuned_with_them(
    large_hiero: Path, hotel_files: Path, tmp_path: Path, tuner: str
) -> None:
    model = tuned(large_hiero, hotel_files, tmp_path / "tuned", tuner=tuner)
    assert tuner in model.weights.signature
    indicators = [name for name in model.decoder.names if ":" in name]
    assert np.count_nonzero([model.weights[name] for name in indicators]) > 5
    lines = read_lines(hotel_files / "test.es")
    assert texts_and_scores(model, lines) != texts_and_scores(camber.load(large_hiero), lines)
    for best in model.translations(lines[:10], 5, engine=Threads(1)):
        for item in best:  # what is listed is what was searched for
            assert item.derivation.linear_sums @ model.decoder.weights == pytest.approx(item.derivation.score, abs=1e-9)


@pytest.mark.slow
def test_bins_and_trees_stand_beside_the_large_features_of_hierarchical_rules(
    large_hiero: Path, hotel_files: Path, tmp_path: Path
) -> None:
    model = tuned(large_hiero, hotel_files, tmp_path / "bent", tuner="pro", bend="mnr+trees", bits=2, trees=2)
    bent = {name.partition("@")[0] for name in model.decoder.names if "@" in name}
    assert {"source_words", "lex_t_given_s_subwords", "count_st"} <= bent
    assert not any(":" in name for name in bent)  # an indicator has nothing to bend
    lines = read_lines(hotel_files / "test.es")[:5]
    assert all(model.translate(lines))


@pytest.mark.slow
def test_pairs_added_to_a_hierarchical_model_have_the_same_features(hotel_files: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict({**FEW, "hiero": {"rule_features": "base, inserts, lex_t_given_s_subwords"}})
    place = tmp_path / "model"
    files = hotel_files / "train.es", hotel_files / "train.en"
    train(*files, place, method="hiero", held_out=0, settings=settings, engine=Threads(1))
    before = camber.load(place)
    camber.add(place, ["el zorro duerme"], ["the fox is asleep"])
    model = camber.load(place)
    assert model.decoder.names == before.decoder.names
    assert model.translate(["el zorro duerme"]) == ["the fox is asleep"]
    grammar = model.decoder.grammars.grammar(Input(["zorro"]))
    assert len(grammar) > 0
    assert (grammar.features[:, grammar.names.index("lex_t_given_s_subwords")] > 0).all()
    lines = read_lines(hotel_files / "test.es")
    same = [one == other for one, other in zip(before.translate(lines), model.translate(lines), strict=True)]
    assert np.mean(same) > 0.8
