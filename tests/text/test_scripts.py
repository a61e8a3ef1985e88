"""Scripts without spaces are split into characters, and come back joined."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from camber.text.detokenise import FOREIGN, learn_spaces
from camber.text.pipeline import TextPipeline
from camber.text.scripts import split_unspaced, without_spaces
from camber.text.settings import TextSettings
from camber.text.tokenise import Tokenizer


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("zh", "Tom躲在桌子底下。", "Tom 躲 在 桌 子 底 下 。"),
        ("zh", "他在2024年买了iPhone。", "他 在 2024 年 买 了 iPhone 。"),
        ("ja", "東京タワーへ行く。", "東 京 タ ワー へ 行 く 。"),
        ("th", "ที่นี่สวยมาก", "ที่ นี่ ส ว ย มา ก"),
        ("th", "เก้าอี้", "เก้า อี้"),
        ("lo", "ສະບາຍດີ", "ສະ ບາ ຍ ດີ"),
        ("km", "ខ្ញុំ", "ខ្ញុំ"),
        ("en", "I like 寿司 a lot.", "I like 寿 司 a lot ."),
    ],
)
def test_characters_are_tokens_and_words_in_other_letters_stay_whole(language: str, line: str, expected: str) -> None:
    tokenizer = Tokenizer("moses", language, segment=True)
    assert " ".join(tokenizer.tokenise(line)) == expected
    assert tokenizer.detokenise(tokenizer.tokenise(line)) == line


def test_models_without_segmenting_keep_words_as_they_were() -> None:
    assert Tokenizer("moses", "zh").tokenise("躲在桌子。") == ["躲在桌子", "。"]


@pytest.mark.parametrize("line", ["他说：“你好！”然后走了。", "（一）《红楼梦》，不错……", "我有3个iPhone和2.5元。"])
def test_marks_of_chinese_have_no_spaces_beside_them(line: str) -> None:
    tokenizer = Tokenizer("moses", "zh", segment=True)
    assert tokenizer.detokenise(tokenizer.tokenise(line)) == line


def test_how_foreign_words_stand_in_a_text_is_learnt() -> None:
    assert learn_spaces("zh", ["我有 iPhone 了", "和 Tom 说", "用X"]) == {FOREIGN: " "}
    spaced = Tokenizer("moses", "zh", {FOREIGN: " "}, segment=True)
    assert spaced.detokenise(["我", "有", "iPhone", "了", "。"]) == "我有 iPhone 了。"


@settings(deadline=None)
@example("ខ្ ")
@given(st.sampled_from(["桌子。カー゙ﾞ", "ที่นี่เก้า", "ខ្ញុំ"]).flatmap(lambda script: st.text("a1 ." + script, max_size=20)))
def test_splitting_changes_nothing_but_spaces(text: str) -> None:
    assert split_unspaced(text).replace(" ", "") == text.replace(" ", "")
    assert split_unspaced(" ".join(split_unspaced(text).split())).split() == split_unspaced(text).split()


def test_numbers_beside_characters_are_protected() -> None:
    text = TextPipeline(TextSettings(source_lang="zh", target_lang="en"))
    assert text.source_tokens("他在2024年看https://a.org/b吧。") == [
        "他", "在", "@num@", "年", "看", "@url@", "吧", "。",
    ]  # fmt: skip


def test_lines_without_spaces_are_noticed_in_any_script() -> None:
    assert without_spaces([["富士山是日本最高的山", "。"]] * 3) == 1.0
    assert without_spaces([["Donaudampfschifffahrtsgesellschaftskapitän"], ["https://example.org/a/b/c/d/e/f"]]) == 0.5
    assert without_spaces([["富", "士"], ["a", "b"], []]) == 0.0
