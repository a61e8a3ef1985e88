"""BLEU: statistics equal to the textbook's, scores equal to sacreBLEU's."""

from pathlib import Path

import numpy as np
import pytest
import sacrebleu.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.bleu import bleu_statistics

from camber.corpus import Sentences, Vocabulary
from camber.errors import CamberError, SettingsError
from camber.metrics import BLEU

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

words = st.lists(st.sampled_from(["a", "b", "c", "B", "d"]), max_size=12)
lines = words.map(" ".join)
corpora = st.tuples(st.integers(1, 4), st.integers(1, 3)).flatmap(
    lambda size: st.tuples(
        st.lists(lines, min_size=size[0], max_size=size[0]),
        st.lists(st.lists(lines, min_size=size[0], max_size=size[0]), min_size=size[1], max_size=size[1]),
    )
)


@given(st.lists(words, min_size=1, max_size=6), st.data(), st.integers(1, 5), st.booleans())
@settings(deadline=None)  # the first example compiles
def test_statistics_equal_the_textbook(hypotheses, data, order, shortest):
    sentences = data.draw(st.integers(1, 3))
    groups = [data.draw(st.lists(words, min_size=1, max_size=3)) for _ in range(sentences)]
    owner = [data.draw(st.integers(0, sentences - 1)) for _ in hypotheses]
    vocabulary = Vocabulary(["a", "b", "c"])  # the other words are unknown: they match nothing
    known = [[[w if w in "abc" else f"?{i}{j}" for j, w in enumerate(r)] for i, r in enumerate(g)] for g in groups]
    bleu = BLEU("none", order=order, reference_length="shortest" if shortest else "closest")
    rows = bleu.statistics_of_ids(
        Sentences.encode(hypotheses, vocabulary),
        Sentences.encode([reference for group in groups for reference in group], vocabulary),
        np.cumsum([0] + [len(group) for group in groups]),
        owner,
    )
    assert rows.tolist() == [
        bleu_statistics(h, known[s], order, shortest) for h, s in zip(hypotheses, owner, strict=True)
    ]


@pytest.mark.slow
@given(
    corpora,
    st.sampled_from(["exp", "floor", "add-k", "none"]),
    st.sampled_from([None, 0.5, 2]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([2, 4]),
)
@settings(max_examples=300, deadline=None)
def test_score_and_signature_equal_sacrebleu(corpus, smooth, value, effective, lowercase, order):
    hypotheses, references = corpus
    theirs = sacrebleu.metrics.BLEU(
        lowercase=lowercase,
        tokenize="none",
        smooth_method=smooth,
        smooth_value=value,
        effective_order=effective,
        max_ngram_order=order,
    )
    ours = BLEU("none", lowercase=lowercase, smooth=smooth, smooth_value=value, effective_order=effective, order=order)
    rows = ours.statistics(hypotheses, references)
    expected = theirs.corpus_score(hypotheses, references)
    assert rows.tolist() == theirs._extract_corpus_statistics(hypotheses, references)
    assert ours.score(rows.sum(0)) == pytest.approx(expected.score, rel=1e-12, abs=1e-12)
    assert ours.signature(len(references)).endswith(str(theirs.get_signature()))


@given(corpora)
@settings(deadline=None)
def test_many_sums_are_scored_at_once(corpus):
    bleu = BLEU("none", effective_order=True)
    rows = bleu.statistics(*corpus)
    at_once = bleu.score(rows)
    assert at_once.shape == (len(rows),)
    assert at_once.tolist() == [bleu.score(row) for row in rows]
    assert bleu.score(rows[None, :, None]).shape == (1, len(rows), 1)


@pytest.mark.parametrize("tokenize", ["13a", "intl", "none", "char", "zh"])
def test_every_tokenizer_is_sacrebleus(tokenize):
    hypotheses = ["Hello, world! It's 3.5% of “that”.", "Das\u00a0ist &quot;gut&quot; …", "", "a|b 你好 ."]
    references = [["Hello world! It's 3.5 % of that.", "Das ist „gut“ …", "x", "a | b 你好."]] * 2
    ours, theirs = BLEU(tokenize), sacrebleu.metrics.BLEU(tokenize=tokenize)
    rows = ours.statistics(hypotheses, references)
    assert ours.score(rows.sum(0)) == pytest.approx(theirs.corpus_score(hypotheses, references).score)
    assert ours.signature(2) == str(theirs.get_signature())


def test_an_empty_hypothesis_scores_zero_and_nothing_is_nan():
    for smooth in ("exp", "floor", "add-k", "none"):
        for effective in (True, False):
            bleu = BLEU("none", smooth=smooth, effective_order=effective)
            for hypothesis, reference in [("", "a b"), ("", ""), ("a", ""), ("a", "b")]:
                assert bleu.score(bleu.statistics([hypothesis], [[reference]])[0]) == 0.0


def test_of_two_reference_lengths_as_close_the_shorter_counts():
    bleu = BLEU("none")
    assert bleu.statistics(["a b c"], [["a b c d"], ["a b"]])[0, 1] == 2
    assert bleu.statistics(["a b c"], [["a b"], ["a b c d"]])[0, 1] == 2
    assert bleu.statistics(["a b c d"], [["a"], ["a b c d e"]])[0, 1] == 5
    assert BLEU("none", reference_length="shortest").statistics(["a b c d"], [["a"], ["a b c d e"]])[0, 1] == 1


def test_references_may_be_absent_for_some_sentences():
    bleu, theirs = BLEU("none"), sacrebleu.metrics.BLEU(tokenize="none")
    references = [["a b c d", "a b"], ["a b x d", None]]
    rows = bleu.statistics(["a b c d", "a b"], references)
    assert bleu.score(rows.sum(0)) == pytest.approx(theirs.corpus_score(["a b c d", "a b"], references).score)
    assert bleu.signature(-1) == str(theirs.get_signature())
    with pytest.raises(CamberError, match="sentence 2 has no reference"):
        bleu.statistics(["a", "b"], [["a", None]])


def test_the_hypotheses_of_a_list_share_their_references_in_any_order():
    bleu = BLEU("none")
    references = [["a b c", "d e f"]]
    hypotheses = ["a b", "d e", "a c", "d d", "b c"]
    owner = [0, 1, 0, 1, 0]
    expected = [bleu.statistics([h], [[references[0][s]]])[0].tolist() for h, s in zip(hypotheses, owner, strict=True)]
    assert bleu.statistics(hypotheses, references, owner).tolist() == expected


def test_the_strict_penalty_gives_no_credit_for_length_elsewhere():
    # Chiang et al. 2008: a long sentence must not make up for a short one
    references = [["a b c d e", "a b c d e"]]
    hypotheses = ["a b c d", "a b c d e f"]
    plain, strict = BLEU("none"), BLEU("none", strict=True)
    rows = strict.statistics(hypotheses, references)
    assert rows[:, 0].tolist() == [4, 5]
    ratio = strict.score(rows.sum(0)) / plain.score(plain.statistics(hypotheses, references).sum(0))
    assert ratio == pytest.approx(np.exp(1 - 10 / 9))
    assert strict.name == "BLEU-SBP"


def test_wrong_settings_and_inputs_are_told():
    for arguments in ({"tokenize": "moses"}, {"smooth": "laplace"}, {"reference_length": "average"}, {"order": 0}):
        with pytest.raises(SettingsError):
            BLEU(**arguments)
    bleu = BLEU("none")
    with pytest.raises(CamberError, match="2 hypotheses but 1 references"):
        bleu.statistics(["a", "b"], [["a"]])
    with pytest.raises(CamberError, match="of 1 and 2 lines"):
        bleu.statistics(["a"], [["a"], ["a", "b"]])
    with pytest.raises(CamberError, match="a hypothesis of sentence 3"):
        bleu.statistics(["a"], [["a"]], [3])
    with pytest.raises(CamberError, match="2 sentence numbers for 1"):
        bleu.statistics(["a"], [["a"]], [0, 0])
    with pytest.raises(TypeError, match="a list of reference texts"):
        bleu.statistics(["a"], ["a"])
    with pytest.raises(ValueError, match="one vocabulary"):
        bleu.statistics_of_ids(Sentences.encode([["a"]]), Sentences.encode([["b"]]), [0, 1], [0])


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
@pytest.mark.parametrize("tokenize", ["none", "13a"])
def test_real_output_scores_as_in_sacrebleu(tokenize):
    folder = SHARED / "data" / "eval-multeval"
    hypotheses = (folder / "hyp.baseline.opt0.en").read_text("utf-8").splitlines()
    references = [(folder / "ref.en").read_text("utf-8").splitlines()]
    bleu = BLEU(tokenize)
    score = bleu.score(bleu.statistics(hypotheses, references).sum(0))
    expected = sacrebleu.metrics.BLEU(tokenize=tokenize, force=True).corpus_score(hypotheses, references).score
    assert score == pytest.approx(expected, rel=1e-12)
    if tokenize == "none":
        assert score == pytest.approx(float((folder / "baseline.opt0.bleu.gold").read_text()), abs=0.005)
