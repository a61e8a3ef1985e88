"""Significance tests: deterministic, calibrated, and in agreement with sacreBLEU's."""

from pathlib import Path

import numpy as np
import pytest
import sacrebleu.metrics
from sacrebleu.significance import PairedTest

from camber.errors import CamberError
from camber.metrics import BLEU, TER
from camber.metrics.significance import interval, paired_bootstrap, paired_randomisation, resampled_scores

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def ter_rows(edits):
    return np.stack([np.asarray(edits, float), np.full(len(edits), 10.0)], axis=1)


def test_the_same_seed_gives_the_same_figures_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(3)
    first, second = ter_rows(rng.integers(0, 9, 50)), ter_rows(rng.integers(0, 9, 50))
    whole = resampled_scores(TER(), [first, second], 40, seed=5)
    monkeypatch.setattr("camber.metrics.significance._CELLS", 350)
    assert np.array_equal(resampled_scores(TER(), [first, second], 40, seed=5), whole)
    assert paired_randomisation(TER(), first, second, 99) == paired_randomisation(TER(), first, second, 99)


def test_a_system_does_not_differ_from_itself():
    rows = ter_rows(np.random.default_rng(1).integers(0, 9, 40))
    assert paired_bootstrap(TER(), rows, rows).p == 1.0
    assert paired_bootstrap(TER(), rows, rows).wins == 0.0
    assert paired_randomisation(TER(), rows, rows, 99) == 1.0


def test_a_clear_gain_is_significant_and_noise_is_not():
    rng = np.random.default_rng(2)
    base = rng.integers(2, 9, 200)
    better, noise = ter_rows(base - 1), ter_rows(base + rng.choice([-1, 1], 200) * (np.arange(200) % 2))
    base = ter_rows(base)
    boot = paired_bootstrap(TER(), base, better)
    assert boot.p < 0.01
    assert boot.wins == 1.0  # TER: smaller is better
    assert boot.low < TER().score(better.sum(0)) < boot.high
    assert paired_randomisation(TER(), base, better) < 0.01
    assert paired_randomisation(TER(), base, noise) > 0.05


def test_randomisation_equals_the_exact_test_on_a_tiny_set():
    first, second = ter_rows([5, 4, 6, 3, 5, 7]), ter_rows([3, 4, 4, 3, 4, 4])
    metric = TER()
    real = abs(metric.score(first.sum(0)) - metric.score(second.sum(0)))
    larger = 0
    for mask in range(64):
        swap = np.array([mask >> i & 1 for i in range(6)], bool)[:, None]
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        larger += abs(metric.score(a.sum(0)) - metric.score(b.sum(0))) >= real - 1e-9
    assert paired_randomisation(metric, first, second, 20_000) == pytest.approx(larger / 64, abs=0.01)


def test_tables_of_different_length_are_refused():
    with pytest.raises(CamberError, match="different numbers of sentences"):
        paired_bootstrap(TER(), ter_rows([1, 2]), ter_rows([1]))
    with pytest.raises(CamberError, match="no sentence"):
        paired_randomisation(TER(), ter_rows([]), ter_rows([]))


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_p_values_agree_with_sacrebleu(monkeypatch):
    folder = SHARED / "data" / "eval-multeval"
    read = lambda name: (folder / name).read_text("utf-8").splitlines()[:400]  # noqa: E731
    first, second, reference = read("hyp.baseline.opt0.en"), read("hyp.baseline.opt1.en"), read("ref.en")
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    bleu = BLEU("none")
    tables = [bleu.statistics(lines, [reference]) for lines in (first, second)]
    expected = {}
    for kind, samples in (("bs", 300), ("ar", 1000)):
        theirs = {"BLEU": sacrebleu.metrics.BLEU(tokenize="none", force=True)}
        _, scores = PairedTest([("a", first), ("b", second)], theirs, [reference], kind, samples)()
        expected[kind] = scores["BLEU"][1].p_value
    assert paired_bootstrap(bleu, *tables, samples=300, seed=12345).p == pytest.approx(expected["bs"], abs=1e-6)
    assert paired_randomisation(bleu, *tables, trials=1000) == pytest.approx(expected["ar"], abs=0.06)


@pytest.mark.parametrize(
    ("count", "low", "high"), [(1000, 25, 974), (400, 10, 389), (40, 1, 38), (39, 0, 38), (1, 0, 0)]
)
def test_an_interval_leaves_out_the_same_share_at_either_end(count, low, high):
    scores = np.random.default_rng(1).permutation(count).astype(float)
    assert interval(scores) == (low, high)
