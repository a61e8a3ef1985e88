"""The command `camber lm`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from camber.cli.lm import command
from camber.errors import InputError
from camber.lm.arpa import read_arpa
from camber.text.tokenise import Tokenizer


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_it_writes_a_model_of_the_order_asked_for(tmp_path):
    text, arpa = tmp_path / "text", tmp_path / "model.arpa.gz"
    text.write_text("a b c\na b d\n\n", encoding="utf-8")
    assert run("--text", text, "--order", 3, "--arpa", arpa).exit_code == 0
    assert read_arpa(arpa).order == 3
    assert run("--text", text, "--order", 3, "--prune", "0 0 1", "--arpa", arpa).exit_code == 0
    assert read_arpa(arpa).rows(3).tolist() == [[1, 3, 4]]  # only "<s> a b" was seen twice


def test_bad_input_leaves_nothing_behind(tmp_path):
    text, arpa = tmp_path / "text", tmp_path / "model.arpa"
    text.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        run("--text", text, "--arpa", arpa)
    text.write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match="invalid UTF-8") as caught:
        run("--text", text, "--arpa", arpa)
    assert caught.value.line == 2
    wrong = run("--text", text, "--arpa", arpa, "--order", 7)
    assert wrong.exit_code == 2
    assert "--order" in wrong.output
    assert not arpa.exists()


def test_raw_text_is_tokenised_and_lower_cased_on_demand(tmp_path):
    """The model is the same as that of a text that was tokenised before, as the re-ranker tokenises for its feature."""
    raw = ["L'été, c'est chaud.", "Il l'a dit !", "C'est vrai."] * 2
    tokenizer = Tokenizer("moses", "fr")
    tokenised = [" ".join(tokenizer.tokenise(line.lower())) for line in raw]
    (tmp_path / "raw").write_text("".join(line + "\n" for line in raw))
    (tmp_path / "tokenised").write_text("".join(line + "\n" for line in tokenised))
    for name, flags in (("raw", ["--language", "fr", "--lowercase"]), ("tokenised", [])):
        assert run("--text", tmp_path / name, "--arpa", tmp_path / f"{name}.arpa", "--order", 2, *flags).exit_code == 0
    assert (tmp_path / "raw.arpa").read_bytes() == (tmp_path / "tokenised.arpa").read_bytes()
    assert "\tl&apos;" in (tmp_path / "raw.arpa").read_text()
