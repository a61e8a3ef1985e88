"""From three text files to a folder of tables: Moses' phrase tables, or the hierarchical rules for a text."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from camber.align.pharaoh import Alignment, read_pharaoh
from camber.arrays.scratch import Scratch, memory_of
from camber.corpus.bitext import Bitext
from camber.corpus.inputs import Input
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, InputError
from camber.files import packed_lines, read_lines, read_parallel, words
from camber.formats.cdec.grammars import cdec_lines, cdec_values
from camber.formats.moses.phrase_table_writing import write_moses
from camber.formats.moses.rule_table import write_glue, write_moses_rules
from camber.progress import each, log, stage
from camber.rules.hiero.counting import RAW_NAMES
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.features import CDEC_NAMES
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.extraction import extract_into
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.store import RuleStore

#: The formats of hierarchical rules.
FORMATS = ("cdec", "moses")
_OURS_TO_CDEC = {ours: theirs for theirs, ours in CDEC_NAMES.items()}
#: The scores of hierarchical rules in a Moses table; p(s|t) is not among them, as occurrences of s alone are looked at.
MOSES_SCORES = ("p_coherent", "lex_s_given_t", "lex_t_given_s")


def extract_tables(
    source: str | Path,
    target: str | Path,
    alignment: str | Path,
    out: str | Path,
    max_phrase_length: int = 7,
    *,
    reordering: bool = True,
    engine: Engine = LOCAL,
    memory: int | str | None = None,
) -> int:
    """Extract all phrase pairs of tokenised parallel files and write Moses tables into the new folder `out`.

    Return the number of phrase pairs.

    The folder appears only when it is complete. Nothing is pruned. What takes more than `memory` (bytes, or a text such
    as ``"2G"``; by default half of what is free) waits in files beside `out`.
    """
    settings = RuleSettings(max_phrase_length, reordering, options_per_phrase=0)
    _check_absent(out)
    bitext, links = _read(source, target, alignment)
    with _whole_folder(out) as folder, Scratch(memory_of(memory), folder) as scratch:
        rules = scratch.path("rules")
        with stage("extract"):
            extract_into(rules, bitext, links, settings, engine, scratch)
        store = RuleStore.load(rules)
        phrases, pairs = store.phrases, len(store)
        log.info("%s phrase pairs, %s source phrases", f"{pairs:,}", f"{phrases:,}")
        with stage("write"):
            write_moses(store, folder)
    return pairs


def extract_hiero(
    source: str | Path,
    target: str | Path,
    alignment: str | Path,
    out: str | Path,
    test: str | Path,
    format: str = "cdec",
    settings: HieroSettings | None = None,
    engine: Engine = LOCAL,
) -> int:
    """Extract the hierarchical rules for every line of the tokenised text `test` into the new folder `out`.

    With the format "cdec", line N has the file ``grammar.N.gz``, with cdec's names of features; with "moses", all rules
    are in one ``rule-table.gz`` with the scores of :data:`MOSES_SCORES`, and a ``glue-grammar`` is beside it. Without
    `settings`, the edges of rules are tight, as cdec has them.
    Return the number of rules.
    """
    if format not in FORMATS:
        raise CamberError(f"the format {format!r}; expected one of {', '.join(FORMATS)}")
    _check_absent(out)
    sentences = [words(line) for line in read_lines(test)]
    bitext, links = _read(source, target, alignment)
    with stage("index"):
        extractor = HieroExtractor(CorpusIndex.build(bitext, links), None, settings or HieroSettings(edges="tight"))
    with stage("extract and write"), _whole_folder(out) as folder:
        if format == "cdec":
            count = 0
            written = each(engine.map(_cdec_grammar, extractor, sentences), "grammars", len(sentences), "sentences")
            for number, (rules, left_out, packed) in enumerate(written):
                (folder / f"grammar.{number}.gz").write_bytes(packed)
                count += rules
                if left_out:
                    log.warning(
                        "line %d: %d rules have words that cdec cannot read, and are left out", number, left_out
                    )
        else:
            raw = (extractor.raw(line).grammar(RAW_NAMES) for line in each(sentences, "extract", unit="sentences"))
            count = write_moses_rules(folder / "rule-table.gz", raw, MOSES_SCORES, ("", "count_s", "count_st"))
            write_glue(folder / "glue-grammar")
    log.info("%s: %s rules for %s lines", out, f"{count:,}", f"{len(sentences):,}")
    return count


def _cdec_grammar(extractor: HieroExtractor, sentence: list[str]) -> tuple[int, int, bytes]:
    """Return how many rules of a sentence are written and left out, and the packed file."""
    grammar = cdec_values(extractor.features, extractor.grammar(Input(sentence)))
    lines = cdec_lines(grammar, _OURS_TO_CDEC)
    return len(lines), len(grammar) - len(lines), packed_lines(lines)


def _check_absent(out: str | Path) -> None:
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("exists already", out, remedy="name a new folder, or remove this one")
    above = next(folder for folder in out.resolve().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError("cannot be made", out, remedy=f"check {above} and its permissions")


def _read(source: str | Path, target: str | Path, alignment: str | Path) -> tuple[Bitext, Alignment]:
    bitext = Bitext.encode(*([words(line) for line in lines] for lines in read_parallel(source, target)))
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    return bitext, read_pharaoh(alignment, lengths)


@contextmanager
def _whole_folder(out: str | Path) -> Iterator[Path]:
    """Make a folder that appears under its name only when it is complete."""
    out = Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", out, remedy="check the folder above it") from None
    try:
        yield folder
        mask = os.umask(0)
        os.umask(mask)
        folder.chmod(0o777 & ~mask)
        if out.exists():
            out.rmdir()  # empty: seen above
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
