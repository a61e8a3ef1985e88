"""Text without a space, and other text that invites work of a higher order: it takes time in proportion to its length.

Each runs in a process of its own that is ended after far more CPU time than linear work takes, and long before work of
a higher order is done.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from adversary.bounds import most_memory, run_alone

from camber.corpus.constraints import MOST_PREFIX

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
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
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


@pytest.mark.slow
def test_very_many_spans_that_a_search_dropped_are_put_back() -> None:
    code = """
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.restore import restore
text = TextPipeline(TextSettings(source_lang="en", target_lang="en"))
count = 8_000
source = text.prepare(" ".join(f"{{n{n}}} a" for n in range(count)))
found = restore(["a"] * count, source, [(2 * n + 1, n) for n in range(count)])
assert len(found.repairs) == count
assert found.tokens == list(source.tokens)
assert text.finished(["a"] * count, source, [(2 * n + 1, n) for n in range(count)]).text == source.line
"""
    run_alone(code, warm=WARM)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hotel_model", "hotel_hiero"])
def test_a_line_of_very_many_sentences_is_put_together(model: str, request: pytest.FixtureRequest) -> None:
    """What a sentence takes does not grow with the number of those before it, however many candidates there are."""
    path = request.getfixturevalue(model)
    code = f"""
import camber
model = camber.load({str(path)!r})
(best,) = model.translations(["Quiero hablar con el director. ¡Hasta el martes! " * 1_500], nbest=10)
assert len(best) == 10
"""
    run_alone(code, seconds=40)


@pytest.mark.slow
def test_very_many_terms_and_bans_of_a_sentence_are_obeyed(hotel_model: Path, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(
        "source,target,status\nhabitación,chamber,approved\ndoble,double,forbidden\nx,y,approved\n"
    )
    code = f"""
import camber
model = camber.load({str(hotel_model)!r})
glossary = camber.Glossary.read({str(tmp_path / "g.csv")!r}, "es", "en")
(text,) = model.translate(["habitación doble x " * 5_000], glossary=glossary)
assert text.count("chamber") == text.count("y") == 5_000
"""
    run_alone(code, seconds=60)


def test_a_prefix_takes_no_more_memory_than_completing_a_long_one(hotel_model: Path, tmp_path: Path) -> None:
    """Beyond some length it is left out, and that is said."""
    code = f"""
import camber
model = camber.load({str(hotel_model)!r})
for words in ({MOST_PREFIX}, 40_000):
    (best,) = model.translations(["¿ cuánto cuesta una habitación doble ?"], prefix="how much " * (words // 2))
    print([note.split(",000 words")[0][-2:] for note in best[0].notes], best[0].text.count("how much how much") > 50)
"""
    told, memory = run_alone(code, seconds=60)
    assert told == "[] True\n['40'] False"
    assert memory < 600_000_000


def test_very_many_inline_codes_are_compared_and_put_into_what_is_remembered() -> None:
    code = """
for unit in ('<x id="1"/>', "<b>a</b> ", '<g id="1">'):
    line, source, target = (segment_in(unit * 20_000 + end) for end in ("a", "a", "b"))
    assert unlike(line, source) == 0
    with_codes(line, source, target, escapes=True)
"""
    run_alone(code, warm="from camber.memory.codes import segment_in, unlike, with_codes")
