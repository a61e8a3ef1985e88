"""Numbers for phrases, the textbook way."""

from __future__ import annotations


def number_phrases(phrases: list[tuple[int, ...]]) -> list[int]:
    """Number distinct phrases by first use."""
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(phrase, len(numbers)) for phrase in phrases]
