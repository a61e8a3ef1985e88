"""The re-ranker: what it learns, keeps on disk, checks and reports."""

import dataclasses
import inspect
import itertools
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import with_values

import camber
from camber.engine import Threads
from camber.errors import CamberError, ModelError, SettingsError
from camber.metrics import BLEU
from camber.nbest import NBest
from camber.rerank.report import Report, evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.settings import FeatureSettings, ResponseSettings
from camber.tune.caution import of_sentences
from camber.tune.tuner import ANY_METRIC
from camber.tune.tuners import TUNERS

WORDS = "the a cat dog man sees likes finds house tree big small old".split()  # noqa: SIM905


def toy(sentences=60, size=8, seed=1, useful=True, scored=True):
    """Make a list in which the feature `good` tells much about quality, and the engine's own score little."""
    rng = np.random.default_rng(seed)
    references, texts, rows, scores = [], [], [], []
    for _ in range(sentences):
        reference = rng.choice(WORDS, 8)
        references.append(" ".join(reference))
        for _ in range(size):
            wrong = rng.integers(0, 7)
            words = reference.copy()
            words[rng.choice(8, wrong, replace=False)] = "x"
            texts.append(" ".join(words))
            signal = -float(wrong) if useful else 0.0
            rows.append([signal + rng.normal(0, 1.0), rng.normal(), 1000.0 * rng.normal()])
            scores.append(rng.normal() - 0.1 * wrong)
    nbest = NBest.of_hypotheses(
        ("good", "noise", "loud"), np.arange(sentences + 1) * size, texts, rows, scores if scored else None
    )
    if scored:
        bounds = itertools.pairwise(nbest.sentence_offsets.tolist())
        nbest = nbest.of_rows([a + np.argsort(-nbest.scores[a:b], kind="stable") for a, b in bounds])
    return nbest, references


@pytest.fixture
def told(caplog):
    """What is logged, also after a command has turned the log away from the root."""
    logger = logging.getLogger("camber")
    before = logger.propagate
    logger.propagate = True
    yield caplog
    logger.propagate = before


@pytest.mark.parametrize("tuner", list(TUNERS))
@pytest.mark.parametrize("scored", [True, False])
def test_every_tuner_finds_the_feature_that_tells_quality(tuner, scored):
    nbest, references = toy(scored=scored)
    report = evaluate(Reranker(tuner=tuner, tokenize="none"), nbest, references, folds=3, trials=500)
    assert report.anti_oracle <= report.one_best < report.tuned <= report.oracle
    assert report.held_out.difference > 5
    assert report.held_out.p < 0.05
    assert report.summary().startswith("Re-ranking helps on sentences that it had not seen: BLEU")


def test_features_of_any_unit_give_the_same_ranking():
    nbest, references = toy()
    scaled = NBest.of_hypotheses(
        nbest.names, nbest.sentence_offsets, nbest.texts, nbest.hypothesis_features() * [1e-4, 1e3, 1], nbest.scores
    )
    for tuner in ("mert", "pro", "mira"):
        one, two = (Reranker(tuner=tuner, tokenize="none").fit(n, references).rerank(n) for n in (nbest, scaled))
        assert one.texts == two.texts


def test_weights_belong_to_the_features_as_they_are():
    nbest, references = toy()
    reranker = Reranker(tuner="mira", tokenize="none").fit(nbest, [references])
    fitted = reranker.fitted
    assert fitted.names == ("good", "noise", "loud", "list.score")
    table = np.column_stack([nbest.hypothesis_features(), nbest.scores])
    np.testing.assert_allclose(reranker.scores(nbest), table @ fitted.weights, rtol=1e-9)
    np.testing.assert_allclose(fitted.scales[2], 1000, rtol=0.2)


def test_the_reranked_list_is_sorted_by_its_new_scores_and_keeps_everything():
    nbest, references = toy()
    nbest = nbest.with_extra("comet", np.arange(nbest.hypotheses))
    reranker = Reranker(tokenize="none").fit(nbest, references)
    ranked = reranker.rerank(nbest)
    assert ranked.names == nbest.names
    for start, end in itertools.pairwise(ranked.sentence_offsets):
        assert (np.diff(ranked.scores[start:end]) <= 0).all()
        old = sorted(zip(nbest.texts[start:end], nbest.extra["comet"][start:end], strict=True))
        assert sorted(zip(ranked.texts[start:end], ranked.extra["comet"][start:end], strict=True)) == old
    scores = reranker.scores(nbest)
    assert ranked.best_texts() == nbest.best_texts(scores)


def test_a_saved_model_scores_as_before(tmp_path):
    nbest, references = toy()
    reranker = Reranker(tuner="pro", tokenize="none", length=True, consensus=True, seed=3).fit(nbest, references)
    reranker.save(tmp_path / "model", "what was gained")
    loaded = camber.Reranker.load(tmp_path / "model")
    assert np.array_equal(loaded.scores(nbest), reranker.scores(nbest))
    assert (loaded.tuner, loaded.metric, loaded.tokenize, loaded.length, loaded.seed) == (
        "pro",
        "bleu",
        "none",
        True,
        3,
    )
    assert (tmp_path / "model" / "report.txt").read_text() == "what was gained\n"
    worth = (tmp_path / "model" / "features.tsv").read_text().splitlines()[1:]
    assert worth[0] == "name\tweight\tsd\tweight_per_sd"
    assert {line.split("\t")[0] for line in worth[1:]} == set(loaded.fitted.names)
    again = camber.Reranker.load(tmp_path / "model")
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / "weights.tsv").read_bytes() == (tmp_path / "model" / "weights.tsv").read_bytes()


def test_the_same_seed_gives_the_same_weights_with_any_number_of_threads():
    nbest, references = toy(30)
    for tuner in TUNERS:
        one, two = (
            Reranker(tuner=tuner, tokenize="none", engine=Threads(threads)).fit(nbest, references).fitted.weights
            for threads in (1, 2)
        )
        assert one.tobytes() == two.tobytes()


def test_features_may_come_in_another_order_but_not_be_others():
    nbest, references = toy()
    reranker = Reranker(tokenize="none").fit(nbest, references)
    turned = NBest.of_hypotheses(
        ("loud", "noise", "good"),
        nbest.sentence_offsets,
        nbest.texts,
        nbest.hypothesis_features()[:, ::-1],
        nbest.scores,
    )
    np.testing.assert_array_equal(reranker.scores(turned), reranker.scores(nbest))
    with pytest.raises(CamberError, match=r"lacks features that the model was fitted on: loud; it has: good, noise"):
        reranker.scores(
            NBest.of_hypotheses(
                nbest.names[:2], nbest.sentence_offsets, nbest.texts, nbest.hypothesis_features()[:, :2], nbest.scores
            )
        )
    with pytest.raises(CamberError, match=r"features that the model does not know: new; fit it again"):
        reranker.scores(nbest.with_feature("new", np.ones(nbest.hypotheses)))
    plain = NBest.of_hypotheses(nbest.names, nbest.sentence_offsets, nbest.texts, nbest.hypothesis_features())
    with pytest.raises(CamberError, match=r"lacks features that the model was fitted on: list.score"):
        reranker.scores(plain)
    with pytest.raises(CamberError, match=r"already has a feature 'list\.score'"):
        reranker.scores(nbest.with_feature("list.score", np.ones(nbest.hypotheses)))


def test_sparse_features_may_be_absent_or_new():
    nbest, references = toy()
    table = nbest.hypothesis_features()
    table[0, 1] = np.nan
    sparse = with_values(nbest, table)
    reranker = Reranker(tokenize="none").fit(sparse, references)
    fewer = NBest.of_hypotheses(("good", "loud"), nbest.sentence_offsets, nbest.texts, table[:, [0, 2]], nbest.scores)
    expected = reranker.scores(with_values(nbest, nbest.hypothesis_features() * [1, 0, 1]))
    np.testing.assert_array_equal(reranker.scores(fewer), expected)
    new = sparse.with_feature("rare", np.where(np.arange(nbest.hypotheses) == 3, np.nan, 1.0))
    np.testing.assert_array_equal(reranker.scores(new), reranker.scores(sparse))
    np.testing.assert_array_equal(reranker.scores(sparse)[1:], reranker.scores(nbest)[1:])


@pytest.mark.parametrize("tuner", [name for name in TUNERS if ANY_METRIC in TUNERS.load(name).takes])
def test_outside_scores_may_have_any_range(tuner):
    nbest, _ = toy(30)
    errors = np.array([text.split().count("x") for text in nbest.texts])
    for values in (-errors, -errors / 1000, 1e6 - errors):
        report = evaluate(Reranker(metric="extra:human", tuner=tuner), nbest.with_extra("human", values))
        assert report.one_best < report.tuned <= report.oracle


@pytest.mark.slow
def test_an_outside_score_can_be_the_goal():
    nbest, references = toy(scored=False)
    bleu = BLEU("none", effective_order=True)
    nbest = nbest.with_extra("comet", bleu.score(nbest.statistics(bleu, [references])) / 100)
    report = evaluate(Reranker(metric="extra:comet"), nbest, folds=2, trials=200)
    assert report.metric == "comet"
    assert report.tuned > report.one_best + 0.05
    assert report.oracle == pytest.approx(
        np.mean([nbest.extra["comet"][a:b].max() for a, b in itertools.pairwise(nbest.sentence_offsets)])
    )
    worse = evaluate(Reranker(metric="extra:-comet"), nbest)
    assert worse.tuned < worse.one_best
    with pytest.raises(CamberError, match="no outside scores named 'bleurt'; it has: comet"):
        Reranker(metric="extra:bleurt").fit(nbest)


def test_a_cautious_fit_goes_as_far_as_held_out_sentences_confirm():
    nbest, references = toy()
    good = Reranker(tuner="mira", tokenize="none").fit(nbest, references).fitted
    assert good.step > 0.5
    bold = Reranker(tuner="mira", tokenize="none", cautious=False).fit(nbest, references).fitted
    assert bold.step == 1.0
    noise = NBest.of_hypotheses(  # the engine's own order is perfect, and what else there is says nothing
        ("noise",),
        np.arange(41) * 4,
        [text for _ in range(40) for text in ("a b c d", "a b c x", "a b x y", "a x y z")],
        np.random.default_rng(1).normal(size=(160, 1)),
        [0.4, 0.3, 0.2, 0.1] * 40,
    )
    for tuner in TUNERS:
        report = evaluate(Reranker(tuner=tuner, tokenize="none"), noise, ["a b c d"] * 40, folds=4, trials=100)
        assert report.tuned == pytest.approx(100)
        assert report.held_out.tuned == pytest.approx(100)


@pytest.mark.slow
def test_noise_is_not_called_a_gain():
    nbest, references = toy(40, useful=False, seed=7)
    report = evaluate(Reranker(tokenize="none"), nbest, references, folds=4, trials=2000)
    assert report.tuned >= report.one_best  # on the list it was fitted to
    assert report.held_out.p > 0.01 or report.held_out.difference > 0
    assert "Re-ranking helps" not in report.summary() or report.held_out.p < 0.05


def test_the_report_says_that_figures_on_the_training_list_flatter():
    nbest, references = toy(20)
    report = evaluate(Reranker(tokenize="none"), nbest, references)
    assert report.held_out is None
    assert "That flatters: --held-out 5" in report.summary()
    assert any(line.startswith("anti-oracle") for line in report.lines())
    assert report.to_dict()["summary"] == report.summary()


def test_where_nothing_is_better_the_own_order_is_kept_and_it_is_said():
    nbest = NBest.of_hypotheses(
        ("f",), [0, 2, 4], ["a b c d", "x", "e f g h", "y"], [[1.0], [0], [1], [0]], [-1, -2, -1, -2]
    )
    reranker = Reranker(tokenize="none")
    report = evaluate(reranker, nbest, ["a b c d", "e f g h"])
    assert report.tuned == report.one_best == pytest.approx(100)
    assert reranker.rerank(nbest).texts == nbest.texts
    assert reranker.fitted.step == 0
    assert report.summary().startswith("Nothing was gained: no weights did better in BLEU than the list's own order")


@pytest.mark.parametrize(
    ("learner", "metric", "seed"), [("linear", "bleu", 6), ("linear", "ter", 0), ("lnr", "ter", 17)]
)
def test_a_cautious_fit_never_makes_its_own_list_worse(learner, metric, seed, tmp_path):
    """Of these lists, held-out sentences like a step that does harm (or nothing) on the list as a whole."""
    nbest, references = toy(12, 4, seed=seed, useful=False)
    settings = {"tuner": "pro", "metric": metric, "tokenize": "none"}
    reranker = Reranker(learner, **settings)
    report = evaluate(reranker, nbest, references)
    assert (report.step, report.bent) == (0.0, None if learner == "linear" else 0.0)
    assert report.tuned == report.one_best
    assert reranker.rerank(nbest).texts == nbest.texts
    assert report.summary().startswith("Nothing was gained: no weights did better")
    reranker.save(tmp_path / "m")
    assert camber.Reranker.load(tmp_path / "m").scores(nbest).tobytes() == reranker.scores(nbest).tobytes()
    assert evaluate(Reranker(learner, cautious=False, **settings), nbest, references).step == 1.0


@pytest.mark.parametrize(
    ("one_best", "tuned", "higher", "told"),
    [
        (
            30.0,
            30.5,
            True,
            "On the list that it was fitted to, re-ranking is better than the 1-best: M 30.00 → 30.50. That",
        ),
        (
            60.0,
            59.5,
            False,
            "On the list that it was fitted to, re-ranking is better than the 1-best: M 60.00 → 59.50. That",
        ),
        (30.0, 29.98, True, "Re-ranking does harm even on the list that it was fitted to: M 30.00 → 29.98. Do not use"),
        (60.0, 60.5, False, "Re-ranking does harm even on the list that it was fitted to: M 60.00 → 60.50. Do not use"),
        (30.0, 30.0, True, "Re-ranking gains nothing even on the list that it was fitted to: M 30.00 → 30.00. Do not"),
    ],
)
def test_the_report_says_better_or_worse_in_the_metrics_direction(one_best, tuned, higher, told):
    report = Report("M", "", 9, 9, one_best, tuned, 80.0, 0.0, {}, 1.0, higher_is_better=higher)
    assert report.summary().startswith(told)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_the_report_knows_the_metrics_direction(metric):
    nbest, references = toy(20)
    report = evaluate(Reranker(tuner="pro", metric=metric, tokenize="none"), nbest, references)
    assert report.higher_is_better == (metric == "bleu")
    assert "re-ranking is better than the 1-best" in report.summary()


def test_sentences_without_hypotheses_are_told_once(told):
    nbest, references = toy(20)
    bounds = itertools.pairwise(nbest.sentence_offsets.tolist())
    holes = nbest.of_rows([np.arange(a, b) if s % 3 else np.array([], int) for s, (a, b) in enumerate(bounds)])
    expected = (
        "7 of 20 sentences have no hypotheses and count as empty translations: 0, 3, 6, 9, 12, … (the first is 0)"
    )
    reranker = Reranker(tokenize="none")
    evaluate(reranker, holes, references, folds=2, trials=10)
    assert told.messages.count(expected) == 1
    told.clear()
    reranker.rerank(holes)
    assert told.messages.count(expected) == 1
    told.clear()
    reranker.rerank(nbest)
    assert not told.messages


def test_a_tokenised_list_for_raw_references_is_told(told):
    texts = ["a house !", "a cat .", "a dog ?", "a tree", "is it ?"]
    nbest = NBest.of_hypotheses(("f",), np.arange(6), texts, np.arange(5.0).reshape(5, 1))
    raw = ["A house!", "A cat.", "A dog?", "A tree", "Is it?"]
    for references, warned in ((raw, True), ([text.capitalize() for text in texts], False)):
        told.clear()
        Reranker().tuning_data(nbest, references)
        assert any("the list looks tokenised (4 of its best texts" in text for text in told.messages) == warned
    told.clear()
    Reranker().tuning_data(dataclasses.replace(nbest, texts=raw), raw)
    assert not told.messages


def test_sentences_without_hypotheses_count_as_empty_translations():
    nbest, references = toy(20)
    holes = nbest.of_rows(
        [
            np.arange(a, b) if s % 5 else np.array([], int)
            for s, (a, b) in enumerate(itertools.pairwise(nbest.sentence_offsets))
        ]
    )
    report = evaluate(Reranker(tokenize="none"), holes, references, folds=2, trials=100)
    bleu = BLEU("none")
    expected = bleu.score(bleu.statistics(holes.best_texts(), [references]).sum(0))
    assert report.one_best == pytest.approx(expected)
    assert report.anti_oracle < report.one_best < report.oracle


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.data())
@settings(deadline=None, max_examples=30)
def test_a_part_of_the_columns_is_that_of_the_sentences(groups, data):
    nbest = NBest.of_hypotheses(
        ("f",), np.cumsum([0, *groups]), ["a"] * sum(groups), np.arange(sum(groups)).reshape(-1, 1)
    )
    whole = Reranker(metric="extra:x").tuning_data(nbest.with_extra("x", np.arange(sum(groups))))
    chosen = data.draw(st.lists(st.integers(0, len(groups) - 1), unique=True).map(sorted))
    part = of_sentences(whole, np.array(chosen, np.int64))
    expected = nbest.of_sentences(chosen)
    assert np.array_equal(part.features[:, 0], expected.hypothesis_features()[:, 0])
    assert np.array_equal(part.sentence_offsets, expected.sentence_offsets)


def test_wrong_settings_and_inputs_are_told(tmp_path):
    nbest, references = toy(10)
    for changes, message in (
        ({"learner": "forest"}, "unknown learner 'forest'; known: linear"),
        ({"tuner": "hand"}, "unknown tuner 'hand'; known: mert"),
        ({"metric": "meteor"}, "unknown metric 'meteor'"),
    ):
        with pytest.raises(SettingsError, match=message):
            Reranker(**changes).fit(nbest, references)
    with pytest.raises(CamberError, match="BLEU needs references"):
        Reranker().fit(nbest)
    with pytest.raises(CamberError, match="10 sentences in the n-best list but 9 references"):
        Reranker().fit(nbest, references[:9])
    with pytest.raises(CamberError, match="not fitted yet"):
        Reranker().scores(nbest)
    with pytest.raises(SettingsError, match="11 folds of 10 sentences"):
        evaluate(Reranker(), nbest, references, folds=11)
    with pytest.raises(ModelError, match="no such model"):
        Reranker.load(tmp_path / "absent")
    from camber.model.directory import write_model

    with write_model(tmp_path / "phrase", "phrase") as draft:
        draft.path("weights.tsv").write_text("")
    with pytest.raises(ModelError, match="a phrase model, which cannot re-rank lists"):
        Reranker.load(tmp_path / "phrase")


def test_every_setting_of_features_and_learners_is_an_argument_and_an_attribute() -> None:
    others = {"bits": 3, "beta": 2.0, "gamma": 1.0, "trees": 7, "leaves": 5, "leaf": "linear", "length": True}
    plain = FeatureSettings().to_dict() | ResponseSettings().to_dict()
    assert {name: getattr(Reranker(), name) for name in plain} == plain
    reranker = Reranker("mnr", "pro", "chrf", **others)  # learner, tuner and metric may be given by their places
    assert (reranker.learner, reranker.tuner, reranker.metric) == ("mnr", "pro", "chrf")
    made = reranker.response_settings.to_dict() | reranker.feature_settings.to_dict()
    assert {name: made[name] for name in others} == others
    assert {name: getattr(reranker, name) for name in made} == made
    reranker.bits = 5
    assert reranker.response_settings.bits == 5
    own = set(inspect.signature(Reranker).parameters) - {"settings"}
    assert not own & set(plain)


def test_an_unknown_setting_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"unknown setting 'bit' of a re-ranker; known: .*tuner.*bits, beta"):
        Reranker(bit=3)
