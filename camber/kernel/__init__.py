"""Kernels: Python loops compiled by Numba. Nobody else in the package names Numba.

A kernel takes arrays and numbers, never allocates, and works on a sentence or a batch. `kernel` is the decorator
(`kernel_inlined` for pieces of hot loops); `table` holds open-addressing hash tables, `words` one for the words of a
text, `heap` is a binary heap, and `sort` sorts short stretches; all over plain arrays.
"""

from camber.kernel.compile import compiled_kernels, kernel, kernel_inlined, tell_compiled
from camber.kernel.place import cache_folder

__all__ = ["cache_folder", "compiled_kernels", "kernel", "kernel_inlined", "tell_compiled"]
