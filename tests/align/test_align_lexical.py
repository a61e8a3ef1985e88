"""Lexical tables against dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.word_alignment import lexical_counts

from camber.align.lexical import NULL, lexical_table
from camber.align.pharaoh import Alignment
from camber.corpus import Bitext


@st.composite
def aligned_pairs(draw):
    source = draw(st.lists(st.sampled_from("abcd"), max_size=5))
    target = draw(st.lists(st.sampled_from("wxyz"), max_size=5))
    possible = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    return source, target, links


@settings(deadline=None)
@given(st.lists(aligned_pairs(), min_size=1, max_size=5))
def test_table_equals_counting_with_dictionaries(pairs):
    source, target, links = (list(column) for column in zip(*pairs, strict=True))
    bitext = Bitext.encode(source, target)
    table = lexical_table(bitext, Alignment.from_pairs(links))
    counts = lexical_counts(source, target, links)

    def word(vocabulary, index):
        return None if index == NULL else vocabulary.words[index]

    rows = [
        (word(bitext.source.vocabulary, s), word(bitext.target.vocabulary, t))
        for s, t in zip(table.source.tolist(), table.target.tolist(), strict=True)
    ]
    assert dict(zip(rows, table.counts.tolist(), strict=True)) == counts
    assert (np.diff(table.keys) > 0).all()
    for (s, t), forward, backward in zip(rows, table.target_given_source, table.source_given_target, strict=True):
        assert forward == counts[s, t] / sum(c for (x, _), c in counts.items() if x == s)
        assert backward == counts[s, t] / sum(c for (_, y), c in counts.items() if y == t)


def test_looking_up_many_pairs_gives_the_rows_probabilities_and_the_default_elsewhere():
    bitext = Bitext.encode([["la", "casa"], ["la"]], [["house"], ["the"]])
    table = lexical_table(bitext, Alignment.from_pairs([[(1, 0)], [(0, 0)]]))
    la, casa = (bitext.source.vocabulary.id(word) for word in ("la", "casa"))
    the, house = (bitext.target.vocabulary.id(word) for word in ("the", "house"))
    asked = [la, la, casa, casa, NULL], [the, NULL, house, the, house]
    assert table.p_target_given_source(*asked).tolist() == [0.5, 0.5, 1, 0, 0]
    assert table.p_source_given_target(*asked, absent=1e-7).tolist() == [1, 1, 1, 1e-7, 1e-7]
    assert table.offsets.tolist() == [0, 0, 2, 3]


def test_moses_files_hold_seven_digits_and_null(tmp_path):
    bitext = Bitext.encode([["la", "casa"], ["la"]], [["house"], ["the"]])
    table = lexical_table(bitext, Alignment.from_pairs([[(1, 0)], [(0, 0)]]))
    f2e, e2f = table.write_moses(tmp_path / "lex", bitext.source.vocabulary, bitext.target.vocabulary)
    assert f2e.read_text() == "NULL la 0.5000000\nthe la 0.5000000\nhouse casa 1.0000000\n"
    assert e2f.read_text() == "la NULL 1.0000000\nla the 1.0000000\ncasa house 1.0000000\n"


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="2 alignments for 1 sentence"):
        lexical_table(Bitext.encode([["a"]], [["x"]]), Alignment.from_pairs([[], []]))
