"""Every task can run in another process: what it needs can be pickled, and it writes into nothing that is shared."""

import shutil

import pytest
from toys.engines import Pickled

import camber
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.pipeline.add import add
from camber.pipeline.extract import extract_hiero
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

SETTINGS = {"lm": {"order": 3}, "tune": {"iterations": 2, "nbest": 20, "tuner": "mert"}}


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["phrase", "hiero"])
def test_training_and_translating(method, hotel_files, tmp_path, monkeypatch):
    monkeypatch.setattr("camber.lm.counting._PART", 1000)
    engines = {"here": Threads(1), "there": Pickled()}
    for name, engine in engines.items():
        train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / name,
            method=method,
            dev_source=hotel_files / "dev.es",
            dev_target=hotel_files / "dev.en",
            settings=TrainSettings.from_dict(SETTINGS),
            engine=engine,
        )
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    lines = list(read_lines(hotel_files / "test.es"))
    here, there = (list(camber.load(tmp_path / "here").translate(lines, engine=engine)) for engine in engines.values())
    assert here == there
    ran = {task.split(".")[1] for task in engines["there"].tasks if task.startswith("camber.")}
    assert ran == {"pipeline", "align", "lm", "decode", "tune", "memory"} | ({"rules"} if method == "phrase" else set())


@pytest.mark.parametrize("model", ["hotel_model", "hotel_hiero"])
def test_models_with_added_pairs(model, request, tmp_path):
    path = tmp_path / "model"
    shutil.copytree(request.getfixturevalue(model), path)
    add(path, ["el perro verde duerme"], ["the green dog sleeps"], engine=Pickled())
    lines = ["el perro verde habla", "el perro verde duerme", "buenas noches"]
    translator = camber.load(path)
    assert list(translator.translate(lines, engine=Pickled())) == list(translator.translate(lines, engine=Threads(1)))


def test_extracting_the_rules_of_a_text(tmp_path):
    write_lines(tmp_path / "s", ["la casa verde", "la casa"])
    write_lines(tmp_path / "t", ["the green house", "the house"])
    write_lines(tmp_path / "links", ["0-0 1-2 2-1", "0-0 1-1"])
    for name, engine in (("here", Threads(2)), ("there", Pickled())):
        files = (tmp_path / file for file in ("s", "t", "links", name, "s"))
        assert extract_hiero(*files, engine=engine) > 0
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert len(contents(tmp_path / "here")) == 2
