"""What runs benchmarks: figures are collected and compared, commands measured, peers called as they want to be."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SCRIPT = """
from figures import note
note("queries, times the peer", {speed})
note("memory, MB", {memory}, more_is_better=False)
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch):
    """Import a module of the benchmarks."""

    def imported(name: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(BENCHMARKS))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return imported


def run_all(module: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str, **values: float) -> int:
    shutil.copy(BENCHMARKS / "figures.py", folder)
    (folder / "script.py").write_text(SCRIPT.format(**values) if values else "raise SystemExit(3)")
    monkeypatch.setattr(module, "HERE", folder)
    monkeypatch.setattr(sys, "argv", ["all.py", "script", "--out", str(folder / "out.json"), *words])
    return int(module.main())


def test_a_second_run_names_what_became_slower(module, monkeypatch, tmp_path, capfd) -> None:
    every = module("all")
    assert run_all(every, monkeypatch, tmp_path, speed=2.0, memory=100) == 0
    found = json.loads((tmp_path / "out.json").read_text())["script"]["figures"]
    assert {name: row["value"] for name, row in found.items()} == {"queries, times the peer": 2.0, "memory, MB": 100.0}
    assert "slower" not in capfd.readouterr().out
    assert run_all(every, monkeypatch, tmp_path, speed=1.9, memory=80) == 0
    assert "nothing became slower by more than 10 %" in capfd.readouterr().out
    assert run_all(every, monkeypatch, tmp_path, "--strict", speed=1.0, memory=160) == 1
    told = capfd.readouterr().out
    assert "slower: script: queries, times the peer: 1.9 → 1 (47 % worse)" in told
    assert "slower: script: memory, MB: 80 → 160 (50 % worse)" in told


def test_seconds_of_another_processor_say_nothing(module, monkeypatch, tmp_path, capfd) -> None:
    every = module("all")
    run_all(every, monkeypatch, tmp_path, speed=2.0, memory=100)
    monkeypatch.setattr(every, "processor", lambda: "another one")
    assert run_all(every, monkeypatch, tmp_path, "--strict", speed=2.0, memory=200) == 0
    assert run_all(every, monkeypatch, tmp_path, "--strict", speed=1.0, memory=200) == 1


def test_a_script_that_fails_is_named(module, monkeypatch, tmp_path, capfd) -> None:
    assert run_all(module("all"), monkeypatch, tmp_path) == 1
    assert "failed: script" in capfd.readouterr().out


def test_all_that_is_run_by_default_is_there(module) -> None:
    assert all((BENCHMARKS / f"{name}.py").is_file() for name in module("all").SCRIPTS)


def test_the_memory_of_a_command_is_its_own(module, tmp_path) -> None:
    peers = module("peers")
    large = bytearray(200_000_000)
    small = peers.run([sys.executable, "-S", "-c", "print('done')"], tmp_path)
    assert small.printed == "done\n"
    assert small.megabytes < 100 < len(large) / 1e6
    assert peers.run([sys.executable, "-S", "-c", "large = b'x' * 150_000_000"], tmp_path).megabytes > 140


def test_a_command_that_fails_is_told(module, tmp_path) -> None:
    with pytest.raises(SystemExit, match="ended with 3"):
        module("peers").run([sys.executable, "-S", "-c", "raise SystemExit(3)"], tmp_path)
    with pytest.raises(SystemExit, match="ended with"):
        module("peers").run([tmp_path / "absent"], tmp_path)


def test_commands_run_in_turn(module) -> None:
    peers, order = module("peers"), []
    works = {name: lambda name=name: order.append(name) or peers.Run(1.0, 1.0, 1.0, name, "") for name in ("a", "b")}
    runs = peers.in_turn(3, **works)
    assert order == ["a", "b"] * 3
    assert [one.printed for one in runs["b"]] == ["b"] * 3
    assert str(peers.spread([3.0, 1.0, 2.0])) == "2 (1-3)"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
def test_instructions_are_counted(module, tmp_path) -> None:
    peers = module("peers")
    few, many = (peers.instructions(["/bin/sh", "-c", f"i=0; while [ $i -lt {count} ]; do i=$((i+1)); done"], tmp_path)
                 for count in (10, 10_000))  # fmt: skip
    assert many - few > 9990 * 100
    assert peers.instructions(["/bin/false"], tmp_path) is None


def test_scores_of_a_list_are_those_of_its_first_hypotheses(module) -> None:
    lines = ["0 ||| a b ||| LM= -1 ||| -2.5", "0 ||| a ||| LM= -1 ||| -9", "1 ||| c ||| LM= -1 ||| -3.5"]
    assert module("peers").mean_score(lines) == -3.0


def test_memory_that_grows_in_the_second_half_of_a_soak_is_not_flat(module) -> None:
    soak = module("soak")

    def verdict(own: list[float]) -> bool:
        series = [soak.Memory(5.0 * k, megabytes, 0.0, 10) for k, megabytes in enumerate(own)]
        return bool(soak._series(series, series))

    assert verdict([200 + min(k, 50) for k in range(100)])  # it reached its size
    assert not verdict([200 + 0.6 * k for k in range(100)])
    assert verdict([])
