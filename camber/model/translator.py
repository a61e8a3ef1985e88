"""The translator: a model directory, opened; raw lines in, raw lines out.

model = camber.load("my-model")
model.translate(["Guten Morgen."])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from camber.confidence.calibration import CANDIDATES, FILE, Calibration, Confidence, judge_by_list
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.derivation import Derivation, joined
from camber.decode.searcher import Featured, LogLinear, Searcher
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, ModelError, SettingsError
from camber.features.weights import Weights
from camber.formats.bilingual.unit import MARK
from camber.formats.glossary.glossary import Glossary
from camber.memory.codes import segment_in
from camber.memory.match import Match
from camber.model.asking import Asked, Asking, Request, disobeyed, requests_for
from camber.model.directory import ModelDirectory
from camber.model.kinds import open_decoder
from camber.model.memory import Memory
from camber.model.recalling import of_line, of_sentence
from camber.model.repairing import Kept, Remembering, told, with_kept
from camber.progress import Watcher, each, log, watched
from camber.text.pipeline import TextPipeline
from camber.text.places import places_in
from camber.text.prepared import Paragraph, Prepared
from camber.text.tags import FORMATS, TEXT

if TYPE_CHECKING:  # imported where a model of the kind is opened, which keeps the start-up of the others short
    from camber.nbest.nbest import NBest

Search = TypeVar("Search", bound=Searcher)
Other = TypeVar("Other", bound=Searcher)

#: lines that are translated together when input is streamed
CHUNK = 1000


class LinesError(CamberError, TypeError):
    """One line where many are expected: its letters would be taken for lines."""


@dataclass(frozen=True)
class Translation:
    """One translated line: its raw text, and the derivation behind it.

    A line that repeats an added pair has that pair's target as its text. Where the decoder did not find it too, the
    text is `recalled`, and the derivation is the decoder's own best one, with other words; `decoded` is their text.
    """

    text: str
    tokens: list[str]  # of the source, as the model sees them
    derivation: Derivation  # of all sentences of the line
    recalled: bool = False
    decoded: str = ""
    links: tuple[tuple[int, int], ...] = ()  # of the derivation: (source, target) positions of tokens
    repairs: tuple[str, ...] = ()  # what had to be done so that protected text came back whole
    notes: tuple[str, ...] = ()  # which terms could not be had, and why
    confidence: float | None = None  # how sure the engine is, from 0 to 1, if that was asked for
    word_confidences: tuple[float, ...] = ()  # the same of every word of the derivation; of a recalled text: none
    places: tuple[tuple[int, int], ...] = ()  # where each of these words stands in the text; (-1, -1): nowhere
    match: Match | None = None  # what was remembered for the line, where that was asked for and used


class Translator(Generic[Search]):
    """A search, with the text pipeline around it."""

    def __init__(
        self,
        text: TextPipeline,
        decoder: Search,
        weights: Weights,
        directory: ModelDirectory | None = None,
        memory: Memory | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        """Put a text pipeline around a decoder; `weights` are the decoder's, with their signature.

        `memory` holds added pairs, whose exact repeats come back as their translations. A `calibration` says how sure
        translations are; without one, that is their posterior over the list of candidates.
        """
        self.text, self.decoder, self.weights, self.directory = text, decoder, weights, directory
        self.memory, self.calibration = memory, calibration

    @property
    def settings(self) -> Any:
        """How the search is done."""
        return self.decoder.settings

    def searching(self, changes: Mapping[str, Any]) -> Translator[Search]:
        """Return the same model with other settings of the search, such as ``{"pop_limit": 100}``."""
        return self._with(decoder=self.decoder.searching(changes))

    def reading(self, changes: Mapping[str, Any]) -> Translator[Search]:
        """Return the same model with other settings of how lines are read, such as ``{"split": False}``.

        A pattern for ``protect`` is one more beside that of the model.
        """
        return self._with(text=self.text.reading(changes))

    def calibrated(self, calibration: Calibration | None) -> Translator[Search]:
        """Return the same model, which goes by this when it says how sure it is."""
        return self._with(calibration=calibration)

    def _with(self, **changes: Any) -> Translator[Search]:
        now = {name: getattr(self, name) for name in ("text", "decoder", "weights", "directory", "memory")}
        return Translator(**{**now, "calibration": self.calibration, **changes})

    def reweighted(self: Translator[LogLinear], weights: Weights) -> Translator[LogLinear]:
        """Return the same model with other weights."""
        return self.shaped(self.decoder.reweighted(weights.values), weights)

    def shaped(self, decoder: Other, weights: Weights) -> Translator[Other]:
        """Return the same model with another decoder, bent perhaps, and its weights."""
        return Translator(self.text, decoder, weights, self.directory, self.memory)

    @cached_property
    def _source_words(self) -> Vocabulary:
        return self.decoder.source_vocabulary

    def prepare(self, line: str) -> Prepared:
        """Prepare a raw sentence; a word that the model knows only in another case takes that case."""
        return self.known_case(self.text.prepare(line))

    def paragraph(self, line: str, format: str = TEXT) -> Paragraph:
        """Prepare the sentences of a raw line (see :meth:`prepare`), which may be of a format with tags."""
        return self._in_known_case(self.text.paragraph(line, format))

    def _in_known_case(self, paragraph: Paragraph) -> Paragraph:
        sentences = tuple(map(self.known_case, paragraph.sentences))
        if all(map(is_, sentences, paragraph.sentences)):
            return paragraph
        return replace(paragraph, sentences=sentences)

    def known_case(self, prepared: Prepared) -> Prepared:
        """Return a sentence in which words that the model knows only in another case take that case."""
        if self.text.settings.tokenizer == "none":
            return prepared
        known, tokens = self._source_words.id, list(prepared.tokens)
        changed = False
        for position in self._source_words.missing(tokens):
            word = tokens[position]
            forms = (word.lower(), word.lower().capitalize(), word.upper())
            if (other := next((form for form in forms if known(form) >= 0), word)) != word:
                tokens[position], changed = other, True
        return replace(prepared, tokens=tuple(tokens)) if changed else prepared

    def _whole(self, line: str, format: str) -> Paragraph:
        """Prepare a raw line as a single sentence."""
        return self._in_known_case(self._unsplit.paragraph(line, format))

    @cached_property
    def _unsplit(self) -> TextPipeline:
        return self.text.reading({"split": False})

    def source_tokens(self, line: str) -> list[str]:
        """Return the tokens of a raw line as the model sees them (see :meth:`prepare`)."""
        return list(self.prepare(line).tokens)

    @watched
    def translate(
        self,
        lines: Iterable[str],
        engine: Engine = LOCAL,
        *,
        glossary: Glossary | None = None,
        prefix: str | Sequence[str] | None = None,
        format: str = TEXT,
        fuzzy: float | None = None,
        progress: Watcher | None = None,
    ) -> list[str]:
        """Translate raw lines, with the terms of a glossary, and going on behind a prefix (one, or one for each line).

        `format` is "text", "html" or "xliff-inline". With `fuzzy`, a line that is remembered comes back as its
        translation, and of a match of at least that likeness (0.7, say) only what differs is translated anew.

        >>> model.translate(["ein haus"])                                           # doctest: +SKIP
        ['a house']
        """
        total = len(lines) if isinstance(lines, Sequence) else None
        found = self.translations(lines, engine=engine, glossary=glossary, prefix=prefix, format=format, fuzzy=fuzzy)
        return [best[0].text for best in each(found, "translate", total, "lines")]

    def translations(
        self,
        lines: Iterable[str],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        chunk: int = CHUNK,
        glossary: Glossary | None = None,
        prefix: str | Sequence[str] | None = None,
        requests: Iterable[Request] | None = None,
        format: str = TEXT,
        confidence: bool = False,
        fuzzy: float | None = None,
    ) -> Iterator[list[Translation]]:
        """Yield the `nbest` best translations of every line, best first; input is read `chunk` lines at a time.

        What a `glossary` asks for is obeyed in all lines, a prefix in all or one by one; `requests` say what is asked
        of each line. A term that cannot be had is left out, and there is a note about it.
        `format` is "text", "html" or "xliff-inline": what counts as a tag, and whether there are entities.
        With `confidence`, translations say how sure the engine is of them and of their words, which looks at some more
        candidates; that of several sentences is their mean, by words. A recalled text is certain.
        With `fuzzy`, remembered pairs that are at least so like a line take part (see :meth:`translate`).
        """
        if format not in FORMATS:
            raise SettingsError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")
        if isinstance(lines, str | bytes):
            raise LinesError(
                f"expected lines, not the single {type(lines).__name__} {lines[:40]!r}; put it into a list"
            )
        if chunk < 1:
            raise SettingsError(f"{chunk} lines at a time; expected at least 1")
        asking, wanted = Asking(self.text, self.decoder, glossary), requests_for(prefix, requests)
        memory = None
        if fuzzy is not None:
            self.matches("", fuzzy)  # refuses what cannot be had before anything is read
            memory = Remembering(self.text, self.decoder, self.matches, fuzzy, format)
        return self._translations(
            iter(lines), nbest, distinct, engine, chunk, asking, wanted, format, confidence, memory
        )

    def _translations(
        self,
        lines: Iterator[str],
        nbest: int,
        distinct: bool,
        engine: Engine,
        chunk: int,
        asking: Asking,
        wanted: Iterator[Request],
        format: str,
        confidence: bool,
        memory: Remembering | None,
    ) -> Iterator[list[Translation]]:
        first = 0
        while group := list(islice(lines, chunk)):
            source = [self.paragraph(line, format) for line in group]
            kept = [[Kept()] * len(paragraph.sentences) for paragraph in source]
            if memory is not None:
                looked_up = [memory.of(item, partial(self._whole, item.line, format)) for item in source]
                source, kept = [item for item, _ in looked_up], [own for _, own in looked_up]
            asked = [
                [with_kept(own, one) for own, one in zip(asking.of(paragraph, next(wanted)), some, strict=True)]
                for paragraph, some in zip(source, kept, strict=True)
            ]
            inputs = [
                Input(sentence.tokens, number, own.constraints)
                for number, (paragraph, some) in enumerate(zip(source, asked, strict=True), first)
                for sentence, own in zip(paragraph.sentences, some, strict=True)
            ]
            candidates = max(nbest, CANDIDATES) if confidence else nbest
            found = self.decoder.decode(inputs, candidates, distinct=distinct, engine=engine)
            decoded = iter(self._judged(list(found), inputs, nbest)) if confidence else ((best, None) for best in found)
            first += len(group)
            for paragraph, some, remembered in zip(source, asked, kept, strict=True):
                sentences = paragraph.sentences
                finished = [
                    self._finished(*next(decoded), sentence, own, asking, one)
                    for sentence, own, one in zip(sentences, some, remembered, strict=True)
                ]
                best = _combined(finished, paragraph, nbest)
                if (match := told(remembered)) is not None:
                    best = [replace(item, match=match) for item in best]
                free = self.memory and not any(own.constraints for own in some)
                recalled = self._recall(paragraph, format) if free else None
                yield best if recalled is None else _with_first(recalled, best)[:nbest]

    def matches(self, line: str, threshold: float = 0.7, best: int = 3, format: str = TEXT) -> list[Match]:
        """Return the remembered pairs whose sources are most like a raw line of a format, at least so much.

        >>> model.matches("Ein kleines Haus.")[0].percent                           # doctest: +SKIP
        75
        """
        if self.memory is None or self.memory.trained is None:
            place = "this translator" if self.directory is None else str(self.directory.path)
            told = f"{place}: keeps no memory of its training (--no-memory, or a version that had none)"
            if not self.memory:
                raise ModelError(f"{told}; train it again, or add the pairs with `camber add`")
            _warn_once(f"{told}; only added pairs are looked at")
        assert self.memory is not None
        return self.memory.matches(line, threshold, best, format)

    def _judged(
        self, found: list[Sequence[Derivation]], inputs: Sequence[Input], nbest: int
    ) -> list[tuple[Sequence[Derivation], list[Confidence]]]:
        """Return the `nbest` best derivations of each sentence, and how sure they are by all that were found."""
        if self.calibration is None:
            sure = judge_by_list(found, nbest)
        else:
            sure = self.calibration.judge(found, [item.tokens for item in inputs], nbest)
        return [(best[:nbest], some) for best, some in zip(found, sure, strict=True)]

    def _recall(self, paragraph: Paragraph, format: str) -> str | None:
        """Return the target of an added pair whose source is this line; what is protected must be the same."""
        assert self.memory is not None
        line, sentences = paragraph.line, paragraph.sentences
        protected = any(sentence.protected for sentence in sentences)
        tokens = () if protected or paragraph.marked else [token for item in sentences for token in item.tokens]
        if format == TEXT and MARK not in line and not any(sentence.tags for sentence in sentences):
            return self.memory.recall(line, tokens)
        match = self.memory.recalled(line, tokens) or self.memory.recalled(segment_in(line, format).text)
        if match is None:
            return None
        start, end = len(line) - len(line.lstrip()), len(line.rstrip())
        text = of_line(self.text, match, line[start:end], format, sentences)
        return None if text is None else line[:start] + text.strip() + line[end:]

    def _recall_sentence(self, source: Prepared) -> str | None:
        """Return the target of an added pair whose source is a sentence of a line."""
        if self.memory is None:
            return None
        tokens = () if source.protected else source.tokens
        if not (source.tags or source.escapes):
            return self.memory.recall(source.line, tokens)
        match = self.memory.recalled(source.line, tokens)
        return None if match is None else of_sentence(self.text, match, source)

    def _finished(
        self,
        derivations: Sequence[Derivation],
        sure: Sequence[Confidence] | None,
        source: Prepared,
        asked: Asked,
        asking: Asking,
        kept: Kept,
    ) -> list[Translation]:
        """Finish the translations of one sentence; what was asked for comes before what is remembered."""
        best = []
        for rank, item in enumerate(derivations):
            links = tuple(self.decoder.word_alignment(item))
            made, repairs, places = self.text.finished(item.words, source, links, len(asked.constraints.prefix))
            notes = (*asked.notes, *disobeyed(item, asked.constraints))
            text = asking.finish(made, asked, source)
            one = Translation(text, list(source.tokens), item, links=links, repairs=tuple(repairs), notes=notes)
            if sure is not None:
                if text != made:
                    places = places_in(text, [made[a:b] for a, b in places])
                confidence, words = sure[rank]
                one = replace(one, confidence=confidence, word_confidences=words, places=tuple(places))
            best.append(one)
        recalled = None if asked.constraints else self._recall_sentence(source)
        if recalled is None and not asked.constraints:
            recalled = kept.recalled(best[0].text)
        return best if recalled is None else _with_first(recalled, best)[: len(best)]

    def to_nbest(self: Translator[Featured], translations: Sequence[Sequence[Translation]]) -> NBest:
        """Put the translations of many lines into an n-best list: raw texts, with the model's tokens beside them.

        Features belong to derivations: a text that was recalled is not listed, or as what the decoder made of the line
        if there is nothing else. A model of tokenised text has no other texts than its tokens.
        """
        from camber.decode.lists import to_nbest

        listed = [[item for item in best if not item.recalled] or [*best[:1]] for best in translations]
        texts = None
        if self.text.settings.tokenizer != "none":
            texts = [item.decoded if item.recalled else item.text for best in listed for item in best]
        links = [item.links for best in listed for item in best]
        nbest = to_nbest(self.decoder, [[item.derivation for item in best] for best in listed], texts, links)
        sure = [item.confidence for best in listed for item in best]
        if not sure or None in sure:
            return nbest
        words = [list(item.word_confidences) for best in listed for item in best]
        return replace(nbest, confidences=np.array(sure, np.float64), word_confidences=words)


def _combined(found: list[list[Translation]], paragraph: Paragraph, nbest: int) -> list[Translation]:
    """Put the translations of sentences behind each other: the `nbest` combinations with the highest scores."""
    scores = [item.derivation.score for item in found[0]]
    steps: list[list[tuple[int, int]]] = []  # of each sentence: the combination before it, and its own translation
    for best in found[1:]:
        own = [item.derivation.score for item in best]
        steps.append(_best_sums(scores, own, nbest))
        scores = [scores[row] + own[place] for row, place in steps[-1]]
    return [_joined(_followed(found, steps, row), paragraph) for row in range(len(scores))]


def _followed(found: list[list[Translation]], steps: list[list[tuple[int, int]]], row: int) -> list[Translation]:
    """Return the translations of all sentences in a combination."""
    items = []
    for best, step in zip(reversed(found[1:]), reversed(steps), strict=True):
        row, place = step[row]
        items.append(best[place])
    return [found[0][row], *reversed(items)]


def _best_sums(first: Sequence[float], second: Sequence[float], count: int) -> list[tuple[int, int]]:
    """Return the pairs of places with the highest sums, the best first, of two lists whose best come first.

    >>> _best_sums([0.0, -3.0], [0.0, -1.0, -4.0], 4)
    [(0, 0), (0, 1), (1, 0), (0, 2)]
    """
    # the pair (i, j) is behind (i + 1)(j + 1) - 1 others at least; what was recalled may come before better ones
    pairs = [(i, j) for i in range(len(first)) for j in range(min(len(second), count // (i + 1)))]
    return sorted(pairs, key=lambda pair: (-first[pair[0]] - second[pair[1]], pair))[:count]


def _joined(items: list[Translation], paragraph: Paragraph) -> Translation:
    """Put the translations of a line's sentences behind each other."""
    if len(items) == 1 and not any(paragraph.between):
        return items[0]
    links: list[tuple[int, int]] = []
    places: list[tuple[int, int]] = []
    source = target = done = 0
    for item, before in zip(items, paragraph.between, strict=False):
        done += len(before)
        places += [(start + done, end + done) if start >= 0 else (start, end) for start, end in item.places]
        done += len(item.text)
        links += [(s + source, t + target) for s, t in item.links]
        source, target = source + len(item.tokens), target + len(item.derivation.words)
    recalled = any(item.recalled for item in items)
    return Translation(
        paragraph.join([item.text for item in items]),
        [token for item in items for token in item.tokens],
        joined([item.derivation for item in items], [len(item.tokens) for item in items]),
        recalled,
        paragraph.join([item.decoded if item.recalled else item.text for item in items]) if recalled else "",
        tuple(links),
        tuple(repair for item in items for repair in item.repairs),
        tuple(note for item in items for note in item.notes),
        _mean_confidence(items),
        tuple(value for item in items for value in item.word_confidences),
        tuple(places),
        items[0].match if len(items) == 1 else None,
    )


def _mean_confidence(items: Sequence[Translation]) -> float | None:
    """Return how sure the translations of a line's sentences are together, a sentence counting as much as its words."""
    counts = [max(1, len(item.derivation.words)) for item in items if item.tokens]
    sure = [item.confidence for item in items if item.tokens]
    if not sure:
        return items[0].confidence
    total = sum(value * count for value, count in zip(sure, counts, strict=True) if value is not None)
    return None if None in sure else total / sum(counts)


def _with_first(text: str, decoded: list[Translation]) -> list[Translation]:
    """Put a text before what the decoder found; if it is there, it moves to the front."""
    same = next((item for item in decoded if item.text == text), None)
    first = same or replace(
        decoded[0], text=text, recalled=True, decoded=decoded[0].text, word_confidences=(), places=()
    )
    if first.confidence is not None:
        first = replace(first, confidence=1.0, word_confidences=(1.0,) * len(first.word_confidences))
    return [first, *(item for item in decoded if item is not same)]


@cache
def _warn_once(told: str) -> None:
    log.warning("%s", told)


def load(path: str | Path, *, verify: bool = False) -> Translator[Any]:
    """Open a model directory; `verify` checks every byte first."""
    return ModelDirectory.opened(path, open_translator, verify=verify)


def open_translator(directory: ModelDirectory, text: TextPipeline | None = None) -> Translator:
    """Open the translator of a directory; `text` is its text pipeline, if that is open already."""
    decoder, weights = open_decoder(directory)
    text = text or TextPipeline.load(directory.path / "text")
    calibration = Calibration.read(directory.file(FILE)) if FILE in directory else None
    return Translator(text, decoder, weights, directory, Memory.open(directory, text), calibration)
