"""The first stage of training: raw files become a clean, tokenised bitext, with some pairs held out if need be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from camber.align.sure import sure_links
from camber.arrays.types import I8, Bools
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.cleaning import CleanSettings, clean
from camber.corpus.splitting import hold_out
from camber.errors import CamberError, InputError
from camber.files import read_lines, read_parallel, write_lines
from camber.progress import log
from camber.text.pipeline import TextPipeline, TextSettings
from camber.text.scripts import without_spaces

#: a text with such a share of lines without spaces is not one of words
UNSPACED_SHARE = 0.2


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
) -> None:
    """Read, split, tokenise, case and clean the training text; write all that later stages need into `folder`.

    `held_out` pairs are set aside (None: as many as `camber.corpus.splitting` suggests). Or the lines `chosen` are
    taken, and nothing of the others is looked at. With `own`, only some pairs may be held out.
    """
    sides = read_parallel(source, target)
    rows = np.arange(len(sides[0])) if chosen is None else chosen
    if chosen is None and held_out != 0:
        different = len(set(zip(*sides, strict=True)))
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
    sides = [[side[i] for i in rows] for side in sides]
    pipeline = TextPipeline.learn(text, *sides)
    made = [pipeline.pair(*lines) for lines in zip(*sides, strict=True)]
    tokens = [pair.source for pair in made], [pair.target for pair in made]
    for side, path in zip(tokens, (source, target), strict=True):
        _warn_of_no_spaces(side, path, text)
    kept, report = clean(*tokens, cleaning)
    log.info("%s", report)
    if len(kept) == 0:
        raise InputError("no sentence pair is left after cleaning", source, remedy=f"{report}; check both files")
    (folder / "text").mkdir()
    pipeline.save(folder / "text")
    for name, side in zip(("source", "target"), tokens, strict=True):
        save_sentences(Sentences.encode([side[i] for i in kept]), folder, name)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "kept.npy", rows[kept])
    np.save(folder / "sure.npy", sure_links([made[i].links for i in kept]))


def _warn_of_no_spaces(sentences: list[list[str]], path: Path, text: TextSettings) -> None:
    """Say that a text has hardly any words, since nothing can be learnt from whole lines."""
    share = without_spaces(sentences)
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
