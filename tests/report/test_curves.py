"""Learnt curves as pictures and as a page: whole, self-contained, and safe whatever the names are."""

from __future__ import annotations

import itertools
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import camber
from camber.bend.response import Response
from camber.cli import cli
from camber.errors import CamberError, SettingsError
from camber.report import curves as module
from camber.report.axes import Scale, number, round_values
from camber.report.curve_panel import can_be_log, fitting_axis, panel
from camber.report.curves import page, sheet, write_curves
from camber.report.drawing import Shape, svg_file
from camber.report.learnt import Learnt

EVIL = '<script>alert("x")</script> & $x_1$ \'"'
COUNTS = np.array([1, 2, 3, 5, 9, 40, 200, 1000, 20000])
HIGHS = np.array([1, 2, 4, 8, 39, 199, 999, 19999, 110000])


def made() -> list[Response]:
    """Responses of all kinds: log-shaped, with violations, one bin, points, negative values, skewed, many bins."""
    shaped = 0.5 - 0.1 * np.log(COUNTS)
    shaped[[3, 6]] += 0.3
    many = np.geomspace(1e-6, 1.0, 1001)
    return [
        Response("p_coherent", [1e-5, 1e-3, 0.01, 0.1], [9e-4, 0.009, 0.08, 1.0], [7, 7, 8, 6], [-3, -2, -2.2, 0]),
        Response("count_s", COUNTS, HIGHS, [9000, 400, 30, 9, 8, 7, 6, 5, 4], shaped),
        Response("negative", [-20, -5, -1], [-6, -2, 0], [3, 3, 3], [-1, 0, 1]),
        Response("mixed", [-3, 0, 0.5, 20], [-1, 0, 7, 300], [1, 50, 2, 1], [1, 2, 1.5, 3]),
        Response("zero low", [0.0, 0.5], [0.2, 900.0], [4, 4], [0, 1]),
        Response("indicator", [0, 1], [0, 1], [90, 10], [0.5, -0.5]),
        Response("single", [3], [3], [1], [0.25]),
        Response("flat", [1, 2], [1, 2], [0, 0], [0, 0]),
        Response("tiny", [1e-300, 2e-300], [1e-300, 2e-300], [1, 1], [1e-300, 3e-300]),
        Response("many", many[:-1], many[:-1], np.ones(1000, int), np.sin(np.arange(1000.0))),
        Response(EVIL, [1, 2], [1, 2], [1, 1], [0, 1]),
    ]  # fmt: skip


class Checker(HTMLParser):
    """Fails on a tag that closes nothing; keeps tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in {"meta", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker


def fake_model(responses: list[Response]) -> SimpleNamespace:
    """What the drawing needs of a translator whose features are bent."""
    bend = SimpleNamespace(show=lambda weights: responses, trees=lambda weights: [], FILE="bins.tsv", kind="mnr")
    return SimpleNamespace(decoder=SimpleNamespace(bend=bend), weights=SimpleNamespace(values={}), directory=None)


def test_the_page_is_well_formed_and_loads_and_runs_nothing() -> None:
    parsed = checked(page(Learnt(made()), model=EVIL))
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "src"]
    assert all(value.startswith("#") for name, value in parsed.attributes if name == "href")
    assert "url(" not in page(Learnt(made()))
    assert f"What the features of {EVIL} learnt" in parsed.text


def test_every_bin_tells_its_range_population_and_value() -> None:
    text = page(Learnt([made()[0]]))
    assert "bin 3 of 4 · 0.01 to 0.08 · 8 values · adds −2.2 · against the direction" in text
    assert text.count('<g class="bin">') == 2 * 4  # on either axis


def test_the_page_can_switch_between_the_axes_without_a_script() -> None:
    text = page(Learnt([made()[1]]), axis="linear")
    parsed = checked(text)
    ids = {value for name, value in parsed.attributes if name == "id"}
    assert {"axis-auto", "axis-linear", "axis-log"} <= ids
    assert 'id="axis-linear" checked' in text
    assert "(linear axis)" in text
    assert "(logarithmic axis)" in text
    assert 'class="view log fits"' in text


def test_a_feature_without_positive_values_has_one_axis_and_the_page_says_why() -> None:
    text = page(Learnt([made()[2]]))
    assert "(logarithmic axis)" not in text
    assert 'class="view linear log fits"' in text
    assert "logarithmic axis cannot show this feature" in text
    assert "no log curve (no positive values)" in text


@pytest.mark.parametrize("axis", ["auto", "linear", "log"])
def test_pictures_are_well_formed_and_everything_lies_inside_them(axis: str) -> None:
    whole = svg_file(sheet(Learnt(made()), axis))
    root = ET.fromstring(whole)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "script" not in {element.tag.split("}")[1] for element in root.iter()}
    assert not re.search(r"\b(nan|inf)\b", whole)
    for response in made():
        drawing = panel(response, axis)
        for item in drawing.items:
            points = [p for stroke in item.strokes for p in stroke] if isinstance(item, Shape) else [(item.x, item.y)]
            assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points), response.feature


@pytest.mark.parametrize("axis", ["linear", "log"])
def test_regions_cover_the_picture_without_gaps_and_none_is_too_narrow_to_point_at(axis: str) -> None:
    for response in made():
        regions = panel(response, axis).regions
        assert len(regions) <= len(response)
        for one, other in itertools.pairwise(regions):
            assert one.right == other.left
        assert min(region.right - region.left for region in regions) >= 3.0


def test_violations_are_marked_by_as_many_triangles() -> None:
    for response in made():
        if len(response) > 100:
            continue
        marks = [item for item in panel(response).items if isinstance(item, Shape) and item.ink == "alarm"]
        assert sum(len(item.strokes) for item in marks) == int(response.violations.sum())


def test_the_axis_is_logarithmic_where_values_span_powers_of_ten() -> None:
    chosen = {response.feature: fitting_axis(response) for response in made()}
    assert chosen["p_coherent"] == chosen["count_s"] == chosen["zero low"] == "log"
    assert chosen["negative"] == chosen["mixed"] == chosen["indicator"] == chosen["single"] == "linear"
    assert not can_be_log(made()[2])


def test_several_features_are_one_picture_in_the_order_of_their_names(tmp_path: Path) -> None:
    drawn = camber.curves(fake_model(made()), tmp_path / "figure7.svg", ["count_s", "p_coherent", "count_s"])
    assert [response.feature for response in drawn] == ["count_s", "p_coherent"]
    text = (tmp_path / "figure7.svg").read_text("utf-8")
    assert text.index(">count_s<") < text.index(">p_coherent<")
    assert "negative" not in text


@pytest.mark.slow
def test_png_needs_matplotlib_and_gives_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.png", "b.PNG"):
        camber.curves(fake_model(made()), tmp_path / name, ["p_coherent", EVIL])
    one, other = (tmp_path / name for name in ("a.png", "b.PNG"))
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.PNG"]
    write_curves(tmp_path / "all.png", Learnt(made()))


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(CamberError, match=r"pip install 'camber\[plots\]'"):
        camber.curves(fake_model(made()), tmp_path / "a.png")
    camber.curves(fake_model(made()), tmp_path / "a.svg")


def test_wrong_names_are_errors_that_list_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(CamberError, match=r"\.html, \.svg, \.png"):
        camber.curves("anything", tmp_path / "a.pdf")
    with pytest.raises(SettingsError, match="auto, linear, log"):
        camber.curves("anything", tmp_path / "a.svg", axis="cubic")
    with pytest.raises(CamberError, match="no bent feature nothing; known: p_coherent, count_s"):
        Learnt(made()[:2]).of_features(["nothing"])
    with pytest.raises(CamberError, match="no feature of this model is bent"):
        Learnt().of_features()
    for name in ("a.html", "a.svg"):
        with pytest.raises(CamberError, match="cannot be written"):
            write_curves(tmp_path / "absent" / name, Learnt(made()[:1]))


def test_a_linear_model_is_an_error_that_names_the_remedy(hotel_model: Path, tmp_path: Path) -> None:
    with pytest.raises(CamberError, match=r"linear model.*camber tune .* --bend mnr"):
        camber.curves(hotel_model, tmp_path / "curves.html")
    assert list(tmp_path.iterdir()) == []


def test_the_command_draws_and_says_what_it_drew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "learnt", lambda model: Learnt(made()))
    out = tmp_path / "curves.html"
    done = CliRunner().invoke(cli, ["curves", "my-model", "--out", str(out), "--feature", "count_s"])
    assert done.exit_code == 0, done.output
    assert "count_s  9 bins, falling, 2 against it · log curve" in done.output
    assert "What the features of my-model learnt" in out.read_text("utf-8")


# --- axes ------------------------------------------------------------------------------------------------------------


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 12))
def test_round_values_lie_between_the_ends_and_are_few(low: float, size: float, most: int) -> None:
    high = low + size
    if high - low < 1e-9 * max(abs(low), abs(high)):
        return
    ticks = round_values(low, high, most)
    slack = 1e-6 * (high - low) + 1e-11 * max(abs(low), abs(high))
    assert 1 <= len(ticks) <= most or not ticks
    assert all(low - slack <= value <= high + slack for value in ticks)


@given(st.floats(1e-200, 1e200), st.floats(1.0001, 1e30))
def test_ticks_of_a_logarithmic_axis_lie_on_it(low: float, factor: float) -> None:
    scale = Scale(low, low * factor, 10.0, 500.0, True)
    ticks = scale.ticks(9)
    assert len(ticks) <= 18
    assert all(9.0 <= scale.at(tick) <= 501.0 for tick in ticks)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_numbers_can_be_read_back(value: float) -> None:
    text = number(value, 6).replace("−", "-").replace(",", "")
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    if "10" in text and any(letter in text for letter in "⁰¹²³⁴⁵⁶⁷⁸⁹"):
        factor, _, power = text.rpartition("10")
        factor = factor.replace("×", "").strip()
        text = f"{'-1' if factor == '-' else factor or '1'}e{power.translate(plain)}"
    if abs(value) >= 1e-300:
        assert float(text) == pytest.approx(value, rel=1e-5)


def test_the_fitted_curve_reaches_from_the_first_to_the_end_of_the_last_bin() -> None:
    response = Response("p", [0.01, 0.2], [0.1, 0.8], [9, 2_000_000], [-1.0, 2.0])
    drawing = panel(response, "linear")
    [[line]] = [shape.strokes for shape in drawing.items if getattr(shape, "ink", "") == "fit"]
    [steps] = [shape.strokes for shape in drawing.items if getattr(shape, "ink", "") == "step"]
    assert min(x for x, _ in line) == pytest.approx(min(x for step in steps for x, _ in step))
    assert max(x for x, _ in line) == pytest.approx(max(x for step in steps for x, _ in step))
    assert "2,000,000" in [getattr(item, "content", "") for item in drawing.items]  # and not 2 × 10⁶
