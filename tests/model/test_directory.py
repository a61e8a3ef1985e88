"""The model directory: whole or absent, checked when it is opened."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import camber.model.directory as directory
from camber.errors import CamberError, InputError, ModelError
from camber.lock import Lock
from camber.model.directory import ModelDirectory, check_place, is_model, write_model
from camber.model.toml import write_toml


def make(path: Path, value: int = 1, big: int = 0) -> Path:
    with write_model(path, "phrase", {"lm": {"order": 5}}) as draft:
        draft.save("lm/numbers.npy", np.full(7, value))
        draft.path("words.txt").write_text("ein\nzwei\n")
        if big:
            draft.save("big.npy", np.arange(big))
        draft.sizes["rules"] = 12
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_written_model_opens_with_its_arrays_settings_and_sizes(tmp_path):
    model = ModelDirectory.open(make(tmp_path / "m"))
    assert model.array("lm/numbers.npy").tolist() == [1] * 7
    assert isinstance(model.array("lm/numbers.npy"), np.memmap)
    assert model.array("lm/numbers.npy").flags.writeable  # copy on write: one signature for the kernels
    assert model.settings == {"lm": {"order": 5}}
    assert model.sizes == {"rules": 12}
    assert model.kind == "phrase"
    assert "words.txt" in model
    assert "none.txt" not in model
    assert names(tmp_path) == ["m"]


def test_the_same_content_gives_the_same_bytes_and_the_signature_follows_the_settings(tmp_path):
    one, two = make(tmp_path / "one"), make(tmp_path / "two")
    assert (one / "model.toml").read_bytes() == (two / "model.toml").read_bytes()
    with write_model(tmp_path / "three", "phrase", {"lm": {"order": 4}}) as draft:
        draft.take_folder(one)  # carries no model.toml along
    assert ModelDirectory.open(tmp_path / "three").signature != ModelDirectory.open(one).signature


def test_an_empty_array_can_be_opened(tmp_path):
    with write_model(tmp_path / "m") as draft:
        draft.save("none.npy", np.zeros((0, 3)))
    assert ModelDirectory.open(tmp_path / "m").array("none.npy").shape == (0, 3)


def test_an_exception_leaves_nothing_and_keeps_the_old_model(tmp_path):
    with pytest.raises(KeyError), write_model(tmp_path / "m") as draft:
        draft.save("a.npy", {}["absent"])
    assert names(tmp_path) == []
    make(tmp_path / "m")
    with pytest.raises(KeyError), write_model(tmp_path / "m") as draft:
        raise KeyError
    assert names(tmp_path) == ["m"]
    ModelDirectory.open(tmp_path / "m", verify=True)


def test_a_new_model_replaces_the_old_one_entirely(tmp_path):
    make(tmp_path / "m", big=10)
    old = ModelDirectory.open(tmp_path / "m").array("lm/numbers.npy")
    make(tmp_path / "m", 2)
    model = ModelDirectory.open(tmp_path / "m")
    assert model.array("lm/numbers.npy").tolist() == [2] * 7
    assert "big.npy" not in model
    assert names(tmp_path) == ["m"]
    if os.name != "nt":
        assert old.tolist() == [1] * 7  # a process that has the old one open goes on


KILLED = """
import sys, time
from camber.model.directory import write_model
with write_model(sys.argv[1]) as draft:
    draft.path("half.txt").write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_writer_leaves_no_model_and_is_cleaned_up_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("camber.model.directory._WRITING", 0.0)
    with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "m"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"ready\n"
        with pytest.raises(CamberError, match=f"in use by another process .number {writer.pid}"):
            make(tmp_path / "m")
        writer.send_signal(signal.SIGKILL)
    assert any(name.startswith(".m.camber-new-") for name in names(tmp_path))
    with pytest.raises(ModelError, match="no such model"):
        ModelDirectory.open(tmp_path / "m")
    make(tmp_path / "m")
    assert names(tmp_path) == ["m"]


def test_a_writer_that_died_between_its_renames_loses_nothing(tmp_path):
    make(tmp_path / "m")
    os.rename(tmp_path / "m", tmp_path / ".m.camber-old-x")
    assert ModelDirectory.open(tmp_path / "m").sizes == {"rules": 12}
    make(tmp_path / "other")
    os.rename(tmp_path / "other", tmp_path / ".m.camber-old-y")  # died before it removed the old one
    make(tmp_path / "m", 3)
    assert names(tmp_path) == ["m"]


def test_a_directory_that_is_no_model_is_never_touched(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    with pytest.raises(ModelError, match="not a Camber model"), write_model(tmp_path / "thesis"):
        pytest.fail("the block must not be entered")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelError, match="a file of that name"), write_model(tmp_path / "file"):
        pytest.fail("the block must not be entered")
    with pytest.raises(ModelError, match="stays as it is"), write_model(tmp_path / "late"):
        (tmp_path / "late" / "made" / "meanwhile").mkdir(parents=True)
    assert names(tmp_path) == ["file", "late", "thesis"]
    assert names(tmp_path / "thesis") == ["chapter1.txt"]


def test_an_empty_directory_may_become_a_model(tmp_path):
    (tmp_path / "m").mkdir()
    assert is_model(make(tmp_path / "m"))


def test_files_of_someone_else_in_an_old_model_are_kept(tmp_path):
    make(tmp_path / "m")
    (tmp_path / "m" / "notes.txt").write_text("mine")
    make(tmp_path / "m", 2)
    assert names(tmp_path) == ["m", "m.old"]
    assert (tmp_path / "m.old" / "notes.txt").read_text() == "mine"


def test_an_old_model_is_kept_where_its_writer_says_so(tmp_path, caplog):
    make(tmp_path / "m")
    with write_model(tmp_path / "m") as draft:
        draft.path("words.txt").write_text("drei\n")
        draft.keep_old = "was loved"
    assert names(tmp_path) == ["m", "m.old"]
    assert ModelDirectory.open(tmp_path / "m.old").array("lm/numbers.npy").tolist() == [1] * 7
    assert "was loved: the old model is kept as" in caplog.text


def test_a_reranker_and_a_translator_never_replace_each_other(tmp_path):
    make(tmp_path / "translator")
    with write_model(tmp_path / "reranker", "rerank") as draft:
        draft.path("features.tsv").write_text("x\n")
    for name, kind in (("translator", "rerank"), ("reranker", "phrase"), ("reranker", "hiero")):
        with pytest.raises(ModelError, match=rf"which a {kind} model must not replace"):
            check_place(tmp_path / name, kind)
        with pytest.raises(ModelError, match="must not replace"), write_model(tmp_path / name, kind):
            pytest.fail("the block must not be entered")
    with write_model(tmp_path / "translator", "hiero") as draft:
        draft.path("words.txt").write_text("eins\n")
    assert names(tmp_path) == ["reranker", "translator"]


def test_an_old_model_that_cannot_be_removed_does_not_spoil_the_new_one(tmp_path, monkeypatch, caplog):
    make(tmp_path / "m")

    def protected(folder, *args, **kwargs):
        if "camber-gone" in str(folder):
            raise PermissionError(13, "Permission denied", str(folder))

    with monkeypatch.context() as patch:
        patch.setattr(directory.shutil, "rmtree", protected)
        for value in (2, 3):  # the second finds what the first could not remove
            make(tmp_path / "m", value)
            assert ModelDirectory.open(tmp_path / "m").array("lm/numbers.npy").tolist() == [value] * 7
    assert "cannot be removed (Permission denied)" in caplog.text
    make(tmp_path / "m")
    assert names(tmp_path) == ["m"]


def test_a_write_protected_model_is_refused_before_the_work(tmp_path, monkeypatch):
    make(tmp_path / "m")
    # root may write anywhere, so the answer of the system is made up
    monkeypatch.setattr(directory.os, "access", lambda path, mode: False)
    with pytest.raises(ModelError, match="write-protected"), write_model(tmp_path / "m"):
        pytest.fail("the block must not be entered")
    assert names(tmp_path) == ["m"]


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises((ModelError, CamberError), match="cannot be written"), write_model(tmp_path / "file" / "m"):
        pytest.fail("the block must not be entered")


def test_every_kind_of_damage_is_told(tmp_path):
    path = make(tmp_path / "m", big=300_000)
    ModelDirectory.open(path, verify=True)

    def damaged(name: str, change) -> Path:
        place = path / name
        whole = place.read_bytes()
        place.write_bytes(change(whole))
        return place, whole

    for name, change, message in [
        ("words.txt", lambda data: data[:-1], r"words.txt: 8 bytes, expected 9"),
        ("words.txt", lambda data: data.replace(b"e", b"E"), r"words.txt: its content changed"),
        ("lm/numbers.npy", lambda data: data[:-1] + b"?", r"numbers.npy: its content changed"),
        ("big.npy", lambda data: data[:-1] + b"?", r"big.npy: its content changed"),
        ("big.npy", lambda data: b"?" + data[1:], r"big.npy: its content changed"),
        ("big.npy", lambda data: data[:-8], r"big.npy: .* bytes, expected"),
        ("model.toml", lambda data: data[: len(data) // 2], r"model.toml: (cannot be read|changed or cut short)"),
        ("model.toml", lambda data: data.replace(b"order = 5", b"order = 6"), r"changed or cut short"),
        ("model.toml", lambda data: b"\xff" + data, r"model.toml: cannot be read"),
        ("model.toml", lambda data: b"", r"not a Camber model"),
    ]:
        place, whole = damaged(name, change)
        with pytest.raises(ModelError, match=message):
            ModelDirectory.open(path)
        place.write_bytes(whole)
    place, whole = damaged("big.npy", lambda data: data[:1_000_000] + b"????????" + data[1_000_008:])
    ModelDirectory.open(path)  # the middle of a large file is read only on wish
    with pytest.raises(ModelError, match="content changed"):
        ModelDirectory.open(path, verify=True)
    place.unlink()
    with pytest.raises(ModelError, match=r"big.npy: a file of the model is missing"):
        ModelDirectory.open(path)


def test_what_is_absent_or_no_model_is_told(tmp_path):
    with pytest.raises(ModelError, match="no such model"):
        ModelDirectory.open(tmp_path / "none")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelError, match="not a Camber model"):
        ModelDirectory.open(tmp_path / "folder")
    model = ModelDirectory.open(make(tmp_path / "m"))
    with pytest.raises(ModelError, match=r"has no trees\.json"):
        model.file("trees.json")


def test_another_format_version_says_which_versions_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(directory, "FORMAT", 99)
    make(tmp_path / "m")
    with pytest.raises(ModelError, match=r"model format 99, .* reads format 1, 2; train the model again"):
        ModelDirectory.open(tmp_path / "m")


def test_pickled_arrays_are_refused_both_ways(tmp_path):
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"), write_model(tmp_path / "m") as draft:
        draft.save("objects.npy", np.array([{}], object))
    with write_model(tmp_path / "m") as draft:
        np.save(draft.path("objects.npy"), np.array([{}], object))
    with pytest.raises(ModelError, match="not a NumPy array"):
        ModelDirectory.open(tmp_path / "m").array("objects.npy")


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../b", "", "model.toml"])
def test_no_file_of_a_model_lies_outside_of_it(tmp_path, name):
    with pytest.raises(ModelError, match="no name for a file"), write_model(tmp_path / "m") as draft:
        draft.path(name)


def test_large_files_are_linked_and_small_ones_copied(tmp_path):
    np.save(tmp_path / "large.npy", np.zeros(200_000))
    (tmp_path / "small.txt").write_text("x")
    with write_model(tmp_path / "m") as draft:
        draft.take(tmp_path / "large.npy", "large.npy")
        draft.take(tmp_path / "small.txt", "deep/small.txt")
    assert (tmp_path / "m" / "large.npy").stat().st_size == (tmp_path / "large.npy").stat().st_size
    assert not os.path.samefile(tmp_path / "small.txt", tmp_path / "m" / "deep" / "small.txt")


def test_a_full_disk_is_a_clear_error(tmp_path):
    with pytest.raises(ModelError, match="disk is full"), write_model(tmp_path / "m"):
        raise OSError(28, "No space left on device")
    with pytest.raises(ModelError, match="disk is full"), write_model(tmp_path / "m"):
        raise OSError("200000 requested and 65536 written")  # as NumPy says it
    assert names(tmp_path) == []


def test_an_error_of_the_caller_is_not_hidden(tmp_path):
    with pytest.raises(InputError), write_model(tmp_path / "m"):
        raise InputError("bad", "corpus.de", 3)


texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), texts, st.lists(texts, max_size=3)
)


@given(
    st.recursive(st.dictionaries(texts, scalars), lambda inner: st.dictionaries(texts, inner | scalars), max_leaves=9)
)
@settings(deadline=None)
def test_toml_comes_back_as_it_was(table):
    text = write_toml(table)
    assert tomllib.loads(text) == table
    assert tomllib.loads(text.replace("\n", "\r\n")) == table


def test_toml_leaves_out_none_and_refuses_nan():
    assert write_toml({"a": None, "b": (1, 2), "c": np.float64(0.5), "p": Path("x/y")}) == (
        'b = [1, 2]\nc = 0.5\np = "x/y"\n'
    )
    with pytest.raises(ValueError, match="NaN"):
        write_toml({"a": float("nan")})
    with pytest.raises(TypeError, match="set cannot be recorded"):
        write_toml({"a": {1}})


def test_a_lock_excludes_others_until_it_is_released(tmp_path):
    place = tmp_path / "lock"
    with Lock(place, "it"), pytest.raises(CamberError, match="it is in use"), Lock(place, "it"):
        pytest.fail("held twice")
    with Lock(place, "it"):
        pass
    assert names(tmp_path) == []


def test_the_lock_file_of_a_dead_process_is_taken_over(tmp_path):
    (tmp_path / "lock").write_text("99999999\n")
    with Lock(tmp_path / "lock", "the thing"):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_everything_is_synced_as_it_stays_before_the_model_has_its_name(tmp_path, monkeypatch):
    synced: dict[str, bytes | None] = {}

    def watch(path: Path) -> None:
        if path == tmp_path:  # at last the folder that holds the new name
            assert (tmp_path / "m" / "model.toml").exists()
            synced["the name"] = None
            return
        assert not (tmp_path / "m").exists()
        synced[path.name] = path.read_bytes() if path.is_file() else None

    monkeypatch.setattr(directory.places, "sync", watch)
    make(tmp_path / "m")
    files = {path.name: path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file()}
    assert {name: data for name, data in synced.items() if data is not None} == files
    assert "model.toml" in files
    assert "the name" in synced
    assert synced["lm"] is None  # and the folders, which hold the names
