"""The page of a tuning: weights that can be told apart, and responses also where nothing bends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report.test_report_page import assert_self_contained

import camber
from camber.corpus.inputs import as_inputs
from camber.files import read_lines
from camber.report.tuning import straight_responses, tune_and_report, weights


@pytest.mark.slow
def test_straight_responses_are_weights_times_logarithms(hotel_model: Path, hotel_files: Path) -> None:
    model = camber.load(hotel_model)
    lines = read_lines(hotel_files / "test.es")[:20]
    found = straight_responses(model.decoder, as_inputs([model.source_tokens(line) for line in lines]))
    assert {"p_t_given_s", "lex_t_given_s", "p_s_given_t", "lex_s_given_t"} <= {one.feature for one in found}
    assert not {"word_penalty", "phrase_penalty"} & {one.feature for one in found}
    for one in found:
        assert one.curve is not None
        assert len(one) > 1
        np.testing.assert_allclose(one.curve[:, 1], model.weights[one.feature] * np.log(one.curve[:, 0]), atol=1e-9)
        np.testing.assert_allclose(one.values, model.weights[one.feature] * np.log(one.positions), atol=1e-9)


@pytest.mark.slow
def test_a_page_of_a_linear_tuning_has_curves_and_no_weight_that_was_not_tuned(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    how = {"iterations": 2, "nbest": 20, "tuner": "pro"}
    sides = hotel_files / "dev.es", hotel_files / "dev.en"
    tune_and_report(tmp_path / "page.html", hotel_model, *sides, out=tmp_path / "out", settings=how)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert_self_contained(page)
    assert "Response curves" in page
    assert "Nothing bends here" in page
    chart = page[page.index("<h2>Weights") : page.index("<h2>Response curves")]
    assert "word_penalty" in chart
    assert "unknown" not in chart


def test_weights_are_shares_of_those_that_are_shown() -> None:
    page = str(weights({"lm": 3.0, "p": -1.0}))
    assert "+0.75" in page
    assert "−0.25" in page
