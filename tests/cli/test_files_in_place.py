"""camber import, camber train --corpus and camber translate --input manual.xliff, as a user meets them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from formats.test_bilingual_tmx import read

from camber.cli import cli
from camber.errors import InputError

pytestmark = pytest.mark.slow


def camber(*words: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from camber.cli import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, timeout=300, check=False)


XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="es-ES" target-language="en-GB" datatype="x"><body>
<trans-unit id="1"><source>La <g id="1">llave</g>, por favor.</source></trans-unit>
<trans-unit id="2"><source>¿Cuánto cuesta una habitación?<x id="2"/></source>
<target state="final">kept</target></trans-unit>
</body></file></xliff>
"""


def test_a_file_is_translated_in_place(hotel_model: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "manual.xliff", tmp_path / "manual.en.xliff"
    source.write_text(XLIFF)
    done = camber("translate", hotel_model, "--input", source, "--output", output)
    assert done.returncode == 0, done.stderr
    assert b"1 of 2 segments translated (1 already translated)" in done.stderr
    units, _ = read(output, "es", "en")
    assert units[0].target is not None
    assert "key" in units[0].target.text.lower()
    assert [code.markup for code in units[0].target.codes] == ['<g id="1">', "</g>"]
    assert [unit.state for unit in units] == ["review", "confirmed"]
    every = camber("translate", hotel_model, "--input", source, "--all")
    assert b"kept" not in every.stdout
    assert b'<x id="2"/></target>' in every.stdout


def test_a_file_that_comes_through_a_pipe_is_not_taken_for_text(hotel_model: Path) -> None:
    for text in (
        XLIFF,
        '<?xml version="1.0"?>\n' + XLIFF,
        "<!DOCTYPE html>\n<p>la llave</p>\n",
        'msgid ""\nmsgstr ""\n',
    ):
        told = CliRunner().invoke(cli, ["translate", str(hotel_model)], input=text)
        assert isinstance(told.exception, InputError)
        assert "--input FILE" in str(told.exception)
        assert told.stdout == ""
    page = CliRunner().invoke(
        cli, ["translate", str(hotel_model), "--format", "html"], input="<!DOCTYPE html>\n<p>a</p>"
    )
    assert page.stdout.startswith("<!DOCTYPE html>\n<p>")


def test_what_makes_no_sense_for_a_file_is_refused(hotel_model: Path, tmp_path: Path) -> None:
    source, text = tmp_path / "manual.xliff", tmp_path / "text"
    source.write_text(XLIFF)
    text.write_text("La llave.\n")
    assert camber("translate", hotel_model, "--input", source, "--prefix", "The").returncode == 2
    assert camber("translate", hotel_model, "--input", text, "--all").returncode == 2
    source.write_text(XLIFF.replace("</body>", ""))
    done = camber("translate", hotel_model, "--input", source, "--output", tmp_path / "out")
    assert done.returncode == 1
    assert b"manual.xliff:" in done.stderr
    assert b"not XML that can be read" in done.stderr
    assert not (tmp_path / "out").exists()
