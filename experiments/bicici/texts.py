"""The corpora, the sets that are drawn as in the paper, and a model of each corpus that all conditions share."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import camber
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.lm.ngrams import NgramModel
from camber.model.language_models import open_language_models
from camber.model.sparse import FOLDER, PHRASES
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.store import RuleStore
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

#: lengths of source sentences, edges of the groups by target bigram coverage, and sentences of each group
SHORTEST, LONGEST = 10, 20
GROUPS = ((0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0), (1.0, 1.1))
EACH = 20
#: sentences that are drawn where the paper takes whole sets
WHOLE = {"dev": 200, "test": 300}

Words = list[list[str]]
#: source and target sentences
Pairs = tuple[Words, Words]


@dataclass(frozen=True)
class Corpus:
    """Where a corpus is, and how its sets are drawn."""

    name: str
    folder: str
    languages: tuple[str, str]
    tokenised: bool = True
    grouped: bool = True  # by coverage; else drawn from the test file at random

    @property
    def title(self) -> str:
        """What tables call it."""
        return f"{self.name}, {self.languages[0]}→{self.languages[1]}"


CORPORA = {
    "multi30k": Corpus("multi30k", "multi30k/tok", ("de", "en")),
    "tatoeba": Corpus("tatoeba", "tatoeba-fr-en", ("fr", "en"), tokenised=False),
    "eutrans": Corpus("eutrans", "eutrans-es-en", ("es", "en"), grouped=False),
}


def bigrams(words: Sequence[str]) -> set[tuple[str, str]]:
    """Return the distinct bigrams of a sentence."""
    return set(pairwise(words))


def drawn_by_coverage(train: Pairs, dev: Pairs, test: Pairs, each: int = EACH) -> dict[str, Pairs]:
    """Draw dev and dev2 from the dev file and test from the test file, `each` of every group of coverage.

    Coverage is the share of a target's bigrams that the training text has. Sources that the training text has are left
    out, and no source is drawn twice. Where a file has too few of a group, the other one gives the rest.
    """
    seen, known = {tuple(words) for words in train[0]}, set().union(*map(bigrams, train[1]))
    files: list[list[list[tuple[list[str], list[str]]]]] = []
    for source, target in (dev, test):
        groups: list[list[tuple[list[str], list[str]]]] = [[] for _ in GROUPS]
        for words, others in zip(source, target, strict=True):
            own = bigrams(others)
            if not SHORTEST <= len(words) <= LONGEST or tuple(words) in seen or not own:
                continue
            seen.add(tuple(words))
            share = len(own & known) / len(own)
            for group, (low, high) in zip(groups, GROUPS, strict=True):
                if low <= share < high:
                    group.append((words, others))
        files.append(groups)
    chance = random.Random(1)
    for groups in files:
        for group in groups:
            chance.shuffle(group)
    sets: dict[str, Pairs] = {}
    for name, first in (("test", 1), ("dev", 0), ("dev2", 0)):
        pairs: list[tuple[list[str], list[str]]] = []
        for number in range(len(GROUPS)):
            wanted = each
            for groups in (files[first], files[1 - first]):
                taken, groups[number] = groups[number][:wanted], groups[number][wanted:]
                pairs += taken
                wanted -= len(taken)
        sets[name] = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return sets


def drawn_at_random(test: Pairs, sizes: dict[str, int]) -> dict[str, Pairs]:
    """Draw disjoint sets from one file."""
    order = random.Random(1).sample(range(len(test[0])), sum(sizes.values()))
    sets, first = {}, 0
    for name, size in sizes.items():
        rows = order[first : first + size]
        sets[name] = [test[0][row] for row in rows], [test[1][row] for row in rows]
        first += size
    return sets


class Text:
    """A corpus with its sets, tokenised, and the model of all of its training text."""

    def __init__(self, corpus: Corpus, data: Path, work: Path, quick: bool) -> None:
        """Read a corpus; `quick` takes little of everything."""
        self.corpus, self.work = corpus, work / corpus.name
        self.work.mkdir(parents=True, exist_ok=True)
        folder = data / "data" / corpus.folder
        if not folder.is_dir():
            raise SystemExit(f"{folder}: no such folder; name the data folder with --data")
        raw = {
            name: tuple(read_lines(folder / f"{name}.{language}") for language in corpus.languages)
            for name in ("train", "dev", "test")
        }
        if quick:
            raw["train"] = tuple(side[:3000] for side in raw["train"])
        if corpus.tokenised:
            split = {name: tuple([line.split() for line in side] for side in sides) for name, sides in raw.items()}
        else:
            languages = dict(zip(("source_lang", "target_lang"), corpus.languages, strict=True))
            text = TextPipeline.learn(TextSettings(**languages, protection=False), *raw["train"])
            tokens = text.source_tokens, text.target_tokens
            split = {
                name: tuple([token(line) for line in side] for token, side in zip(tokens, sides, strict=True))
                for name, sides in raw.items()
            }
        self.train, self.dev_file = split["train"], split["dev"]
        if corpus.grouped:
            self.sets = drawn_by_coverage(split["train"], split["dev"], split["test"], 3 if quick else EACH)
        else:
            sizes = {name: size // 15 for name, size in WHOLE.items()} if quick else WHOLE
            self.sets = drawn_at_random(split["test"], sizes)
        self._check_sets()

    def _check_sets(self) -> None:
        """Refuse to go on with other sentences than those of the conditions that are finished."""
        digest = hashlib.sha256(json.dumps([self.sets, len(self.train[0])]).encode()).hexdigest()
        place = self.work / "sets.sha256"
        if place.exists() and place.read_text() != digest:
            raise SystemExit(
                f"{self.work}: finished conditions saw other sets (a changed tokeniser?); remove the folder"
            )
        place.write_text(digest)

    @cached_property
    def model(self) -> Path:
        """The folder of a model of all training text: aligned corpus, phrase pairs, language model; untuned."""
        path = self.work / "model"
        if not path.exists():
            for side, name in zip(self.train, ("source", "target"), strict=True):
                write_lines(self.work / f"train.{name}", [" ".join(words) for words in side])
            settings = camber.TrainSettings.from_dict({"text": {"tokenizer": "none"}, "sparse": {"decoder": "mixed"}})
            camber.train(
                self.work / "train.source", self.work / "train.target", path, method="sparse", tuned=False, held_out=0,
                settings=settings, engine=Threads(1),
            )  # fmt: skip
        return path

    @cached_property
    def index(self) -> CorpusIndex:
        """The aligned training text."""
        return CorpusIndex.load(self.model / FOLDER)

    @cached_property
    def phrases(self) -> RuleStore:
        """Phrase pairs of all training text, of up to 7 words."""
        return RuleStore.load(self.model / FOLDER / PHRASES)

    @cached_property
    def languages(self) -> list[NgramModel]:
        """The language model of the target side."""
        return open_language_models(self.model)
