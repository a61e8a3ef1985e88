"""The one decorator, and how a kernel finds its code.

A kernel looks at the types of its arguments. Where code for them was loaded before, that is called; where it is on disk
(`place`), it is put into memory as it is (`image`), which takes no compiler: Numba and LLVM are imported by the first
kernel that has none (`compiler`). On systems that images are not for, Numba loads what it kept.
"""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from camber.kernel.files import DamagedError, Held, read_whole
from camber.kernel.image import Image, ImageError, placed, usable
from camber.kernel.place import folder_of
from camber.kernel.signature import UnknownTypeError, described, types_of
from camber.progress import log

Function = TypeVar("Function", bound=Callable[..., Any])

#: Every kernel of the modules imported so far, by qualified name.
_registry: dict[str, Any] = {}
#: who is told of each kernel that was compiled
_told: list[Callable[[str, float], None]] = []
#: why images are of no use in this process, if they are not: from then on Numba keeps and loads all code
_refused: list[ImageError] = []
#: one at a time looks for code and compiles
_finding = threading.RLock()


class Kernel:
    """A kernel: calls the code for the types of its arguments, and finds it if it was not called with them before."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self._code: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        try:
            types = types_of(arguments)
        except UnknownTypeError:
            return self.dispatcher(*arguments)
        code = self._code.get(types)
        if code is None:
            code = self._find(types, arguments)
        return code(*arguments)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What compiles it; the first of all imports the compiler."""
        from camber.kernel.compiler import Finished

        return Finished(self.function, self.options)

    @property
    def _numba_type_(self) -> Any:
        """What the compiler takes it for where another kernel calls it."""
        from numba.core.types import Dispatcher

        return Dispatcher(self.dispatcher)

    @property
    def signatures(self) -> list[Any]:
        """The types that it was called with."""
        return list(self._code)

    def _find(self, types: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Load the code for some types, or compile it; who needs what another process compiles waits for it."""
        with _finding:
            if types in self._code:
                return self._code[types]
            folder = folder_of(self.function.__code__.co_filename)
            path = "" if folder is None else str(folder / self._name(types))
            code = _loaded(path)
            held = Held()
            try:
                if code is None and folder is not None and held.take(str(folder)):
                    code = _loaded(path)
                if code is None:
                    self.dispatcher.finish(arguments, path if usable() and not _refused else "")
                    code = self.dispatcher
            finally:
                held.release()
            self._code[types] = code
            return code

    def _name(self, types: tuple[Any, ...]) -> str:
        """Return the name of the file for some types."""
        number = hashlib.sha256(described(types).encode()).hexdigest()[:16]
        return f"{self.function.__qualname__.replace('<locals>', '')}-{number}.image"


def _loaded(path: str) -> Callable[..., Any] | None:
    """Return the code of a file, None if there is none that is whole and of use here."""
    if not path or not usable() or _refused:
        return None
    try:
        return placed(Image.of_bytes(read_whole(path)))
    except (FileNotFoundError, DamagedError):
        return None
    except ImageError as error:
        log.debug("%s: %s", path, error)
        _refused.append(error)
        return None


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
    plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    compiled: Any = function if plain else Kernel(function, options)
    _registry[f"{function.__module__}.{function.__qualname__}"] = compiled
    same: Function = compiled
    return same


def tell_compiled(told: Callable[[str, float], None]) -> None:
    """Call `told` with the name of each kernel that is compiled from now on, and how many seconds it took."""
    _told.append(told)


def tell(name: str, seconds: float) -> None:
    """Tell whoever wants to know that a kernel was compiled."""
    for told in _told:
        told(name, seconds)


def compiled_kernels() -> dict[str, list[Any]]:
    """Return the signatures compiled or loaded so far, by kernel."""
    return {name: list(getattr(compiled, "signatures", [])) for name, compiled in _registry.items()}
