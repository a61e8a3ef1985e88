"""Opened models say how sure they are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from toys.lists import same

import camber
from camber.cli.calibrate import command as calibrate_command
from camber.cli.translate import command as translate_command
from camber.confidence.calibration import FILE
from camber.engine import Threads
from camber.errors import CamberError
from camber.files import read_lines
from camber.model.directory import ModelDirectory
from camber.model.translator import Translator
from camber.nbest.nbest import NBest
from camber.pipeline.calibrate import calibrate, calibrate_model
from camber.pipeline.rewrite import with_weights


@pytest.fixture(scope="module")
def model(hotel_files: Path, hotel_model: Path) -> Translator:
    plain = camber.load(hotel_model)
    source, target = read_lines(hotel_files / "dev.es")[:60], read_lines(hotel_files / "dev.en")[:60]
    return plain.calibrated(calibrate(plain, source, [target], Threads(1)))


def test_translations_and_their_words_have_confidences_and_are_the_same(hotel_files: Path, model: Translator) -> None:
    lines = [*read_lines(hotel_files / "test.es")[:20], "", "una habitación zzyzx, por favor."]
    plain = list(model.translations(lines))
    sure = list(model.translations(lines, confidence=True))
    assert [best[0].text for best in sure] == [best[0].text for best in plain]
    assert all(best[0].confidence is None and best[0].word_confidences == () for best in plain)
    for (item,) in sure:
        assert item.confidence is not None
        assert 0 <= item.confidence <= 1
        assert len(item.word_confidences) == len(item.places) == len(item.derivation.words)
        assert all(0 <= value <= 1 for value in item.word_confidences)
        shown = [item.text[start:end].lower() for start, end in item.places]
        assert [a for a, b in zip(shown, item.derivation.words, strict=True) if b[0] not in "@&"] == [
            word.lower() for word in item.derivation.words if word[0] not in "@&"
        ]
    (unknown,) = sure[-1]
    assert unknown.word_confidences[unknown.derivation.words.index("zzyzx")] == min(unknown.word_confidences)


def test_an_empty_line_is_certain_and_several_sentences_have_their_mean(model: Translator) -> None:
    one, other = "¿Cuánto cuesta la habitación?", "Buenas noches."
    both, first, second, empty = (
        best[0] for best in model.translations([f"{one}  {other}", one, other, ""], confidence=True)
    )
    assert empty.confidence == 1.0
    assert both.word_confidences == first.word_confidences + second.word_confidences
    lengths = [len(item.derivation.words) for item in (first, second)]
    assert both.confidence == pytest.approx(np.average([first.confidence, second.confidence], weights=lengths))
    assert [both.text[a:b] for a, b in both.places] == [
        item.text[a:b] for item in (first, second) for a, b in item.places
    ]


def test_words_are_found_among_tags_and_prefixes(model: Translator) -> None:
    (best,) = model.translations(["<b>buenas</b> noches."], confidence=True)
    assert "<b>" in best[0].text
    assert all("<" not in best[0].text[a:b] for a, b in best[0].places)
    (begun,) = model.translations(["buenas noches."], prefix="GOOD  ni", confidence=True)
    assert begun[0].text.startswith("GOOD  ni")
    assert len(begun[0].places) == len(begun[0].derivation.words)


def test_a_text_that_is_recalled_is_certain(model: Translator) -> None:
    class Memory:
        def recall(self, line: str, tokens: object) -> str | None:
            return "By heart." if line.startswith("buenas") else None

    knowing = model._with(memory=Memory())
    recalled, other = (best[0] for best in knowing.translations(["buenas noches.", "no."], confidence=True))
    assert (recalled.text, recalled.confidence, recalled.word_confidences) == ("By heart.", 1.0, ())
    assert other.confidence is not None
    assert other.confidence < 1.0


def test_n_best_lists_keep_confidences(hotel_files: Path, model: Translator, tmp_path: Path) -> None:
    lines = read_lines(hotel_files / "test.es")[:3]
    nbest = model.to_nbest(list(model.translations(lines, 4, confidence=True)))
    assert nbest.confidences is not None
    assert nbest.word_confidences is not None
    nbest.write(tmp_path / "list.jsonl")
    again = NBest.read(tmp_path / "list.jsonl")
    same(again, nbest)
    np.testing.assert_array_equal(again.confidences, nbest.confidences)
    assert again.word_confidences == nbest.word_confidences
    last = again.of_sentences([2])
    assert last.word_confidences == nbest.word_confidences[-last.hypotheses :]
    with pytest.raises(CamberError, match="a confidence of hypothesis 0"):
        replace(nbest, confidences=np.full(nbest.hypotheses, np.nan))


def test_some_confidences_are_refused_in_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    for last in (
        '{"sentence": 1, "text": "b"}',
        '{"sentence": 1, "text": "b", "confidence": 1, "word_confidences": 3}',
    ):
        path.write_text('{"sentence": 0, "text": "a", "confidence": 0.5, "word_confidences": [0.5]}\n' + last + "\n")
        with pytest.raises(CamberError, match=r"line 2|:2"):
            NBest.read(path)


def test_other_weights_have_no_calibration_and_the_file_goes(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    calibrate_model(hotel_model, *dev, out=tmp_path / "m", engine=Threads(1))
    model = camber.load(tmp_path / "m")
    assert model.calibration is not None
    assert camber.load(hotel_model).calibration is None
    assert model.searching({"pop_limit": 50}).calibration is model.calibration
    other = model.reweighted(model.weights)
    assert other.calibration is None
    with_weights(tmp_path / "m", tmp_path / "other", other, None)
    assert FILE not in ModelDirectory.open(tmp_path / "other")
    ModelDirectory.open(tmp_path / "m", verify=True)


def test_the_commands_write_confidences_by_line(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.es"
    source.write_text("buenas noches.\n\nuna habitación.\n")
    for name, calibrated in (("plain", False), ("calibrated", True)):
        place = hotel_model
        if calibrated:
            place = tmp_path / "calibrated"
            dev = ["--dev-source", str(hotel_files / "dev.es"), "--dev-target", str(hotel_files / "dev.en")]
            done = CliRunner().invoke(calibrate_command, [str(hotel_model), *dev, "--out", str(place)])
            assert done.exit_code == 0, done.output
        sure, listed = tmp_path / f"{name}.jsonl", tmp_path / f"{name}-list.jsonl"
        options = ["--input", str(source), "--output", str(tmp_path / "out"), "--confidence", str(sure)]
        done = CliRunner().invoke(translate_command, [str(place), *options, "--nbest-file", str(listed)])
        assert done.exit_code == 0, done.output
        items = [json.loads(line) for line in read_lines(sure)]
        assert [item["text"] for item in items] == read_lines(tmp_path / "out")
        assert [item["calibrated"] for item in items] == [calibrated] * 3
        assert items[1]["confidence"] == 1.0
        assert items[1]["words"] == []
        for item in items:
            for word in item["words"]:
                a, b = word["place"]
                assert item["text"][a:b] == word["text"]
                assert 0 <= word["confidence"] <= 1
        (hypothesis, *_) = [json.loads(line) for line in read_lines(listed)]
        assert round(hypothesis["confidence"], 4) == items[0]["confidence"]
        assert len(hypothesis["word_confidences"]) == len(hypothesis["tokens"].split())
