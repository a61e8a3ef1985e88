"""Files that say much in few bytes: each is refused with its line, or read in room that it has earned."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from adversary.bounds import bounded, run_alone
from adversary.readers import READERS

from camber.errors import CamberError, InputError, SettingsError
from camber.files import RATIO_VARIABLE, most_unpacked, read_bytes
from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Tally
from camber.formats.cdec.grammars import read_cdec_grammar
from camber.formats.documents.files import open_document
from camber.formats.glossary.glossary import Glossary
from camber.formats.moses.phrase_table import read_moses
from camber.nbest import NBest
from camber.pipeline.convert_cdec import convert_cdec
from camber.pipeline.convert_moses import convert_moses
from camber.settings import Settings

DIGITS = "9" * 5000
DEEP = "[" * 100_000

CASES = [
    ("arpa", f"\\data\\\nngram {DIGITS}=1\n", 2, "too large"),
    ("arpa", f"\\data\\\nngram 1={DIGITS}\n", 2, "too large"),
    ("arpa", "\\data\\\n" + "".join(f"ngram {n}=0\n" for n in range(1, 100)).replace("=0", "=1", 1), 66, "64"),
    ("cdec grammar", f"[X] ||| a ||| b ||| F=1 ||| {DIGITS}-0\n", 1, "inside the rule"),
    ("n-best moses", f"{DIGITS} ||| a ||| x= 1\n", 1, "too large"),
    ("n-best fairseq", f"H-{DIGITS}\t-1\ta\n", 1, "too large"),
    ("n-best jsonl", f'{{"sentence": {DIGITS}, "text": "a"}}\n', 1, "digits"),
    ("n-best jsonl", f'{{"sentence": 0, "text": "a", "score": {"9" * 400}}}\n', 1, "too large"),
    ("n-best jsonl", f'{{"sentence": 0, "text": "a", "features": {DEEP}\n', 1, "in each other"),
    ("n-best jsonl", '{"sentence": 0, "text": "a", "kinds": {"p": {"kind": "count", "least": 1e9}}}\n', 1, "least"),
    ("n-best jsonl", '{"sentence": 0, "text": "a", "alignment": "\\ud800"}\n', 1, "expected a str"),
    ("n-best tsv", f"sentence\ttext\n{DIGITS}\ta\n", 2, "too large"),
    ("settings", f"[lm]\norder = {DIGITS}\n", 2, "at most"),
    ("settings", f"[lm]\nx = {'[' * 900}\n", 2, ""),
    ("truecaser", f"a\tA\t{DIGITS}\n", 1, "counts"),
    ("moses.ini", '[feature]\nKENLM path="lm\n', 2, "No closing quotation"),
    ("moses.ini", "[feature]\nKENLM path=" + "x" * 1_000_000 + "\n", 2, "too long"),
    ("moses.ini", "[feature]\nKENLM\n[weight]\nKENLM0= nan\n", 4, "Name= number"),
    ("gold", f"{DIGITS} 1 1 S\n", 1, "too large"),
    ("gold", f"0-{DIGITS}\n", 1, "too large"),
    ("gold", "1 1 1 S\n99999999 1 1 S\n", 2, "too large"),
    ("bins", READERS["bins"].seeds[0].replace("\t12", "\t" + DIGITS), 5, "population"),
    ("bins", READERS["bins"].seeds[0].replace("0.75", "nan"), 5, "must rise"),
    ("bins", READERS["bins"].seeds[0].replace("\t3\n", "\t-3\n"), 5, "negative"),
    ("n-best moses", "99999999 ||| a ||| x= 1\n", 1, "too large"),
    ("n-best fairseq", "H-99999999\t-1\ta\n", 1, "too large"),
    ("n-best jsonl", '{"sentence": 99999999, "text": "a"}\n', 1, "too large"),
    ("phrase table", "a ||| b ||| 1 1 1 1 ||| ||| 3e9 1 1\n", 1, "not a count"),
    ("phrase table", "a ||| b ||| 1 1 1 1 ||| ||| 1 1 -1\n", 1, "not a count"),
    ("phrase table", "a ||| b ||| 1 1 1 1 ||| ||| 1e400 1 1\n", 1, "not a count"),
]


@pytest.mark.parametrize(("name", "text", "line", "told"), CASES)
def test_what_no_array_can_hold_is_refused_with_file_and_line(
    tmp_path: Path, name: str, text: str, line: int, told: str
) -> None:
    path = tmp_path / READERS[name].file
    path.write_text(text)
    with bounded(len(text)), pytest.raises(InputError) as error:
        READERS[name].read(path)
    assert error.value.path == str(path)
    if error.value.line is None:  # TOML's parser says it in its own words
        assert f"line {line}" in str(error.value)
    else:
        assert error.value.line == line
    assert told in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n-best moses", "4999999 ||| a ||| x= 1\n"),
        ("n-best fairseq", "S-4999999\tx\nH-4999999\t-1\ta\n"),
        ("n-best tsv", "sentence\ttext\n4999999\ta\n"),
        ("n-best jsonl", '{"sentence": 4999999, "text": "a", "source_text": "x", "target_text": "y"}\n'),
        ("gold", "2000000 1 1 S\n"),
    ],
)
def test_large_numbers_cost_no_more_than_a_list_of_zeros(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "input").write_text(text)
    with bounded(len(text)):
        found = READERS[name].read(tmp_path / "input")
    assert len(found) > 1_000_000  # sentences, all but one of which have nothing


def test_a_table_of_very_many_columns_is_read(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(100_000)]
    (tmp_path / "list.tsv").write_text("\t".join(["sentence", "text", *names]) + "\n0\ta" + "\t1" * len(names) + "\n")
    printed, _ = run_alone(
        f"print(len(NBest.read({str(tmp_path / 'list.tsv')!r}).names))",
        warm="from camber.nbest import NBest\nimport camber.nbest.tsv\n",
    )
    assert int(printed) == len(names)


def test_settings_of_very_long_keys_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "input").write_text(".".join(["a"] * 100_000) + " = 1\n")
    with bounded(200_000), pytest.raises(InputError, match="more than settings"):
        READERS["settings"].read(tmp_path / "input")


def test_rules_with_a_feature_each_are_refused_before_there_is_a_table(tmp_path: Path) -> None:
    text = "".join(f"[X] ||| a{n} ||| b ||| f{n}=1\n" for n in range(20_000))
    (tmp_path / "grammar").write_text(text)
    with bounded(len(text)), pytest.raises(CamberError, match=r"3\.2 GB"):
        read_cdec_grammar(tmp_path / "grammar")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("n-best moses", "{0} ||| a ||| f{0}= 1\n"),
        ("n-best jsonl", '{{"sentence": {0}, "text": "a", "features": {{"f{0}": 1}}}}\n'),
        ("cdec grammar", "[X] ||| a ||| b ||| f{0}=1\n"),
    ],
)
def test_what_few_lines_may_take_depends_on_their_size(tmp_path: Path, name: str, line: str) -> None:
    for count, good in ((4_000, True), (9_000, False)):  # tables of 128 and 648 MB, of nothing but NaN
        text = "".join(map(line.format, range(count)))
        (tmp_path / "input").write_text(text)
        with bounded(len(text)):
            try:
                READERS[name].read(tmp_path / "input")
            except CamberError as error:
                assert (good, "0.6 GB" in str(error)) == (False, True)  # noqa: PT017
            else:
                assert good


def test_messages_are_short_however_long_lines_are(tmp_path: Path) -> None:
    for name, text in (
        ("cdec weights", f"LM {DIGITS}x\n"),
        ("cdec grammar", f"[X] ||| a ||| b ||| F={DIGITS}\n"),
        ("pharaoh", f"{DIGITS}-0\n"),
        ("n-best moses", f"0 ||| a ||| x= {DIGITS}x\n"),
        ("glue grammar", DIGITS),
        ("rule table", DIGITS + "\n"),
    ):
        (tmp_path / "input").write_text(text)
        with pytest.raises(InputError) as error:
            READERS[name].read(tmp_path / "input")
        assert error.value.line == 1
        assert len(str(error.value)) < 1000, name


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "/", "a\0b", ""])
def test_names_that_no_file_can_have_are_those_of_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "moses.ini").write_text(
        f"[feature]\nPhraseDictionaryMemory name=TM path={name}\n[weight]\nTM= 1 1 1 1\n"
    )
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\nweights={name}\ngrammar={name}\n")
    for convert, ini in ((convert_moses, "moses.ini"), (convert_cdec, "cdec.ini")):
        with pytest.raises(CamberError) as error:
            convert(tmp_path / ini, tmp_path / "model")
        assert len(str(error.value)) < 1000


def bomb(path: Path, size: int) -> None:
    """Write a gzip file that holds so many bytes: lines of blanks."""
    with gzip.open(path, "wb", compresslevel=9) as stream:
        for _ in range(size // 1_000_000):
            stream.write((b" " * 999 + b"\n") * 1000)


def test_a_small_gzip_file_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.gz"
    bomb(path, 300_000_000)
    assert path.stat().st_size < 1_000_000
    with bounded(path.stat().st_size, 10), pytest.raises(InputError, match="--gzip-ratio"):
        read_bytes(path)
    with bounded(path.stat().st_size, 10), pytest.raises(InputError, match="--gzip-ratio"):
        NBest.read(path)
    monkeypatch.setenv(RATIO_VARIABLE, "1e6")
    assert len(read_bytes(path)) == 300_000_000
    monkeypatch.setenv(RATIO_VARIABLE, "much")
    with pytest.raises(SettingsError, match="expected a number"):
        most_unpacked(1)


def test_an_archive_holds_no_more_than_another_packed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camber.files.FREE_BYTES", 1_000_000)
    path = tmp_path / "memory.zip"
    for members, good in ((2, True), (4, False)):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(members):
                archive.writestr(f"{number}.tsv", "a\tb\n" * 100_000)
        for _ in range(2):  # what is read again does not count again
            files = list(files_in(path))
            problems = []
            for file in files[:1] * 2 + files[1:]:
                try:
                    assert sum(1 for _ in file.units(Languages("en", "fr"), Tally())) == 100_000
                except InputError as error:
                    problems.append(str(error))
            assert bool(problems) != good
            assert all("--gzip-ratio" in problem for problem in problems)


def test_a_zip_archive_inside_of_a_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip.gz").write_bytes(gzip.compress(READERS["archive"].files[0]))
    with pytest.raises(InputError, match="gunzip"):
        next(files_in(tmp_path / "a.zip.gz"))


def test_an_archive_of_very_many_files_is_opened_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "memory.zip", "w") as archive:
        for number in range(10_000):
            archive.writestr(zipfile.ZipInfo(f"{number}.tsv"), "a\tb\n")
    warm = """
from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Tally
"""
    code = f"print(sum(1 for file in files_in({str(tmp_path / 'memory.zip')!r}) for _ in "
    told, _ = run_alone(code + 'file.units(Languages("en", "fr"), Tally())))', warm=warm)
    assert told == "10000"


def test_a_concept_of_very_many_terms_is_refused(tmp_path: Path) -> None:
    """Each goes with each of the other language."""
    for count, good in ((100, True), (3000, False)):
        sides = (
            f'<langSet xml:lang="{side}">' + "".join(f"<tig><term>{side}{n}</term></tig>" for n in range(count))
            for side in ("en", "fr")
        )
        text = (
            f"<martif><text><body>\n<termEntry>{'</langSet>'.join(sides)}</langSet></termEntry></body></text></martif>"
        )
        (tmp_path / "input").write_text(text)
        with bounded(len(text)):
            if good:
                assert len(Glossary.read(tmp_path / "input", "en", "fr").entries[-1].targets) == 100
                continue
            with pytest.raises(InputError, match="3,000 terms") as error:
                READERS["glossary"].read(tmp_path / "input")
            assert error.value.line == 2


def test_terms_inside_of_terms_are_none(tmp_path: Path) -> None:
    terms = ("<tig>" * 200 + "<term>a</term>" + "</tig>" * 200) * 100
    text = f'<martif><text><body><termEntry><langSet xml:lang="en">{terms}</langSet></termEntry></body></text></martif>'
    (tmp_path / "input").write_text(text)
    with bounded(len(text)), pytest.raises(InputError, match="no entry"):
        READERS["glossary"].read(tmp_path / "input")


def test_links_beyond_what_a_byte_holds_are_refused_or_kept(tmp_path: Path) -> None:
    side = " ".join(f"w{n}" for n in range(300))
    for link, good in (("255-0", True), ("256-0", False), ("299-0", False), ("0-256", False)):
        (tmp_path / "grammar").write_text(f"[X] ||| {side} ||| {side} ||| F=1 ||| {link}\n")
        (tmp_path / "table").write_text(f"{side} ||| {side} ||| 1 1 1 1 ||| {link} ||| 1 1 1\n")
        if good:
            assert read_cdec_grammar(tmp_path / "grammar").links.tolist() == [[255, 0]]
            assert read_moses(tmp_path / "table").links.tolist() == [[255, 0]]
            continue
        for read, name in ((read_cdec_grammar, "grammar"), (read_moses, "table")):
            with pytest.raises(InputError, match="first 256") as error:
                read(tmp_path / name)
            assert error.value.line == 1


def test_the_largest_count_is_kept(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("a ||| b ||| 1 1 1 1 ||| ||| 2147483647 2147483647 2147483647\n")
    store = read_moses(tmp_path / "table")
    assert store.counts.tolist() == [[2**31 - 1] * 2]
    assert store.source_counts.tolist() == [2**31 - 1]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("feature_function", "", "without a feature"),
        ("cubepruning_pop_limit", DIGITS, "too large"),
        ("cubepruning_pop_limit", "", "is not a whole number"),
        ("cubepruning_pop_limit", "0", "1 or more"),
        ("scfg_max_span_limit", "-3", "is not a whole number"),
    ],
)
def test_half_written_values_of_cdec_ini_are_named(tmp_path: Path, key: str, value: str, told: str) -> None:
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\n{key}={value}\n")
    (tmp_path / "weights").write_text("WordPenalty 1\n")
    with pytest.raises(InputError, match=told) as error:
        convert_cdec(tmp_path / "cdec.ini", tmp_path / "m")
    assert error.value.line == 2


def test_a_grammar_with_a_very_large_number_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    (tmp_path / "weights").write_text("WordPenalty 1\n")
    (tmp_path / "grammars").mkdir()
    (tmp_path / "grammars" / f"grammar.{'9' * 40}").write_text("")
    with bounded(0), pytest.raises(InputError, match=r"grammar\.0 is missing"):
        convert_cdec(tmp_path / "cdec.ini", tmp_path / "m")


@pytest.mark.parametrize(
    ("section", "value", "line"),
    [("distortion-limit", "six", 4), ("distortion-limit", DIGITS, 4), ("cube-pruning-pop-limit", "-", 4)],
)
def test_half_written_values_of_moses_ini_are_named(tmp_path: Path, section: str, value: str, line: int) -> None:
    text = "[feature]\nPhraseDictionaryMemory name=TM path=t table-limit={}\n[{}]\n{}\n"
    (tmp_path / "moses.ini").write_text(text.format(3, section, value))
    (tmp_path / "t").write_text("")
    with pytest.raises(InputError, match=r"whole number|too large") as error:
        convert_moses(tmp_path / "moses.ini", tmp_path / "m")
    assert error.value.line == line
    (tmp_path / "moses.ini").write_text(text.format("x", section, 6))
    with pytest.raises(InputError, match="table-limit") as error:
        convert_moses(tmp_path / "moses.ini", tmp_path / "m")
    assert error.value.line == 2


def test_numbers_that_do_not_fit_are_wrong_settings() -> None:
    from camber.decode.chart.settings import ChartSettings

    for values in ({"beam": 10**400}, {"pop_limit": 2**63}):
        with pytest.raises(SettingsError, match="too large"):
            ChartSettings.from_dict(values)
    assert issubclass(ChartSettings, Settings)


def test_forests_of_very_large_numbers_are_refused(tmp_path: Path) -> None:
    document = json.loads(READERS["trees"].seeds[0])
    document["trees"][0]["root"]["gain"] = 10**400
    (tmp_path / "trees.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="no forest"):
        READERS["trees"].read(tmp_path / "trees.json")


def test_gold_links_are_the_same_by_rows_and_by_lines(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("2 2 1 S\n1 1 1 P\n2 1 3\n2 2 1 P\n1 0 5 S\n")
    (tmp_path / "lines").write_text("0p0\n1-0 0-2 1p0\n")
    rows, lines = (READERS["gold"].read(tmp_path / name) for name in ("rows", "lines"))
    for one, two in ((rows.sure, lines.sure), (rows.possible, lines.possible)):
        np.testing.assert_array_equal(one.links, two.links)
        np.testing.assert_array_equal(one.offsets, two.offsets)
    assert rows.sure.links.tolist() == [[0, 2], [1, 0]]
    assert rows.possible.offsets.tolist() == [0, 1, 3]


#: what is before, a unit, and what is behind, of files that are translated in place
UNITS = {
    "xliff": (
        '<xliff version="1.2"><file source-language="fr" target-language="en"><body xml:space="preserve">',
        "<trans-unit><source>a\n<g>b</g></source></trans-unit>",
        "</body></file></xliff>",
    ),
    "segments": (
        '<xliff version="1.2"><file source-language="fr" target-language="en"><body>',
        '<trans-unit><source>a</source><seg-source><mrk mtype="seg" mid="1">a</mrk></seg-source></trans-unit>',
        "</body></file></xliff>",
    ),
    "newer": (
        '<xliff version="2.0" srcLang="fr"><file>',
        "<unit><segment><source>a</source></segment></unit>",
        "</file></xliff>",
    ),
    "tmx": ("<tmx><body>", '<tu><tuv xml:lang="fr"><seg>a</seg></tuv></tu>', "</body></tmx>"),
    "po": ("", 'msgid "a\\nb"\nmsgstr ""\n\n', ""),
    "html": ("<!DOCTYPE html>", "<p>a <b>b</b></p><pre>c\nd</pre>", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_a_file_of_very_many_segments_is_opened_and_filled_in_time_that_grows_with_it(name: str) -> None:
    before, unit, after = UNITS[name]
    text = before + unit * 9000 + after
    with bounded(len(text), 4):
        document = open_document(text.encode(), name, Languages("fr", "en"))
    assert document is not None
    with bounded(len(text), 4):
        written = document.bytes_with([slot.texts for slot in document.slots])
    assert (len(written) > len(text)) == (name != "html")
