"""A cautious bend: as far from the classical model as held-out sentences confirm."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import camber
from camber.engine import Threads
from camber.errors import TuneError
from camber.files import read_lines
from camber.model.translator import Translator
from camber.pipeline.tune import dev_set, tune_model, tune_translator
from camber.tune.caution import FEW, STEPS
from camber.tune.confirming import confirmed, shared_lists
from camber.tune.course import classical_first, made_decoder
from camber.tune.data import Tuned, TuningData
from camber.tune.dev_set import DevSet
from camber.tune.loop import TuneSettings, tune_bent
from camber.tune.pro import Pro
from camber.tune.tuner import ANY_METRIC, REGULARISER, SPARSE

pytestmark = pytest.mark.slow

QUICK: dict[str, Any] = {"tuner": "pro", "iterations": 2, "nbest": 20, "bits": 3}
ONE = Threads(1)


@pytest.fixture(scope="module")
def model(hotel_model: Path) -> Translator:
    return camber.load(hotel_model).searching({"pop_limit": 30})


@pytest.fixture(scope="module")
def lines(hotel_files: Path) -> tuple[list[str], list[str]]:
    return read_lines(hotel_files / "dev.es")[:30], read_lines(hotel_files / "dev.en")[:30]


@pytest.fixture(scope="module")
def dev(model: Translator, lines: tuple[list[str], list[str]]) -> DevSet:
    return dev_set(model, lines[0], [lines[1]])


@dataclass(frozen=True)
class Spoiling:
    """PRO, but what it says of one of the two shapes is turned round."""

    spoils_bins: bool
    takes: ClassVar[frozenset[str]] = frozenset({SPARSE, REGULARISER, ANY_METRIC})
    step: ClassVar[float] = 1.0
    seen: list[int] = field(default_factory=list)

    def fit(self, data: TuningData, start: Any, **more: Any) -> Tuned:
        self.seen.append(len(data))
        tuned = Pro().fit(data, start, **more)
        if (data.bins > 0) != self.spoils_bins:
            return tuned
        return Tuned(-tuned.weights, tuned.objective, data.corpus_score(-tuned.weights))


def tuned_by(tuner: Spoiling, model: Translator, dev: DevSet, bend: str) -> Any:
    settings = TuneSettings(bend=bend, **QUICK)
    classical = classical_first(model.decoder, dev, settings, 1, ONE)
    assert classical is not None
    bent = tune_bent(made_decoder(classical.decoder, dev, settings, 1, ONE), dev, settings, 1, ONE)
    return classical, bent, confirmed(classical, bent, dev, settings, 1, ONE, tuner)


@pytest.mark.parametrize("bend", ["anchored", "mnr"])
def test_a_bend_that_held_out_sentences_do_not_confirm_is_the_classical_model(
    model: Translator, dev: DevSet, bend: str
) -> None:
    tuner = Spoiling(spoils_bins=True)
    classical, _, found = tuned_by(tuner, model, dev, bend)
    assert found.step == 0.0
    assert found.outcome.decoder.bend.kind == "none"
    assert found.outcome.weights.values == classical.weights.values
    assert found.outcome.weights.signature.endswith("|bent:0")
    assert tuner.seen == [20] * 6  # of 30 sentences, ten are held out each time


def test_a_bend_that_they_confirm_is_kept(model: Translator, dev: DevSet) -> None:
    _, bent, found = tuned_by(Spoiling(spoils_bins=False), model, dev, "anchored")
    assert found.step > 0.5
    assert found.outcome.decoder.bend.kind == "anchored"
    if found.step == 1.0:
        assert found.outcome.weights.values == bent.weights.values


def test_between_the_two_models_rankings_are_between_theirs(
    model: Translator, dev: DevSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("camber.tune.confirming.mean_step_of", lambda *_: 0.5)
    classical, bent, found = tuned_by(Spoiling(spoils_bins=False), model, dev, "anchored")
    assert found.step == 0.5
    line, curve = shared_lists((classical.decoder, bent.decoder), dev, 20, ONE)
    one, two = line.scores(classical.decoder.weights), curve.scores(bent.decoder.weights)
    half = curve.scores(found.outcome.decoder.weights)
    expected = 0.5 * one / line.spread(one) + 0.5 * two / curve.spread(two)
    away = half / line.spread(one) - expected
    assert curve.spread(away) < 1e-6
    # … and what is written has what was measured
    decoded = found.outcome.decoder.decode_columns(dev.inputs, dev.vocabulary, 1, ONE)
    assert found.outcome.scores[0] == pytest.approx(float(dev.metric.score(dev.statistics(decoded).sum(0))))


def test_raw_values_are_taken_or_left(model: Translator, dev: DevSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing lies between logarithms and the values themselves."""
    ways: list[int] = []

    def first_way(data: TuningData, chosen: Any, count: int, *more: Any) -> int:
        ways.append(count)
        return 0

    def no_way(data: TuningData, chosen: Any, *more: Any) -> float:
        ways.append(len(STEPS))
        return 0.0

    monkeypatch.setattr("camber.tune.confirming.way_by_sentences", first_way)
    monkeypatch.setattr("camber.tune.confirming.mean_step_of", no_way)
    tuned_by(Spoiling(spoils_bins=False), model, dev, "raw")
    tuned_by(Spoiling(spoils_bins=False), model, dev, "anchored")
    assert ways == [2, len(STEPS)]


def test_lists_of_both_are_the_same_hypotheses_as_each_sees_them(model: Translator, dev: DevSet) -> None:
    settings = TuneSettings(bend="anchored", **QUICK)
    bent = made_decoder(model.decoder, dev, settings, 1, ONE)
    line, curve = shared_lists((model.decoder, bent), dev, 5, ONE)
    assert line.sentence_offsets.tolist() == curve.sentence_offsets.tolist()
    assert np.array_equal(line.statistics, curve.statistics)
    np.testing.assert_allclose(line.scores(model.decoder.weights), curve.scores(bent.weights), atol=1e-9)


def test_caution_is_the_default_of_every_bend_and_of_nothing_else(
    model: Translator, lines: tuple[list[str], list[str]], hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    straight = tune_translator(model, lines[0], [lines[1]], TuneSettings(**QUICK), engine=ONE)
    assert "|bent:" not in straight.weights.signature
    wild = tune_translator(model, lines[0], [lines[1]], TuneSettings(bend="bins", cautious=False, **QUICK), engine=ONE)
    assert wild.decoder.bend.kind == "bins"
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    for threads in (1, 2):
        tune_model(
            hotel_model, *dev, out=tmp_path / str(threads), settings={**QUICK, "bend": "anchored"},
            engine=Threads(threads),
        )  # fmt: skip
    first, second = ((tmp_path / str(threads) / "weights.tsv").read_bytes() for threads in (1, 2))
    assert first == second
    assert b"|bent:" in first
    few = TuneSettings(bend="anchored", **QUICK)
    some = [side[: FEW - 1] for side in lines]
    assert tune_translator(model, some[0], [some[1]], few, engine=ONE).decoder.bend.kind == "anchored"


def test_a_tuner_that_cannot_fit_bins_is_refused_before_any_work(model: Translator, dev: DevSet) -> None:
    class Watched:
        def __getattr__(self, name: str) -> Any:
            assert name not in ("decode_columns", "decode")
            return getattr(model.decoder, name)

    with pytest.raises(TuneError, match=r"cannot fit the .* weights of a bent model"):
        classical_first(Watched(), dev, TuneSettings(bend="anchored", tuner="mert"), 1, ONE)  # type: ignore[arg-type]
