"""Maps of what kernels add: whole, self-contained, and true to the kernels."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys.islands import island

import camber
from camber.bend.mixtures.bend import MixtureBend
from camber.bend.mixtures.mixture import Mixture
from camber.errors import CamberError, SettingsError
from camber.features.feature import Feature
from camber.nbest import NBest
from camber.report.curves import lines
from camber.report.drawing import INKS, Shape
from camber.report.mixture_map import SHADES, Map, shade
from camber.rerank.mixture import Mixed
from camber.rerank.moved import Moved
from camber.rerank.reranker import Reranker

EVIL = '<script>alert("x")</script>&'


def peak(names: tuple[str, ...] = ("a", "b", "c")) -> Mixed:
    """Make kernels on a grid of a and b whose weights are high near (1, -1) alone; c tells nothing."""
    places = np.array([[x, y, 0.0] for x in np.linspace(-2, 2, 9) for y in np.linspace(-2, 2, 9)])
    near = (np.abs(places[:, :2] - [1.0, -1.0]) < 0.6).all(1)
    mixture = Mixture(places, np.full((len(places), 3), 0.1), np.full(len(places), -np.log(len(places))))
    bend = MixtureBend(tuple(map(Feature, names)), mixture, np.array([10.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0]))
    features = np.array([[[8.0, 1.0, 0.0], [12.0, -1.0, 0.0]], [[12.0, -1.0, 0.0], [np.nan, 1.0, 0.0]]])
    moved = Moved(5, np.array([0, 3]), np.array([0.5, -0.25]), features)
    return Mixed(bend, np.concatenate([np.zeros(3), np.where(near, 5.0, 0.0)]), moved=moved)


def shapes_of(drawn: Map) -> dict[str, list[Shape]]:
    found: dict[str, list[Shape]] = {}
    for item in drawn.drawing().items:
        if isinstance(item, Shape):
            found.setdefault(item.ink, []).append(item)
    return found


def middle(stroke: list[tuple[float, float]]) -> tuple[float, float]:
    x, y = np.array(stroke).mean(0).tolist()
    return x, y


def test_the_map_shows_where_kernels_add() -> None:
    drawn = Map.of(peak())
    assert set(drawn.plane.features) == {"a", "b"}
    across, up = drawn._scales()
    side = drawn.plane.features.index("a")
    darkest = shapes_of(drawn)[f"rise{SHADES}"][0]
    x, y = np.mean([middle(list(stroke)) for stroke in darkest.strokes], 0).tolist()
    expected = [12.0, -1.0] if side == 0 else [-1.0, 12.0]  # a is twice what kernels see, and 10 more
    assert x == pytest.approx(across.at(expected[0]), abs=25)
    assert y == pytest.approx(up.at(expected[1]), abs=25)


def test_dots_are_as_large_as_weights_and_arrows_tell_what_was_gained() -> None:
    mixed = peak()
    mixed.weights[3] = -10.0  # the kernel at (-2, -2)
    found = shapes_of(Map.of(mixed))
    raising = [stroke for item in found["raising"] for stroke in item.strokes]
    (lowering,) = [stroke for item in found["lowering"] for stroke in item.strokes][:1]
    assert np.ptp(np.array(lowering)[:, 0]) > 1.2 * np.ptp(np.array(raising[0])[:, 0])
    assert len(found["better"]) == len(found["worse"]) == 1
    assert "alike" not in found


@pytest.mark.parametrize("kind", ["html", "svg"])
def test_pictures_are_whole_and_names_are_harmless(kind: str, tmp_path: Path) -> None:
    nbest, references = island(40)
    table = nbest.hypothesis_features()
    evil = NBest.of_hypotheses((EVIL, "y"), nbest.sentence_offsets, nbest.texts, table, nbest.scores)
    reranker = Reranker("mixture", tokenize="none", kernels=16, bandwidth="1", cautious=False).fit(evil, references)
    (drawn,) = camber.curves(reranker, tmp_path / f"map.{kind}", [EVIL, "y"])
    assert isinstance(drawn, Map)
    text = (tmp_path / f"map.{kind}").read_text("utf-8")
    assert "<script" not in text
    assert not re.search(r"""(?:src|href)=["']?https?:""", text)
    pictures = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(pictures) == (2 if kind == "html" else 1)
    for picture in pictures:
        root = ET.fromstring(picture)
        classes = {word for node in root.iter() for word in node.get("class", "").split()}
        assert classes & {"raising", "lowering"}
    assert any(line.startswith("16 kernels, bandwidth 1, ") for line in lines([drawn]))


def test_a_png_is_drawn_from_a_stored_model_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    nbest, references = island(40)
    Reranker("mixture", tokenize="none", kernels=16, cautious=False).fit(nbest, references).save(tmp_path / "m")
    pictures = []
    for name in ("one.png", "two.png"):
        camber.curves(tmp_path / "m", tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    mixed = peak()
    with pytest.raises(CamberError, match="the kernels of this model add nothing, it is linear"):
        Map.of(replace(mixed, weights=np.zeros(len(mixed.weights))))
    reranker = Reranker("mixture", tokenize="none", kernels=8, bandwidth="1", cautious=False).fit(*island(20))
    with pytest.raises(CamberError, match=r"no feature z in this model; known: x, y, list\.score"):
        camber.curves(reranker, tmp_path / "m.svg", ["z"])
    with pytest.raises(SettingsError, match="the axes of a map are linear"):
        camber.curves(reranker, tmp_path / "m.svg", axis="log")
    assert not (tmp_path / "m.svg").exists()


def test_every_shade_has_its_ink() -> None:
    assert {shade(step) for step in range(-SHADES, SHADES + 1) if step} <= set(INKS)
