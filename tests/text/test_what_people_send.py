"""Some 300 lines of programs, manuals and messages: what must come back does, whatever a search makes of the rest.

In `strings.txt`, ⟦ ⟧ are around what must be in every translation as often as in the line; T, H and X are the formats.
"""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from toys.identity import Links, copy, identity

from camber.text.tags import FORMATS

TAG = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|</?[A-Za-z_][\w:.-]*(?:\s[^<>]*)?/?>")


class Sent(NamedTuple):
    """A line, its format, and what must come back of it."""

    format: str
    line: str
    pieces: Counter[str]


def read(row: str) -> Sent:
    kind, marked = row.split("|", 1)
    line = marked.replace("⟦", "").replace("⟧", "")
    pieces = {piece: line.count(piece) for piece in re.findall("⟦(.*?)⟧", marked)}
    return Sent(FORMATS["THX".index(kind)], line, Counter(pieces))


SENT = [
    read(row) for row in Path(__file__).with_name("strings.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
]
SENT += [
    Sent("text", line, Counter())
    for line in (
        "mot " * 3000,
        "<b>mot</b> " * 500,
        "桌" * 2000,
        "(" * 200 + ")" * 200,
        '"' * 301,
        "* " * 300,
        "*a " * 300,
    )
]
SENT += [
    Sent("text", line, Counter({"{x}": 1}))
    for line in (
        "fin de ligne\u2028séparateur\u2029{x}",
        "\u00a0insécable devant {x}\u00a0",
        "espace fine\u202f! et\u00a0: deux\u2009points\u3000{x}",
        "  a\t\tb \t {x}",
        "\u200fنص\u200e \u202aLRE\u202c {x}",
        "\ufeffBOM {x}",
        "nul\x00 ici {x}",
        "retour {x}\r",
    )
]


def wordless(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Translate all that is no class into one word."""
    return [token if re.fullmatch(r"@\w+@", token) else "wx" for token in tokens], copy(tokens)[1]


def scrambled(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Leave out some tokens, put the others in any order, double some of them, and link only most."""
    rng = random.Random(" ".join(tokens))
    order = [at for at in range(len(tokens)) if rng.random() < 0.8]
    rng.shuffle(order)
    order += [rng.choice(order) for _ in range(len(order) // 5)]
    words = ["wx" if tokens[at][0].isalpha() else tokens[at] for at in order]
    return words, [(at, to) for to, at in enumerate(order) if rng.random() < 0.8]


def nothing(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Leave everything out."""
    return [], []


def well_formed(text: str) -> bool:
    try:
        ElementTree.fromstring(f"<r xmlns:o='u'>{text}</r>")
    except ElementTree.ParseError:
        return False
    return True


def test_there_are_many_of_them() -> None:
    assert len(SENT) > 300
    assert sum(sent.pieces.total() for sent in SENT) > 230


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("language", ["fr", "", "zh"])
def test_a_line_that_is_not_translated_comes_back(format: str, split: bool, language: str) -> None:
    lines = [sent.line for sent in SENT]
    found = list(identity(source_lang=language, target_lang="en", split=split).translations(lines, format=format))
    assert [best[0].text for best in found] == lines
    assert not any(best[0].repairs for best in found)


@pytest.mark.parametrize("told", [wordless, scrambled, nothing])
def test_what_must_come_back_does(told) -> None:
    lost = []
    for sent in SENT:
        (out,) = identity(told, source_lang="fr", target_lang="en").translate([sent.line], format=sent.format)
        if any(out.count(piece) != count for piece, count in sent.pieces.items()):
            lost.append((sent.line, out))
    assert lost == []


@pytest.mark.parametrize("told", [wordless, scrambled, nothing])
def test_tags_come_back_well_formed(told) -> None:
    wrong = []
    for format, line, _ in SENT:
        if format == "text" and not well_formed(line):
            continue
        (out,) = identity(told, source_lang="fr", target_lang="en").translate([line], format=format)
        same = Counter(TAG.findall(out)) == Counter(TAG.findall(line))
        if not same or (well_formed(line) and not well_formed(out)):
            wrong.append((line, out))
    assert wrong == []


@pytest.mark.parametrize("format", FORMATS)
def test_white_space_around_a_line_comes_back(format: str) -> None:
    for _, line, _ in SENT:
        (out,) = identity(wordless, source_lang="fr", target_lang="en").translate([line], format=format)
        assert "\n" not in out
        if line.strip():
            assert out[: len(out) - len(out.lstrip())] == line[: len(line) - len(line.lstrip())], line
            assert out[len(out.rstrip()) :] == line[len(line.rstrip()) :], line
        else:
            assert out == line
