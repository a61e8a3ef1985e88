"""The journal of a model: the pairs that were added since it was trained, call by call.

Each call adds a folder below `added/` and touches nothing else, so that adding a pair costs the same for any model. A
folder is written beside the model, synced and renamed: whole or absent. When there are many folders, the last ones are
joined into one; the name of a folder says which calls it holds.

    my-model/added/00000001-00000017/pairs.jsonl      the pairs of the first 17 calls
    my-model/added/00000001-00000017/aligner.json     what the aligner learnt from them
    my-model/added/00000018-00000018/pairs.jsonl      those of the last call

`pairs.jsonl` has, for every call, a line that begins it, a line for every pair, and a line with the checksum of these.
The model's lock is held by whoever writes; readers need none.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.errors import ModelError
from camber.model import places
from camber.progress import log

if TYPE_CHECKING:  # only adding needs it
    from camber.align.lesson import Lesson

FOLDER = "added"
FORMAT = 1
#: the formats of calls that say who or when, or take pairs back, and of those with inline codes; versions that do not
#: know of that refuse them
TELLING, CODED = 2, 3
PAIRS, ALIGNER = "pairs.jsonl", "aligner.json"
#: more folders than this are joined
MOST_SEGMENTS = 16

_NAME = re.compile(r"(\d{8,})-(\d{8,})")
_LINK = re.compile(r"\d{1,9}-\d{1,9}", re.ASCII)
_SEAL = b"\n# sha256 of the lines above: "
_REMEDY = "copy the model again, or train it and add the pairs again"
# a reader may list the folder in the moment when some segments are joined
_ATTEMPTS, _PAUSE = 20, 0.02


@dataclass(frozen=True)
class Pair:
    """A pair as it was given, and what the model sees of it."""

    source: str
    target: str
    tokens: str  # of the source, with blanks between them
    target_tokens: str = ""
    links: str | None = None  # as in Pharaoh format; None: no rules are made of this pair, which is only repeated
    coded_source: str = ""  # both with their inline codes, as inline XML, if there are any
    coded_target: str = ""

    @property
    def coded(self) -> tuple[str, str] | None:
        """Both sides with their inline codes, None if they have none."""
        return (self.coded_source, self.coded_target) if self.coded_source or self.coded_target else None


@dataclass(frozen=True)
class Call:
    """The pairs that were added together."""

    pairs: tuple[Pair, ...]
    has_lesson: bool = False  # the aligner learnt from them
    digest: str = ""  # SHA-256
    taken_back: tuple[tuple[str, str], ...] = ()  # raw pairs that shall not be known any more
    author: str = ""
    time: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def learnt(self) -> list[Pair]:
        """The pairs that rules are made of."""
        return [pair for pair in self.pairs if pair.links is not None]


@dataclass(frozen=True)
class Segment:
    """A folder of the journal: the calls `first` to `last`."""

    folder: Path
    first: int
    last: int
    calls: tuple[Call, ...] = ()
    identity: tuple[int, ...] = field(default=(), compare=False)  # what tells its file from others of that name

    @cached_property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(map(len, self.calls))

    @cached_property
    def digests(self) -> str:
        """The digests of all calls."""
        return "".join(call.digest for call in self.calls)


@dataclass(frozen=True)
class Journal:
    """All that was added to a model, in order."""

    model: Path
    segments: tuple[Segment, ...] = ()
    #: folders that hold nothing more, left by an interrupted writer
    leftovers: tuple[Path, ...] = field(default=(), compare=False)

    # --- reading -------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, model: Path, *, verify: bool = False, known: Journal | None = None) -> Journal:
        """Read the journal of a model and check it; `verify`: also what only adding needs.

        A model that nothing was added to has an empty one. What is `known` is not read again.
        """
        for _ in range(_ATTEMPTS):
            try:
                journal = cls._read(model, {} if known is None else {item.folder: item for item in known.segments})
                if verify:
                    journal.lessons()
                return journal
            except (FileNotFoundError, _Gap) as error:
                problem = error
                time.sleep(_PAUSE)
        if isinstance(problem, ModelError):
            raise problem
        raise ModelError(f"{problem.filename}: a file of the model is missing; {_REMEDY}")

    @classmethod
    def _read(cls, model: Path, known: Mapping[Path, Segment]) -> Journal:
        chosen, leftovers = _choose(model / FOLDER)
        segments = []
        for segment in chosen:
            path = segment.folder / PAIRS
            identity, before = _identity(path), known.get(segment.folder)
            if before is not None and before.identity == identity:
                segments.append(before)
                continue
            calls = tuple(_read_calls(path, _contents(path), segment.first))
            if len(calls) != segment.last - segment.first + 1:
                raise ModelError(f"{path}: {len(calls)} calls, expected those of its folder's name; {_REMEDY}")
            segments.append(Segment(segment.folder, segment.first, segment.last, calls, identity))
        return cls(model, tuple(segments), leftovers)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """All calls, in order."""
        return tuple(call for segment in self.segments for call in segment.calls)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return sum(segment.pairs for segment in self.segments)

    @cached_property
    def remaining(self) -> list[tuple[int, Pair, Call]]:
        """All pairs but those that were taken back later, with their numbers among all that were ever added, from 1."""
        number = len(self)
        gone: set[tuple[str, str]] = set()
        remaining = []
        for call in reversed(self.calls):
            gone.update(call.taken_back)
            for pair in reversed(call.pairs):
                if (pair.source, pair.target) not in gone:
                    remaining.append((number, pair, call))
                number -= 1
        return remaining[::-1]

    @cached_property
    def taken_back(self) -> frozenset[tuple[str, str]]:
        """The pairs that were taken back and not added again since; those of the training among them."""
        gone: set[tuple[str, str]] = set()
        for call in self.calls:
            gone.difference_update((pair.source, pair.target) for pair in call.pairs)
            gone.update(call.taken_back)
        return frozenset(gone)

    @property
    def learnt(self) -> list[list[Pair]]:
        """The pairs that rules are made of, call by call, without those that were taken back."""
        groups: dict[int, list[Pair]] = {}
        for _, pair, call in self.remaining:
            if pair.links is not None:
                groups.setdefault(id(call), []).append(pair)
        return list(groups.values())

    @cached_property
    def digest(self) -> str:
        """What tells this journal from every other one, however its calls are joined."""
        return hashlib.sha256("".join(segment.digests for segment in self.segments).encode()).hexdigest()

    @property
    def size(self) -> int:
        """The length of all files."""
        return sum(path.stat().st_size for segment in self.segments for path in segment.folder.iterdir())

    def lessons(self) -> list[Lesson]:
        """Read what the aligner learnt, in order, and check it."""
        return [lesson for segment in self.segments if (lesson := _read_lesson(segment)) is not None]

    # --- writing: the caller holds the model's lock --------------------------------------------------------------

    def appended(
        self,
        pairs: Sequence[Pair],
        lesson: Lesson | None,
        taken_back: Sequence[tuple[str, str]] = (),
        *,
        author: str = "",
        time: str = "",
    ) -> Journal:
        """Write the pairs of one more call, or what it takes back; return the journal that is on the disk then."""
        number = self.segments[-1].last + 1 if self.segments else 1
        call = Call(tuple(pairs), lesson is not None, "", tuple(taken_back), author, time)
        text = _write_call(number, call)
        journal = self._with(0, number, number, text, lesson)
        if len(journal.segments) > MOST_SEGMENTS:
            try:
                journal = journal._joined()
            except OSError as error:  # the pairs are there; joining can wait
                log.warning("%s: the added pairs are not joined (%s)", self.model, error.strerror)
        return journal

    def _joined(self) -> Journal:
        """Join the last segments, and as many before them as are not larger: each pair is written again a few times."""
        count, pairs = 2, self.segments[-1].pairs + self.segments[-2].pairs
        while count < len(self.segments) and self.segments[-count - 1].pairs <= pairs:
            count += 1
            pairs += self.segments[-count].pairs
        tail = self.segments[-count:]
        text = b"".join(_contents(segment.folder / PAIRS) for segment in tail)
        lessons = [lesson for segment in tail if (lesson := _read_lesson(segment)) is not None]
        calls = tuple(call for segment in tail for call in segment.calls)
        journal = self._with(count, tail[0].first, tail[-1].last, text, _join_lessons(lessons), calls)
        for segment in tail:
            places.remove(segment.folder)
        return journal

    def _with(
        self, replaced: int, first: int, last: int, text: bytes, lesson: Lesson | None, calls: tuple[Call, ...] = ()
    ) -> Journal:
        """Write a segment in the place of the last `replaced` ones; `calls` are those of the text, if known."""
        home = self.model / FOLDER
        for leftover in self.leftovers:
            places.remove(leftover)
        if not home.is_dir():
            home.mkdir()
            places.sync_folder(self.model)
        folder = home / _name(first, last)
        with places.new_folder(self.model) as fresh:
            _fill(fresh, text, lesson)
            places.allow_readers(fresh)
            os.rename(fresh, folder)  # from here on it is there
        places.sync_folder(home)
        path = folder / PAIRS
        segment = Segment(folder, first, last, calls or tuple(_read_calls(path, text, first)), _identity(path))
        return Journal(self.model, (*self.segments[: len(self.segments) - replaced], segment))


def take_journal(model: Path, draft: Path) -> None:
    """Write the journal of a model as one segment of a model that is being made."""
    for _ in range(_ATTEMPTS):
        journal = Journal.read(model)
        if not journal.segments:
            return
        try:
            text = b"".join(_contents(segment.folder / PAIRS) for segment in journal.segments)
            lesson = _join_lessons(journal.lessons())
        except FileNotFoundError:  # joined in this moment
            continue
        folder = draft / FOLDER / _name(1, journal.segments[-1].last)
        folder.mkdir(parents=True)
        _fill(folder, text, lesson)
        return
    raise ModelError(f"{model / FOLDER}: changes all the time; try again")


def is_journal(name: str) -> bool:
    """Say whether a file of a model, ``added/00000001-00000001/pairs.jsonl``, belongs to its journal."""
    parts = name.split("/")
    return len(parts) == 3 and parts[0] == FOLDER and bool(_NAME.fullmatch(parts[1]))


def _identity(path: Path) -> tuple[int, ...]:
    facts = os.stat(path)
    return facts.st_dev, facts.st_ino, facts.st_mtime_ns, facts.st_size


class _Gap(ModelError):
    """Calls that are missing."""


def _name(first: int, last: int) -> str:
    return f"{first:08d}-{last:08d}"


def _choose(home: Path) -> tuple[list[Segment], tuple[Path, ...]]:
    """Choose the folders that hold all calls, each once; the others are what joining left over."""
    segments = []
    if home.is_dir():
        for path in home.iterdir():
            if match := _NAME.fullmatch(path.name):
                segments.append(Segment(path, int(match[1]), int(match[2])))
    chosen: list[Segment] = []
    for segment in sorted(segments, key=lambda segment: (segment.first, -segment.last)):
        if not chosen or segment.first > chosen[-1].last:
            chosen.append(segment)
    expected = 1
    for segment in chosen:
        if segment.first != expected:
            calls = f"{expected} to {segment.first - 1}"
            raise _Gap(f"{home}: the calls {calls} of the added pairs are missing; {_REMEDY}")
        expected = segment.last + 1
    return chosen, tuple(segment.folder for segment in segments if segment not in chosen)


# --- files -------------------------------------------------------------------------------------------------------


def _fill(folder: Path, text: bytes, lesson: Lesson | None) -> None:
    """Write the files of a segment and bring them to the disk."""
    contents = {PAIRS: text}
    if lesson is not None:
        contents[ALIGNER] = _sealed(_json({"format": FORMAT, **lesson.to_dict()}))
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        places.sync(folder / name)
    places.sync_folder(folder)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sealed(text: str) -> bytes:
    body = text.encode()
    return body + _SEAL + hashlib.sha256(body).hexdigest().encode() + b"\n"


def _write_call(number: int, call: Call) -> bytes:
    head: dict[str, Any] = {"format": FORMAT, "call": number, "pairs": len(call), "lesson": call.has_lesson}
    told = {"author": call.author, "time": call.time, "taken_back": len(call.taken_back)}
    if any(told.values()):
        head |= {"format": TELLING, **{name: value for name, value in told.items() if value}}
    if any(pair.coded for pair in call.pairs):
        head["format"] = CODED
    lines = [_json(head)]
    for pair in call.pairs:
        line = {"source": pair.source, "target": pair.target, "tokens": pair.tokens}
        if pair.links is not None:
            line |= {"target_tokens": pair.target_tokens, "links": pair.links}
        if pair.coded:
            line |= {"coded_source": pair.coded_source, "coded_target": pair.coded_target}
        lines.append(_json(line))
    lines += [_json({"source": source, "target": target}) for source, target in call.taken_back]
    return _sealed("\n".join(lines))


def _read_calls(path: Path, text: bytes, number: int) -> Iterator[Call]:
    """Read the calls of a file, which count on from `number`."""
    start = 0
    while start < len(text):
        body, digest, start = _opened(path, text, start)
        head, *lines = body.split("\n")
        try:
            facts = json.loads(head)
            if facts["format"] not in (FORMAT, TELLING, CODED):
                raise ModelError(
                    f"{path}: added pairs of format {facts['format']!r}, expected {FORMAT} to {CODED}; use the "
                    "version of Camber that added them"
                )
            count, gone = facts["pairs"], facts.get("taken_back", 0)
            if (facts["call"], count + gone) != (number, len(lines)) or not 0 <= count <= len(lines):
                raise ValueError(f"call {facts['call']} of {count + gone} pairs, expected {number} of {len(lines)}")
            author, time = facts.get("author", ""), facts.get("time", "")
            if not (isinstance(author, str) and isinstance(time, str)):
                raise ValueError(f"author {author!r:.40} and time {time!r:.40} are no texts")
            pairs = tuple(map(_read_pair, lines[:count]))
            taken_back = tuple((pair.source, pair.target) for pair in map(_read_taken_back, lines[count:]))
            yield Call(pairs, bool(facts["lesson"]), digest, taken_back, author, time)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"{path}: not what was added ({error}); {_REMEDY}") from None
        number += 1


def _read_taken_back(line: str) -> Pair:
    return _read_pair(_json({**json.loads(line), "tokens": ""}))


def _read_pair(line: str) -> Pair:
    """Read a pair; what is none raises ValueError or TypeError."""
    pair = Pair(**json.loads(line))
    texts = [pair.source, pair.target, pair.tokens, pair.target_tokens, pair.coded_source, pair.coded_target]
    texts += [] if pair.links is None else [pair.links]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"a pair that is not made of texts: {line[:60]}")
    if pair.links is not None and not all(_LINK.fullmatch(link) for link in pair.links.split()):
        raise ValueError(f"links of a pair: {pair.links[:60]}")
    return pair


def _contents(path: Path) -> bytes:
    """Read a file; a pipe would make whoever opens it wait for ever, and a device might not end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelError(f"{path}: not a file; {_REMEDY}")
    return path.read_bytes()


def _opened(path: Path, text: bytes, start: int) -> tuple[str, str, int]:
    """Return the text that begins at `start`, checked against its seal; its SHA-256; and where the next one begins."""
    end = text.find(_SEAL, start)
    seal = text[end + len(_SEAL) : end + len(_SEAL) + 65] if end >= 0 else b""
    digest = hashlib.sha256(text[start : max(end, start)]).hexdigest()
    if seal != digest.encode() + b"\n":
        raise ModelError(f"{path}: changed or cut short since it was written (checksum); {_REMEDY}")
    try:
        body = text[start:end].decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not what was added ({error}); {_REMEDY}") from None
    return body, digest, end + len(_SEAL) + len(seal)


def _read_lesson(segment: Segment) -> Lesson | None:
    if not any(call.has_lesson for call in segment.calls):
        return None
    from camber.align.lesson import Lesson

    path = segment.folder / ALIGNER
    try:
        text = _contents(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    body, _, end = _opened(path, text, 0)
    try:
        lists = json.loads(body)
        if end != len(text) or lists.pop("format") != FORMAT:
            raise ValueError(f"format {FORMAT} expected")
        return Lesson.from_dict(lists)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(f"{path}: not what an aligner learnt ({error}); {_REMEDY}") from None


def _join_lessons(lessons: Sequence[Lesson]) -> Lesson | None:
    if not lessons:
        return None
    from camber.align.lesson import Lesson

    return Lesson.join(lessons)
