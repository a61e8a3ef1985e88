"""The compiler, which only kernels without code import: Numba, what it is told, and what it keeps.

Code for Python becomes an image (`elf`) where images are usable; otherwise Numba keeps and loads it, and what is in its
files gets digests like all others.
"""

from __future__ import annotations

import pickle
import threading
import time
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.core.typing.typeof import typeof

from camber.kernel.called import ForPython, unlinkable
from camber.kernel.compile import tell
from camber.kernel.elf import image_of
from camber.kernel.files import DamagedError, read_whole, tell_once, with_digest, write_whole
from camber.kernel.image import ImageError
from camber.kernel.place import cache_folder, folder_of
from camber.progress import Step, log

# Kernels never allocate, so Numba's reference counting can be switched off: half of the time of a tight loop otherwise.
_options: dict[str, Any] = {
    "nopython": True,
    "boundscheck": None,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
_config: Any = numba.config  # its attributes are made at run time, which a type checker cannot see
_config.CACHE_DIR = str(cache_folder())


def versions() -> tuple[str, str]:
    """Return the version of the compiler, and the processor that it compiles for."""
    return numba.__version__, llvm.get_host_cpu_name()


class Finished(ForPython):
    """The dispatcher of a kernel for Python, with a place for its code."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, {**_options, **options})
        self._cache = _LazyCache(function)

    def finish(self, arguments: tuple[Any, ...], path: str) -> None:
        """Compile for the types of some arguments, or load what Numba kept; `path` is where an image may go."""
        self._cache.path = path
        self.compile(tuple(map(typeof, arguments)))


class _Telling(event.Listener):
    """Tell that kernels are being compiled, which one is, and how long it took: those that it calls are part of it."""

    def __init__(self) -> None:
        self.said = False
        self.inside = threading.local()  # a kernel compiles those that it calls

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            log.info("compiling kernels, once (`camber warmup` does it ahead of time) …")
        depth = getattr(self.inside, "depth", 0)
        if depth == 0:
            self.inside.step = Step(f"compile {_name(event)}", everywhere=True)
            self.inside.step.begin()
            self.inside.start = time.monotonic()
        self.inside.depth = depth + 1

    def on_end(self, event: Any) -> None:
        self.inside.depth -= 1
        if self.inside.depth == 0:
            self.inside.step.end()
            tell(_name(event), time.monotonic() - self.inside.start)


def _name(event: Any) -> str:
    function = event.data["dispatcher"].py_func
    return f"{function.__module__}.{function.__qualname__}"


event.register("numba:compile", _Telling())


class _Locator(UserProvidedCacheLocator):
    """Kernels of the package are found by what they depend on, wherever the package is; others as Numba does it."""

    def __init__(self, function: Any, path: str) -> None:
        super().__init__(function, path)
        folder = folder_of(path)
        self._stamp = "" if folder is None else folder.name
        if folder is not None:
            self._cache_path = str(folder)

    def get_source_stamp(self) -> Any:
        return self._stamp or super().get_source_stamp()


class _Places(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 (as Numba declares it)


class _Files(IndexDataCacheFile):
    """Numba's index and data files of one kernel, with digests."""

    def load(self, key: Any) -> Any:
        """Return what is kept for a signature, None if nothing (that is whole) is."""
        try:
            return super().load(key)
        except DamagedError:
            return None

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = self._read(self._index_path)
        except (FileNotFoundError, DamagedError):
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        with self._open_for_write(path) as stream:
            stream.write(with_digest(self._dump(content)))

    def _read(self, path: str) -> Any:
        try:
            return pickle.loads(read_whole(path))
        except (FileNotFoundError, DamagedError):
            raise
        except Exception:  # of another version, which has other types of arguments, and shares our cache
            raise DamagedError(path) from None


class _Cache(FunctionCache):
    """Numba's cache, without what only compiling needs, and for what is no image.

    Numba prepares its compiler before it looks into the cache: it registers all that it can compile, which imports
    scipy.linalg and takes longer than all the rest of loading kernels. It does so again before it compiles anything, so
    that code from the cache need not wait for it. (Compiled code would need it if it counted references.)
    """

    _impl_class = _Places

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        theirs = self._cache_file
        base = theirs._index_name.removesuffix(".nbi")
        self._cache_file = _Files(theirs._cache_path, base, theirs._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what Numba kept for a signature."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled as Numba does."""
        super().save_overload(sig, unlinkable(data))


class _LazyCache:
    """What a dispatcher takes for its cache: images, and Numba's cache, made when it is first needed.

    Most kernels are only called by others, and neither loaded nor kept.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._theirs: Any = None
        self.path = ""  # of the image

    def _real(self) -> Any:
        if self._theirs is None:
            try:
                self._theirs = _Cache(self._function)
            except RuntimeError:  # no place for it
                self._tell(str(cache_folder()), "there is no place")
                self._theirs = NullCache()
        return self._theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what Numba kept."""
        return self._real().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write an image; where none can be made of it, keep it as Numba does."""
        try:
            image = _image(data) if self.path else None
            if image is not None:
                write_whole(self.path, image)
            else:
                self._real().save_overload(sig, data)
        except OSError as error:
            self._tell(str(Path(self.path).parent), error.strerror or str(error))

    @staticmethod
    def _tell(where: str, why: str) -> None:
        tell_once("unsaved", "%s: compiled kernels cannot be kept (%s), only used", where, why)


def _image(result: Any) -> bytes | None:
    """Return the image of what was compiled, None if it needs what only Numba has."""
    library, described, environment, _, objects, lifted, _, initialised, environments = result._reduce()
    if objects or lifted or initialised or any(one.consts for one in (environment, *environments)):
        return None
    _, kind, (code, _) = library
    if kind != "object":
        return None
    try:
        image = image_of(code, described.llvm_cpython_wrapper_name)
        image.addresses()  # all that it refers to is there
        return image.to_bytes()
    except ImageError as error:
        log.debug("%s: no image: %s", described.qualname, error)
        return None
