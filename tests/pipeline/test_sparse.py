"""camber train --method sparse: models whose sentences are translated by what pairs selected for them teach."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from adversary.tampering import reseal
from click.testing import CliRunner

import camber
from camber.cli import cli
from camber.engine import Threads
from camber.errors import ModelError, SettingsError
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

pytestmark = pytest.mark.slow
QUICK = {"lm": {"order": 3}, "align": {"model": "quick"}, "tune": {"iterations": 2, "nbest": 20, "tuner": "mert"}}


def trained(files: Path, path: Path, decoder: str, *, tuned: bool = False, **sparse: object) -> Path:
    tables = {**QUICK, "sparse": {"decoder": decoder, "instances": 40, **sparse}}
    dev = {"dev_source": files / "dev.es", "dev_target": files / "dev.en"}
    train(
        files / "train.es", files / "train.en", path, method="sparse", settings=TrainSettings.from_dict(tables),
        tuned=tuned, **dev,
    )  # fmt: skip
    return path


@pytest.fixture(scope="module")
def graph(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(hotel_files, tmp_path_factory.mktemp("sparse") / "graph", "graph", tuned=True)


def bleu(files: Path, lines: list[str]) -> float:
    metric = BLEU()
    return float(metric.score(metric.statistics(lines, [read_lines(files / "test.en")]).sum(0)))


@pytest.mark.parametrize(
    ("decoder", "least"), [("table", 20.0), ("individual", 40.0), ("mixed", 40.0), ("feature", 40.0)]
)
def test_every_decoder_trains_tunes_and_translates(decoder, least, hotel_files, tmp_path):
    model = camber.load(trained(hotel_files, tmp_path / "m", decoder, tuned=True))
    lines = read_lines(hotel_files / "test.es")
    output = model.translate(lines, engine=Threads(1))
    assert output == model.translate(lines, engine=Threads(3))
    assert bleu(hotel_files, output) > least
    (best,) = model.translations(["quiero una habitación doble"], nbest=5)
    assert len(best) > 1
    links = model.decoder.word_alignment(best[0].derivation)
    words = len(best[0].derivation.words)
    assert links
    assert all(s < len(best[0].tokens) and t < words for s, t in links)
    (begun,) = model.translate(["quiero una habitación doble"], prefix="I need", engine=Threads(1))
    assert begun.startswith("I need ")


def test_graphs_are_decoded_the_same_on_any_number_of_threads(graph, hotel_files):
    model = camber.load(graph)
    lines = [*read_lines(hotel_files / "test.es"), "", "zorbo blorp", "y " * 400]
    output = model.translate(lines, engine=Threads(1))
    assert output == model.translate(lines, engine=Threads(3))
    assert bleu(hotel_files, output[:-3]) > 40.0
    assert output[-3] == ""
    assert sorted(output[-2].split()) == ["blorp", "zorbo"]  # nothing says in which order


def test_lists_have_the_features_of_paths(graph, hotel_files, tmp_path):
    model, files = str(graph), hotel_files
    command = ["translate", model, "--input", str(files / "test.es"), "--output", str(tmp_path / "out"), "--nbest", "5"]
    told = CliRunner().invoke(cli, [*command, "--nbest-file", str(tmp_path / "list")])
    assert told.exit_code == 0, told.output
    line = read_lines(tmp_path / "list")[0]
    assert all(f"{name}=" in line for name in ("regression_1", "regression_2", "lm", "brevity", "glue"))


def test_info_tells_what_the_model_is(graph):
    told = CliRunner().invoke(cli, ["info", str(graph), "--verify"])
    assert told.exit_code == 0, told.output
    assert "a sparse model" in told.output
    assert "regression_2" in told.output
    assert "every file is as it was written" in told.output


def test_tuning_again_works(graph, hotel_files, tmp_path):
    files = ["--dev-source", str(hotel_files / "dev.es"), "--dev-target", str(hotel_files / "dev.en")]
    told = CliRunner().invoke(
        cli, ["tune", str(graph), *files, "--tuner", "pro", "--iterations", "2", "--out", str(tmp_path / "again")]
    )
    assert told.exit_code == 0, told.output
    assert camber.load(tmp_path / "again").translate(["la llave"])


@pytest.mark.parametrize("decoder", ["graph", "individual", "feature"])
def test_added_pairs_are_selected_at_once(decoder, graph, hotel_files, tmp_path):
    path = tmp_path / "m"
    if decoder == "graph":
        shutil.copytree(graph, path)
    else:
        trained(hotel_files, path, decoder)
    before = camber.load(path).translate(["el zorbo está en la habitación ."])[0]
    assert "blorp" not in before
    source = ["el zorbo está en la habitación .", "el zorbo está aquí .", "¿ dónde está el zorbo ?"]
    target = ["the blorp is in the room .", "the blorp is here .", "where is the blorp ?"]
    camber.add(path, source, target)
    assert "blorp" in camber.load(path).translate(["el zorbo está en la recepción ."])[0]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (
            ["--sparse-decoder", "table", "--graph-beam", "5"],
            "--graph-beam makes no difference to --sparse-decoder table",
        ),
        (["--sparse-share", "0.2"], "--sparse-share makes no difference to --sparse-decoder graph"),
        (["--sparse-decoder", "individual", "--sparse-regressor", "ridge"], "--sparse-regressor makes no difference"),
        (["--sparse-order", "1"], "paths go through n-grams of 2 words"),
        (["--sparse-regressor", "ridge", "--sparse-regressor-settings", "penalty=-1"], "expected at least"),
    ],
)
def test_flags_that_mean_nothing_are_refused(flags, told, hotel_files, tmp_path):
    files = ["--source", str(hotel_files / "train.es"), "--target", str(hotel_files / "train.en")]
    done = CliRunner().invoke(cli, ["train", *files, "--model", str(tmp_path / "m"), "--method", "sparse", *flags])
    assert done.exit_code == 2
    assert told in done.output
    assert not (tmp_path / "m").exists()


def test_features_that_the_whole_text_teaches_are_refused(hotel_files, tmp_path):
    tables = {**QUICK, "sparse": {"decoder": "individual"}, "rules": {"rule_features": "large"}}
    with pytest.raises(SettingsError, match="made for each sentence have no lex_s_given_t_subwords"):
        train(
            hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", method="sparse",
            settings=TrainSettings.from_dict(tables), held_out=0,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("target_ids", 7, 1 << 30, "numbers from 0 to 1073741824"),
        ("source_ids", 0, -1, "numbers from -1"),
        ("source_offsets", 3, 1 << 40, "offsets that fall"),
        ("link_offsets", -1, 5, "offsets"),
        ("links", (0, 1), 5000, "lies outside"),
    ],
)
def test_what_kernels_index_by_is_checked_whatever_checksums_say(name, place, value, problem, graph, tmp_path):
    model = Path(shutil.copytree(graph, tmp_path / "m"))
    array = np.load(model / f"instances/{name}.npy")
    array[place] = value
    np.save(model / f"instances/{name}.npy", array)
    reseal(model)
    with pytest.raises(ModelError, match=problem) as caught:
        camber.load(model)
    assert f"{name}.npy" in str(caught.value)
