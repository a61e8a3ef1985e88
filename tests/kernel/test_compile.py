"""The one decorator: code for the types of arguments, from the compiler or from the disk."""

import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from kernel.processes import run
from kernel.test_place import USE
from numba.core.errors import TypingError

from camber.kernel import compile, compiled_kernels, compiler, image, kernel


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Keep the kernels of these tests out of the package's list."""
    monkeypatch.setattr(compile, "_registry", dict(compile._registry))


@pytest.mark.slow
def test_copies_of_the_package_share_what_was_compiled(tmp_path):
    package = Path(compile.__file__).parent.parent
    places = [package.parent]
    for name in ("one", "two"):
        shutil.copytree(package, tmp_path / name / "camber", ignore=shutil.ignore_patterns("__pycache__"))
        places.append(tmp_path / name)
    for place in places:
        assert run(USE, CAMBER_CACHE=str(tmp_path / "cache"), PYTHONPATH=str(place)) == "True"
    assert len(list((tmp_path / "cache").rglob("insert-*.image"))) == 1


needs_images = pytest.mark.skipif(not image.usable(), reason="images are not for this system")
#: makes a process do as those on systems that images are not for
WITHOUT = "from camber.kernel import compile\ncompile.usable = lambda: False\n"
LOADS = """
import sys
import numpy as np
from camber.kernel.table import empty_table, insert
table = empty_table(4)
insert(table, 42)
prepared = [name for name in ("numba", "llvmlite", "numba.np.arraymath", "scipy.linalg") if name in sys.modules]
from camber.kernel.table import find
from camber.kernel.heap import pop, push
scores, items = np.zeros(4), np.zeros(4, np.int64)
push(scores, items, 0, 1.5, 7)
import scipy.linalg, scipy.optimize
solved = scipy.linalg.solve(np.eye(2), np.ones(2)).sum() + scipy.optimize.brentq(lambda x: x - 1, 0, 3)
print(prepared, find(table, 42) == insert(table, 42), pop(scores, items, 1), round(solved, 9))
"""
ALL = "['numba', 'llvmlite', 'numba.np.arraymath', 'scipy.linalg']"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "imported"),
    [pytest.param("", "[]", marks=needs_images), (WITHOUT, "['numba', 'llvmlite']")],
)
def test_code_from_the_cache_loads_without_the_compiler_which_still_compiles_what_is_new(tmp_path, before, imported):
    works = "True (1.5, 7, 0) 3.0"
    assert run(before + LOADS, CAMBER_CACHE=str(tmp_path)) == f"{ALL} {works}"  # all is compiled
    for path in tmp_path.rglob("kernel-heap*"):
        shutil.rmtree(path)
    assert run(before + LOADS, CAMBER_CACHE=str(tmp_path)) == f"{imported} {works}"  # one is loaded, others compiled
    assert run(before + LOADS, CAMBER_CACHE=str(tmp_path)) == f"{imported} {works}"


@pytest.mark.slow
@needs_images
def test_where_memory_cannot_become_code_numba_keeps_and_loads_it(tmp_path):
    """As where a system forbids what images do: the compiler may have other ways, and nothing is compiled twice."""
    assert run(USE, CAMBER_CACHE=str(tmp_path)) == "True"
    refusing = """
from camber.kernel import image, tell_compiled
from types import SimpleNamespace
tell_compiled(lambda name, seconds: print("compiled", name))
real = image._system()
image._system = lambda: SimpleNamespace(mmap=real.mmap, munmap=real.munmap, mprotect=lambda *_: -1)
"""
    assert run(refusing + USE, CAMBER_CACHE=str(tmp_path)) == "compiled camber.kernel.table.insert\nTrue"
    assert run(refusing + USE, CAMBER_CACHE=str(tmp_path)) == "True"
    assert any(tmp_path.rglob("*.nbc"))


def test_numba_still_takes_the_options_that_make_kernels_fast():
    @kernel
    def total(values, out):
        for index in range(len(values)):
            out[0] += values[index]

    out = np.zeros(1)
    total(np.arange(4.0), out)
    assert out[0] == 6.0
    assert total.dispatcher.targetoptions["_nrt"] is False
    assert total.dispatcher.targetoptions["nogil"] is True
    total.dispatcher.finish((np.arange(4.0), out), "")
    total.dispatcher.recompile()  # code from the cache cannot be inspected: Numba shows nothing, which holds no call
    code = next(iter(total.dispatcher.inspect_llvm().values()))
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


def test_each_combination_of_types_has_its_own_code():
    @kernel
    def first(values):
        return values[0]

    assert first(np.array([3])) == 3
    assert first(np.array([1.5])) == 1.5
    assert first((2, 1.5)) == 2
    assert first(np.array([257], np.int16)) == 257
    assert len(first.signatures) == 4


def test_an_argument_of_a_class_that_only_the_compiler_knows():
    @kernel
    def real(number):
        return number.real

    assert real(3 + 4j) == 3.0


def test_a_kernel_that_two_threads_want_is_compiled_once(monkeypatch):
    asked, finish = [], compiler.Finished.finish
    monkeypatch.setattr(compiler.Finished, "finish", lambda *arguments: (asked.append(1), finish(*arguments)))

    @kernel
    def doubled(number):
        return number * 2

    results = []
    threads = [threading.Thread(target=lambda: results.append(doubled(21))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [42] * 4
    assert asked == [1]


def test_whoever_wants_to_know_is_told_of_each_kernel_that_is_compiled(tmp_path):
    code = (
        "from camber.kernel import tell_compiled\ntell_compiled(lambda name, seconds: print(name, seconds > 0))\n" + USE
    )
    assert run(code, CAMBER_CACHE=str(tmp_path)) == "camber.kernel.table.insert True\nTrue"
    assert run(code, CAMBER_CACHE=str(tmp_path)) == "True"


def test_python_goes_on_beside_a_kernel():
    @kernel
    def busy(turns):
        number = 1
        for _ in range(turns):
            number = number * 6364136223846793005 + 1442695040888963407
        return number

    busy(1)
    woken, done = [], threading.Event()

    def sleeper():
        while not done.is_set():
            time.sleep(0.001)
            woken.append(1)

    beside = threading.Thread(target=sleeper)
    beside.start()
    while not woken:
        time.sleep(0.001)
    before = len(woken)
    busy(10**9)
    during = len(woken) - before
    done.set()
    beside.join()
    assert during > 2


def test_kernels_in_plain_python(tmp_path):
    code = "import sys\nfrom camber.kernel.table import mix\nprint(type(mix).__name__, 'numba' in sys.modules)"
    assert run(code, CAMBER_CACHE=str(tmp_path), NUMBA_DISABLE_JIT="1") == "function False"
