"""The model directory: files, and a `model.toml` that says what they are. It is whole or absent.

A model is written to a temporary directory beside its place, synced, and renamed. `model.toml` records the format
version, a signature, the settings of every stage, sizes, and per file its length and SHA-256. Nothing is ever pickled.

Opening checks every file's presence and length, the full checksum of files up to 1 MiB, and of larger ones a checksum
of the first and last 64 KiB, so that a model of any size opens at once; ``verify=True`` reads everything.

    with write_model("my-model", kind="phrase") as draft:
        draft.save("lm/probabilities.npy", array)
        draft.settings["lm"] = settings.to_dict()
    model = ModelDirectory.open("my-model")
    model.array("lm/probabilities.npy")     # memory-mapped
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np

import camber
from camber.arrays.types import AnyArray
from camber.errors import CamberError, ModelError
from camber.model import places
from camber.model.journal import Journal, is_journal, take_journal
from camber.model.toml import write_toml
from camber.progress import each, log

Use = TypeVar("Use")

MANIFEST = "model.toml"
FORMAT = 2
READABLE = (1, 2)  # format versions that this version of Camber reads
RERANKER = "rerank"  # the kind of models that are no translators
SMALL = 1 << 20  # files up to this length are always checked in full
END = 64 << 10  # of larger ones, this much at both ends
_REMEDY = "copy or train the model again"
_SEAL = "# sha256 of the lines above: "
# seconds to wait for a model that is being replaced, and how often opening begins anew because it was
_PATIENCE, _ATTEMPTS = 5.0, 10
# seconds that whoever has made a model waits for others who write to the same place, and for readers who look for a
# moment whether another writer is dead: the work is done by then
_WRITING = 30.0


@dataclass
class Draft:
    """A model that is being written: fill `folder`, and what `model.toml` shall record."""

    folder: Path
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)  # stage → its settings
    sizes: dict[str, Any] = field(default_factory=dict)  # what a reader wants to know: rules, words, …
    keep_old: str = ""  # why the model that is replaced shall be kept as ``<path>.old``; empty: it need not

    def path(self, name: str) -> Path:
        """Return where to write the file `name` (``lm/words.txt``); its folder is made."""
        path = self.folder / _checked_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def save(self, name: str, array: AnyArray) -> None:
        """Write an array as `.npy`."""
        with open(self.path(name), "wb") as stream:
            np.save(stream, np.ascontiguousarray(array), allow_pickle=False)

    def take(self, source: str | Path, name: str) -> None:
        """Take over a finished file: a large one as a hard link where the file system has them, otherwise as a copy.

        Small ones are copied: people edit them, and must not edit the original too.
        """
        path = self.path(name)
        path.unlink(missing_ok=True)  # it may be a link, and writing to it would change another model
        try:
            if os.stat(source).st_size <= SMALL:
                shutil.copyfile(source, path)
            else:
                os.link(source, path)
        except OSError:
            shutil.copyfile(source, path)

    def take_folder(self, source: str | Path, name: str = ".") -> None:
        """Take over all files of a folder, a stage's output for one, but not the record that describes it."""
        for path in _files(Path(source)):
            if path not in (MANIFEST, "stage.json"):
                self.take(Path(source) / path, str(PurePosixPath(name) / path))

    def take_model(self, model: ModelDirectory) -> None:
        """Take over all files of another model, and nothing else, and the pairs that were added to it up to now."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name in model.files:
            self.take(model.path / name, name)
        take_journal(model.path, self.folder)
        self.sizes |= model.recorded_sizes


@contextmanager
def write_model(
    path: str | Path, kind: str = "phrase", settings: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[Draft]:
    """Yield a :class:`Draft` that becomes the model `path` when the block ends; after an error nothing remains.

    An older model there is replaced, but not by one that does something else (see :func:`check_place`). A directory
    that is not a model is never touched: that is an error, told before the block is entered. An older model that holds
    files of someone else is kept as ``<path>.old``.
    """
    path = Path(path).resolve()
    check_place(path, kind)
    with places.telling_of_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with changing(path, _WRITING), places.new_folder(path) as folder:
            draft = Draft(folder, {name: dict(table) for name, table in (settings or {}).items()})
            yield draft
            _seal(draft, kind)
            _move_into_place(folder, path, kind, draft.keep_old)


@contextmanager
def changing(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock of a model, wait for it at most `patience` seconds, and put in order what a dead writer left."""
    with places.lock(path, patience):
        places.restore(path)
        places.clear_leftovers(path)
        yield


def check_place(path: str | Path, kind: str = "") -> None:
    """Raise :class:`ModelError` if a model of this kind cannot be written to `path` without harming something else.

    A translator of any kind may replace another one, and a re-ranker another one, but not each other.
    """
    path = Path(path)
    if not path.exists():
        return
    if not path.is_dir():
        raise ModelError(f"{path}: a file of that name exists; choose another name for the model")
    if any(path.iterdir()) and not is_model(path):
        raise ModelError(f"{path}: this directory is not a Camber model and stays as it is; choose another name")
    if not os.access(path, os.W_OK):
        raise ModelError(f"{path}: this model is write-protected; choose another name, or allow writing (chmod -R u+w)")
    there = recorded(path).get("kind", kind) if kind else ""
    if kind and (there == RERANKER) != (kind == RERANKER):
        raise ModelError(
            f"{path}: a {there} model is there, which a {kind} model must not replace; choose another name, or remove "
            "the old model"
        )


def recorded(path: str | Path) -> dict[str, Any]:
    """Return what `model.toml` says, unchecked; nothing where it cannot be read."""
    try:
        return tomllib.loads((Path(path) / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def is_model(path: str | Path) -> bool:
    """Say whether `path` is a directory with a `model.toml` of ours, of any version, damaged or not."""
    place = Path(path) / MANIFEST
    try:
        if not place.is_file():  # a pipe, say, would make us wait for ever
            return False
        with open(place, "rb") as stream:
            return stream.readline(99).startswith(b"camber = ")
    except OSError:
        return False


def _move_into_place(folder: Path, path: Path, kind: str, keep_old: str = "") -> None:
    check_place(path, kind)  # again: the block may have taken an hour
    places.allow_readers(folder)
    why = ""
    if is_model(path):
        foreign = _foreign_files(path)
        why = f"holds {foreign[0]}, no part of the model" if foreign else keep_old
    elif path.is_dir():
        path.rmdir()  # empty, as check_place found
    kept = places.put(folder, path, bool(why))
    if kept is not None:
        log.warning("%s %s: the old model is kept as %s", path, why, kept)


def _foreign_files(path: Path) -> list[str]:
    """List the files of a model directory that its `model.toml` does not name."""
    known = recorded(path).get("files", {})
    if not known:
        return [MANIFEST]  # unreadable: rather keep everything
    return [name for name in _files(path, hidden=True) if not (name in known or name == MANIFEST or is_journal(name))]


def _files(folder: Path, *, hidden: bool = False) -> list[str]:
    """List the files below `folder` as sorted relative names with forward slashes."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in names if hidden or not any(part.startswith(".") for part in name.split("/")))


def _checked_name(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or "\\" in name or ".." in parts or name == MANIFEST:
        raise ModelError(f"{name!r} is no name for a file of a model")
    return str(PurePosixPath(name))


def _digest(path: Path, length: int, whole: bool) -> str:
    """Return the SHA-256 of a file, or of its first and last 64 KiB."""
    with open(path, "rb") as stream:
        if whole:
            return hashlib.file_digest(stream, "sha256").hexdigest()
        digest = hashlib.sha256(stream.read(END))
        stream.seek(max(0, length - END))
        digest.update(stream.read(END))
        return digest.hexdigest()


def _seal(draft: Draft, kind: str) -> None:
    """Write `model.toml` and bring everything to the disk."""
    files: dict[str, dict[str, Any]] = {}
    everything = hashlib.sha256()
    sizes = {
        name: (draft.folder / name).stat().st_size for name in _files(draft.folder, hidden=True) if not is_journal(name)
    }
    parts = {name: 1 + (size >> 20) for name, size in sizes.items()}
    for name in each(sizes, "digest files", sum(parts.values()), "MB", parts.__getitem__):
        path, length = draft.folder / name, sizes[name]
        files[name] = {"bytes": length, "sha256": _digest(path, length, whole=True)}
        if length > SMALL:
            files[name]["ends"] = _digest(path, length, whole=False)
        everything.update(f"{name}\0{files[name]['sha256']}\n".encode())
        places.sync(path)
    chosen = json.dumps(draft.settings, sort_keys=True, default=str)
    facts = {
        "kind": kind,
        "settings": hashlib.sha256(chosen.encode()).hexdigest()[:8],
        "content": everything.hexdigest()[:8],
        "version": camber.__version__,
    }
    text = write_toml(
        {
            "camber": camber.__version__,
            "format": FORMAT,
            "kind": kind,
            "signature": "|".join(f"{name}:{value}" for name, value in facts.items()),
            "sizes": draft.sizes,
            "settings": draft.settings,
            "files": files,
        }
    )
    seal = _SEAL + hashlib.sha256(text.encode()).hexdigest() + "\n"
    manifest = draft.folder / MANIFEST
    manifest.write_bytes((text + seal).encode())
    places.sync(manifest)
    for folder in (draft.folder, *(place for place in draft.folder.rglob("*") if place.is_dir())):
        places.sync_folder(folder)


@dataclass(frozen=True)
class ModelDirectory:
    """A model on disk that was found whole."""

    path: Path
    kind: str
    made: str  # the signature of what was written as one
    version: str  # of Camber, that wrote it
    settings: dict[str, dict[str, Any]]
    recorded_sizes: dict[str, Any]
    files: dict[str, dict[str, Any]]  # name → bytes, sha256
    journal: Journal  # what was added since
    format: int = FORMAT  # the version of the format that it is written in
    #: file → what tells it from others of that name
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = False, known: ModelDirectory | None = None) -> ModelDirectory:
        """Open a model, or raise :class:`ModelError` that says what is wrong with it; `verify` reads every byte.

        Whoever reads its files afterwards does so in :meth:`opened`. Files that are as they were when it was `known`
        are not checked again.
        """
        return cls.opened(path, lambda directory: directory, verify=verify, known=known)

    @classmethod
    def _open(cls, path: Path, verify: bool, known: ModelDirectory | None) -> ModelDirectory:
        if not path.exists() and places.was_replaced(path.resolve()):
            with places.lock(path.resolve(), _PATIENCE):  # its writer needs a moment, unless it is dead
                places.restore(path.resolve())
        if known is not None and not verify and known._is_there_still(path):
            return replace(known, journal=Journal.read(path, known=known.journal))
        seen = {MANIFEST: _stamp(path / MANIFEST)}
        manifest = _read_manifest(path)
        for name, facts in each(manifest["files"].items(), "check files", unit="files"):
            seen[name] = _stamp(path / name)  # before it is read: what changes then is seen the next time
            _check_file(path, name, facts, verify)
        return cls(
            path,
            manifest["kind"],
            manifest["signature"],
            manifest["camber"],
            manifest.get("settings", {}),
            manifest.get("sizes", {}),
            manifest["files"],
            Journal.read(path, verify=verify),
            manifest["format"],
            seen,
        )

    def _is_there_still(self, path: Path) -> bool:
        return self.path == path and all(_stamp(path / name) == stamp != () for name, stamp in self.seen.items())

    @staticmethod
    def opened(
        path: str | Path,
        use: Callable[[ModelDirectory], Use],
        *,
        verify: bool = False,
        known: ModelDirectory | None = None,
    ) -> Use:
        """Return ``use(directory)`` of a model that was the same from the first file read to the last.

        Whoever replaces a model renames its directory: what was read before and after would be of two models. Then all
        is read again. If that happens again and again, writers have to wait once.
        """
        path = Path(path)
        for attempt in range(_ATTEMPTS):
            with ExitStack() as stack:
                if attempt == _ATTEMPTS - 1:
                    with suppress(CamberError, OSError):  # the folder above may be write-protected
                        stack.enter_context(places.lock(path.resolve(), _PATIENCE))
                before = _identity(path)
                try:
                    result = use(ModelDirectory._open(path, verify, known))
                except Exception:  # files of two models make anything possible
                    if _stayed(path, before):
                        raise
                    continue
                if _stayed(path, before):
                    return result
        raise ModelError(f"{path}: replaced by other models all the time; try again when that is done")

    @property
    def signature(self) -> str:
        """What tells this model from others, added pairs included."""
        return f"{self.made}|added:{len(self.journal)}-{self.journal.digest[:8]}" if self.journal.calls else self.made

    @cached_property
    def sizes(self) -> dict[str, Any]:
        """What a reader wants to know: rules, words, pairs, added pairs, …."""
        sizes = dict(self.recorded_sizes)
        if self.journal.calls:
            sizes["added_pairs"] = self.recorded_size("added_pairs") + len(self.journal.remaining)
            if "pairs" in sizes:
                sizes["pairs"] = self.recorded_size("pairs") + sum(map(len, self.journal.learnt))
        return sizes

    def recorded_size(self, name: str) -> int:
        """Return one of the sizes that were recorded, 0 if it was not."""
        return self.whole(self.recorded_sizes.get(name, 0), f"sizes.{name}")

    def whole(self, value: Any, name: str) -> int:
        """Return a value of `model.toml`, which must be a whole number."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            raise ModelError(f"{self.path / MANIFEST}: {name} is {value!r:.40}, expected a whole number; {_REMEDY}")
        return value

    @property
    def size(self) -> int:
        """The length of all files."""
        return sum(int(facts["bytes"]) for facts in self.files.values()) + self.journal.size

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def file(self, name: str) -> Path:
        """Return the path of one of the model's files."""
        if name not in self.files:
            raise ModelError(f"{self.path}: this {self.kind} model has no {name}; train it again")
        return self.path / name

    def array(self, name: str, *, mapped: bool = True) -> AnyArray:
        """Open an array, memory-mapped unless it is empty; writing to it changes this process's copy only."""
        path = self.file(name)
        try:
            return np.load(path, mmap_mode="c" if mapped else None, allow_pickle=False)
        except Exception as error:  # a damaged header makes NumPy raise anything from SyntaxError to MemoryError
            if mapped and self.files[name]["bytes"] < 1024:
                return self.array(name, mapped=False)  # an array without elements cannot be mapped
            raise ModelError(f"{path}: not a NumPy array ({error}); train the model again") from None


def _identity(path: Path) -> tuple[int, ...]:
    """Return what changes when another model takes a place: nothing of it stays while there is a model."""
    try:
        folder, manifest = os.stat(path), os.stat(path / MANIFEST)
    except OSError:
        return ()
    return folder.st_dev, folder.st_ino, manifest.st_ino, manifest.st_mtime_ns, manifest.st_size


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what tells a file from others that have had its name; nothing if there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return ()
    return facts.st_dev, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size


def _stayed(path: Path, before: tuple[int, ...]) -> bool:
    """Say whether what was at a place `before` is there still, be it no model at all."""
    return _identity(path) == before and bool(before or not places.was_replaced(path.resolve()))


def _read_manifest(path: Path) -> dict[str, Any]:
    place = path / MANIFEST
    if not path.exists():
        raise ModelError(f"{path}: no such model; check the path, or train one with `camber train --model {path}`")
    if not path.is_dir() or not place.is_file():
        raise ModelError(f"{path}: not a Camber model (no {MANIFEST} in it); give the directory that was trained")
    try:
        text = place.read_bytes().decode("utf-8")
        body, _, seal = text.rpartition(_SEAL)
        manifest = tomllib.loads(text)
    except (ValueError, RecursionError, OSError) as error:  # numbers of any length, lists nested to any depth
        raise ModelError(f"{place}: cannot be read ({error}); {_REMEDY}") from None
    if "camber" not in manifest or not isinstance(manifest.get("format"), int):
        raise ModelError(f"{path}: not a Camber model ({MANIFEST} has no format version)")
    if manifest["format"] not in READABLE:
        known = ", ".join(map(str, READABLE))
        raise ModelError(
            f"{path}: model format {manifest['format']}, written by Camber {manifest['camber']}; Camber "
            f"{camber.__version__} reads format {known}; train the model again or use that version"
        )
    if not (
        all(isinstance(manifest.get(name), str) for name in ("camber", "kind", "signature"))
        and all(isinstance(manifest.get(name, {}), dict) for name in ("files", "settings", "sizes"))
        and all(isinstance(table, dict) for name in ("files", "settings") for table in manifest.get(name, {}).values())
        and all(isinstance(facts.get("bytes"), int) for facts in manifest.get("files", {}).values())
        and "files" in manifest
    ):
        raise ModelError(f"{place}: not what a model records; {_REMEDY}")
    if seal.strip() != hashlib.sha256(body.encode()).hexdigest():
        raise ModelError(f"{place}: changed or cut short since it was written; {_REMEDY}")
    return manifest


def _check_file(path: Path, name: str, facts: Mapping[str, Any], verify: bool) -> None:
    place = path / _checked_name(name)
    try:
        there = place.stat()
        length = there.st_size
        if not stat.S_ISREG(there.st_mode):  # a pipe would make whoever opens it wait for ever
            raise ModelError(f"{place}: not a file; {_REMEDY}")
        if length != facts["bytes"]:
            raise ModelError(f"{place}: {length:,} bytes, expected {facts['bytes']:,}; {_REMEDY}")
        whole = verify or length <= SMALL
        if _digest(place, length, whole) != facts.get("sha256" if whole else "ends"):
            raise ModelError(f"{place}: its content changed since the model was written (checksum); {_REMEDY}")
    except FileNotFoundError:
        raise ModelError(f"{place}: a file of the model is missing; {_REMEDY}") from None
    except OSError as error:
        raise ModelError(f"{place}: cannot be read ({error.strerror})") from None
