"""Add sentence pairs to a model that exists: it knows them at once, and nothing is trained again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.aligner import Aligner
from camber.align.pharaoh import Alignment, read_kept_pharaoh
from camber.align.words import align_new
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.cleaning import CleanSettings, clean
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, InputError, ModelError
from camber.files import read_lines, read_parallel
from camber.model.added import FOLDER, INDEX, Memory
from camber.model.directory import Draft, ModelDirectory, write_model
from camber.model.kinds import KINDS
from camber.model.translator import Translator, load
from camber.progress import log
from camber.rules.hiero.index import CorpusIndex
from camber.text.pipeline import TextPipeline

Name = str | Path

#: the aligner's folder in a model
ALIGNER = "align"


def add(
    model: Name,
    source: Name | Sequence[str],
    target: Name | Sequence[str],
    *,
    alignment: Name | None = None,
    engine: Engine = LOCAL,
) -> Translator:
    """Add sentence pairs to a phrase or hierarchical model and return it, opened again.

    `source` and `target` are parallel files, or lists of raw lines. The pairs are tokenised and cleaned as in training
    and aligned with what its aligner learnt, or as `alignment` says, a Pharaoh file with a line for every pair. A line
    that repeats the source of an added pair is translated as its target, the latest one if there are several; other
    lines make use of the pairs' phrases. The model is changed whole or not at all.

    >>> camber.add("my-model", ["Guten Morgen!"], ["Good morning!"])                # doctest: +SKIP
    """
    model = Path(model)
    lines = _read(source, target)
    _check(ModelDirectory.open(model), alignment)
    with write_model(model, ModelDirectory.open(model).kind) as draft:
        directory = ModelDirectory.open(model)  # again: now nobody else changes it
        memory, bitext, kept = _prepare(directory, lines, source)
        written = [f"{FOLDER}/"]
        if alignment is None:
            links, aligner = align_new(Aligner.load(directory.path / ALIGNER), bitext, engine)
            aligner.save(draft.folder / ALIGNER)
            written += [f"{ALIGNER}/{path.name}" for path in (draft.folder / ALIGNER).iterdir()]
        else:
            links = _read_alignment(alignment, len(lines[0]), kept, bitext)
        written.append(_write_index(directory, draft, bitext, links))
        (Memory.open(directory) or Memory([], [], [])).extended(memory).save(draft.folder / FOLDER)
        for name in directory.files:
            if not name.startswith(tuple(written)):
                draft.take(directory.path / name, name)
        draft.settings |= directory.settings
        count = int(directory.sizes.get("added_pairs", 0)) + len(memory)
        draft.sizes |= {**directory.sizes, **draft.sizes, "added_pairs": count}
    log.info("added %s pairs to %s", f"{len(memory):,}", model)
    return load(model)


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
    return first, second


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
    directory: ModelDirectory, lines: tuple[list[str], list[str]], name: Any
) -> tuple[Memory, Bitext, np.ndarray[Any, np.dtype[np.int64]]]:
    """Tokenise and clean: the raw pairs that are kept, their tokens, and which they are."""
    text = TextPipeline.load(directory.path / "text")
    tokens = [text.source_tokens(line) for line in lines[0]], [text.target_tokens(line) for line in lines[1]]
    kept, report = clean(*tokens, CleanSettings.from_dict(directory.settings.get("clean", {})))
    log.info("%s", report)
    if len(kept) == 0:
        problem, remedy = "no sentence pair is left after cleaning", f"{report}; check both sides"
        if isinstance(name, str | Path):
            raise InputError(problem, name, remedy=remedy)
        raise CamberError(f"{problem}: {remedy}")
    source, target = [[side[i] for i in kept] for side in tokens]
    # a pair that is too long or too uneven to learn rules from is still worth repeating
    whole = [i for i, pair in enumerate(zip(*tokens, strict=True)) if all(pair)]
    raw = [[side[i] for i in whole] for side in lines]
    memory = Memory(raw[0], raw[1], [" ".join(tokens[0][i]) for i in whole])
    return memory, Bitext.encode(source, target), kept


def _read_alignment(path: Name, pairs: int, kept: np.ndarray[Any, np.dtype[np.int64]], bitext: Bitext) -> Alignment:
    """Read the user's alignment of all pairs; return that of the pairs that are kept."""
    count = len(read_lines(path))
    if count != pairs:
        raise InputError(f"{count:,} lines for {pairs:,} sentence pairs", path, remedy="give a line for every pair")
    return read_kept_pharaoh(path, kept, np.column_stack((bitext.source.lengths, bitext.target.lengths)))


def _write_index(directory: ModelDirectory, draft: Draft, bitext: Bitext, links: Alignment) -> str:
    """Write the index with the new pairs at its end, and return the folder that holds it."""
    if directory.kind == "hiero":
        index, place = CorpusIndex.load(directory.path / "index"), "index"
    elif f"{INDEX}/index.json" in directory:
        index, place = CorpusIndex.load(directory.path / INDEX), INDEX
    else:
        index, place = _nothing_added(directory), INDEX
    index = index.extended(bitext, links)
    index.save(draft.folder / place)
    draft.sizes["source_words"] = len(index.source.vocabulary)
    draft.sizes["target_words"] = len(index.target.vocabulary)
    if directory.kind == "hiero":
        draft.sizes["pairs"] = len(index)
    return f"{place}/"


def _nothing_added(directory: ModelDirectory) -> CorpusIndex:
    """Return an index without pairs, with the words of a rule store."""
    sides = (
        Sentences(
            np.zeros(0, np.int32),
            np.zeros(1, np.int64),
            Vocabulary.load(directory.file(f"rules/{side}.vocabulary.txt")),
        )
        for side in ("source", "target")
    )
    return CorpusIndex.build(Bitext(*sides), Alignment(np.zeros((0, 2), np.int32), np.zeros(1, np.int64)))
