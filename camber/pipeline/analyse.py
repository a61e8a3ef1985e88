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
from camber.formats.bilingual.unit import NEW, OBSOLETE, TURNED, Tally, Unit
from camber.memory.words import match_words
from camber.model.translator import Translator, load
from camber.progress import Watcher, each, log, watched
from camber.text.tokenise import unescape

Name = str | Path

KEPT, REPEATED, NONE = "has a translation", "repetitions", "no match"
#: bands of matches, by the per cent from which they are
LIMITS = {"100 %": 100, "95-99 %": 95, "85-94 %": 85, "75-84 %": 75, "50-74 %": 50}
BANDS = (KEPT, REPEATED, *LIMITS, NONE)
#: what is meant by it
TOLD = (
    "Expected quality: the chrF to expect of the engine's translations, by words; less if the job is further from what "
    "was learnt than the dev set is."
)
#: where the engine cannot say how sure it is
UNTOLD = "No expected quality: nobody has found out how sure the model may be taken to be; `camber calibrate` does."
#: unknown words that are listed
LISTED = 20


@dataclass
class Band:
    """Segments of a kind."""

    segments: int = 0
    words: int = 0
    judged: int = 0  # words of those that the engine translated
    sure: float = 0.0  # how sure it is of their translations, summed over words

    @property
    def quality(self) -> float | None:
        """How sure the engine is of a translation, on average by words; None where nothing was translated."""
        return self.sure / self.judged if self.judged else None

    def __add__(self, other: Band) -> Band:
        return Band(
            self.segments + other.segments,
            self.words + other.words,
            self.judged + other.judged,
            self.sure + other.sure,
        )


@dataclass
class Part:
    """What one file, or all of them, are made of."""

    name: str
    bands: dict[str, Band] = field(default_factory=lambda: {band: Band() for band in BANDS})
    unknown: Counter[str] = field(default_factory=Counter)  # words that the model has never seen

    @property
    def all(self) -> Band:
        """All segments."""
        return sum(self.bands.values(), Band())


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
        bands = {name: band for name, band in part.bands.items() if name != KEPT or band.segments}
        head = ("", "segments", "words", "of all words") + (("expected quality",) if self.quality else ())
        rows = [head]
        for name, band in {**bands, "all": everything}.items():
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
        if self.quality:
            lines.append(TOLD)
        if self.untold:
            lines.append(self.untold)
        return "\n".join(lines)


def told_of_unknown(part: Part) -> str:
    """Return a line about words that the model does not know."""
    if not part.unknown:
        return "no unknown words"
    some = ", ".join(f"{word} ({count})" if count > 1 else word for word, count in part.unknown.most_common(LISTED))
    total, different = part.unknown.total(), len(part.unknown)
    which = f", {different:,} different one{'' if different == 1 else 's'}" if different < total else ""
    return f"{total:,} unknown word{'' if total == 1 else 's'}{which}: {some}{', …' if different > LISTED else ''}"


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
    everything: bool = False,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Analysis:
    """Say what files are made of: TMX, XLIFF, PO, tables, or plain text, a segment on each line.

    What has a translation is counted apart, unless `everything` shall be translated. Of all else, a segment that came
    before, in any of the files, is a repetition; others are looked up in what the model remembers. With `quality`, they
    are translated, too, and the engine says how sure it is, if it was calibrated (what others say only tells words
    apart).

    >>> print(camber.analyse("my-model", ["manual.xliff"]))                         # doctest: +SKIP
    """
    translator = model if isinstance(model, Translator) else load(model)
    paths = [files] if isinstance(files, str | Path) else list(files)
    translator.matches("")  # refuses a model without a memory before anything is read
    total, parts = Part("all files"), []
    bands: dict[str, str] = {}  # of each different segment that is to be translated
    places: list[tuple[Part, str, int, str]] = []
    for path in paths:
        for name, segments in _segments(path, translator, everything=everything):
            part = Part(name)
            parts.append(part)
            for text, kept in each(segments, f"look up {name}", unit="segments"):
                words = sum(any(map(str.isalnum, word)) for word in match_words(translator.text, text))
                band = KEPT if kept else REPEATED
                if not kept:
                    if text not in bands:
                        matches = translator.matches(text, LIMITS["50-74 %"] / 100, 1)
                        band = bands[text] = band_of(matches[0].percent) if matches else NONE
                    places.append((part, band, words, text))
                unknown = [] if kept else _unknown(translator, text)
                for one in (part, total):
                    one.bands[band].segments += 1
                    one.bands[band].words += words
                    one.unknown.update(unknown)
    if not total.all.segments:
        raise CamberError("there is no text to translate in these files")
    judged = quality and translator.calibration is not None
    if judged:
        _judge(translator, list(bands), places, total, engine)
    return Analysis(parts, total, judged, UNTOLD if quality and not judged else "")


def _segments(path: Name, translator: Translator[Any], *, everything: bool) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the texts of a file, or of all files in an archive, and which have a translation that stays.

    What is broken is an error; of what is between other languages there is a warning.
    """
    settings = translator.text.settings
    languages = Languages(settings.source_lang or "und", settings.target_lang or "und")
    found: list[tuple[str, list[tuple[str, bool]]]] = []
    for file in files_in(path):
        tally = Tally()
        units = list(file.units(languages, tally))
        other = [reason for reason in tally.skipped if reason.startswith("from ")]
        if file.format != "tmx" and tally.handled[TURNED]:  # it cannot be translated in place either
            units, other = [], [*other, f"from {languages.target} to {languages.source}"]
        if other:
            log.warning(
                "%s: what is %s is not counted: the model translates from %s to %s",
                file.path, " or ".join(other), languages.source, languages.target,
            )  # fmt: skip
        segments = [
            (unit.source.text, _has_translation(unit) and not everything)
            for unit in units
            if unit.translate and unit.state != OBSOLETE and unit.source.text
        ]
        found.append((file.path, segments))
    return found


def _has_translation(unit: Unit) -> bool:
    return unit.state != NEW and unit.target is not None and bool(unit.target.text)


def _unknown(translator: Translator[Any], text: str) -> list[str]:
    known = translator.decoder.source_vocabulary.id
    prepared = translator.prepare(text)
    strange = [
        unescape(prepared.plain[at])
        for at, token in enumerate(prepared.tokens)
        if known(token) < 0 and at not in prepared.protected
    ]
    return [word for word in strange if any(map(str.isalpha, word))]


def _judge(
    translator: Translator[Any],
    texts: list[str],
    places: list[tuple[Part, str, int, str]],
    total: Part,
    engine: Engine,
) -> None:
    """Translate all different segments, and note how sure the engine is of each, wherever it stands."""
    found = translator.translations(texts, confidence=True, engine=engine)
    sure = {text: best[0].confidence or 0.0 for text, best in zip(texts, found, strict=True)}
    for part, band, words, text in places:
        for one in (part, total):
            one.bands[band].judged += words
            one.bands[band].sure += sure[text] * words
