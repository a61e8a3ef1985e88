"""Reports in a real browser: nothing is wider than a phone, and what is drawn can be read there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from report.test_comparison import comparison
from report.test_report_page import report
from toys.axe import serious
from toys.browser import Browser, is_there

from camber.bend.response import Response
from camber.report.blocks import cards, figure, whole_page
from camber.report.charts import Measured, error_bars
from camber.report.curves import page as curves_page
from camber.report.learnt import Learnt
from camber.report.pictures import alignment_matrix, contributions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_there(), reason="no chromium and chromedriver: apt-get install chromium chromium-driver"),
]


def scores() -> str:
    return whole_page("Scores", "", cards([("40.12", "BLEU of a"), ("40.57", "BLEU of b")]), *comparison().sections())


def curves() -> str:
    lows = np.linspace(0.1, 0.9, 9)
    response = Response("p_s_given_t", lows, lows, np.full(9, 5), np.log(lows))
    return curves_page(Learnt([response]), model="my-model")


def words() -> str:
    long = ["aparcamiento", "Geschwindigkeitsbegrenzung", "ppppqqqq", "0123456789", "WWWMMM", "illicit"]
    matrix = alignment_matrix(long, long[::-1], [(0, 0)])
    bars = error_bars([Measured(word, 1.0, 0.5, 2.0) for word in long], "scores", "BLEU")
    weights = contributions(long, np.linspace(-1, 1, len(long)), None, "weights")
    return whole_page("Words", "", figure(matrix, ""), figure(bars, ""), figure(weights, ""))


def demo() -> str:
    return report().html()


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.mark.parametrize("make", [scores, curves, words, demo])
@pytest.mark.parametrize("wide", [360, 1200])
def test_a_page_fits_its_screen(window: Browser, tmp_path: Path, make: Callable[[], str], wide: int) -> None:
    (tmp_path / "page.html").write_text(make(), "utf-8")
    try:
        phone = wide < 700
        window.emulate("Emulation.setDeviceMetricsOverride", width=wide, height=800, deviceScaleFactor=1, mobile=phone)
        window.open((tmp_path / "page.html").as_uri())
        assert window.run("return document.documentElement.scrollWidth") <= wide
        shrunk = (
            "return [...document.querySelectorAll('svg')].filter(e => e.getBoundingClientRect().width)"
            ".map(e => e.getBoundingClientRect().width / e.viewBox.baseVal.width)"
        )
        assert min(window.run(shrunk)) > 0.7
        cut = """return [...document.querySelectorAll('svg')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => {
                const place = text.getBoundingClientRect();
                return place.width && (place.left < frame.left - 1 || place.right > frame.right + 1);
            }).map(text => text.textContent);
        })"""
        assert window.run(cut) == []
        assert not window.log()
    finally:
        window.emulate("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("make", [scores, curves, words, demo])
def test_nothing_serious_bars_anyone(window: Browser, tmp_path: Path, make: Callable[[], str], colours: str) -> None:
    (tmp_path / "page.html").write_text(make(), "utf-8")
    try:
        window.emulate("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        window.open((tmp_path / "page.html").as_uri())
        assert not serious(window)
    finally:
        window.emulate("Emulation.setEmulatedMedia", features=[])
