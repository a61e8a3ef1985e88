"""Stages that run once: their output is kept as long as nothing that they were made from changes.

A stage has a name, inputs and a function that fills a folder. Its fingerprint is the SHA-256 of its settings, the
contents of its input files, the fingerprints of the stages that it builds on, and the version of its code. A stage with
the fingerprint of the last run is not run again; an interrupted run therefore resumes at the stage that it had reached,
and a change re-runs a stage with all that depend on it.

    with Stages("my-model.work") as stages:
        align = stages.run("align", {"source": Path("train.de"), "settings": settings}, lambda folder: …)
        rules = stages.run("rules", {"alignment": align}, lambda folder: extract(align.folder, folder))
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

import camber
from camber.errors import CamberError, InputError
from camber.lock import Lock
from camber.progress import each, log, stage

RECORD = "stage.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Stage:
    """The finished output of a stage."""

    name: str
    folder: Path
    fingerprint: str
    kept: bool  # from an earlier run


class Stages:
    """A work folder with one sub-folder per stage, used by one process at a time."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._used: set[str] = set()
        self._lock: Lock | None = None

    def __enter__(self) -> Self:
        if self.folder.exists() and not self.folder.is_dir():
            raise CamberError(f"{self.folder}: a file of that name is in the way of the work folder; move it away")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = Lock(self.folder / ".lock", f"the work folder {self.folder}")
            self._lock = lock.__enter__()
        except OSError as error:
            raise CamberError(
                f"{self.folder}: cannot be written ({error.strerror}); check the folder above it"
            ) from None
        for leftover in self.folder.glob(".new-*"):  # we hold the lock: its maker is dead
            shutil.rmtree(leftover)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.__exit__(kind, error, trace)
        if error is not None:
            with suppress(OSError):  # not empty: something is worth keeping
                self.folder.rmdir()

    def run(
        self,
        name: str,
        inputs: Mapping[str, Any],
        function: Callable[[Path], object],
        *,
        version: int | str = 1,
        code: Iterable[str] = (),
    ) -> Stage:
        """Return the output of a stage, after ``function(folder)`` if it is not there yet.

        `inputs` may hold plain values, lists and dictionaries of them, settings, arrays, a `Path` (its content counts,
        not its name), and stages. `code` names modules or packages of Camber whose sources are part of the fingerprint.
        """
        if self._lock is None:
            raise RuntimeError("stages run inside `with Stages(folder) as stages:`")
        if not _NAME.fullmatch(name) or name in self._used:
            raise ValueError(f"{name!r}: a stage needs a plain name of its own")
        self._used.add(name)
        fingerprint = _fingerprint(name, inputs, version, code)
        place = self.folder / name
        if _is_whole(place, fingerprint):
            log.info("%s: unchanged, kept", name)
            return Stage(name, place, fingerprint, kept=True)
        if place.exists():
            shutil.rmtree(place)  # before the run: old and new output need not fit on the disk together
        fresh = self.folder / f".new-{name}"  # nobody else's: we hold the lock
        fresh.mkdir()
        try:
            with stage(name):
                function(fresh)
                _record(fresh, fingerprint)
            os.rename(fresh, place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return Stage(name, place, fingerprint, kept=False)

    def prune(self) -> None:
        """Remove the output of stages that this run did not use."""
        for folder in self.folder.iterdir():
            if (folder / RECORD).is_file() and folder.name not in self._used:
                shutil.rmtree(folder)

    def remove(self) -> None:
        """Remove all stages, and the work folder unless it holds something else."""
        self._used.clear()
        self.prune()
        if self._lock is not None:
            self._lock.__exit__(None, None, None)
            self._lock = None
        try:
            self.folder.rmdir()
        except OSError:
            log.info("%s holds other files and stays", self.folder)


def _record(folder: Path, fingerprint: str) -> None:
    """Write what is needed to trust this folder in a later run."""
    record = {"fingerprint": fingerprint, "files": _facts(folder)}
    with open(folder / RECORD, "w", encoding="utf-8") as stream:
        json.dump(record, stream, indent=1, sort_keys=True)
        stream.flush()
        os.fsync(stream.fileno())


def _is_whole(folder: Path, fingerprint: str) -> bool:
    """Say whether the output has this fingerprint and all its files as they were written.

    A model shares its large files with the stages that made them, and with their damage.
    """
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        if record["fingerprint"] != fingerprint:
            return False
        whole = {name: facts["bytes"] for name, facts in record["files"].items()} == _sizes(folder)
        if whole and record["files"] == _facts(folder):
            return True
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):
        return False
    log.warning("%s: its files changed since they were written; it runs again", folder)
    return False


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files if path.name != RECORD}


def _facts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return length and SHA-256 of all files."""
    sizes = _sizes(folder)
    parts = {name: 1 + (size >> 20) for name, size in sizes.items()}
    told = each(sizes, "digest files", sum(parts.values()), "MB", parts.__getitem__)
    return {name: {"bytes": sizes[name], "sha256": _content_hash(folder / name)} for name in told}


def _fingerprint(name: str, inputs: Mapping[str, Any], version: int | str, code: Iterable[str]) -> str:
    facts = {
        "stage": name,
        "version": str(version),
        "camber": camber.__version__,
        "code": {module: _source_hash(module) for module in code},
        "inputs": _plain(inputs),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Replace everything in an input by plain values that stand for its content."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Stage):
        return {"stage": value.name, "fingerprint": value.fingerprint}
    if isinstance(value, Path):
        return {"content": _content_hash(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, "fields": _plain(dataclasses.asdict(value))}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(data.tobytes()).hexdigest(), "dtype": str(data.dtype), "shape": data.shape}
    raise TypeError(f"a stage cannot depend on a {type(value).__name__}")


def _content_hash(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder with their names."""
    try:
        if path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file()]
            parts = [f"{file.relative_to(path).as_posix()}\0{_content_hash(file)}\n" for file in files]
            return hashlib.sha256("".join(parts).encode()).hexdigest()
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError("no such file", path, remedy="check the path") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path) from None


def _source_hash(module: str) -> str:
    """Return the SHA-256 of a module's source, or of all Python sources of a package."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {module!r}")
    if spec.submodule_search_locations is None:
        return _content_hash(Path(spec.origin))
    root = Path(spec.origin).parent
    files = sorted(root.rglob("*.py"))
    return hashlib.sha256("".join(_content_hash(path) for path in files).encode()).hexdigest()
