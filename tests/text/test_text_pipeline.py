"""Raw text in, raw text out."""

import json
import unicodedata
from pathlib import Path

import pytest
from toys.identity import identity

from camber.errors import CamberError, ModelError, SettingsError
from camber.files import read_lines
from camber.memory.words import match_words
from camber.text import TextPipeline, TextSettings

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
GERMAN = ["Das ist der Bahnhof.", "Wo ist das Hotel?", "Es ist das Haus."]
ENGLISH = ["That is the station.", "Where is the hotel?", "It is the house, where it is."]


def learn(**settings) -> TextPipeline:
    return TextPipeline.learn(TextSettings(source_lang="de", target_lang="en", **settings), GERMAN, ENGLISH)


def test_text_is_tokenised_and_truecased_by_default():
    text = learn()
    assert text.source_tokens("Das Hotel, bitte!") == ["das", "Hotel", ",", "bitte", "!"]
    assert text.target_tokens("It's the hotel.") == ["it", "&apos;s", "the", "hotel", "."]


def test_a_translation_is_recased_and_detokenised():
    text = learn()
    assert text.finish(["it", "&apos;s", "the", "hotel", "."], text.prepare("Es ist das Hotel.")) == "It's the hotel."
    assert text.finish(["the", "hotel"], text.prepare("das Hotel")) == "the hotel"
    assert text.finish(["the", "hotel"], text.prepare("DAS HOTEL!")) == "THE HOTEL"
    assert text.finish([], text.prepare("")) == ""


def test_lowercase_lowers_everything_and_leaves_the_output_small():
    text = learn(lowercase=True)
    assert text.source_tokens("Das Hotel") == ["das", "hotel"]
    assert text.finish(["the", "hotel", "."], text.prepare("Das Hotel.")) == "the hotel."


def test_tokenised_text_goes_through_untouched():
    text = learn(tokenizer="none")
    line = "It &apos;s ||| The <s> 10\u00a0000 HOTEL ."
    assert text.finish(text.target_tokens(line), text.prepare("DAS HOTEL IST")) == line
    assert text.source_tokens("Das HOTEL , bitte") == ["Das", "HOTEL", ",", "bitte"]


def test_tokenised_text_is_lowered_only_on_wish():
    assert learn(tokenizer="none", lowercase=True).source_tokens("Das &Amp; .") == ["das", "&amp;", "."]


@pytest.mark.parametrize("settings", [{}, {"lowercase": True}, {"tokenizer": "none"}])
def test_a_saved_pipeline_does_the_same_when_it_is_loaded(tmp_path, settings):
    text = learn(**settings)
    text.save(tmp_path)
    loaded = TextPipeline.load(tmp_path)
    assert loaded.settings == text.settings
    for line in ["The house.", "IT IS THE STATION", "where?"]:
        assert loaded.target_tokens(line) == text.target_tokens(line)
        assert loaded.finish(text.target_tokens(line), loaded.prepare(line)) == text.finish(
            text.target_tokens(line), text.prepare(line)
        )


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        learn().save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_french_spacing_is_learnt_from_the_target_text_and_kept(tmp_path):
    settings = TextSettings(source_lang="en", target_lang="fr")
    text = TextPipeline.learn(settings, ["Is it?"], ["Est-ce ça ?"])
    text.save(tmp_path)
    loaded = TextPipeline.load(tmp_path)
    assert loaded.finish(["ça", "?"], loaded.prepare("It?")) == "Ça ?"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"settings": {}}', '{"settings": {}, "spaces": 3}'])
def test_a_damaged_model_is_a_clear_error(tmp_path, content):
    (tmp_path / "text.json").write_text(content)
    with pytest.raises(ModelError, match=r"text\.json: damaged"):
        TextPipeline.load(tmp_path)


def test_an_absent_model_is_a_clear_error(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        TextPipeline.load(tmp_path)
    learn().save(tmp_path)
    (tmp_path / "truecase.target.tsv").unlink()
    with pytest.raises(CamberError, match=r"truecase\.target\.tsv: no such file"):
        TextPipeline.load(tmp_path)


def test_an_unknown_tokenizer_is_an_error():
    with pytest.raises(SettingsError, match="expected one of moses, none"):
        TextSettings(tokenizer="penn")


def test_real_english_survives_casing_and_back():
    folder = DATA / "multi30k" / "raw"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    source, target = read_lines(folder / "dev.de"), read_lines(folder / "dev.en")
    text = TextPipeline.learn(TextSettings(source_lang="de", target_lang="en"), source, target)
    exact = sum(text.finish(text.target_tokens(t), text.prepare(s)) == t for s, t in zip(source, target, strict=True))
    assert exact >= 0.99 * len(target)


@pytest.mark.parametrize("line", ["Das Hotel, bitte!", "DAS HOTEL IST ZU", "das Hotel", ""])
def test_a_line_is_tokenised_once_for_all_candidates(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = learn()
    calls = []
    real = text.source_tokenizer.tokenise
    monkeypatch.setattr(text.source_tokenizer, "tokenise", lambda line: calls.append(line) or real(line))
    prepared = text.prepare(line)
    assert prepared.tokens == tuple(text.source_tokens(line))
    calls.clear()
    assert len({text.finish(["the", "hotel", word], prepared) for word in ("one", "two")}) == 2
    assert calls == []


def test_a_model_of_an_earlier_version_does_as_it_did(tmp_path):
    learn(protection=False, split=False, segment=False).save(tmp_path)
    content = json.loads((tmp_path / "text.json").read_text())
    for name in ("protection", "protect", "split", "segment"):
        del content["settings"][name]
    (tmp_path / "text.json").write_text(json.dumps(content))
    text = TextPipeline.load(tmp_path)
    assert not any((text.settings.protection, text.settings.split, text.settings.segment))
    assert text.source_tokens("Das {x} 5 %s") == ["das", "{", "x", "}", "5", "%", "s"]


SPANISH = ["Quiero una casa grande.", "La casa es de Ana.", "Veo otra casa y un perro."]
OWN = ["I want a big house.", "The house is of Ana.", "I see another house and a dog."]


def test_an_unknown_word_has_the_capital_that_it_has_for_itself():
    text = TextPipeline.learn(TextSettings(source_lang="es", target_lang="en"), SPANISH, OWN)
    source = text.prepare("Zapatos quiero.")  # it began the sentence, and does not any more
    assert text.finish(["I", "want", "Zapatos", "."], source, [(0, 2), (1, 1), (2, 3)]) == "I want zapatos."
    assert text.finish(["Zapatos", "I", "want", "."], source, [(0, 0), (1, 2), (2, 3)]) == "Zapatos I want."
    known = text.prepare("Ana ve una casa.")
    assert (
        text.finish(["a", "house", "sees", "Ana", "."], known, [(0, 3), (1, 2), (3, 1), (4, 4)]) == "A house sees Ana."
    )


def test_an_unknown_word_in_small_letters_does_not_come_back_with_a_capital():
    text = TextPipeline.learn(TextSettings(source_lang="es", target_lang="en"), SPANISH, OWN)
    source = text.prepare("Quiero kubectl.")
    assert text.finish(["kubectl", "want", "."], source, [(0, 1), (1, 0), (2, 2)]) == "kubectl want."
    known = text.prepare("Veo casa.")
    assert text.finish(["house", "see", "."], known, [(0, 1), (1, 0), (2, 2)]) == "House see."
    assert text.source_tokens("ana ve una casa.")[0] == "ana"


def test_a_line_of_capitals_has_the_capitals_of_its_language():
    text = TextPipeline.learn(TextSettings(source_lang="en", target_lang="tr"), ["Good day."] * 2, ["İyi günler."] * 2)
    assert text.finish(["iyi", "ısı", "."], text.prepare("GOOD HEAT.")) == "İYİ ISI."
    assert text.finish(["iyi", "günler", "."], text.prepare("Good day.")) == "İyi günler."


def test_a_language_without_rules_of_its_own_is_told(caplog):
    with caplog.at_level("WARNING"):
        TextPipeline.learn(TextSettings(source_lang="xx", target_lang="en"), ["a"], ["b"])
    assert [r.getMessage() for r in caplog.records] == [
        "'xx' is no language with rules of its own: general rules and the abbreviations of English are assumed"
    ]
    caplog.clear()
    for code in ("de", "pt-BR", "ja", "tr", ""):
        TextPipeline.learn(TextSettings(source_lang=code, target_lang="en"), ["a"], ["b"])
    assert not caplog.records


def test_words_are_the_same_however_their_accents_are_stored() -> None:
    text = TextPipeline(TextSettings(source_lang="fr", target_lang="en"))
    line, apart = (unicodedata.normalize(form, "Où être né, à Åbo ?") for form in ("NFC", "NFD"))
    assert apart != line
    assert text.source_tokens(apart) == text.source_tokens(line) == list(text.prepare(apart).tokens)
    assert text.pair(apart, apart).target == text.pair(line, line).target
    assert match_words(text, apart) == match_words(text, line)
    assert identity().translate([apart]) == [apart]  # what is not translated stays as it is stored
    settings = TextSettings(tokenizer="none")
    assert "".join(TextPipeline(settings).source_tokens(apart)) == "".join(apart.split())


@pytest.mark.parametrize(
    ("line", "told", "links", "expected"),
    [
        ("&Datei", ["&amp;", "file"], [(0, 0), (1, 1)], "&File"),
        ("nimm \\\\alpha", ["take", "\\", "\\", "alpha"], [(0, 0), (1, 1), (2, 2), (3, 3)], "take \\\\alpha"),
        ("vor{x}", ["pre", "@var@"], [(0, 0), (1, 1)], "pre{x}"),
        ("l'{x}", ["the", "@var@"], [(0, 0), (1, 1)], "the {x}"),
        ("vor {x}", ["pre", "@var@"], [(0, 0), (1, 1)], "pre {x}"),
        ("vor{x} da", ["there", "@var@", "pre"], [(0, 2), (1, 1), (2, 0)], "there {x} pre"),
        ("本{x}书", ["book", "@var@", "books"], [(0, 0), (1, 1), (2, 2)], "book {x} books"),
        ("ja / nein", ["yes", "/", "no"], [(0, 0), (1, 1), (2, 2)], "yes / no"),
        ("ja/nein", ["yes", "/", "no"], [(0, 0), (1, 1), (2, 2)], "yes/no"),
    ],
)
def test_white_space_beside_marks_and_protected_text_is_that_of_the_source(line, told, links, expected) -> None:
    text = TextPipeline(TextSettings(source_lang="fr", target_lang="en"))
    source = text.prepare(line)
    assert text.finish(told, source, links).casefold() == expected.casefold()


def test_a_language_keeps_its_own_space_before_marks_that_it_has_a_habit_for() -> None:
    text = TextPipeline(TextSettings(source_lang="de", target_lang="en"))
    source = text.prepare("std::typ")
    assert text.finish(["std", ":", ":", "kind"], source, [(0, 0), (1, 1), (2, 2), (3, 3)]) == "std::kind"
    text = TextPipeline(TextSettings(source_lang="en", target_lang="fr"), spaces={":": "\u00a0"})
    source = text.prepare("yes: {x}")
    assert text.finish(["oui", ":", "@var@"], source, [(0, 0), (1, 1), (2, 2)]) == "oui\u00a0: {x}"


def test_ends_of_lines_come_back_and_are_white_space_in_mark_up() -> None:
    told = identity(lambda tokens: (["x"], [(0, 0)]))
    assert told.translate(["a b\nc\td \r\n\r\n e\u2028f"]) == ["x\nx\tx \r\n\r\n x\u2028x"]
    assert told.translate(["a b\nc d"], format="html") == ["x"]
    assert identity().translate(["a <b>b\n\tc</b> d"], format="html") == ["a <b>b\n\tc</b> d"]
