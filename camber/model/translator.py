"""The translator: a model directory, opened; raw lines in, raw lines out.

model = camber.load("my-model")
model.translate(["Guten Morgen."])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from camber.corpus import Vocabulary
from camber.corpus.inputs import as_inputs
from camber.decode.derivation import Derivation
from camber.decode.searcher import Featured, LogLinear, Searcher
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.weights import Weights
from camber.model.directory import ModelDirectory
from camber.model.kinds import open_decoder
from camber.model.memory import Memory
from camber.text.pipeline import TextPipeline
from camber.text.prepared import Prepared

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
    derivation: Derivation
    recalled: bool = False
    decoded: str = ""


class Translator(Generic[Search]):
    """A search, with the text pipeline around it."""

    def __init__(
        self,
        text: TextPipeline,
        decoder: Search,
        weights: Weights,
        directory: ModelDirectory | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Put a text pipeline around a decoder; `weights` are the decoder's, with their signature.

        `memory` holds added pairs, whose exact repeats come back as their translations.
        """
        self.text, self.decoder, self.weights, self.directory = text, decoder, weights, directory
        self.memory = memory

    @property
    def settings(self) -> Any:
        """How the search is done."""
        return self.decoder.settings

    def searching(self, changes: Mapping[str, Any]) -> Translator[Search]:
        """Return the same model with other settings of the search, such as ``{"pop_limit": 100}``."""
        return Translator(self.text, self.decoder.searching(changes), self.weights, self.directory, self.memory)

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
        """Prepare a raw line; a word that the model knows only in another case takes that case."""
        prepared = self.text.prepare(line)
        if self.text.settings.tokenizer == "none":
            return prepared
        known = self._source_words.id
        tokens = list(prepared.tokens)
        for position, word in enumerate(tokens):
            if known(word) < 0:
                forms = (word.lower(), word.lower().capitalize(), word.upper())
                tokens[position] = next((form for form in forms if known(form) >= 0), word)
        return replace(prepared, tokens=tuple(tokens))

    def source_tokens(self, line: str) -> list[str]:
        """Return the tokens of a raw line as the model sees them (see :meth:`prepare`)."""
        return list(self.prepare(line).tokens)

    def translate(self, lines: Iterable[str], engine: Engine = LOCAL) -> list[str]:
        """Translate raw lines.

        >>> model.translate(["ein haus"])                                           # doctest: +SKIP
        ['a house']
        """
        return [best[0].text for best in self.translations(lines, engine=engine)]

    def translations(
        self,
        lines: Iterable[str],
        nbest: int = 1,
        *,
        distinct: bool = True,
        engine: Engine = LOCAL,
        chunk: int = CHUNK,
    ) -> Iterator[list[Translation]]:
        """Yield the `nbest` best translations of every line, best first; input is read `chunk` lines at a time."""
        if isinstance(lines, str | bytes):
            raise LinesError(
                f"expected lines, not the single {type(lines).__name__} {lines[:40]!r}; put it into a list"
            )
        return self._translations(iter(lines), nbest, distinct, engine, chunk)

    def _translations(
        self, lines: Iterator[str], nbest: int, distinct: bool, engine: Engine, chunk: int
    ) -> Iterator[list[Translation]]:
        first = 0
        while group := list(islice(lines, chunk)):
            source = [self.prepare(line) for line in group]
            inputs = as_inputs((prepared.tokens for prepared in source), first)
            decoded = self.decoder.decode(inputs, nbest, distinct=distinct, engine=engine)
            first += len(group)
            for prepared, derivations in zip(source, decoded, strict=True):
                tokens = list(prepared.tokens)
                best = [Translation(self.text.finish(item.words, prepared), tokens, item) for item in derivations]
                recalled = self.memory.recall(prepared.line, prepared.tokens) if self.memory else None
                yield best if recalled is None else _with_first(recalled, best)[:nbest]

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
        return to_nbest(self.decoder, [[item.derivation for item in best] for best in listed], texts)


def _with_first(text: str, decoded: list[Translation]) -> list[Translation]:
    """Put a text before what the decoder found; if it is there, it moves to the front."""
    same = next((item for item in decoded if item.text == text), None)
    first = same or replace(decoded[0], text=text, recalled=True, decoded=decoded[0].text)
    return [first, *(item for item in decoded if item is not same)]


def load(path: str | Path, *, verify: bool = False) -> Translator[Any]:
    """Open a model directory; `verify` checks every byte first."""
    return ModelDirectory.opened(path, open_translator, verify=verify)


def open_translator(directory: ModelDirectory, text: TextPipeline | None = None) -> Translator:
    """Open the translator of a directory; `text` is its text pipeline, if that is open already."""
    decoder, weights = open_decoder(directory)
    text = text or TextPipeline.load(directory.path / "text")
    return Translator(text, decoder, weights, directory, Memory.open(directory))
