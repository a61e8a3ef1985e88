"""Numbers in another language's format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.text.figures import as_written_in, marks_of
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

LANGUAGES = ("en", "de", "fr", "fi", "zh")


def written(number: str, language: str) -> str:
    """Write digits with a point as a language does, thousands in groups."""
    decimal, thousands = marks_of(language)
    whole, _, part = number.partition(".")
    groups = f"{int(whole):,}".replace(",", thousands)
    return groups + (decimal + part if part else "")


@given(st.integers(0, 10**9), st.text("0123456789", max_size=3), st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES))
def test_a_number_is_written_as_the_other_language_does_and_comes_back(whole, part, one, two):
    number = f"{whole}.{part}" if part else str(whole)
    there = as_written_in(written(number, one), one, two)
    assert there == written(number, two)
    assert as_written_in(there, two, one) == written(number, one)


def test_signs_stay_and_plain_spaces_stand_between_thousands():
    assert as_written_in("-1 299,95", "fr", "en") == "-1,299.95"
    assert as_written_in("−1,299.95", "en", "de") == "−1.299,95"


@pytest.mark.parametrize("figure", ["10:30", "1.2.3", "1,23,4", "12/05/2020", "3-4", "1,2345"])
def test_what_is_not_surely_a_number_stays(figure):
    assert as_written_in(figure, "en", "de") == figure


def test_only_the_option_changes_numbers():
    line = "It costs 1,234.5 or 50% of 3.5 at 10:30."
    for chosen, wanted in (
        ("keep", line),
        ("target", "It costs 1.234,5 or 50\u00a0% of 3,5 at 10:30."),
    ):
        text = TextPipeline(TextSettings(source_lang="en", target_lang="de", number_format=chosen))
        source = text.prepare(line)
        assert text.finish(source.tokens, source, [(at, at) for at in range(len(source.tokens))]) == wanted
    plain = TextPipeline(TextSettings(source_lang="en", target_lang="de"))
    changed = plain.reading({"number_format": "target"})
    source = changed.prepare("3.5")
    assert changed.finish(["@num@"], source, [(0, 0)]) == "3,5"
