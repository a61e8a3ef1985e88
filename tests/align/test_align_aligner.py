"""Aligning new pairs with what earlier text taught."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from camber.align import words as words_module
from camber.align.aligner import LEAST, Aligner
from camber.align.error_rate import Gold, error_rate
from camber.align.pharaoh import Alignment
from camber.align.words import align_corpus, align_new, learn_alignment
from camber.corpus import Bitext
from camber.engine import Threads
from camber.errors import ModelError


def corpus(pairs=600, vocabulary=60, seed=3, longest=9):
    """Draw pairs that translate word by word with neighbours exchanged now and then, and their true links."""
    rng = np.random.default_rng(seed)
    source, target, truth = [], [], []
    for _ in range(pairs):
        sentence = rng.integers(0, vocabulary, rng.integers(2, longest))
        order = np.arange(len(sentence))
        for k in range(len(order) - 1):
            if rng.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        source.append([f"s{word}" for word in sentence])
        target.append([f"{word}t" for word in sentence[order]])
        truth.append([(int(i), j) for j, i in enumerate(order)])
    return source, target, truth


@pytest.fixture(scope="module")
def aligner():
    source, target, _ = corpus()
    return learn_alignment(Bitext.encode(source, target))[1]


def test_keeping_what_was_learnt_does_not_change_the_links():
    bitext = Bitext.encode(*corpus(100)[:2])
    links = learn_alignment(bitext)[0]
    assert np.array_equal(links.links, align_corpus(bitext).links)


def test_new_pairs_of_known_words_are_aligned_as_well_as_in_training(aligner):
    source, target, truth = corpus(100, seed=8)
    gold = Alignment.from_pairs(truth)
    links = align_new(aligner, Bitext.encode(source, target))[0]
    assert error_rate(links, Gold(gold, gold)).aer < 0.03


def test_a_pair_is_aligned_on_its_own_and_in_long_sentences(aligner):
    source, target, truth = corpus(20, seed=9, longest=40)
    for pair in zip(source, target, truth, strict=True):
        gold = Alignment.from_pairs([pair[2]])
        assert error_rate(align_new(aligner, Bitext.encode([pair[0]], [pair[1]]))[0], Gold(gold, gold)).aer < 0.35


def test_a_new_word_takes_what_nothing_else_explains(aligner):
    links = align_new(aligner, Bitext.encode([["s1", "neu", "s3"]], [["1t", "3t", "fresh"]]))[0]
    assert [1, 2] in links.links.tolist()


def test_new_words_that_look_alike_find_each_other(aligner):
    pair = Bitext.encode([["Johannes", "s1", "Klara"]], [["Klara", "1t", "Johann"]])
    assert align_new(aligner, pair)[0].links.tolist() == [[0, 2], [1, 1], [2, 0]]


def test_what_new_pairs_teach_stays(aligner):
    once = Bitext.encode([["s1", "neu"]] * 5, [["1t", "fresh"]] * 5)
    taught = align_new(aligner, once)[1]
    assert taught.source.words[: len(aligner.source)] == aligner.source.words
    word = taught.source.id("neu")
    entries = taught.entry_targets[taught.entry_offsets[word] : taught.entry_offsets[word + 1]]
    assert taught.target.id("fresh") in entries
    # two new words at a time are ambiguous, unless one of them was met before
    links = align_new(taught, Bitext.encode([["neu", "alt"]], [["old", "fresh"]]))[0]
    assert links.links.tolist() == [[0, 1], [1, 0]]


def test_the_counts_of_old_and_new_text_add_up(aligner):
    source, target, _ = corpus(50, seed=5)
    taught = align_new(aligner, Bitext.encode(source, target))[1]
    tokens = sum(map(len, source))
    assert taught.source_words[:, 1].sum() == pytest.approx(aligner.source_words[:, 1].sum() + tokens)
    gained = taught.source_words[:, 0].sum() - aligner.source_words[:, 0].sum()
    assert 0.8 * tokens < gained <= tokens + 1
    assert taught.counts.min() >= LEAST


def test_an_aligner_comes_back_from_its_folder(aligner, tmp_path):
    aligner.save(tmp_path / "a")
    again = Aligner.load(tmp_path / "a")
    for field in dataclasses.fields(Aligner):
        ours, theirs = getattr(aligner, field.name), getattr(again, field.name)
        assert np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours == theirs
    np.save(tmp_path / "a" / "counts.npy", aligner.counts[:-1])
    with pytest.raises(ModelError, match="do not fit"):
        Aligner.load(tmp_path / "a")
    (tmp_path / "a" / "counts.npy").unlink()
    with pytest.raises(ModelError, match=r"counts\.npy: cannot be opened"):
        Aligner.load(tmp_path / "a")


def test_any_number_of_threads_gives_the_same_links(aligner):
    bitext = Bitext.encode(*corpus(200, seed=7)[:2])
    one, five = (align_new(aligner, bitext, Threads(threads)) for threads in (1, 5))
    assert np.array_equal(one[0].links, five[0].links)
    assert np.array_equal(one[1].counts, five[1].counts)


def test_very_long_new_pairs_are_cut(aligner, monkeypatch):
    monkeypatch.setattr(words_module, "LONGEST", 8)
    source, target = [f"s{k % 50}" for k in range(30)], [f"{k % 50}t" for k in range(30)]
    links = align_new(aligner, Bitext.encode([source], [target]))[0]
    assert sum(s == t for s, t in links.links.tolist()) >= 25
