"""What a job is made of: words, repetitions, how much of it is remembered, and how well the rest will come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import OBSOLETE, Tally
from camber.memory.words import match_words
from camber.model.translator import Translator, load
from camber.progress import Watcher, watched
from camber.text.tokenise import unescape

Name = str | Path

REPEATED, NONE = "repetitions", "no match"
#: bands of matches, by the per cent from which they are
LIMITS = {"100 %": 100, "95-99 %": 95, "85-94 %": 85, "75-84 %": 75, "50-74 %": 50}
BANDS = (REPEATED, *LIMITS, NONE)
#: where the engine cannot say how sure it is
UNTOLD = "No expected quality: nobody has found out how sure the model may be taken to be; `camber calibrate` does."
#: unknown words that are listed
LISTED = 20


@dataclass
class Band:
    """Segments of a kind."""

    segments: int = 0
    words: int = 0
    sure: float = 0.0  # how sure the engine is of their translations, summed over words

    @property
    def quality(self) -> float | None:
        """How sure the engine is of a translation, on average by words; None where nothing was translated."""
        return self.sure / self.words if self.words else None


@dataclass
class Part:
    """What one file, or all of them, are made of."""

    name: str
    bands: dict[str, Band] = field(default_factory=lambda: {band: Band() for band in BANDS})
    unknown: Counter[str] = field(default_factory=Counter)  # words that the model has never seen

    @property
    def all(self) -> Band:
        """All segments."""
        bands = self.bands.values()
        return Band(
            sum(band.segments for band in bands), sum(band.words for band in bands), sum(band.sure for band in bands)
        )


@dataclass
class Analysis:
    """What files are made of, each and together."""

    files: list[Part]
    total: Part
    quality: bool = False  # translations were made, to say how sure the engine is
    untold: str = ""  # why nothing is said of the quality

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        return {
            "quality": self.quality,
            "total": self._told(self.total),
            "files": [self._told(part) for part in self.files],
        }

    def _told(self, part: Part) -> dict[str, Any]:
        rows = {**part.bands, "all": part.all}
        return {
            "name": part.name,
            "bands": {
                name: {"segments": band.segments, "words": band.words}
                | ({"quality": None if band.quality is None else round(band.quality, 4)} if self.quality else {})
                for name, band in rows.items()
            },
            "unknown_words": part.unknown.total(),
            "unknown": dict(part.unknown.most_common(LISTED)),
        }

    def rows(self, part: Part) -> list[tuple[str, ...]]:
        """Return a table of one part: a head, the bands, and all of it."""
        everything = part.all
        head = ("", "segments", "words", "of all words") + (("expected quality",) if self.quality else ())
        rows = [head]
        for name, band in {**part.bands, "all": everything}.items():
            share = f"{100 * band.words / max(1, everything.words):.1f} %"
            quality = "" if band.quality is None else f"{100 * band.quality:.0f} %"
            rows.append((name, f"{band.segments:,}", f"{band.words:,}", share) + ((quality,) if self.quality else ()))
        return rows

    def __str__(self) -> str:
        lines = []
        for part in self.files if len(self.files) == 1 else [*self.files, self.total]:
            rows = self.rows(part)
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines.append(part.name)
            for first, *rest in rows:
                columns = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
                lines.append(f"  {first.ljust(widths[0])}  {'  '.join(columns)}".rstrip())
            lines.append(f"  {told_of_unknown(part)}")
        if self.untold:
            lines.append(self.untold)
        return "\n".join(lines)


def told_of_unknown(part: Part) -> str:
    """Return a line about words that the model does not know."""
    if not part.unknown:
        return "no unknown words"
    some = ", ".join(f"{word} ({count})" if count > 1 else word for word, count in part.unknown.most_common(LISTED))
    return f"{part.unknown.total():,} unknown words, {len(part.unknown):,} different ones: {some}"


def band_of(percent: int) -> str:
    """Return the band of a match.

    >>> band_of(100), band_of(99), band_of(49)
    ('100 %', '95-99 %', 'no match')
    """
    return next((name for name, least in LIMITS.items() if percent >= least), NONE)


@watched
def analyse(
    model: Name | Translator[Any],
    files: Sequence[Name] | Name,
    *,
    quality: bool = True,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Analysis:
    """Say what files are made of: TMX, XLIFF, PO, tables, or plain text, a segment on each line.

    A segment that came before, in any of the files, is a repetition. All others are looked up in what the model
    remembers. With `quality`, they are translated, too, and the engine says how sure it is, if it was
    calibrated (what others say only tells words apart).

    >>> print(camber.analyse("my-model", ["manual.xliff"]))                         # doctest: +SKIP
    """
    translator = model if isinstance(model, Translator) else load(model)
    paths = [files] if isinstance(files, str | Path) else list(files)
    translator.matches("")  # refuses a model without a memory before anything is read
    total, parts = Part("all files"), []
    seen: set[str] = set()
    first: list[tuple[Part, str, int, str]] = []
    for path in paths:
        for name, texts in _texts(path, translator):
            part = Part(name)
            parts.append(part)
            for text in texts:
                words = sum(any(map(str.isalnum, word)) for word in match_words(translator.text, text))
                if text in seen:
                    band = REPEATED
                else:
                    seen.add(text)
                    matches = translator.matches(text, LIMITS["50-74 %"] / 100, 1)
                    band = band_of(matches[0].percent) if matches else NONE
                    first.append((part, band, words, text))
                for one in (part, total):
                    one.bands[band].segments += 1
                    one.bands[band].words += words
                    one.unknown.update(_unknown(translator, text))
    if not total.all.segments:
        raise CamberError("there is no text to translate in these files")
    judged = quality and translator.calibration is not None
    if judged:
        _judge(translator, first, total, engine)
    return Analysis(parts, total, judged, UNTOLD if quality and not judged else "")


def _texts(path: Name, translator: Translator[Any]) -> list[tuple[str, list[str]]]:
    """Return the texts to translate of a file, or of all files in an archive; what is broken is an error."""
    settings = translator.text.settings
    found = []
    for file in files_in(path):
        texts = []
        languages = Languages(settings.source_lang or "und", settings.target_lang or "und")
        for unit in file.units(languages, Tally()):
            if unit.translate and unit.state != OBSOLETE and unit.source.text:
                texts.append(unit.source.text)
        found.append((file.path, texts))
    return found


def _unknown(translator: Translator[Any], text: str) -> list[str]:
    known = translator.decoder.source_vocabulary.id
    prepared = translator.prepare(text)
    strange = [
        unescape(prepared.plain[at])
        for at, token in enumerate(prepared.tokens)
        if known(token) < 0 and at not in prepared.protected
    ]
    return [word for word in strange if any(map(str.isalpha, word))]


def _judge(translator: Translator[Any], first: list[tuple[Part, str, int, str]], total: Part, engine: Engine) -> None:
    """Translate all different segments, and note how sure the engine is of each."""
    found = translator.translations((text for *_, text in first), confidence=True, engine=engine)
    for (part, band, words, _), best in zip(first, found, strict=True):
        for one in (part, total):
            one.bands[band].sure += (best[0].confidence or 0.0) * words
