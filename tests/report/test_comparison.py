"""Systems beside each other on a page: what a sentence gains, which words differ, and charts of measurements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.test_report_page import EVIL, assert_self_contained, parse

from camber.metrics.bleu import BLEU
from camber.metrics.compare import compare
from camber.metrics.metric import make_metric
from camber.report.blocks import two_sides, whole_page
from camber.report.charts import Measured, changes, error_bars, ratios, rounds
from camber.report.comparison import Comparison

REFERENCE = ["the cat sat on the mat .", "it is raining again today .", "good morning , madam ."]
ONE = ["the cat sits on the mat .", "it is raining again today .", "good evening , madam ."]
TWO = ["the cat sat on the mat .", "it rains today .", "good evening , madam ."]


def comparison(name: str = "bleu", texts: dict[str, list[str]] | None = None) -> Comparison:
    shown = texts or {"one": ONE, "two": TWO}
    metric = make_metric(name, "13a")
    tables = {system: metric.statistics(lines, [REFERENCE]) for system, lines in shown.items()}
    return Comparison(shown, tables, metric, compare(shown, [REFERENCE], [name], trials=50, samples=50), [REFERENCE])


@pytest.mark.parametrize("name", ["bleu", "sbp", "chrf", "ter"])
def test_what_a_sentence_gains_is_the_difference_of_two_scores_of_the_whole_text(name: str) -> None:
    gains = comparison(name).gains("one", "two")
    metric = make_metric(name, "13a")
    for k in range(len(ONE)):
        mixed = [*ONE[:k], TWO[k], *ONE[k + 1 :]]
        before, after = (metric.score(metric.statistics(side, [REFERENCE]).sum(0)) for side in (ONE, mixed))
        better = after - before if metric.higher_is_better else before - after
        assert gains[k] == pytest.approx(better, abs=1e-9)
    assert gains[0] > 0 > gains[1]
    assert gains[2] == 0


def test_sentences_that_won_and_lost_stand_under_their_headings() -> None:
    page = whole_page("a", "b", *comparison().sections())
    assert_self_contained(page)
    won, lost = page.split("<h3>Won</h3>")[1].split("<h3>Lost</h3>")
    assert "<ins>sat</ins>" in won
    assert "<del>sits</del>" in won
    assert "<ins>is raining again</ins>" in lost
    assert "<del>rains</del>" in lost
    assert "1 sentences are better, 1 worse; 1 of 3 are the same" in page


def test_a_page_about_anything_is_text_and_no_markup() -> None:
    texts = {EVIL: [EVIL, *ONE[1:]], f"2{EVIL}": [f"{EVIL} {EVIL}", *TWO[1:]]}
    page = whole_page(EVIL, EVIL, *comparison(texts=texts).sections())
    assert_self_contained(page)
    assert EVIL in "".join(parse(page).text)


def test_length_ratios_are_words_over_words() -> None:
    rows = BLEU().statistics(TWO, [REFERENCE])[:, :2].sum(0)
    assert f"{rows[0] / rows[1]:.3f}" in comparison().lengths()


@given(st.text("ab c.é", max_size=20), st.text("ab c.é", max_size=20), st.lists(st.text("ab c.", max_size=9)))
def test_marking_words_leaves_both_texts_as_they_are(one: str, two: str, references: list[str]) -> None:
    for side, marked in zip((one, two), two_sides(one, two, references), strict=True):
        assert "".join(parse(f"<p>{marked}</p>").text) == side.rstrip()


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=9))
def test_charts_hold_their_points(values: list[float]) -> None:
    pictures = [
        error_bars([Measured("a", value, value - 1, value + 2) for value in values], "label", "BLEU"),
        rounds({"a": values, "b": values[:1]}, "label", "round", marked=[0, 0]),
        changes(np.array(values), "label", "unit"),
    ]
    for picture in pictures:
        attributes = parse(picture).attributes
        wide, high = (float(dict(attributes)[name]) for name in ("width", "height"))
        places = [(name, float(value)) for name, value in attributes if name in ("cx", "cy")]
        assert all(-1e-6 <= at <= (wide if name == "cx" else high) for name, at in places)


def test_ratios_group_sentences_by_the_length_of_their_reference() -> None:
    picture = ratios({"a": [4, 6, 30]}, [5, 4, 20], "label")
    told = "".join(parse(picture).text)
    assert "a: 1.111" in told  # (4 + 6) / (5 + 4)
    assert "a: 1.500" in told
    assert "2 sentences" in told
