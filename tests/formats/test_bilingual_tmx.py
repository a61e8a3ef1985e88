"""Translation memories: languages, codes, what is apart, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from camber.errors import InputError
from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Tally, Unit, reason_to_skip


def read(path: Path, source: str = "en", target: str = "fr") -> tuple[list[Unit], Tally]:
    tally = Tally()
    units = [unit for file in files_in(path) for unit in file.units(Languages(source, target), tally)]
    return units, tally


def tmx(folder: Path, *units: str, srclang: str = "en", before: str = "", version: str = "1.4") -> Path:
    path = folder / "memory.tmx"
    body = "\n".join(f"<tu>{unit}</tu>" for unit in units)
    path.write_text(
        f'<?xml version="1.0"?>{before}<tmx version="{version}"><header srclang="{srclang}"/><body>{body}</body></tmx>'
    )
    return path


def tuv(language: str, text: str, more: str = "") -> str:
    return f'<tuv xml:lang="{language}" {more}><seg>{text}</seg></tuv>'


def texts(units: list[Unit]) -> list[tuple[str, str | None]]:
    return [(unit.source.text, unit.target and unit.target.text) for unit in units]


def test_the_nearest_code_is_taken(tmp_path: Path) -> None:
    path = tmx(
        tmp_path,
        tuv("en-GB", "colour") + tuv("en-US", "color") + tuv("fr-CA", "x") + tuv("fr", "couleur"),
        tuv("EN_gb", "grey") + tuv("fr-CA", "gris"),
        tuv("eng", "red") + tuv("fra", "rouge"),
        tuv("de", "rot") + tuv("fr", "rouge"),
        tuv("en", "green") + tuv("de", "grün"),
    )
    units, tally = read(path, "en-US", "fr-FR")
    assert texts(units) == [("color", "couleur"), ("grey", "gris"), ("red", "rouge"), ("green", None)]
    assert tally.skipped == {"no text in the source language": 1}
    assert [reason_to_skip(unit) for unit in units] == ["", "", "", "no text in the target language"]
    assert tally.handled["texts of other languages ignored"] == 2


def test_variants_of_one_language_are_two_languages(tmp_path: Path) -> None:
    path = tmx(
        tmp_path,
        tuv("en-US", "color") + tuv("en-GB", "colour"),
        tuv("en-GB", "centre") + tuv("en", "center"),
        tuv("en-GB", "alone"),
    )
    units, _ = read(path, "en-US", "en-GB")
    assert texts(units) == [("color", "colour"), ("center", "centre"), ("alone", None)]


def test_each_of_several_texts_of_a_language_comes_with_one_of_the_other(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en", "a") + tuv("fr", "x") + tuv("fr", "y") + tuv("en", "b"))
    units, tally = read(path)
    assert texts(units) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert tally.handled == {"several texts of one language": 1}


@pytest.mark.parametrize("srclang", ["*all*", "de", "fr", ""])
def test_any_text_may_be_the_source(tmp_path: Path, srclang: str) -> None:
    path = tmx(tmp_path, tuv("fr", "x") + tuv("en", "a"), srclang=srclang)
    assert texts(read(path)[0]) == [("a", "x")]


def test_languages_of_old_files_have_another_attribute(tmp_path: Path) -> None:
    path = tmx(
        tmp_path, '<tuv lang="EN"><seg>a</seg></tuv><tuv lang="FR"><seg>x</seg></tuv>', version="1.1",
        before='<!DOCTYPE tmx SYSTEM "tmx11.dtd">',
    )  # fmt: skip
    assert texts(read(path)[0]) == [("a", "x")]


def test_highlighted_text_is_text_and_codes_are_not(tmp_path: Path) -> None:
    source = (
        'Press <bpt i="1">&lt;b></bpt><hi>Save</hi><ept i="1">&lt;/b></ept> or<ph x="2">{br}</ph>wait '
        '<it pos="begin">x</it>, <ut>y</ut>now'
    )
    units, _ = read(tmx(tmp_path, tuv("en", source) + tuv("fr", "z")))
    segment = units[0].source
    assert segment.text == "Press Save or wait, now"
    assert [(code.kind, code.number) for code in segment.codes] == [
        ("open", "1"), ("open", ""), ("close", ""), ("close", "1"), ("alone", "2"), ("alone", ""), ("alone", ""),
    ]  # fmt: skip
    marked = '<bpt i="1">&lt;b&gt;</bpt><hi>Save</hi><ept i="1">&lt;/b&gt;</ept>'
    assert segment.markup.startswith(f'Press {marked} or<ph x="2">{{br}}')


def test_texts_in_codes_are_apart(tmp_path: Path) -> None:
    source = 'See <ph>&lt;a title="<sub>the <hi>page</hi></sub>"></ph>here'
    path = tmx(
        tmp_path,
        tuv("en", source) + tuv("fr", 'Voir <ph>&lt;a title="<sub>la page</sub>"></ph>ici'),
        tuv("en", source) + tuv("fr", "Voir ici"),
    )
    units, tally = read(path)
    assert texts(units) == [("See here", "Voir ici"), ("the page", "la page"), ("See here", "Voir ici")]
    assert tally.handled == {"texts in codes (sub) taken apart": 1, "texts in codes (sub) without a counterpart": 1}


@pytest.mark.parametrize("blank", ["\n", "&#10;", "\t", "\r\n", "&#x2028;", "&#x85;", " \n\t "])
def test_a_segment_is_one_line(tmp_path: Path, blank: str) -> None:
    units, _ = read(tmx(tmp_path, tuv("en", f"{blank}a{blank}b ||| c{blank}") + tuv("fr", "a&#xa0;!")))
    assert texts(units) == [("a b ||| c", "a\u00a0!")]


def test_who_changed_a_text_and_when_is_known(tmp_path: Path) -> None:
    facts = 'creationid="A" creationdate="20200101T000000Z" changeid="B" changedate="20210101T000000Z"'
    units, _ = read(tmx(tmp_path, '<prop type="x-context">menu</prop>' + tuv("en", "a") + tuv("fr", "x", facts)))
    assert (units[0].author, units[0].date, units[0].context) == ("B", "20210101T000000Z", "menu")


def test_entities_of_the_file_are_put_in_and_none_cuts_a_text(tmp_path: Path) -> None:
    path = tmx(
        tmp_path, tuv("en", "Open &prod; now") + tuv("fr", "x"), before='<!DOCTYPE tmx [<!ENTITY prod "Camber">]>'
    )
    assert texts(read(path)[0]) == [("Open Camber now", "x")]


@pytest.mark.parametrize("place", ["tmx14.dtd", "http://127.0.0.1:9/tmx14.dtd", "file:///dev/zero"])
def test_no_other_file_is_opened(tmp_path: Path, place: str) -> None:
    (tmp_path / "tmx14.dtd").write_text('<!ENTITY prod "Camber"><!ATTLIST seg x CDATA "y">')
    before = f'<!DOCTYPE tmx SYSTEM "{place}">'
    assert texts(read(tmx(tmp_path, tuv("en", "a") + tuv("fr", "x"), before=before))[0]) == [("a", "x")]
    with pytest.raises(InputError, match=r"prod.* not defined"):
        read(tmx(tmp_path, tuv("en", "a &prod;") + tuv("fr", "x"), before=before))


_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (f'<!DOCTYPE tmx [<!ENTITY l0 "ha">{_LAUGHS}]>', "&l9;"),
        ('<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/hostname">]>', "&x;"),
        ('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', "Open &prod; now"),
        ("", "<g>" * 5000 + "</g>" * 5000),
        ("", "a</seg>"),
        ("", "&#8;"),
    ],
    ids=["bomb", "external", "undefined", "deep", "mismatch", "control"],
)
def test_what_is_no_xml_or_would_explode_is_refused_with_line_and_column(
    tmp_path: Path, before: str, text: str
) -> None:
    with pytest.raises(InputError, match=r"memory\.tmx:1: .*\(column \d+\)"):
        read(tmx(tmp_path, tuv("en", text) + tuv("fr", "x"), before=before))


def test_languages_must_be_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several languages"):
        read(tmx(tmp_path, tuv("en", "a") + tuv("fr", "x")), "en", "")


def test_a_long_memory_is_forgotten_as_it_is_read(tmp_path: Path) -> None:
    import resource

    path = tmx(tmp_path, *[tuv("en", f"sentence {n}" * 20) + tuv("fr", "x" * 200) for n in range(20)])
    once = path.read_text()
    first, rest = once.index("<tu>"), once.index("</body>")
    path.write_text(once[:first] + once[first:rest] * 2500 + once[rest:])
    assert path.stat().st_size > 20_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = sum(1 for file in files_in(path) for _ in file.units(Languages("en", "fr"), Tally()))
    assert count == 50_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # KB
