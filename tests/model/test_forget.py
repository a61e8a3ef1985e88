"""Pairs that are taken back: added ones with all that came of them, those of the training from the memory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from formats.test_bilingual_tmx import tmx, tuv

import camber
from camber.cli import cli
from camber.engine import Threads
from camber.errors import CamberError, ModelError
from camber.files import write_lines
from camber.model.directory import ModelDirectory
from camber.model.journal import Journal, Pair
from camber.model.translator import load
from camber.pipeline.add import Adder, add
from camber.pipeline.bilingual import pairs_of_files
from camber.pipeline.combine import combine_models
from camber.pipeline.forget import forget

ONE = Threads(1)
WRONG = "el zorbo está aquí .", "the blorp is here ."


@pytest.fixture
def model(hotel_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hotel_model, tmp_path / "m"))


def run(*words: object, text: str = "") -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_an_added_pair_is_gone_with_its_rules_from_the_next_translation_on(model: Path) -> None:
    lines = [WRONG[0], "el zorbo"]
    before = load(model).translate(lines, ONE)
    assert add(model, *([side] for side in WRONG)).translate(lines, ONE) != before
    assert forget(model, texts=[WRONG[0]]) == [WRONG]
    again = load(model)
    assert again.translate(lines, ONE) == before
    assert again.matches(WRONG[0], 1.0) == []
    assert again.directory.sizes.get("added_pairs") == 0


def test_the_translation_before_it_comes_back(model: Path) -> None:
    add(model, ["hola zorbo"], ["one"])
    add(model, ["hola zorbo"], ["two"])
    assert load(model).translate(["hola zorbo"], ONE) == ["two"]
    forget(model, pairs=[("hola zorbo", "two")])
    assert load(model).translate(["hola zorbo"], ONE) == ["one"]


def test_a_pair_that_is_added_again_is_known_again(model: Path) -> None:
    for _ in range(2):
        add(model, *([side] for side in WRONG))
        assert load(model).translate([WRONG[0]], ONE) == [WRONG[1]]
        assert not load(model).directory.journal.taken_back
        forget(model, texts=[WRONG[0]])
        assert load(model).directory.journal.taken_back == {WRONG}
    assert load(model).translate([WRONG[0]], ONE) != [WRONG[1]]


def test_a_training_pair_is_not_remembered_any_more_but_its_rules_stay(model: Path) -> None:
    first = load(model)
    source, target = first.memory.pair(1)
    rules = first.translate([source], ONE)
    assert forget(model, numbers=[1]) == [(source, target)]
    again = load(model)
    assert (source, target) not in [(item.source, item.target) for item in again.matches(source, 0.5, 50)]
    assert again.translate([source], ONE) == rules
    assert forget(model, numbers=[1]) == []  # as after a kill
    assert "memory" in run("info", model, "--verify")


def test_what_is_not_there_is_told_and_nothing_changes(model: Path) -> None:
    signature = ModelDirectory.open(model).signature
    for what in ({"texts": ["no such line xyz"]}, {"numbers": [10**6]}, {"pairs": [("a", "b")]}, {}):
        with pytest.raises(CamberError):
            forget(model, **what)
    assert ModelDirectory.open(model).signature == signature


def test_the_journal_says_who_and_when_if_that_is_given(model: Path) -> None:
    adder = Adder(model)
    adder.add(["hola zorbo"], ["one"], author="Ana\nB", time="2026-05-03", engine=ONE)
    adder.add(["adiós zorbo"], ["two"], engine=ONE)
    adder.add(["sí zorbo"], ["three"], time="now", engine=ONE)
    calls = Journal.read(model).calls
    assert [(call.author, call.time) for call in calls[:2]] == [("Ana B", "2026-05-03"), ("", "")]
    assert calls[2].time.endswith("Z")
    (match,) = load(model).matches("hola zorbo", 1.0)
    assert (match.author, match.time) == ("Ana B", "2026-05-03")
    assert "(Ana B, 2026-05-03)" in run("match", model, text="hola zorbo")


def test_a_journal_that_tells_nothing_is_as_before(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    journal = Journal.read(tmp_path / "m").appended([Pair("a", "b", "a")], None)
    head = json.loads((journal.segments[0].folder / "pairs.jsonl").read_text().splitlines()[0])
    assert head == {"format": 1, "call": 1, "pairs": 1, "lesson": False}
    later = journal.appended((), None, [("a", "b")])
    head = json.loads((later.segments[1].folder / "pairs.jsonl").read_text().splitlines()[0])
    assert head == {"format": 2, "call": 2, "pairs": 0, "lesson": False, "taken_back": 1}
    assert Journal.read(tmp_path / "m").remaining == []
    assert Journal.read(tmp_path / "m").taken_back == {("a", "b")}


def test_what_is_known_is_not_read_again_but_changes_are_seen(model: Path) -> None:
    adder = Adder(model)
    adder.add(["hola zorbo"], ["one"], engine=ONE)
    Adder(model).add(["adiós zorbo"], ["two"], engine=ONE)  # by somebody else
    adder.add(["sí zorbo"], ["three"], engine=ONE)
    assert [pair.target for call in Journal.read(model).calls for pair in call.pairs] == ["one", "two", "three"]
    weights = model / "weights.tsv"
    weights.write_text(weights.read_text() + " ")
    with pytest.raises(ModelError, match=r"weights\.tsv"):
        adder.add(["no zorbo"], ["four"], engine=ONE)


def test_files_with_both_languages_are_added_and_taken_back(model: Path, tmp_path: Path) -> None:
    po = tmp_path / "new.po"
    write_lines(
        po,
        [
            'msgid ""', 'msgstr "Language: en\\n"', "",
            'msgid "el zorbo está aquí ."', 'msgstr "the blorp is here ."', "",
            "#, fuzzy", 'msgid "hola zorbo"', 'msgstr "a guess"',
        ],
    )  # fmt: skip
    spoken = {"source_lang": "es", "target_lang": "en"}
    text = model / "text" / "text.json"
    if not json.loads(text.read_text())["settings"]["source_lang"]:
        from camber.pipeline.bilingual import pairs_of_files

        with pytest.raises(CamberError, match="between which languages"):
            pairs_of_files(model, [po])
        pairs = pairs_of_files(model, [po], **spoken)
        assert (pairs.source, pairs.target, pairs.coded) == ([WRONG[0]], [WRONG[1]], {})
        add(model, pairs.source, pairs.target)
    assert load(model).translate([WRONG[0]], ONE) == [WRONG[1]]
    listed = [line.split("\t") for line in run("forget", model, "--list").splitlines()]
    ((number, *_, source, target),) = listed
    assert (source, target) == WRONG
    assert run("forget", model, "--number", number, "--author", "me") == "\t".join(WRONG) + "\n"
    assert run("forget", model, "--list") == ""
    assert camber.forget is forget


def test_of_a_broken_file_no_pair_is_taken_and_no_flag_named_that_is_not_there(model: Path, tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("es", "uno") + tuv("en", "one"))
    assert pairs_of_files(model, [path], "es", "en").source == ["uno"]
    path.write_text(path.read_text().replace("</body>", ""))
    with pytest.raises(CamberError, match=r"memory\.tmx:1: (.|\n)*mend these files, or leave them out$"):
        pairs_of_files(model, [path], "es", "en")


def test_who_and_when_must_be_text_that_can_be_written(model: Path) -> None:
    """An argument of a command line that is no UTF-8 has half surrogates."""
    for who in ({"author": "\udcff"}, {"time": "\udcff"}):
        with pytest.raises(CamberError, match="no Unicode text"):
            add(model, *([side] for side in WRONG), **who)
        with pytest.raises(CamberError, match="no Unicode text"):
            forget(model, numbers=[1], **who)
    with pytest.raises(CamberError, match="pair 2 is no Unicode text"):
        add(model, ["a", "b"], ["c", "\ud800"])
    assert not Journal.read(model).calls


def test_of_a_combination_it_is_told_what_stays(
    model: Path, hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add(model, *([side] for side in WRONG))
    dev = [tmp_path / "dev.es", tmp_path / "dev.en"]
    for path in dev:
        write_lines(path, (hotel_files / path.name).read_text("utf-8").splitlines()[:4])
    combine_models([model], *dev, tmp_path / "one", settings={"mbr_size": 5, "tuner": "pro"}, engine=ONE)
    assert load(tmp_path / "one").translate([WRONG[0]], ONE) == [WRONG[1]]
    with caplog.at_level("WARNING", logger="camber"):
        assert forget(tmp_path / "one", texts=[WRONG[0]]) == [WRONG]
    assert "its members keep the rules" in caplog.text
    assert load(tmp_path / "one").memory is None
