"""Add sentence pairs to a model that exists: it knows them at once, and nothing is trained again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.aligner import Aligner
from camber.align.lesson import Lesson
from camber.align.pharaoh import Alignment, read_kept_pharaoh
from camber.align.sure import sure_links, with_sure_links
from camber.align.words import align_added
from camber.arrays.types import I8
from camber.corpus import Bitext
from camber.corpus.cleaning import CleanSettings, clean
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, InputError, ModelError
from camber.files import is_unicode, read_lines, read_parallel
from camber.formats.bilingual.unit import one_line
from camber.model import places
from camber.model.directory import ModelDirectory, changing, check_place, is_model
from camber.model.journal import Journal, Pair
from camber.model.kinds import KINDS
from camber.model.translator import Translator, open_translator
from camber.progress import Watcher, each, log, step, watched
from camber.text.pipeline import TextPipeline

Name = str | Path

#: the aligner's folder in a model
ALIGNER = "align"
#: seconds to wait for others who add pairs to the same model
PATIENCE = 10.0


@watched
def add(
    model: Name,
    source: Name | Sequence[str],
    target: Name | Sequence[str],
    *,
    alignment: Name | None = None,
    coded: Mapping[int, tuple[str, str]] | None = None,
    author: str = "",
    time: str = "",
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Translator:
    """Add sentence pairs to a phrase or hierarchical model and return it, opened again.

    `source` and `target` are parallel files, or lists of raw lines. The pairs are tokenised and cleaned as in training
    and aligned with what its aligner learnt, or as `alignment` says, a Pharaoh file with a line for every pair. A line
    that repeats the source of an added pair is translated as its target, the latest one if there are several; other
    lines make use of the pairs' phrases. The model is changed whole or not at all. The journal says who added the
    pairs, and when, if that is given: an `author`, and a `time` in any form ("now": of this moment). `coded` has both
    sides of some pairs, by their places from 0, with inline codes as inline XML; their texts are without.

    >>> camber.add("my-model", ["Guten Morgen!"], ["Good morning!"])                # doctest: +SKIP
    """
    adder = Adder(model)
    adder.add(source, target, alignment=alignment, coded=coded, author=author, time=time, engine=engine)
    return adder.load()


class Adder:
    """A model that pairs are added to again and again: what that takes is read once.

    >>> adder = Adder("my-model")                                                   # doctest: +SKIP
    >>> adder.add(["Guten Morgen!"], ["Good morning!"])                             # doctest: +SKIP
    1
    """

    def __init__(self, model: Name) -> None:
        self.model = Path(model)
        self._known: _Known | None = None
        self._directory: ModelDirectory | None = None

    @watched
    def add(
        self,
        source: Name | Sequence[str],
        target: Name | Sequence[str],
        *,
        alignment: Name | None = None,
        coded: Mapping[int, tuple[str, str]] | None = None,
        author: str = "",
        time: str = "",
        engine: Engine = LOCAL,
        progress: Watcher | None = None,
    ) -> int:
        """Add pairs as :func:`add` does, without opening the model; return how many were added."""
        lines, who, when = _read(source, target), person(author), moment(time)
        if not is_model(self.model):
            ModelDirectory.open(self.model)  # says what is there instead
        check_place(self.model)
        path = self.model.resolve()
        with places.telling_of_the_disk(path), changing(path, PATIENCE):
            directory = ModelDirectory.open(self.model, known=self._directory)
            _check(directory, alignment)
            if self._known is None or self._known.made != directory.made:
                self._known = _Known(directory.made, TextPipeline.load(directory.path / "text"))
            tokens, kept, sure = _prepare(self._known.text, directory, lines, source)
            bitext = Bitext.encode(*([side[i] for i in kept] for side in tokens))
            given = None if alignment is None else _read_alignment(alignment, len(lines[0]), kept, bitext)
            if _are_last(directory.journal, lines, tokens):
                log.warning("%s: these pairs were the last ones added to it; they are not added again", self.model)
                return 0
            if given is None:
                with step("align"):
                    links, lesson = align_added(self._known.aligner(directory), bitext, engine)
                pairs = _pairs(lines, tokens, kept, with_sure_links(links, sure), coded or {})
                journal = directory.journal.appended(pairs, lesson, author=who, time=when)
                self._known.learn(lesson, journal)
            else:
                pairs = _pairs(lines, tokens, kept, given, coded or {})
                journal = directory.journal.appended(pairs, None, author=who, time=when)
        self._directory = replace(directory, journal=journal)
        count = len(journal) - len(directory.journal)
        log.info("added %s pairs to %s", f"{count:,}", self.model)
        return count

    def load(self) -> Translator:
        """Open the model as it is now."""
        known = self._known

        def opened(directory: ModelDirectory) -> Translator:
            return open_translator(directory, known.text if known and known.made == directory.made else None)

        return ModelDirectory.opened(self.model, opened)


@dataclass
class _Known:
    """What adding takes of a model."""

    made: str  # the signature of the model that it comes from
    text: TextPipeline
    taught: Aligner | None = None
    digest: str = ""  # of the journal that the aligner was taught by, lessons that it still has to learn included
    lessons: list[Lesson] = field(default_factory=list)

    def aligner(self, directory: ModelDirectory) -> Aligner:
        """Return the aligner that knows all that was added up to now."""
        if self.taught is None or self.digest != directory.journal.digest:
            self.taught = Aligner.load(directory.path / ALIGNER)
            self.lessons, self.digest = directory.journal.lessons(), directory.journal.digest
        self.taught, self.lessons = self.taught.after(self.lessons), []
        return self.taught

    def learn(self, lesson: Lesson, journal: Journal) -> None:
        """Keep what the last call of a journal taught for the next one."""
        self.lessons.append(lesson)
        self.digest = journal.digest


def person(author: str) -> str:
    """Return who it was as it is told.

    >>> person("A  B")
    'A B'
    """
    if not is_unicode(author):
        raise CamberError(f"the author {author!r} is no Unicode text; give a name in UTF-8")
    return one_line(author)


def moment(time: str) -> str:
    """Return a time as it is told; "now" is this moment, in UTC.

    >>> moment("3 May"), len(moment("now"))
    ('3 May', 20)
    """
    if not is_unicode(time):
        raise CamberError(f"the time {time!r} is no Unicode text; give one in UTF-8")
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time == "now" else one_line(time)


def _read(source: Name | Sequence[str], target: Name | Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of both sides, which must be as many."""
    if isinstance(source, str | Path) and isinstance(target, str | Path):
        first, second = read_parallel(source, target)
        return first, second
    first, second = (read_lines(side) if isinstance(side, str | Path) else list(side) for side in (source, target))
    if len(first) != len(second):
        raise CamberError(f"{len(first):,} source but {len(second):,} target lines; a pair needs one of each")
    for number, line in enumerate(line for pair in zip(first, second, strict=True) for line in pair):
        if "\n" in line:
            raise CamberError(f"pair {number // 2 + 1} has a line end inside ({line!r}); give one sentence per line")
        if not is_unicode(line):
            raise CamberError(f"pair {number // 2 + 1} is no Unicode text ({line!r}); give texts that UTF-8 can hold")
    return first, second


def _are_last(
    journal: Journal, lines: tuple[list[str], list[str]], tokens: tuple[list[list[str]], list[list[str]]]
) -> bool:
    """Say whether the last call added these very pairs: it may have been killed before it could say so."""
    if not journal.calls:
        return False
    added = [(pair.source, pair.target) for pair in journal.calls[-1].pairs]
    return added == [(*pair,) for *pair, first, second in zip(*lines, *tokens, strict=True) if first and second]


def _check(directory: ModelDirectory, alignment: Name | None) -> None:
    """Refuse models that cannot be added to, and say what helps."""
    if directory.kind not in KINDS or not KINDS.load(directory.kind).takes_pairs:
        raise ModelError(
            f"{directory.path}: pairs cannot be added to a {directory.kind} model, which has no corpus to extract "
            "rules from; train a model with `camber train`"
        )
    if alignment is None and f"{ALIGNER}/aligner.json" not in directory:
        raise ModelError(
            f"{directory.path}: this model does not know how to align words (it was converted, or trained with an "
            "alignment of yours, or by an older version); give the word alignment of the new pairs with --alignment, "
            "in Pharaoh format (0-0 1-2) and for our tokenisation"
        )


def _prepare(
    text: TextPipeline, directory: ModelDirectory, lines: tuple[list[str], list[str]], name: Any
) -> tuple[tuple[list[list[str]], list[list[str]]], I8, I8]:
    """Tokenise and clean: the tokens of all pairs, which of them training would keep, and the sure links of those."""
    both = each(zip(*lines, strict=True), "tokenise", len(lines[0]), "pairs")
    pairs = [text.pair(*one) for one in both]
    tokens = [pair.source for pair in pairs], [pair.target for pair in pairs]
    kept, report = clean(*tokens, CleanSettings.from_dict(directory.settings.get("clean", {})))
    log.info("%s", report)
    if len(kept) == 0:
        problem, remedy = "no sentence pair is left after cleaning", f"{report}; check both sides"
        if isinstance(name, str | Path):
            raise InputError(problem, name, remedy=remedy)
        raise CamberError(f"{problem}: {remedy}")
    return tokens, kept, sure_links([pairs[i].links for i in kept])


def _pairs(
    lines: tuple[list[str], list[str]],
    tokens: tuple[list[list[str]], list[list[str]]],
    kept: I8,
    links: Alignment,
    coded: Mapping[int, tuple[str, str]],
) -> list[Pair]:
    """Return what the journal shall keep.

    A pair that is too long or too uneven to learn rules from is still worth repeating.
    """
    pharaoh = [" ".join(f"{s}-{t}" for s, t in row.tolist()) for row in links]
    learnt = dict(zip(kept.tolist(), pharaoh, strict=True))
    pairs = []
    for i, (source, target, *words) in enumerate(zip(*lines, *tokens, strict=True)):
        if all(words):
            first, second = map(" ".join, words)
            codes = coded.get(i, ("", ""))
            pairs.append(Pair(source, target, first, second if i in learnt else "", learnt.get(i), *codes))
    return pairs


def _read_alignment(path: Name, pairs: int, kept: I8, bitext: Bitext) -> Alignment:
    """Read the user's alignment of all pairs; return that of the pairs that are kept."""
    count = len(read_lines(path))
    if count != pairs:
        raise InputError(f"{count:,} lines for {pairs:,} sentence pairs", path, remedy="give a line for every pair")
    return read_kept_pharaoh(path, kept, np.column_stack((bitext.source.lengths, bitext.target.lengths)))
