"""The corpora: French to English, lower-cased and tokenised, with 300 sentences to tune on and 300 to test."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from camber.files import read_lines, write_lines
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

#: French and English lines
Pairs = list[tuple[str, str]]

#: words that the pairs of the mixed corpus have on either side
SHORT, SHORTEST = 15, 8
#: pairs of the mixed corpus: those of the paper, and 600 to tune and to test
MIXED = 12_600
#: more of them, in place of those that fall out because their source sentence is to be translated
SPARE = 400


@dataclass(frozen=True)
class Corpus:
    """A corpus of the experiment."""

    name: str
    title: str
    sizes: tuple[int, ...]  # pairs to train on


MULTI30K = Corpus("multi30k", "Multi30k", (4000, 8000, 12000, 29000))
SHORT_PAIRS = Corpus("short", "Short pairs of Europarl and Tatoeba", (4000, 6000, 8000, 10000, 12000))
EUROPARL = Corpus("europarl", "Europarl", (4000, 8000))
TATOEBA = Corpus("tatoeba", "Tatoeba", (12000, 50000, 157998))
CORPORA = (SHORT_PAIRS, TATOEBA, MULTI30K, EUROPARL)


@dataclass(frozen=True)
class Texts:
    """The files of one corpus."""

    folder: Path

    def file(self, name: str, side: str) -> Path:
        """Return the file of one side."""
        return self.folder / f"{name}.{side}"

    def pairs(self, name: str) -> tuple[list[str], list[str]]:
        """Return both sides of a set."""
        return read_lines(self.file(name, "fr")), read_lines(self.file(name, "en"))

    def training(self, size: int) -> tuple[Path, Path]:
        """Return files of the first `size` pairs, and write them if they are not there."""
        for side in ("fr", "en"):
            if not self.file(f"train.{size}", side).exists():
                lines = read_lines(self.file("train", side))
                write_lines(self.file(f"train.{size}", side), lines[:size])
        return self.file(f"train.{size}", "fr"), self.file(f"train.{size}", "en")


def texts_of(corpus: Corpus, data: Path, work: Path, sentences: int) -> Texts:
    """Return the files of a corpus, made if they are not there; `sentences` are those to tune on, and to test."""
    folder = work / "texts" / f"{corpus.name}.{sentences}"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        for name, pairs in _sets(corpus, data / "data", sentences).items():
            for k, side in enumerate(("fr", "en")):
                write_lines(part / f"{name}.{side}", [pair[k] for pair in pairs])
        part.rename(folder)
    return Texts(folder)


def _sets(corpus: Corpus, data: Path, sentences: int) -> dict[str, Pairs]:
    if corpus.name == SHORT_PAIRS.name:
        return _mixed(data, sentences)
    folder = {"multi30k": data / "multi30k" / "tok", "europarl": data / "europarl-fr-en-10k"}.get(corpus.name)
    if folder is not None:
        sets = {name: _read(folder, name) for name in ("train", "dev", "test")}
    else:
        sets = {name: _tokenised(_read(data / "tatoeba-fr-en", name)) for name in ("train", "dev", "test")}
    if corpus.name == MULTI30K.name:  # in an order of its own: the captions of a picture stand together
        random.Random(1).shuffle(sets["train"])
    return {name: pairs if name == "train" else pairs[:sentences] for name, pairs in sets.items()}


def _mixed(data: Path, sentences: int) -> dict[str, Pairs]:
    """Draw from all short pairs of Europarl, and as many of Tatoeba as are needed, what the paper drew from Europarl.

    Nothing to train on has a source sentence of the other sets.
    """
    europarl = [
        pair for name in ("train", "dev", "test") for pair in _few_words(_read(data / "europarl-fr-en-10k", name), 1)
    ]
    tatoeba = list(_few_words(_tokenised(_read(data / "tatoeba-fr-en", "train")), SHORTEST))
    rng = random.Random(1)
    rng.shuffle(tatoeba)
    pairs = list(dict.fromkeys([*europarl, *tatoeba]))[: MIXED + SPARE]
    rng.shuffle(pairs)
    dev, test, train = pairs[:sentences], pairs[sentences : 2 * sentences], pairs[2 * sentences :]
    seen = {source for source, _ in (*dev, *test)}
    return {"train": [pair for pair in train if pair[0] not in seen][:12_000], "dev": dev, "test": test}


def _few_words(pairs: Sequence[tuple[str, str]], least: int) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        lengths = [len(side.split()) for side in pair]
        if least <= min(lengths) and max(lengths) <= SHORT:
            yield pair


def _read(folder: Path, name: str) -> Pairs:
    return list(zip(read_lines(folder / f"{name}.fr"), read_lines(folder / f"{name}.en"), strict=True))


def _tokenised(pairs: Pairs) -> Pairs:
    sides = [[pair[k] for pair in pairs] for k in (0, 1)]
    settings = TextSettings(lowercase=True, protection=False, source_lang="fr", target_lang="en")
    text = TextPipeline.learn(settings, *sides)
    splits = (text.source_tokens, text.target_tokens)
    words = [[" ".join(split(line)) for line in side] for split, side in zip(splits, sides, strict=True)]
    return list(zip(*words, strict=True))
