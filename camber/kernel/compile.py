"""The one decorator, and where compiled code is kept.

Numba's own cache does not notice when a function that is called from another module changes, and it fails where no
folder can be written. So the cache folder is chosen here, before anything compiles: the user's cache folder (or a
temporary one) / a hash of the package's sources, the Numba version and the processor.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
from numba.core import event
from numba.core.caching import FunctionCache

from camber.progress import log

Function = TypeVar("Function", bound=Callable[..., Any])

#: Every kernel of the modules imported so far, by qualified name.
_registry: dict[str, Any] = {}


def _sources_hash() -> str:
    """Hash the package's Python sources, the Numba and Python versions, and the processor."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(str(path.relative_to(package)).encode() + b"\0" + text + b"\0")
    for fact in (numba.__version__, sys.version, llvm.get_host_cpu_name()):
        digest.update(fact.encode() + b"\0")
    return digest.hexdigest()[:16]


def _candidates() -> list[Path]:
    """List the places where the cache may live, best first."""
    if named := os.environ.get("CAMBER_CACHE"):
        return [Path(named)]
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    found = [Path(tempfile.gettempdir()) / f"camber-{owner}"]
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry and without HOME, as in some containers
        return found
    if sys.platform == "darwin":
        user = home / "Library" / "Caches"
    elif os.name == "nt":
        user = Path(os.environ.get("LOCALAPPDATA", str(home)))
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return [user / "camber", *found]


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
    """Return the folder of the compiled kernels of exactly this version of the package on this machine."""
    name = _sources_hash()
    for base in _candidates():
        if _writable(base / name):
            return base / name
    return Path(tempfile.mkdtemp(prefix="camber-"))


class _SayOnce(event.Listener):
    """Tell the user, once per process, that kernels are being compiled."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            log.info("compiling kernels, once (`camber warmup` does it ahead of time) …")

    def on_end(self, event: Any) -> None:
        pass


_config: Any = numba.config  # its attributes are made at run time, which a type checker cannot see
_config.CACHE_DIR = str(cache_folder())
event.register("numba:compile", _SayOnce())

# Kernels never allocate, so Numba's reference counting can be switched off: half of the time of a tight loop otherwise.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


class _Cache(FunctionCache):
    """Numba's cache, without what only compiling needs.

    Numba prepares its compiler before it looks into the cache: it registers all that it can compile, which imports
    scipy.linalg and takes longer than all the rest of loading kernels. It does so again before it compiles anything, so
    that code from the cache need not wait for it. (Compiled code would need it if it counted references.)
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _LazyCache:
    """Makes the cache of a kernel when it is first needed: most kernels are only called by others and never loaded."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _real(self) -> _Cache:
        return _Cache(self._function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, without the GIL and without reference counting.

    The function may use numbers, tuples and arrays that its caller made; it must not make arrays itself. It gets one
    signature: the public wrapper casts its arguments (int64 and float64 unless it says otherwise).
    """
    compiled = numba.njit(**_options)(function)
    if not _config.DISABLE_JIT:
        compiled._cache = _LazyCache(function)
    _registry[f"{function.__module__}.{function.__qualname__}"] = compiled
    return compiled


def compiled_kernels() -> dict[str, list[Any]]:
    """Return the signatures compiled or loaded so far, by kernel."""
    return {name: list(getattr(found, "signatures", [])) for name, found in _registry.items()}
