"""Models whose files were changed, with checksums that say that all is well: an answer or a clear error, never a crash.

Some changes in every run of the tests, many with CAMBER_ADVERSARY=all (`make adversary`).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adversary import tampering
from adversary.tampering import CALL_SEAL, reseal, write_manifest
from adversary.trials import tell
from adversary.zoo import LINES, ZOO

from camber.align.lexical import LexicalTable
from camber.arrays.checks import Checks
from camber.arrays.files import open_array
from camber.bend.kinds import BENDS, NONE, bend_class
from camber.bend.mixtures import bend as mixtures
from camber.cli.info import command as info
from camber.errors import CamberError, ModelError
from camber.model.directory import _SEAL as SEAL
from camber.model.directory import ModelDirectory, write_model
from camber.model.kinds import KINDS
from camber.model.translator import load
from camber.pipeline.add import add
from camber.pipeline.methods import METHODS
from camber.rerank.learners import LEARNERS

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


def test_the_zoo_has_every_kind_of_model_method_bend_and_learner():
    """A kind that is new gets a model there."""
    named = {str(value) for make in ZOO.values() if isinstance(make, partial) for value in flat(make.keywords)}
    methods = {METHODS.load(name) for name in METHODS if name == "phrase" or name in named}
    assert methods == set(map(METHODS.load, METHODS))
    others = {"combination", "hiero-grammars"}  # `_combined`, `_grammars`
    assert {method.kind for method in methods} | others == set(KINDS)
    assert {bend_class(name) for name in (NONE, *BENDS) if name == NONE or name in named} == set(map(bend_class, BENDS))
    fitted = {name.split("-")[1] for name in named if name.startswith("rerank-")}
    assert set(map(LEARNERS.load, fitted)) == set(map(LEARNERS.load, LEARNERS))


def flat(values: Any) -> Iterator[Any]:
    """Yield the values inside of values."""
    if isinstance(values, dict):
        for value in values.values():
            yield from flat(value)
    elif isinstance(values, partial):
        yield from flat(values.keywords)
    else:
        yield values


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
        ("rules/source_ids", 0, 50, "does not come after the one before it"),
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


HEADERS = {
    "no array": b"\x00" * 64,
    "cut short": b"\x93NUMPY\x01\x00",
    "no header": b"\x93NUMPY\x01\x00v\x00" + b"(" * 118,
    "rows without end": b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999, 3), }".ljust(117) + b"\n",
    "objects": b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }".ljust(117) + b"\n",
    "a missing key": b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<i4', 'shape': (3,), }".ljust(117) + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(
    "reader",
    [
        lambda path: open_array(path, np.int32, 2),
        LexicalTable.load,
        mixtures._read_array,
        lambda path: ModelDirectory.open(path.parent).array(path.name),
    ],
    ids=["array", "lexicon", "kernels", "directory"],
)
def test_damaged_headers_are_clear_errors(header, reader, tmp_path):
    with write_model(tmp_path / "m", "toy") as draft:
        draft.path("a.npy").write_bytes(HEADERS[header])
    with pytest.raises(CamberError, match=r"a\.npy"):
        reader(tmp_path / "m" / "a.npy")


def test_an_array_stored_by_columns_is_refused(model):
    """Kernels would be compiled for it, which looks like a hang."""
    path = model / "rules" / "scores.npy"
    np.save(path, np.asfortranarray(np.load(path)))
    reseal(model)
    with pytest.raises(ModelError, match="stored by columns"):
        load(model)


def test_a_vocabulary_with_a_word_twice_is_a_clear_error(model):
    path = model / "rules" / "source.vocabulary.txt"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], lines[0]]) + "\n", "utf-8")
    reseal(model)
    with pytest.raises(ModelError, match="a word occurs twice"):
        load(model)


@pytest.mark.parametrize(
    "line",
    [
        "more = " + "[" * 50_000 + "]" * 50_000,
        "more = " + "9" * 5000,
        "more = '\ud800'",
        "[settings.bent]\nkind = ['x']",
    ],
    ids=["depth", "digits", "half a character", "no name"],
)
def test_a_manifest_that_no_parser_likes_is_a_clear_error(line, model):
    place = model / "model.toml"
    text = place.read_text("utf-8").rpartition("\n# sha256")[0] + "\n" + line + "\n"
    data = text.encode("utf-8", "surrogatepass")
    place.write_bytes(data + SEAL.encode() + hashlib.sha256(data).hexdigest().encode() + b"\n")
    with pytest.raises(CamberError):
        load(model)
    with pytest.raises(CamberError):
        info.main([str(model), "--verify"], standalone_mode=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("instead", ["a pipe", "a folder", "a device"])
@pytest.mark.parametrize("name", ["model.toml", "weights.tsv", "rules/scores.npy", "pairs.jsonl", "aligner.json"])
def test_what_is_no_file_is_refused(name, instead, model):
    """Whoever opens a pipe waits until somebody writes to it, and some devices do not end."""
    add(model, ["¡ hasta el martes !"], ["see you on Tuesday !"])
    path = next(model.rglob(name))
    path.unlink()
    if instead == "a pipe":
        os.mkfifo(path)
    elif instead == "a folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    if name != "model.toml":
        manifest = tomllib.loads((model / "model.toml").read_text("utf-8"))
        if facts := manifest["files"].get(name):
            facts |= {"bytes": path.stat().st_size, "sha256": hashlib.sha256().hexdigest()}
        write_manifest(model, manifest)
    with pytest.raises(ModelError, match=r"not a file|not a Camber model"):
        load(model).directory.journal.lessons()


def test_a_journal_with_other_values_is_a_clear_error(model):
    add(model, ["¡ hasta el martes !"], ["see you on Tuesday !"])
    path = next((model / "added").rglob("pairs.jsonl"))
    body = path.read_bytes().split(CALL_SEAL)[0]
    for old, new in ((b'"links":"', b'"links":"x '), (b'"tokens":"', b'"tokens":3,"more":"'), (b"{", b"[" * 99999)):
        changed = body.replace(old, new)
        assert changed != body
        path.write_bytes(changed + CALL_SEAL + hashlib.sha256(changed).hexdigest().encode() + b"\n")
        with pytest.raises(ModelError, match="not what was added"):
            load(model)


def test_what_is_verified_is_all_that_kernels_index_by(model):
    """A bit in the middle of a file, with checksums to match: `camber info --verify` finds it."""
    path = model / "align" / "entry_targets.npy"
    array = np.load(path)
    array[len(array) // 2] = 1 << 30
    np.save(path, array)
    reseal(model)
    with pytest.raises(ModelError, match=r"entry_targets\.npy: numbers from"):
        info.main([str(model), "--verify"], standalone_mode=False)
