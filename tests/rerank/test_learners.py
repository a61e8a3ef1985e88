"""Learners: what they declare, models that were stored before, and learners of other packages."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.learners import OneFeature
from toys.lists import with_values

from camber.bend.settings import TREE_SETTINGS
from camber.errors import ModelError, SettingsError
from camber.model.directory import ModelDirectory, write_model
from camber.nbest import NBest
from camber.rerank.binned import Binned
from camber.rerank.learner import Learner
from camber.rerank.learners import LEARNERS
from camber.rerank.linear import Linear
from camber.rerank.mixture import Mixed
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.trees import Trees
from camber.tune.tuners import takers


def test_learners_declare_their_tuners_and_settings() -> None:
    assert list(LEARNERS) == ["linear", "bins", "overlap", "lnr", "mnr", "trees", "mixture"]
    own = [LEARNERS.load(name).default_tuner for name in LEARNERS]
    assert own == ["expected-bleu", "pro", "pro", "pro", "pro", "mert", "expected-bleu"]
    assert [len(takers(LEARNERS.load(name).needs)) for name in LEARNERS] == [7, 5, 5, 5, 5, 7, 5]
    assert {name: sorted(LEARNERS.load(name).settings(name)) for name in LEARNERS} == {
        "linear": [],
        "bins": ["bits", "lines", "softness"],
        "overlap": ["bits", "lines"],
        "lnr": ["beta", "bits", "lines", "softness"],
        "mnr": ["beta", "bits", "gamma", "lines", "softness"],
        "trees": sorted((*TREE_SETTINGS, "tree_scope")),
        "mixture": ["bandwidth", "kernel_kind", "kernels", "leave_out", "mass", "prior", "reestimate"],
    }
    assert all(LEARNERS.help(name) for name in LEARNERS)


def test_the_classes_are_learners() -> None:
    learners: list[type[Learner]] = [Linear, Binned, Trees, Mixed, OneFeature]
    members = {name for name in vars(Learner) if not name.startswith("_")}
    for learner in learners:
        fields = {field.name for field in dataclasses.fields(learner)}  # type: ignore[arg-type]
        assert members - fields <= set(dir(learner))


FEATURES = {"length": True, "consensus": False, "lm_language": "", "lm_lowercase": False}
CHOSEN = {"metric": "bleu", "tokenize": "none", "lowercase": False, "seed": 1, "cautious": True}
#: settings that the first version did not have, with what it did
LATER = {"reference_length": "closest", "softness": 0.0, "lines": True}
SIZES = {"sentences": 20, "hypotheses": 200, "features": 5, "language_models": 0}
NBEST = NBest.of_hypotheses(
    ("x", "rare"),
    [0, 2, 3],
    ["a b", "a", "c d"],
    [[0.5, 0.0], [-1.5, 2.0], [3.0, 1.0]],
    scores=[-1.0, -2.0, -3.0],
)


def stored_linear(path: Path) -> None:
    """Write a linear model as the first version did, file by file."""
    settings: dict[str, Any] = {
        "rerank": {"learner": "linear", "tuner": "mert", **CHOSEN, "step": 0.9, "sparse": ["rare"]},
        "features": FEATURES,
        "tuner": {"restarts": 3},
    }
    with write_model(path, "rerank", settings) as draft:
        weights = {"x": 0.25, "rare": -1.0, "list.score": 0.5, "length.words": 2.0, "length.characters": 0.0}
        lines = ["# camber weights 1", "name\tweight", *(f"{name}\t{value!r}" for name, value in weights.items())]
        draft.path("weights.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        draft.path("features.tsv").write_text("for people\n", "utf-8")
        draft.save("scales.npy", np.array([1.0, 1.0, 2.0, 1.0, 4.0]))
        draft.sizes |= SIZES


def stored_curves(path: Path) -> None:
    """Write a model with bins as the first version did."""
    settings: dict[str, Any] = {
        "rerank": {
            "learner": "mnr", "tuner": "pro", **CHOSEN, "step": 0.95, "sparse": ["rare"], "origin": 0.9, "bent": 0.5,
        },
        "bend": {"bits": 2, "beta": 100.0, "gamma": 2.0},
        "features": FEATURES | {"length": False},
        "tuner": {},
    }  # fmt: skip
    bins = [
        "# camber bins 1 mnr",
        "# inputs x rare list.score",
        "# copied x rare",
        "feature\tbin\tlow\thigh\tpopulation",
    ]
    bins += [
        "x\t0\t-2.0\t-0.5\t7",
        "x\t1\t0.0\t1.0\t6",
        "x\t2\t2.0\t3.0\t7",
        "rare\t0\t-1.0\t1.0\t3",
        "rare\t1\t2.0\t3.0\t3",
    ]
    weights = {
        "x": 0.25,
        "rare": -1.0,
        "list.score": 0.5,
        "x@0": 8.0,
        "x@1": 16.0,
        "x@2": 32.0,
        "rare@0": 64.0,
        "rare@1": 128.0,
    }
    lines = ["# camber weights 1", "name\tweight", *(f"{name}\t{value!r}" for name, value in weights.items())]
    with write_model(path, "rerank", settings) as draft:
        draft.path("bins.tsv").write_text("\n".join(bins) + "\n", "utf-8")
        draft.path("weights.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        draft.sizes |= {"bins": 5} | SIZES


def optional(nbest: NBest) -> NBest:
    """Return the list as one whose lines leave `rare` out where it is 0."""
    table = nbest.hypothesis_features()
    table[table[:, 1] == 0.0, 1] = np.nan
    return with_values(nbest, table)


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        (stored_linear, [0.125 - 0.5 + 4, -0.375 - 2 - 1 + 2, 0.75 - 1 - 1.5 + 4]),
        # where `rare` is 0 it is absent, and hits no bin
        (stored_curves, [0.125 - 0.5 + 16, -0.375 - 2 - 1 + 8 + 128, 0.75 - 1 - 1.5 + 32 + 64]),
    ],
)
def test_models_that_were_stored_before_open_and_are_stored_alike(store: Any, expected: Any, tmp_path: Path) -> None:
    store(tmp_path / "old")
    reranker = Reranker.load(tmp_path / "old")
    np.testing.assert_allclose(reranker.scores(optional(NBEST)), expected, rtol=1e-12)
    reranker.save(tmp_path / "new")
    old, new = (ModelDirectory.open(tmp_path / name) for name in ("old", "new"))
    assert list(new.settings) == list(old.settings)
    for table, settings in new.settings.items():
        added = {name: settings.pop(name) for name in LATER if name in settings and name not in old.settings[table]}
        assert added == {name: LATER[name] for name in added}
    assert new.settings == old.settings
    assert [list(table) for table in new.settings.values()] == [list(table) for table in old.settings.values()]
    assert new.sizes == old.sizes
    for name in ("weights.tsv", *(["bins.tsv"] if store is stored_curves else [])):
        assert new.file(name).read_bytes() == old.file(name).read_bytes()


def test_what_a_stored_model_says_of_its_fitting_is_kept(tmp_path: Path) -> None:
    stored_linear(tmp_path / "linear")
    stored_curves(tmp_path / "curves")
    line, curves = (Reranker.load(tmp_path / name) for name in ("linear", "curves"))
    assert (line.learner, line.tuner, line.tuner_settings) == ("linear", "mert", {"restarts": 3})
    assert (line.fitted.step, line.fitted.bent, line.responses()) == (0.9, None, [])
    assert (curves.learner, curves.tuner, curves.bits, curves.beta) == ("mnr", "pro", 2, 100.0)
    assert (curves.fitted.step, curves.fitted.bent) == (pytest.approx(0.95), 0.5)
    assert [response.feature for response in curves.responses()] == ["x", "rare"]


@pytest.fixture
def one_feature(install: Callable[[str, dict[str, str]], None]) -> None:
    """Pretend that a package with another learner is installed."""
    install("camber.learners", {"one-feature": "toys.learners:OneFeature"})


def graded(sentences: int = 12) -> tuple[NBest, list[str]]:
    """Make a list in which the feature `good` tells everything, and the own score the contrary."""
    rng = np.random.default_rng(1)
    texts = ["a b c d e f", "a b c d e x", "a b c d x y", "a b c x y z"] * sentences
    good = np.tile([3.0, 2.0, 1.0, 0.0], sentences)
    table = np.column_stack([rng.normal(size=len(good)), good])
    nbest = NBest.of_hypotheses(("noise", "good"), np.arange(sentences + 1) * 4, texts, table, -good)
    return nbest, ["a b c d e f"] * sentences


@pytest.mark.usefixtures("one_feature")
def test_a_learner_of_another_package_is_fitted_reported_stored_and_opened(tmp_path: Path) -> None:
    nbest, references = graded()
    reranker = Reranker("one-feature", tokenize="none")
    assert reranker.tuner == "mert"
    report = evaluate(reranker, nbest, references, folds=3, trials=100)
    assert report.tuned == report.oracle == pytest.approx(100)
    assert report.bent is None
    reranker.save(tmp_path / "m")
    again = Reranker.load(tmp_path / "m")
    assert isinstance(again.fitted, OneFeature)
    assert again.scores(nbest).tobytes() == nbest.hypothesis_features()[:, 1].tobytes()
    directory = ModelDirectory.open(tmp_path / "m")
    assert directory.settings["rerank"]["chosen"] == 1
    assert directory.sizes["chosen_features"] == 1
    assert "bend" not in directory.settings


@pytest.mark.usefixtures("one_feature")
def test_every_learner_keeps_the_own_order_where_it_does_no_better() -> None:
    nbest, references = graded()
    nbest = dataclasses.replace(nbest, scores=nbest.hypothesis_features()[:, 1].copy())
    reranker = Reranker("one-feature", tokenize="none").fit(nbest, references)
    assert reranker.fitted.step == 0.0
    assert reranker.rerank(nbest).texts == nbest.texts


def test_a_model_of_a_learner_that_is_not_there_is_an_error(one_feature: None, tmp_path: Path) -> None:
    nbest, references = graded()
    Reranker("one-feature", tokenize="none").fit(nbest, references).save(tmp_path / "m")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.metadata, "entry_points", lambda group: [])
        with pytest.raises(ModelError, match="learner 'one-feature', which this version does not know"):
            Reranker.load(tmp_path / "m")
        with pytest.raises(SettingsError, match="unknown learner 'one-feature'; known: linear, bins"):
            Reranker("one-feature")
