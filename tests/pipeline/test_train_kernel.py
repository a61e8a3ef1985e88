"""Translation by regression, from text to translations: `camber train --method kernel`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from adversary.tampering import reseal
from click.testing import CliRunner

from camber.cli import cli
from camber.corpus import Bitext
from camber.engine import Threads
from camber.errors import CamberError, ModelError, SettingsError
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import load
from camber.pipeline.add import add
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.regress.continued import continued
from camber.regress.margin import Centred, MarginRegression
from camber.regress.prediction import Vectors
from camber.regress.spectrum import Spectrum

pytestmark = pytest.mark.slow

NEW = (
    ["el zorbo está en la habitación .", "el zorbo está en recepción ."],
    ["the blorp is in the room .", "the blorp is at reception ."],
)


def trained(files: Path, model: Path, regression: str, **more: object) -> Path:
    settings = TrainSettings.from_dict({"align": {"model": "quick"}, "kernel": {"regression": regression}})
    dev = {"dev_source": files / "dev.es", "dev_target": files / "dev.en"}
    train(files / "train.es", files / "train.en", model, method="kernel", settings=settings, **{**dev, **more})  # type: ignore[arg-type]
    return model


@pytest.fixture(scope="module", params=["lsr", "mmr"])
def shared(request: pytest.FixtureRequest, hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of either regression."""
    return trained(hotel_files, tmp_path_factory.mktemp("kernel") / request.param, request.param)


@pytest.fixture
def model(shared: Path, tmp_path: Path) -> Path:
    """A copy to be changed."""
    return Path(shutil.copytree(shared, tmp_path / shared.name))


def camber(*words: object) -> tuple[int, str]:
    """Run a command: its exit code, and all that it told."""
    done = CliRunner().invoke(cli, [str(word) for word in words])
    if isinstance(done.exception, CamberError):
        return 1, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.output


def test_raw_text_is_translated_and_lists_hold_what_the_search_found(
    shared: Path, hotel_files: Path, tmp_path: Path
) -> None:
    lines, references = read_lines(hotel_files / "test.es"), read_lines(hotel_files / "test.en")
    translator = load(shared)
    output = translator.translate(lines, engine=Threads(1))
    metric = BLEU()
    assert float(metric.score(metric.statistics(output, [references]).sum(0))) > (60 if shared.name == "lsr" else 30)
    assert output == translator.translate(lines, engine=Threads(3))
    assert translator.translate(["", "zzz qqq"], engine=Threads(1)) == ["", "zzz qqq"]  # unknown words are passed on
    files = ("--nbest-file", tmp_path / "list.jsonl", "--alignment-file", tmp_path / "links", "--nbest", 4)
    assert camber("translate", shared, "--input", hotel_files / "test.es", "--output", tmp_path / "out", *files)[0] == 0
    assert read_lines(tmp_path / "out") == output
    rows = [json.loads(line) for line in read_lines(tmp_path / "list.jsonl")]
    assert len(rows) > len(lines)
    for best in translator.translations(lines[:5], nbest=4, engine=Threads(1)):
        scores = [item.derivation.score for item in best]
        assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-6)
        for item in best:
            column = [feature.name for feature in item.derivation.inputs].index("regression")
            assert item.derivation.features[:, column].sum() == pytest.approx(item.derivation.score)
            spans = sorted(tuple(span) for span in item.derivation.spans.tolist())
            assert [a for a, _ in spans[1:]] == [b for _, b in spans[:-1]]  # every word is translated once


def test_a_long_sentence_is_translated_in_windows(shared: Path, hotel_files: Path) -> None:
    translator = load(shared)
    short = read_lines(hotel_files / "test.es")[:8]
    text = translator.translate([" ".join(short)], engine=Threads(1))[0]
    assert len(text.split()) > 40


def test_info_tells_sizes_and_verifies(shared: Path, model: Path) -> None:
    code, told = camber("info", shared, "--verify")
    assert code == 0
    assert "a kernel model" in told
    assert "source_ngrams" in told
    assert ("duality_gap" in told) == (shared.name == "mmr")
    ids = np.load(model / "rules/pairs/target_ids.npy")
    ids[3] += 1
    np.save(model / "rules/pairs/target_ids.npy", ids)
    code, told = camber("info", model, "--verify")
    assert code != 0
    assert "target_ids.npy" in told


def test_added_pairs_join_the_regression_at_once_and_exact_repeats_come_back(model: Path) -> None:
    asked = "¿ dónde está el zorbo ?"
    before = load(model)
    assert "blorp" not in before.translate([asked], engine=Threads(1))[0]
    after = add(model, *NEW, engine=Threads(1))
    known, more = (one.decoder.regression.vectors for one in (before, after))
    assert len(more) == len(known) + 2
    assert len(more.target_grams) > len(known.target_grams)
    assert "blorp" in after.translate([asked], engine=Threads(1))[0]
    assert after.translate(NEW[0], engine=Threads(1)) == NEW[1]
    again = load(model)
    assert again.translate([asked, *NEW[0]], engine=Threads(2)) == after.translate([asked, *NEW[0]], engine=Threads(1))
    assert "added_pairs                       2" in camber("info", model)[1]


def test_what_needs_weights_says_that_there_are_none(shared: Path, hotel_files: Path, tmp_path: Path) -> None:
    dev = ("--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en")
    for words in (("tune", shared, *dev), ("tune", shared, *dev, "--bend", "mnr"), ("curves", shared)):
        code, told = camber(*words)
        assert code != 0
        assert "has no weights to tune or to bend" in " ".join(told.split())
    text = ("--source", hotel_files / "train.es", "--target", hotel_files / "train.en")
    code, told = camber("nbest-folds", *text, "--method", "kernel", "--out", tmp_path / "list")
    assert code != 0
    assert "kernel" in told
    assert "weights" in told
    for flags in (("--bend", "mnr"), ("--lm-order", 3), ("--tuner", "mert")):
        code, told = camber("train", *text, "--method", "kernel", "--model", tmp_path / "m", *flags)
        assert code == 2
        assert "whose models have no weights" in " ".join(told.split())
    settings = TrainSettings.from_dict({"tune": {"bend": "mnr"}})
    with pytest.raises(SettingsError, match="no weights to bend"):
        train(text[1], text[3], tmp_path / "m", method="kernel", settings=settings)
    with pytest.raises(SettingsError, match="no language model"):
        train(text[1], text[3], tmp_path / "m", method="kernel", lm=tmp_path / "arpa")
    assert not (tmp_path / "m").exists()


def test_flags_of_the_other_regression_are_refused(hotel_files: Path, tmp_path: Path) -> None:
    text = ("--source", hotel_files / "train.es", "--target", hotel_files / "train.en", "--model", tmp_path / "m")
    for kind, flag in (("lsr", "--kernel-cost"), ("mmr", "--kernel-ridge"), ("mmr", "--preimage-scale")):
        code, told = camber("train", *text, "--method", "kernel", "--kernel-regression", kind, flag, 2)
        assert code == 2
        assert f"--kernel-regression {kind}" in " ".join(told.split())
    assert camber("train", *text, "--method", "phrase", "--kernel-order", 2)[0] == 2


def test_the_same_bytes_on_one_thread_and_on_two_and_resumed_training_runs_what_changed(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = (trained(hotel_files, tmp_path / f"m{n}", "lsr", engine=Threads(n)) for n in (1, 2))
    names = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(two) for path in two.rglob("*") if path.is_file())
    for name in names:
        if name.name != "model.toml":  # has the time
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert load(one).decoder.settings.scale >= 1.0
    caplog.set_level("INFO")
    caplog.clear()
    trained(hotel_files, one, "lsr")
    assert "scale 1.0" not in caplog.text  # chosen before, and kept
    trained(hotel_files, one, "mmr")
    assert "duality gap" in caplog.text
    assert "align …" not in caplog.text
    assert load(one).decoder.regression.vectors.spectrum.order == 3


def test_a_dev_set_is_not_needed_and_files_that_do_not_fit_are_refused(hotel_files: Path, tmp_path: Path) -> None:
    text = ("--source", hotel_files / "train.es", "--target", hotel_files / "train.en")
    code, _ = camber("train", *text, "--method", "kernel", "--held-out", 0, "--model", tmp_path / "m")
    assert code == 0
    assert load(tmp_path / "m").decoder.settings.scale == 0.0  # taken as 1
    write_lines(tmp_path / "short", ["one line"])
    text = ("--source", hotel_files / "train.es", "--target", tmp_path / "short")
    code, told = camber("train", *text, "--method", "kernel", "--model", tmp_path / "n")
    assert code != 0
    assert "short" in told


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("source_ids", 5, 1 << 30, "numbers from 0 to 1073741824"),
        ("target_ids", 0, -2, "numbers from -2"),
        ("source_offsets", 3, 1 << 40, "offsets that fall"),
        ("target_offsets", -1, 7, "offsets"),
        ("alphas", 2, np.nan, "expected finite ones"),
        ("alphas", 2, -1.0, "at least 0"),
    ],
)
def test_what_kernels_index_by_is_checked_when_a_model_is_opened(
    name: str, place: int, value: float, problem: str, model: Path
) -> None:
    path = model / "rules" / "pairs" / f"{name}.npy"
    if not path.exists():
        assert (name, model.name) == ("alphas", "lsr")
        return
    array = np.load(path)
    array[place] = value
    np.save(path, array)
    reseal(model)
    with pytest.raises(ModelError, match=problem) as caught:
        load(model)
    assert path.name in str(caught.value)


def test_sides_of_different_lengths_are_refused(model: Path) -> None:
    path = model / "rules" / "pairs" / "target_offsets.npy"
    np.save(path, np.load(path)[:-1])
    reseal(model)
    with pytest.raises(ModelError, match=r"target_offsets\.npy: shape"):
        load(model)


@pytest.mark.parametrize("cost", [0.3, 10.0])
def test_multipliers_of_added_pairs_are_at_their_best_beside_those_that_stay(cost: float) -> None:
    rng = np.random.default_rng(3)
    texts = [[[f"w{n}" for n in rng.integers(0, 9, rng.integers(1, 7))] for _ in range(90)] for _ in range(2)]
    bitext = Bitext.encode(*texts)
    vectors = Vectors.of(bitext, Spectrum(order=2))
    first = Vectors.of(Bitext.encode(texts[0][:20], texts[1][:20]), Spectrum(order=2))
    alphas = MarginRegression(cost=cost).fit(first.source, first.target).alphas
    everything = continued(vectors, alphas, cost)
    assert everything[:20].tolist() == alphas.tolist()
    tables = []
    for side in (vectors.source, vectors.target):
        table = side.dense() - side.dense().mean(0)
        tables.append(table / Centred.of(side).lengths[:, None])
    quadratic = (tables[0] @ tables[0].T) * (tables[1] @ tables[1].T)
    # the last pairs were found beside all others: no step of any of them alone would be better
    slopes, last = (quadratic @ everything - 1.0)[84:], everything[84:]
    assert (slopes[last <= 0.0] >= -1e-4).all()
    assert (slopes[last >= cost] <= 1e-4).all()
    inside = (last > 0.0) & (last < cost)
    assert np.abs(slopes[inside]).max(initial=0.0) < 1e-4
