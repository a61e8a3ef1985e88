"""Glossaries as people have them, and files that are none."""

import csv
import itertools
from pathlib import Path

import pytest

import camber
from camber.errors import InputError
from camber.formats.glossary.glossary import Entry, Glossary, same_language


def read(tmp_path, content, name="terms.csv", source="fr", target="en"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Glossary.read(path, source, target).entries


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("maison,home\n", "terms.csv"),
        ("maison;home\r\n", "terms.csv"),
        ("\ufeffmaison\thome\n\n", "terms.tsv"),
        ("maison\thome\t\n", "terms.txt"),
        ('"maison","home"\n', "terms.csv"),
        ("source,target\nmaison,home\n", "terms.csv"),
        ("Target Term,Comment,Source Term\nhome,a house,maison\n", "terms.csv"),
        ("fr,en\nmaison,home\n", "terms.csv"),
        ("en-GB;fr\nhome;maison\n", "terms.csv"),
        ("maison,home,fr,en\nHaus,home,de,en\n", "terms.csv"),
        ("maison,home,FR,EN-US,2024\nhome,maison,EN,FR,2024\n", "terms.csv"),
        ("id,sourceLang,targetLang,sourceString,targetString\n1,fr,en_XX,maison,home\n", "terms.csv"),
    ],
)
def test_tables_of_many_makes_say_the_same(tmp_path, content, name):
    assert read(tmp_path, content, name) == (Entry("maison", ("home",)),)


def test_columns_and_lines_of_variants_are_all_allowed(tmp_path):
    wanted = (Entry("maison", ("home", "house", "building")),)
    assert read(tmp_path, "maison\thome\thouse\tbuilding\n", "terms.tsv") == wanted
    assert read(tmp_path, "maison\thome\thouse\nMaison\tbuilding\n", "terms.tsv") == wanted
    assert read(tmp_path, "source,target,variant,variant\nmaison,home,house,building\n") == wanted


def test_a_line_may_leave_out_variants_but_not_the_target(tmp_path):
    entries = read(tmp_path, "maison\thome\nbleu\tblue\tazure\n", "terms.tsv")
    assert [entry.targets for entry in entries] == [("home",), ("blue", "azure")]
    with pytest.raises(InputError, match=r"terms.tsv:2: 1 column, expected 3"):
        read(tmp_path, "bleu\tblue\tazure\nmaison\n", "terms.tsv")


def test_status_says_what_is_forbidden_and_what_is_kept(tmp_path):
    content = "source,target,status\nmaison,home,Approved\nmaison,house,deprecated\nCamber,,do not translate\n"
    assert read(tmp_path, content) == (Entry("maison", ("home",), ("house",)), Entry("Camber", kept=True))
    assert read(tmp_path, "Camber\nLinux\n") == (Entry("Camber", kept=True), Entry("Linux", kept=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("maison,home\nbleu\n", r"terms.csv:2: 1 column, expected 2"),
        ("maison,home\nbleu,blue,azure\n", r"terms.csv:2: 3 columns, expected 2"),
        ("maison,home\nbleu,\n", r"terms.csv:2: no target for 'bleu'"),
        ("maison,home\n,blue\n", r"terms.csv:2: a line without a source"),
        ('maison,home\n"bleu,blue\n', r"terms.csv:2: not a table"),
        ("a,b,c,d,e\n", r"terms.csv:1: 5 columns without a header"),
        ("source,target,status\na,b,approved\na,c,perhaps\n", r"terms.csv:3: the status 'perhaps' is not known"),
        ("", "the file is empty"),
        (b"maison,h\xffme\n", r"terms.csv:1: invalid UTF-8"),
        ("maison,h\0me\n", r"terms.csv:1: a NUL character"),
        ("maison,home,fr,de\n", "no entry from fr to en"),
        ("<martif><text/></martif>", "no entry from fr to en"),
        ("<glossary/>", r"terms.csv:1: the root element is glossary"),
        ("<martif>\n<text>\n</martif>", r"terms.csv:3: not XML that can be read: .*column"),
        ("<martif>" * 300, r"terms.csv:1: not XML that can be read: Excessive depth"),
    ],
)
def test_what_is_no_glossary_is_an_error_with_its_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


TBX = """<?xml version="1.0"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd" [<!ENTITY corp "Mai">]>
<martif type="TBX"><text><body>
<termEntry>
  <langSet xml:lang="fr"><tig><term>&corp;son</term></tig><tig><term>demeure</term></tig></langSet>
  <langSet xml:lang="en-US">
    <tig><term>home</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></tig>
    <ntig><termGrp><term>house</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></termGrp>
    </ntig>
  </langSet>
  <langSet xml:lang="de"><tig><term>Haus</term></tig></langSet>
</termEntry>
</body></text></martif>"""

TBX3 = """<tbx xmlns="urn:iso:std:iso:30042:ed-2" xmlns:b="http://www.tbxinfo.net/ns/basic">
<text><body><conceptEntry id="1">
<langSec xml:lang="fr"><termSec><term>Maison</term></termSec><termSec><term>demeure</term></termSec></langSec>
<langSec xml:lang="en"><termSec><term>home</term></termSec>
<termSec><term>house</term><b:administrativeStatus>forbidden</b:administrativeStatus></termSec></langSec>
</conceptEntry></body></text></tbx>"""


@pytest.mark.parametrize("content", [TBX, TBX3, "\ufeff" + TBX.replace('<?xml version="1.0"?>\n', "")])
def test_tbx_with_status_and_entities_of_its_own(tmp_path, content):
    assert read(tmp_path, content, "terms.tbx") == (
        Entry("Maison", ("home",), ("house",)),
        Entry("demeure", ("home",), ("house",)),
    )


def test_entities_that_grow_or_reach_for_other_files_are_refused(tmp_path):
    (tmp_path / "secret").write_text("secret")
    letters = "abcdefghijklm"
    bomb = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise(letters))
    for entities, text in (
        ('<!ENTITY a "aaaaaaaaaa">' + bomb, "&m;"),
        (f'<!ENTITY a SYSTEM "{(tmp_path / "secret").as_uri()}">', "&a;"),
        ("", "&a;"),
    ):
        with pytest.raises(InputError, match=r"terms.tbx:\d+: not XML that can be read"):
            read(tmp_path, TBX.replace('<!ENTITY corp "Mai">', entities).replace("&corp;", text), "terms.tbx")


def test_languages_are_the_same_with_or_without_a_country():
    assert same_language("EN-us", "en")
    assert same_language("fr_XX", "fr-CA")
    assert not same_language("pt-BR", "pt-PT")
    assert not same_language("de", "en")


def test_a_glossary_of_python():
    glossary = camber.Glossary.of({"maison": "home", "bleu": ["blue", "azure"], "Camber": None})
    assert [entry.targets for entry in glossary.entries] == [("home",), ("blue", "azure"), ()]


SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "tm-files"


@pytest.mark.skipif(not SHARED.is_dir(), reason="no folder of shared data beside the project")
@pytest.mark.parametrize("language", ["de_DE", "fr_XX", "ja_XX"])
def test_real_glossaries_are_read_whole(language):
    path = SHARED / "glossary-csv" / f"f_en-{language}.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    glossary = Glossary.read(path, "en", language[:2])
    assert {row["targetString"].strip() for row in rows} == {
        text for entry in glossary.entries for text in entry.targets
    }


def test_one_note_that_forbids_a_term_is_enough(tmp_path):
    notes = [f'<termNote type="status">{status}</termNote>' for status in ("deprecated", "preferred")]
    for both in (notes, notes[::-1]):
        content = TBX.replace("<tig><term>home</term>", "<tig><term>home</term>" + "".join(both))
        assert read(tmp_path, content, "terms.tbx")[0] == Entry("Maison", (), ("home", "house"))
