"""Models whose files were changed, with checksums that say that all is well: an answer or a clear error, never a crash.

Some changes in every run of the tests, many with CAMBER_ADVERSARY=all (`make adversary`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from adversary import tampering
from adversary.tampering import reseal
from adversary.trials import tell
from adversary.zoo import LINES, ZOO

from camber.arrays.checks import Checks
from camber.errors import ModelError
from camber.model.translator import load

ALL = os.environ.get("CAMBER_ADVERSARY") == "all"
TRIALS = 500 if ALL else 40
#: in every run of the tests, these: most sorts of files are in one of them
FEW = ("large-added", "hiero-added", "kernel-margin", "table", "grammars", "rerank-trees", "rerank-mixture")


def attack(model: Path, seed: int = 1, **variables: str) -> dict[str, int]:
    """Change a model again and again, in a process of its own; return how often what came out."""
    script = Path(tampering.__file__)
    search = os.pathsep.join([*sys.path, str(script.parents[1])])
    environment = {**os.environ, "PYTHONPATH": search, **variables}
    command = [sys.executable, str(script), str(model), str(seed), str(TRIALS), *LINES]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=7200, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-2000:]}"
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    tell(f"tampering with {model.name}{' under bounds checks' if variables else ''}: {counts}")
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ZOO if ALL else FEW)
def test_changed_models_answer_or_are_refused(kind, hotel_files, tmp_path):
    counts = attack(ZOO[kind](hotel_files, tmp_path / kind))
    assert counts["refused"] > TRIALS // 5


@pytest.mark.slow
@pytest.mark.skipif(not ALL, reason="kernels are compiled anew: only with CAMBER_ADVERSARY=all")
@pytest.mark.parametrize("kind", ZOO)
def test_no_kernel_leaves_the_arrays_of_a_changed_model(kind, hotel_files, tmp_path, checked_kernels):
    attack(ZOO[kind](hotel_files, tmp_path / kind), 2, NUMBA_BOUNDSCHECK="1", CAMBER_CACHE=str(checked_kernels))


@pytest.fixture(scope="module")
def checked_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for kernels that check bounds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def model(hotel_model, tmp_path) -> Path:
    """A model to be changed."""
    return Path(shutil.copytree(hotel_model, tmp_path / "m"))


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("rules/target_ids", 7, 1 << 30, "numbers from 0 to 1073741824"),
        ("rules/source_ids", 0, -1, "numbers from -1"),
        ("rules/target_offsets", 3, 1 << 40, "offsets that fall"),
        ("rules/rule_offsets", -1, 5, "offsets"),
        ("rules/links", (0, 0), 200, "a link outside its words"),
        ("rules/scores", (4, 1), np.nan, "expected finite ones and at least 0"),
    ],
)
def test_what_kernels_index_by_is_checked_whatever_checksums_say(name, place, value, problem, model):
    array = np.load(model / f"{name}.npy")
    array[place] = value
    np.save(model / f"{name}.npy", array)
    reseal(model)
    with pytest.raises(ModelError, match=problem) as caught:
        load(model)
    assert f"{name}.npy" in str(caught.value)


@pytest.mark.parametrize(
    ("array", "field"),
    [("nodes", "word"), ("nodes", "next"), ("nodes", "log"), ("children", "next"), ("children", "log")],
)
def test_a_language_model_that_would_lead_astray_is_refused(array, field, model):
    path = next(model.rglob(f"lm.{array}.npy"))
    cells = np.load(path)
    cells[field][len(cells) // 2] = np.nan if field == "log" else 1 << 30
    np.save(path, cells)
    reseal(model)
    with pytest.raises(ModelError, match="contradicts"):
        load(model)


def test_a_full_hash_table_of_a_language_model_is_refused(model):
    path = next(model.rglob("lm.nodes.npy"))
    cells = np.load(path)
    at = 1
    while cells["word"][at] <= 8:  # a node with a hash table
        at += 1 + cells["word"][at]
    inside = slice(at + 1, at + 1 + cells["word"][at])
    free = cells["word"][inside] < 0
    cells["word"][inside][free], cells["next"][inside][free] = 3, 0
    np.save(path, cells)
    reseal(model)
    with pytest.raises(ModelError, match=f"cell {at} contradicts"):
        load(model)


def test_checks_tell_file_problem_and_remedy():
    checks = Checks(Path("m"), "fit it again")
    with pytest.raises(ModelError, match=r"m/x\.npy: numbers that do not rise; fit it again"):
        checks.rising("x", np.array([1, 1]))
    with pytest.raises(ModelError, match=r"shape \(2,\), expected \(3,\)"):
        checks.shape("x", np.zeros(2), 3)
    with pytest.raises(ModelError, match="offsets from 1 to 2, expected 0 to 2"):
        checks.offsets("x", np.array([1, 2]), 1, 2)
    checks.finite("x", np.zeros(0))
    checks.below("x", np.zeros(0, np.int64), 0)
