"""Who has a place when there are fewer than there are requests."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest

from camber.serve.calls import Busy
from camber.serve.places import Places


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


async def _served(places: Places, count: int, before: float = 0.0) -> list[int]:
    """Let so many wait for the one place; return in which order they got it."""
    order: list[int] = []
    until = asyncio.get_running_loop().time() + 30

    async def one(number: int) -> None:
        async with places.one(until):
            order.append(number)

    async with places.one(until):
        tasks = []
        for number in range(count):
            tasks.append(asyncio.create_task(one(number)))
            await asyncio.sleep(0)
        await asyncio.sleep(before)
    await asyncio.gather(*tasks)
    return order


def test_who_comes_first_is_served_first() -> None:
    async def work() -> None:
        assert await _served(Places(1, 20.0), 5) == [0, 1, 2, 3, 4]

    _run(work())


def test_who_comes_last_is_served_first_when_the_others_have_waited_too_long() -> None:
    async def work() -> None:
        assert await _served(Places(1, 0.01), 5, before=0.1) == [4, 3, 2, 1, 0]

    _run(work())


def test_nobody_waits_longer_than_until_the_deadline() -> None:
    async def work() -> None:
        places, now = Places(1, 20.0), asyncio.get_running_loop().time()
        async with places.one(now + 30):
            with pytest.raises(Busy):
                async with places.one(now + 0.05):
                    raise AssertionError("there was no place")
        async with places.one(now + 30):
            pass

    _run(work())


@pytest.mark.parametrize("seed", range(5))
def test_places_are_neither_lost_nor_won_whoever_goes_away(seed: int) -> None:
    draw = random.Random(seed)
    most = 0

    async def work() -> None:
        places, held = Places(3, 0.005), 0
        clock = asyncio.get_running_loop().time

        async def one() -> None:
            nonlocal held, most
            async with places.one(clock() + draw.uniform(0, 0.05)):
                held += 1
                most = max(most, held)
                try:
                    await asyncio.sleep(draw.uniform(0, 0.004))
                finally:
                    held -= 1

        tasks = []
        for _ in range(150):
            tasks.append(asyncio.create_task(one()))
            if draw.random() < 0.3:
                draw.choice(tasks).cancel()
            await asyncio.sleep(draw.uniform(0, 0.002))
        told = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(item) for item in told} <= {type(None), Busy, asyncio.CancelledError}
        assert places._free == 3
        assert not any(not given.done() for _, given in places._waiting)

    _run(work())
    assert most == 3
