"""Where compiled code is kept.

Numba's own cache does not notice when a function that is called from another module changes, and it fails where no
folder can be written. So the place of compiled code is chosen here: the user's cache folder (or a temporary one) / a
hash of the compiler and the processor / a hash of the sources that the kernel depends on. A change anywhere below
a kernel is seen, nothing else makes it compile again, and copies of the package share what was compiled.

The compiler itself is not imported for this: programs whose kernels are all compiled do without it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

from camber.kernel.files import FORMAT


@functools.cache
def _package() -> Path:
    return Path(__file__).resolve().parent.parent


#: what a module imports from the package: ``from camber.lm.ngrams import step``, ``from camber.decode import search``
_IMPORT = re.compile(rb"^(?:from camber\.([\w.]+) import (\([^)]*\)|.*)|import camber\.([\w.]+))", re.MULTILINE)
#: what a kernel may take from a module without kernels: a number that was given a name
_ASSIGNED = re.compile(rb"^[A-Za-z_][\w, ]*(?:: [^=\n]*)?= (?:.*\n(?:[ \t)\]}].*\n)*)", re.MULTILINE)


@functools.cache
def _source(module: str) -> tuple[Path, bytes] | None:
    """Return the file and the text of a module of the package (``lm.ngrams``); None if it is none."""
    stem = _package().joinpath(*module.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path, path.read_bytes()
    return None


def _imported(text: bytes) -> set[str]:
    """Return the modules of the package that a source imports, and names that may be modules."""
    modules: set[str] = set()
    for home, names, plain in _IMPORT.findall(text):
        modules.add((home or plain).decode())
        modules.update(f"{home.decode()}.{name.decode()}" for name in re.findall(rb"\w+", names) if home)
    return modules


@functools.cache
def sources_hash(module: str) -> str:
    """Hash all that the compiled kernels of a module depend on.

    That is its own source, those of the modules with kernels that it imports, directly or not, and the assignments of
    the others: constants become part of the code.
    """
    digest = hashlib.sha256()
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        source = _source(name)
        if name in seen or source is None:
            continue
        seen.add(name)
        path, text = source
        if name == module or b"@kernel" in text or path.name == "__init__.py":
            waiting += sorted(_imported(text), reverse=True)
        else:
            text = b"".join(_ASSIGNED.findall(text))
        digest.update(path.relative_to(_package()).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:16]


def folder_of(file: str) -> Path | None:
    """Return the folder of the kernels of a module of the package by its file; None for other modules."""
    path = Path(file).resolve()
    if not path.is_relative_to(_package()):
        return None
    parts = path.relative_to(_package()).with_suffix("").parts
    return cache_folder() / f"{'-'.join(parts)}-{sources_hash('.'.join(parts).removesuffix('.__init__'))}"


def _compiler() -> tuple[str, ...]:
    """Return the versions of the compiler, as its files tell them, and the settings that it takes from outside."""
    facts = []
    for name in ("numba", "llvmlite"):
        spec = importlib.util.find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            facts.append(Path(place, "_version.py").read_text("utf-8"))
    kept = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")  # these change nothing in the code
    return (*facts, *(f"{name}={os.environ[name]}" for name in sorted(os.environ) if _is_setting(name, kept)))


def _is_setting(name: str, kept: tuple[str, ...]) -> bool:
    return name.startswith("NUMBA_") and name not in kept


def _processor() -> str:
    """Return all that tells what this processor can do; a part of it where the system does not say."""
    told = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features")
    lines = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if not line.strip():
                    break  # of one processor
                lines.append(line)
    except OSError:
        lines.clear()
    return "".join(line for line in lines if line.startswith(told)) or platform.processor() or platform.machine()


def _compiler_hash() -> str:
    """Hash what all compiled code depends on: the compiler, Python, and the processor."""
    facts = (*_compiler(), sys.version, platform.machine(), _processor(), FORMAT)
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]


def _candidates() -> list[Path]:
    """List the places where the cache may live, best first."""
    if named := os.environ.get("CAMBER_CACHE"):
        return [Path(named)]
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    try:
        places = [Path(tempfile.gettempdir()) / f"camber-{owner}"]
    except OSError:  # there is none that can be written
        places = []
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry and without HOME, as in some containers
        return places
    if sys.platform == "darwin":
        user = home / "Library" / "Caches"
    elif os.name == "nt":
        user = Path(os.environ.get("LOCALAPPDATA", str(home)))
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return [user / "camber", *places]


def _writable(folder: Path) -> bool:
    """Say whether `folder` exists or can be made, is ours, and takes a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False  # compiled code is executed: never load it from another user's folder
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_folder() -> Path:
    """Return the folder of the kernels that this compiler made for this machine."""
    name = _compiler_hash()
    for base in _candidates():
        if _writable(base / name):
            return base / name
    try:
        return Path(tempfile.mkdtemp(prefix="camber-"))
    except OSError:
        return Path(os.devnull) / name  # nothing can be kept anywhere
