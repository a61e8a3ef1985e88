"""XLIFF of all versions: states, segments, codes, directions."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.test_bilingual_tmx import read, texts

from camber.errors import InputError
from camber.formats.bilingual.unit import CONFIRMED, NEW, REVIEW, TRANSLATED, reason_to_skip


def older(folder: Path, *units: str, languages: str = 'source-language="en" target-language="fr"') -> Path:
    path = folder / "manual.xliff"
    path.write_text(
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
        f'<file original="a" {languages} datatype="x"><body>{"".join(units)}</body></file></xliff>'
    )
    return path


def newer(folder: Path, *units: str, languages: str = 'srcLang="en" trgLang="fr"') -> Path:
    path = folder / "manual.xlf"
    path.write_text(
        f'<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" {languages}>'
        f'<file id="f">{"".join(units)}</file></xliff>'
    )
    return path


@pytest.mark.parametrize(
    ("unit", "target", "state"),
    [
        ("", "<target>x</target>", TRANSLATED),
        ('approved="yes"', "<target>x</target>", CONFIRMED),
        ("", '<target state="final">x</target>', CONFIRMED),
        ("", '<target state="translated">x</target>', TRANSLATED),
        ('approved="yes"', '<target state="needs-review-translation">x</target>', REVIEW),
        ("", '<target state="needs-adaptation">x</target>', REVIEW),
        ("", '<target state-qualifier="leveraged-mt">x</target>', REVIEW),
        ("", '<target state="translated" state-qualifier="leveraged-mt">x</target>', TRANSLATED),
        ("", '<target state="new">a</target>', NEW),
        ("", '<target state="needs-translation">a</target>', NEW),
        ("", "<target/>", NEW),
        ("", "", NEW),
    ],
)
def test_states_are_known(tmp_path: Path, unit: str, target: str, state: str) -> None:
    units, _ = read(older(tmp_path, f'<trans-unit id="1" {unit}><source>a</source>{target}</trans-unit>'))
    assert [unit.state for unit in units] == [state]
    assert bool(reason_to_skip(units[0])) == (state in (NEW, REVIEW))
    assert bool(reason_to_skip(units[0], unconfirmed=True)) == (state == NEW)


@pytest.mark.parametrize(
    ("attributes", "state"),
    [("", TRANSLATED), ('state="initial"', REVIEW), ('state="translated"', TRANSLATED), ('state="reviewed"', CONFIRMED),
     ('state="final"', CONFIRMED)],
)  # fmt: skip
def test_states_of_newer_files_are_known(tmp_path: Path, attributes: str, state: str) -> None:
    segment = f"<segment {attributes}><source>a</source><target>x</target></segment>"
    units, _ = read(newer(tmp_path, f'<unit id="1">{segment}<ignorable><source> </source></ignorable></unit>'))
    assert [(unit.name, unit.state) for unit in units] == [("1", state)]


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE xliff PUBLIC "-//XLIFF//DTD XLIFF//EN" "http://www.oasis-open.org/x.dtd"><xliff version="1.0">',
        '<xliff version="1.1" xmlns="urn:oasis:names:tc:xliff:document:1.1">',
        '<x:xliff version="1.2" xmlns:x="urn:oasis:names:tc:xliff:document:1.2" xmlns="urn:x">',
        "<xliff>",
    ],
)
def test_all_older_versions_are_read(tmp_path: Path, before: str) -> None:
    path = older(tmp_path, "<trans-unit id='1'><source>a</source><target>x</target></trans-unit>")
    text = before + path.read_text().partition(">")[2]
    path.write_text(text.replace("</xliff>", "</x:xliff>") if "<x:" in before else text)
    assert texts(read(path)[0]) == [("a", "x")]


def test_our_own_translations_wait_for_review(tmp_path: Path) -> None:
    segment = '<segment state="translated" subState="camber:mt"><source>a</source><target>x</target></segment>'
    assert [unit.state for unit in read(newer(tmp_path, f"<unit id='1'>{segment}</unit>"))[0]] == [REVIEW]


def test_proposals_are_ignored(tmp_path: Path) -> None:
    unit = "<source>a</source><target>x</target><alt-trans><source>b</source><target>y</target></alt-trans>"
    units, tally = read(older(tmp_path, f"<trans-unit id='1'>{unit}</trans-unit>"))
    assert texts(units) == [("a", "x")]
    assert tally.handled == {"proposals (alt-trans) ignored": 1}


def test_what_is_not_to_be_translated_is_known_from_what_is_around_it(tmp_path: Path) -> None:
    inside = "<trans-unit id='1'><source>a</source></trans-unit>"
    inside += "<trans-unit id='2' translate='yes'><source>b</source></trans-unit>"
    units, _ = read(older(tmp_path, f"<group translate='no'>{inside}</group>"))
    assert [unit.translate for unit in units] == [False, True]


def test_segments_of_sdl_are_units_of_their_own(tmp_path: Path) -> None:
    unit = """<trans-unit id="t"><source>One. <g id="9">Two.</g> Three.</source>
<seg-source><mrk mtype="seg" mid="1">One.</mrk> <g id="9"><mrk mtype="seg" mid="2">Two<x id="4"/>.</mrk></g>
<mrk mtype="seg" mid="3">Three.</mrk></seg-source>
<target><mrk mtype="seg" mid="2">Deux<x id="4"/>.</mrk> <mrk mtype="seg" mid="1">Un.</mrk>
<mrk mtype="seg" mid="3"/></target>
<sdl:seg-defs xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"><sdl:seg id="1" conf="ApprovedTranslation"/>
<sdl:seg id="2" conf="Draft" origin="mt"/></sdl:seg-defs></trans-unit>"""
    units, tally = read(older(tmp_path, unit))
    assert texts(units) == [("One.", "Un."), ("Two.", "Deux."), ("Three.", None)]
    assert [unit.state for unit in units] == [CONFIRMED, REVIEW, NEW]
    assert tally.handled == {"units in several segments (seg-source)": 1}


def test_codes_of_both_versions_are_known(tmp_path: Path) -> None:
    source = '<g id="1">a</g><x id="2"/>b <bx id="3" rid="7"/>c<ex id="4" rid="7"/> <mrk mtype="term">d</mrk>'
    units, _ = read(older(tmp_path, f"<trans-unit id='1'><source>{source}</source></trans-unit>"))
    assert units[0].source.text == "a bc d".replace("bc", "b c")
    assert [code.number for code in units[0].source.codes] == ["1", "1", "2", "7", "7", "", ""]
    source = '<pc id="1">a</pc><ph id="2"/>, <sc id="3"/>c<ec startRef="3"/><cp hex="0001"/>'
    units, _ = read(newer(tmp_path, f"<unit id='1'><segment><source>{source}</source></segment></unit>"))
    assert units[0].source.text == "a, c"
    assert [code.number for code in units[0].source.codes] == ["1", "1", "2", "3", "3", ""]


def test_a_file_of_the_other_direction_is_turned_and_one_of_other_languages_left_out(tmp_path: Path) -> None:
    unit = "<trans-unit id='1'><source>a</source><target>x</target></trans-unit>"
    path = older(tmp_path, unit, languages='source-language="fr" target-language="en-GB"')
    assert texts(read(path)[0]) == [("x", "a")]
    path = older(tmp_path, unit, languages='source-language="de" target-language="en"')
    units, tally = read(path)
    assert units == []
    assert tally.skipped == {"from de to en": 1}
    path = older(tmp_path, unit, languages='source-language="en"')
    assert texts(read(path)[0]) == [("a", "x")]


def test_a_unit_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"manual\.xliff:1: a trans-unit without a source"):
        read(older(tmp_path, "<trans-unit id='1'><target>x</target></trans-unit>"))
