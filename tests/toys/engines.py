"""An engine that shows whether tasks could run in other processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field


@dataclass
class Pickled:
    """Gives every task a copy of its own of all that it needs, through pickle, and takes a copy of its result."""

    tasks: set[str] = field(default_factory=set)  # those that were run
    parts: int = 3

    def map(self, task, shared, pieces):
        self.tasks.add(f"{task.__module__}.{task.__qualname__}")
        for piece in pieces:
            own_task, own_shared, own_piece = pickle.loads(pickle.dumps((task, shared, piece)))
            yield pickle.loads(pickle.dumps(own_task(own_shared, own_piece)))

    def exchange(self, split, shared, pieces, merge, bases):
        rows = list(self.map(split, shared, pieces))
        columns = [(base, [row[k] for row in rows]) for k, base in enumerate(bases)]
        yield from self.map(_merged, merge, columns)


def _merged(merge, both):
    return merge(*both)
