"""The examples in docstrings are true.

Modules are imported by their real names: `python -m doctest` and `pytest --doctest-modules` may use others, and
kernels would be compiled again for those.
"""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import camber
from camber.kernel import kernel

PACKAGE = Path(camber.__file__).parent
PROMPT = re.compile(r"^\s*>>> ", re.MULTILINE)


def with_examples() -> dict[str, int]:
    """Return the number of examples in the source of each module that has any, by its name."""
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = ".".join(["camber", *path.relative_to(PACKAGE).with_suffix("").parts])
        modules[place.removesuffix(".__init__")] = len(PROMPT.findall(path.read_text("utf-8")))
    return {name: number for name, number in modules.items() if number}


@pytest.mark.parametrize(("name", "number"), with_examples().items())
def test_examples_are_true(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # an example may write files
    examples = doctest.DocTestFinder().find(importlib.import_module(name))
    assert sum(len(test.examples) for test in examples) == number, "some examples stand where doctest does not look"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with np.printoptions():  # an example may change how arrays are printed
        for test in examples:
            runner.run(test)
    assert not runner.failures, capsys.readouterr().out


@kernel
def _twice(number: int) -> int:
    """Return twice a number.

    >>> _twice(2)
    4
    """
    return 2 * number


def test_examples_of_kernels_are_found() -> None:
    examples = doctest.DocTestFinder().find(sys.modules[__name__])
    assert [test.name for test in examples if test.examples] == [f"{__name__}._twice"]
