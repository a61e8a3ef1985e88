"""chrF and TER: sacreBLEU's statistics, scores of any number of sums at once."""

import importlib.metadata
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import sacrebleu.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from camber.errors import CamberError, SettingsError
from camber.metrics import BLEU, TER, ChrF, make_metric
from camber.metrics.edits import edits

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


def _shuffled(reference, blocks, others):
    """Move blocks of a sentence, and put some other words in."""
    words = list(reference)
    for start, length, target in blocks:
        block = words[start : start + length]
        del words[start : start + length]
        words[min(target, len(words)) : 0] = block
    for place, word in others:
        words[min(place, len(words)) : min(place + 1, len(words))] = [word]
    return words


places = st.integers(0, 40)
sentences_of_words = st.lists(st.integers(0, 12), max_size=45)


@given(
    sentences_of_words,
    st.lists(st.tuples(places, st.integers(1, 12), places), max_size=5),
    st.lists(st.tuples(places, st.integers(0, 12)), max_size=5),
    sentences_of_words,
)
@settings(deadline=None, max_examples=60)
def test_edits_are_those_of_sacrebleu(reference, blocks, others, another):
    moved = _shuffled(reference, blocks, others)
    rows = [moved, another, reference]
    pairs = np.array([[0, 0], [1, 0], [2, 0], [0, 1]])
    expected = [translation_edit_rate(rows[h], [reference, another][r])[0] for h, r in pairs.tolist()]
    assert edits(rows, [reference, another], pairs).tolist() == expected


@pytest.mark.parametrize(("words", "columns"), [(1, 300), (2, 260), (300, 1), (130, 60), (60, 130), (120, 120)])
def test_edits_of_very_different_lengths_stay_in_sacrebleus_band(words, columns):
    rng = np.random.default_rng(words)
    hypothesis, reference = rng.integers(0, 60, words).tolist(), rng.integers(0, 60, columns).tolist()
    expected = translation_edit_rate(hypothesis, reference)[0]
    assert edits([hypothesis], [reference], np.array([[0, 0]])).tolist() == [expected]


def test_no_more_shifts_are_tried_than_sacrebleu_tries():
    rng = np.random.default_rng(5)  # few words, many blocks: the limit of candidates is reached
    hypothesis, reference = rng.integers(0, 3, 40).tolist(), rng.integers(0, 3, 40).tolist()
    expected = translation_edit_rate(hypothesis, reference)[0]
    assert edits([hypothesis], [reference], np.array([[0, 0]])).tolist() == [expected]


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
