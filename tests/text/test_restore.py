"""Whatever a search makes of protected text, each span comes back once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.identity import Links, identity

from camber.text.pipeline import TextPipeline
from camber.text.protect import find_spans
from camber.text.restore import restore
from camber.text.settings import TextSettings

TEXT = TextPipeline(TextSettings(source_lang="en", target_lang="en"))
LINE = "Copy {a} to {b} or :ref:`the title <t>` at 10:30, see https://a.org"


def protected(line: str) -> Counter[str]:
    return Counter(line[a:b] for a, b, _ in find_spans(line))


def test_a_class_token_stands_for_what_it_is_linked_to() -> None:
    source = TEXT.prepare("{a} sent {b}")
    assert source.tokens == ("@var@", "sent", "@var@")
    assert TEXT.finish(["@var@", "by", "@var@"], source, [(2, 0), (0, 2)]) == "{b} by {a}"
    assert TEXT.finish(["@var@", "by", "@var@"], source) == "{a} by {b}"


@pytest.mark.parametrize(
    ("tokens", "links", "expected", "told"),
    [
        (["sent", "it"], [(1, 0)], "{a} sent it {b}", "put back"),
        (["@var@", "@var@", "@var@"], [(0, 0), (2, 1), (2, 2)], "{a} {b}", "left out"),
        (["@var@", "sent", "@var@"], [(1, 1)], "{a} sent {b}", "took the place"),
        ([], [], "{a}{b}", "put back"),
    ],
)
def test_what_was_dropped_or_doubled_is_mended_and_said(
    tokens: list[str], links: Links, expected: str, told: str
) -> None:
    text, repairs, _ = TEXT.finished(tokens, TEXT.prepare("{a} sent {b}"), links)
    assert Counter(text.replace(" ", "")) == Counter(expected.replace(" ", ""))
    assert protected(text) == protected("{a} sent {b}")
    assert any(told in repair for repair in repairs)


def test_what_opens_comes_before_what_closes() -> None:
    source = TEXT.prepare(":ref:`the title <t>` here")
    assert source.tokens == ("@open@", "the", "title", "@close@", "here")
    text, repairs, _ = TEXT.finished(["@close@", "titre", "@open@"], source, [(3, 0), (2, 1), (0, 2)])
    assert text == ":ref:`titre <t>`"
    assert repairs


@settings(deadline=None)
@given(st.data())
def test_the_same_multiset_comes_out_as_goes_in_whatever_the_search_does(data: st.DataObject) -> None:
    source = TEXT.prepare(LINE)
    words = st.sampled_from([*source.tokens, "x", "@num@", "@code@"])
    tokens = data.draw(st.lists(words, max_size=20))
    places = st.tuples(st.integers(0, len(source.tokens) - 1), st.integers(0, max(0, len(tokens) - 1)))
    links = data.draw(st.lists(places, max_size=20)) if tokens else []
    restored = restore(tokens, source, sorted(set(links)))
    assert sorted(at for at in restored.origins if at in source.protected) == sorted(source.protected)
    assert len(restored.tokens) == len(restored.origins) == len(restored.best)
    assert all(0 <= to < len(restored.tokens) for _, to in restored.links)
    text = TEXT.finish(tokens, source, sorted(set(links)))
    for span, count in protected(LINE).items():
        assert text.count(span) >= count


def test_user_patterns_come_first() -> None:
    text = TextPipeline(TextSettings(protect=r"ACME \w+"))
    assert text.source_tokens("Buy ACME Rocket 5 now") == ["Buy", "@user@", "@num@", "now"]
    assert identity(protect=r"ACME \w+").translate(["Buy ACME Rocket 5 now"]) == ["Buy ACME Rocket 5 now"]


def test_a_pair_is_linked_by_what_its_class_tokens_stand_for() -> None:
    pair = TEXT.pair("{a} and {b}, :term:`x y`", "{b} then {a}, x")
    assert pair.source == ["@var@", "and", "@var@", ",", "x", "y"]
    assert pair.target == ["@var@", "then", "@var@", ",", "x"]
    assert pair.links == [(0, 2), (2, 0)]


def test_old_models_do_not_protect() -> None:
    old = TextPipeline(TextSettings(protection=False, split=False, segment=False))
    assert old.source_tokens("a {x} 他们") == ["a", "{", "x", "}", "他们"]
    assert old.paragraph("One. Two.").between == ("", "")


def test_what_was_dropped_comes_back_behind_what_somebody_wrote():
    source = TEXT.prepare("{a} sent {b}")
    assert TEXT.finish(["we", "sent", "it"], source, [(1, 1)]) == "We {a} sent {b} it"
    text = TEXT.finished(["we", "sent", "it"], source, [(1, 1)], 2).text
    assert text.startswith("We sent {")
    assert text.endswith("} it")
