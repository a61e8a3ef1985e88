"""Kernels as other kernels call them.

A kernel that Python calls needs machine code of its own, and a wrapper that takes Python's arguments to pieces. One
that a kernel calls needs neither: it becomes part of its caller, and is optimised there. Numba does
both for every function, which takes half as long again. So a kernel has two dispatchers: :class:`ForPython`, and
:class:`Called`, whose code is never finished but linked into whoever calls it, and is not kept on disk.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher


class _Unfinished(JITCodeLibrary):
    """Code that is only there to be linked into other code: not optimised as a whole, and without machine code."""

    def finalize(self) -> None:
        seen = set()
        for library in self._linking_libraries:
            if library not in seen:
                self._reload_init.update(library._reload_init)
                seen.add(library)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


def unlinkable(result: Any) -> Any:
    """Return what is kept of a kernel for Python: nothing that only a caller would want, nor what is for people.

    Numba would keep the code for linking, too, which takes longer to read than the machine code itself. What is needed
    of it is the names of what it defines.
    """
    module = result.library._final_module
    names = [f'define void @"{f.name}"() {{ ret void }}' for f in module.functions if not f.is_declaration]
    names += [f'@"{g.name}" = global i8 0' for g in module.global_variables if not g.is_declaration]
    result.library._shared_module = llvm.parse_assembly("\n".join(names))
    return result._replace(type_annotation="")


class _Key:
    """Under which a target context finds the code of one signature."""


class Called(CPUDispatcher):
    """The dispatcher of a kernel for kernels: compiles each signature that is asked for, once in a process."""

    _compiler: Any

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(py_func=function, targetoptions=options)
        self._keys: dict[Any, _Key] = {}
        self._compiler._customize_flags = self._without_code

    @staticmethod
    def _without_code(flags: Any) -> Any:
        flags.no_compile = True
        return flags

    def add_overload(self, cres: Any) -> None:
        cres.library.__class__ = _Unfinished
        signature = tuple(cres.signature.args)
        key = self._keys[signature] = _Key()
        self.targetctx.insert_user_function(key, cres.fndesc, [cres.library])
        self.overloads[signature] = cres

    def get_overload(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        return self._keys[tuple(arguments)]


#: words of a thread's stack that a compiler needs at most; more than a block of it has
_DEPTH = 70_000


def _with_room(function: Callable[[Any], Any], argument: Any) -> Any:
    """Call a function from a frame that claims a large block of the stack, in which all that it calls has room.

    Python takes its stack from the system in blocks of 16 KB. A compiler calls itself deeply, and wherever it goes to
    and fro over the end of a block, one is mapped and unmapped every time: half of the time that the system took.
    """
    return function(argument)


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=_DEPTH)


class ForPython(CPUDispatcher):
    """The dispatcher of a kernel for Python, which sends kernels that call it to another one."""

    _cache: Any

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(py_func=function, targetoptions=options)
        self.called = Called(function, options)

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what was compiled.

        A compiler makes very many objects and throws hardly any away, so that looking for garbage would take a
        tenth of its time.
        """
        collecting = gc.isenabled()
        gc.disable()
        try:
            return _with_room(super().compile, sig)
        finally:
            if collecting:
                gc.enable()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how a kernel calls this one with arguments of some types."""
        return self.called.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return under which key a calling kernel finds the code."""
        return self.called.get_overload(sig)
