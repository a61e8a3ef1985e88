"""`camber extract`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import camber.pipeline.extract
from camber.cli.extract import command
from camber.corpus.inputs import Input
from camber.errors import InputError
from camber.formats.cdec.grammars import read_cdec_grammar
from camber.formats.moses.phrase_table import read_moses
from camber.formats.moses.rule_table import read_glue, read_moses_rules


@pytest.fixture
def text(tmp_path):
    (tmp_path / "s").write_text("la casa\n\nla\u00a0casa blanca\n", encoding="utf-8")
    (tmp_path / "t").write_text("the house\nnothing\nthe white house\n", encoding="utf-8")
    (tmp_path / "a").write_text("0-0 1-1\n\n0-0 0-2 1-1\n", encoding="utf-8")
    return tmp_path


def run(folder, *more, out="tables"):
    names = ["--source", "s", "--target", "t", "--alignment", "a", "--out", out]
    arguments = [argument if argument.startswith("--") else str(folder / argument) for argument in names]
    return CliRunner().invoke(command, [*arguments, *more], catch_exceptions=True)


def test_it_writes_both_tables(text):
    result = run(text, "--threads", "1", out="deep/tables")
    assert result.exit_code == 0, result.exception
    files = sorted((text / "deep/tables").iterdir())
    assert [path.name for path in files] == ["phrase-table.gz", "reordering-table.wbe-msd-bidirectional-fe.gz"]
    store = read_moses(*files)
    assert {" ".join(store.source(p)) for p in range(store.phrases)} == {
        "la",
        "casa",
        "la casa",
        "blanca",
        "la\u00a0casa blanca",
    }
    assert not [path for path in (text / "deep").iterdir() if path.name.startswith(".")]


def test_phrase_length_and_reordering_can_be_chosen(text):
    assert run(text, "--max-phrase-length", "1", "--no-reordering").exit_code == 0
    assert [path.name for path in (text / "tables").iterdir()] == ["phrase-table.gz"]
    assert read_moses(text / "tables/phrase-table.gz").max_phrase_length == 1
    assert run(text, "--max-phrase-length", "0", out="other").exit_code == 2


def test_hierarchical_rules_for_a_text_are_written_for_cdec_or_moses(text):
    (text / "test").write_text("la casa\nnada\nla blanca\n", encoding="utf-8")
    assert run(text, "--hiero", str(text / "test"), out="grammars").exit_code == 0
    assert sorted(path.name for path in (text / "grammars").iterdir()) == [f"grammar.{n}.gz" for n in range(3)]
    grammars = [read_cdec_grammar(text / "grammars" / f"grammar.{n}.gz") for n in range(3)]
    assert "EgivenFCoherent" in grammars[0].names
    assert len(grammars[1]) == 0
    written = [(g.source_side(r), g.target_side(r)) for g in grammars for r in range(len(g))]
    assert (["la", "casa"], ["the", "house"]) in written
    assert (["la", "[1]"], ["the", "[1]"]) in written

    assert run(text, "--hiero", str(text / "test"), "--format", "moses", out="rules").exit_code == 0
    table = read_moses_rules(text / "rules/rule-table.gz")
    assert read_glue(text / "rules/glue-grammar") == 2.718
    assert len(table) == len({(tuple(s), tuple(t)) for s, t in written})
    grammar = table.giving(logarithms=False).grammar(Input(["la", "casa"]))
    assert {(tuple(grammar.source_side(r)), tuple(grammar.target_side(r))) for r in range(len(grammar))} == {
        (tuple(grammars[0].source_side(r)), tuple(grammars[0].target_side(r))) for r in range(len(grammars[0]))
    }
    assert isinstance(run(text, "--hiero", str(text / "absent"), out="none").exception, InputError)


def test_nothing_remains_after_a_failure(text, monkeypatch):
    def fail(*_):
        raise InputError("the disk is full", text)

    before = sorted(text.iterdir())
    monkeypatch.setattr(camber.pipeline.extract, "write_moses", fail)
    assert isinstance(run(text).exception, InputError)
    assert sorted(text.iterdir()) == before


def test_a_folder_with_content_is_not_overwritten(text):
    (text / "tables").mkdir()
    assert run(text).exit_code == 0
    error = run(text).exception
    assert isinstance(error, InputError)
    assert "exists already" in str(error)


def test_links_outside_the_text_are_named(text):
    (text / "a").write_text("0-0 1-1\n\n0-3\n")
    assert "a:3: link 0-3 lies outside a pair of 2 and 3 words" in str(run(text).exception)
    (text / "a").write_text("0-0 1-1\n")
    assert "1 alignments for 3 sentence pairs" in str(run(text).exception)
