"""Tags come back: all of them, nested, where their words went, with the white space around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape, unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from toys.identity import Links, identity

from camber.text.marks import without_markup
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.tags import BLOCKS, find_tags, stretches

TAG = re.compile(r"<!--.*?-->|<[^>]+>")

#: a line, and the formats in which it is tried
CASES = {
    "a pair": "Press <b>here</b> to continue.",
    "a pair around all": "<b>Press here.</b>",
    "a pair around all but the full stop": "<b>Press here</b>.",
    "pairs inside pairs": "Press <b>the <i>red</i> one</b> now.",
    "pairs that begin together": "<b><i>Press</i> here</b> now",
    "pairs that end together": "Press <b>right <i>here</i></b> now",
    "pairs side by side": "<b>one</b><i>two</i> <u>three</u>",
    "an empty element": "A picture <img src='a.png'/> here.",
    "an empty element without a slash": "A picture <img src=a.png> here.",
    "an empty element at the beginning": "<img src='a.png'/>A picture.",
    "an empty element at the end": "A picture.<img src='a.png'/>",
    "an empty pair": "Nothing <b></b>here",
    "a pair around white space": "one<b> </b>two",
    "a pair around an empty element": "one <b><img src='a.png'/></b> two",
    "a pair inside a word": "un<b>believ</b>able things",
    "a pair at the beginning of a word": "<b>un</b>believable",
    "a pair at the end of a word": "unbeliev<b>able</b> but true",
    "an empty element inside a word": "un<wbr>believable",
    "a pair from one word into another": "un<b>believable thi</b>ngs",
    "spaces inside of a pair": "Press <b> here </b> now",
    "spaces on both sides of a tag": "one <img src='a.png'/> two",
    "a space at the end of a pair, before an empty element": "<b>two </b><img src='a.png'/>. Five",
    "no spaces around a tag": "one<img src='a.png'/>two",
    "several spaces": "one  <b>  two  </b>  three",
    "attributes": """<a href="https://example.org/?a=b&c='d'" class='x "y"' data-x=1 hidden>there</a> it is""",
    "a bracket in an attribute": """<a title="a > b">there</a> it is""",
    "upper case": "<B>One</B> two",
    "a comment": "one <!-- <b> not a tag --> two",
    "a processing instruction": "one <?php echo '<b>' ?> two",
    "CDATA": "one <![CDATA[ <b> & ]]> two",
    "no translation": '<span translate="no">Camber is</span> a name.',
    "no translation inside": '<b>the <span translate="no">big one</span></b> is a name.',
    "code": "Call <code>len(x) <b>y</b></code> first.",
    "OmegaT": "<a0>Open</a0> the <a1>file<c2/></a1>.",
    "XLIFF's g and x": 'The <g id="1">red <x id="2"/> one</g>.',
    "XLIFF's bx and ex": 'The <bx id="1" rid="1"/>red<ex id="2" rid="1"/> one.',
    "XLIFF's ph": 'The <ph id="1">&lt;br/&gt;</ph> one.',
    "XLIFF's bpt and ept": 'The <bpt id="1">&lt;b&gt;</bpt>red<ept id="1">&lt;/b&gt;</ept> one.',
    "bpt and ept without content": 'The <bpt id="1"/>red<ept id="1"/> one.',
    "XLIFF's pc, sc and ec": 'The <pc id="1">red</pc> <sc id="2"/>one<ec startRef="2"/>.',
    "XLIFF's mrk": 'The <mrk mtype="protected">Big Red</mrk> one.',
    "two sentences in a pair": "<b>One. Two.</b> Three.",
    "a pair over the end of a sentence": "One <b>two. Three</b> four.",
    "a pair over three sentences": "One <i>two. Three. Four</i> five.",
    "a sentence inside a pair inside a pair": "<i>One <b>two.</b> <u>Three</u> four.</i> Five.",
    "blocks": "<p>One two</p><p>three <b>four</b></p>",
    "a line break": "one two<br/>three",
    "a pair over a line break": "<b>one<br>two</b> three",
    "a table": "<table><tr><td>one</td> <td>two <i>three</i></td></tr></table>",
    "nothing but tags": "<p><b></b></p>",
    "a tag that is never closed": "one <b>two",
    "a tag that was never opened": "one</b> two",
    "tags that cross": "<b>one <i>two</b> three</i>",
    "comparisons": "1 < 2 and 3 > 2, a<b",
    "a placeholder in a pair": "<b>{name}</b>, %s",
    "tags in code": "Write ``<b>`` or `</b>`",
    "an invisible space at the beginning of a pair": "one <b>\u200btwo</b> three",
    "an invisible space at the end of a pair": "one <b>two\u200b</b> three",
    "tags of programs": "Press <0>here</0> or <1/> <2>there <3>now</3></2>",
    "a name that is not translated": "<b class='x notranslate'>Camber Pro</b> is a name",
    "a document type": "<!DOCTYPE html><p>one</p>",
    "a script": "one<script>x = '<b>';</script>two <style>p {color: red}</style>",
    "an invisible space before what comes first": "\u200b <b>one</b> two",
    "an invisible space behind what comes last": "one <b>two</b><x id='1'/> \u200b",
    "white space before what comes first and a full stop": " <x id='2'/>. Five",
    "an empty pair where a sentence ends": "one。<b></b>two",
    "white space before a tag that stands alone": "<b>two </b><x id='2'/>. Five",
    "Chinese": "他们<b>俩都</b>在。<i>我们</i>走吧！",
}  # fmt: skip
ENTITIES = ("A&nbsp;B &amp; C &lt;tag&gt;", "caf&eacute; &#8364; &#x20AC; &bogus; &", "a &lt; <b>b &amp;</b> c", "R&D")


def nested(line: str) -> bool:
    """Say whether pairs nest."""
    stack = []
    for text in TAG.findall(line):
        name = re.match(r"</?([\w:]+)", text)
        if not name or text.endswith("/>"):
            continue
        if not text.startswith("</"):
            stack.append(name[1])
        elif not stack or stack.pop() != name[1]:
            return False
    return not stack


def backwards(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Translate every word into another one, and turn the sentence around."""
    size = len(tokens)
    words = [f"{word}x" if word.isalpha() else word for word in reversed(tokens)]
    return words, [(at, size - 1 - at) for at in reversed(range(size))]


def shuffled(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Interleave both halves, leave some words out and double others; few links are known."""
    half = len(tokens) // 2
    order = [at for pair in zip(range(half), range(half, 2 * half), strict=True) for at in pair]
    order = [at for at in order if at % 5 != 3] + order[:2]
    return [f"{tokens[at]}y" if tokens[at].isalpha() else tokens[at] for at in order], [
        (at, to) for to, at in enumerate(order) if at % 3 != 1
    ]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("format", ["text", "html", "xliff-inline"])
def test_a_line_that_is_not_translated_comes_back(name: str, format: str) -> None:
    line = CASES[name]
    if format != "text" and name in ("comparisons", "tags in code"):
        pytest.skip("not mark-up")
    assert identity(source_lang="en", target_lang="en").translate([line], format=format) == [line]
    assert identity(source_lang="fr", target_lang="en", split=False).translate([line], format=format) == [line]


@pytest.mark.parametrize("line", ENTITIES)
def test_entities_come_back(line: str) -> None:
    assert identity().translate([line], format="html") == [line]
    assert identity().translate([line]) == [line]


def test_a_model_sees_the_characters_that_entities_stand_for() -> None:
    seen = identity().paragraph("caf&eacute; &amp; &lt;b&gt;", "html").sentences[0]
    assert seen.tokens == ("café", "&amp;", "&lt;", "b", "&gt;")
    told = identity(lambda tokens: (["R", "&amp;", "D", "&lt;"], []))
    assert told.translate(["x y"], format="html") == ["R&amp;D &lt;"]
    assert told.translate(["x y"]) == ["R&D <"]


@pytest.mark.parametrize("told", [backwards, shuffled])
@pytest.mark.parametrize("name", [name for name in CASES if name != "comparisons"])
def test_all_tags_of_a_translation_are_those_of_its_source(name: str, told) -> None:
    line = CASES[name]
    (out,) = identity(told).translate([line], format="html")
    assert Counter(TAG.findall(out)) == Counter(TAG.findall(line))
    if nested(line):
        assert nested(out)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("press <b>here</b> now", "nowx <b>herex</b> pressx"),
        ("press <b>right here</b>", "<b>herex rightx</b> pressx"),
        ("<a href='x'>one</a> two <b>three</b>", "<b>threex</b> twox <a href='x'>onex</a>"),
        ("<b>one <i>two</i></b> three", "threex <b><i>twox</i> onex</b>"),
        ("one <x/>two", "<x/>twox onex"),
        ("one<x/> two", "twox onex<x/>"),
        ('press <bpt i="1"/>here<ept i="1"/> now', 'nowx <bpt i="1"/>herex<ept i="1"/> pressx'),
        ("press <0>here</0> <1/>now", "<1/>nowx <0>herex</0> pressx"),
        ("one <3 two > three", "threex > twox <3 onex"),
        ("one <b class='notranslate'>two three</b>", "<b class='notranslate'>two three</b> onex"),
        ("one two<script>a b</script>three four", "twox onex<script>a b</script>fourx threex"),
        ("un<b>belie</b>vable thing", "thingx <b>unbelievablex</b>"),
    ],
)
def test_tags_go_where_their_words_went(line: str, expected: str) -> None:
    assert identity(backwards, source_lang="en", target_lang="en").translate([line], format="html") == [expected]


def test_a_tag_behind_a_word_goes_behind_all_that_the_word_became() -> None:
    text = TextPipeline(TextSettings())
    (sentence,) = text.paragraph("go<x/> now it", "html").sentences
    assert text.finish(["a", "b", "c", "d"], sentence, [(0, 0), (0, 2), (1, 1)]) == "a b c<x/> d"
    (sentence,) = text.paragraph("now <x/>go", "html").sentences
    assert text.finish(["a", "b", "c"], sentence, [(0, 0), (1, 1), (1, 2)]) == "a <x/>b c"


def test_white_space_of_a_tag_is_not_left_at_an_end() -> None:
    model = identity(lambda tokens: (["a"], [(0, 0)]))
    assert model.translate(["one <x/> two"], format="html") == ["a <x/>"]
    last = identity(lambda tokens: (["a"], [(len(tokens) - 1, 0)]))
    assert last.translate(["one <x/>, two"], format="html") == ["<x/> a"]


NAMES = st.sampled_from(["b", "i", "a href='u'", 'g id="1"'])
WORDS = st.sampled_from(["one", "two ", " three", "fo", "ur", ". Five", " {x} ", "6", " ", "\u200b"])


def trees(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(NAMES, inner).map(lambda item: f"<{item[0]}>{item[1]}</{item[0].split()[0]}>")
    return st.lists(st.one_of(pair, WORDS, st.just("<x id='2'/>")), max_size=5).map("".join)


TREES = st.recursive(WORDS, trees, max_leaves=12)


#: tags with white space on both sides take the second along, where they go
SPACED = re.compile(r"(?:^|\s)(?:<[^>]+>)+(?:\s|$|[.,;:!?])")


@settings(deadline=None)
@given(TREES)
@example("<b>two </b><x id='2'/>. Five")
def test_any_tree_of_tags_comes_back(line: str) -> None:
    assert identity().translate([line]) == [line]
    assert identity().translate([line], format="html") == [line]


@settings(deadline=None, max_examples=60)
@given(TREES, st.sampled_from([backwards, shuffled]), st.booleans())
@example("two <x id='2'/>. Five", shuffled, False)
def test_trees_stay_trees_and_text_is_that_of_a_line_without_markup(line: str, told, split: bool) -> None:
    model = identity(told, split=split)
    (out,) = model.translate([line], format="html")
    assert Counter(TAG.findall(out)) == Counter(TAG.findall(line))
    assert nested(out)
    (bare,) = model.translate([without_markup(line)])
    assert TAG.sub("", out).split() == bare.split() or SPACED.search(line)
    assert "".join(TAG.sub("", out).split()) == "".join(bare.split())


@settings(deadline=None)
@given(TREES)
def test_text_in_xliff_has_the_tags_that_it_has_when_it_is_plain(line: str) -> None:
    written = f'<g id="7">{escape(line)}</g> {escape(line)}'
    assert identity().translate([written], format="xliff-inline") == [written]
    plain, inline = (find_tags(text, format) for text, format in ((line, "text"), (escape(line), "xliff-inline")))
    assert [tag[2:] for tag in inline] == [tag[2:] for tag in plain]
    assert [escape(line)[tag.start : tag.end] for tag in inline] == [escape(line[tag.start : tag.end]) for tag in plain]
    (out,) = identity(backwards, split=False).translate([escape(line)], format="xliff-inline")
    assert unescape(out) == identity(backwards, split=False).translate([line])[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("press &lt;b&gt;here&lt;/b&gt; now", "nowx &lt;b&gt;herex&lt;/b&gt; pressx"),
        ("one &lt; two &gt; three", "threex &gt; twox &lt; onex"),
        # a pair that crosses another one falls apart: both halves go with a word, and nothing is lost
        (
            'one &lt;b&gt;two <g id="1">three&lt;/b&gt; four</g>',
            '<g id="1">fourx threex&lt;/b&gt;</g> &lt;b&gt;twox onex',
        ),
        ('a <it id="2" pos="open">&lt;u&gt;</it>value is', 'isx <it id="2" pos="open">&lt;u&gt;</it>valuex ax'),
    ],
)
def test_tags_inside_of_xliff_go_where_their_words_went(line: str, expected: str) -> None:
    model = identity(backwards, source_lang="en", target_lang="en")
    assert model.translate([line], format="xliff-inline") == [expected]


def test_a_placeholder_of_xliff_is_a_word_and_another_code_keeps_its_space() -> None:
    told = identity(lambda tokens: (list(tokens), [(at, at) for at in range(len(tokens) - 1)]), source_lang="fr")
    assert len(told.paragraph('Le nom : <ph id="1"/>.', "xliff-inline").sentences[0].tokens) == 5
    assert len(told.paragraph('Le nom : <x id="1"/>.', "xliff-inline").sentences[0].tokens) == 4
    for line in ('The name is <ph id="1"/>.', 'The name is <x id="1"/>.', 'See <x id="1"/>, or <x id="2"/>!'):
        assert told.translate([line], format="xliff-inline") == [line]


def test_what_is_no_tag_in_a_plain_text_is_text() -> None:
    for line in ["1 < 2 > 0", "a <b and c> d", "List<String> x", "<not closed", "Mail <me@example.org>", "<3"]:
        assert find_tags(line) == []
    assert [tag.name for tag in find_tags("a<br/>b <b>c</b> <a0/>")] == ["br", "b", "b", "a0"]


def test_elements_that_end_a_sentence_separate_words() -> None:
    assert "p" in BLOCKS
    assert [stretch.text for stretch in stretches("<p>a</p>b", find_tags("<p>a</p>b", "html"), "html")] == [
        "",
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    "tag",
    [
        """<body onload="f('<b>')">""",
        '<a title="a < b" href=x>',
        "<img alt='<3'/>",
        """<p data-x='<b class="y">' hidden>""",
    ],
)
def test_angle_brackets_in_values_of_a_page_belong_to_their_tag(tag: str) -> None:
    line = f"one {tag} two"
    assert [line[found.start : found.end] for found in find_tags(line, "html")] == [tag]


@pytest.mark.parametrize("text", ['a <b and "<" c', '<a "<b" "<b"', "<a x='<b> y"])
def test_quotation_marks_of_a_page_that_close_nothing_hide_no_tags(text: str) -> None:
    line = text + " <i>x</i>"
    assert [line[found.start : found.end] for found in find_tags(line, "html")][-2:] == ["<i>", "</i>"]


def test_what_a_page_keeps_from_translators_by_its_class_is_opaque() -> None:
    line = """<p class="x notranslate">one</p> <b class='notranslate'>two</b> <i class="notranslated">three</i>"""
    kinds = [(tag.name, tag.kind) for tag in find_tags(line, "html")]
    assert kinds == [("p", "opaque"), ("b", "opaque"), ("i", "open"), ("i", "close")]


def test_very_deep_trees_are_not_a_problem() -> None:
    line = "<b>" * 3000 + "word" + "</b>" * 3000
    assert identity(backwards).translate([line], format="html")[0].count("<b>") == 3000
    wide = "<b>x</b> " * 3000
    assert identity(backwards).translate([wide], format="html")[0].count("</b>") == 3000
