"""From raw lines to the tokens that a model is trained on, and from its output back to raw text.

text = TextPipeline.learn(TextSettings(source_lang="de", target_lang="en"), german_lines, english_lines)
prepared = text.prepare("Wo ist der Bahnhof?")                      # prepared.tokens: what the model translates
text.finish(["where", "is", "the", "station", "?"], prepared)       # → 'Where is the station?'

A raw line becomes sentences (:meth:`TextPipeline.paragraph`), in each of which protected text becomes class tokens,
and the rest is tokenised and cased. All that this loses is remembered in :class:`~camber.text.prepared.Prepared`. On
the way back, the model's word alignment tells which tokens are copies of source tokens (see `camber.text.finishing`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from camber.errors import ModelError
from camber.files import decode_lines, read_bytes, write_lines
from camber.progress import log
from camber.text.case import Forms, Truecaser, is_shouted, lower
from camber.text.detokenise import learn_spaces
from camber.text.finishing import Finished, Finisher
from camber.text.marks import marked_up, without_markup
from camber.text.places import gaps_of, places_of
from camber.text.prepared import Paragraph, Prepared
from camber.text.protect import (
    FIGURE,
    THING,
    Span,
    find_spans,
    moved,
    user_pattern,
    with_titles,
    within,
)
from camber.text.restore import Links
from camber.text.retag import placed_tags, tags_of_sentences
from camber.text.sentences import split_sentences
from camber.text.settings import TextSettings
from camber.text.substitute import class_links, shared_spans, span_texts, substituted
from camber.text.tags import TEXT, Tag, find_tags, stretches
from camber.text.tokenise import Tokenizer, assumed_rules, base_language, composed

_SETTINGS_FILE = "text.json"
_CASE_FILES = ("truecase.source.tsv", "truecase.target.tsv")
#: what models were made with that do not know of a setting
_BEFORE = {"protection": False, "split": False, "segment": False}


class Pair(NamedTuple):
    """The tokens of two lines that are translations of each other, as a model is trained on them."""

    source: list[str]
    target: list[str]
    links: list[tuple[int, int]]  # between tokens that stand for the same protected text


class TextPipeline:
    """Tokenise, case and back, for both sides of a model.

    With tokenizer "none" nothing is changed, and case is left alone unless `lowercase` asks for small letters. With
    `lowercase` the output is in small letters too.
    """

    def __init__(
        self,
        settings: TextSettings,
        source_case: Truecaser | None = None,
        target_case: Truecaser | None = None,
        spaces: dict[str, str] | None = None,
    ) -> None:
        self.settings, self.spaces = settings, spaces
        self.source_case, self.target_case = source_case, target_case
        self.source_tokenizer = Tokenizer(settings.tokenizer, settings.source_lang, segment=settings.segment)
        self.target_tokenizer = Tokenizer(settings.tokenizer, settings.target_lang, spaces, segment=settings.segment)
        self.protects = settings.protection and settings.tokenizer != "none"
        self._own = [user_pattern(settings.protect)] if settings.protect else []
        languages = [base_language(code) for code in (settings.source_lang, settings.target_lang)]
        self._source_language, self._target_language = languages
        self.finisher = Finisher(settings, self.target_tokenizer, source_case, target_case)

    @classmethod
    def learn(cls, settings: TextSettings, source_lines: Sequence[str], target_lines: Sequence[str]) -> TextPipeline:
        """Learn the truecasers (and the target's habits of spacing) from raw parallel text."""
        plain = cls.without_case(settings, target_lines)
        return plain.with_case(*plain.forms(source_lines, target_lines)) if plain.learns_case else plain

    @classmethod
    def without_case(cls, settings: TextSettings, target_lines: Iterable[str]) -> TextPipeline:
        """Learn the target's habits of spacing alone."""
        if settings.tokenizer == "none":
            return cls(settings)
        for code in dict.fromkeys((settings.source_lang, settings.target_lang)):
            if told := assumed_rules(code):
                log.warning("%s", told)
        return cls(settings, spaces=learn_spaces(base_language(settings.target_lang), target_lines))

    @property
    def learns_case(self) -> bool:
        """Whether case is still to be learnt."""
        return self.source_case is None and self.settings.tokenizer != "none" and not self.settings.lowercase

    def forms(self, source_lines: Iterable[str], target_lines: Iterable[str]) -> tuple[Forms, Forms]:
        """Count the forms of words in raw parallel text, before case is learnt."""
        forms = Forms(), Forms()
        for source, target in zip(source_lines, target_lines, strict=True):
            if self.protects:
                tokens = self.pair(source, target)[:2]
            else:
                tokens = self.source_tokenizer.tokenise(source), self.target_tokenizer.tokenise(target)
            for side, counted in zip(tokens, forms, strict=True):
                counted.count(side)
        return forms

    def with_case(self, source: Forms, target: Forms) -> TextPipeline:
        """Return the same pipeline with the case of such forms."""
        casers = source.truecaser(self._source_language), target.truecaser(self._target_language)
        return TextPipeline(self.settings, *casers, self.spaces)

    def reading(self, changes: Mapping[str, Any]) -> TextPipeline:
        """Return the same pipeline with some settings changed; a pattern to protect is one more beside the old."""
        changes = dict(changes)
        if old := self.settings.protect:
            changes["protect"] = f"(?:{old})|(?:{changes['protect']})" if changes.get("protect") else old
        settings = replace(self.settings, **changes)
        return TextPipeline(settings, self.source_case, self.target_case, self.spaces)

    # --- text for training -------------------------------------------------------------------------------------------

    def pair(self, source: str, target: str) -> Pair:
        """Return the tokens of two lines that are translations of each other.

        Protected text that both sides have becomes class tokens, which are linked. What only one side has is no
        pattern: of code, the words stay, of other spans nothing.

        >>> TextPipeline(TextSettings()).pair("Salut {x}, 5 %s", "{x}: hi, 5")
        Pair(source=['Salut', '@var@', ',', '@num@'], target=['@var@', ':', 'hi', ',', '@num@'], links=[(1, 0), (3, 4)])
        """
        if not self.protects:
            return Pair(self.source_tokens(source), self.target_tokens(target), [])
        source, target = without_markup(source, self._own), without_markup(target, self._own)
        spans = find_spans(source, self._own), find_spans(target, self._own)
        if not (spans[0] or spans[1]):
            tokens = self.source_tokenizer.tokenise(source), self.target_tokenizer.tokenise(target)
            return Pair(self._source_cased(tokens[0]), self._target_cased(tokens[1]), [])
        shared = Counter(span_texts(source, spans[0])) & Counter(span_texts(target, spans[1]))
        kept = shared_spans(source, spans[0], shared), shared_spans(target, spans[1], shared)
        tokens = (
            self._source_cased(substituted(source, spans[0], self.source_tokenizer, kept[0])[0]),
            self._target_cased(substituted(target, spans[1], self.target_tokenizer, kept[1])[0]),
        )
        return Pair(*tokens, class_links(tokens, (source, target), spans, kept))

    def target_places(self, source: str, target: str) -> list[tuple[int, int]] | None:
        """Return where the target tokens of :meth:`pair` stand in the raw target; None where there is more than they.

        >>> TextPipeline(TextSettings()).target_places("Salut {x}", "Hi {x}!")
        [(0, 2), (3, 6), (6, 7)]
        """
        if not self.protects:
            return places_of(target, self.target_tokenizer.tokenise(target))
        if without_markup(target, self._own) != target:
            return None
        source, spans = without_markup(source, self._own), find_spans(target, self._own)
        shared = Counter(span_texts(source, find_spans(source, self._own)))
        if not all(kept := shared_spans(target, spans, shared)):
            return None
        return places_of(target, substituted(target, spans, self.target_tokenizer, kept)[1], spans)

    def source_tokens(self, line: str) -> list[str]:
        """Return the tokens of a source line as the model knows them."""
        if not self.protects:
            return self._source_cased(self.source_tokenizer.tokenise(line))
        line = without_markup(line, self._own)
        tokens, _ = substituted(line, find_spans(line, self._own), self.source_tokenizer)
        return self._source_cased(tokens)

    def target_tokens(self, line: str, source: str | None = None) -> list[str]:
        """Return the tokens of a target line as the model knows them; `source` is what it translates, if known."""
        if not self.protects:
            return self._target_cased(self.target_tokenizer.tokenise(line))
        line = without_markup(line, self._own)
        spans = find_spans(line, self._own)
        shared = None
        if source is not None:
            source = without_markup(source, self._own)
            shared = Counter(span_texts(source, find_spans(source, self._own)))
        kept = None if shared is None else shared_spans(line, spans, shared)
        return self._target_cased(substituted(line, spans, self.target_tokenizer, kept)[0])

    def _source_cased(self, tokens: list[str]) -> list[str]:
        return self._cased(tokens, self.source_case, self._source_language)

    def _target_cased(self, tokens: list[str]) -> list[str]:
        return self._cased(tokens, self.target_case, self._target_language)

    def _cased(self, tokens: list[str], caser: Truecaser | None, language: str) -> list[str]:
        if self.settings.tokenizer != "none":
            tokens = composed(tokens)
        if self.settings.lowercase:
            return [lower(token, language) for token in tokens]
        return caser.apply(tokens) if caser else tokens

    # --- text to translate -------------------------------------------------------------------------------------------

    def paragraph(self, line: str, format: str = TEXT) -> Paragraph:
        """Prepare a raw line: its sentences one by one, unless the settings say otherwise.

        `format` says what tags and entities are (see `camber.text.tags`).
        """
        if not self.protects and not self.settings.split:
            return Paragraph(line, (self.prepare(line),), ("", ""))
        if self.protects and format != TEXT:
            return self._tagged(line, find_tags(line, format), format)
        spans = find_spans(line, self._own) if self.protects else []
        if self.protects and (tags := marked_up(line, self._own, spans)):
            return self._tagged(line, tags, format, None if "<" in line else spans)
        places = self._sentences(line, spans) or [(len(line), len(line))]
        sentences = (self._prepared(line[start:end], within(spans, start, end)) for start, end in places)
        return Paragraph(line, tuple(sentences), gaps_of(line, places))

    def _sentences(self, text: str, spans: Sequence[Span], format: str = TEXT) -> list[tuple[int, int]]:
        """Return where the sentences of a text begin and end; or where all of it does, without the space around it.

        Mark-up has elements for ends of lines.
        """
        if self.settings.split and self.settings.tokenizer != "none":
            return split_sentences(text, self.settings.source_lang, with_titles(spans), breaks=format == TEXT)
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return [(start, end)] if start < end else []

    def _tagged(self, line: str, tags: list[Tag], format: str, outside: Sequence[Span] | None = None) -> Paragraph:
        """Prepare a line with tags; `outside` are its spans if all of them are outside of these."""
        sentences: list[Prepared] = []
        between: list[str] = []
        done = 0
        for stretch in stretches(line, tags, format):
            spans = find_spans(stretch.text, self._own) if outside is None else moved(outside, stretch.places)
            places = self._sentences(stretch.text, spans, format)
            for (start, end), own in zip(places, tags_of_sentences(stretch, places, tags), strict=True):
                first, last = stretch.places[start], stretch.places[end - 1] + len(stretch.raw[end - 1])
                if own:
                    first = min(first, _start(own[0], tags))
                    last = max(last, _start(own[-1], tags) + len(own[-1][2]))
                between.append(line[done:first])
                done = last
                shifted = [(number, at - start, text) for number, at, text in own]
                text, raw = stretch.text[start:end], stretch.raw[start:end]
                sentences.append(
                    self._prepared(
                        text,
                        within(spans, start, end),
                        raw if THING in text or format != TEXT else None,
                        shifted,
                        tags,
                        escapes=format != TEXT,
                    )
                )
        if not sentences:
            return Paragraph(line, (self._prepared("", []),), (line, ""))
        return Paragraph(line, tuple(sentences), (*between, line[done:]))

    def prepare(self, line: str) -> Prepared:
        """Prepare a source sentence for translation; its tags, if any, are lost."""
        if self.protects:
            line = without_markup(line, self._own)
            return self._prepared(line, find_spans(line, self._own))
        plain = self.source_tokenizer.tokenise(line)
        return Prepared(line, tuple(self._source_cased(plain)), tuple(plain), is_shouted(plain))

    def _prepared(
        self,
        line: str,
        spans: Sequence[Span],
        raw: Sequence[str] | None = None,
        own: Sequence[tuple[int, int, str]] = (),
        tags: Sequence[Tag] = (),
        *,
        escapes: bool = False,
    ) -> Prepared:
        """Prepare a sentence with its spans.

        `raw` is what stands for its characters, if that is not they, `own` its tags, of all `tags` of the line.
        """
        if not self.protects:
            return self.prepare(line)
        plain, marks = substituted(line, spans, self.source_tokenizer)
        found = places_of(line, marks, spans)
        if raw is None:
            gaps = gaps_of(line, found)
            written = tuple([line[start:end] for start, end in found])
        else:
            written = tuple("".join(raw[start:end]) for start, end in found)
            bounds = [0, *(bound for place in found for bound in place), len(line)]
            gaps = tuple("".join(raw[a:b]) for a, b in zip(bounds[::2], bounds[1::2], strict=True))
        places = [at for at, mark in enumerate(marks) if mark in (THING, FIGURE)] if spans else []
        return Prepared(
            line,
            tuple(self._source_cased(plain)),
            tuple(plain),
            is_shouted(plain),
            gaps,
            written,
            {at: written[at] for at in places},
            placed_tags(own, tags, found, raw or line) if own else (),
            escapes,
        )

    def finish(self, tokens: Sequence[str], source: Prepared, links: Links | None = None) -> str:
        """Return the raw text of a translation (see :meth:`finished`)."""
        return self.finished(tokens, source, links).text

    def finished(self, tokens: Sequence[str], source: Prepared, links: Links | None = None, begun: int = 0) -> Finished:
        """Return the raw text of a translation: with what it has of the source, cased like it, then detokenised.

        A source line in capitals gives a translation in capitals; otherwise sentences begin with a capital, unless the
        source line begins with a small letter. `links` are those of the word alignment, (source, target). The
        first `begun` tokens were given: what the search dropped is put back behind them.
        """
        return self.finisher.finished(tokens, source, links, begun)

    def save(self, folder: str | Path) -> None:
        """Write ``text.json`` and, where there are truecasers, ``truecase.*.tsv`` into a folder that exists."""
        folder = Path(folder)
        content = {"settings": self.settings.to_dict(), "spaces": self.spaces}
        write_lines(folder / _SETTINGS_FILE, json.dumps(content, indent=2).split("\n"))
        for name, caser in zip(_CASE_FILES, (self.source_case, self.target_case), strict=True):
            if caser:
                caser.save(folder / name)

    @classmethod
    def load(cls, folder: str | Path) -> TextPipeline:
        """Read what :meth:`save` wrote."""
        path = Path(folder) / _SETTINGS_FILE
        if not path.is_file():
            raise ModelError(f"{path}: no such file; the model is not whole: train it again")
        try:
            content = json.loads("\n".join(decode_lines(read_bytes(path), path)))
            settings, spaces = TextSettings.from_dict(_BEFORE | content["settings"]), content["spaces"]
            if not (spaces is None or isinstance(spaces, dict)):
                raise ValueError(f"spaces is {spaces!r}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"{path}: damaged ({error}); train the model again") from None
        if settings.tokenizer == "none" or settings.lowercase:
            return cls(settings, spaces=spaces)
        languages = map(base_language, (settings.source_lang, settings.target_lang))
        source, target = (
            Truecaser.load(Path(folder) / name, code) for name, code in zip(_CASE_FILES, languages, strict=True)
        )
        return cls(settings, source, target, spaces)


def _start(own: tuple[int, int, str], tags: Sequence[Tag]) -> int:
    """Return where a tag begins in the line, with the white space that belongs to it."""
    number, _, text = own
    return tags[number].start - (len(text) - len(text.lstrip()))
