"""Glossaries and requests around opened models, and on the command line."""

import json
import re

import pytest
from click.testing import CliRunner

import camber
from camber.cli import cli
from camber.errors import CamberError, InputError
from camber.files import read_lines
from camber.model.asking import Request, read_requests
from camber.progress import log

LINE = "¿ cuánto cuesta una habitación doble ?"


def ran(*arguments, text=""):
    return CliRunner().invoke(cli, list(map(str, arguments)), input=text)


@pytest.fixture(params=["hotel_model", "hotel_hiero"])
def model(request):
    return camber.load(request.getfixturevalue(request.param))


@pytest.mark.slow
def test_every_term_is_obeyed_by_both_kinds_of_models(model, hotel_files):
    lines = read_lines(hotel_files / "test.es")
    glossary = camber.Glossary.of({"habitación": ["chamber", "cubicle"], "el": "ze", "por favor": "pretty please"})
    for line, best in zip(lines, model.translations(lines, nbest=3, glossary=glossary), strict=True):
        words = re.findall(r"\w+", line.lower())
        for item in best:
            assert item.text.lower().count("chamber") + item.text.lower().count("cubicle") == words.count("habitación")
            assert re.findall(r"\w+", item.text.lower()).count("ze") == words.count("el")
            assert item.notes == ()


@pytest.mark.slow
def test_requests_come_before_the_glossary_and_hold_for_their_line(model):
    glossary = camber.Glossary.of({"habitación": "chamber"})
    requests = [Request(camber.Glossary.of({"habitación": "cubicle"})), Request()]
    texts = [best[0].text for best in model.translations([LINE] * 3, glossary=glossary, requests=requests)]
    assert ["cubicle" in text for text in texts] == [True, False, False]
    assert ["chamber" in text for text in texts] == [False, True, True]


@pytest.mark.slow
def test_forbidden_words_do_not_come_and_contradictions_are_noted(model, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target,status\nhabitación,room,forbidden\ncuesta,costs,approved\ncuesta,COSTS,forbidden\n")
    (best,) = model.translations([LINE], glossary=camber.Glossary.read(path, "es", "en"))
    assert "room" not in best[0].text.split()
    assert best[0].notes == ("cuesta → costs: a term whose translation is forbidden, too",)


def test_a_term_whose_words_went_into_what_was_begun_is_noted(model):
    everything = Request(camber.Glossary.of({LINE: "zig zag"}), "zork")
    one = Request(camber.Glossary.of({"habitación": "chamber"}), "zork")
    (lost,), (kept,) = model.translations([LINE] * 2, requests=[everything, one])
    assert (lost.text, len(lost.notes)) == ("zork", 1)
    assert "left out, since its words went into what was begun" in lost.notes[0]
    assert kept.text.startswith("zork")
    assert ("chamber" in kept.text, kept.notes) == (True, ())


@pytest.mark.slow
def test_the_command_takes_glossaries_and_constraints(hotel_model, tmp_path):
    glossary, requests = tmp_path / "g.tsv", tmp_path / "c.jsonl"
    glossary.write_text("habitación\tchamber\n")
    requests.write_text('{"terms": {"doble": ["twofold"]}}\n\n{"terms": {"doble": ""}}\n')
    result = ran("translate", hotel_model, "--glossary", glossary, "--constraints", requests, text=f"{LINE}\n" * 3)
    assert result.exit_code == 0, result.output
    first, second, third = result.stdout.splitlines()
    assert "chamber" in first
    assert "twofold" in first
    assert "twofold" not in second
    assert "chamber" in third
    assert "line 3: doble: a term without a translation" in result.stderr
    glossary.write_text("habitación\troom\n\tx\n")
    result = ran("translate", hotel_model, "--glossary", glossary, text=LINE)
    assert isinstance(result.exception, InputError)
    assert "g.tsv:2" in str(result.exception)
    assert ran("translate", hotel_model, "--prefix", "a", "--constraints", requests, text=LINE).exit_code == 2


def test_constraints_of_more_or_fewer_lines_than_there_are_are_told(hotel_model, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(log, "warning", lambda text, *values: told.append(text % values))
    (tmp_path / "c.jsonl").write_text("{}\n{}\n")
    for count in (1, 2, 3):
        assert (
            ran("translate", hotel_model, "--constraints", tmp_path / "c.jsonl", text="hola .\n" * count).exit_code == 0
        )
    assert [text.rpartition(" ")[2] for text in told if "but there were" in text] == ["1", "3"]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        r'{"prefix": "\ud800"}',
        r'{"terms": {"a": "\udfff"}}',
        r'{"\ud800": 1}',
        r'{"prefix": "a\nb"}',
        '{"term": {}}',
        '{"terms": []}',
        '{"terms": {"a": 3}}',
        '{"prefix": 3}',
        '{"forbidden": {"a": null}}',
    ],
)
def test_a_line_that_is_no_request_is_an_error_with_its_number(tmp_path, line):
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"prefix": "a"}) + "\n" + line + "\n")
    with pytest.raises(InputError, match=r"c.jsonl:2: no request"):
        read_requests(path)


def test_a_model_that_cannot_obey_refuses(hotel_model, monkeypatch):
    model = camber.load(hotel_model)
    monkeypatch.setattr(type(model.decoder), "takes", frozenset())
    with pytest.raises(CamberError, match="take no glossary"):
        model.translate([LINE], glossary=camber.Glossary.of({"a": "b"}))
    with pytest.raises(CamberError, match="cannot complete"):
        model.translate([LINE], prefix="How")


@pytest.mark.slow
def test_a_prefix_is_completed_letter_by_letter(hotel_model, hotel_files):
    model = camber.load(hotel_model)
    lines, wanted = (read_lines(hotel_files / f"test.{language}")[:10] for language in ("es", "en"))
    prefixes = [" ".join(line.split()[:3]) for line in wanted]
    for text, prefix in zip(model.translate(lines, prefix=prefixes), prefixes, strict=True):
        assert text.startswith(prefix)
    assert model.translate([LINE], prefix="Hey, what")[0].startswith("Hey, what")
    assert model.translate([LINE], prefix=" ") == model.translate([LINE])
    two = model.translate(["La cuenta , por favor . ¿ Dónde está el bar ?"], prefix="The check! Where")
    assert two[0].startswith("The check! Where")
    result = ran("translate", hotel_model, "--prefix", "Zounds", text=LINE)
    assert result.stdout.startswith("Zounds")
