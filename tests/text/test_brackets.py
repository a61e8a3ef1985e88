"""Brackets and quotation marks come back in pairs, whatever a search does with them."""

import sys
import unicodedata
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from camber.text.brackets import bracket, nests
from camber.text.pipeline import TextPipeline
from camber.text.restore import restore
from camber.text.settings import TextSettings

TEXT = TextPipeline(TextSettings(source_lang="en", target_lang="en"))


@st.composite
def nested(draw, depth=2):
    """Draw words with brackets in pairs."""
    out = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["a", "dog", "()", "[]", "{ }"])) if depth else "a"
        if kind[0] in "([{":
            out += [kind[0], *draw(nested(depth - 1)), kind[-1]]
        else:
            out.append(kind)
    return out


@given(nested(), st.data())
def test_any_translation_has_the_brackets_of_its_source_in_pairs(words, data):
    source = TEXT.prepare(" ".join(words))
    copies = [(at, token) for at, token in enumerate(source.tokens) if data.draw(st.integers(0, 4))]
    more = data.draw(st.lists(st.sampled_from(["(", ")", "&#91;", "x"]), max_size=3))
    mixed = data.draw(st.permutations([*copies, *((-1, token) for token in more)]))
    links = [(at, to) for to, (at, _) in enumerate(mixed) if at >= 0]
    found = restore([token for _, token in mixed], source, links)
    there = [bracket(token) for token in found.tokens if bracket(token)]
    wanted = [bracket(token) for token in source.tokens if bracket(token)]
    assert nests(there)
    assert Counter(there) == Counter(wanted) or not wanted
    assert len(found.tokens) == len(found.origins)
    assert all(0 <= to < len(found.tokens) for _, to in found.links)


def test_pairs_are_of_one_kind_and_inside_or_beside_each_other():
    for good in ("", "()[]", "([])()", "{()}"):
        assert nests(good)
    for bad in ("(", ")", ")(", "([)]", "(]"):
        assert not nests(bad)


def test_what_is_in_pairs_already_stays_as_it_is():
    source = TEXT.prepare("a (b) c [d]")
    tokens = ["&#91;", "d", "&#93;", "(", "b", ")"]
    assert restore(tokens, source, [(5, 0), (6, 1)]).tokens == tokens
    assert restore(["(", "b", ")"], TEXT.prepare("b"), []).tokens == ["(", "b", ")"]


def test_a_lost_or_doubled_bracket_is_mended_and_said():
    source = TEXT.prepare("see (this) now")
    lost = TEXT.finished(["see", "(", "this", "now"], source, [(0, 0), (1, 1), (2, 2), (4, 3)])
    assert lost.text.lower() == "see (this) now"
    assert lost.repairs == [") was put back"]
    more = TEXT.finished(["see", "(", "this", ")", ")", "now"], source, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5)])
    assert more.text.lower() == "see (this) now"
    assert "left out" in more.repairs[0]


def test_a_smile_is_no_bracket_that_lost_its_partner():
    source = TEXT.prepare("well : )")
    assert restore(["well"], source, [(0, 0)]).tokens == ["well"]


def test_quotation_marks_stay_even():
    source = TEXT.prepare('say "no" now')
    quote = source.tokens[1]
    links = [(0, 0), (1, 1), (2, 2), (4, 3)]
    assert TEXT.finished(["say", quote, "no", "now"], source, links).text.lower() == 'say "no" now'
    links = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    assert TEXT.finished(["say", quote, "no", quote, "now", quote], source, links).text.lower() == 'say "no" now'
    french = TEXT.prepare("dire « non »")
    assert TEXT.finished(["say", quote, "no", quote], french, [(0, 0), (1, 1), (2, 2), (3, 3)]).text == 'say "no"'


def test_brackets_are_what_normalising_makes_of_them() -> None:
    kinds = dict.fromkeys("()[]{}")
    for char in map(chr, range(sys.maxunicode + 1)):
        plain = unicodedata.normalize("NFKC", char)
        assert bracket(char) == (plain if plain in kinds else "")
