"""camber translate: text in, translations out, line by line; XLIFF, PO, TMX and HTML files segment by segment.

In such a file, all but the translations stays as it is. Segments that have a translation keep it (--all: they do not).

Settings of the search that are not given are those that the model was made with. Hierarchical models have no
--stack-beam, --distortion-limit, --options and --unknown; those of regressions have --beam in place of --pop-limit,
--stack-beam and --distortion-limit.

With --mbr, or several models, what is taken is the hypothesis that has most in common with the others (minimum Bayes
risk), of which --nbest-file then has the features. Weights for several models come from `camber combine`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from camber.cli.display import hide
from camber.cli.groups import RUNNING, Grouped, option
from camber.cli.options import FILE, engine_option, given, pick, refuse_idle, settings_options
from camber.cli.streams import count_lines, lines_of, output_of
from camber.decode.consensus.settings import ConsensusSettings
from camber.decode.phrase.settings import DecodeSettings
from camber.engine import Engine
from camber.nbest.formats import AUTO, FORMATS, format_to_write
from camber.progress import each, log
from camber.regress.settings import PreimageSettings
from camber.text.settings import TextSettings
from camber.text.tags import FORMATS as TEXT_FORMATS
from camber.text.tags import HTML

#: settings of the pre-image search that phrase models have, too
_PHRASE_FLAGS = ("options", "window")
#: candidates of a line, at most
MOST = 1_000_000
#: lines whose candidates are written together
PIECE = 100
#: how files begin that come through a pipe, which cannot be looked at before it is read
_DOCUMENT = re.compile(r'\s*(?:<\?xml\s|<(?:\w+:)?xliff\s|<tmx\s|<!DOCTYPE\s|msgid\s*"")', re.I)
#: headings of flags
TERMS, LISTS, TEXT = "Terms, beginnings and memory", "Lists, confidence and alignment", TextSettings.group

if TYPE_CHECKING:
    from camber.model.translator import Translation, Translator
    from camber.nbest import NBest


@click.command(cls=Grouped, help=__doc__)
@click.argument("models", metavar="MODEL…", type=FILE, nargs=-1, required=True)
@click.option("--input", "source", type=FILE, help="File to translate (default: standard input).")
@click.option("--output", type=FILE, help="File for the translations (default: standard output).")
@click.option("--all", is_flag=True, help="In XLIFF, PO and TMX, replace translations that are there.")
@option(
    "--nbest",
    type=click.IntRange(1, MOST),
    default=1,
    show_default=True,
    help="Candidates for every line.",
    group=LISTS,
)
@option("--nbest-file", type=FILE, help="Where they go: finished texts with features.", group=LISTS)
@option(
    "--nbest-format",
    type=click.Choice(list(FORMATS)),
    show_default="by the file's ending, or moses",
    help="JSON Lines also keep the model's tokens (which alignments count) and the features of every phrase.",
    group=LISTS,
)
@option("--distinct/--no-distinct", default=True, show_default=True, help="List every row of tokens once.", group=LISTS)
@option("--glossary", type=FILE, help="Terms that the translations must use: CSV, TSV or TBX.", group=TERMS)
@option("--prefix", help="How every translation begins; it is completed.", group=TERMS)
@option(
    "--constraints",
    type=FILE,
    help="What is asked of each line: JSON Lines with terms, forbidden, prefix.",
    group=TERMS,
)
@option(
    "--confidence",
    type=FILE,
    help="Write how sure the engine is of every translation and its words: JSON Lines, one object per line.",
    group=LISTS,
)
@option(
    "--fuzzy",
    type=click.FloatRange(0, 1, min_open=True),
    help="Use what the model remembers: exact repeats come back, and of a match that is at least so like a line (0.7, "
    "say) only what differs is translated anew.",
    group=TERMS,
)
@option(
    "--alignment-file", type=FILE, help="Write the word alignment of every translation (Pharaoh format).", group=LISTS
)
@option(
    "--format",
    type=click.Choice(list(TEXT_FORMATS)),
    default=TEXT_FORMATS[0],
    show_default=True,
    help="What tags are: in plain text only what surely is one; mark-up has entities, too.",
    group=TEXT,
)
@option(
    "--split/--no-split",
    default=None,
    show_default="the model's own",
    help="Translate the sentences of a line one by one.",
    group=TEXT,
)
@option("--protect", metavar="REGEX", default="", help="More text that must come back as it is.", group=TEXT)
@option(
    "--mbr",
    is_flag=True,
    help="Take what expects most BLEU if others of the list are right.",
    group=ConsensusSettings.group,
)
@settings_options(ConsensusSettings)
@option(
    "--number-format",
    type=click.Choice(["keep", "target"]),
    default=None,
    show_default="the model's own: keep",
    help="Write numbers as in the source, or as the target language does.",
    group=TEXT,
)
@settings_options(DecodeSettings, shown="the model's own")
@settings_options(PreimageSettings, shown="the model's own", but=_PHRASE_FLAGS)
@option(
    "--line-buffered",
    is_flag=True,
    help="Answer every line before the next is read, as if somebody typed them; else lines are translated in blocks.",
    group=RUNNING,
)
@engine_option
def command(
    models: tuple[Path, ...],
    source: Path | None,
    output: Path | None,
    all: bool,
    nbest: int,
    nbest_file: Path | None,
    nbest_format: str | None,
    distinct: bool,
    glossary: Path | None,
    prefix: str | None,
    constraints: Path | None,
    confidence: Path | None,
    fuzzy: float | None,
    alignment_file: Path | None,
    format: str,
    split: bool | None,
    protect: str,
    number_format: str | None,
    mbr: bool,
    line_buffered: bool,
    engine: Engine,
    **values: Any,
) -> None:
    from camber.files import check_outputs, is_special, write_whole
    from camber.formats.documents.files import is_document
    from camber.formats.glossary.glossary import Glossary
    from camber.model.asking import read_requests
    from camber.model.translator import CHUNK

    if prefix is not None and constraints is not None:
        raise click.UsageError("--prefix goes for all lines, --constraints has a prefix for each: give one of them")

    if nbest_file is None:
        if nbest > 1:
            raise click.UsageError("--nbest needs --nbest-file, where the list goes")
        refuse_idle(["nbest_format", "distinct"], "without --nbest-file")
    elif not (written := format_to_write(nbest_file, nbest_format or AUTO)).any_feature:
        raise click.UsageError(f"the n-best format {written.name} has no place for the features of a model")
    check_outputs(output, nbest_file, confidence, alignment_file, inputs=(glossary, constraints))
    check_outputs(nbest_file, confidence, alignment_file, inputs=[source])
    in_place = source is not None and is_document(source)
    if in_place:
        lines_only = [*([] if format == HTML else ["format"]), "nbest_file", "prefix", "constraints"]
        lines_only += ["alignment_file", "confidence", "line_buffered"]
        refuse_idle(lines_only, f"to {source}, which is translated segment by segment")
    else:
        refuse_idle(["all"], "to text that is translated line by line")
    changes = given(DecodeSettings, values) | given(PreimageSettings, values, but=_PHRASE_FLAGS)
    consensus = pick(ConsensusSettings, values)
    opened = _searching(_opened(models, consensus, mbr=mbr), models[0], changes)
    translator = _reading(opened, models[0], format, split, protect, number_format)
    languages = translator.text.settings.source_lang, translator.text.settings.target_lang
    terms = Glossary.read(glossary, *languages) if glossary else None
    if in_place and source is not None:
        how = {"glossary": terms, "fuzzy": fuzzy, "engine": engine}
        _translate_in_place(translator, source, output, everything=all, **how)
        return
    requests = read_requests(constraints) if constraints else None
    at_once = line_buffered or (source is None and sys.stdin.isatty())
    if output is None and sys.stdout.isatty():
        hide()  # the lines themselves tell how far it is
    with ExitStack() as stack:
        out = output_of(output, stack, at_once=at_once)
        links = stack.enter_context(write_whole(alignment_file)) if alignment_file else None
        sure = stack.enter_context(write_whole(confidence)) if confidence else None
        listed = nbest_file is not None and format_to_write(nbest_file, nbest_format or AUTO).holds_parts
        candidates = stack.enter_context(_listing(translator, nbest_file, nbest_format or AUTO, at_once=at_once))
        places = ((out, output), (links, alignment_file), (sure, confidence))
        pipes = [stream for stream, path in places if stream and path and at_once and is_special(path)]
        number, mended, first_mended = 0, 0, (0, "")
        translations = translator.translations(
            lines_of(source) if format == HTML else _but_documents(lines_of(source), source or "standard input"),
            nbest,
            distinct=distinct,
            engine=engine,
            chunk=1 if at_once else CHUNK,
            glossary=terms,
            prefix=prefix,
            requests=requests,
            format=format,
            confidence=sure is not None or listed,
            fuzzy=fuzzy,
        )
        told = each(translations, "translate", count_lines(source), "lines")
        for number, best in enumerate(told, 1):
            for note in best[0].notes:
                log.warning("line %d: %s", number, note)
            out.write(best[0].text + "\n")
            if best[0].repairs:
                mended += 1
                if mended == 1:
                    first_mended = number, best[0].repairs[0]
            if sure:
                sure.write(_confidence(best[0], calibrated=translator.calibration is not None) + "\n")
            if links:
                # nothing is known about the links of a text that was recalled
                pairs = () if best[0].recalled else best[0].links
                links.write(" ".join(f"{s}-{t}" for s, t in pairs) + "\n")
            candidates(best)
            for stream in pipes:
                stream.flush()
    if requests is not None and len(requests) != number:
        log.warning("%s asks something of %s lines, but there were %s", constraints, len(requests), number)
    if mended:
        log.warning("protected text was mended in %s lines; the first is line %d: %s", f"{mended:,}", *first_mended)


def _but_documents(lines: Iterator[str], name: str | Path) -> Iterator[str]:
    """Yield lines of text; what begins like a file that is translated in place is refused."""
    from camber.errors import InputError

    first = next(lines, None)
    if first is None:
        return
    if _DOCUMENT.match(first):
        problem = "this begins like XML, HTML or PO, of which only a file is translated segment by segment"
        raise InputError(problem, name, 1, remedy="give it as --input FILE; or --format html for its lines")
    yield first
    yield from lines


def _translate_in_place(translator: Translator, source: Path, output: Path | None, **how: Any) -> None:
    """Translate a file whose format has places for translations, and say what became of them."""
    from camber.files import read_bytes, write_bytes
    from camber.pipeline.translate_file import translate_data

    data, report = translate_data(translator, read_bytes(source), str(source), **how)
    for line, note in report.notes:
        log.warning("%s:%d: %s", source, line, note)
    if output is not None:
        write_bytes(output, data)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    log.info("%s", report)


def _opened(models: Sequence[Path], consensus: ConsensusSettings, *, mbr: bool) -> Translator:
    """Open a model, or the consensus of several, or of one with itself."""
    from camber.model.translator import load

    translators = [load(model) for model in models]
    if len(models) == 1 and not mbr:
        refuse_idle(consensus.to_dict(), "without --mbr, for one model")
        return translators[0]
    from camber.model.combination import together

    return together(translators, consensus)


def _reading(
    translator: Translator, model: Path, format: str, split: bool | None, protect: str, number_format: str | None
) -> Translator:
    """Return the translator with another way to read lines; models of tokens, and old ones, have none."""
    text = translator.text
    if not text.protects and (protect or number_format == "target" or format != TEXT_FORMATS[0]):
        raise click.UsageError(f"--protect, --format and --number-format: {model} was trained without protected text")
    if text.settings.tokenizer == "none" and split:
        raise click.UsageError(f"--split: {model} is a model of tokenised text, one sentence per line")
    named = {"split": split, "number_format": number_format}
    changes: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if not changes and not protect:
        return translator
    return translator.reading(changes | ({"protect": protect} if protect else {}))


def _confidence(translation: Translation, *, calibrated: bool) -> str:
    """Return how sure a translation is, and each word of its text with its place there, as JSON."""
    import json

    words = [
        {"text": translation.text[start:end], "place": [start, end], "confidence": round(value, 4)}
        for (start, end), value in zip(translation.places, translation.word_confidences, strict=True)
        if start >= 0
    ]
    assert translation.confidence is not None
    item = {"text": translation.text, "confidence": round(translation.confidence, 4), "calibrated": calibrated}
    return json.dumps({**item, "words": words}, ensure_ascii=False)


def _searching(translator: Translator, model: Path, changes: dict[str, Any]) -> Translator:
    """Return the translator with other settings of the search; phrase models have some that others lack."""
    if not changes:
        return translator
    known = translator.settings.to_dict()
    if unknown := [_flag(name) for name in changes if name not in known]:
        shared = [_flag(name) for name in (DecodeSettings().to_dict() | PreimageSettings().to_dict()) if name in known]
        kind = translator.directory.kind if translator.directory else "other"
        kind = "hierarchical" if kind == "hiero" else kind
        raise click.UsageError(
            f"{', '.join(unknown)}: {model} is a {kind} model, which has no such setting; it has {', '.join(shared)}"
        )
    return translator.searching(changes)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


@contextmanager
def _listing(
    translator: Translator, path: Path | None, format: str, *, at_once: bool
) -> Iterator[Callable[[list[Translation]], None]]:
    """Yield a function that adds the candidates of a line to an n-best list, which is written on the way.

    Where '|||' separates fields, that in a text is escaped as in Moses' tokens.
    """
    if path is None:
        yield lambda best: None
        return
    from dataclasses import replace

    from camber.decode.lists import as_weighed
    from camber.nbest.pieces import writing_pieces

    written, bend = format_to_write(path, format), translator.decoder.bend
    # a table that names bins in its first line must have seen all lines, and a format of another package may not do it
    whole = written.lines is None or (written.names_first and bend.width > 0)
    waiting: list[list[Translation]] = []
    bars = done = 0

    def piece() -> NBest:
        nonlocal bars, done
        nbest = translator.to_nbest(waiting)
        if not written.holds_parts:
            nbest = as_weighed(nbest, bend)
        nbest = replace(nbest, first=done)
        done += len(waiting)
        waiting.clear()
        if nbest.tokens is not None and written.separator == "|||":
            bars += sum("|||" in text for text in nbest.texts)
            nbest = replace(nbest, texts=[text.replace("|||", "&#124;" * 3) for text in nbest.texts])
        return nbest

    if whole:
        yield waiting.append
        piece().write(path, format)
    else:
        with writing_pieces(path, format) as write:

            def add(best: list[Translation]) -> None:
                waiting.append(best)
                if at_once or len(waiting) == PIECE:
                    write(piece())

            yield add
            if waiting:
                write(piece())
    if bars:
        log.warning("%s: '|||' is written as '&#124;&#124;&#124;' in %s texts; jsonl keeps it", path, f"{bars:,}")
