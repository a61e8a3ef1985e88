"""Text without a space, and other text that invites work of a higher order: it takes time in proportion to its length.

Each runs in a process of its own that is ended after far more CPU time than linear work takes, and long before work of
a higher order is done.
"""

from __future__ import annotations

import pytest
from adversary.bounds import most_memory, run_alone

SIZE = 200_000
WARM = """
from camber.text.case import Truecaser, recase
from camber.text.tokenise import Tokenizer
from camber.text.detokenise import joiner
for language in ("en", "fr", "fi"):
    Tokenizer("moses", language).tokenise("Warm up.")
"""
WORDS = [
    "a", ".", "'", ",", "’", "é", "@", "a@", "a@b.c,", "a@www.b.c,", "www.", "http://", "www.)", "&amp;", "&#1", "a.,",
    '"', "<", "a:b", "a’",
]  # fmt: skip


@pytest.mark.slow
def test_long_text_without_a_space_is_tokenised_cased_and_joined_again() -> None:
    code = f"""
for language in ("en", "fi"):
    tokenizer = Tokenizer("moses", language)
    for word in {WORDS!r}:
        line = word * ({SIZE} // len(word.encode()))
        tokens = tokenizer.tokenise(line)
        caser = Truecaser.learn([tokens])
        tokenizer.detokenise(recase(caser.apply(tokens), tokens))
"""
    # some 0.3 CPU seconds for each of 40 lines
    _, memory = run_alone(code, seconds=100, warm=WARM)
    assert memory <= most_memory(SIZE)


@pytest.mark.slow
def test_long_text_is_protected_split_and_freed_of_tags() -> None:
    """Whatever looks like the beginning of something that never ends."""
    words = [
        "a",
        "1",
        "1,",
        "``",
        "`a",
        ":a",
        ":a:`",
        "{",
        "{{a",
        "%",
        "%(",
        "<",
        "<b>",
        "</b>",
        "<b ",
        "<!--",
        "<a b='",
        "&",
        "&a",
        "a.",
        ". ",
        "...",
        "a. A",
        "/a",
        "/",
        "a_",
        "_",
        "-",
        "--a",
        "\\",
        "|a",
        "[#",
        "`a <b",
        "a@",
        "www.",
        "👍\u200d",
        "(",
        "$a",
        "a.py.",
        ".txt",
        "桌。",
        "เ",
        '"',
        "» ",
        "<ph>",
        "a.b",
    ]
    code = f"""
from camber.text.pipeline import TextPipeline, TextSettings
text = TextPipeline(TextSettings(source_lang="en", target_lang="en"))
for word in {words!r}:
    line = word * ({SIZE // 10} // len(word.encode()))
    for format in ("text", "html"):
        for sentence in text.paragraph(line, format).sentences:
            copies = [(at, at) for at in range(len(sentence.tokens))]
            text.finish(sentence.tokens, sentence, copies)
"""
    run_alone(code, seconds=60, warm=WARM)


@pytest.mark.parametrize(
    "tokens",
    [
        '["\'"] * 50_000 + ["a", "."] * 50_000',  # many marks before the first word of many sentences
        '["boys", "\'", "x"] * 100_000',  # apostrophes that might be quotation marks, if one closed them
        '["\\"", "a", "*", "«"] * 50_000',
        '["(", "s", ")"] * 100_000',
    ],
)
def test_long_lines_of_tokens_are_cased_and_joined(tokens: str) -> None:
    run_alone(
        f"""
tokens = {tokens}
for language in ("en", "fr"):
    joiner(language)(recase(tokens, tokens))
""",
        warm=WARM,
    )


def test_a_word_of_very_many_forms_is_looked_up_once() -> None:
    code = """
from itertools import product
forms = ["".join(letters) for letters in product(*[(small, small.upper()) for small in "abcdefghijklmno"])]
caser = Truecaser.learn([["x", form, "y"] for form in forms])
assert len(caser.counts["abcdefghijklmno"]) == 2**15
for form in forms:
    caser.apply([form, "y"])
"""
    run_alone(code, warm=WARM)
