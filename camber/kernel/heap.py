"""A binary max-heap over two arrays: scores, and the integer items that they belong to.

Equal scores leave in the order of their items (the smaller first), so that every run pops in the same order.

    size = push(scores, items, 0, -1.5, 7)      # → 1
    score, item, size = pop(scores, items, size)
"""

from __future__ import annotations

from camber.kernel.compile import kernel


@kernel
def push(scores, items, size, score, item):
    """Add `item` with `score`; return the new size."""
    child = size
    while child > 0:
        parent = (child - 1) >> 1
        if scores[parent] > score or (scores[parent] == score and items[parent] <= item):
            break
        scores[child] = scores[parent]
        items[child] = items[parent]
        child = parent
    scores[child] = score
    items[child] = item
    return size + 1


@kernel
def replace(scores, items, size, score, item):
    """Put `item` in the place of the best one: as pop and push, in one go (at least one item must be there)."""
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            scores[right] > scores[child] or (scores[right] == scores[child] and items[right] < items[child])
        ):
            child = right
        if score > scores[child] or (score == scores[child] and item <= items[child]):
            break
        scores[hole] = scores[child]
        items[hole] = items[child]
        hole = child
    scores[hole] = score
    items[hole] = item


@kernel
def pop(scores, items, size):
    """Remove the best item; return its score, the item, and the new size (at least one item must be there)."""
    best_score, best_item = scores[0], items[0]
    size -= 1
    if size > 0:
        replace(scores, items, size, scores[size], items[size])
    return best_score, best_item, size
