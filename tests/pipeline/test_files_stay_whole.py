"""Files that are translated in place, as other parsers read them: nothing differs but translations and their states."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import polib
import pytest
from lxml import etree
from toys.identity import identity

from camber.pipeline.translate_file import translate_data

SPACE = "urn:oasis:names:tc:xliff:document:1.2"
OLDER = f"""<?xml version="1.0" encoding="ENCODING"?>
<!DOCTYPE xliff [<!ENTITY prod "Camber">]>
<?page a?><xliff xmlns="{SPACE}" xmlns:y="urn:y" version="1.2" y:z="1">
<file original="a" source-language="fr" target-language="en" datatype="html"><header><note/></header>
<body><group id="g1"><group id="g2" translate="no"><trans-unit id="1"><source>Non.</source></trans-unit>
<trans-unit id="2" translate="yes"><source>Le fichier.</source></trans-unit></group></group>
<trans-unit id="3" xml:space="preserve" y:a="b > c"><source>  Le module
  <g id="1">é   è</g> &#xe9;.	</source><target state="new"/></trans-unit>
<trans-unit id="4"><source><![CDATA[Un <i>mot</i> & deux]]></source><target><![CDATA[]]></target><note/></trans-unit>
<trans-unit id="5"><source>a</source><alt-trans><source>a</source><target>b</target></alt-trans></trans-unit>
<trans-unit id="6"><source>Un. Deux.</source><seg-source><mrk mtype="seg" mid="1">Un.</mrk> <g id="9"><mrk mtype="seg"
 mid="2">Deux <x id="1"/>!</mrk></g></seg-source></trans-unit>
<trans-unit id="7"><source>&prod; <mrk mtype="protected">os.path</mrk> &lt;b&gt;gras&lt;/b&gt;</source></trans-unit>
<trans-unit id="8"><source>fini</source><target>done</target></trans-unit><trans-unit id="9"><source/></trans-unit>
</body></file></xliff>
"""
NEWER = """<?xml version="1.0" encoding="ENCODING"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" xmlns:y="urn:y" version="2.0" srcLang="fr" trgLang="en">
<file id="f"><notes><note>n</note></notes><group id="g"><unit id="1">
<originalData><data id="d">&lt;br/></data></originalData>
<segment id="s"><source>Le <pc id="1" dataRefStart="d">mot</pc> <ph id="2"/>.</source></segment><ignorable>
<source> </source></ignorable><segment state="final"><source>fini</source><target>done</target></segment></unit></group>
<unit id="2" translate="no"><segment><source>Non.</source></segment></unit><unit id="3" xml:space="preserve"><y:m/>
<segment><source>un
  deux</source></segment></unit></file></xliff>
"""
MEMORY = """<?xml version="1.0" encoding="ENCODING"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="*all*" segtype="sentence"><prop type="p">é</prop></header><body>
<tu tuid="1"><note>n</note><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="fr-FR"><prop type="q">x</prop>
<seg>Le <bpt i="1">&lt;b></bpt>mot<ept i="1">&lt;/b></ept> <ph>{é}</ph>.</seg></tuv></tu>
<tu><tuv xml:lang="FR"><seg>un</seg></tuv><tuv xml:lang="en-GB"><seg></seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>fini</seg></tuv><tuv xml:lang="en"><seg>done</seg></tuv></tu></body></tmx>
"""
ENCODINGS = {
    "utf-8": lambda text: text.encode(),
    "with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16, the other order": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "iso-8859-1": lambda text: text.encode("iso-8859-1"),
}
LINE_ENDS = ["\n", "\r\n"]


def turned(tokens: Any) -> tuple[list[str], list[tuple[int, int]]]:
    """Turn a sentence around, as a translator might who moves every word."""
    return list(reversed(tokens)), [(at, len(tokens) - 1 - at) for at in range(len(tokens))]


def translated(data: bytes, name: str, count: int) -> bytes:
    after, report = translate_data(identity(turned, source_lang="fr", target_lang="en"), data, name)
    assert report.translated == count, report
    return after


def prefixed(text: str) -> str:
    """Give all elements of XLIFF a prefix."""
    text = re.sub(r"(</?)(?=[a-z])(?!i>|mot)", r"\1x:", text).replace("xmlns=", "xmlns:x=")
    return text.replace("<x:i>mot</x:i>", "<i>mot</i>")


def without_translations(data: bytes) -> str:
    """Return what lxml reads, without white space, what is in translations, and what says how far they are."""
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False))
    for made in [*root.iter("{*}target"), *root.iter("{*}tuv")]:
        parent = made.getparent()
        if parent.tag.endswith("alt-trans"):
            continue
        if made.tag.endswith("target") or made.get("creationid") == "camber" or not "".join(made.itertext()).strip():
            assert not (made.tail or "").strip()
            parent.remove(made)
    for element in root.iter():
        for name in ("state", "subState"):
            element.attrib.pop(name, None)
    root.attrib.pop("trgLang", None)
    return "".join(etree.tostring(root.getroottree(), encoding="unicode").split())


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("text", "count"),
    [(OLDER, 7), (prefixed(OLDER), 7), (NEWER, 2), (MEMORY, 2)],
    ids=["1.2", "prefixes", "2.0", "TMX"],
)
def test_all_but_translations_is_the_same_for_another_parser(text: str, count: int, encoding: str, end: str) -> None:
    text = text.replace("\n", end).replace("ENCODING", "utf-8" if "mark" in encoding else encoding.partition(",")[0])
    before = ENCODINGS[encoding](text)
    after = translated(before, "file", count)
    assert without_translations(before) == without_translations(after)
    assert len(after) > len(before)


PO = """# Note
#, fuzzy
msgid ""
msgstr ""
"Language: en\\n"
"Content-Type: text/plain; charset=ENCODING\\n"
"Plural-Forms: nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);\\n"

#. given
#: a.c:1 b.c:2
#, c-format
msgid "%d fichier"
msgid_plural "%d fichiers"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

msgctxt "menu"
msgid "Ouvrir"
msgstr ""

#| msgid "avant"
#, fuzzy
msgid "après"
msgstr "before"

msgid ""
"un texte coupé en "
"deux\\n"
"et \\"une\\" ligne\\t!\\n"
msgstr ""
msgid "sans ligne vide"
msgstr   ""
""

#~ msgctxt "x"
#~ msgid "vieux"
#~ msgstr ""
"""


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_messages_differ_in_nothing_else_for_polib(tmp_path: Any, encoding: str, end: str) -> None:
    before, after = tmp_path / "before.po", tmp_path / "after.po"
    before.write_bytes(PO.replace("ENCODING", encoding).replace("\n", end).encode(encoding))
    after.write_bytes(translated(before.read_bytes(), "a.po", 4))
    files = [polib.pofile(str(path), encoding=encoding) for path in (before, after)]
    assert files[0].metadata == files[1].metadata
    changed = 0
    for one, two in zip(*files, strict=True):
        for name in (
            "msgid",
            "msgid_plural",
            "msgctxt",
            "comment",
            "tcomment",
            "occurrences",
            "previous_msgid",
            "obsolete",
        ):
            assert getattr(one, name) == getattr(two, name)
        same = one.msgstr == two.msgstr and one.msgstr_plural == two.msgstr_plural
        changed += not same
        assert {*one.flags} | ({"fuzzy"} if not same else set()) == {*two.flags}
        assert one.msgid.endswith("\n") == two.msgstr.endswith("\n") or two.obsolete or two.msgid_plural
    assert changed == 4
    assert set(files[1].find("%d fichier").msgstr_plural) == {0, 1, 2}


PAGE = """<!DOCTYPE html>
<!-- <p>comment</p> -->
<html lang="fr"><head><meta charset="utf-8"><title>Le titre</title><meta name="d" content="Une page">
<script>if (a < b && c > d) { x = "<p>Bonjour</p>"; }</script><style>p > a { color: red }</style></head>
<body onload="f('<b>')"><p title="Un titre" class=x>Le mot <img src="a.png" alt="Une image">
et <a href="?a=1&amp;b=2">ici</a>.
<p>Sans fin<ul><li>Un<li>Deux <b>gras <i>mal</b> rangé</i></ul><pre>Code  avec
   lignes &lt;x&gt;</pre><code>os.path</code> <span translate="no">Non</span> <span class="notranslate">non</span>
<table><tr><td>Cellule&nbsp;un<td>&eacute;t&eacute; 5 &lt; 6 &copy;</table><br/>Texte<br>après<hr><p>1 < 2 & AT&T
<p>fin <b>ouverte
"""


class Structure(HTMLParser):
    """What is on a page but text: tags in the order of blocks, comments, and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.text: list[str] = []
        self.raw = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(self.get_starttag_text() or "")
        self.raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"</{tag}>")
        self.raw = False

    def handle_comment(self, data: str) -> None:
        self.found.append(data)

    def handle_decl(self, decl: str) -> None:
        self.found.append(decl)

    def handle_data(self, data: str) -> None:
        (self.found if self.raw else self.text).append(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_pages_have_the_same_elements_for_another_parser(encoding: str) -> None:
    before = PAGE.encode(encoding)
    after = translated(before, "a.html", 12)
    one, two = Structure(), Structure()
    for parser, data in ((one, before), (two, after)):
        parser.feed(data.decode(encoding))
        parser.close()
    assert sorted(one.found) == sorted(two.found)
    inline = re.compile(r"</?(?:b|i|img|a|span|code)\b")
    blocks = [[item for item in parser.found if not inline.match(item)] for parser in (one, two)]
    assert blocks[0] == blocks[1]
    letters = [sorted("".join(parser.text).casefold().split()) for parser in (one, two)]
    assert Counter("".join(letters[0])) == Counter("".join(letters[1]))
    assert one.text != two.text
