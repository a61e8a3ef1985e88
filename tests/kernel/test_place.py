"""Where compiled code is kept: a folder wherever the package runs, and another one when anything changes."""

import os
import tempfile
from pathlib import Path

import llvmlite
import numba
import pytest
from kernel.processes import run

from camber.kernel import place

ASK = "from camber.kernel import cache_folder; print(cache_folder())"
USE = """
import numpy as np
from camber.kernel.table import empty_table, insert
print(insert(empty_table(4), 42) >= 0)
"""


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    """A folder that nobody can make, not even root: its parent is a file."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "home"


@pytest.mark.slow
def test_the_cache_is_in_the_users_cache_folder(tmp_path):
    assert Path(run(ASK, HOME=str(tmp_path))).parent == tmp_path / ".cache" / "camber"
    assert Path(run(ASK, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "x"))).parent == tmp_path / "x" / "camber"


def test_a_variable_names_another_cache_folder(tmp_path):
    assert Path(run(ASK, HOME=str(tmp_path), CAMBER_CACHE=str(tmp_path / "mine"))).parent == tmp_path / "mine"
    assert not (tmp_path / ".cache").exists()


@pytest.mark.slow
def test_without_a_writable_home_the_cache_is_temporary_and_kernels_still_run(tmp_path, unwritable):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    folder = Path(run(ASK, HOME=str(unwritable), TMPDIR=str(temporary)))
    assert folder.parent.parent == temporary
    assert folder == Path(run(ASK, HOME=str(unwritable), TMPDIR=str(temporary)))  # the next process finds it again
    assert run(USE, HOME=str(unwritable), TMPDIR=str(temporary)) == "True"
    assert any(folder.rglob("*.image"))


def test_a_named_cache_folder_that_cannot_be_written_falls_back_to_a_temporary_one(tmp_path, unwritable):
    folder = Path(run(ASK, HOME=str(tmp_path), CAMBER_CACHE=str(unwritable), TMPDIR=str(tmp_path)))
    assert folder.parent == tmp_path
    assert folder.is_dir()
    folder.rmdir()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a matter of POSIX")
def test_a_folder_of_another_user_is_never_used(tmp_path, monkeypatch):
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert not place._writable(tmp_path)


def test_the_cache_folder_is_private(tmp_path):
    folder = tmp_path / "cache"
    assert place._writable(folder)
    assert os.name == "nt" or folder.stat().st_mode & 0o077 == 0


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of modules made for a test; its hashes are computed anew whenever it is asked."""
    monkeypatch.setattr(place, "_package", lambda: tmp_path)

    def asked(module: str, **texts: str) -> str:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
        place._source.cache_clear()
        place.sources_hash.cache_clear()
        return place.sources_hash(module)

    yield asked
    place._source.cache_clear()
    place.sources_hash.cache_clear()


def test_compiled_code_is_used_until_something_that_it_depends_on_changes(package):
    fast = "from camber.below import b\nfrom camber.names import (\n    SIZE,\n)\n@kernel\ndef a(x): return b(x) + SIZE"
    below = "from camber.deep import c\n@kernel\ndef b(x): return c(x)"
    names = "SIZE = 3\n\ndef unrelated():\n    return 1\n"
    before = package(
        "fast", fast=fast, below=below, deep="@kernel\ndef c(x): return x", names=names, other="@kernel\ndef d(): 0"
    )
    assert package("fast", other="@kernel\ndef d(): 1") == before
    assert package("fast", names=names.replace("return 1", "return 2")) == before
    changed = {
        before,
        package("fast", names="SIZE = 4\n"),
        package("fast", deep="@kernel\ndef c(x): return x + 1"),
        package("fast", fast=fast + " + 1"),
    }
    assert len(changed) == 4


def test_the_folder_changes_with_the_compiler(monkeypatch):
    before = place._compiler_hash()
    assert place._compiler_hash() == before
    monkeypatch.setattr(place, "_processor", lambda: "another one")
    other = place._compiler_hash()
    monkeypatch.setattr(place, "_compiler", lambda: ("another version",))
    assert len({before, other, place._compiler_hash()}) == 3


def test_the_version_of_the_compiler_is_known_without_importing_it():
    told = run("import sys; from camber.kernel.place import _compiler; print('numba' in sys.modules, *_compiler())")
    without, _, facts = told.partition(" ")
    assert without == "False"
    assert f'"version": "{numba.__version__}"' in facts
    assert f"'{llvmlite.__version__}'" in facts


def test_settings_of_the_compiler_have_their_own_code(monkeypatch):
    before = place._compiler_hash()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "anywhere")
    assert place._compiler_hash() == before
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert place._compiler_hash() != before


def test_temporary_folders_are_where_python_says():
    assert place._candidates()[-1].parent == Path(tempfile.gettempdir()) or "CAMBER_CACHE" in os.environ
