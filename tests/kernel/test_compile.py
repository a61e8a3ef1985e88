"""The one decorator, and a cache folder wherever the package runs."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from camber.kernel import compile, compiled_kernels, kernel

ASK = "from camber.kernel import cache_folder; print(cache_folder())"
USE = """
import numpy as np
from camber.kernel.table import empty_table, insert
print(insert(empty_table(4), 42) >= 0)
"""


def run(code: str, **environment: str) -> str:
    """Run Python in a process of its own, with only these variables about folders."""
    folders = ("HOME", "XDG_CACHE_HOME", "CAMBER_CACHE", "TMPDIR", "NUMBA_CACHE_DIR")
    variables = {name: value for name, value in os.environ.items() if name not in folders}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Keep the kernels of these tests out of the package's list."""
    monkeypatch.setattr(compile, "_registry", dict(compile._registry))


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
    assert any(folder.rglob("*.nbi"))


def test_a_named_cache_folder_that_cannot_be_written_falls_back_to_a_temporary_one(tmp_path, unwritable):
    folder = Path(run(ASK, HOME=str(tmp_path), CAMBER_CACHE=str(unwritable), TMPDIR=str(tmp_path)))
    assert folder.parent == tmp_path
    assert folder.is_dir()
    folder.rmdir()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a matter of POSIX")
def test_a_folder_of_another_user_is_never_used(tmp_path, monkeypatch):
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert not compile._writable(tmp_path)


def test_the_cache_folder_is_private(tmp_path):
    folder = tmp_path / "cache"
    assert compile._writable(folder)
    assert os.name == "nt" or folder.stat().st_mode & 0o077 == 0


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of modules made for a test; its hashes are computed anew whenever it is asked."""
    monkeypatch.setattr(compile, "_package", lambda: tmp_path)

    def asked(module: str, **texts: str) -> str:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
        compile._source.cache_clear()
        compile.sources_hash.cache_clear()
        return compile.sources_hash(module)

    yield asked
    compile._source.cache_clear()
    compile.sources_hash.cache_clear()


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
    before = compile._compiler_hash()
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert compile._compiler_hash() != before


@pytest.mark.slow
def test_copies_of_the_package_share_what_was_compiled(tmp_path):
    package = Path(compile.__file__).parent.parent
    places = [package.parent]
    for name in ("one", "two"):
        shutil.copytree(package, tmp_path / name / "camber", ignore=shutil.ignore_patterns("__pycache__"))
        places.append(tmp_path / name)
    for place in places:
        assert run(USE, CAMBER_CACHE=str(tmp_path / "cache"), PYTHONPATH=str(place)) == "True"
    assert len(list((tmp_path / "cache").rglob("table.insert*.nbc"))) == 1


@pytest.mark.slow
def test_code_from_the_cache_loads_without_the_compiler_which_still_compiles_what_is_new(tmp_path):
    code = """
import sys
import numpy as np
from camber.kernel.table import empty_table, insert
table = empty_table(4)
insert(table, 42)
prepared = "numba.np.arraymath" in sys.modules, "scipy.linalg" in sys.modules
from camber.kernel.table import find
from camber.kernel.heap import pop, push
scores, items = np.zeros(4), np.zeros(4, np.int64)
push(scores, items, 0, 1.5, 7)
import scipy.linalg, scipy.optimize
solved = scipy.linalg.solve(np.eye(2), np.ones(2)).sum() + scipy.optimize.brentq(lambda x: x - 1, 0, 3)
print(prepared, find(table, 42) == insert(table, 42), pop(scores, items, 1), round(solved, 9))
"""
    works = "True (1.5, 7, 0) 3.0"
    assert run(code, CAMBER_CACHE=str(tmp_path)) == f"(True, True) {works}"  # all is compiled
    for path in tmp_path.rglob("heap*"):
        path.unlink()
    assert run(code, CAMBER_CACHE=str(tmp_path)) == f"(False, False) {works}"  # one is loaded, the others compiled
    assert run(code, CAMBER_CACHE=str(tmp_path)) == f"(False, False) {works}"


def test_numba_still_takes_the_options_that_make_kernels_fast():
    @kernel
    def total(values, out):
        for index in range(len(values)):
            out[0] += values[index]

    out = np.zeros(1)
    total(np.arange(4.0), out)
    assert out[0] == 6.0
    assert total.targetoptions["_nrt"] is False
    assert total.targetoptions["nogil"] is True
    total.recompile()  # code from the cache cannot be inspected: Numba shows nothing, which holds no call either
    code = next(iter(total.inspect_llvm().values()))
    assert "define" in code
    assert "NRT_" not in code  # the optimiser prunes most calls of NRT_incref, but leaves some of NRT_decref
    name = next(name for name in compiled_kernels() if name.endswith("total"))
    assert len(compiled_kernels()[name]) == 1


def test_a_kernel_that_makes_an_array_does_not_compile():
    @kernel
    def allocate(size):
        return np.zeros(size)

    with pytest.raises(TypingError):
        allocate(3)


def test_division_by_zero_follows_numpy():
    @kernel
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == np.inf


def test_temporary_folders_are_where_python_says():
    assert compile._candidates()[-1].parent == Path(tempfile.gettempdir()) or "CAMBER_CACHE" in os.environ
