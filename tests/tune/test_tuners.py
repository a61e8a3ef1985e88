"""What every tuner promises: determinism, guards, odd lists, the anchors' scores, many dimensions."""

import importlib.metadata
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from toys.tuning_lists import cosine, linear_list, random_list

from camber.engine import Threads
from camber.errors import CamberError, SettingsError, TuneError
from camber.metrics import BLEU, TER, ChrF
from camber.nbest import NBest
from camber.tune import Blend, ExpectedBleu, HeldBleu, Likelihood, Mert, Mira, Pro, TuningData
from camber.tune.grid import combinations
from camber.tune.loop import TuneSettings
from camber.tune.regularise import L2
from camber.tune.tuner import ANY_METRIC, HOME, REGULARISER, SPARSE
from camber.tune.tuners import TUNERS, check_tuner, make_tuner, takers, tuner_settings

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
LIST = SHARED / "anchors/moses/dev.untuned.nbest100.gz"
REFERENCE = SHARED / "data/multi30k/tok/dev.en"

EVERY = [
    Mert(restarts=5),
    Pro(samples=200, brevity="plain"),
    Mira(epochs=200, c=0.1),
    ExpectedBleu(steps=20),
    ExpectedBleu(method="lbfgs", steps=20),
    HeldBleu(),
    Blend(),
    Likelihood(steps=20),
]


@pytest.fixture(scope="module")
def some():
    return random_list(np.random.default_rng(5), sentences=40, most=12, features=4)


@pytest.mark.parametrize("tuner", EVERY, ids=repr)
def test_the_same_seed_gives_the_same_bytes_with_one_thread_or_two(tuner, some):
    start = np.array([0.5, -0.2, 0.1, 0.0])
    runs = [tuner.fit(some, start, seed=3, engine=Threads(threads)) for threads in (1, 2, 2, 1)]
    for run in runs[1:]:
        assert run.weights.tobytes() == runs[0].weights.tobytes()
        assert run.objective == runs[0].objective
    assert runs[0].metric == some.corpus_score(runs[0].weights)


@pytest.mark.parametrize("tuner", EVERY, ids=repr)
def test_sentences_without_and_with_one_hypothesis_do_no_harm(tuner):
    nbest = NBest.of_hypotheses(
        ("good", "words"),
        [0, 0, 3, 4, 4, 6, 6],
        ["a b c d", "x b c d e f", "x y", "k l m n", "p q r s t", "p q"],
        [[2.0, 4], [1, 6], [0, 2], [0.0, 4], [3, 5], [2, 2]],
    )
    references = [["m", "a b c d", "k l m n", "n", "p q r s t", "o o o"]]
    data = TuningData.of(nbest, BLEU("none"), references)
    assert data.missing[1] == 1 + 1 + 3  # the lengths of references whose sentence has no hypothesis
    tuned = tuner.fit(data, [-1.0, -1.0], seed=1)
    assert data.one_best(tuned.weights).tolist() == [-1, 0, 3, -1, 4, -1]
    assert tuned.metric == pytest.approx(float(data.metric.score(data.statistics[[0, 3, 4]].sum(0) + data.missing)))


@pytest.mark.parametrize("tuner", EVERY, ids=repr)
class TestGuards:
    def test_features_that_never_differ(self, tuner, some):
        with pytest.raises(TuneError, match="same features"):
            tuner.fit(replace(some, features=np.ones_like(some.features)), np.ones(4), seed=1)

    def test_statistics_that_never_differ(self, tuner, some):
        with pytest.raises(TuneError, match="same BLEU statistics"):
            tuner.fit(replace(some, statistics=np.ones_like(some.statistics)), np.ones(4), seed=1)

    def test_a_metric_of_zero(self, tuner, some):
        rows = some.statistics.copy()
        rows[:, 2:6] = 0
        with pytest.raises(TuneError):
            tuner.fit(replace(some, statistics=rows), np.ones(4), seed=1)

    def test_empty_lists_and_lists_of_one(self, tuner):
        one = NBest.of_hypotheses(("x",), [0, 1], ["a b c d"], [[1.0]])
        with pytest.raises(TuneError, match="more than one hypothesis"):
            tuner.fit(TuningData.of(one, BLEU("none"), [["a b c d"]]), [1.0], seed=1)
        none = NBest.of_hypotheses(("x",), [0, 0], [], [])
        with pytest.raises(TuneError, match="no hypotheses at all"):
            tuner.fit(TuningData.of(none, BLEU("none"), [["a b c d"]]), [1.0], seed=1)

    def test_nothing_free(self, tuner, some):
        with pytest.raises(TuneError, match="every feature is fixed"):
            tuner.fit(replace(some, fixed=np.ones(4, bool)), np.ones(4), seed=1)

    @pytest.mark.parametrize("start", [[1.0], [1.0, np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0, 1.0]])
    def test_bad_starts(self, tuner, some, start):
        with pytest.raises(TuneError, match="start from"):
            tuner.fit(some, start, seed=1)

    def test_a_start_of_zeros_is_fine_and_never_the_outcome(self, tuner, some):
        assert tuner.fit(some, np.zeros(4), seed=1).weights.any()


class TestDeclarations:
    """Tuners say what they take, and refuse the rest with the names of those that take it."""

    def test_who_takes_what(self):
        assert (
            takers([]) == list(TUNERS) == ["mert", "pro", "mira", "expected-bleu", "held-bleu", "blend", "likelihood"]
        )
        assert takers([SPARSE]) == takers([REGULARISER]) == ["pro", "expected-bleu", "held-bleu", "blend", "likelihood"]
        assert takers([ANY_METRIC]) == ["mert", "pro", "mira", "likelihood"]
        assert takers([SPARSE, ANY_METRIC]) == ["pro", "likelihood"]
        assert takers([HOME]) == ["held-bleu", "blend"]

    def test_only_pro_goes_half_of_the_way_in_the_loop(self):
        assert {name: TUNERS.load(name).step for name in TUNERS if TUNERS.load(name).step != 1.0} == {"pro": 0.5}

    @pytest.mark.parametrize("tuner", [Mert(), Mira()], ids=repr)
    def test_a_regulariser_is_refused_where_it_would_be_ignored(self, tuner, some):
        name = type(tuner).__name__.lower()
        with pytest.raises(
            TuneError,
            match=f"^{name} cannot fit weights under a regulariser; use pro, expected-bleu, held-bleu, blend or",
        ):
            tuner.fit(some, np.ones(4), seed=1, regulariser=L2(1.0))

    def test_a_refusal_names_those_that_take_the_whole_task(self, some):
        other = replace(some, metric=ChrF())
        with pytest.raises(TuneError, match=r"not of chrF2; use mert, pro, mira or likelihood$"):
            ExpectedBleu().fit(other, np.ones(4), seed=1)
        with pytest.raises(TuneError, match=r"not of chrF2; use pro or likelihood$"):
            ExpectedBleu().fit(other, np.ones(4), seed=1, regulariser=L2(1.0))

    def test_settings_are_refused_before_anything_is_computed(self):
        check_tuner("pro", [SPARSE, REGULARISER], "curves")
        with pytest.raises(
            SettingsError, match=r"^mira cannot fit curves; use pro, expected-bleu, held-bleu, blend or likelihood$"
        ):
            check_tuner("mira", [SPARSE, REGULARISER], "curves")
        with pytest.raises(SettingsError, match="unknown tuner 'simplex'; known: mert, pro"):
            make_tuner("simplex")

    def test_other_packages_add_tuners(self, monkeypatch, some):
        points = [
            EntryPoint("fewer-pairs", f"{__name__}:FewerPairs", "camber.tuners"),
            EntryPoint("broken", "no_such_module:Tuner", "camber.tuners"),
        ]
        monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or sys.modules[type(self).__module__])
        monkeypatch.setattr(
            importlib.metadata, "entry_points", lambda group: points if group == "camber.tuners" else []
        )
        assert list(TUNERS)[-2:] == ["broken", "fewer-pairs"]
        assert make_tuner("fewer-pairs", keep=7).fit(some, np.ones(4), seed=1).weights.any()
        with pytest.raises(TuneError, match=r"use mert, pro, mira, likelihood or fewer-pairs$"):
            ExpectedBleu().fit(replace(some, metric=ChrF()), np.ones(4), seed=1)

    def test_listing_the_tuners_imports_none_of_them(self):
        code = (
            "import sys; from camber.tune.tuners import TUNERS; [TUNERS.help(name) for name in TUNERS]; "
            "assert not {'numba', 'numpy'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class FewerPairs(Pro):
    """PRO, as a tuner of another package."""


def test_a_value_that_is_not_a_number_is_an_error_with_its_place(some):
    table = some.features.copy()
    table[7, 2] = np.nan
    with pytest.raises(CamberError, match="feature f2 of hypothesis 7 is nan"):
        replace(some, features=table)
    rows = some.statistics.copy()
    rows[3, 1] = np.inf
    with pytest.raises(CamberError, match="statistic of hypothesis 3 is inf"):
        replace(some, statistics=rows)


def test_references_of_another_text_and_unknown_fixed_names_are_errors():
    nbest = NBest.of_hypotheses(("x",), [0, 2], ["a", "b"], [[1.0], [2.0]])
    with pytest.raises(CamberError, match="1 sentences in the n-best list but 2 references"):
        TuningData.of(nbest, BLEU("none"), [["a", "b"]])
    with pytest.raises(CamberError, match="no feature y to hold; known: x"):
        TuningData.of(nbest, BLEU("none"), [["a"]], fixed=["y"])


@pytest.mark.parametrize("metric", [TER(), ChrF(), BLEU("none", strict=True), BLEU("none", smooth="add-k", order=2)])
@pytest.mark.parametrize(
    "tuner", [Mert(restarts=4), Pro(samples=200, brevity="plain"), Mira(epochs=200, c=0.1), Likelihood()], ids=repr
)
def test_other_metrics_can_be_tuned_for(metric, tuner):
    texts = ["a b c d e", "a b x y z", "q", "k l m n o p", "k k l l", "m n o p"]
    nbest = NBest.of_hypotheses(
        ("good", "noise"), [0, 3, 6], texts, [[0.9, 1], [0.5, 5], [0.1, 9], [2.0, 1.5], [1.0, 3], [1.1, 9]]
    )
    data = TuningData.of(nbest, metric, [["a b c d e", "k l m n o p"]])
    start = [-1.0, 1.0]
    tuned = tuner.fit(data, start, seed=1)
    assert data.one_best(start).tolist() != [0, 3]
    assert data.one_best(tuned.weights).tolist() == [0, 3]
    assert tuned.metric == data.score_of(np.array([0, 3]))


def test_as_the_dimension_grows_mert_falls_and_pro_and_mira_hold():
    cosines = {}
    for dimension in (5, 80):
        rng = np.random.default_rng(dimension)
        gold = rng.uniform(-1.0, 1.0, dimension)
        data = linear_list(rng, 60, 30, gold)
        start = rng.uniform(-1.0, 1.0, dimension)
        for tuner in (Mert(), Pro(), Mira()):
            weights = tuner.fit(data, start, seed=1).weights
            cosines[type(tuner).__name__, dimension] = cosine(weights, gold)
    assert min(cosines[name, 5] for name in ("Mert", "Pro", "Mira")) > 0.98
    assert min(cosines[name, 80] for name in ("Pro", "Mira")) > 0.93
    assert cosines["Mert", 80] < min(cosines["Pro", 80], cosines["Mira", 80]) - 0.1


@pytest.fixture(scope="module")
def moses():
    if not LIST.exists() or not REFERENCE.exists():
        pytest.skip(f"no {LIST.name} in {SHARED}")
    references = REFERENCE.read_text("utf-8").splitlines()
    nbest = NBest.read(LIST, sentences=len(references))
    return TuningData.of(nbest, BLEU("none"), [references])


#: Moses' untuned weights, in the order of the list's features
UNTUNED = np.array([0.3] * 6 + [0.3, 0.5, -1.0, 0.2] + [0.2] * 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tuner", "least"),
    [
        (Mert(), 40.88),
        (Mira(), 40.30),
        (Pro(), 39.8),
        (ExpectedBleu(), 40.5),
        (HeldBleu(), 39.9),
        (Blend(), 39.9),
        (Likelihood(), 39.06),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, float) else str(value),
)
def test_on_moses_own_list_we_reach_its_optimisers_scores(moses, tuner, least):
    assert moses.corpus_score(UNTUNED) == pytest.approx(39.06, abs=0.01)
    tuned = tuner.fit(moses, UNTUNED, seed=1)
    assert tuned.metric >= least
    assert tuned.metric < moses.score_of(moses.oracle())


class TestOptions:
    def test_settings_of_a_tuner_come_from_a_line(self):
        assert tuner_settings("expected-bleu", "variance=10 method=lbfgs steps=7") == {
            "variance": 10.0, "method": "lbfgs", "steps": 7,
        }  # fmt: skip
        assert tuner_settings("mert", "") == {}

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("varience=10", "unknown setting 'varience' for ExpectedBleu; known: method, scale, brevity"),
            ("variance", "expected name=value, the names are method"),
            ("variance=ten", "ExpectedBleu.variance is 'ten'; expected float, such as 0.0"),
            ("variance=-1", "ExpectedBleu.variance is -1.0; expected at least 0"),
            ("brevity=hard", "expected one of sigmoid, capped"),
            ("steps=1 steps=2", "steps is given twice"),
        ],
    )
    def test_what_a_tuner_does_not_know_is_an_error(self, line, told):
        with pytest.raises(SettingsError, match=told):
            tuner_settings("expected-bleu", line)
        with pytest.raises(SettingsError, match=told):
            TuneSettings(tuner="expected-bleu", tuner_options=line)

    def test_the_loop_uses_them_and_a_grid_adds_to_them(self):
        settings = TuneSettings(tuner="held-bleu", tuner_options="variance=10 entropy=0.1")
        assert settings.make_tuner() == HeldBleu(variance=10.0, entropy=0.1)
        ((_, _, tuner),) = combinations({"l2": [2.0]}, settings, "none")
        assert tuner == HeldBleu(variance=0.5, entropy=0.1)
        ((_, _, tuner),) = combinations({"l2": [2.0]}, TuneSettings(tuner_options="held=3"), "none")
        assert tuner == Blend(held=3.0, l2=2.0)
