"""Files that are translated in place: what changes, and that nothing else does."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from formats.test_bilingual_tmx import tmx, tuv
from lxml import etree
from toys.echo import Echo, echo

from camber.errors import CamberError, InputError
from camber.formats.bilingual.unit import MARK
from camber.formats.documents.document import LanguagesDiffer
from camber.pipeline.importing import import_files
from camber.pipeline.translate_file import FileReport, translate_data, translate_file

OLDER = """<?xml version="1.0" encoding="UTF-8"?>\r
<!-- a > b --><xliff version='1.2' xmlns="urn:oasis:names:tc:xliff:document:1.2">\r
 <file original="a&lt;b" source-language='en' target-language="fr" datatype="x"><body>
  <trans-unit id="1"  resname = "r">
    <source>Press <g id="1">Save</g> &amp; wait</source>
    <note>n</note>
  </trans-unit>
  <trans-unit id="2" approved="yes"><source>old</source><target  state="final" xml:lang="fr">vieux</target></trans-unit>
  <trans-unit id="3"><source>new</source><target state='needs-translation'>new</target></trans-unit>
  <trans-unit id="4"><source>self</source><target/></trans-unit>
  <trans-unit id="5" translate="no"><source>no</source></trans-unit>
  <trans-unit id="6"><source>alt</source><alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>
  <trans-unit id="7"><source><![CDATA[a <b> c]]></source></trans-unit>
  <trans-unit id="8"><source> </source></trans-unit>
 </body></file>
</xliff>
"""


def run(text: str, everything: bool = False, change: Any = str.upper, languages: Any = ("en", "fr")) -> str:
    data, _ = translate_data(echo(*languages, change), text.encode(), "file", everything=everything)
    return data.decode()


def changed(before: str, after: str, changes: dict[str, str]) -> bool:
    """Say whether these changes, each at one place, make one text of another."""
    for old, new in changes.items():
        assert before.count(old) == 1, old
        before = before.replace(old, new)
    return before == after


def test_units_without_a_translation_get_one_and_nothing_else_changes() -> None:
    review = 'state="needs-review-translation"'
    changes = {
        "wait</source>": f'wait</source>\n    <target {review}>PRESS <g id="1">SAVE</g> &amp; WAIT</target>',
        "<target state='needs-translation'>new": f"<target {review}>NEW",
        "<target/>": f"<target {review}>SELF</target>",
        "<source>alt</source>": f"<source>alt</source><target {review}>ALT</target>",
        "c]]></source>": f"c]]></source><target {review}>A &lt;B&gt; C</target>",
    }
    assert changed(OLDER, run(OLDER), changes)


def test_translations_are_replaced_only_if_all_are_asked_for() -> None:
    after = run(OLDER, everything=True)
    wanted = 'approved="no"><source>old</source><target  state="needs-review-translation" xml:lang="fr">OLD</target>'
    assert wanted in after
    assert "vieux" not in after
    assert run(after) == after


def test_newer_files_get_their_state_and_language() -> None:
    before = (
        '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en"><file id="f"><unit id="u">\n'
        '<segment id="s"><source>one <ph id="1"/></source></segment><ignorable><source> </source></ignorable>\n'
        '<segment state="initial" subState="a:b"><source>two</source><target></target></segment>\n'
        '<segment state="final"><source>three</source><target>trois</target></segment></unit></file></xliff>'
    )
    changes = {
        'srcLang="en"': 'srcLang="en" trgLang="fr"',
        '<segment id="s"': '<segment id="s" state="translated" subState="camber:mt"',
        '<ph id="1"/></source>': '<ph id="1"/></source><target>ONE <ph id="1"/></target>',
        'state="initial" subState="a:b"': 'state="translated" subState="camber:mt"',
        "<target></target>": "<target>TWO</target>",
    }
    assert changed(before, run(before), changes)


SDL = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0">
<file original="a" source-language="en" target-language="fr"><body><trans-unit id="t"><source>One. Two. Three.</source>
<seg-source><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2"><x id="9"/>Two.</mrk></seg-source>TARGET
<sdl:seg-defs><sdl:seg id="1" conf="Translated"/><sdl:seg id="2"/></sdl:seg-defs></trans-unit></body></file></xliff>"""


def test_segments_of_sdl_are_translated_one_by_one() -> None:
    filled = '<target><mrk mtype="seg" mid="1">Un.</mrk> <mrk mtype="seg" mid="2"/></target>'
    changes = {
        '<mrk mtype="seg" mid="2"/>': '<mrk mtype="seg" mid="2"><x id="9"/>TWO.</mrk>',
        '<sdl:seg id="2"/>': '<sdl:seg id="2" conf="Draft" origin="mt"/>',
    }
    before = SDL.replace("TARGET", filled)
    assert changed(before, run(before), changes)
    before = SDL.replace("TARGET", "")
    assert translate_data(echo("en", "fr"), before.encode(), "a.sdlxliff")[1].translated == 2
    made = '<target><mrk mtype="seg" mid="1">ONE.</mrk> <mrk mtype="seg" mid="2"><x id="9"/>TWO.</mrk></target>'
    changes = {
        "</seg-source>": f"</seg-source>{made}",
        '<sdl:seg id="1" conf="Translated"/>': '<sdl:seg id="1" conf="Draft" origin="mt"/>',
        '<sdl:seg id="2"/>': '<sdl:seg id="2" conf="Draft" origin="mt"/>',
    }
    assert changed(before, run(before), changes)


def test_locked_segments_of_sdl_stay_as_they_are() -> None:
    before = SDL.replace('id="1" conf="Translated"', 'id="1" locked="true" conf="Draft" origin="tm" percent="80"')
    filled = '<target><mrk mtype="seg" mid="1">Un.</mrk> <mrk mtype="seg" mid="2">Deux.</mrk></target>'
    after = run(before.replace("TARGET", filled), everything=True)
    assert changed(
        before.replace("TARGET", filled),
        after,
        {"Deux.</mrk>": '<x id="9"/>TWO.</mrk>', '<sdl:seg id="2"/>': '<sdl:seg id="2" conf="Draft" origin="mt"/>'},
    )
    made = '<target><mrk mtype="seg" mid="1"></mrk> <mrk mtype="seg" mid="2"><x id="9"/>TWO.</mrk></target>'
    assert made in run(before.replace("TARGET", ""))
    unlocked = run(before.replace("TARGET", filled).replace(' locked="true"', ""), everything=True)
    assert '<sdl:seg id="1" conf="Draft" origin="mt"/>' in unlocked  # nothing of the memory's share


def test_tags_that_are_text_of_a_file_go_with_their_words() -> None:
    unit = "<trans-unit id='1'><source>{}</source></trans-unit>"
    before = OLDER.partition("<body>")[0] + "<body>" + "".join(
        unit.format(text) for text in ("Press &lt;b&gt;Save&lt;/b&gt;.", "<![CDATA[<p>One.</p><p>Two & 3.</p>]]>")
    ) + "</body></file></xliff>"  # fmt: skip
    after = run(before, change=lambda text: re.sub(r"\w{2,}", lambda word: word[0].upper(), text))  # not b, p
    assert ">PRESS &lt;b&gt;SAVE&lt;/b&gt;.</target>" in after
    assert ">&lt;p&gt;ONE.&lt;/p&gt;&lt;p&gt;TWO &amp; 3.&lt;/p&gt;</target>" in after


def test_archives_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.xliff", OLDER)
    with pytest.raises(InputError, match="zip archive; unpack it"):
        translate_file(echo("en", "fr", str.upper), tmp_path / "a.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_may_take_the_place_of_its_source(tmp_path: Path) -> None:
    path = tmp_path / "a.xliff"
    path.write_text(OLDER, newline="")
    translate_file(echo("en", "fr", str.upper), path, path)
    assert path.read_bytes().decode() == run(OLDER)


def test_a_memory_gets_a_text_in_one_more_language(tmp_path: Path) -> None:
    before = tmx(
        tmp_path, "\n  " + tuv("en-GB", "a <ph/>b") + "\n", tuv("en", "c") + tuv("fr", "x"), tuv("de", "z")
    ).read_text()
    made = '\n  <tuv xml:lang="fr" creationid="camber"><seg>A <ph/>B</seg></tuv>'
    first = tuv("en-GB", "a <ph/>b")
    assert changed(before, run(before), {first: first + made})
    assert '<tuv xml:lang="fr"  creationid="camber"><seg>C</seg></tuv>' in run(before, everything=True)
    # what a machine made is no pair to learn from, until somebody changes it
    after = tmp_path / "after.tmx"
    after.write_text(run(before))
    report = import_files(after, "en", "fr")
    assert (report.pairs, report.files[0].tally.skipped["not confirmed"]) == (1, 1)
    after.write_text(run(before).replace('creationid="camber"', 'creationid="camber" changeid="Ana"'))
    assert import_files(after, "en", "fr").pairs == 2


PO = r"""# note
msgid ""
msgstr ""
"Language: fr\n"
"Plural-Forms: nplurals=2; plural=n>1;\n"

#. c
#: a.c:1
#, c-format
msgid "a %d \"b\"\n"
msgstr ""

msgctxt "x"
msgid "c"
msgstr "ccc"

#, fuzzy
msgid "guess"
msgstr "rate"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid ""
"one\n"
"two"
msgstr ""

#~ msgid "gone"
#~ msgstr ""
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_messages_are_marked_as_fuzzy(end: str) -> None:
    changes = {
        '#, c-format\nmsgid "a %d \\"b\\"\\n"\nmsgstr ""': (
            '#, fuzzy, c-format\nmsgid "a %d \\"b\\"\\n"\nmsgstr "A %D \\"B\\"\\n"'
        ),
        'msgid "%d file"': '#, fuzzy\nmsgid "%d file"',
        'msgstr[0] ""\nmsgstr[1] ""': 'msgstr[0] "%D FILE"\nmsgstr[1] "%D FILES"',
        'msgid ""\n"one\\n"\n"two"\nmsgstr ""': '#, fuzzy\nmsgid ""\n"one\\n"\n"two"\nmsgstr ""\n"ONE\\n"\n"TWO"',
    }
    before = PO.replace("\n", end)
    after = run(before)
    assert changed(PO, after.replace(end, "\n"), changes)
    assert after.count("\n") == after.count(end)
    assert run(after) == after
    assert 'msgstr "GUESS"' in run(before, everything=True)


def test_every_line_of_a_message_is_translated_by_itself() -> None:
    translator = Echo("en", "fr")
    translate_data(translator, PO.encode(), "a.po")  # type: ignore[arg-type]
    assert translator.asked == ['a %d "b"', "%d file", "%d files", f"one{MARK}two"]
    assert run(PO).count('"ONE\\n"\n"TWO"') == 1


def test_lines_of_preformatted_units_stay_lines() -> None:
    unit = '<trans-unit id="1"{}><source>\n one <g id="1">two\n  three</g>\n four </source></trans-unit>'
    head = OLDER.partition("<body>")[0] + "<body>"
    before = head + unit.format(' xml:space="preserve"') + "</body></file></xliff>"
    translator = Echo("en", "fr", str.upper)
    after, _ = translate_data(translator, before.encode(), "a.xliff")  # type: ignore[arg-type]
    assert translator.asked == [f'\n one <g id="1">two{MARK}  three</g>{MARK} four ']
    made = "\r\n".join(('\n ONE <g id="1">TWO', "  THREE</g>", " FOUR </target>"))  # as elsewhere in the file
    assert made.encode() in after
    assert "camber-line" not in after.decode()
    wrapped = head + unit.format("") + "</body></file></xliff>"
    assert translate_data(translator, wrapped.encode(), "a.xliff")[1].translated == 1  # type: ignore[arg-type]
    assert MARK not in translator.asked[-1]
    newer = (
        '<xliff version="2.0" srcLang="en"><file xml:space="preserve"><unit><segment><source>a\nb</source></segment>'
        '</unit><unit xml:space="default"><segment><source>c\nd</source></segment></unit></file></xliff>'
    )
    assert "<target>A\nB</target>" in run(newer)
    translate_data(translator, newer.encode(), "a.xliff")  # type: ignore[arg-type]
    assert translator.asked[-2:] == [f"a{MARK}b", "c\nd"]


def test_a_target_of_nothing_but_an_empty_section_is_filled() -> None:
    before = OLDER.replace("<target/>", "<target><![CDATA[ ]]></target>")
    assert '<target state="needs-review-translation">SELF</target>' in run(before)


def test_long_messages_are_wrapped_and_mean_the_same() -> None:
    import polib

    text = 'word \\ "quoted" ' * 20 + "x" * 100
    file = polib.POFile()
    file.append(polib.POEntry(msgid=text, msgstr=""))
    after = run(str(file))
    assert polib.pofile(after)[0].msgstr == text.upper()
    assert max(map(len, after.split("\n"))) < 110


def test_pages_keep_their_mark_up() -> None:
    before = """<!DOCTYPE html>
<html lang="en"><head><title>One page</title><script>var x = "a < b";</script><style>p { color: red }</style></head>
<body class="c"><!-- a comment --><h1>Head &amp; <b>bold</b></h1>
<p title="stays">text<br>more &nbsp; </p><ul><li>1</li><li><a href="u">link</a></li></ul>
<pre translate="no">code</pre></body></html>
"""
    changes = {
        "<title>One page": "<title>ONE PAGE",
        "Head &amp; <b>bold": "HEAD &amp; <b>BOLD",
        ">text<br>more": ">TEXT<br>MORE",
        ">link<": ">LINK<",
    }
    assert changed(before, run(before), changes)


def test_what_is_nested_too_deeply_is_left_alone_and_counted() -> None:
    def page(depth: int, block: str = "p") -> str:
        return f"<html><p>one</p><{block}>" + "<b>" * depth + "two" + "</b>" * depth + f"</{block}></html>"

    for depth, left in ((50, 0), (51, 1), (5_000, 1)):
        data, report = translate_data(echo("en", "fr", str.upper), page(depth).encode(), "a.html")
        assert changed(page(depth), data.decode(), {">one<": ">ONE<"} | ({} if left else {">two<": ">TWO<"}))
        assert (report.translated, report.kept) == (2 - left, {"inside more than 50 elements": 1} if left else {})
        assert left == ("(1 inside more than 50 elements)" in str(report))
    data, report = translate_data(echo("en", "fr", str.upper), page(5_000).replace("b>", "div>").encode(), "a.html")
    assert report.translated == 2  # blocks are not counted
    data, report = translate_data(echo("en", "fr", str.upper), page(5_000, "code").encode(), "a.html")
    assert (report.translated, report.kept) == (1, {})  # nor what would not be translated anyway


def test_lines_of_preformatted_text_of_a_page_stay_lines() -> None:
    before = "<html><p>one\ntwo</p><pre>\nthree\n  <b>four\nfive</b>\n</pre><textarea>six\r\nseven</textarea></html>"
    translator = Echo("en", "fr", lambda text: text.replace("\n", " ").upper())
    after, _ = translate_data(translator, before.encode(), "a.html")  # type: ignore[arg-type]
    assert translator.asked == ["one\ntwo", f"three{MARK}  <b>four{MARK}five</b>", f"six\r{MARK}seven"]
    words = {"one\ntwo": "ONE TWO", "three\n": "THREE\r\n", "four\n": "FOUR\r\n", "five": "FIVE"}
    assert changed(before, after.decode(), words | {"six": "SIX", "seven": "SEVEN"})


def test_lines_of_other_text_are_translated_and_line_ends_stay() -> None:
    assert run("\ufeffone\r\n\r\ntwo\nthree") == "\ufeffONE\r\n\r\nTWO\nTHREE"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_the_encoding_stays(encoding: str) -> None:
    text = OLDER.replace("UTF-8", encoding.upper().removesuffix("-SIG"))
    data, report = translate_data(echo(change=lambda text: "é€" + text), text.encode(encoding), "a.xliff")
    root = etree.fromstring(data)
    targets = ["".join(item.itertext()) for item in root.iterfind(".//{*}trans-unit/{*}target")]
    assert targets[1:4] == ["vieux", "é€new", "é€self"]
    assert report.translated == 5
    data.decode(encoding)


def test_an_old_encoding_that_lacks_a_letter_is_an_error(tmp_path: Path) -> None:
    text = PO.replace("Language: fr", "Language: fr\\nContent-Type: text/plain; charset=iso-8859-1")
    with pytest.raises(InputError, match="'€', which iso-8859-1 cannot write"):
        translate_data(echo(change=lambda text: "€"), text.replace("note", "n\u00e9").encode("latin-1"), "a.po")


@pytest.mark.parametrize("text", [OLDER, PO])
def test_a_file_of_other_languages_is_refused(text: str) -> None:
    for languages in (("de", "it"), ("en", "it"), ("fr", "en")):
        with pytest.raises(LanguagesDiffer, match=r"but the model translates from .. to ..; use a model"):
            run(text, languages=languages)
    assert run(text, languages=("en-GB", "fr-CA")) != text


def test_a_memory_without_the_source_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LanguagesDiffer, match="from de to any"):
        run(tmx(tmp_path, tuv("de", "a")).read_text())


def test_a_translation_that_would_break_the_file_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    spoilt = {"new": "a < b", "self": "</target>", "alt": "&x;"}
    data, report = translate_data(echo(change=lambda text: spoilt.get(text, text)), OLDER.encode(), "a.xliff")
    assert report.kept["with tags that could not be put back"] == 2
    assert "a.xliff:9: its tags could not be put back" in caplog.text
    etree.fromstring(data.replace(b"&x;", b""))
    assert isinstance(report, FileReport)


def test_segments_that_share_an_id_are_refused() -> None:
    """There is one target for both, which would be written twice."""
    twice = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="fr"><body><trans-unit id="2"><source>One. two</source>
<seg-source><mrk mtype="seg" mid="2">One.</mrk> <mrk mtype="seg" mid="2">two</mrk></seg-source>
<target><mrk mtype="seg" mid="2">deux</mrk></target></trans-unit></body></file></xliff>
"""
    with pytest.raises(InputError, match=r"input:4: two segments have one place for their translation"):
        translate_data(echo("en", "fr", str.upper), twice.encode(), "input", everything=True)


def test_what_is_broken_writes_nothing(tmp_path: Path) -> None:
    source, output = tmp_path / "a.xliff", tmp_path / "out.xliff"
    source.write_text(OLDER.replace("</body>", ""))
    with pytest.raises(InputError, match=r"a\.xliff:15: not XML that can be read: .*column"):
        translate_file(echo(), source, output)
    assert not output.exists()
    source.write_text('<?xml version="1.0"?><book/>')
    with pytest.raises(CamberError, match="root element book"):
        translate_file(echo(), source, output)
    source.write_text(OLDER)
    translate_file(echo(), source, output)
    assert output.read_bytes().startswith(OLDER[:100].encode())


SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "tm-files"


def _without_targets(text: str) -> str:
    text = re.sub(r"\s*<(target|tuv)\b[^>]*(?:/>|>.*?</\1>)", "", text, flags=re.S)
    return re.sub(r"\s(approved|state|subState|trgLang)\s*=\s*(\"[^\"]*\"|'[^']*')", "", text)


def _without_messages(text: str) -> str:
    text = re.sub(r"^#, fuzzy\r?\n|(?<=^#,) fuzzy,?|", "", text, flags=re.M)
    return re.sub(r"^msgstr(\[\d\])? *(\".*\"\s+)+", "", text, flags=re.M)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="no folder of shared data beside the project")
def test_files_of_other_tools_stay_byte_by_byte_but_for_their_translations() -> None:
    from camber.files import read_bytes
    from camber.formats.bilingual.po import decoded
    from camber.formats.documents.document import decoded_xml

    seen = 0
    for path in sorted(SHARED.rglob("*")):
        if path.suffix not in (".tmx", ".xlf", ".xliff", ".po", ".gz"):
            continue
        data = read_bytes(path)
        for source, target in [("en", "fr"), ("en", "be"), ("de", "en"), ("en", "ja"), ("en", "ca"), ("en", "uk"),
                               ("en", "pt"), ("en", "xx"), ("ja", "en")]:  # fmt: skip
            try:
                after, report = translate_data(echo(source, target), data, path.name)
            except InputError:
                continue
            assert (after == data) == (report.translated == 0)
            every, _ = translate_data(echo(source, target, str.swapcase), data, path.name, everything=True)
            opened, stripped = (decoded, _without_messages) if path.suffix == ".po" else (decoded_xml, _without_targets)
            texts = [stripped(opened(some, path.name)[0]) for some in (data, after, every)]
            assert texts[0] == texts[1] == texts[2], path
            seen += 1
            break
    assert seen > 80
