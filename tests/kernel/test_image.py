"""Machine code without a compiler: images do what Numba's own code does."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from kernel.processes import run

from camber.kernel import elf
from camber.kernel.compiler import Finished
from camber.kernel.image import Image, ImageError, _address, placed, usable

pytestmark = pytest.mark.skipif(not usable(), reason="images are not for this system")

#: kernels that take and return all that kernels do
KERNELS = """
import math, sys
from typing import NamedTuple
import numpy as np
from camber.kernel import kernel

class Sides(NamedTuple):
    left: np.ndarray
    right: np.ndarray
    both: tuple

SCALE = 0.1
WEIGHTS = (1.5, 2.5, 4.5)

@kernel
def _term(value, index):
    return math.log1p(value) * SCALE + WEIGHTS[index % 3] * math.exp(-value)

@kernel
def summed(sides, records, matrix, flag, nothing, most, out):
    total = 0.0
    for index in range(len(sides.left)):
        total += _term(sides.left[index], index) ** (1.0 if flag else 2.0) + sides.right[index]
    for index in range(len(records)):
        total += records[index]["weight"] * records[index]["key"]
    for row in range(matrix.shape[0]):
        for column in range(matrix.shape[1]):
            total += matrix[row, column] * (row - 2 * column)
    if nothing is not None:
        total += 1000.0
    out[:] = 0.0
    out[0] = total
    return total, most + sides.both[0], flag, total > sides.both[1]

@kernel
def refusing(number):
    if number < 0:
        raise ValueError("less than nothing")
    return number // 2

def told():
    rng = np.random.default_rng(5)
    sides = Sides(rng.random(7), rng.random(7), (3, 1.5))
    records = np.zeros(4, [("key", np.int32), ("weight", np.float64)])
    records["key"], records["weight"] = [3, 1, 4, 1], rng.random(4)
    out = np.ones(3, np.float32)
    found = []
    for matrix in (rng.random((3, 4)), rng.random((4, 3)).T, rng.random((6, 8))[::2, ::2]):
        for flag in (True, False):
            found.append([float(one) for one in summed(sides, records, matrix, flag, None, 2**40, out)] + out.tolist())
    loaded = "numba" not in sys.modules
    found.append(refusing(9))
    for wrong in (-1,):
        try:
            refusing(wrong)
        except ValueError as error:
            found.append(str(error))
    try:
        refusing(2**70)
    except OverflowError:
        found.append("too large")
    return loaded, found
"""
TELL = """
import json, sys
from camber.kernel import place
from pathlib import Path
place._package.cache_clear()
place._package = lambda: Path({folder!r})
sys.path.insert(0, {folder!r})
import many
loaded, found = many.told()
print(loaded)
print(json.dumps(found))
"""


@pytest.mark.slow
def test_an_image_does_what_the_compilers_code_does(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "many.py").write_text(KERNELS)
    code, cache = TELL.format(folder=str(folder)), str(tmp_path / "cache")
    before, compiled = run(code, CAMBER_CACHE=cache).split("\n")
    after, loaded = run(code, CAMBER_CACHE=cache).split("\n")
    assert (before, after) == ("False", "True")
    assert loaded == compiled
    *numbers, halved, refused, large = json.loads(loaded)
    assert (halved, refused, large) == (4, "less than nothing", "too large")
    plain, interpreted = run(code, CAMBER_CACHE=cache, NUMBA_DISABLE_JIT="1").split("\n")
    assert plain == "True"
    np.testing.assert_allclose(numbers, json.loads(interpreted)[: len(numbers)], rtol=1e-12)
    assert len(list(Path(cache).rglob("*.image"))) == 4  # three orders of the matrix, and the one that raises
    assert not list(Path(cache).rglob("*.nbc"))


@pytest.mark.slow
def test_what_python_looks_at_when_it_ends_is_still_there(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "many.py").write_text(KERNELS)
    code, cache = TELL.format(folder=str(folder)), str(tmp_path / "cache")
    run(code, CAMBER_CACHE=cache)
    # memory that was given back is overwritten (by glibc), so that whoever looks at it sees what cannot be
    assert run(code, CAMBER_CACHE=cache, PYTHONMALLOC="malloc", MALLOC_PERTURB_="2").startswith("True")


def _total(values, scale):
    total = 0.0
    for value in values:
        total += value * scale
    return total


@pytest.fixture(scope="module")
def compiled() -> tuple[bytes, str]:
    """An object file, and the name of its function for Python."""
    dispatcher = Finished(_total, {})
    dispatcher.finish((np.zeros(3), 1.5), "")
    dispatcher.recompile()
    (result,) = dispatcher.overloads.values()
    (_, kind, (code, _)), described, *_ = result._reduce()
    assert kind == "object"
    return code, described.llvm_cpython_wrapper_name


def test_an_image_is_read_as_it_was_written(compiled: tuple[bytes, str]) -> None:
    image = elf.image_of(*compiled)
    again = Image.of_bytes(image.to_bytes())
    assert again.content == image.content
    assert (again.entry, again.names) == (image.entry, image.names)
    np.testing.assert_array_equal(again.inside, image.inside)
    np.testing.assert_array_equal(again.outside, image.outside)


def test_an_image_may_be_placed_more_than_once(compiled: tuple[bytes, str]) -> None:
    image = elf.image_of(*compiled)
    one, other = placed(image), placed(image)
    assert one(np.arange(4.0), 2.0) == other(np.arange(4.0), 2.0) == 12.0


def test_what_is_not_an_object_file_of_this_kind_is_refused(compiled: tuple[bytes, str]) -> None:
    code, name = compiled
    with pytest.raises(ImageError, match="no such object file"):
        elf.image_of(b"MZ" + code[2:], name)
    with pytest.raises(ImageError, match="for processor 183"):
        elf.image_of(code[:18] + struct.pack("<H", 183) + code[20:], name)
    with pytest.raises(ImageError, match="no function"):
        elf.image_of(code, name + "?")


def changed_section(code: bytes, name: bytes, **changes: int) -> bytes:
    """Return an object file with other fields of one of its sections."""
    table, size, count, named = struct.unpack_from("<40xQ10xHHH", code)
    sections = [elf._Section(*elf._SECTION.unpack_from(code, table + number * size)) for number in range(count)]
    data = bytearray(code)
    (number,) = (n for n, s in enumerate(sections) if elf._text(code, sections[named], s.name) == name)
    elf._SECTION.pack_into(data, table + number * size, *sections[number]._replace(**changes))
    return bytes(data)


def test_sections_that_code_could_change_are_refused(compiled: tuple[bytes, str]) -> None:
    code, name = compiled
    with pytest.raises(ImageError, match=r"a section \.lrodata"):
        elf.image_of(changed_section(code, b".lrodata", flags=3), name)
    with pytest.raises(ImageError, match=r"a section \.lrodata"):
        elf.image_of(changed_section(code, b".lrodata", kind=8), name)


def test_references_of_other_kinds_are_refused(compiled: tuple[bytes, str]) -> None:
    code, name = compiled
    table, size, count, named = struct.unpack_from("<40xQ10xHHH", code)
    data = bytearray(code)
    for number in range(count):
        section = elf._Section(*elf._SECTION.unpack_from(code, table + number * size))
        if (
            elf._text(code, elf._Section(*elf._SECTION.unpack_from(code, table + named * size)), section.name)
            == b".rela.ltext"
        ):
            struct.pack_into("<I", data, section.offset + 8, 2)
    with pytest.raises(ImageError, match="a reference of kind 2"):
        elf.image_of(bytes(data), name)


def test_code_that_needs_what_nobody_has_is_not_placed(compiled: tuple[bytes, str]) -> None:
    image = elf.image_of(*compiled)
    for name in ("PyNobody_HasThis", "numba_nobody_has_this"):
        with pytest.raises(ImageError, match=name):
            placed(image._replace(names=(*image.names[:-1], name)))


def test_objects_of_python_are_where_python_says() -> None:
    assert _address("_Py_NoneStruct") == id(None)
