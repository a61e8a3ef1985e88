"""chrF and TER: sacreBLEU's statistics, scores of any number of sums at once."""

import importlib.metadata
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import sacrebleu.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.errors import CamberError, SettingsError
from camber.metrics import BLEU, TER, ChrF, make_metric

lines = st.text("abC .,é", max_size=15)
corpora = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda size: st.tuples(
        st.lists(lines, min_size=size[0], max_size=size[0]),
        st.lists(st.lists(lines, min_size=size[0], max_size=size[0]), min_size=size[1], max_size=size[1]),
    )
)


@given(corpora, st.booleans(), st.sampled_from([0, 2]))
@settings(deadline=None)
def test_chrf_equals_sacrebleu(corpus, lowercase, word_order):
    ours, theirs = (
        ChrF(lowercase=lowercase, word_order=word_order),
        sacrebleu.metrics.CHRF(lowercase=lowercase, word_order=word_order),
    )
    rows = ours.statistics(*corpus)
    expected = theirs.corpus_score(*corpus)
    assert ours.score(rows.sum(0)) == pytest.approx(expected.score, rel=1e-12, abs=1e-12)
    assert ours.signature(len(corpus[1])) == str(theirs.get_signature())
    assert ours.name == expected.name
    assert ours.score(rows).tolist() == [ours.score(row) for row in rows]


@given(corpora)
@settings(deadline=None)
def test_ter_equals_sacrebleu(corpus):
    ours, theirs = TER(), sacrebleu.metrics.TER()
    rows = ours.statistics(*corpus)
    assert ours.score(rows.sum(0)) == pytest.approx(theirs.corpus_score(*corpus).score, rel=1e-12)
    assert ours.signature(len(corpus[1])) == str(theirs.get_signature())
    assert ours.score(rows).tolist() == [ours.score(row) for row in rows]


@pytest.mark.parametrize("metric", [ChrF(), TER(), BLEU()])
def test_a_list_of_hypotheses_is_measured_against_its_sentence(metric):
    references = [["a cat sat", "the dog ran"], ["a cat sits", "a dog ran"]]
    hypotheses, owner = ["the dog", "a cat sat", "dog ran"], [1, 0, 1]
    rows = metric.statistics(hypotheses, references, owner)
    for row, hypothesis, sentence in zip(rows, hypotheses, owner, strict=True):
        assert np.array_equal(row, metric.statistics([hypothesis], [[text[sentence]] for text in references])[0])
    with pytest.raises(CamberError, match="3 hypotheses but 2 references"):
        metric.statistics(hypotheses, references)


def test_metrics_are_made_by_name():
    assert [make_metric(name).name for name in ("bleu", "sbp", "chrf", "ter")] == ["BLEU", "BLEU-SBP", "chrF2", "TER"]
    assert "tok:none" in make_metric("sbp", "none").signature(1)
    assert "case:lc" in make_metric("chrf", lowercase=True).signature(1)
    assert not make_metric("ter").higher_is_better
    with pytest.raises(SettingsError, match="known: bleu, sbp, chrf, ter"):
        make_metric("meteor")


def test_other_packages_add_metrics(monkeypatch):
    point = EntryPoint("chrf++", "toys.metrics:chrf_of_words", "camber.metrics")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if group == "camber.metrics" else [])
    assert make_metric("chrf++", lowercase=True).name == "chrF2++"
    assert "case:lc" in make_metric("chrf++", lowercase=True).signature(1)
    with pytest.raises(SettingsError, match=r"known: bleu, sbp, chrf, ter, chrf\+\+, extra:NAME"):
        make_metric("meteor")
