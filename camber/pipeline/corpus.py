"""The first stage of training: raw files become a clean, tokenised bitext, with some pairs held out if need be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar, overload

import numpy as np

from camber.align.sure import sure_links
from camber.arrays.types import I8, Bools
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.bitext import Encoded, Encoder
from camber.corpus.cleaning import CleanSettings, clean_lengths, pair_digests
from camber.corpus.digests import digests, numbers
from camber.corpus.splitting import hold_out
from camber.engine import LOCAL, Engine, for_python
from camber.errors import CamberError, InputError
from camber.files import read_lines, read_packed, write_lines
from camber.progress import each, log, step
from camber.text.case import Forms
from camber.text.pipeline import TextPipeline
from camber.text.scripts import has_no_spaces
from camber.text.settings import TextSettings

Item = TypeVar("Item")

#: a text with such a share of lines without spaces is not one of words
UNSPACED_SHARE = 0.2
#: pairs whose tokens are in memory together
_CHUNK = 10_000


@dataclass(frozen=True)
class HeldOut:
    """Raw lines that no stage of training saw."""

    source: list[str]
    target: list[str]


def prepare(
    source: Path,
    target: Path,
    folder: Path,
    text: TextSettings,
    cleaning: CleanSettings,
    held_out: int | None,
    seed: int,
    chosen: I8 | None = None,
    own: Bools | None = None,
    engine: Engine = LOCAL,
) -> None:
    """Read, split, tokenise, case and clean the training text; write all that later stages need into `folder`.

    `held_out` pairs are set aside (None: as many as `camber.corpus.splitting` suggests). Or the lines `chosen` are
    taken, and nothing of the others is looked at. With `own`, only some pairs may be held out.
    """
    sides: Sequence[Sequence[str]] = read_packed(source, target)
    rows = np.arange(len(sides[0])) if chosen is None else chosen
    if chosen is None and held_out != 0:
        both = each(zip(*sides, strict=True), "compare pairs", len(sides[0]), "pairs")
        different = len(np.unique(numbers(digests(map("\n".join, both)))))
        if held_out is not None and held_out >= different:
            raise CamberError(
                f"cannot hold out {held_out:,} of {different:,} different pairs; ask for fewer, or give a dev set"
            )
        split = hold_out(sides[0], sides[1], held_out, seed, own)
        rows, kept_back = split.train, split.held
        if split.repeating:
            log.info(
                "%s of %s pairs have a line that occurs in another pair, too",
                f"{split.repeating:,}",
                f"{split.pairs:,}",
            )
        if len(rows) == 0:
            raise CamberError("no pair would be left to train on: all share a line with held-out ones; give a dev set")
        if len(kept_back):
            log.info(
                "no dev set was given: %s of %s pairs are held out, and %s that share a line with them left out",
                f"{len(kept_back):,}",
                f"{split.pairs:,}",
                f"{split.dropped:,}",
            )
            write_lines(folder / "held-out.source", [sides[0][i] for i in kept_back])
            write_lines(folder / "held-out.target", [sides[1][i] for i in kept_back])
        else:
            log.info("no dev set was given, and %s different pairs are too few to hold some out", f"{different:,}")
    taken = [Chosen(side, rows) for side in sides]
    engine = for_python(engine)
    with step("learn casing and spacing"):
        pipeline = TextPipeline.without_case(text, each(taken[1], "learn spacing", unit="lines"))
        if pipeline.learns_case:
            forms = Forms(), Forms()
            for some in _told(engine.map(_forms, pipeline, _chunks(taken)), "learn casing", len(rows)):
                for side, counted in zip(forms, some, strict=True):
                    side.add(counted)
            pipeline = pipeline.with_case(*forms)
    encoders, sure, unspaced = (Encoder(), Encoder()), [], [0, 0]
    digested: list[I8] = []
    found = engine.map(_tokens, (pipeline, cleaning.drop_duplicates), _chunks(taken))
    for number, tokens in enumerate(_told(found, "tokenise", len(rows))):
        for which in (0, 1):
            encoders[which].take(tokens.sides[which])
            unspaced[which] += tokens.unspaced[which]
        sure.append(tokens.sure + np.array([number * _CHUNK, 0, 0]))
        digested.append(tokens.digests)
    for count, path in zip(unspaced, (source, target), strict=True):
        _warn_of_no_spaces(count / max(len(rows), 1), path, text)
    equal = np.concatenate(digested) if cleaning.drop_duplicates else None
    kept, report = clean_lengths(encoders[0].lengths, encoders[1].lengths, equal, cleaning)
    log.info("%s", report)
    if len(kept) == 0:
        raise InputError("no sentence pair is left after cleaning", source, remedy=f"{report}; check both files")
    (folder / "text").mkdir()
    pipeline.save(folder / "text")
    with step("number words"):
        for name, encoder in zip(("source", "target"), encoders, strict=True):
            save_sentences(encoder.sentences(kept), folder, name)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "kept.npy", rows[kept])
    np.save(folder / "sure.npy", _of_kept(np.concatenate(sure), kept, len(rows)))


def _chunks(sides: Sequence[Sequence[str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the lines of both sides, block by block."""
    for first in range(0, len(sides[0]), _CHUNK):
        one, other = (list(side[first : first + _CHUNK]) for side in sides)
        yield one, other


def _told(found: Iterator[Item], name: str, total: int) -> Iterator[Item]:
    """Yield what becomes of the blocks, and report them."""
    sizes = ((first, min(_CHUNK, total - first)) for first in range(0, total, _CHUNK))
    both = zip(found, sizes, strict=True)
    return (item for item, _ in each(both, name, total, "pairs", lambda it: it[1][1]))


def _forms(pipeline: TextPipeline, lines: tuple[list[str], list[str]]) -> tuple[Forms, Forms]:
    return pipeline.forms(*lines)


class _Tokens(NamedTuple):
    """A block of the text, tokenised."""

    sides: tuple[Encoded, Encoded]
    sure: I8  # [links, 3]: see `sure_links`
    unspaced: tuple[int, int]  # lines with hardly any space
    digests: I8  # [pairs, 2], where equal pairs are looked for


def _tokens(how: tuple[TextPipeline, bool], lines: tuple[list[str], list[str]]) -> _Tokens:
    pipeline, digest = how
    pairs = [pipeline.pair(*both) for both in zip(*lines, strict=True)]
    source, target = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return _Tokens(
        (Encoded.of(source), Encoded.of(target)),
        sure_links([pair.links for pair in pairs]),
        (sum(map(has_no_spaces, source)), sum(map(has_no_spaces, target))),
        pair_digests(source, target) if digest else np.zeros((0, 2), np.int64),
    )


class Chosen(Sequence[str]):
    """Some lines of a text, by their numbers."""

    def __init__(self, lines: Sequence[str], rows: I8) -> None:
        self.lines, self.rows = lines, rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self.lines[row] for row in self.rows[number].tolist()]
        return self.lines[int(self.rows[number])]


def _of_kept(links: I8, kept: I8, count: int) -> I8:
    """Return the rows (pair, source, target) of links whose pairs are kept, with the numbers that these have then."""
    place = np.full(count, -1, np.int64)
    place[kept] = np.arange(len(kept))
    numbered = np.column_stack((place[links[:, 0]], links[:, 1:]))
    return numbered[numbered[:, 0] >= 0]


def _warn_of_no_spaces(share: float, path: Path, text: TextSettings) -> None:
    """Say that a text has hardly any words, if such a share of lines has none: nothing can be learnt from them."""
    if share > UNSPACED_SHARE:
        segmented = text.segment and text.tokenizer != "none"
        remedy = "put spaces between its words" if segmented else "leave --no-segment and --tokenizer none out"
        log.warning(
            "%s: %.0f %% of the lines hold almost no spaces, so that whole lines are taken for words; %s",
            path, 100 * share, remedy,
        )  # fmt: skip


def save_sentences(sentences: Sentences, folder: Path, name: str) -> None:
    """Write the ids, offsets and words of one side."""
    np.save(folder / f"{name}.ids.npy", sentences.ids)
    np.save(folder / f"{name}.offsets.npy", sentences.offsets)
    sentences.vocabulary.save(folder / f"{name}.words.txt")


def load_bitext(folder: Path) -> Bitext:
    """Open the bitext that :func:`prepare` wrote."""
    sides = [
        Sentences(
            np.load(folder / f"{name}.ids.npy"),
            np.load(folder / f"{name}.offsets.npy"),
            Vocabulary.load(folder / f"{name}.words.txt"),
        )
        for name in ("source", "target")
    ]
    return Bitext(*sides)


def load_held_out(folder: Path) -> HeldOut | None:
    """Return the pairs that :func:`prepare` set aside, if any."""
    if not (folder / "held-out.source").exists():
        return None
    return HeldOut(read_lines(folder / "held-out.source"), read_lines(folder / "held-out.target"))
