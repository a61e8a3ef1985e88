"""Stages run once for the same inputs and settings."""

import logging
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import camber
from camber.errors import CamberError, InputError
from camber.pipeline.stages import Stages
from camber.settings import Settings, setting


@dataclass(frozen=True)
class ToySettings(Settings):
    order: int = setting(5, "order")


class Pipeline:
    """read → count, and read → lm, both → rules; remembers which stages ran."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.text = folder / "work", folder / "text"
        self.text.write_text("a b c\n")
        self.ran: list[str] = []
        self.fail = ""

    def fill(self, name: str, content: str):
        def function(folder: Path) -> None:
            self.ran.append(name)
            (folder / "sub").mkdir()
            (folder / "sub" / "out.txt").write_text(content)
            if name == self.fail:
                raise KeyboardInterrupt

        return function

    def __call__(self, order: int = 5, version: int = 1) -> list[str]:
        self.ran = []
        with Stages(self.folder) as stages:
            read = stages.run("read", {"text": self.text}, self.fill("read", self.text.read_text()), version=version)
            count = stages.run("count", {"read": read}, self.fill("count", "3"))
            lm = stages.run("lm", {"read": read, "settings": ToySettings(order)}, self.fill("lm", str(order)))
            rules = stages.run("rules", {"parts": [count, lm]}, self.fill("rules", "r"))
            assert (rules.folder / "sub" / "out.txt").read_text() == "r"
        return self.ran


@pytest.fixture
def pipeline(tmp_path):
    return Pipeline(tmp_path)


def test_an_unchanged_stage_is_not_run_again(pipeline, caplog):
    assert pipeline() == ["read", "count", "lm", "rules"]
    with caplog.at_level(logging.INFO, "camber"):
        assert pipeline() == []
    assert "lm: unchanged, kept" in caplog.text


def test_a_changed_setting_runs_its_stage_and_what_depends_on_it(pipeline):
    pipeline()
    assert pipeline(order=4) == ["lm", "rules"]
    assert pipeline(order=4) == []


def test_a_changed_input_file_runs_everything_and_a_touched_one_nothing(pipeline):
    pipeline()
    os.utime(pipeline.text, (1, 1))
    assert pipeline() == []
    pipeline.text.write_text("a b d\n")
    assert pipeline() == ["read", "count", "lm", "rules"]


def test_a_changed_code_version_runs_the_stage(pipeline, monkeypatch):
    pipeline()
    assert pipeline(version=2) == ["read", "count", "lm", "rules"]
    monkeypatch.setattr(camber, "__version__", "99")
    assert pipeline(version=2) == ["read", "count", "lm", "rules"]


def test_changed_sources_run_the_stage(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "toy_stage_code").mkdir()
    source = tmp_path / "toy_stage_code" / "__init__.py"
    runs = []
    for text in ("x = 1", "x = 1", "x = 2"):
        source.write_text(text)
        with Stages(tmp_path / "work") as stages:
            stages.run("toy", {}, runs.append, code=["toy_stage_code", "camber.errors"])
    assert len(runs) == 2
    with Stages(tmp_path / "work") as stages, pytest.raises(ValueError, match="no module"):
        stages.run("toy", {}, runs.append, code=["camber.absent"])


@pytest.mark.parametrize("reached", ["read", "lm", "rules"])
def test_an_interrupted_run_resumes_at_the_stage_it_had_reached(pipeline, reached):
    pipeline.fail = reached
    with pytest.raises(KeyboardInterrupt):
        pipeline()
    before, pipeline.fail = pipeline.ran, ""
    assert before[-1] == reached
    assert pipeline() == ["read", "count", "lm", "rules"][len(before) - 1 :]
    assert not [name for name in os.listdir(pipeline.folder) if name.startswith(".")]


def test_a_damaged_or_removed_output_is_made_again(pipeline):
    pipeline()
    (pipeline.folder / "lm" / "sub" / "out.txt").write_text("")
    assert pipeline() == ["lm"]
    output = pipeline.folder / "lm" / "sub" / "out.txt"
    output.write_bytes(bytes([output.read_bytes()[0] ^ 1]) + output.read_bytes()[1:])  # as long as before
    assert pipeline() == ["lm"]
    (pipeline.folder / "count" / "stage.json").unlink()
    assert pipeline() == ["count"]
    (pipeline.folder / "count" / "stage.json").write_text("{")
    assert pipeline() == ["count"]
    (pipeline.folder / "rules" / "sub" / "out.txt").unlink()
    assert pipeline() == ["rules"]


KILLED = """
import sys, time
from camber.pipeline.stages import Stages
def hang(folder):
    (folder / "half").write_text("half")
    print("ready", flush=True)
    time.sleep(60)
with Stages(sys.argv[1]) as stages:
    stages.run("done", {}, lambda folder: (folder / "whole").write_text("whole"))
    stages.run("hang", {}, hang)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_two_trainings_exclude_each_other_and_a_dead_one_is_taken_over(tmp_path):
    with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"ready\n"
        with pytest.raises(CamberError, match=f"in use by another process .number {other.pid}"), Stages(tmp_path):
            pytest.fail("two at once")
        other.send_signal(signal.SIGKILL)
    assert (tmp_path / ".lock").exists()
    with Stages(tmp_path) as stages:
        assert sorted(os.listdir(tmp_path)) == [".lock", "done"]
        assert stages.run("done", {}, pytest.fail).kept
        assert not stages.run("hang", {}, lambda folder: None).kept
    assert sorted(os.listdir(tmp_path)) == ["done", "hang"]


def test_inputs_may_be_plain_values_arrays_files_folders_and_settings(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("a")

    def inputs(array=(1, 2), text="x", order=5, flag=True):
        return {
            "array": np.array(array),
            "values": {"text": text, "none": None, "list": [1, 2.5, (3, np.int64(4))]},
            "settings": ToySettings(order),
            "folder": tmp_path / "data",
            "flag": flag,
        }

    def kept(given) -> bool:
        with Stages(tmp_path / "work") as stages:
            return stages.run("one", given, lambda folder: None).kept

    assert not kept(inputs())
    assert kept(inputs())
    for changed in (inputs(array=(1, 3)), inputs(text="y"), inputs(order=4), inputs(flag=False)):
        assert not kept(changed)
        assert kept(changed)
    (tmp_path / "data" / "b").write_text("")
    assert not kept(inputs(flag=False))
    with pytest.raises(TypeError, match="cannot depend on a set"):
        kept({"set": {1}})
    with pytest.raises(InputError, match="no such file"):
        kept({"file": tmp_path / "absent"})
    with pytest.raises(ValueError, match="not JSON compliant"):
        kept({"number": float("nan")})


@pytest.mark.skipif(os.name == "nt", reason="needs permissions")
def test_folders_honour_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with Stages(tmp_path / "work") as stages:
            place = stages.run("one", {}, lambda folder: None).folder
    finally:
        os.umask(old)
    assert place.stat().st_mode & 0o777 == 0o750


def test_a_failed_first_stage_leaves_no_empty_work_folder(pipeline):
    pipeline.fail = "read"
    with pytest.raises(KeyboardInterrupt):
        pipeline()
    assert not pipeline.folder.exists()
    pipeline.fail = "lm"
    with pytest.raises(KeyboardInterrupt):
        pipeline()
    assert sorted(os.listdir(pipeline.folder)) == ["count", "read"]


def test_misuse_is_told(tmp_path):
    with pytest.raises(RuntimeError, match="with Stages"):
        Stages(tmp_path).run("a", {}, print)
    with Stages(tmp_path / "work") as stages:
        stages.run("a", {}, lambda folder: None)
        for name in ("a", "../b", "", ".new"):
            with pytest.raises(ValueError, match="plain name of its own"):
                stages.run(name, {}, lambda folder: None)
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(CamberError, match=r"in the way|cannot be written"), Stages(place):
            pytest.fail("entered")


def test_outputs_that_are_not_used_can_be_removed(pipeline):
    pipeline()
    (pipeline.folder / "notes").mkdir()
    with Stages(pipeline.folder) as stages:
        stages.run("read", {"text": pipeline.text}, pytest.fail)
        stages.prune()
    assert sorted(os.listdir(pipeline.folder)) == ["notes", "read"]
    with Stages(pipeline.folder) as stages:
        stages.remove()
    assert os.listdir(pipeline.folder) == ["notes"]
    (pipeline.folder / "notes").rmdir()
    with Stages(pipeline.folder) as stages:
        stages.remove()
    assert not pipeline.folder.exists()
