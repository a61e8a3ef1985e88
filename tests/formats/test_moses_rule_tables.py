"""Moses' rule tables: read, written, matched against sentences."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.rule_matching import matching_sides
from toys.grammars import WORDS, grammars

from camber.corpus.inputs import Input
from camber.errors import InputError
from camber.formats.moses.rule_table import (
    GLUE,
    read_glue,
    read_moses_rules,
    score_names,
    write_glue,
    write_moses_rules,
)
from camber.rules.hiero.grammar import Grammar
from camber.rules.hiero.rule_table import RuleTable

TABLE = """\
der [X][X] mann [X] ||| the [X][X] man [X] ||| 0.5 0.4 0.3 0.2 ||| 0-0 1-1 2-2 ||| 4 5 2 ||| |||
[X][X] und [X][X] [X] ||| [X][X] and [X][X] [X] ||| 0.5 0.4 0.3 0 ||| 0-2 1-1 2-0 ||| 4 5 2
alte [X] ||| old [X] ||| 0.5 0.4 0.3 0.2 ||| 0-0
alte [X] ||| aged [X] ||| 0.5 0.4 0.6 0.2 |||
"""


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def rules_of(grammar: Grammar) -> dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[list[float], list]]:
    return {
        (tuple(grammar.source_side(r)), tuple(grammar.target_side(r))): (
            grammar.features[r].tolist(),
            grammar.rule_links(r),
        )
        for r in range(len(grammar))
    }


def test_a_table_is_read_by_its_conventions(tmp_path: Path) -> None:
    table = read_moses_rules(write(tmp_path / "rule-table.gz", TABLE))
    assert len(table) == 4
    assert table.names == ("p_s_given_t", "lex_s_given_t", "p_t_given_s", "lex_t_given_s", "phrase_penalty")
    grammar = table.grammar(Input(["der", "alte", "mann", "und", "x"]))
    rules = rules_of(grammar)
    assert rules.keys() == {
        (("der", "[1]", "mann"), ("the", "[1]", "man")),
        (("[1]", "und", "[2]"), ("[2]", "and", "[1]")),  # the alignment crosses
        (("alte",), ("old",)),
        (("alte",), ("aged",)),
    }
    features, links = rules[("der", "[1]", "mann"), ("the", "[1]", "man")]
    assert features == pytest.approx([math.log(p) for p in (0.5, 0.4, 0.3, 0.2)] + [1])
    assert links == [(0, 0), (2, 2)], "of words only"
    features, links = rules[("[1]", "und", "[2]"), ("[2]", "and", "[1]")]
    assert features[3] == -100  # an impossible event, as in Moses
    assert links == [(1, 1)]
    targets = [grammar.target_side(r) for r in range(len(grammar)) if grammar.source_side(r) == ["alte"]]
    assert targets == [["aged"], ["old"]], "the likelier one first"
    assert len(table.giving(limit=1).grammar(Input(["alte"]))) == 1
    raw = table.giving(logarithms=False).grammar(Input(["alte"]))
    assert raw.features[0] == pytest.approx([0.5, 0.4, 0.6, 0.2, 1])
    assert len(table.grammar(Input(["der", "mann"]))) == 0, "a gap has a word at least"
    assert len(table.giving(span=2).grammar(Input(["der", "alte", "mann"]))) == 2
    assert len(table.grammar(Input([]))) == 0


def test_weights_decide_which_rules_come_first(tmp_path: Path) -> None:
    path = write(tmp_path / "t", "a [X] ||| b [X] ||| 0.5 0.1 |||\na [X] ||| c d [X] ||| 0.4 0.3 |||\n")
    for weights, word, first in (([1, 0], 0.0, "b"), ([0, 1], 0.0, "c"), ([1, 0], 5.0, "c")):
        table = read_moses_rules(path, weights=weights, word_weight=word)
        assert table.grammar(Input(["a"])).target_side(0)[0] == first
    assert score_names(2) == table.scores_names == ("score_1", "score_2")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a [X] ||| b", "is not a rule"),
        ("a ||| b [X] ||| 1 1 1 1 |||", "source side ends with 'a'"),
        ("a [X] ||| b [NP] ||| 1 1 1 1 |||", r"target side ends with '\[NP\]'"),
        ("a [X][NP] [X] ||| b [X][NP] [X] ||| 1 1 1 1 ||| 1-1", r"the symbol '\[X\]\[NP\]'"),
        ("a [X][X] [X] ||| b [X][X] [X] ||| 1 1 1 1 ||| 0-0", "does not say which non-terminals"),
        ("a [X][X] [X] ||| b [X][X] [X] ||| 1 1 1 1 ||| 1-0", "linked with a word"),
        ("a [X] ||| b [X] ||| 1 1 1 1 ||| 1-1", "left-hand side"),
        ("[X][X] a [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 1 1 1 ||| 0-0 2-0", "does not say which"),
        ("a [X][X] [X] ||| b [X] ||| 1 1 1 1 |||", "not as many"),
        ("[X][X] [X] ||| [X][X] [X] ||| 1 1 1 1 ||| 0-0", "single non-terminal"),
        ("[X][X] [X][X] a [X][X] [X] ||| [X][X] [X][X] [X][X] [X] ||| 1 1 1 1 ||| 0-0 1-1 3-2", "more than two"),
        ("[X] ||| b [X] ||| 1 1 1 1 |||", "no symbols"),
        ("a [X] ||| b [X] ||| 1 1 1 |||", "3 numbers, expected 4"),
        ("a [X] ||| b [X] ||| 1 1 1 -1 |||", "not a probability"),
        ("a [X] ||| b [X] ||| 1 1 1 x |||", "'x' is not a number"),
    ],
)
def test_a_bad_rule_is_named_by_file_and_line(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path / "rule-table", TABLE + line + "\n")
    with pytest.raises(InputError, match=problem) as error:
        read_moses_rules(path)
    assert str(error.value).startswith(f"{path}:5: ")


def test_an_empty_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read_moses_rules(write(tmp_path / "t", ""))
    with pytest.raises(InputError, match="is not a rule"):
        read_moses_rules(write(tmp_path / "t", "nonsense\n"))


def test_a_glue_grammar_is_the_one_that_is_known(tmp_path: Path) -> None:
    write_glue(tmp_path / "glue")
    assert read_glue(tmp_path / "glue") == 2.718
    old = "<s> [X] ||| <s> [S] ||| 1 ||| ||| 0\n[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 1 ||| 0-0 1-1 ||| 0\n"
    assert read_glue(write(tmp_path / "old", old)) == 1
    for text, problem in (
        (
            GLUE[0] + "\n[X][S] [X][NP] [X] ||| [X][S] [X][NP] [S] ||| 1 ||| 0-0 1-1\n",
            "is not a rule of a glue grammar",
        ),
        (GLUE[0] + "\n", "is missing"),
        (GLUE[0].replace("||| 1 |||", "||| 2 |||") + "\n", "cannot be used"),
    ):
        with pytest.raises(InputError, match=problem):
            read_glue(write(tmp_path / "bad", text))


def escaped(rules: dict) -> dict:
    def text(side: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("x&#91;1&#93;&#124;y" if word == WORDS[2] else word for word in side)

    return {(text(source), text(target)): value for (source, target), value in rules.items()}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(grammars(), st.lists(st.sampled_from(["a", "b", "z"]), max_size=7), st.integers(0, 5))
def test_what_is_written_is_read_and_matched_as_by_trying_everything(grammar, sentence, span):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rule-table.gz"
        assert write_moses_rules(path, [grammar, grammar]) == len(grammar), "each once"
        table = read_moses_rules(path).giving(logarithms=False, span=span)
        table.save(folder)
        table = RuleTable.load(folder).giving(logarithms=False, span=span)
    # every rule, by taking all sides
    everything = [
        tuple(table.source_words.words[s] if s >= 0 else None for s in table.source[a:b].tolist())
        for a, b in zip(table.source_offsets[:-1], table.source_offsets[1:], strict=True)
    ]
    expected = escaped(rules_of(grammar))
    assert len(table) == len(expected)
    wanted = set(matching_sides(everything, sentence, span))
    rules = rules_of(table.grammar(Input(sentence)))
    as_sides = {key: tuple(None if w.startswith("[") else w for w in key[0]) for key in expected}
    assert rules.keys() == {key for key, side in as_sides.items() if side in wanted}
    for key, (features, links) in rules.items():
        assert features == [*expected[key][0], 1.0]
        assert links == expected[key][1]
