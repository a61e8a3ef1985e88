"""Registries import nothing before it is needed, and other packages can add to them."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from camber.errors import CamberError, SettingsError
from camber.registry import Entry, Registry

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Pretend that packages with entry points ``name="module:attribute"`` of the group camber.shapes are installed."""

    def pretend(**homes: str) -> None:
        points = [EntryPoint(name, home, "camber.shapes") for name, home in homes.items()]

        def entry_points(*, group: str) -> list[EntryPoint]:
            return points if group == "camber.shapes" else []

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)

    return pretend


@pytest.fixture
def shapes() -> Registry[type]:
    return Registry(
        "shape",
        "camber.shapes",
        {"round": Entry("colorsys:hls_to_rgb", "a circle"), "flat": Entry("fractions:Fraction", "a line")},
    )


def test_names_come_in_the_order_of_the_declaration(shapes: Registry[type]) -> None:
    assert list(shapes) == ["round", "flat"]
    assert [shapes.help(name) for name in shapes] == ["a circle", "a line"]


def test_what_is_no_name_is_not_known(shapes: Registry[type]) -> None:
    for name in (["round"], {}, None, 3):
        assert name not in shapes
        with pytest.raises(SettingsError, match="unknown shape"):
            shapes.load(name)  # type: ignore[arg-type]


def test_nothing_is_imported_before_it_is_asked_for(shapes: Registry[type], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert "round" in shapes
    assert shapes.help("round") == "a circle"
    assert list(shapes)
    assert "colorsys" not in sys.modules
    assert callable(shapes.load("round"))
    assert "colorsys" in sys.modules


def test_built_in_names_do_not_look_for_entry_points(shapes: Registry[type], monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(**_: str) -> list[EntryPoint]:
        raise AssertionError("looked for entry points")

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert "flat" in shapes
    assert shapes.help("flat") == "a line"
    assert shapes.load("flat").__name__ == "Fraction"


def test_other_packages_add_names(shapes: Registry[type], install: Install) -> None:
    install(thin="decimal:Decimal", bent="datetime:date")
    assert list(shapes) == ["round", "flat", "bent", "thin"]
    assert "thin" in shapes
    assert shapes.load("thin").__name__ == "Decimal"
    assert shapes.help("bent").startswith("date(year, month, day)")


def test_built_in_names_cannot_be_taken(shapes: Registry[type], install: Install) -> None:
    install(flat="decimal:Decimal")
    assert list(shapes) == ["round", "flat"]
    assert shapes.load("flat").__name__ == "Fraction"


def test_other_groups_do_not_count(install: Install) -> None:
    install(thin="decimal:Decimal")
    assert list(Registry("colour", "camber.colours", {})) == []


def test_an_unknown_name_lists_the_known_ones(shapes: Registry[type], install: Install) -> None:
    install(thin="decimal:Decimal")
    assert "square" not in shapes
    for ask in (shapes.load, shapes.help):
        with pytest.raises(SettingsError, match=r"^unknown shape 'square'; known: round, flat, thin$"):
            ask("square")
    assert str(shapes.unknown("square", "file:NAME")).endswith("known: round, flat, thin, file:NAME")


@pytest.mark.parametrize("home", ["no_such_module:Thing", "decimal:NoSuchThing"])
def test_a_broken_entry_point_is_named(home: str, shapes: Registry[type], install: Install) -> None:
    install(thin=home)
    assert list(shapes) == ["round", "flat", "thin"]
    with pytest.raises(CamberError, match=f"shape 'thin' should be {home}, which cannot be imported: "):
        shapes.load("thin")
    assert list(shapes.load_all()) == ["round", "flat"], "the others can be used"


def test_a_mistake_in_our_own_table_is_no_error_of_the_user() -> None:
    broken: Registry[type] = Registry("shape", "camber.shapes", {"round": Entry("no_such_module:Thing")})
    with pytest.raises(ModuleNotFoundError):
        broken.load("round")
