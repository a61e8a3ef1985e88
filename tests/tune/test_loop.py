"""The decode-and-tune loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import camber
from camber.corpus import Sentences, Vocabulary
from camber.decode.derivation import HypothesisColumns
from camber.engine import Threads
from camber.errors import CamberError, TuneError
from camber.features.weights import Weights
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.pipeline.tune import tune_translator
from camber.tune.loop import FIXED, TuneSettings, merged

QUICK = {"iterations": 3, "nbest": 20}


@pytest.fixture(scope="module")
def model(hotel_model: Path) -> Translator:
    """A model whose weights leave something to be gained: hardly any language model, and short output is preferred."""
    model = camber.load(hotel_model)
    poor = Weights({**model.weights.values, "lm": 0.05, "word_penalty": 0.2})
    return model.reweighted(poor).searching({"pop_limit": 40})


@pytest.fixture(scope="module")
def dev(hotel_files: Path) -> tuple[list[str], list[str]]:
    return read_lines(hotel_files / "dev.es"), read_lines(hotel_files / "dev.en")


@pytest.mark.parametrize("tuner", ["mert", "pro", "mira", "expected-bleu", "held-bleu", "blend"])
def test_every_tuner_finds_weights_that_translate_dev_better(
    model: Translator, dev: tuple[list[str], list[str]], tuner: str
) -> None:
    outcome = tune_translator(model, dev[0], [dev[1]], TuneSettings(tuner=tuner, **QUICK))
    rounds = outcome.replicas[0].rounds
    assert outcome.scores[0] == max(item.score for item in rounds) > rounds[0].score
    assert all(0.4 < item.ratio < 1.3 for item in rounds)
    assert f"tuner:{tuner}" in outcome.weights.signature


def test_settings_of_the_tuner_and_the_shortest_reference_can_be_asked_for(
    model: Translator, dev: tuple[list[str], list[str]]
) -> None:
    short = [" ".join(line.split()[:-2]) for line in dev[1]]
    asked = TuneSettings(tuner_options="brevity=plain held=5", reference_length="shortest", **QUICK)
    outcome = tune_translator(model, dev[0], [dev[1], short], asked)
    usual = tune_translator(model, dev[0], [dev[1], short], TuneSettings(**QUICK))
    assert outcome.weights.signature.startswith("tuner:blend(brevity=plain,held=5)|")
    assert "|length:shortest|" in outcome.weights.signature
    assert "length:" not in usual.weights.signature
    lengths = [run.replicas[0].rounds[0].ratio for run in (outcome, usual)]
    assert lengths[0] > lengths[1]  # the same translations, beside shorter references


def test_the_outcome_is_the_same_on_one_thread_and_on_two(model: Translator, dev: tuple[list[str], list[str]]) -> None:
    settings = TuneSettings(tuner="mira", **QUICK)
    one, two = (tune_translator(model, dev[0], [dev[1]], settings, engine=Threads(threads)) for threads in (1, 2))
    assert one.weights.values == two.weights.values


def test_replicas_are_averaged_at_one_size_and_the_unknown_weight_stays(
    model: Translator, dev: tuple[list[str], list[str]]
) -> None:
    outcome = tune_translator(model, dev[0], [dev[1]], TuneSettings(tuner="pro", replicas=2, **QUICK))
    assert len(outcome.scores) == 2
    assert "±" in str(outcome)
    assert outcome.weights["unknown"] == model.weights["unknown"]
    free = [name for name in outcome.weights.names if name not in FIXED]
    spreads = [replica.best.spread for replica in outcome.replicas]
    assert min(spreads) > 0
    scaled = []
    for replica, spread in zip(outcome.replicas, spreads, strict=True):
        weights = dict(zip(model.decoder.names, replica.best.weights, strict=True))
        scaled.append([weights[name] * spreads[0] / spread for name in free])
    np.testing.assert_allclose([outcome.weights[name] for name in free], np.mean(scaled, axis=0))


def test_references_that_share_nothing_with_the_output_are_no_success(
    model: Translator, dev: tuple[list[str], list[str]]
) -> None:
    with pytest.raises(TuneError):
        tune_translator(model, dev[0], [["qqq"] * len(dev[0])], TuneSettings(**QUICK))


def test_a_dev_set_of_unequal_sides_or_of_nothing_is_refused(model: Translator) -> None:
    with pytest.raises(CamberError, match="2 dev sentences but 1 reference lines"):
        tune_translator(model, ["a", "b"], [["c"]])
    with pytest.raises(TuneError, match="the dev set is empty"):
        tune_translator(model, [], [[]])


def test_merging_keeps_what_is_new_and_drops_what_is_known() -> None:
    vocabulary = Vocabulary(["a", "b"])

    def columns(rows: list[list[float]], counts: list[int]) -> HypothesisColumns:
        words = Sentences.encode([["a"]] * len(rows), vocabulary)
        return HypothesisColumns(np.array(counts), np.array(rows), words)

    statistics = np.ones((3, 10), np.int64)
    metric = BLEU(tokenize="none")
    first, new = merged(None, columns([[1.0], [2.0], [1.0]], [2, 1]), statistics, ("lm",), metric)
    assert (new, first.hypotheses) == (3, 3)  # the same features in another sentence are another hypothesis
    again, new = merged(first, columns([[1.0], [3.0], [1.0]], [2, 1]), statistics, ("lm",), metric)
    assert new == 1
    assert again.features[:, 0].tolist() == [1.0, 2.0, 3.0, 1.0]
    assert again.sentence_offsets.tolist() == [0, 3, 4]
    other = statistics.copy()
    other[:, 0] = 5
    _, new = merged(again, columns([[1.0], [3.0], [1.0]], [2, 1]), other, ("lm",), metric)
    assert new == 3  # the same features with another text count as another hypothesis


def test_lists_whose_features_come_in_another_order_are_not_merged() -> None:
    words = Sentences.encode([["a"]], Vocabulary(["a"]))
    columns = HypothesisColumns(np.array([1]), np.array([[1.0, 2.0]]), words)
    statistics = np.ones((1, 10), np.int64)
    first, _ = merged(None, columns, statistics, ("lm", "words"), BLEU())
    with pytest.raises(ValueError, match="not merged"):
        merged(first, columns, statistics, ("words", "lm"), BLEU())
    assert merged(first, columns, statistics, ("lm", "words"), BLEU())[1] == 0
