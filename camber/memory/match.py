"""A match: a pair that is remembered, and how like its source is to a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from camber.text.difference import Piece, differences


@dataclass(frozen=True)
class Match:
    """A pair, and how like its source is to the line that was looked for."""

    source: str
    target: str
    likeness: float  # from 0 to 1
    number: int  # in the memory, from 1
    links: tuple[tuple[int, int], ...] = ()  # between the tokens of both sides
    added: bool = False  # after the training
    author: str = ""
    time: str = ""
    coded: tuple[str, str] | None = None  # both texts with their inline codes, as inline XML, if they have any

    @property
    def percent(self) -> int:
        """The likeness in whole per cent; 100 only if all words are the same, tags included.

        >>> Match("Ein Haus.", "A house.", 0.999, 1).percent
        99
        """
        return int(100 * self.likeness + 1e-9)

    def pieces(self, line: str) -> list[Piece]:
        """Cut the line and the pair's source where they differ."""
        return differences(line, self.source)

    def marked(self, line: str) -> str:
        """Return the pair's source with what is other in the line: ``{-gone-}`` here and ``{+new+}`` there.

        >>> Match("Ein Haus.", "A house.", 0.6, 1).marked("Ein Hut.")
        'Ein {-Haus-}{+Hut+}.'
        """
        return "".join(_marked(piece) for piece in self.pieces(line))

    def to_json(self, line: str) -> dict[str, Any]:
        """Return all that there is to tell, as plain values."""
        told: dict[str, Any] = {
            "percent": self.percent,
            "likeness": round(self.likeness, 4),
            "source": self.source,
            "target": self.target,
            "number": self.number,
            "added": self.added,
            "difference": [{"line": piece.one, "memory": piece.two, "same": piece.same} for piece in self.pieces(line)],
        }
        if self.coded is not None:
            told["coded"] = dict(zip(("source", "target"), self.coded, strict=True))
        return told | {name: value for name, value in (("author", self.author), ("time", self.time)) if value}


def _marked(piece: Piece) -> str:
    if piece.same:
        return piece.two
    blank = (piece.two or piece.one)[: len(piece.two or piece.one) - len((piece.two or piece.one).lstrip())]
    gone, new = piece.two.strip(), piece.one.strip()
    return blank + (f"{{-{gone}-}}" if gone else "") + (f"{{+{new}+}}" if new else "")
