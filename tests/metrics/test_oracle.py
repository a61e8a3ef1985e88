"""Oracles: bounds of what any re-ranker can reach."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.oracle import best_of_all_choices

from camber.errors import CamberError
from camber.metrics import BLEU, TER
from camber.metrics.oracle import corpus_oracle, oracle_scores, sentence_oracle

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(" ".join)
groups = st.lists(st.lists(words, max_size=3), min_size=1, max_size=4)


def table(metric, lists, references):
    texts = [text for group in lists for text in group]
    owner = [sentence for sentence, group in enumerate(lists) for _ in group]
    offsets = np.cumsum([0, *(len(group) for group in lists)])
    return metric.statistics(texts, [references], owner), offsets


def score(metric, rows, chosen):
    return float(metric.score(rows[chosen[chosen >= 0]].sum(0)))


@given(groups, st.data(), st.booleans(), st.sampled_from([BLEU("none", smooth="exp"), TER()]))
@settings(deadline=None, max_examples=60)
def test_the_greedy_oracle_lies_between_the_sentence_oracle_and_the_best_choice(lists, data, worst, metric):
    references = [data.draw(words) for _ in lists]
    rows, offsets = table(metric, lists, references)
    if not len(rows):
        return
    sign = 1.0 if metric.higher_is_better != worst else -1.0
    bound = best_of_all_choices(metric, rows, offsets, worst=worst)
    greedy = score(metric, rows, corpus_oracle(metric, rows, offsets, worst=worst))
    single = score(metric, rows, sentence_oracle(metric, rows, offsets, worst=worst))
    assert sign * single - 1e-9 <= sign * greedy <= sign * bound + 1e-9
    chosen = corpus_oracle(metric, rows, offsets, worst=worst)
    for sentence, place in enumerate(chosen):
        assert offsets[sentence] <= place < offsets[sentence + 1] or (place == -1 and not lists[sentence])


def test_where_sentences_add_up_both_oracles_are_exact():
    ter = TER()  # TER is a ratio of sums: with equal references it is additive
    rows = np.array([[3, 10], [1, 10], [2, 10], [7, 10], [0, 10]], float)
    offsets = [0, 2, 5]
    for worst, expected in ((False, [1, 4]), (True, [0, 3])):
        assert sentence_oracle(ter, rows, offsets, worst=worst).tolist() == expected
        assert corpus_oracle(ter, rows, offsets, worst=worst).tolist() == expected


def test_lines_without_hypotheses_count_in_the_choice_of_the_others():
    """A line that is not translated makes the whole too short, so that longer hypotheses are better."""
    metric = BLEU("none", smooth="exp")
    rows = metric.statistics(["a b c d e f", "a b c d e f g x y z w"], [["a b c d e f"]], [0, 0])
    missing = metric.statistics([""], [[" ".join("abcdefghijklmnopqrst")]], [0])[0]
    assert corpus_oracle(metric, rows, [0, 2]).tolist() == [0]
    assert corpus_oracle(metric, rows, [0, 2], missing=missing).tolist() == [1]


def test_longer_lists_have_better_oracles():
    ter = TER()
    rows = np.array([[3, 10], [1, 10], [0, 10], [7, 10], [9, 10], [5, 10]], float)
    assert oracle_scores(ter, rows, [0, 3, 6], [1, 2, 3]) == {1: 50.0, 2: 40.0, 3: 25.0}
    assert oracle_scores(ter, rows, [0, 3, 6], [1], missing=[10, 20]) == {1: 50.0}
    assert sentence_oracle(ter, rows, [0, 3, 6], k=2).tolist() == [1, 3]
    with pytest.raises(CamberError, match="oracle@0"):
        oracle_scores(ter, rows, [0, 3, 6], [0])
    with pytest.raises(ValueError, match="offsets must rise"):
        sentence_oracle(ter, rows, [0, 3])
