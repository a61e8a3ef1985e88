"""Kernels: Python loops compiled by Numba. Nobody else in the package names Numba.

A kernel takes arrays and numbers, never allocates, and works on a sentence or a batch. `kernel` is the decorator;
`table` is an open-addressing hash table and `heap` a binary heap, both over plain arrays.
"""

from camber.kernel.compile import cache_folder, compiled_kernels, kernel

__all__ = ["cache_folder", "compiled_kernels", "kernel"]
