"""Truecasing lowers only what begins a sentence, and recasing raises it again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.errors import InputError
from camber.files import words
from camber.text.case import Truecaser, is_shouted, lower, recase, sentence_starts, upper

TEXT = [
    words("The cat saw Paris and the US ."),
    words("It is the NATO summit , it is ."),
    words("I think that warning is for us ."),
    words("He bought an iPhone ."),
    words("THE END OF THE WORLD"),
]
CASER = Truecaser.learn(TEXT)


def test_the_first_word_gets_its_most_frequent_form_inside_sentences():
    assert CASER.apply(words("The dog")) == ["the", "dog"]
    assert CASER.apply(words("Paris sleeps")) == ["Paris", "sleeps"]
    assert CASER.apply(words("IPhone owners")) == ["iPhone", "owners"]


def test_a_word_that_was_only_seen_at_sentence_starts_stays():
    assert CASER.best("He") is None
    assert CASER.apply(["He", "sleeps"]) == ["He", "sleeps"]


def test_words_inside_a_sentence_are_never_changed():
    assert CASER.apply(words("The Cat And The Dog")) == ["the", "Cat", "And", "The", "Dog"]


def test_words_after_a_sentence_end_are_treated_as_first_words():
    assert CASER.apply(words("It rains . The cat ! &quot; It is")) == words("it rains . the cat ! &quot; it is")


def test_an_all_caps_first_word_keeps_its_capitals_if_it_is_written_so():
    assert CASER.apply(words("US troops")) == ["US", "troops"]
    assert CASER.apply(words("NATO meets")) == ["NATO", "meets"]
    assert CASER.apply(words("WARNING : wet")) == ["warning", ":", "wet"]
    assert CASER.apply(words("ZYX unknown")) == ["ZYX", "unknown"]


def test_a_line_of_capitals_is_lowered_as_the_model_says():
    assert CASER.apply(words("THE CAT SAW PARIS !")) == ["the", "cat", "saw", "Paris", "!"]


def test_lines_of_capitals_teach_nothing():
    assert "END" not in CASER.counts.get("end", {})


def test_equal_counts_go_to_small_letters():
    caser = Truecaser.learn([["x", "May"], ["x", "may"]])
    assert caser.best("MAY") == "may"


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(words("The the THE Cat cat . ! &quot; 3 ¿ ß İx")), max_size=8)))
def test_a_saved_model_is_the_same_when_it_is_loaded(tmp_path_factory, text):
    caser = Truecaser.learn(text)
    path = tmp_path_factory.mktemp("case") / "truecase.tsv"
    caser.save(path)
    assert Truecaser.load(path).counts == caser.counts
    first = path.read_bytes()
    Truecaser.load(path).save(path)
    assert path.read_bytes() == first


def test_a_damaged_model_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "truecase.tsv"
    path.write_text("the\tthe\t5\nbroken line\n")
    with pytest.raises(InputError, match=r"truecase\.tsv:2: not a word"):
        Truecaser.load(path)


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=5), max_size=10))
def test_casing_never_changes_anything_but_case(tokens):
    for out in (CASER.apply(tokens), recase(tokens)):
        assert [a.casefold() for a in out] == [b.casefold() for b in tokens] or any("İ" in b for b in tokens)


@pytest.mark.parametrize(
    ("tokens", "source", "expected"),
    [
        ("where is it ?", "Wo ist es ?", "Where is it ?"),
        ("where is it ?", "wo ist es ?", "where is it ?"),
        ("&quot; come in ! &quot; he said . then he left .", "X", "&quot; Come in ! &quot; he said . Then he left ."),
        ("¿ dónde ? nada .", "Where ?", "¿ Dónde ? Nada ."),
        ("iPhone owners", "Besitzer", "iPhone owners"),
        ("www.example.org is down", "Die Seite", "www.example.org is down"),
        ("3 people walk", "Drei Leute", "3 people walk"),
        ("ßx", "X", "ßx"),
        ("hello", "", "Hello"),
        ("hello", "你好", "Hello"),
        ("", "X", ""),
    ],
)
def test_recasing_raises_sentence_starts_unless_the_source_began_small(tokens, source, expected):
    assert " ".join(recase(tokens.split(), source.split())) == expected


def test_sentence_starts_pass_over_marks_but_not_over_numbers():
    assert list(sentence_starts(words("( &quot; Yes . 3 Men"))) == [2, 4]


def test_shouting_needs_two_words_all_in_capitals():
    assert is_shouted(["NO", "SMOKING", "!"])
    assert not is_shouted(["NASA"])
    assert not is_shouted(["I", "A"])
    assert not is_shouted(["NASA", "and", "ESA"])
    assert not is_shouted([])


def test_a_word_in_small_letters_is_never_raised():
    assert CASER.apply(words("paris sleeps")) == ["paris", "sleeps"]
    assert CASER.apply(words("nato . us . iphone")) == words("nato . us . iphone")


@pytest.mark.parametrize("language", ["tr", "az"])
def test_turkish_and_azeri_have_two_letters_i(language):
    caser = Truecaser.learn([words("x ısı ve ilk İzmir Iğdır")], language)
    assert caser.apply(words("Isı artar")) == ["ısı", "artar"]
    assert caser.apply(words("İlk gün")) == ["ilk", "gün"]
    assert caser.apply(words("İzmir güzel")) == ["İzmir", "güzel"]
    assert caser.apply(words("ISI İLK IĞDIR YAĞIŞLI")) == words("ısı ilk Iğdır yağışlı")
    assert recase(words("iyi günler . ılık su"), ["X"], language) == words("İyi günler . Ilık su")
    assert (lower("Iİ", language), upper("ıi", language)) == ("ıi", "Iİ")
    assert (lower("I"), upper("i")) == ("i", "I")


def test_casers_of_turkish_that_were_saved_with_other_small_letters_are_read(tmp_path):
    (tmp_path / "old").write_text("i̇zmir\tİzmir\t3\niğdır\tIğdır\t2\n", "utf-8")
    assert Truecaser.load(tmp_path / "old", "tr").counts == {"izmir": {"İzmir": 3}, "ığdır": {"Iğdır": 2}}


def test_an_unknown_word_at_a_sentence_start_is_cased_as_rare_words_are():
    spanish = Truecaser.learn([words("la casa grande de Madrid y otra casa")])
    assert spanish.lowers_unknown
    assert spanish.unseen("Zapatos") == "zapatos"
    assert [spanish.unseen(word) for word in ("Madrid", "NATO", "iPhone", "A", "¿")] == [
        "Madrid",
        "NATO",
        "iPhone",
        "A",
        "¿",
    ]
    german = Truecaser.learn([words("das Haus , der Baum und die Katze")])
    german.counts |= {"hof": {"Hof": 1}, "tür": {"Tür": 1}}
    assert not german.lowers_unknown
    assert german.unseen("Schuhe") == "Schuhe"


def test_what_goes_on_small_behind_a_mark_does_so_in_the_translation() -> None:
    assert recase(["oh", "!", "you", "?", "yes"], ["Ah", "!", "toi", "?", "oui"]) == ["Oh", "!", "you", "?", "yes"]
    assert recase(["oh", "!", "you", "?", "yes"], ["Ah", "!", "toi", "?", "Oui"]) == ["Oh", "!", "You", "?", "Yes"]
    assert recase(["oh", ".", "you"], ["Ah", "toi"]) == ["Oh", ".", "You"]
