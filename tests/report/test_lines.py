"""Charts of several curves."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from camber.errors import CamberError
from camber.report.lines import line_chart

CURVES = {"one <&>": [(4000.0, 30.0), (12000.0, 36.0)], "two": [(4000.0, 20.0), (12000.0, 36.0)]}


@pytest.mark.parametrize("logarithmic", [False, True])
def test_every_point_is_a_dot_at_its_place_and_every_curve_is_named(logarithmic: bool) -> None:
    text = line_chart(CURVES, "pairs", "BLEU", "BLEU by pairs", logarithmic=logarithmic)
    root = ElementTree.fromstring(text)
    name = "{http://www.w3.org/2000/svg}"
    dots = [dot for dot in root.iter(f"{name}circle") if dot.find(f"{name}title") is not None]
    places = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in dots]
    assert len(places) == 4
    assert places[0][0] == places[2][0] < places[1][0] == places[3][0]  # the same sizes stand above each other
    assert places[1] == places[3]  # 36 for both
    assert places[2][1] > places[0][1] > places[1][1]  # higher values are higher up
    told = [item.text for item in root.iter(f"{name}text")]
    assert {"one <&>", "two", "pairs", "BLEU"} <= set(told)
    assert any(re.fullmatch(r"[\d,]+", item or "") for item in told)


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(CamberError, match="without points"):
        line_chart({"one": []}, "x", "y", "label")
    with pytest.raises(CamberError, match="logarithms"):
        line_chart({"one": [(0.0, 1.0)]}, "x", "y", "label", logarithmic=True)
