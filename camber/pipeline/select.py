"""From a large corpus to the training set for a text: the pairs that share most with it.

chosen = select("train.de", "train.en", "test.de", count=20_000, out="for-test")
chosen.source.share(2)                 # how many bigrams of the text the selection has
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.types import I8
from camber.corpus.bitext import Bitext, Sentences
from camber.engine import LOCAL, Engine
from camber.errors import InputError, SettingsError
from camber.files import check_outputs, read_lines, read_parallel, write_whole
from camber.progress import Watcher, each, log, stage, watched
from camber.regress.select.coverage import Coverage, coverage
from camber.regress.select.selectors import SELECTORS, USUAL, SelectSettings, make_selector
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

Name = str | Path

#: in which order pairs are written
CORPUS, BEST = "corpus", "best"


@dataclass(frozen=True)
class Selection:
    """Which pairs were selected, and how much of the text they and the whole corpus cover."""

    pairs: I8  # numbers of lines, from 0, as they are written
    corpus_pairs: int
    source: Coverage
    corpus_source: Coverage
    target: Coverage | None = None  # where a translation of the text was given
    corpus_target: Coverage | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: shares by length of n-grams and by side, None where there is nothing to cover."""
        sides = {
            "scov": (self.source, self.corpus_source),
            "tcov": (self.target, self.corpus_target),
        }
        shares = {
            f"{prefix}{name}": {str(n): _known(one.share(n)) for n in range(1, len(one.total) + 1)}
            for name, both in sides.items()
            for prefix, one in zip(("", "corpus_"), both, strict=True)
            if one is not None
        }
        return {"pairs": len(self.pairs), "corpus_pairs": self.corpus_pairs, **shares}

    def __str__(self) -> str:
        lines = [f"{len(self.pairs):,} of {self.corpus_pairs:,} pairs are selected"]
        for name, own, all_of_it in (
            ("scov", self.source, self.corpus_source),
            ("tcov", self.target, self.corpus_target),
        ):
            if own is None or all_of_it is None:
                continue
            shares = (f"{n}-grams {own.share(n):.3f} ({all_of_it.share(n):.3f})" for n in range(1, len(own.total) + 1))
            lines.append(f"{name} (that of the corpus): {', '.join(shares)}")
        return "\n".join(lines)


@watched
def select(
    source: Name,
    target: Name,
    test: Name,
    count: int | None = None,
    *,
    per_sentence: int | None = None,
    score: str = USUAL,
    out: Name | None = None,
    test_target: Name | None = None,
    order_by: str = CORPUS,
    settings: SelectSettings | None = None,
    text: TextSettings | None = None,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Selection:
    """Select the `count` pairs of a corpus that help most to translate the text `test`.

    With `per_sentence`, they are among the so many best ones for each line. With `out`, three files are written: the
    lines of both sides as they are, ``<out>.source`` and ``<out>.target`` (or the languages, where `text` has both),
    and their numbers from 1, ``<out>.lines``; all packed if `out` ends in .gz. They are in the order of the corpus, or
    the best first. `test_target` is only measured.

    >>> camber.select("train.de", "train.en", "test.de", 20_000, out="for-test")          # doctest: +SKIP
    """
    if count is None and per_sentence is None:
        raise SettingsError("nothing says how many pairs to select; give count, per_sentence or both")
    for name, value in (("count", count), ("per_sentence", per_sentence)):
        if value is not None and value < 1:
            raise SettingsError(f"{name} is {value}; expected at least 1")
    if order_by not in (CORPUS, BEST):
        raise SettingsError(f"order_by is {order_by!r}; expected {CORPUS} or {BEST}")
    if score not in SELECTORS:
        raise SELECTORS.unknown(score)
    settings, text = settings or SelectSettings(), text or TextSettings()
    outputs = _outputs(out, text) if out is not None else []
    check_outputs(*outputs, inputs=(source, target, test, test_target))
    lines = read_parallel(source, target)
    tests = [read_lines(test)] if test_target is None else read_parallel(test, test_target)
    with stage("tokenise"):
        bitext, texts = _encode(lines, tests, text)
    if not len(texts[0].ids):
        raise InputError("no line has a word", test, remedy="give the text that is to be translated")
    with stage("index"):
        selector = make_selector(score, bitext, settings)
    with stage("select"):
        pairs = selector.select_set(texts[0], count or len(bitext), per_sentence=per_sentence or 0, engine=engine)
    if count is not None and len(pairs) < count:
        log.warning("only %s pairs have something to add; %s were asked for", f"{len(pairs):,}", f"{count:,}")
    chosen = pairs if order_by == BEST else np.sort(pairs)
    _write(outputs, lines, chosen)
    everything = np.arange(len(bitext))
    covers = [
        coverage(side, one, [which] * len(one), max(settings.order, 2))
        for side, one in zip((bitext.source, bitext.target), texts, strict=False)
        for which in (chosen, everything)
    ]
    return Selection(chosen, len(bitext), *covers)


def _encode(lines: list[list[str]], tests: list[list[str]], text: TextSettings) -> tuple[Bitext, list[Sentences]]:
    """Tokenise and case everything as a training would."""
    pipeline = TextPipeline.learn(text, *lines)
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    for first, second in each(zip(*lines, strict=True), "pairs", len(lines[0]), "pairs"):
        sides[0].append(pipeline.source_tokens(first))
        sides[1].append(pipeline.target_tokens(second))
    bitext = Bitext.encode(*sides)
    splits = (pipeline.source_tokens, pipeline.target_tokens)
    vocabularies = (bitext.source.vocabulary, bitext.target.vocabulary)
    texts = [
        Sentences.encode([split(line) for line in side], vocabulary)
        for side, split, vocabulary in zip(tests, splits, vocabularies, strict=False)
    ]
    return bitext, texts


def _outputs(out: Name, text: TextSettings) -> list[Path]:
    """Name the files of both sides and of the line numbers."""
    packed = ".gz" if str(out).endswith(".gz") else ""
    prefix = str(out).removesuffix(packed)
    names = (text.source_lang, text.target_lang)
    if not all(names) or names[0] == names[1]:
        names = ("source", "target")
    return [Path(f"{prefix}.{ending}{packed}") for ending in (*names, "lines")]


def _write(outputs: Sequence[Path], lines: list[list[str]], chosen: I8) -> None:
    """Write both sides and the numbers of lines; all are written before any of them appears."""
    if not outputs:
        return
    rows = chosen.tolist()
    contents = [*([side[i] for i in rows] for side in lines), [str(i + 1) for i in rows]]
    with ExitStack() as stack:
        for path, content in zip(outputs, contents, strict=True):
            stack.enter_context(write_whole(path)).writelines(line + "\n" for line in content)
    log.info("%s", ", ".join(map(str, outputs)))


def _known(share: float) -> float | None:
    return None if math.isnan(share) else round(share, 6)
