"""What is remembered, in lines with tags and entities: nothing of them is lost, and files stay sound."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polib
import pytest
from click.testing import CliRunner
from formats.test_bilingual_tmx import tmx, tuv

import camber
from camber.cli import cli
from camber.engine import Threads
from camber.files import write_lines
from camber.formats.bilingual.unit import Code
from camber.memory.codes import segment_in
from camber.model.journal import CODED, FORMAT, PAIRS, Journal
from camber.pipeline.importing import CODED as CODED_FILE
from camber.pipeline.importing import Corpus, import_corpora, read_coded
from camber.pipeline.settings import TrainSettings
from camber.pipeline.translate_file import translate_data

ONE = Threads(1)
#: a memory in which codes change their order
MEMORY = [
    tuv("es", 'la <bpt i="1" x="1">{b}</bpt>llave<ept i="1">{/b}</ept> &amp; <ph x="2">{br}</ph>la puerta .')
    + tuv("en", 'a door <ph x="2">{br}</ph>&lt;and&gt; <bpt i="1" x="1">{b}</bpt>a key<ept i="1">{/b}</ept> .'),
    tuv("es", "el zorbo") + tuv("en", "the blorp &amp; co"),
]
LINE = 'la <g id="7">llave</g> &amp; <x id="8"/>la puerta .'
XLIFF = (
    '<xliff version="1.2"><file original="a" source-language="es" target-language="en" datatype="x">'
    "<body>{}</body></file></xliff>"
)


def run(*words: object, text: str = "") -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def model(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with languages, to which the command added a memory."""
    folder = tmp_path_factory.mktemp("recalling")
    settings = {"text": {"source_lang": "es", "target_lang": "en"}, "lm": {"order": 2}, "align": {"model": "quick"}}
    camber.train(
        hotel_files / "dev.es",
        hotel_files / "dev.en",
        folder / "m",
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict(settings),
        engine=ONE,
    )
    memory = tmx(folder, *MEMORY).rename(folder / "memory.tmx")
    run("--quiet", "add", folder / "m", memory, "--author", "Anna")
    return folder / "m"


def in_file(model: Path, *sources: str, fuzzy: float | None = None) -> list[str]:
    """Translate the units of a file, and return what is in their targets."""
    units = "".join(f'<trans-unit id="{n}"><source>{text}</source></trans-unit>' for n, text in enumerate(sources))
    data, report = translate_data(camber.load(model), XLIFF.format(units).encode(), fuzzy=fuzzy, engine=ONE)
    assert report.translated == len(sources), report
    return [piece.split("</target>")[0].split(">", 1)[1] for piece in data.decode().split("<target")[1:]]


@pytest.mark.parametrize("fuzzy", [None, 0.7])
def test_a_file_gets_the_codes_of_its_own_where_the_memory_has_them(model: Path, fuzzy: float | None) -> None:
    (found,) = in_file(model, LINE, fuzzy=fuzzy)
    assert found == 'a door <x id="8"/>&lt;and&gt; <g id="7">a key</g> .'


@pytest.mark.parametrize("fuzzy", [None, 0.7])
def test_other_codes_than_those_of_the_memory_all_come_back(model: Path, fuzzy: float | None) -> None:
    lines = ['la <g id="7">llave &amp; la</g> puerta .', '<g id="1">el <x id="2"/>zorbo</g>', " el zorbo "]
    one, two, three = in_file(model, *lines, fuzzy=fuzzy)
    for found, line in ((one, lines[0]), (two, lines[1])):
        codes = [sorted(code.markup for code in segment_in(text).codes) for text in (found, line)]
        assert codes[0] == codes[1]
    assert "".join(segment_in(two).text.split()) == "theblorp&co"
    assert three == " the blorp &amp; co "


def test_sentences_of_a_line_come_back_as_the_format_has_them(model: Path) -> None:
    (found,) = in_file(model, "La puerta está aquí. el zorbo", fuzzy=0.7)
    assert found.endswith(" the blorp &amp; co")
    (text,) = camber.load(model).translate(["La puerta está aquí. el zorbo"], ONE, fuzzy=0.7)
    assert text.endswith(" the blorp & co")


def test_a_line_of_which_each_sentence_is_remembered_is_not_taken_for_one_that_is_like_it(model: Path) -> None:
    (text,) = camber.load(model).translate(["la llave & la puerta . El zorbo"], ONE, fuzzy=0.6)
    assert text.startswith("a door <and> a key . ")


def test_tags_of_a_plain_line_come_back_too(model: Path) -> None:
    translator = camber.load(model)
    (text,) = translator.translate(["el <b>zorbo</b>"], ONE)
    assert sorted(code.markup for code in segment_in(text, "text").codes) == ["</b>", "<b>"]
    assert segment_in(text, "text").text == "the blorp & co"
    assert translator.translate(["el zorbo"], ONE) == ["the blorp & co"]


@pytest.mark.parametrize("fuzzy", [None, 0.7])
def test_marks_of_a_plain_line_come_back_too(model: Path, fuzzy: float | None) -> None:
    translator = camber.load(model)
    bullet, heading, emphasis, cells = translator.translate(
        ["* el zorbo", "# El zorbo", "el *zorbo*", "| el zorbo | hola |"], ONE, fuzzy=fuzzy
    )
    assert (bullet, heading) == ("* the blorp & co", "# the blorp & co")
    assert emphasis.count("*") == 2
    assert emphasis.replace("*", "") == "the blorp & co"
    assert cells.startswith("| the blorp & co | ")
    assert cells.endswith(" |")


def test_an_item_that_was_added_with_its_bullet_comes_back_letter_by_letter(model: Path, tmp_path: Path) -> None:
    path = shutil.copytree(model, tmp_path / "m")
    translator = camber.add(path, ["* abre  la puerta"], ["- open *the*  door"])
    for fuzzy in (None, 0.7, 1.0):
        assert translator.translate(["* abre  la puerta"], ONE, fuzzy=fuzzy) == ["- open *the*  door"]


def test_what_was_added_with_its_tags_comes_back_letter_by_letter(model: Path, tmp_path: Path) -> None:
    path = shutil.copytree(model, tmp_path / "m")
    pair = 'abre <b id="1">la  puerta</b>', '<b id="1">open</b>  the <i>door</i>'
    assert camber.add(path, [pair[0]], [pair[1]]).translate([pair[0]], ONE) == [pair[1]]


PO = r"""msgid ""
msgstr "Language: en\n"

msgid ""
"la llave:\n"
"  {name} la puerta\n"
msgstr ""
"blorp\n"
"\n"
"  a {name} zorb\n"

msgid ""
"el zorbo\n"
"la puerta {name}"
msgstr "the plain one {name}"
"""


def test_a_message_of_several_lines_comes_back_with_lines_of_its_own(model: Path, tmp_path: Path) -> None:
    path, messages = Path(shutil.copytree(model, tmp_path / "m")), tmp_path / "a.po"
    messages.write_text(PO, "utf-8")
    run("--quiet", "add", path, messages)
    data, report = translate_data(camber.load(path), PO.encode(), "a.po", everything=True, engine=ONE)
    assert report.translated == 2
    first, second = (entry.msgstr for entry in polib.pofile(data.decode()))
    assert first == "blorp\n\n  a {name} zorb\n"
    assert second == "the plain one {name}"
    unit = '<xliff version="2.0" srcLang="es" trgLang="en"><file xml:space="preserve"><unit><segment><source>{}'
    unit += "</source>{}</segment></unit></file></xliff>"
    newer = tmp_path / "a.xlf"
    newer.write_text(unit.format("la {x} llave\n y <ph id='1'/>", "<target>zorb\n\n{x} <ph id='1'/></target>"))
    run("--quiet", "add", path, newer)
    asked = unit.format("la {x} llave\n y <ph id='7'/>", "").encode()
    found, _ = translate_data(camber.load(path), asked, "a.xlf", engine=ONE)
    assert b"<target>zorb\n\n{x} <ph id='7'/></target>" in found


def test_a_line_with_codes_and_what_is_protected_comes_back(model: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(model, tmp_path / "m"))
    memory = tmx(
        tmp_path, tuv("es", "la <ph x='1'>b</ph>{name} &amp; 17") + tuv("en", "17 <ph x='1'>b</ph>zorb {name}")
    )
    run("--quiet", "add", path, memory)
    assert in_file(path, 'la <x id="3"/>{name} &amp; 17') == ['17 <x id="3"/>zorb {name}']
    assert in_file(path, 'la <x id="3"/>{name} &amp; 18') != ['17 <x id="3"/>zorb {name}']


def test_marks_and_remarks_of_a_file_do_not_hide_what_is_remembered(model: Path, tmp_path: Path) -> None:
    path, memory = Path(shutil.copytree(model, tmp_path / "m")), tmp_path / "a.xlf"
    unit = '<trans-unit id="1"><source>{}</source><target state="final">{}</target></trans-unit>'
    pairs = [
        ('La <mrk mtype="term">llave</mrk> 7. <x id="2"/>No!', '<mrk mtype="term">zorb</mrk> 7. <x id="2"/>Blorp!'),
        ("El <!-- a --> zorbo {x}", "the {x} blorp"),
        ("<?y z?>la puerta 9", "9 zorbs"),
    ]
    memory.write_text(XLIFF.format("".join(unit.format(*pair) for pair in pairs)))
    run("--quiet", "add", path, memory)
    assert in_file(path, *(source for source, _ in pairs)) == [target for _, target in pairs]


def test_the_command_shows_matches_with_their_codes(model: Path) -> None:
    out = run("match", model, "--format", "xliff-inline", text=LINE + "\n")
    assert " 100 % " in out
    assert '&lt;and&gt; <bpt i="1" x="1">{b}</bpt>a key' in out
    assert "Anna" in out
    (match,) = json.loads(run("match", model, "--format", "xliff-inline", "--json", text=LINE))["matches"]
    assert match["target"] == "a door <and> a key ."
    assert segment_in(match["coded"]["source"]).codes[0] == Code("open", "1", '<bpt i="1" x="1">{b}</bpt>')
    assert run("match", model, "--tsv", text="el zorbo\n").split("\t")[3:] == ["el zorbo", "the blorp & co\n"]


def test_the_journal_has_codes_only_where_there_are_some(model: Path, tmp_path: Path) -> None:
    first, second = Journal.read(model).calls[0].pairs
    assert first.coded == (first.coded_source, first.coded_target)
    assert first.coded_source.startswith('la <bpt i="1" x="1">')
    assert second.coded is None
    path = Path(shutil.copytree(model, tmp_path / "m"))
    camber.add(path, ["hola"], ["hi"])
    heads = [json.loads(file.read_text("utf-8").split("\n")[0]) for file in sorted(path.glob(f"added/*/{PAIRS}"))]
    assert [head["format"] for head in heads] == [CODED, FORMAT]


def test_a_model_trained_on_a_memory_keeps_its_codes(tmp_path: Path, hotel_files: Path) -> None:
    lines = zip(
        *((hotel_files / f"dev.{side}").read_text("utf-8").splitlines()[:9] for side in ("es", "en")), strict=True
    )
    write_lines(tmp_path / "more.tsv", ["es\ten", *("\t".join(pair) for pair in lines)])
    memory = tmx(tmp_path, *MEMORY)
    folder = tmp_path / "imported"
    folder.mkdir()
    import_corpora([Corpus(tmp_path / "more.tsv"), Corpus(memory)], "es", "en", folder)
    coded = read_coded(folder)
    assert list(coded) == [9]
    assert len((folder / CODED_FILE).read_text("utf-8").split("\n")) == 12
    settings = {"text": {"source_lang": "es", "target_lang": "en"}, "lm": {"order": 2}, "align": {"model": "quick"}}
    camber.train(
        model=tmp_path / "m",
        corpus=[tmp_path / "more.tsv", memory],
        held_out=0,
        tuned=False,
        settings=TrainSettings.from_dict(settings),
        engine=ONE,
    )
    translator = camber.load(tmp_path / "m")
    assert translator.matches(LINE, format="xliff-inline")[0].coded == coded[9]
    assert in_file(tmp_path / "m", LINE, fuzzy=1.0) == ['a door <x id="8"/>&lt;and&gt; <g id="7">a key</g> .']
