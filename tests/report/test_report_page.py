"""The page and its pictures: whole, self-contained, and safe whatever the text is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.errors import CamberError
from camber.metrics.compare import Result
from camber.report.axes import round_edges
from camber.report.markup import Markup, element, text_width
from camber.report.page import Aligned, Candidate, Report, Shown, TextFacts
from camber.report.pictures import (
    alignment_matrix,
    alone,
    bin_curves,
    contributions,
    histogram,
    length_curves,
    ribbons,
    seconds_bars,
)
from camber.report.segmentation import Part, Segmentation, error_rows, example_rows

VOID = {"meta", "br", "img", "link", "input", "hr"}
EVIL = '<script>alert("x")</script> & \'"'


class Checker(HTMLParser):
    """Fails on a tag that closes nothing; keeps what is open, all tags, all attributes and all text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def parse(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def assert_self_contained(page: str) -> None:
    checker = parse(page)
    assert not checker.tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    for name, value in checker.attributes:
        assert name not in ("href", "src", "srcset", "data", "action"), value
        assert not name.startswith("on"), value
    assert not re.search(r"@import|url\(|https?:|//[a-z]", page)


def swapped(word: str = "casa") -> Segmentation:
    parts = [Part((2, 3), (0, 1), word), Part((0, 2), (1, 2), "")]
    return Segmentation([word, "muy", "verde"], ["green", word], parts)


def report(word: str = "casa") -> Report:
    shown = Shown(swapped(word), word, word, f"the {word}")
    return Report(
        title=word,
        lead=word,
        languages=(word, "English"),
        texts=[TextFacts(word, 3, (9, 8), (5, 6), None), TextFacts("test", 2, (9, 8), (5, 6), 0.25)],
        samples=[(word, word)],
        stages=[(word, 1.5), ("align", None)],
        sizes=[(word, word)],
        scores=[Result(word, "BLEU", 50.0, 40.0, 60.0, word)],
        sentence_scores=np.array([100.0, 20.0]),
        lengths=(np.array([3, 4]), np.array([2, 5])),
        aligned=[Aligned([word, "b"], ["x", word], [(0, 1), (1, 0)])],
        examples=[shown],
        errors=[shown],
        feature_names=["lm", word],
        weights=np.array([0.5, -1.0]),
        listed=word,
        candidates=[Candidate(word, -2.0, np.array([-2.0, 1.0])), Candidate("b", -3.0, np.array([-4.0, 1.0]))],
        footer=word,
    )


def test_the_page_is_well_formed_and_needs_nothing_from_outside() -> None:
    assert_self_contained(report().html())


def test_markup_in_the_text_is_shown_and_not_run() -> None:
    page = report(EVIL).html()
    assert_self_contained(page)
    assert "<script" not in page
    checker = parse(page)
    assert EVIL in "".join(checker.text)
    assert any(EVIL in value for name, value in checker.attributes if name == "aria-label")


@pytest.mark.slow
@given(st.text(max_size=40))
def test_any_text_makes_a_well_formed_page(word: str) -> None:
    assert "script" not in parse(report(word).html()).tags


@pytest.mark.slow
@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_every_picture_alone_is_a_valid_xml_file(word: str) -> None:
    pictures = [
        ribbons(swapped(word)),
        alignment_matrix([word, "b"], ["x", word], [(0, 1)]),
        histogram([1.0, 2.0, 10.0], [0, 5, 10], word, word),
        length_curves([1, 2], [3], (word, "en"), word),
        bin_curves([-1.0, 0.5], [0.0, 0.0], (word, "trained"), word),
        contributions([word, "b"], [-1.0, 2.0], [0.5, 2.5], word),
        seconds_bars([(word, 1.0), ("b", None)]),
    ]
    for picture in pictures:
        assert ET.fromstring(alone(picture)).tag == "{http://www.w3.org/2000/svg}svg"


def test_pictures_of_nothing_are_still_pictures() -> None:
    empty = [
        ribbons(Segmentation([], [], [])),
        alignment_matrix([], [], []),
        histogram([], [0, 50, 100], "none", "none"),
        length_curves([], [], ("a", "b"), "none"),
        bin_curves([1.0], [1.0], ("a", "b"), "none"),
        contributions(["lm"], [0.0], None, "none"),
        seconds_bars([]),
    ]
    for picture in empty:
        root = ET.fromstring(alone(picture))
        assert "nan" not in ET.tostring(root, encoding="unicode").lower()


def test_a_histogram_counts_every_value_once() -> None:
    drawn = histogram([0.0, 49.0, 50.0, 100.0, 100.0], [0, 50, 100], "scores", "BLEU")
    assert "0 to 50: 2" in drawn
    assert "50 to 100: 3" in drawn


def test_round_edges_hold_every_value() -> None:
    rng = np.random.default_rng(1)
    for low, wide in ((0.0, 1.0), (25.0, 0.01), (-60.0, 50.0), (1e6, 1.0), (3.0, 0.0)):
        values = low + wide * rng.random(50)
        edges = round_edges(values, 10)
        assert edges[0] <= values.min()
        assert values.max() <= edges[-1]
        assert 1 <= len(edges) - 1 <= 12
        assert np.histogram(values, edges)[0].sum() == 50
    assert round_edges([0.0], 5) == [-0.5, 0.5]


def test_curves_of_bins_lie_inside_the_frame_and_need_as_many_of_both() -> None:
    drawn = bin_curves(np.linspace(-1.5, 1.0, 50), np.sin(np.arange(50)), ("original", "trained"), "weights")
    points = [
        tuple(map(float, pair.split(",")))
        for line in ET.fromstring(drawn).iter("polyline")
        for pair in line.attrib["points"].split()
    ]
    assert len(points) == 100
    assert all(46 <= x <= 452 and 14 <= y <= 208 for x, y in points)
    with pytest.raises(CamberError, match=r"shapes \(2,\) and \(3,\)"):
        bin_curves([1, 2], [1, 2, 3], ("a", "b"), "w")


def test_ribbons_show_every_phrase_on_both_sides_and_its_rule() -> None:
    checker = parse(ribbons(swapped()))
    for phrase in ("casa muy", "verde", "green", "casa"):
        assert phrase in checker.text
    assert "verde → green (casa)" in checker.text


def test_markup_is_escaped_once_and_only_once() -> None:
    assert element("b", element("i", "<"), "&") == "<b><i>&lt;</i>&amp;</b>"
    assert element("b", Markup("<br>"), x=1.0, class_="a", aria_label='"') == (
        '<b x="1" class="a" aria-label="&quot;"><br></b>'
    )


@pytest.mark.parametrize(("narrow", "wide"), [("i", "m"), ("a", "A"), ("a", "漢")])
def test_wide_letters_are_wider(narrow: str, wide: str) -> None:
    assert text_width(narrow) < text_width(wide)


def test_phrases_that_change_places_share_a_number_and_others_have_none() -> None:
    segmentation = Segmentation(
        ["le", "espera", "el", "señor", "."],
        ["the", "man", "waits", "."],
        [Part((2, 4), (0, 2)), Part((0, 2), (2, 3)), Part((4, 5), (3, 4))],
    )
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in segmentation.lines()]
    assert plain == ["[le espera]¹ [el señor]² [.]", "[the man]² [waits]¹ [.]"]
    assert segmentation.moved == {0, 1}


def test_examples_are_reordered_and_right_where_there_are_such_and_something_otherwise() -> None:
    straight = Segmentation(["a"], ["A"], [Part((0, 1), (0, 1))])
    moved = Segmentation(
        ["a", "b", "c"], ["B", "A", "C"], [Part((1, 2), (0, 1)), Part((0, 1), (1, 2)), Part((2, 3), (2, 3))]
    )
    nothing = Segmentation([], [], [])
    assert example_rows([straight, moved, nothing], [True, True, True], 1) == [1]
    assert example_rows([straight, moved, nothing], [True, False, True], 9) == [1, 0]
    assert example_rows([nothing], [True], 3) == []


def test_errors_come_worst_first_and_unlike_each_other() -> None:
    def one(*words: str) -> Segmentation:
        return Segmentation(list(words), ["x"], [Part((0, len(words)), (0, 1))])

    segmentations = [one("a", "b", "c"), one("a", "b", "d"), one("e"), one("f"), Segmentation(["g"], [], [])]
    assert error_rows(segmentations, [30.0, 20.0, 50.0, 100.0, 0.0], 9) == [1, 2]
    assert error_rows(segmentations, [30.0, 20.0, 50.0, 100.0, 0.0], 1) == [1]
