"""Queries: states, several models in one pair of arrays, saving, and equality with KenLM."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus import Sentences, Vocabulary
from camber.errors import CamberError, ModelError
from camber.lm.arpa import write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import SCANNED, NgramModel, concatenate, step

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def random_text(seed, sentences=200, words=60):
    """Draw sentences of words with a Zipf-like distribution, so that some contexts have many children."""
    random = np.random.default_rng(seed)
    return [
        [f"w{min(int(word), words)}" for word in random.zipf(1.4, random.integers(0, 12))] for _ in range(sentences)
    ]


def model_of(text, order=4):
    return NgramModel.from_trie(estimate(Sentences.encode(text), LmSettings(order=order)))


@pytest.fixture(scope="module")
def model():
    model = model_of(random_text(1))
    assert model.nodes["word"][model.begin] > 2 * SCANNED  # hash tables are tried, too
    return model


def test_state_after_a_word_is_the_same_whatever_lies_too_far_back(model):
    random = np.random.default_rng(2)
    words = random.integers(3, len(model.vocabulary), (300, 8))
    for row in words:
        states = []
        for history in (row, row[2:], row[5:]):  # order 4: three words are all that counts
            state = model.root
            for word in history:
                _, state = step(model.nodes, model.children, state, int(word))
            states.append(int(state))
        assert len(set(states)) == 1


def test_an_unknown_word_among_many_that_follow_hides_none_of_them(tmp_path):
    """Files of others may have n-grams that end in <unk>, the word 0."""
    random = np.random.default_rng(4)
    words = ["<unk>", *(f"w{n}" for n in range(60))]
    follow = {
        one: ["<unk>", *random.choice(words[1:], 2 * SCANNED + n % 7, replace=False)] for n, one in enumerate(words[1:])
    }
    log = {(one, two): -1.0 - n / 64 for n, (one, two) in enumerate((a, b) for a, bs in follow.items() for b in bs)}
    unigrams = "".join(f"-2\t{word}\t-0.5\n" for word in [*words, "<s>", "</s>"])
    bigrams = "".join(f"{value}\t{one} {two}\n" for (one, two), value in log.items())
    head = f"\\data\\\nngram 1={len(words) + 2}\nngram 2={len(log)}\n\n"
    path = tmp_path / "lm.arpa"
    path.write_text(f"{head}\\1-grams:\n{unigrams}\n\\2-grams:\n{bigrams}\n\\end\\\n")
    model = NgramModel.read(path)
    for one in words[1:]:
        _, state = step(model.nodes, model.children, model.root, model.vocabulary.id(one))
        assert model.nodes["word"][state] > SCANNED
        for two in words:
            value, _ = step(model.nodes, model.children, state, model.vocabulary.id(two))
            assert value == pytest.approx(log.get((one, two), -2.5) * math.log(10), rel=1e-6), (one, two)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=12), st.integers(1, 4))
def test_states_are_minimal(corpus, order):
    """Two histories share a state if and only if they have the same longest suffix that matters."""
    trie = estimate(Sentences.encode(corpus), LmSettings(order=order))
    model = NgramModel.from_trie(trie)
    grams = [tuple(row) for n in range(1, trie.order + 1) for row in trie.rows(n).tolist()]
    matters = {gram[:-1] for gram in grams} | {
        gram for gram, backoff in zip(grams, trie.backoff[1:], strict=True) if abs(backoff) > 1e-9
    }
    suffix_of, state_of = {}, {}
    for length in range(4):
        for history in itertools.product(range(2, len(trie.words)), repeat=length):
            state = model.root
            for word in history:
                _, state = step(model.nodes, model.children, state, word)
            suffix = next(history[start:] for start in range(length + 1) if history[start:] in matters | {()})
            assert suffix_of.setdefault(int(state), suffix) == suffix
            assert state_of.setdefault(suffix, int(state)) == state


def test_unknown_words_and_special_spellings_are_the_unknown_word(model):
    assert model.word_ids(Vocabulary(["<s>", "w1", "</s>", "<unk>", "zebra"])).tolist() == [
        0, model.vocabulary.id("w1"), 0, 0, 0,
    ]  # fmt: skip
    odd = model.score([["<s>", "w1"], ["</s>", "w1"], ["<unk>", "w1"], ["zebra", "w1"]])
    assert len(set(odd.tolist())) == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["w1", "w2", "w3", "zebra", "<s>"]), max_size=6), max_size=5))
def test_strings_and_encoded_sentences_score_alike(text):
    model = model_of(random_text(1))
    encoded = Sentences.encode(text, Vocabulary(["w3", "w1", "<s>", "w2"]))  # zebra: id -1
    for options in ({}, {"bos": False}, {"eos": False}):
        np.testing.assert_array_equal(model.score(text, **options), model.score(encoded, **options))
        scores, offsets = model.word_scores(encoded, **options)
        sums = [math.fsum(scores[a:b]) for a, b in itertools.pairwise(offsets)]
        np.testing.assert_allclose(sums, model.score(text, **options), rtol=1e-12, atol=1e-12)


def test_perplexity_is_the_inverse_geometric_mean(model):
    text = random_text(3, 20)
    scores, _ = model.word_scores(text)
    assert model.perplexity(text) == pytest.approx(math.exp(-scores.sum() / len(scores)))
    with pytest.raises(CamberError, match="no sentences"):
        model.perplexity([])


def test_models_laid_together_answer_as_they_do_alone():
    text = random_text(5, 30)
    models = [model_of(random_text(seed), order) for seed, order in ((1, 4), (2, 2), (3, 1))]
    nodes, children, roots, begins = concatenate(models)
    for model, root, begin in zip(models, roots, begins, strict=True):
        together = NgramModel(nodes, children, model.vocabulary, model.order, int(root), int(begin))
        for bos in (True, False):
            np.testing.assert_array_equal(together.score(text, bos=bos), model.score(text, bos=bos))
    nodes, children, roots, begins = concatenate(models[:1])
    assert nodes is models[0].nodes
    assert (roots.tolist(), begins.tolist()) == ([models[0].root], [models[0].begin])
    assert len(concatenate([])[2]) == 0


def test_saved_models_are_mapped_and_answer_the_same(tmp_path, model):
    model.save(tmp_path, "lm")
    again = NgramModel.load(tmp_path, "lm")
    text = random_text(7, 50)
    np.testing.assert_array_equal(again.score(text), model.score(text))
    assert (again.order, again.root, again.begin) == (model.order, model.root, model.begin)
    assert again.vocabulary == model.vocabulary
    assert isinstance(again.nodes.base, np.memmap)


def test_damaged_models_are_refused(tmp_path, model):
    with pytest.raises(ModelError, match="cannot be opened"):
        NgramModel.load(tmp_path, "absent")
    model.save(tmp_path, "lm")
    np.save(tmp_path / "lm.nodes.npy", np.zeros(3))
    with pytest.raises(ModelError, match=r"lm\.nodes\.npy: 1 dimensions of float64, expected"):
        NgramModel.load(tmp_path, "lm")
    model.save(tmp_path, "lm")
    (tmp_path / "lm.children.npy").write_bytes((tmp_path / "lm.children.npy").read_bytes()[:200])
    with pytest.raises(ModelError, match="cannot be opened"):
        NgramModel.load(tmp_path, "lm")
    model.save(tmp_path, "lm")
    (tmp_path / "lm.words.txt").write_text("words\n")
    with pytest.raises(ModelError, match="first line"):
        NgramModel.load(tmp_path, "lm")


@pytest.mark.parametrize("order", [2, 3, 5])
def test_scores_equal_kenlm_on_random_text(tmp_path, order):
    kenlm = pytest.importorskip("kenlm")
    trie = estimate(Sentences.encode(random_text(11)), LmSettings(order=order))
    write_arpa(tmp_path / "model.arpa", trie)
    theirs = kenlm.Model(str(tmp_path / "model.arpa"))
    ours = NgramModel.read(tmp_path / "model.arpa")
    text = [*random_text(12, 100), ["zebra", "w1", "zebra"]]
    for bos, eos in ((True, True), (False, True), (True, False)):
        expected = [theirs.score(" ".join(line), bos=bos, eos=eos) for line in text]
        np.testing.assert_allclose(ours.score(text, bos=bos, eos=eos) / math.log(10), expected, atol=2e-5, rtol=1e-6)


@pytest.mark.slow
def test_scores_equal_kenlm_on_real_text():
    kenlm = pytest.importorskip("kenlm")
    arpa = SHARED / "anchors/lm/multi30k.en.o5.arpa.gz"
    if not arpa.exists():
        pytest.skip("no shared anchors here")
    theirs, ours = kenlm.Model(str(arpa)), NgramModel.read(arpa)
    for name in ("test.en", "dev.en"):
        lines = (SHARED / "data/multi30k/tok" / name).read_text(encoding="utf-8").split("\n")[:-1]
        expected = [theirs.score(line) for line in lines]
        score = ours.score([line.split() for line in lines]) / math.log(10)
        np.testing.assert_allclose(score, expected, atol=1e-4, rtol=0)
        words = [word for line in lines[:100] for word, _, _ in theirs.full_scores(line)]
        scores, _ = ours.word_scores([line.split() for line in lines[:100]])
        np.testing.assert_allclose(scores / math.log(10), words, atol=1e-5, rtol=0)
    assert ours.nbytes <= 17.2e6  # KenLM's probing table for this model


BLANKS = [" ", "  ", "\t", "\r", "\x0b \x0c", "\n"]
WORDS = ["w1", "w2", "w3", "w17", "w", "<s>", "</s>", "<unk>", "é\u00a0è", "\u2028", "\x1c", "字", ""]


@given(st.lists(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BLANKS))), max_size=5), st.booleans())
@settings(max_examples=100, deadline=None)
def test_lines_score_as_their_words_do(model, pieces, eos):
    lines = ["".join(word + blank for word, blank in line) for line in pieces]
    split = [[word.decode() for word in line.encode().split()] for line in lines]
    assert model.score(lines, eos=eos).tolist() == model.score(split, eos=eos).tolist()
    for ours, theirs in zip(model.word_scores(lines, eos=eos), model.word_scores(split, eos=eos), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_more_lines_than_are_scored_together(model, monkeypatch):
    monkeypatch.setattr("camber.lm.lines._BLOCK", 50)
    text = random_text(6)
    lines = [" ".join(words) for words in text]
    assert model.score(lines).tolist() == model.score(text).tolist()
    assert model.perplexity(lines) == model.perplexity(text)
