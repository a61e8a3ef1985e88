"""The Moses model of the anchors, converted once."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import pytest

from camber.decode.phrase.decoder import PhraseDecoder
from camber.decode.phrase.settings import DecodeSettings
from camber.model.translator import Translator, load
from camber.pipeline.convert_moses import convert_moses

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
MOSES = SHARED / "anchors" / "moses"


class Anchor(NamedTuple):
    """Moses' model, its test sentences, and the fields of its n-best list by sentence."""

    translator: Translator
    text: list[list[str]]
    lists: dict[int, list[list[str]]]

    def decoder(self, **settings: int) -> PhraseDecoder:
        """Return a decoder with other settings."""
        own = self.translator.decoder
        weights = dict(zip(own.names, own.weights.tolist(), strict=True))
        return PhraseDecoder(own.rules, own.languages, weights, DecodeSettings(**{"unknown": "move"} | settings))


@pytest.fixture(scope="session")
def anchor(tmp_path_factory: pytest.TempPathFactory) -> Anchor:
    """Moses' model for Multi30k; tests that ask for it are skipped where the anchors are absent."""
    if not MOSES.is_dir():
        pytest.skip(f"{MOSES} is absent")
    folder = tmp_path_factory.mktemp("moses") / "model"
    convert_moses(MOSES / "moses.ini", folder)
    lines = (SHARED / "data/multi30k/tok/test.de").read_text(encoding="utf-8").splitlines()
    lists: dict[int, list[list[str]]] = {}
    with gzip.open(MOSES / "test.mert.nbest100.gz", "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split(" ||| ")
            lists.setdefault(int(fields[0]), []).append(fields)
            if len(lists) > 150:
                break
    return Anchor(load(folder), [line.split() for line in lines], lists)
