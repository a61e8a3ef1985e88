"""Minimum Bayes risk and models that translate together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from naive import consensus as naive

import camber
from camber.cli import cli
from camber.corpus.inputs import as_inputs
from camber.decode.consensus.search import ConsensusSearch
from camber.decode.consensus.settings import ConsensusSettings
from camber.decode.lists import as_weighed
from camber.errors import CamberError
from camber.features.weights import Weights
from camber.files import read_lines
from camber.model.combination import together
from camber.model.directory import ModelDirectory, write_model
from camber.model.translator import Translator, load
from camber.nbest import NBest
from camber.pipeline.combine import combine_models

SMALL = ConsensusSettings(mbr_size=15)


@pytest.fixture(scope="module")
def lines(hotel_files: Path) -> list[str]:
    """Some lines, an empty one and one of two sentences among them."""
    return [*read_lines(hotel_files / "test.es")[:8], "", "¡ hola ! ¿ cuánto cuesta una habitación doble ?"]


def inputs_of(model: Translator, lines: list[str]) -> list:
    return as_inputs([model.source_tokens(line) for line in lines if line])


def posteriors(scores: list[float], scale: float) -> list[float]:
    """Posteriors by definition: in proportion to exp(score), scores in units of their standard deviation."""
    weights = np.exp(scale * (np.array(scores) - max(scores)) / max(float(np.std(scores)), 1e-9))
    return (weights / weights.sum()).tolist()


@pytest.mark.parametrize("gain", ["sentence", "linear"])
def test_minimum_bayes_risk_takes_the_hypothesis_that_expects_most(
    hotel_model: Path, lines: list[str], gain: str
) -> None:
    model = load(hotel_model)
    inputs = inputs_of(model, lines)
    settings = ConsensusSettings(mbr_size=15, mbr_gain=gain, mbr_scale=0.5)
    chosen = ConsensusSearch([model.decoder], settings).decode(inputs)
    for best, listed in zip(chosen, model.decoder.decode(inputs, 15), strict=True):
        words = [item.words for item in listed]
        chances = [[p] for p in posteriors([item.score for item in listed], 0.5)]
        if gain == "sentence":
            gains = [row[0] for row in naive.expected_bleu(words, chances, 4)]
        else:
            grams = [row[0] for row in naive.gram_posteriors(words, chances, 4)]
            gains = [
                sum(g / (4 * 0.85 * 0.72**n) for n, g in enumerate(row)) - len(text)
                for row, text in zip(grams, words, strict=True)
            ]
        assert best[0].score == pytest.approx(max(gains))
        assert gains[words.index(best[0].words)] == pytest.approx(max(gains))


def test_lists_are_joined_by_their_words_and_what_a_model_did_not_find_is_absent(
    hotel_model: Path, hotel_hiero: Path, lines: list[str]
) -> None:
    models = [load(hotel_model), load(hotel_hiero)]
    search = ConsensusSearch([model.decoder for model in models], SMALL)
    inputs = inputs_of(models[0], lines)
    names = [feature.name for feature in search.inputs]
    alone = [list(model.decoder.decode(inputs, 15)) for model in models]
    for number, best in enumerate(search.decode(inputs, 15)):
        texts = [tuple(item.words) for item in best]
        found = [{tuple(item.words): item.score for item in lists[number]} for lists in alone]
        assert len(set(texts)) == len(texts)
        assert set(texts) <= found[0].keys() | found[1].keys()
        assert len(texts) == min(15, len(found[0].keys() | found[1].keys()))
        for item in best:
            row = dict(zip(names, item.features[0], strict=True))
            for member, scores in enumerate(found, 1):
                score = scores.get(tuple(item.words))
                assert row[f"m{member}_listed"] == (score is not None)
                if score is None:
                    assert np.isnan(row[f"m{member}_score"])
                else:
                    assert row[f"m{member}_score"] == pytest.approx(score - max(scores.values()))
            assert row["words"] == len(item.words)
            assert np.isnan(item.features[1:]).all()
        assert [item.score for item in best] == sorted((item.score for item in best), reverse=True)


def test_lists_of_a_consensus_have_scores_that_are_weights_times_features(
    hotel_model: Path, hotel_hiero: Path, lines: list[str]
) -> None:
    translator = together([load(hotel_model), load(hotel_hiero)], SMALL)
    nbest = translator.to_nbest(list(translator.translations(lines[:8], 5)))
    weighed = as_weighed(nbest, translator.decoder.bend)
    table = np.nan_to_num(weighed.hypothesis_features())
    assert nbest.scores == pytest.approx(table @ Weights(translator.decoder.weights).vector(weighed.names))


def test_every_thread_finds_the_same(hotel_model: Path, hotel_hiero: Path, lines: list[str]) -> None:
    translator = together([load(hotel_model), load(hotel_hiero)], SMALL)
    one, two = (list(translator.translations(lines, 3, engine=camber.Threads(n))) for n in (1, 2))
    assert [[item.text for item in best] for best in one] == [[item.text for item in best] for best in two]
    assert [best[0].links for best in one] == [best[0].links for best in two]


def test_terms_and_beginnings_are_kept_by_all_members(hotel_model: Path, hotel_hiero: Path) -> None:
    translator = together([load(hotel_model), load(hotel_hiero)], SMALL)
    glossary = camber.Glossary.of({"habitación": "chamber"})
    assert "chamber" in translator.translate(["una habitación doble"], glossary=glossary)[0]
    assert translator.decoder.takes == {"terms", "prefix"}
    assert translator.translate(["una habitación doble"], prefix="Camber")[0].startswith("Camber")


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cli, ["--quiet", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_a_combination_holds_its_models(
    hotel_model: Path, hotel_hiero: Path, hotel_files: Path, tmp_path: Path, lines: list[str]
) -> None:
    models = [Path(shutil.copytree(path, tmp_path / name)) for path, name in ((hotel_model, "p"), (hotel_hiero, "h"))]
    camber.add(models[0], ["el gato duerme ."], ["the cat is asleep ."])
    dev = ["--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en"]
    told = json.loads(run("combine", *models, *dev, "--out", tmp_path / "both", "--mbr-size", 20, "--json"))
    assert len(told["members"]) == 2
    assert told["held_out"] > told["untuned"] if told["fitted"] else told["held_out"] <= told["untuned"]
    (tmp_path / "in").write_text("\n".join(lines) + "\n", "utf-8")
    before = run("translate", tmp_path / "both", "--input", tmp_path / "in")
    for model in models:
        shutil.rmtree(model)
    assert run("translate", tmp_path / "both", "--input", tmp_path / "in") == before
    both = load(tmp_path / "both", verify=True)
    assert both.decoder.own.mbr_size == 20
    assert both.decoder.weights == told["weights"]
    assert both.decoder.scales.tolist() == told["scales"]
    assert both.translate(["el gato duerme ."]) == ["the cat is asleep ."]
    assert "m2_grams1" in run("info", tmp_path / "both", "--verify")
    run("translate", tmp_path / "both", "--input", tmp_path / "in", "--nbest", 3, "--nbest-file", tmp_path / "l.jsonl")
    assert NBest.read(tmp_path / "l.jsonl").names == tuple(f.name for f in both.decoder.inputs)
    with pytest.raises(CamberError, match="combination model cannot be combined"):
        together([both])
    with pytest.raises(CamberError, match="pairs cannot be added to a combination model"):
        camber.add(tmp_path / "both", ["uno"], ["one"])
    with pytest.raises(CamberError, match="combination model has no weights to tune or to bend: its members"):
        camber.tune_model(tmp_path / "both", hotel_files / "dev.es", hotel_files / "dev.en")


@pytest.mark.slow
def test_the_same_seed_makes_the_same_combination(
    hotel_model: Path, hotel_hiero: Path, hotel_files: Path, tmp_path: Path
) -> None:
    made = []
    for name, threads in (("one", 1), ("two", 2)):
        combine_models(
            [hotel_model, hotel_hiero],
            hotel_files / "dev.es",
            hotel_files / "dev.en",
            tmp_path / name,
            settings={"mbr_size": 10},
            engine=camber.Threads(threads),
        )
        made.append(ModelDirectory.open(tmp_path / name))
    assert made[0].files == made[1].files
    assert made[0].signature == made[1].signature


def test_what_cannot_be_combined_is_refused_and_leaves_nothing(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    with pytest.raises(CamberError, match="a model is named twice"):
        combine_models([hotel_model, hotel_model], *dev, tmp_path / "both")
    with pytest.raises(CamberError, match="one of the models that are combined"):
        combine_models([hotel_model], *dev, hotel_model.parent / "x" / ".." / hotel_model.name)
    with pytest.raises(CamberError, match="no model was given"):
        combine_models([], *dev, tmp_path / "both")
    model = load(hotel_model)
    other = Translator(model.text.reading({"split": False}), model.decoder, model.weights)
    with pytest.raises(
        CamberError, match=r"its text is made otherwise than that of .* \(split: False instead of True\)"
    ):
        together([model, other])
    with pytest.raises(CamberError, match=r"weights for .*, but the consensus of 1 models has m1_score"):
        ConsensusSearch([model.decoder], weights={"lm": 1.0})
    with write_model(tmp_path / "bad", "combination", {"consensus": {"scales": [1.0, "x"]}}) as draft:
        draft.sizes["members"] = 2
    with pytest.raises(CamberError, match="not what a combination records"):
        load(tmp_path / "bad")
    assert not (tmp_path / "both").exists()


def test_settings_of_a_consensus_want_one(hotel_model: Path) -> None:
    done = CliRunner().invoke(cli, ["translate", str(hotel_model), "--mbr-size", "20"])
    assert done.exit_code == 2
    assert "--mbr-size makes no difference without --mbr, for one model" in done.output
