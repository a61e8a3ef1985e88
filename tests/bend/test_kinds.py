"""All kinds of bends: one protocol, one registry; what they say of rules, parts and hypotheses agrees."""

from __future__ import annotations

import importlib.metadata
import math
from dataclasses import fields
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.bend.bend import GLOBAL, LOCAL
from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.bend.kinds import BENDS, BINNED, CHOICES, idle_settings, make_bend, settings_of
from camber.bend.log import LogBend
from camber.bend.settings import BendSettings, bend_setting
from camber.bend.weighing import Weighing
from camber.errors import CamberError, SettingsError
from camber.features.feature import CONTEXT, COUNT, INDICATOR, NUMBER, PROBABILITY, RULE, Feature, names_of
from camber.features.parts import Parts

INPUTS = (
    Feature("p", PROBABILITY, RULE),
    Feature("count", COUNT, RULE, plus=1.0),
    Feature("known", INDICATOR, RULE),
    Feature("word_penalty", NUMBER, RULE),
    Feature("lm", NUMBER, CONTEXT),
)
VALUES = {"p": (0.0, 0.1, 0.5, 1.0), "count": (1.0, 2.0, 30.0), "known": (0.0, 1.0), "word_penalty": (-1.0, -2.0, -3.0)}


def drawn(seed: int, kind: str, parts: int = 12) -> tuple[Weighing, Parts]:
    """A bend of a kind with random weights, and random parts, some of which are no rules or lack a feature."""
    rng = np.random.default_rng(seed)
    seen = {name: (np.array(values), np.ones(len(values), np.int64)) for name, values in VALUES.items()}
    bend = make_bend(kind, INPUTS, seen, BendSettings(bits=2))
    columns = [rng.choice((*VALUES[name], np.nan), parts) for name in VALUES]
    values = np.column_stack([*columns, rng.normal(size=parts)])
    rules = np.where(rng.random(parts) < 0.8, rng.integers(0, 9, parts), -1)
    values[rules < 0, :3] = np.nan  # what is no rule has no features of rules, but words
    return Weighing(bend, {name: float(rng.normal()) for name in bend.names}), Parts.of_dense(INPUTS, values, rules)


@given(st.integers(0, 2**32 - 1), st.sampled_from(tuple(BENDS)))
def test_the_worth_of_a_rule_is_the_score_of_a_part_without_context(seed: int, kind: str) -> None:
    weighing, parts = drawn(seed, kind)
    rules = np.flatnonzero(parts.rules >= 0)
    values = parts.dense()[rules]
    alone = weighing.rule_worth(values[:, :4], np.arange(4)) + weighing.linear[4] * values[:, 4]
    scores = weighing.scores(parts.take(rules), np.arange(len(rules) + 1))
    np.testing.assert_allclose(alone, scores, atol=1e-12)
    # … and the sum of what its values are worth one by one
    total = np.zeros(len(rules))
    for name, column in zip(names_of(INPUTS), values.T, strict=True):
        total += np.where(np.isnan(column), 0.0, weighing.worth(name, column))
        line = weighing.linear[names_of(INPUTS).index(name)] * INPUTS[names_of(INPUTS).index(name)].linear(column)
        if kind == "none":
            np.testing.assert_allclose(weighing.worth(name, column), line, atol=1e-12)
            assert not weighing.beyond_linear(name, column).any()
    np.testing.assert_allclose(total, scores, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from(tuple(BENDS)))
def test_a_hypothesis_is_the_sum_of_its_parts(seed: int, kind: str) -> None:
    weighing, parts = drawn(seed, kind)
    offsets = np.array([0, 0, 5, len(parts)])
    alone = weighing.scores(parts, np.arange(len(parts) + 1))
    whole = weighing.scores(parts, offsets)
    np.testing.assert_allclose(whole, [0.0, alone[:5].sum(), alone[5:].sum()], atol=1e-12)


def test_logarithms_are_those_of_a_textbook() -> None:
    weighing = Weighing(LogBend(INPUTS), {"p": 2.0, "count": 3.0, "known": 5.0, "word_penalty": 7.0, "lm": 11.0})
    values = np.array([[0.5, 3.0, 0.0, -2.0], [0.0, np.nan, 1.0, -1.0]])
    expected = [2 * math.log(0.5) + 3 * math.log(4) - 14, -200 + 5 - 7]
    np.testing.assert_allclose(weighing.rule_worth(values, np.arange(4)), expected)


@pytest.mark.parametrize("kind", [*BENDS])
def test_a_start_comes_near_to_the_model_of_logarithms(kind: str) -> None:
    """A bin for every value loses nothing; straight lines lose what is not straight, and only that."""
    seen = {name: (np.array(values), np.ones(len(values), np.int64)) for name, values in VALUES.items()}
    old = Weighing(LogBend(INPUTS), {"p": 0.0, "count": 0.3, "known": 5.0, "word_penalty": 7.0, "lm": 11.0})
    bend = make_bend(kind, INPUTS, seen, BendSettings(bits=4))
    new = Weighing(bend, bend.start(old, seen))
    assert new.linear[4] == 11.0
    straight = ("p", "known", "word_penalty") if kind == "raw" else tuple(VALUES)
    if kind.startswith("overlap"):  # which smooths
        straight = ("p",)
    for name in straight:
        values = np.array(VALUES[name])
        gap = new.worth(name, values) - old.worth(name, values)
        np.testing.assert_allclose(gap, gap[0], atol=1e-9)  # up to a constant, which ranks nothing


def test_kinds_are_listed_once_with_the_settings_that_matter_to_them() -> None:
    assert BINNED == ("bins", "overlap", "lnr", "mnr")
    trees = ["trees", *(f"{kind}+trees" for kind in BINNED)]
    assert [*BENDS] == ["none", "raw", *BINNED, *trees, "anchored", "isotonic"]
    assert [*CHOICES] == ["keep", *BENDS]
    assert settings_of("mnr+trees") == tuple(item.name for item in fields(BendSettings))
    assert settings_of("mnr") == ("bits", "beta", "gamma")
    for kind in ("keep", *BENDS):
        assert {*settings_of(kind), *idle_settings(kind)} == {item.name for item in fields(BendSettings)}
        expected = "" if kind in ("keep", "none") else "trees.json" if kind.endswith("trees") else "bins.tsv"
        assert (BENDS.load(kind).FILE if kind != "keep" else "") == expected
    with pytest.raises(SettingsError, match="unknown bend 'wavy'; known: none, raw"):
        make_bend("wavy", INPUTS, {}, BendSettings())
    assert bend_setting("beta", 7.0).metadata["help"].startswith("how strongly neighbouring bins are tied")


class Plain(LogBend):
    """The bend of another package."""

    kind = "plain"


def test_a_bend_of_another_package_says_itself_which_settings_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("plain", f"{__name__}:Plain", "camber.bends")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [point] * (group == "camber.bends"))
    assert [*CHOICES][-1] == "plain"
    assert settings_of("plain") == ()
    assert idle_settings("plain") == [item.name for item in fields(BendSettings)]
    assert make_bend("plain", INPUTS, {}, BendSettings()).kind == "plain"


def test_without_raw_values_there_is_no_raw_bend() -> None:
    with pytest.raises(SettingsError, match="have no raw values"):
        make_bend("raw", INPUTS[3:], {}, BendSettings())


def test_a_bend_of_what_is_known_late_is_global() -> None:
    bins = Bins.make([1.0, 2.0], 1)
    assert DiscreteBend(INPUTS, {"p": bins}).scope == LogBend(INPUTS).scope == LOCAL
    late = DiscreteBend(INPUTS, {"lm": bins})
    assert late.scope == GLOBAL
    with pytest.raises(CamberError, match="lm cannot be bent: what it adds depends on more than the rule"):
        Weighing(late, dict.fromkeys(late.names, 1.0)).check_inputs(INPUTS)


def test_weights_that_are_missing_or_no_numbers_are_named() -> None:
    with pytest.raises(CamberError, match="no weight for count, known"):
        Weighing(LogBend(INPUTS), {"p": 1.0, "word_penalty": 1.0, "lm": 1.0})
    with pytest.raises(CamberError, match="the weight of lm is not a finite number"):
        Weighing(LogBend(INPUTS), {**dict.fromkeys(names_of(INPUTS), 1.0), "lm": math.nan})
