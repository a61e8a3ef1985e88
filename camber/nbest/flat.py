"""Flat n-best lists: plain text, as many lines for every sentence, and nothing else.

    a house          the candidates of the first sentence, the engine's best (or its first sample) first
    the house
    two words        those of the second
    two terms

So candidates go from neural engines to tools for minimum Bayes risk and quality-aware decoding. How many there are for
each sentence is told to the reader; a blank line is an empty candidate. Scores come in files of their own
(:mod:`camber.nbest.beside`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from camber.errors import CamberError, InputError, SettingsError
from camber.files import read_lines, write_whole
from camber.nbest.formats import Format
from camber.nbest.nbest import NBest


def read_flat(path: str | Path, sentences: int | None = None, at_least: int = 1, candidates: int = 1) -> NBest:
    """Read a list of `candidates` lines for every sentence; there are no features that `at_least` could leave out."""
    if candidates < 1:
        raise SettingsError(f"{candidates} candidates for every sentence; expected 1 or more")
    texts = read_lines(path)
    count, left = divmod(len(texts), candidates)
    if left:
        raise InputError(
            f"{len(texts):,} lines are no multiple of {candidates} candidates: the last sentence would have {left}",
            path,
            len(texts),
            remedy="give as many lines for every sentence, blank ones for empty candidates, or another --candidates",
        )
    if sentences is not None and count != sentences:
        raise InputError(
            f"{len(texts):,} lines are {count:,} sentences of {candidates} candidates, but there are {sentences:,} "
            "sentences",
            path,
            min(len(texts), sentences * candidates + 1),
            remedy="is this the list of that text, and --candidates right?",
        )
    return NBest.of_hypotheses((), np.arange(count + 1) * candidates, texts, np.empty((len(texts), 0)))


def write_flat(nbest: NBest, path: str | Path) -> None:
    """Write the texts; every sentence must have as many hypotheses."""
    sizes = np.diff(nbest.sentence_offsets)
    if len(sizes) and sizes.min() != sizes.max():
        other = int(np.argmax(sizes != sizes[0]))
        raise CamberError(
            f"sentence {nbest.first} has {sizes[0]} hypotheses, sentence {nbest.first + other} has {sizes[other]}: "
            "a flat list has as many for every sentence; use jsonl"
        )
    with write_whole(path) as stream:
        for text in nbest.texts:
            if "\n" in text or "\r" in text:
                raise CamberError(f"{text!r} cannot be written in a flat list (it has a line end); use jsonl")
            stream.write(text + "\n")


def _looks_like(line: str, number: int) -> bool:
    """Any text might be one, so it must be named."""
    return False


FLAT = Format("flat", (".flat",), _looks_like, read_flat, write_flat, any_feature=False, counted=True)
