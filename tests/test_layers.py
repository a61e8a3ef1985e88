"""No package imports upward: what lies below can be read, tested and replaced without what lies above."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import camber

#: the packages (and modules beside them), from the bottom; those on one line do not know each other
LAYERS = (
    ("errors", "lazy"),
    ("registry", "numbers"),
    ("settings", "progress"),
    ("kernel", "lock"),
    ("arrays", "files", "engine"),
    ("features",),
    ("corpus", "text"),
    ("lm", "metrics"),
    ("align",),
    ("rules",),
    ("formats",),
    ("nbest",),
    ("bend",),
    ("memory",),
    ("decode",),
    ("regress", "confidence"),
    ("tune",),
    ("model",),
    ("rerank",),
    ("pipeline",),
    ("report",),
    ("serve",),
    ("cli",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

#: edges that point upward today, as (importing file, imported package); this list only ever shrinks
KNOWN: set[tuple[str, str]] = set()

PACKAGE = Path(camber.__file__).parent


class Edge(NamedTuple):
    """One import statement of a file, seen as an edge between two packages."""

    file: str  # "tune/loop.py"
    line: int
    imported: str  # "camber.model.translator"

    @property
    def lower(self) -> str:
        return self.file.split("/")[0].removesuffix(".py")

    @property
    def upper(self) -> str:
        return self.imported.split(".")[1]

    def __str__(self) -> str:
        levels = (f"{name} (layer {LEVEL.get(name, 'unknown')})" for name in (self.lower, self.upper))
        return f"camber/{self.file}:{self.line} imports {self.imported}: {' → '.join(levels)}"


def edges_of(file: str, text: str) -> Iterator[Edge]:
    """Yield every import of the package in a source, inside functions and under TYPE_CHECKING too.

    >>> [str(edge.imported) for edge in edges_of("tune/a.py", "def f():\\n    from camber.lm import arpa")]
    ['camber.lm']
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:  # a relative import, counted from the file's own package
                above = ["camber", *file.split("/")][: -node.level]
                home = ".".join([*above, home]).rstrip(".")
            modules = [f"camber.{alias.name}" for alias in node.names] if home == "camber" else [home]
        else:
            continue
        for module in modules:
            if module.startswith("camber.") and module != "camber.__version__":
                yield Edge(file, node.lineno, module)


@functools.cache
def all_edges() -> list[Edge]:
    files = sorted(
        path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"
    )  # the front door is exempt
    return [edge for path in files for edge in edges_of(path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8"))]


def is_wrong(edge: Edge) -> bool:
    """Say whether an edge leads upward, to a neighbour of the same layer, or nowhere that the layers name."""
    if edge.lower == edge.upper:
        return False
    return LEVEL.get(edge.upper, len(LAYERS)) >= LEVEL.get(edge.lower, -1)


def test_no_package_imports_upward() -> None:
    wrong = [edge for edge in all_edges() if is_wrong(edge) and (edge.file, edge.upper) not in KNOWN]
    assert not wrong, "imports that point upward:\n" + "\n".join(f"  {edge}" for edge in wrong)


def test_known_upward_imports_are_still_there() -> None:
    mended = KNOWN - {(edge.file, edge.upper) for edge in all_edges() if is_wrong(edge)}
    assert not mended, f"mended, so take them off KNOWN: {sorted(mended)}"


def test_every_package_has_a_layer() -> None:
    there = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
        if path.stem != "__init__"
    }
    assert there == set(LEVEL)


@pytest.mark.parametrize(
    "text",
    [
        "import camber.model.translator",
        "from camber.model import translator",
        "from camber import model",
        "from ..model import translator",
        "from ..model.translator import Translator",
        "if TYPE_CHECKING:\n    from camber.model.translator import Translator",
        "def f():\n    from camber.model.translator import Translator",
        "from camber import load",  # by the front door
    ],
)
def test_upward_imports_are_seen_however_they_are_written(text: str) -> None:
    (edge,) = edges_of("tune/loop.py", text)
    assert is_wrong(edge)
    assert f"camber/tune/loop.py:{len(text.splitlines())} imports camber." in str(edge)


@pytest.mark.parametrize(
    "text",
    [
        "import numpy",
        "from camber import __version__",
        "from . import mert",
        "from camber.decode.derivation import Part",
    ],
)
def test_other_imports_are_fine(text: str) -> None:
    assert not any(map(is_wrong, edges_of("tune/loop.py", text)))
