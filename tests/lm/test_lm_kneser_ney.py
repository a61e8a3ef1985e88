"""Estimation: equal to the textbook on tiny corpora, and to lmplz on a real one."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import backoff
from naive import kneser_ney as naive

from camber.arrays.scratch import Scratch
from camber.corpus import Sentences, Vocabulary
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.lm.arpa import read_arpa
from camber.lm.kneser_ney import LmSettings, discounts, estimate, estimate_arpa
from camber.lm.ngrams import NgramModel

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

corpora = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "<s>", "<unk>"]), max_size=8), min_size=1, max_size=25)


def grams(trie):
    """Return {n-gram: (log10 probability, log10 backoff)} of a trie."""
    ngrams = {}
    for n in range(1, trie.order + 1):
        start = int(trie.starts[n])
        for index, row in enumerate(trie.rows(n).tolist(), start):
            gram = tuple(trie.words[word] for word in row)
            ngrams[gram] = (float(trie.probability[index]), float(trie.backoff[index]))
    return ngrams


def assert_same(ours, theirs, tolerance):
    assert ours.keys() == theirs.keys()
    for gram, values in theirs.items():
        assert ours[gram] == pytest.approx(values, abs=tolerance), gram


@settings(max_examples=60, deadline=None)
@given(corpora, st.integers(1, 6))
def test_estimates_are_those_of_the_textbook(corpus, order):
    trie = estimate(Sentences.encode(corpus), LmSettings(order=order))
    assert_same(grams(trie), naive.estimate(corpus, order), 1e-9)


@settings(max_examples=40, deadline=None)
@given(corpora, st.sampled_from(["0 1", "0 0 1", "0 1 2", "0 9"]))
def test_pruned_estimates_are_those_of_the_textbook(corpus, prune):
    chosen = LmSettings(order=3, prune=prune)
    trie = estimate(Sentences.encode(corpus), chosen)
    assert_same(grams(trie), naive.estimate(corpus, 3, chosen.thresholds()), 1e-9)


@settings(max_examples=40, deadline=None)
@given(corpora, st.integers(1, 5), st.sampled_from(["", "0 1"]), st.data())
def test_probabilities_sum_to_one_after_any_context(corpus, order, prune, data):
    prune = prune if order > 1 else ""
    trie = estimate(Sentences.encode(corpus), LmSettings(order=order, prune=prune))
    model = NgramModel.from_trie(trie)
    context = data.draw(st.lists(st.sampled_from([*"abcd", "zebra"]), max_size=5))
    words = [word for word in trie.words if word not in ("<unk>", "<s>", "</s>")]
    total = 0.0
    for word in [*words, "a-word-never-seen"]:
        scores, _ = model.word_scores([[*context, word]], eos=False)
        total += float(np.exp(scores[-1]))
    scores, _ = model.word_scores([context])
    assert total + float(np.exp(scores[-1])) == pytest.approx(1, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(corpora, corpora, st.integers(1, 5))
def test_queries_of_an_estimated_model_are_those_of_the_textbook(corpus, text, order):
    trie = estimate(Sentences.encode(corpus), LmSettings(order=order))
    scores, _ = NgramModel.from_trie(trie).word_scores(text)
    expected = [score for line in text for score in backoff.score(grams(trie), order, line)]
    np.testing.assert_allclose(scores / np.log(10), expected, atol=1e-5)


@pytest.mark.slow
def test_every_ngram_equals_lmplz_on_multi30k():
    anchor, text = SHARED / "anchors/lm/multi30k.en.o5.arpa.gz", SHARED / "data/multi30k/tok/train.en"
    if not anchor.exists() or not text.exists():
        pytest.skip("no shared anchors here")
    theirs = read_arpa(anchor)
    lines = text.read_text(encoding="utf-8").split("\n")[:-1]
    # numbered as lmplz does (by first occurrence), so that rows can be compared without spelling them
    vocabulary = Vocabulary(theirs.words[3:])
    ours = estimate(Sentences.encode([line.split() for line in lines], vocabulary), LmSettings(order=5))
    assert ours.words == theirs.words
    assert ours.starts.tolist() == theirs.starts.tolist()
    for n in range(1, 6):
        level = slice(int(ours.starts[n]), int(ours.starts[n + 1]))
        mine, other = (np.lexsort(trie.rows(n).T) for trie in (ours, theirs))
        assert (ours.rows(n)[mine] == theirs.rows(n)[other]).all()
        for column in ("probability", "backoff"):
            mine_values, other_values = getattr(ours, column)[level][mine], getattr(theirs, column)[level][other]
            np.testing.assert_allclose(mine_values, other_values, atol=1e-5, rtol=0)


def test_discounts_follow_chen_and_goodman():
    counts = [1] * 40 + [2] * 15 + [3] * 8 + [4] * 5 + [9] * 3
    assert discounts(np.array(counts)) == pytest.approx(naive.discounts(counts))
    with pytest.raises(ValueError, match="adjusted count 2"):
        discounts(np.array([1, 1, 3, 4]))


def test_small_data_without_singletons_falls_back_and_says_so(caplog):
    with caplog.at_level(logging.WARNING, "camber"):
        trie = estimate(Sentences.encode([["a", "b"]] * 5), LmSettings(order=3))
    assert "0.5, 1, 1.5" in caplog.text
    assert np.isfinite(trie.probability).all()
    assert np.isfinite(trie.backoff).all()


def test_special_tokens_in_the_text_count_as_unknown_with_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "camber"):
        trie = estimate(Sentences.encode([["<s>", "a", "</s>"], ["<unk>", "a"]]), LmSettings(order=2))
    for word in ("<s>", "</s>", "<unk>"):
        assert f"the token {word};" in caplog.text
    assert ("<unk>", "a") in grams(trie)
    assert trie.words == ("<unk>", "<s>", "</s>", "a")


def test_words_outside_the_vocabulary_count_as_unknown():
    text = Sentences.encode([["a", "b"], ["b", "a"]], Vocabulary(["a", "never-used"]))
    trie = estimate(text, LmSettings(order=2))
    assert trie.words == ("<unk>", "<s>", "</s>", "a")
    assert ("<unk>", "a") in grams(trie)


@pytest.mark.parametrize("corpus", [[[]], [[], []], [["a"]], [["a", "b", "c"], []]])
def test_one_line_and_empty_lines_make_a_model(corpus):
    trie = estimate(Sentences.encode(corpus), LmSettings(order=6))
    assert trie.order == max(map(len, corpus)) + 2
    assert np.isfinite(NgramModel.from_trie(trie).score([["a"], []])).all()


def test_no_sentences_are_an_error():
    with pytest.raises(CamberError, match="at least one sentence"):
        estimate(Sentences.encode([]))


@pytest.mark.parametrize("prune", ["1", "0 2 1", "0 x", "0 -1", "0 0 0 1"])
def test_thresholds_that_make_no_sense_are_refused(prune):
    with pytest.raises(SettingsError, match="prune"):
        LmSettings(order=3, prune=prune)


def test_the_last_threshold_holds_for_longer_ngrams():
    assert LmSettings(order=5, prune="0 0 1").thresholds() == [0, 0, 1, 1, 1]


def test_same_text_gives_the_same_bytes(tmp_path):
    text = tmp_path / "text"
    text.write_text("a b c\nb c a\n\na\n", encoding="utf-8")
    for name in ("one.arpa.gz", "two.arpa.gz"):
        estimate_arpa(text, tmp_path / name, LmSettings(order=3))
    assert (tmp_path / "one.arpa.gz").read_bytes() == (tmp_path / "two.arpa.gz").read_bytes()


@settings(max_examples=40, deadline=None)
@given(corpora, st.integers(1, 6), st.sampled_from(["", "0 1"]), st.sampled_from([1, 4000, 20_000]))
def test_any_amount_of_memory_gives_the_same_model(corpus, order, prune, memory):
    text, chosen = Sentences.encode(corpus), LmSettings(order=order, prune=prune if order > 1 else "")
    whole = estimate(text, chosen)
    model = NgramModel.from_trie(whole)
    with Scratch(memory) as scratch:
        trie = estimate(text, chosen, Threads(2), scratch)
        assert trie.words == whole.words
        for name in ("starts", "prefix", "word", "suffix", "probability", "backoff"):
            assert getattr(trie, name).tobytes() == getattr(whole, name).tobytes(), name
        small = NgramModel.from_trie(trie, scratch)
        assert small.nodes.tobytes() == model.nodes.tobytes()
        assert small.children.tobytes() == model.children.tobytes()


def test_tables_that_grow_give_the_same_model(monkeypatch):
    rng = np.random.default_rng(5)
    text = Sentences.encode([rng.choice(list("abcdefgh"), rng.integers(0, 30)).tolist() for _ in range(300)])
    whole = estimate(text)
    monkeypatch.setattr("camber.lm.counting._ROOM", 1)
    again = estimate(text)
    for name in ("starts", "prefix", "word", "suffix", "probability", "backoff"):
        assert getattr(again, name).tobytes() == getattr(whole, name).tobytes(), name


@pytest.mark.parametrize("threads", [1, 3])
def test_a_text_that_is_counted_in_parts_has_the_same_model(monkeypatch, tmp_path, threads):
    rng = np.random.default_rng(4)
    lines = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 30))) for _ in range(300)]
    (tmp_path / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")
    estimate_arpa(tmp_path / "text", tmp_path / "whole.arpa")
    monkeypatch.setattr("camber.lm.counting._PART", 100)
    estimate_arpa(tmp_path / "text", tmp_path / "parts.arpa", engine=Threads(threads), memory="30K")
    assert (tmp_path / "parts.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.arpa", "text", "whole.arpa"]
