"""Bringing a Moses model along."""

from __future__ import annotations

from pathlib import Path

import pytest

import camber
from camber.corpus import Sentences
from camber.errors import InputError
from camber.files import write_lines
from camber.formats.moses.ini import MosesIni
from camber.lm.arpa import write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.pipeline.convert_moses import convert_moses

INI = """
# a comment
[distortion-limit]
4

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=4 path=phrase-table input-factor=0 output-factor=0 table-limit=3
LexicalReordering name=LR num-features=6 type=wbe-msd-bidirectional-fe-allff path=reordering-table
Distortion
KENLM name=LM0 path=lm.arpa order=2

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.25
TM= 0.1 0.2 0.3 0.4
LR= 0.1 0.2 0.3 0.4 0.5 0.6
Distortion0= 0.3
LM0= 0.7
"""


@pytest.fixture
def moses(tmp_path: Path) -> Path:
    folder = tmp_path / "moses"
    folder.mkdir()
    (folder / "moses.ini").write_text(INI)
    rows = [("das", "the"), ("das", "that"), ("haus", "house"), ("das haus", "the house")]
    write_lines(
        folder / "phrase-table", [f"{s} ||| {t} ||| 0.5 0.4 0.3 0.2 ||| 0-0 ||| 2 2 1 ||| |||" for s, t in rows]
    )
    write_lines(folder / "reordering-table", [f"{s} ||| {t} ||| 0.6 0.2 0.2 0.5 0.3 0.2" for s, t in rows])
    write_arpa(folder / "lm.arpa", estimate(Sentences.encode([["the", "house"], ["that"]]), LmSettings(order=2)))
    return folder / "moses.ini"


def test_weights_and_settings_come_along(moses: Path, tmp_path: Path) -> None:
    convert_moses(moses, tmp_path / "m")
    model = camber.load(tmp_path / "m")
    weights = model.weights
    assert [weights[name] for name in model.decoder.names[:4]] == [0.1, 0.2, 0.3, 0.4]
    assert [weights[name] for name in model.decoder.names[4:10]] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert (weights["word_penalty"], weights["phrase_penalty"], weights["distortion"]) == (-0.5, 0.25, 0.3)
    assert (weights["lm"], weights["unknown"]) == (0.7, -100.0)  # Moses gives an unknown word -100
    assert (model.settings.distortion_limit, model.settings.options) == (4, 3)
    assert model.settings.unknown == "move"
    assert model.translate(["das haus", "xyz"]) == ["the house", "xyz"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("TM= 0.1 0.2 0.3 0.4", "TM= 0.1 0.2", "2 weights for TM, expected 4"),
        ("LM0= 0.7", "", "no weights for LM0"),
        ("LM0= 0.7", "LM0= much", "is not 'Name= number"),
        ("Distortion\n", "Distortion\nGlobalLexicalModel name=G\n", "GlobalLexicalModel is not supported"),
        ("path=lm.arpa", "path=absent.arpa", "no file"),
        ("path=lm.arpa", "", "has no path="),
        ("msd-bidirectional-fe", "hier-mslr-bidirectional-fe", "other than msd-bidirectional-fe"),
        ("[feature]", "[ttable-file]", "older than version 2"),
        ("PhraseDictionaryMemory", "PhraseDictionaryCompact", "0 phrase tables"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(moses: Path, tmp_path: Path, old: str, new: str, told: str) -> None:
    moses.write_text(INI.replace(old, new))
    with pytest.raises(InputError, match=r"moses\.ini") as error:
        convert_moses(moses, tmp_path / "m")
    assert told in str(error.value)
    assert not (tmp_path / "m").exists()


def test_features_without_a_name_are_numbered(moses: Path) -> None:
    assert [feature.name for feature in MosesIni.read(moses).of_kind("WordPenalty", "Distortion")] == [
        "WordPenalty0",
        "Distortion0",
    ]
