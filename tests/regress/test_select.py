"""Selection of pairs: every score against its definition, ties, unknown words, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import selection as naive

from camber.corpus import Bitext, Sentences, Vocabulary
from camber.engine import Threads
from camber.errors import SettingsError
from camber.regress.select.bm25 import Bm25Selector
from camber.regress.select.coverage import coverage
from camber.regress.select.dice import DiceScores, DiceSelector
from camber.regress.select.round_robin import RoundRobin
from camber.regress.select.selectors import SELECTORS, SelectSettings, make_selector
from camber.regress.spectrum import NgramMap

WORDS = Vocabulary(list("abcde"))
lines = st.lists(st.integers(0, 3), max_size=6)
corpora = st.lists(st.tuples(lines, lines), min_size=1, max_size=8)
sentences = st.lists(st.integers(-1, 4), max_size=7)  # 4: a word that the corpus lacks, -1: an unknown one
orders = st.integers(1, 3)
counts = st.integers(0, 10)


def text_of(rows: list[list[int]]) -> Sentences:
    offsets = np.cumsum([0, *map(len, rows)])
    return Sentences(np.array([word for row in rows for word in row], np.int32), offsets, WORDS)


def bitext_of(pairs: list[naive.Pair]) -> Bitext:
    return Bitext(text_of([list(source) for source, _ in pairs]), text_of([list(target) for _, target in pairs]))


def ids(sentence: list[int]) -> np.ndarray:
    return np.array(sentence, np.int32)


def numbers_of(grams: NgramMap, sentence: list[int], order: int) -> dict[naive.Gram, int]:
    """Return the numbers of a sentence's known n-grams, which say in which order they come."""
    ends = grams.ends(ids(sentence))
    return {
        tuple(sentence[end - n : end + 1]): int(ends[end, n])
        for end in range(len(sentence))
        for n in range(min(order, end + 1))
        if ends[end, n] >= 0
    }


@given(corpora, sentences, counts, orders, st.booleans())
def test_dice_is_the_papers_score_and_pairs_with_the_longest_common_ngrams_come_first(
    pairs: list[naive.Pair], sentence: list[int], count: int, order: int, product: bool
) -> None:
    how = SelectSettings(order=order, denominator="product" if product else "sum")
    scores = DiceScores.of(bitext_of(pairs), how).scores(ids(sentence))
    assert scores == pytest.approx(naive.dice_scores(pairs, sentence, order, product), rel=1e-6)
    chosen = DiceSelector.of(bitext_of(pairs), how).select(ids(sentence), count)
    assert chosen.tolist() == naive.by_dice(pairs, sentence, count, order, scores.tolist())


@given(corpora, sentences, counts, orders)
def test_round_robin_takes_turns_by_the_papers_score(
    pairs: list[naive.Pair], sentence: list[int], count: int, order: int
) -> None:
    bitext, how = bitext_of(pairs), SelectSettings(order=order)
    selector = RoundRobin.of(bitext, how)
    scores = selector.scores.scores(ids(sentence)).tolist()
    numbers = numbers_of(selector.postings.grams, sentence, order)
    expected = naive.round_robin(pairs, sentence, count, order, scores, numbers)
    for _ in range(2):  # work arrays are left as they were found
        assert selector.select(ids(sentence), count).tolist() == expected


@given(corpora, sentences, counts, orders, st.floats(0, 3), st.floats(0, 1))
def test_bm25_is_its_definition(
    pairs: list[naive.Pair], sentence: list[int], count: int, order: int, k: float, b: float
) -> None:
    selector = Bm25Selector.of(bitext_of(pairs), SelectSettings(order=order, saturation=k, length_share=b))
    scores = selector.scores(ids(sentence))
    assert scores == pytest.approx(naive.bm25_scores(pairs, sentence, order, k, b), rel=1e-5)
    expected = sorted(np.flatnonzero(scores).tolist(), key=lambda p: (-scores[p], p))[:count]
    for _ in range(2):
        assert selector.select(ids(sentence), count).tolist() == expected


@given(corpora, st.lists(sentences, min_size=1, max_size=3), counts, st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 2))
def test_decay_selects_the_best_pair_again_and_again(
    pairs: list[naive.Pair], text: list[list[int]], count: int, decay: float, power: float
) -> None:
    how = SelectSettings(decay=decay, length_power=power)
    selector = make_selector("decay", bitext_of(pairs), how)
    numbers: dict[naive.Gram, int] = {}
    for sentence in text:
        numbers |= numbers_of(selector.postings.grams, sentence, 2)
    one = naive.by_decay(pairs, naive.ngrams(text[0], 2), count, decay, power, numbers)
    wanted = set().union(*(naive.ngrams(sentence, 2) for sentence in text))
    for _ in range(2):
        assert selector.select(ids(text[0]), count).tolist() == one
        chosen = selector.select_set(text_of(text), count)
        assert chosen.tolist() == naive.by_decay(pairs, wanted, count, decay, power, numbers)


@given(corpora, st.lists(sentences, max_size=5), counts, st.integers(0, 3), st.sampled_from(["bm25", "round-robin"]))
def test_sentences_of_a_text_have_fair_shares_on_any_number_of_threads(
    pairs: list[naive.Pair], text: list[list[int]], count: int, per_sentence: int, kind: str
) -> None:
    selector = make_selector(kind, bitext_of(pairs))
    lists = [selector.select(ids(sentence), per_sentence or len(pairs)).tolist() for sentence in text]
    expected = naive.in_turns(lists, min(count, len(pairs)))
    for threads in (1, 3):
        chosen = selector.select_set(text_of(text), count, per_sentence=per_sentence, engine=Threads(threads))
        assert chosen.tolist() == expected


def test_a_deep_selection_for_a_text_goes_on_until_there_are_enough() -> None:
    pairs: list[naive.Pair] = [([0, 1], [0])] * 200 + [([2], [0])] * 100
    selector = make_selector("bm25", bitext_of(pairs))
    chosen = selector.select_set(text_of([[0], [2]]), 250)
    assert len(chosen) == 250
    assert np.bincount(chosen < 200).tolist() == [100, 150]  # one has no more
    lists = [selector.select(ids(sentence), 300).tolist() for sentence in ([0], [0, 1], [2])]
    assert selector.select_set(text_of([[0], [0, 1], [2]]), 60).tolist() == naive.in_turns(lists, 60)


@pytest.mark.parametrize("kind", list(SELECTORS))
def test_equal_pairs_are_selected_in_their_order_and_pairs_with_nothing_in_common_never(kind: str) -> None:
    pairs: list[naive.Pair] = [([3], [3]), ([0, 1], [0, 1]), ([0, 1], [0, 1]), ([0, 1], []), ([0, 1], [0, 1])]
    selector = make_selector(kind, bitext_of(pairs))
    assert selector.select(ids([0, 1, -1]), 9).tolist() == [1, 2, 4]
    assert selector.select(ids([0, 1, -1]), 2).tolist() == [1, 2]
    for nothing in ([], [-1, -1], [4]):
        assert selector.select(ids(nothing), 9).tolist() == []
    assert selector.select(ids([0]), 0).tolist() == []
    assert selector.nbytes > 0


@pytest.mark.parametrize("kind", list(SELECTORS))
def test_a_corpus_of_one_word_sentences_and_one_pair_is_no_trap(kind: str) -> None:
    assert make_selector(kind, bitext_of([([0], [0])])).select(ids([0]), 3).tolist() == [0]


def test_only_words_in_no_known_pair_of_words_take_turns_with_the_pairs() -> None:
    bitext = bitext_of([([0, 1], [0]), ([2], [0]), ([3, 0], [0])])
    selector = RoundRobin.of(bitext, SelectSettings(order=2))
    numbers = numbers_of(selector.postings.grams, [0, 1, 2], 2)
    first, second = selector.turns(ids([0, 1, 2]))
    assert sorted(first.tolist()) == sorted([numbers[0, 1], numbers[(2,)]])
    assert sorted(second.tolist()) == sorted(numbers[(word,)] for word in range(3))


@settings(max_examples=50)
@given(corpora, sentences)
def test_round_robin_covers_all_that_the_corpus_has(pairs: list[naive.Pair], sentence: list[int]) -> None:
    whole = [(source if target else [], target) for source, target in pairs]
    bitext = bitext_of(whole)
    chosen = RoundRobin.of(bitext, SelectSettings()).select(ids(sentence), max(len(naive.ngrams(sentence, 2)), 1))
    everything = coverage(bitext.source, text_of([sentence]), [np.arange(len(pairs))])
    assert coverage(bitext.source, text_of([sentence]), [chosen]) == everything


@given(corpora, st.lists(st.tuples(sentences, st.sets(st.integers(0, 7))), max_size=4), orders)
def test_coverage_counts_the_distinct_ngrams_that_selected_sentences_have(
    pairs: list[naive.Pair], asked: list[tuple[list[int], set[int]]], order: int
) -> None:
    corpus = bitext_of(pairs).source
    # unknown words all differ: numbers of their own stand for them
    text = [[word if word >= 0 else 100 + i for i, word in enumerate(sentence)] for sentence, _ in asked]
    selections = [np.array(sorted(p for p in chosen if p < len(pairs)), np.int64) for _, chosen in asked]
    measured = coverage(corpus, text_of([sentence for sentence, _ in asked]), selections, order)
    for n in range(1, order + 1):
        found = total = 0
        for sentence, selection in zip(text, selections, strict=True):
            grams = {gram for gram in naive.ngrams(sentence, order) if len(gram) == n}
            total += len(grams)
            found += sum(any(gram in naive.ngrams(pairs[p][0], n) for p in selection) for gram in grams)
        assert (measured.found[n - 1], measured.total[n - 1]) == (found, total)


def test_one_selection_for_a_whole_text_and_coverage_of_nothing() -> None:
    corpus, text = text_of([[0, 1], [1, 2]]), text_of([[0, 1], [1, 2], [2]])
    one = np.array([0])
    assert coverage(corpus, text, [one] * 3).found == (3, 1)
    assert coverage(corpus, text, [one] * 3).share(2) == 0.5
    assert np.isnan(coverage(corpus, text_of([[0]]), [one]).share(2))
    with pytest.raises(ValueError, match="1 selections for 3 sentences"):
        coverage(corpus, text, [one])


@pytest.mark.parametrize("kind", ["dice", "round-robin"])
def test_of_an_ngram_that_many_pairs_have_a_sample_at_even_distances_is_looked_at(kind: str) -> None:
    pairs: list[naive.Pair] = [([0, 1], [0, 1])] * 100
    selector = make_selector(kind, bitext_of(pairs), SelectSettings(sample=4))
    assert selector.select(ids([0, 1]), 4).tolist() == [0, 25, 50, 75]
    assert len(selector.select(ids([0, 1]), 60)) == 60  # but never fewer than are asked for


def test_an_unknown_way_to_select_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="round-robin, dice, bm25, decay"):
        make_selector("best", bitext_of([([0], [0])]))
