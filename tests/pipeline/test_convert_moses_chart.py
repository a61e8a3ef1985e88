"""Bringing a hierarchical Moses model along."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import pytest

import camber
from camber.bend.settings import BendSettings
from camber.corpus import Sentences
from camber.corpus.inputs import as_inputs
from camber.errors import InputError
from camber.features.weights import Weights
from camber.files import write_lines
from camber.formats.moses.rule_table import write_glue
from camber.lm.arpa import write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.model.bend import BINS
from camber.pipeline.convert_moses import convert_moses
from camber.pipeline.rewrite import with_weights
from camber.pipeline.tune import tune_model
from camber.tune.bending import bent_decoder
from camber.tune.loop import TuneSettings

INI = """
[input-factors]
0

[mapping]
0 T 0
1 T 1

[cube-pruning-pop-limit]
500

[non-terminals]
X

[search-algorithm]
3

[inputtype]
3

[max-chart-span]
12
1000

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=rule-table input-factor=0 output-factor=0
PhraseDictionaryMemory name=TranslationModel1 num-features=1 path=glue-grammar input-factor=0 output-factor=0
KENLM name=LM0 factor=0 path=lm.arpa order=2

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.25
TranslationModel0= 0.1 0.2 0.3 0.4
TranslationModel1= 0.75
LM0= 0.7
"""
RULES = [
    "habe [X][X] gegessen [X] ||| ate [X][X] [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1 2-0 ||| 1 1 1 ||| |||",
    "habe [X] ||| have [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1 ||| |||",
    "gegessen [X] ||| eaten [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1 ||| |||",
    "ich [X] ||| i [X] ||| 0.8 0.8 0.8 0.8 ||| 0-0 ||| 1 1 1 ||| |||",
    "kuchen [X] ||| cake [X] ||| 0.9 0.9 0.9 0.9 ||| 0-0 ||| 1 1 1 ||| |||",
    "kuchen [X] ||| pie [X] ||| 0.1 0.1 0.1 0.1 ||| 0-0 ||| 1 1 1 ||| |||",
]


@pytest.fixture
def moses(tmp_path: Path) -> Path:
    folder = tmp_path / "moses"
    folder.mkdir()
    (folder / "moses.ini").write_text(INI)
    write_lines(folder / "rule-table", RULES)
    write_glue(folder / "glue-grammar")
    write_arpa(folder / "lm.arpa", estimate(Sentences.encode([["i", "ate", "cake"], ["pie"]]), LmSettings(order=2)))
    return folder / "moses.ini"


def test_a_model_with_a_rule_table_translates(moses: Path, tmp_path: Path) -> None:
    convert_moses(moses, tmp_path / "m")
    model = camber.load(tmp_path / "m")
    assert model.translate(["ich habe kuchen gegessen", "ich xyz", ""]) == ["i ate cake", "i xyz", ""]
    assert (model.settings.span_limit, model.settings.pop_limit) == (12, 500)
    translations = next(model.translations(["ich habe kuchen gegessen"], nbest=5))
    best = translations[0].derivation
    # the score by hand: three rules, one glue rule (which is a rule too), three words, the language model
    rules = sum(math.log(p) for p in (0.8, 0.5, 0.9)) * (0.1 + 0.2 + 0.3 + 0.4)
    lm = NgramModel.read(moses.parent / "lm.arpa")
    text = float(lm.score(Sentences.encode([["i", "ate", "cake"]], lm.vocabulary)).sum())
    expected = rules + 0.75 * math.log(2.718) + 0.25 * 4 + 0.5 * 3 + 0.7 * text
    assert best.score == pytest.approx(expected, abs=1e-5)
    for item in translations:  # and all are the weighted sums of their features
        assert item.derivation.score == pytest.approx(item.derivation.linear_sums @ model.decoder.weights)
    assert translations[0].text == "i ate cake"
    assert best.word_alignment() == [(0, 0), (1, 1), (2, 2), (3, 1)]


def test_the_table_limit_keeps_the_best_rules(moses: Path, tmp_path: Path) -> None:
    moses.write_text(INI.replace("path=rule-table", "path=rule-table table-limit=1"))
    convert_moses(moses, tmp_path / "m")
    translations = next(camber.load(tmp_path / "m").translations(["kuchen"], nbest=9))
    assert [item.text for item in translations] == ["cake"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("TranslationModel0= 0.1 0.2", "TranslationModel0= 0.1", "3 weights for TranslationModel0, expected 4"),
        ("TranslationModel1= 0.75", "", "no weights for TranslationModel1"),
        ("WordPenalty\nPhrase", "WordPenalty\nSoftMatchingFeature\nPhrase", "SoftMatchingFeature is not supported"),
        ("path=rule-table input-factor=0", "path=rule-table input-factor=1", "input-factor=1"),
        ("path=glue-grammar", "path=rule-table", "2 rule tables and 0 glue grammars"),
        ("path=rule-table", "path=absent", "no file"),
        ("[search-algorithm]\n3", "[search-algorithm]\n7", "needs parse trees"),
        ("12\n1000", "far", "is not a whole number"),
        ("500", "0", "above 0"),
    ],
)
def test_what_cannot_be_honoured_is_an_error_that_names_it(
    moses: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in INI
    moses.write_text(INI.replace(old, new))
    with pytest.raises(InputError, match=told):
        convert_moses(moses, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_what_is_passed_over_is_said(moses: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [line for line in INI.splitlines() if "TranslationModel1" not in line]
    moses.write_text("[unknown-lhs]\nlabels\n" + "\n".join(lines))
    logger = logging.getLogger("camber")
    logger.addHandler(caplog.handler)
    try:
        convert_moses(moses, tmp_path / "m")
    finally:
        logger.removeHandler(caplog.handler)
    assert "[unknown-lhs] labels is passed over" in caplog.text
    assert "no glue grammar" in caplog.text
    assert camber.load(tmp_path / "m").translate(["ich kuchen"]) == ["i cake"]


@pytest.mark.slow
def test_a_converted_model_can_be_bent_and_opened_again(moses: Path, tmp_path: Path) -> None:
    convert_moses(moses, tmp_path / "m")
    model = camber.load(tmp_path / "m")
    lines = ["ich habe kuchen gegessen", "kuchen", "habe gegessen xyz"]
    target = ["i have eaten pie", "pie", "have eaten xyz"]  # what the model does not choose by itself
    bent = bent_decoder(model.decoder, as_inputs([line.split() for line in lines]), "bins", BendSettings(bits=8))
    with_weights(tmp_path / "m", tmp_path / "bent", model.shaped(bent, Weights(bent.weighing.by_name())), None)
    again = camber.load(tmp_path / "bent", verify=True)
    assert again.decoder.bend.FILE == BINS
    assert again.decoder.names == bent.names
    assert again.translate(lines) == model.translate(lines)

    write_lines(tmp_path / "dev.de", lines * 5)
    write_lines(tmp_path / "dev.en", target * 5)
    settings = TuneSettings(tuner="pro", bend="mnr", bits=2, beta=1.0, iterations=3, step=1.0, cautious=False)
    tune_model(tmp_path / "m", tmp_path / "dev.de", tmp_path / "dev.en", out=tmp_path / "tuned", settings=settings)
    tuned = camber.load(tmp_path / "tuned", verify=True)
    assert tuned.decoder.bend.FILE == BINS
    assert tuned.translate(["kuchen"]) == ["pie"]
