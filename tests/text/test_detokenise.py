"""Detokenising puts spaces where a writer would."""

from pathlib import Path

import pytest

from camber.files import read_lines, words
from camber.text.detokenise import learn_spaces
from camber.text.tokenise import Tokenizer

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

EXACT = {
    "en": [
        "Isn't it Tom's?",
        "It's 2:30 now, and the score is 3:1.",
        'He said "no" twice, then "yes".',
        "She said 'no' twice.",
        "Michael's 'Thriller' video",
        "The boys' room and the girls' room.",
        "They sang rock 'n' roll.",
        "If you can't beat 'em, join 'em.",
        "He is 6' tall and holds a 12\" record.",
        "A sign (in red) says: stop!",
        "Bring your shirt(s) and/or towels.",
        "It costs $5, £6.50, 20% or 7€.",
        "R&B and AT&T",
        "C++ is *very* hard: call open() now.",
        "I don´t know.",
        "Wait... what?",
        "...and then",
        "He's #1 (really)",
        'A "black"-haired dog',
        "“Yes,” she said.",
        "You’re right; it’s 20°C.",
        "snake_case and C:\\dir",
        "Use <b> and </b> here; 3 < 4 is true.",
        "Write to me@example.org or see https://example.org/x_(y).",
        "the years 1990–2000",
    ],
    "fr": [
        "L'eau d'Évian",
        "J’ai froid aujourd’hui.",
        "C'est l'« idée » d'hier\u00a0!",
        "Ça va\u00a0? Oui\u00a0: très bien\u00a0; merci.",
        "Lorsqu'il dit 'non' aujourd'hui",
    ],
    "de": [
        "Das ist Joe's Bar.",
        "Er sagte: „Ja, bitte.“ Dann ging er.",
        "ein „Open“-Schild",
        "Das »Haus« ist alt.",
    ],
    "fi": ["”Minä rakastan sinua.” ”Niin minäkin sinua.”", "EU:ssa ja USA:n"],
    "it": ["L'acqua dell'albero, un'altra c'è."],
    "es": ["¿Qué hora es? ¡Son las 7:30!", "Dijo: «sí»."],
    "zh": ["你好，世界。"],
    "": ["It is Joe's.", "Hello, world!"],
}


@pytest.mark.parametrize(("language", "line"), [(code, line) for code, lines in EXACT.items() for line in lines])
def test_a_round_trip_is_exact(language, line):
    if language == "fr":
        line = line.replace("« ", "«\u00a0").replace(" »", "\u00a0»")
    tokenizer = Tokenizer("moses", language)
    assert tokenizer.detokenise(tokenizer.tokenise(line)) == line


def test_a_closing_mark_whose_partner_is_missing_closes():
    """Where all marks look the same and there are as many that open as that close, they take turns."""
    finnish = Tokenizer("moses", "fi")
    assert finnish.detokenise(words("he said ” and left")) == "he said” and left"
    assert finnish.detokenise(words("he said ” yes ” and left")) == "he said ”yes” and left"
    assert finnish.detokenise(words("” yes ” she said ” and left")) == "”yes” she said” and left"


def test_marks_of_aggressive_hyphen_splitting_are_joined():
    assert Tokenizer("moses", "en").detokenise(words("well @-@ known and @/@ or")) == "well-known and/or"


def test_french_spacing_follows_the_habit_of_the_text():
    lines = ["Ça va ?"] * 9 + ["Ça va\u00a0?"]
    spaces = learn_spaces("fr", lines)
    assert spaces["?"] == " "
    assert Tokenizer("moses", "fr", spaces).detokenise(["Oui", "!"]) == "Oui !"
    assert learn_spaces("fr", ["Ça va\u202f?"] * 9)["?"] == "\u202f"
    assert learn_spaces("fr", [])["?"] == "\u00a0"
    assert learn_spaces("en", lines) == {}


def test_a_token_with_a_line_break_still_gives_one_line():
    assert Tokenizer("moses", "en").detokenise(["a\nb", "c\rd"]) == "a b c d"


@pytest.mark.parametrize(
    ("folder", "part"), [(f, p) for f in ("multi30k/raw", "tatoeba-fr-en") for p in ("dev", "test")]
)
def test_at_least_99_percent_of_real_english_lines_come_back_exactly(folder, part):
    path = DATA / folder / f"{part}.en"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    lines = read_lines(path)
    english = Tokenizer("moses", "en")
    exact = sum(english.detokenise(english.tokenise(line)) == line for line in lines)
    assert exact >= 0.99 * len(lines)


@pytest.mark.parametrize("folder", ["multi30k/raw", "tatoeba-fr-en"])
def test_at_least_99_percent_of_real_english_lines_have_the_tokens_of_sacremoses(folder):
    path = DATA / folder / "test.en"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    from sacremoses import MosesTokenizer

    lines = read_lines(path)
    english, peer = Tokenizer("moses", "en"), MosesTokenizer("en")
    same = sum(english.tokenise(line) == peer.tokenize(line) for line in lines)
    assert same >= 0.99 * len(lines)


@pytest.mark.parametrize("line", ["Tom'un Mary'nin evi.", "Saat 5'te gel.", "Ankara'da 'evet' dedi."])
def test_endings_of_turkish_names_stay_with_them(line):
    turkish = Tokenizer("moses", "tr")
    assert turkish.detokenise(turkish.tokenise(line)) == line


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("ar", "هل أنت هنا؟ نعم، نعم؛ ٥٪ أو ٣٫٥."),
        ("ur", "یہ ہے۔ وہ کون ہے؟"),
        ("hi", "यह है। वह कौन है?"),
        ("hy", "Այո։ Ոչ։"),
        ("am", "ሰላም። እንዴት፣ ነህ።"),
    ],
)
def test_marks_of_other_scripts_stand_close_to_the_word_before_them(language, line):
    tokenizer = Tokenizer("moses", language)
    assert tokenizer.detokenise(tokenizer.tokenise(line)) == line
    assert len(tokenizer.tokenise(line)) > len(line.split())
