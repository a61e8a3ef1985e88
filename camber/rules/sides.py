"""Both sides of rules and their links: what phrase pairs and hierarchical rules have in common."""

from __future__ import annotations

from typing import NamedTuple

from camber.arrays.types import Array


class RuleSides(NamedTuple):
    """Rules in columns; a word is its id, and a gap of a hierarchical rule is -1 or -2."""

    source: Array  # symbols of all source sides
    source_offsets: Array  # int64[source sides + 1]
    owners: Array  # int64[rules] the source side of every rule
    target: Array  # symbols of all target sides
    target_offsets: Array  # int64[rules + 1]
    links: Array  # uint8[links, 2] places in both sides
    link_offsets: Array  # int64[rules + 1]
