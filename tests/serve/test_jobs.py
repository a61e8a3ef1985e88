"""Texts of many requests: what a list of them costs the event loop, which is slow to come round when there is much."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from camber.model.asking import Request
from camber.serve.calls import Busy
from camber.serve.jobs import Decoding, Options
from camber.serve.metrics import Metrics

TEXTS = [f"text {number}" for number in range(100)]


def decoding(known: int) -> tuple[Decoding, Options]:
    """A decoder that remembers some texts, and does not work on the others."""
    made, options = Decoding(1, 8, len(TEXTS), Metrics()), Options(translator=object())  # type: ignore[arg-type]
    for text in TEXTS[:known]:
        made.cache.put(options, text, [])
    return made, options


async def turns_of(work: Awaitable[Any]) -> tuple[int, Any]:
    """Return how often the event loop came round while something was done, and what became of it."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    try:
        outcome = await work
    except Busy:
        outcome = Busy
    counting.cancel()
    return turns, outcome


@pytest.mark.parametrize(("known", "seconds"), [(100, 60), (0, -1), (99, -1)])
def test_a_list_takes_few_turns_of_the_event_loop(known: int, seconds: float) -> None:
    """What is there is taken at once, and what is late is refused soon."""

    async def run() -> tuple[int, Any]:
        made, options = decoding(known)
        until = asyncio.get_running_loop().time() + seconds
        return await turns_of(made.translations(options, TEXTS, [Request()] * len(TEXTS), until))

    turns, outcome = asyncio.run(run())
    assert outcome == ([[]] * len(TEXTS) if seconds > 0 else Busy)
    assert turns < 10
