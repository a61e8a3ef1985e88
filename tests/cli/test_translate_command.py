"""camber translate: lists of finished texts, files and flags that are refused in time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import camber
from camber.cli import cli
from camber.errors import InputError
from camber.files import read_lines, write_lines
from camber.nbest.fairseq import FAIRSEQ
from camber.nbest.nbest import NBest
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train


def run(*words: Any, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["--quiet", *(str(word) for word in words)], input=text)


def done(*words: Any, text: str | bytes | None = None) -> str:
    result = run(*words, text=text)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("kind", ["moses", "jsonl"])
def test_lists_hold_finished_texts_as_the_output_does(
    hotel_files: Path, hotel_model: Path, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"list.{kind}"
    lines = read_lines(hotel_files / "test.es")[:10]
    out = done("translate", hotel_model, "--nbest", 5, "--nbest-file", path, text="\n".join(lines)).splitlines()
    nbest = NBest.read(path)
    assert nbest.best_texts() == out
    assert any(text != text.lower() and " " + text[-1] not in text for text in out)  # raw indeed
    translations = list(camber.load(hotel_model).translations(lines, 5))
    assert nbest.texts == [item.text for best in translations for item in best]
    words = [" ".join(item.derivation.words) for best in translations for item in best]
    assert nbest.tokens == (words if kind == "jsonl" else None)
    assert nbest.tokens != nbest.texts


def test_lists_of_a_model_of_tokenised_text_hold_its_tokens_alone(hotel_files: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict({"align": {"model": "quick"}, "text": {"tokenizer": "none"}, "lm": {"order": 2}})
    train(hotel_files / "dev.es", hotel_files / "dev.en", tmp_path / "m", held_out=0, settings=settings)
    done("translate", tmp_path / "m", "--nbest-file", tmp_path / "list.jsonl", text="la llave , por favor .\n")
    nbest = NBest.read(tmp_path / "list.jsonl")
    (best,) = next(camber.load(tmp_path / "m").translations(["la llave , por favor ."]))
    assert nbest.texts == [" ".join(best.derivation.words)]
    assert nbest.tokens is None


def test_hypotheses_whose_finished_texts_are_equal_are_all_listed(hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    (translations,) = model.translations(["La llave, por favor."], 4)
    same = [camber.model.translator.Translation("The same.", item.tokens, item.derivation) for item in translations]
    nbest = model.to_nbest([same])
    assert nbest.texts == ["The same."] * 4
    assert nbest.tokens is not None
    assert len(set(nbest.tokens)) == 4


def test_a_recalled_text_is_listed_as_what_the_decoder_made(hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    line = "La llave, por favor."
    expected = model.translate([line])

    class Recalling:
        def recall(self, line: str, tokens: list[str]) -> str:
            return "The key -- please!"

    model.memory = Recalling()  # type: ignore[assignment]
    translations = list(model.translations([line]))
    assert translations[0][0].text == "The key -- please!"
    assert model.to_nbest(translations).texts == expected


def test_bars_in_a_text_do_not_spoil_a_list(hotel_model: Path, tmp_path: Path) -> None:
    for name, written in (("list", "&#124;&#124;&#124;"), ("list.jsonl", "|||")):
        out = done("translate", hotel_model, "--nbest-file", tmp_path / name, text="http://a.b/c|||d\n")
        assert "|||" in out
        assert written in NBest.read(tmp_path / name).texts[0]


def test_the_ending_of_its_name_tells_the_format_of_a_list(hotel_model: Path, tmp_path: Path) -> None:
    text = "La llave, por favor.\n"
    done("translate", hotel_model, "--nbest-file", tmp_path / "list.jsonl", text=text)
    assert (tmp_path / "list.jsonl").read_text().startswith('{"sentence": 0')
    done("translate", hotel_model, "--nbest-file", tmp_path / "a.jsonl", "--nbest-format", "moses", text=text)
    assert (tmp_path / "a.jsonl").read_text().startswith("0 ||| ")
    done("translate", hotel_model, "--nbest-file", tmp_path / "list", text=text)
    assert (tmp_path / "list").read_text().startswith("0 ||| ")


def test_a_format_without_room_for_features_is_refused_by_name_and_by_ending(
    hotel_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = dataclasses.replace(FAIRSEQ, endings=(".bare",))
    monkeypatch.setattr("camber.nbest.formats.formats", lambda: (bare,))
    for flags in (["--nbest-file", tmp_path / "list", "--nbest-format", "fairseq"], ["--nbest-file", "list.bare"]):
        told = run("translate", hotel_model, *flags, text="a\n")
        assert told.exit_code == 2
        assert "the n-best format fairseq has no place for the features of a model" in told.output


@pytest.mark.parametrize("flag", ["--nbest-format=jsonl", "--no-distinct"])
def test_flags_of_a_list_without_its_file_are_refused(hotel_model: Path, flag: str) -> None:
    result = run("translate", hotel_model, flag, text="a\n")
    assert result.exit_code == 2
    assert "makes no difference without --nbest-file" in result.output


@pytest.mark.parametrize("flag", ["--output", "--nbest-file", "--alignment-file"])
def test_a_place_that_cannot_be_written_is_refused_before_translating(tmp_path: Path, flag: str) -> None:
    """There is not even a model."""
    write_lines(tmp_path / "in", ["a"])
    for place, message in ((tmp_path, "it is a folder; give the name of a file"), (tmp_path / "no" / "f", "make the")):
        with pytest.raises(InputError, match=f"^{place}: cannot be written: .*{message}"):
            raise run("translate", tmp_path / "m", "--input", tmp_path / "in", flag, place).exception or ValueError
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_bad_utf8_on_standard_input_has_one_line_number(hotel_model: Path) -> None:
    with pytest.raises(InputError, match=r"^standard input:3: invalid UTF-8 \(byte 0xff\)"):
        raise run("translate", hotel_model, text=b"La\nllave\nx \xff\n").exception or ValueError


def test_a_byte_order_mark_is_dropped_at_the_start_of_standard_input(hotel_model: Path) -> None:
    plain = done("translate", hotel_model, text="La llave\r\nla llave")
    assert done("translate", hotel_model, text="\ufeffLa llave\r\nla llave") == plain


def test_a_hierarchical_model_refuses_settings_of_phrases_by_their_flags(hotel_hiero: Path) -> None:
    result = run("translate", hotel_hiero, "--distortion-limit", 3, "--options", 5, "--pop-limit", 9, text="a\n")
    assert result.exit_code == 2
    told = " ".join(result.output.split())
    assert f"--distortion-limit, --options: {hotel_hiero} is a hierarchical model" in told
    assert "it has --pop-limit, --window" in told
    assert done("translate", hotel_hiero, "--pop-limit", 9, text="la llave\n")


def test_help_names_no_default_that_is_the_models_own() -> None:
    told = " ".join(done("translate", "--help").split())
    assert "for every stack, at most [default: (the model's own)" in told
    assert "Hierarchical models have no --stack-beam, --distortion-limit, --options and --unknown" in told
