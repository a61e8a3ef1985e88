"""Kinds of models: each is opened by its own modules, and other packages can bring more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import camber
from camber.model.directory import ModelDirectory, write_model
from camber.model.phrase import PhraseKind

IMPORTED = """
import sys
import camber
camber.load(sys.argv[1]).translate(["la llave"])
print(*(name for name in sys.modules if name.startswith("camber.")))
"""


@pytest.mark.parametrize(
    ("kind", "needed", "idle"),
    [
        ("phrase", "camber.decode.phrase.decoder", "camber.decode.chart"),
        ("hiero", "camber.decode.chart.decoder", "camber.decode.phrase"),
    ],
)
def test_a_model_is_opened_without_the_decoder_of_another_kind(
    kind: str, needed: str, idle: str, hotel_model: Path, hotel_hiero: Path
) -> None:
    model = hotel_model if kind == "phrase" else hotel_hiero
    done = subprocess.run([sys.executable, "-c", IMPORTED, str(model)], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert needed in modules
    assert [name for name in modules if name.startswith(idle)] == []


class Verses(PhraseKind):
    """A kind of another package: phrases by another name."""

    takes_pairs = False


VERSES = Verses()


def test_another_package_brings_a_kind(
    hotel_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    install: Callable[[str, dict[str, str]], None],
) -> None:
    monkeypatch.setitem(sys.modules, "verses", sys.modules[__name__])
    install("camber.models", {"verse": "verses:VERSES"})
    directory = ModelDirectory.open(hotel_model)
    with write_model(tmp_path / "m", "verse", directory.settings) as draft:
        draft.take_model(directory)
    lines = ["la llave está en recepción ."]
    assert camber.load(tmp_path / "m").translate(lines) == camber.load(hotel_model).translate(lines)
    with pytest.raises(camber.CamberError, match="cannot be added to a verse model"):
        camber.add(tmp_path / "m", ["uno"], ["one"])
