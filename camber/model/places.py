"""Places on disk that are whole or absent: written beside, synced, renamed; and who may write there."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from camber.errors import ModelError
from camber.lock import Lock
from camber.progress import log


def lock(model: Path, patience: float = 0.0) -> Lock:
    """Return the lock of a model, which its writers hold."""
    return Lock(model.parent / f".{model.name}.camber-lock", f"the model {model}", patience)


def prefix(model: Path, role: str) -> str:
    """Return how the names of temporary folders begin that stand beside a model."""
    return f".{model.name}.camber-{role}-"


def beside(model: Path, role: str) -> list[Path]:
    """List the temporary folders beside a model.

    "new" ones are being written; "old" and "kept" ones were the model until a new one took its place, and the kept ones
    will be `<model>.old`; "gone" ones are being removed, so that they may have lost files.
    """
    begin = prefix(model, role)
    return [path for path in model.parent.iterdir() if path.name.startswith(begin)] if model.parent.is_dir() else []


def clear_leftovers(model: Path) -> None:
    """Remove what interrupted writers left beside a model; the caller holds its lock, so they are dead."""
    for leftover in (*beside(model, "new"), *beside(model, "gone")):
        log.info("removing %s, left by an interrupted run", leftover)
        remove(leftover)


def was_replaced(model: Path) -> bool:
    """Say whether a model stands aside because its writer has died, or is about to put another one into its place."""
    return bool(beside(model, "old") or beside(model, "kept"))


def restore(model: Path) -> None:
    """Undo a replacement that died between its renames, or finish it; the caller holds the model's lock."""
    for role in ("old", "kept"):
        for aside in beside(model, role):
            if not model.exists():
                os.rename(aside, model)
            elif role == "kept":
                os.rename(aside, free_name(model))
            else:
                discard(model, aside)


def put(folder: Path, model: Path, keep: bool) -> Path | None:
    """Rename a finished folder to a model's place; the model that was there goes, or stays under the name returned.

    A kill leaves the old model or the new one; :func:`restore` then finishes what was begun.
    """
    aside = None
    if model.exists():
        aside = _free(model, "kept" if keep else "old")
        os.rename(model, aside)
    os.rename(folder, model)
    sync_folder(model.parent)
    if aside is None:
        return None
    if not keep:
        discard(model, aside)
        return None
    name = free_name(model)
    os.rename(aside, name)
    sync_folder(model.parent)
    return name


def free_name(model: Path, end: str = "old") -> Path:
    """Return a name beside a model that is free: `<model>.old`, `<model>.old2`, …."""
    number, free = 1, model.with_name(f"{model.name}.{end}")
    while free.exists():
        number += 1
        free = model.with_name(f"{model.name}.{end}{number}")
    return free


def discard(model: Path, folder: Path) -> None:
    """Remove a folder beside a model; it first gets a name that nobody takes for a model, should this be killed."""
    gone = _free(model, "gone")
    os.rename(folder, gone)
    remove(gone)


def _free(model: Path, role: str) -> Path:
    """Return a name for a temporary folder beside a model."""
    folder = Path(tempfile.mkdtemp(prefix=prefix(model, role), dir=model.parent))
    folder.rmdir()
    return folder


@contextmanager
def new_folder(model: Path) -> Iterator[Path]:
    """Yield a folder beside a model to fill and rename; what is not renamed is removed."""
    folder = Path(tempfile.mkdtemp(prefix=prefix(model, "new"), dir=model.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def allow_readers(folder: Path) -> None:
    """Give a temporary folder the rights that other new folders have."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(folder, 0o777 & ~mask)


def remove(folder: Path) -> None:
    """Remove what nobody needs any more; where that fails, it must not spoil work that is done."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        log.warning("%s: cannot be removed (%s); it is not needed any more", folder, error.strerror)


@contextmanager
def telling_of_the_disk(model: Path) -> Iterator[None]:
    """Turn errors of a disk that is full, or of a folder that cannot be written, into ones that name the model."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise ModelError(f"{model}: the disk is full; nothing was changed") from error
        place = Path(os.fsdecode(error.filename or ""))
        if place in model.parents or str(place).startswith(str(model.parent / f".{model.name}.camber-")):
            raise ModelError(f"{model}: cannot be written ({error.strerror}); check the folder above it") from error
        raise


def is_full(error: OSError) -> bool:
    """Say whether an error means that a disk is full; NumPy tells of a short write without a number."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or (error.errno is None and "requested and" in str(error))


def sync(path: Path) -> None:
    """Bring a file to the disk."""
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk."""
    if os.name != "nt":  # Windows cannot open a folder
        sync(path)
