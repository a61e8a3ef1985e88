"""Every file of other tools that we have: read, and with which result; or refused, and why."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import polib
import pytest
from formats.test_bilingual_tmx import read

from camber.errors import InputError
from camber.files import read_bytes
from camber.formats.bilingual.files import files_in, format_of, head_of
from camber.formats.bilingual.po import decoded
from camber.formats.bilingual.unit import FUZZY, OBSOLETE, one_line, reason_to_skip

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "tm-files"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="no folder of shared data beside the project")

#: file → source and target, format, how many pairs there are, and why others are none
READ: dict[str, tuple[str, str, str, int, dict[str, int]]] = {
    "LICENCE.txt": ("en", "fr", "plain", 0, {"not translated": 1}),
    "glossary-csv/f_en-de_DE.csv": ("en", "de", "table", 306, {}),
    "glossary-csv/f_en-fr_XX.csv": ("en", "fr", "table", 306, {}),
    "glossary-csv/f_en-ja_XX.csv": ("en", "ja", "table", 306, {}),
    "omegat/autotmx/auto1.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/autotmx/auto14.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/autotmx/project1.tmx": ("en", "fr", "tmx", 0, {}),
    "omegat/editor/sort/numeric-sort-demo.xliff": ("de", "en", "xliff", 114, {}),
    "omegat/enforcetmx/alternative.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/enforcetmx/alternative14.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/enforcetmx/enforce1.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/enforcetmx/enforce14.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/enforcetmx/project1.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/filters/po/file-POFilter-Monolingual.po": ("en", "fr", "po", 2, {}),
    "omegat/filters/po/file-POFilter-be-expected.po": ("en", "fr", "po", 994, {"obsolete": 36}),
    "omegat/filters/po/file-POFilter-be-utf8.po": (
        "en",
        "fr",
        "po",
        885,
        {"fuzzy": 52, "not translated": 56, "obsolete": 36},
    ),
    "omegat/filters/po/file-POFilter-be.po": (
        "en",
        "fr",
        "po",
        885,
        {"fuzzy": 52, "not translated": 56, "obsolete": 36},
    ),
    "omegat/filters/po/file-POFilter-fuzzyCtx-expected.po": ("en", "be", "po", 2, {}),
    "omegat/filters/po/file-POFilter-fuzzyCtx-plural.po": ("en", "be", "po", 2, {}),
    "omegat/filters/po/file-POFilter-fuzzyCtx.po": ("en", "be", "po", 0, {"fuzzy": 2}),
    "omegat/filters/po/file-POFilter-match-stat-en-ca.po": ("en", "ca", "po", 0, {"not translated": 107}),
    "omegat/filters/po/file-POFilter-multilines.po": ("en", "fr", "po", 2, {"not translated": 1}),
    "omegat/filters/po/file-POFilter-multiple.po": ("en", "fr", "po", 3, {"fuzzy": 3, "not translated": 2}),
    "omegat/filters/po/file-POFilter-multiple2.po": ("en", "uk", "po", 4, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-SMP.xlf": ("en", "be", "xliff", 1, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-cdata-bugs418.xlf": ("en", "be", "xliff", 2, {"not translated": 2}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-properties.xlf": ("en", "be", "xliff", 2, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-statcount.xlf": ("en", "be", "xliff", 1, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-tags-optimization.xlf": ("en", "be", "xliff", 3, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter-tags.xlf": ("en", "be", "xliff", 10, {}),
    "omegat/filters/xliff/filters3/file-XLIFFFilter.xlf": ("en", "be", "xliff", 2, {"not translated": 4}),
    "omegat/filters/xliff/filters3/file-xliff-BUGS1221.xlf": ("de", "en", "xliff", 4, {"empty source": 3}),
    "omegat/filters/xliff/filters3/file-xliff-RFE1506-translated-expectation.xliff": (
        "en",
        "ja",
        "xliff",
        3,
        {"not translated": 1, "not confirmed": 1},
    ),
    "omegat/filters/xliff/filters3/file-xliff-RFE1506.xliff": (
        "en",
        "ja",
        "xliff",
        1,
        {"not translated": 2, "not confirmed": 2},
    ),
    "omegat/filters/xliff/filters4-xliff1/en-ca.xlf": ("en", "ca", "xliff", 3, {"not to be translated": 1}),
    "omegat/filters/xliff/filters4-xliff1/en-xx.xlf": (
        "en",
        "xx",
        "xliff",
        3,
        {"not translated": 4, "not to be translated": 1},
    ),
    "omegat/filters/xliff/filters4-xliff1/file-XLIFFFilter1-multiple-file-tag.xlf": (
        "en",
        "be",
        "xliff",
        0,
        {"not translated": 2},
    ),
    "omegat/filters/xliff/filters4-xliff2/ex.14.5.xlf": ("en", "pt", "xliff", 0, {"not translated": 2}),
    "omegat/filters/xliff/filters4-xliff2/ex.9.5.xlf": (
        "en",
        "fr",
        "xliff",
        1,
        {"not translated": 6, "not to be translated": 1},
    ),
    "omegat/mark/alternative.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/tmx/empty.tmx": ("en", "fr", "tmx", 0, {}),
    "omegat/tmx/en-US_en-GB_fr_sr.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/tmx/en-US_sr.tmx": ("en", "sr", "tmx", 1, {}),
    "omegat/tmx/en-ca.tmx": ("en", "ca", "tmx", 1, {}),
    "omegat/tmx/invalid.tmx": ("en", "be", "tmx", 0, {"empty source": 1}),
    "omegat/tmx/project_save.tmx": ("en", "fr", "tmx", 5, {}),
    "omegat/tmx/resegmenting.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/tmx/resegmenting11.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/tmx/segment_2.tmx": ("en", "ja", "tmx", 1, {}),
    "omegat/tmx/test-SMP.tmx": ("en", "be", "tmx", 1, {}),
    "omegat/tmx/test-level1.tmx": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/test-level2.tmx": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/test-level2.tmx.gz": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/test-match-stat-en-ca.tmx": ("en", "ca", "tmx", 259, {}),
    "omegat/tmx/test-match-stat-en-ca11.tmx": ("en", "ca", "tmx", 259, {}),
    "omegat/tmx/test-missingSource.tmx": ("en", "be", "tmx", 3, {"no text in the source language": 1}),
    "omegat/tmx/test-multiple-entries.tmx": ("en", "fr", "tmx", 0, {"no text in the target language": 4}),
    "omegat/tmx/test-multiple-entries11.tmx": ("en", "fr", "tmx", 0, {"no text in the target language": 4}),
    "omegat/tmx/test-multiple-tuv.tmx": ("en", "fr", "tmx", 2, {"no text in the target language": 1}),
    "omegat/tmx/test-multiple-tuv14.tmx": ("en", "fr", "tmx", 2, {"no text in the target language": 1}),
    "omegat/tmx/test-omegat-invalid.tmx": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/test-omegat.tmx": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/test-save-tmx14.tmx": ("en", "be", "tmx", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1A.tmx": ("en", "fr", "tmx", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1B.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1C.tmx": ("en", "fr", "tmx", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1D.tmx": ("en", "fr", "tmx", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1E.tmx": ("en", "fr", "tmx", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest1E.xlf": ("en", "fr", "xliff", 4, {}),
    "omegat/tmx/TMXComplianceKit/ExportTest2A.tmx": ("en", "fr", "tmx", 6, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1A.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1B.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1C.tmx": ("en", "fr", "tmx", 6, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1D.tmx": ("en-US", "en-GB", "tmx", 3, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1E.tmx": ("en-US", "en-GB", "tmx", 3, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1F.tmx": ("en-US", "en-GB", "tmx", 3, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1G.tmx": ("en-US", "en-GB", "tmx", 3, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1H.tmx": ("en-US", "en-GB", "tmx", 3, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1I.tmx": ("en", "ja", "tmx", 1, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1J.tmx": ("en-US", "en-GB", "tmx", 2, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest1J_many.tmx": (
        "en-US",
        "en-GB",
        "tmx",
        2,
        {"no text in the target language": 1},
    ),
    "omegat/tmx/TMXComplianceKit/ImportTest1K.tmx": ("en", "fr", "tmx", 1, {"no text in the target language": 1}),
    "omegat/tmx/TMXComplianceKit/ImportTest1L.tmx": ("en", "fr", "tmx", 2, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest2A-0index.tmx": ("en", "fr", "tmx", 7, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest2A.tmx": ("en", "fr", "tmx", 7, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest2B.tmx": ("en", "fr", "tmx", 7, {}),
    "omegat/tmx/TMXComplianceKit/ImportTest2C.tmx": ("en", "fr", "tmx", 4, {}),
    "omegat/tmx/mt/mt1.tmx": ("en", "fr", "tmx", 1, {}),
    "omegat/tmx/penalty-010/segment_1.tmx": ("en", "fr", "tmx", 0, {"no text in the source language": 1}),
    "po/python-docs-fr/faq_general.po": ("en", "fr", "po", 80, {"fuzzy": 7, "not translated": 10, "obsolete": 4}),
    "po/python-docs-fr/glossary.po": ("en", "fr", "po", 309, {"fuzzy": 37, "not translated": 30, "obsolete": 16}),
    "po/python-docs-fr/howto_unicode.po": ("en", "fr", "po", 119, {"fuzzy": 2}),
    "po/python-docs-fr/library_functions.po": (
        "en",
        "fr",
        "po",
        379,
        {"not translated": 37, "fuzzy": 42, "obsolete": 46},
    ),
    "po/python-docs-fr/tutorial_introduction.po": ("en", "fr", "po", 71, {"not translated": 5, "obsolete": 4}),
    "tmx/tico19/all.en-ckb.tmx": ("en", "ckb", "tmx", 3071, {}),
    "tmx/tico19/all.en-fr.tmx": ("en", "fr", "tmx", 3071, {}),
    "tmx/tico19/all.en-hi.tmx": ("en", "hi", "tmx", 3071, {}),
    "tmx/tico19/all.en-zh.tmx": ("en", "zh", "tmx", 3071, {}),
}
#: file → why it is refused
REFUSED = {
    "omegat/filters/xliff/filters3/file-XLIFFFilter-invalid-content.xlf": (
        "7: not XML that can be read: PCDATA invalid Char value 8 (column 25)"
    ),
    "omegat/glossaries/sampleTBXfile.tbx": "a glossary (TBX), which has no sentences",
    "omegat/tmx/TMXComplianceKit/ExportTest1D.po": "11: not the utf-8 that it should be (byte 0xe9)",
    "omegat/tmx/TMXComplianceKit/ExportTest1D_fr.po": "11: not the utf-8 that it should be (byte 0xe9)",
}


def test_all_files_are_in_the_table() -> None:
    there = {path.relative_to(SHARED).as_posix() for path in SHARED.rglob("*") if path.is_file()}
    assert there == READ.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", READ)
def test_a_file_gives_what_the_table_says(name: str) -> None:
    source, target, format, pairs, others = READ[name]
    units, tally = read(SHARED / name, source, target)
    reasons = Counter(filter(None, map(reason_to_skip, units))) + tally.skipped
    assert (sum(not reason_to_skip(unit) for unit in units), reasons) == (pairs, others)
    assert tally.units == len(units)
    assert format_of(head_of(read_bytes(SHARED / name)[:65536], name)) == format


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_for_the_stated_reason(name: str) -> None:
    with pytest.raises(InputError) as error:
        read(SHARED / name, "en", "fr")
    assert REFUSED[name] in str(error.value)
    assert next(files_in(SHARED / name)).path in str(error.value)


def _flat(element: ET.Element) -> str:
    """Return the text outside of codes, without any white space."""
    text = element.text or ""
    for child in element:
        text += (_flat(child) if child.tag == "hi" else "") + (child.tail or "")
    return text


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ if READ[name][2] == "tmx"])
def test_memories_are_read_as_another_parser_reads_them(name: str) -> None:
    source, target, *_ = READ[name]
    units, _ = read(SHARED / name, source, target)
    found = {_tight(unit.source.text, unit.target.text) for unit in units if unit.target}
    every: set[tuple[str, ...]] = set()
    for unit in ET.fromstring(read_bytes(SHARED / name)).iter("tu"):
        texts: dict[str, list[str]] = {}
        for variant in unit.iter("tuv"):
            code = variant.get("{http://www.w3.org/XML/1998/namespace}lang") or variant.get("lang") or ""
            segment = variant.find("seg")
            assert segment is not None
            texts.setdefault(code.lower() if "-" in source else code.lower().split("-")[0], []).append(_flat(segment))
        wanted = {_tight(a, b) for a in texts.get(source.lower(), []) for b in texts.get(target.lower(), [])}
        assert not wanted or wanted & found
        every |= wanted
    if not name.endswith("ImportTest2C.tmx"):  # its texts inside of codes are units of their own
        assert found <= every


def _tight(*texts: str) -> tuple[str, ...]:
    return tuple("".join(text.split()) for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ if READ[name][2] == "po" and "multiple.po" not in name])
def test_messages_are_read_as_polib_reads_them(name: str, tmp_path: Path) -> None:
    text, _ = decoded(read_bytes(SHARED / name), name)
    path = tmp_path / "as-utf8.po"
    path.write_text(text.replace("\r\n", "\n").replace("\r", ""), "utf-8", newline="\n")
    wanted = [
        (
            one_line(entry.msgid),
            one_line(entry.msgstr),
            bool(entry.obsolete),
            "fuzzy" in entry.flags,
            entry.msgctxt or "",
        )
        for entry in polib.pofile(str(path), encoding="utf-8")
        if not entry.msgid_plural and entry.msgid
    ]
    units, _ = read(SHARED / name, *READ[name][:2])
    found = [
        (
            unit.source.text,
            unit.target.text if unit.target else "",
            unit.state == OBSOLETE,
            unit.state == FUZZY,
            unit.context,
        )
        for unit in units
    ]
    plural = {entry.msgid for entry in polib.pofile(str(path), encoding="utf-8") if entry.msgid_plural}
    plural |= {entry.msgid_plural for entry in polib.pofile(str(path), encoding="utf-8") if entry.msgid_plural}
    same = [item for item in found if item[0] not in {one_line(text) for text in plural}]
    assert Counter((item[0], item[1], item[2], item[4]) for item in same) == Counter(
        (item[0], item[1], item[2], item[4]) for item in wanted
    )
    assert Counter(item for item in same if item[1] and not item[2]) == Counter(
        item for item in wanted if item[1] and not item[2]
    )
