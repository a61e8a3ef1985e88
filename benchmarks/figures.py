"""What benchmarks find out, for `all.py`: a file of JSON Lines that `CAMBER_FIGURES` names gets each figure.

note("two threads, times one", 1.98)
note("peak memory, MB", 74, more_is_better=False)
"""

from __future__ import annotations

import json
import os


def note(name: str, value: float, *, more_is_better: bool = True) -> None:
    """Add a figure that tells whether something became slower: a ratio to a peer or a twin, a size, a score."""
    if place := os.environ.get("CAMBER_FIGURES"):
        with open(place, "a", encoding="utf-8") as file:
            print(json.dumps({"name": name, "value": float(value), "more_is_better": more_is_better}), file=file)
