"""The one decorator, and where compiled code is kept.

Numba's own cache does not notice when a function that is called from another module changes, and it fails where no
folder can be written. So the place of compiled code is chosen here: the user's cache folder (or a temporary one) / a
hash of the Numba version and the processor / a hash of the sources that the kernel depends on. A change anywhere below
a kernel is seen, nothing else makes it compile again, and copies of the package share what was compiled.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, UserProvidedCacheLocator

from camber.kernel.cache_file import FORMAT, CacheFile, Held, tell_once
from camber.kernel.called import Kernel, unlinkable
from camber.progress import Step, log

Function = TypeVar("Function", bound=Callable[..., Any])

#: Every kernel of the modules imported so far, by qualified name.
_registry: dict[str, Any] = {}


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


def compiler() -> tuple[str, str]:
    """Return the version of the compiler, and the processor that it compiles for."""
    return numba.__version__, llvm.get_host_cpu_name()


def _compiler_hash() -> str:
    """Hash what all compiled code depends on: the Numba and Python versions, and the processor."""
    version, processor = compiler()
    facts = (version, sys.version, processor, FORMAT)
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


class _Telling(event.Listener):
    """Tell the user, once per process, that kernels are being compiled, and which one is."""

    def __init__(self) -> None:
        self.said = False
        self.inside = threading.local()  # a kernel compiles those that it calls

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            log.info("compiling kernels, once (`camber warmup` does it ahead of time) …")
        depth = getattr(self.inside, "depth", 0)
        if depth == 0:
            function = event.data["dispatcher"].py_func
            self.inside.step = Step(f"compile {function.__module__}.{function.__name__}", everywhere=True)
            self.inside.step.begin()
        self.inside.depth = depth + 1

    def on_end(self, event: Any) -> None:
        self.inside.depth -= 1
        if self.inside.depth == 0:
            self.inside.step.end()


_config: Any = numba.config  # its attributes are made at run time, which a type checker cannot see
_config.CACHE_DIR = str(cache_folder())
event.register("numba:compile", _Telling())

# Kernels never allocate, so Numba's reference counting can be switched off: half of the time of a tight loop otherwise.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


class _Locator(UserProvidedCacheLocator):
    """Kernels of the package are found by what they depend on, wherever the package is; others as Numba does it."""

    def __init__(self, function: Any, path: str) -> None:
        super().__init__(function, path)
        file = Path(path).resolve()
        self._stamp = ""
        if file.is_relative_to(_package()):
            place = file.relative_to(_package()).with_suffix("")
            self._stamp = sources_hash(".".join(place.parts).removesuffix(".__init__"))
            self._cache_path = str(cache_folder() / f"{'-'.join(place.parts)}-{self._stamp}")

    def get_source_stamp(self) -> Any:
        return self._stamp or super().get_source_stamp()


class _Places(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 (as Numba declares it)


class _Cache(FunctionCache):
    """Numba's cache, without what only compiling needs.

    Numba prepares its compiler before it looks into the cache: it registers all that it can compile, which imports
    scipy.linalg and takes longer than all the rest of loading kernels. It does so again before it compiles anything, so
    that code from the cache need not wait for it. (Compiled code would need it if it counted references.)
    """

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        theirs = self._cache_file
        base = theirs._index_name.removesuffix(".nbi")
        self._cache_file = CacheFile(theirs._cache_path, base, theirs._source_stamp)
        self._held = Held()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept for a signature; if nothing is, hold the place of the kernel until :meth:`release`.

        Another process that wants the same kernel then waits for it instead of compiling it, too.
        """
        kept = self._kept(sig, target_context)
        if kept is None and self._held.take(self.cache_path):
            kept = self._kept(sig, target_context)
        return kept

    def _kept(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, unlinkable(data))
        except OSError as error:
            told = error.strerror or str(error)
            tell_once("unsaved", "%s: compiled kernels cannot be kept (%s), only used", self.cache_path, told)

    def release(self) -> None:
        """Let others have the place, if it is held."""
        self._held.release()


class _LazyCache:
    """Makes the cache of a kernel when it is first needed: most kernels are only called by others and never loaded."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _real(self) -> _Cache | NullCache:
        try:
            return _Cache(self._function)
        except RuntimeError:  # no place for it
            tell_once("unsaved", "%s: compiled kernels cannot be kept there, only used", cache_folder())
            return NullCache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def release(self) -> None:
        if isinstance(self._real, _Cache):
            self._real.release()


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, without the GIL and without reference counting.

    The function may use numbers, tuples and arrays that its caller made; it must not make arrays itself. It gets one
    signature: the public wrapper casts its arguments (int64 and float64 unless it says otherwise).
    """
    return _compiled(function)


def kernel_inlined(function: Function) -> Function:
    """Compile `function` as :func:`kernel` does, and always into the kernels that call it.

    Small functions end there anyway. For longer ones in a hot loop the call matters, because it takes every array to
    pieces: shape, strides, and so on.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    if _config.DISABLE_JIT:
        compiled: Any = function
    else:
        compiled = Kernel(function, {"nopython": True, "boundscheck": None, **_options, **options})
        compiled._cache = _LazyCache(function)
    _registry[f"{function.__module__}.{function.__qualname__}"] = compiled
    return compiled


class _Compiled(event.Listener):
    """Tells of every kernel that was compiled for Python; those that it calls are part of it."""

    def __init__(self, told: Callable[[str, float], None]) -> None:
        self._told = told
        self._inside = threading.local()

    def on_start(self, event: Any) -> None:
        self._inside.starts = [*getattr(self._inside, "starts", ()), time.monotonic()]

    def on_end(self, event: Any) -> None:
        *self._inside.starts, start = self._inside.starts
        if not self._inside.starts:
            function = event.data["dispatcher"].py_func
            self._told(f"{function.__module__}.{function.__qualname__}", time.monotonic() - start)


def tell_compiled(told: Callable[[str, float], None]) -> None:
    """Call `told` with the name of each kernel that is compiled from now on, and how many seconds it took."""
    event.register("numba:compile", _Compiled(told))


def compiled_kernels() -> dict[str, list[Any]]:
    """Return the signatures compiled or loaded so far, by kernel."""
    return {name: list(getattr(compiled, "signatures", [])) for name, compiled in _registry.items()}
