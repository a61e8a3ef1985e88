"""Tuning of bent models, from the start near the old model to the model that is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys.models import random_rules, store_of

import camber
from camber.bend.discrete import DiscreteBend
from camber.bend.neighbours import LinearNeighbours, MonotoneNeighbours
from camber.bend.settings import BendSettings
from camber.corpus.inputs import as_inputs
from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.features import feature_names
from camber.engine import Threads
from camber.errors import CamberError, SettingsError, TuneError
from camber.features.feature import names_of
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.model.bend import BINS, read_bend
from camber.model.directory import ModelDirectory
from camber.model.translator import Translator
from camber.nbest.nbest import NBest
from camber.pipeline.tune import tune_model, tune_translator
from camber.rules.phrase.source import StoredRules
from camber.tune.bending import bent_decoder
from camber.tune.loop import TuneSettings

pytestmark = pytest.mark.slow

QUICK = {"iterations": 2, "nbest": 10, "cautious": False}


@pytest.fixture(params=["phrase", "hiero"])
def folder(request: pytest.FixtureRequest, hotel_model: Path, hotel_hiero: Path) -> Path:
    """A model of either kind."""
    return hotel_model if request.param == "phrase" else hotel_hiero


@pytest.fixture
def model(folder: Path) -> Translator:
    """It, with a narrow search."""
    return camber.load(folder).searching({"pop_limit": 40})


@pytest.fixture(scope="module")
def dev(hotel_files: Path) -> tuple[list[str], list[str]]:
    return read_lines(hotel_files / "dev.es")[:20], read_lines(hotel_files / "dev.en")[:20]


def settings(**values: object) -> TuneSettings:
    return TuneSettings.from_dict({"tuner": "pro", "bits": 4, **QUICK, **values})


@pytest.mark.parametrize("bend", ["raw", "bins", "overlap", "lnr", "mnr", "anchored", "isotonic"])
def test_every_bend_is_tuned_and_its_translator_uses_it(
    model: Translator, dev: tuple[list[str], list[str]], bend: str
) -> None:
    outcome = tune_translator(model, dev[0], [dev[1]], settings(bend=bend))
    decoder = outcome.decoder
    assert decoder.bend.FILE == BINS
    assert decoder.bend.kind == bend
    assert outcome.weights.names == decoder.names == decoder.bend.names
    assert (decoder.bend.width == 0) == (bend == "raw")
    assert not any(name.startswith("lm@") for name in decoder.names)
    assert "word_penalty" in decoder.names
    assert ("word_penalty@0" in decoder.names) == (bend != "raw")
    rounds = outcome.replicas[0].rounds
    assert outcome.scores[0] >= rounds[0].score > 0
    # what was tuned is what is translated with
    decoded = decoder.decode(as_inputs([model.source_tokens(line) for line in dev[0]]))
    target = [" ".join(model.text.target_tokens(line)) for line in dev[1]]
    metric = BLEU(tokenize="none")
    ours = metric.score(metric.statistics([" ".join(best[0].words) for best in decoded], [target]).sum(0))
    assert ours == pytest.approx(outcome.scores[0])


@pytest.mark.parametrize("tuner", ["expected-bleu", "likelihood"])
def test_smooth_tuners_take_bins_too(model: Translator, dev: tuple[list[str], list[str]], tuner: str) -> None:
    outcome = tune_translator(model, dev[0], [dev[1]], settings(bend="mnr", tuner=tuner, beta=10.0))
    assert np.isfinite(list(outcome.weights.values.values())).all()
    assert outcome.scores[0] >= outcome.replicas[0].rounds[0].score


@pytest.mark.parametrize("tuner", ["mert", "mira"])
def test_tuners_of_few_weights_refuse_bins_but_take_raw_values(
    hotel_model: Path, dev: tuple[list[str], list[str]], tuner: str
) -> None:
    model = camber.load(hotel_model).searching({"pop_limit": 20})
    for bend in ("bins", "mnr"):
        with pytest.raises(
            TuneError, match=r"cannot fit the \d+ weights .*; use pro, expected-bleu, held-bleu, blend or likelihood"
        ):
            tune_translator(model, dev[0], [dev[1]], settings(bend=bend, tuner=tuner))
    outcome = tune_translator(model, dev[0], [dev[1]], settings(bend="raw", tuner=tuner))
    assert outcome.decoder.bend.kind == "raw"


def test_the_start_translates_dev_about_as_the_old_model(model: Translator, dev: tuple[list[str], list[str]]) -> None:
    one = {"iterations": 1, "nbest": 2}
    old = tune_translator(model, dev[0], [dev[1]], settings(**one)).replicas[0].rounds[0].score
    for bits, tolerance in ((12, 1.0), (8, 3.0)):
        start = (
            tune_translator(model, dev[0], [dev[1]], settings(bend="mnr", bits=bits, **one)).replicas[0].rounds[0].score
        )
        assert abs(start - old) < tolerance


def test_a_strong_tie_makes_weights_of_neighbours_alike(model: Translator, dev: tuple[list[str], list[str]]) -> None:
    def roughness(beta: float) -> float:
        outcome = tune_translator(model, dev[0], [dev[1]], settings(bend="lnr", beta=beta, step=1.0))
        bend = outcome.decoder.bend
        assert bend.FILE == BINS
        values = bend.bin_values(outcome.replicas[0].rounds[-1].weights)
        bumps = [np.abs(np.diff(values[a:b], 2)).sum() for a, b in bend.chains.tolist()]
        return float(sum(bumps) / np.abs(values).sum())

    assert roughness(1e4) < roughness(1e-4)


def test_neighbours_are_tied_where_their_weights_are(model: Translator, dev: tuple[list[str], list[str]]) -> None:
    sentences = [model.source_tokens(line) for line in dev[0]]
    for kind, expected in (("lnr", LinearNeighbours), ("mnr", MonotoneNeighbours), ("bins", type(None))):
        bend = bent_decoder(model.decoder, as_inputs(sentences), kind, BendSettings(bits=3)).bend
        penalty = bend.penalty(BendSettings(beta=2.0), bend.names)
        assert type(penalty) is expected
        if penalty is not None:
            assert np.asarray(penalty.chains).tolist() == (bend.chains + len(bend.names) - bend.width).tolist()
    assert model.decoder.bend.penalty(BendSettings(), model.decoder.names) is None


def test_one_thread_and_two_tune_to_the_same_bits(hotel_model: Path, dev: tuple[list[str], list[str]]) -> None:
    model = camber.load(hotel_model).searching({"pop_limit": 20})
    one, two = (
        tune_translator(model, dev[0], [dev[1]], settings(bend="mnr"), engine=Threads(threads)) for threads in (1, 2)
    )
    assert one.weights.values == two.weights.values


def test_an_unknown_bend_is_refused(model: Translator) -> None:
    with pytest.raises(SettingsError, match="no bend 'wavy'; there are keep, none, raw, bins"):
        bent_decoder(model.decoder, as_inputs([["a"]]), "wavy", BendSettings(bits=4))


# --- models on disk ---------------------------------------------------------------------------------------------------


def tuned(model: Path, files: Path, out: Path, **values: object) -> Translator:
    tune_model(model, files / "dev.es", files / "dev.en", out=out, settings=settings(**values))
    return camber.load(out, verify=True)


def best_texts(translator: Translator, files: Path) -> list[str]:
    return translator.translate(read_lines(files / "test.es"))


def test_a_bent_model_is_kept_tuned_again_bent_otherwise_and_straightened(
    folder: Path, hotel_files: Path, tmp_path: Path
) -> None:
    first = tuned(folder, hotel_files, tmp_path / "a", bend="mnr")
    bend = first.decoder.bend
    assert bend.FILE == BINS
    assert (tmp_path / "a" / BINS).is_file()
    assert read_bend(ModelDirectory.open(tmp_path / "a")).names == bend.names

    kept = tuned(tmp_path / "a", hotel_files, tmp_path / "b", bend="keep")
    assert kept.decoder.bend.FILE == BINS
    assert kept.decoder.bend.kind == "mnr"
    assert (tmp_path / "b" / BINS).read_bytes() == (tmp_path / "a" / BINS).read_bytes()

    other = tuned(tmp_path / "a", hotel_files, tmp_path / "c", bend="overlap", bits=2)
    assert other.decoder.bend.FILE == BINS
    assert other.decoder.bend.kind == "overlap"
    assert max(len(bins) for bins in other.decoder.bend.bins.values()) == 4

    straight = tuned(tmp_path / "c", hotel_files, tmp_path / "d", bend="none")
    assert straight.decoder.bend.kind == "none"
    assert not (tmp_path / "d" / BINS).exists()
    assert straight.decoder.names == camber.load(folder).decoder.names

    for model in (first, kept, other, straight):
        assert all(best_texts(model, hotel_files))


def test_a_model_straightened_again_is_near_to_what_it_was(folder: Path, hotel_files: Path) -> None:
    model = camber.load(folder)
    sentences = [model.source_tokens(line) for line in read_lines(hotel_files / "dev.es")]
    # a bin for each value: nothing is lost
    bent = bent_decoder(model.decoder, as_inputs(sentences), "bins", BendSettings(bits=20))
    again = bent_decoder(bent, as_inputs(sentences), "none", BendSettings(bits=4))
    np.testing.assert_allclose(again.weights, model.decoder.weights, atol=1e-6)


def test_a_bend_for_other_features_stops_the_model(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    tuned(hotel_model, hotel_files, tmp_path / "a", bend="bins", iterations=2)
    path = tmp_path / "a" / BINS
    path.write_text(path.read_text().replace("# inputs ", "# inputs other "))
    with pytest.raises(CamberError):
        camber.load(tmp_path / "a")


def test_an_n_best_list_of_a_bent_model_gives_its_scores_again(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    from camber.decode.lists import as_weighed, to_nbest

    model = tuned(hotel_model, hotel_files, tmp_path / "a", bend="mnr", iterations=2)
    decoder = model.decoder
    translations = list(model.translations(read_lines(hotel_files / "test.es")[:10], nbest=10))
    nbest = to_nbest(decoder, [[item.derivation for item in best] for best in translations])
    assert nbest.names == names_of(decoder.inputs)
    for name in ("list.moses", "list.jsonl"):
        nbest.write(tmp_path / name, name.split(".")[1])
        again = NBest.read(tmp_path / name)
        np.testing.assert_allclose(again.hypothesis_features(), nbest.hypothesis_features(), rtol=0, atol=1e-9)
    # a list in JSON Lines that was read back gives the decoder's own scores
    again = NBest.read(tmp_path / "list.jsonl")
    scores = decoder.weighing.scores(again.parts, again.part_offsets)
    np.testing.assert_allclose(scores, nbest.scores, atol=1e-9)
    # what other tools get is what the weights multiply
    weighed = as_weighed(nbest, decoder.bend)
    weights = np.array([decoder.weighing.by_name()[name] for name in weighed.names])
    np.testing.assert_allclose(np.nan_to_num(weighed.hypothesis_features()) @ weights, nbest.scores, atol=1e-9)
    assert nbest.scores is not None


def test_pairs_added_to_a_bent_model_are_used_with_its_bins(folder: Path, hotel_files: Path, tmp_path: Path) -> None:
    from camber.files import write_lines
    from camber.pipeline.add import add

    bent = tuned(folder, hotel_files, tmp_path / "a", bend="mnr", iterations=2)
    write_lines(tmp_path / "new.es", ["El zorro azul, por favor."])
    write_lines(tmp_path / "new.en", ["The blue fox, please."])
    add(tmp_path / "a", tmp_path / "new.es", tmp_path / "new.en")
    after = camber.load(tmp_path / "a", verify=True)
    assert after.decoder.bend.FILE == BINS
    assert isinstance(bent.decoder.bend, DiscreteBend)
    assert after.decoder.names == bent.decoder.names
    assert after.weights.values == bent.weights.values
    assert after.translate(["El zorro azul, por favor."]) == ["The blue fox, please."]
    assert all(best_texts(after, hotel_files))


def test_a_kept_bend_keeps_its_ties_unless_others_are_named(folder: Path, hotel_files: Path, tmp_path: Path) -> None:
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    quick = {"tuner": "pro", "iterations": 1, "nbest": 5, "cautious": False}
    tune_model(folder, *dev, out=tmp_path / "a", settings=quick | {"bend": "mnr", "bits": 3, "beta": 7.0, "gamma": 3.0})

    def recorded(**named: float) -> tuple[str, int, float, float]:
        tune_model(tmp_path / "a", *dev, out=tmp_path / "b", settings=quick | named)
        found = ModelDirectory.open(tmp_path / "b").settings["tune"]
        return found["bend"], found["bits"], found["beta"], found["gamma"]

    assert recorded() == ("mnr", 3, 7.0, 3.0)
    assert recorded(beta=1000.0) == ("mnr", 3, 1000.0, 3.0)  # though it is the default
    assert recorded(gamma=1.0) == ("mnr", 3, 7.0, 1.0)
    signature = camber.load(tmp_path / "b").weights.signature
    assert "bend:mnr|beta:7|gamma:1|" in signature


def test_a_feature_without_values_on_dev_can_be_bent_and_straightened() -> None:
    """Rules of other sentences may have it; a weight that belonged to logarithms must not meet raw values."""
    rng = np.random.default_rng(4)
    rules = {phrase: [replace(rule, counts=(0, 0, 0)) for rule in some] for phrase, some in random_rules(rng).items()}
    names = ("count_s", "p_t_given_s")
    weights = dict.fromkeys(feature_names(0, names), 0.5)
    decoder = PhraseDecoder(StoredRules(store_of(rules), names), [], weights)
    sentences = [["a", "b"], ["c"]]
    bent = bent_decoder(decoder, as_inputs(sentences), "bins", BendSettings(bits=3))
    assert bent.bend.FILE == BINS
    assert "count_s" not in bent.bend.bins
    assert bent.weighing.by_name()["count_s"] == 0.0
    for kind in ("none", "raw"):
        other = bent_decoder(bent, as_inputs(sentences), kind, BendSettings(bits=3))
        assert other.weighing.by_name()["count_s"] == 0.0
