"""Places for requests that are worked on: who comes first is served first, until that helps nobody any more.

When more comes than can be done for so long that those who wait are about to be refused anyway, serving them in turn
would answer each at the last moment, and many too late, work and all. Then whoever came last is served first: those get
their answer at once, the others are refused when their time is over, and nothing is done in vain.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from camber.serve.calls import Busy


class Places:
    """So many places, for those who wait no longer than a deadline."""

    def __init__(self, count: int, patience: float) -> None:
        """Serve the oldest first while it has not waited longer than `patience`, in seconds."""
        self._free, self.patience = count, patience
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()  # with the time at which each began to wait

    @asynccontextmanager
    async def one(self, until: float) -> AsyncIterator[None]:
        """Hold a place; :class:`Busy` if there is none `until` then, on the clock of the event loop."""
        await self._take(until)
        try:
            yield
        finally:
            self._leave()

    async def _take(self, until: float) -> None:
        if self._free:
            self._free -= 1
            return
        loop = asyncio.get_running_loop()
        given: asyncio.Future[None] = loop.create_future()
        self._waiting.append((loop.time(), given))
        try:
            async with asyncio.timeout_at(until):
                await given
        except TimeoutError:
            self._give_back(given)
            raise Busy from None
        except asyncio.CancelledError:
            self._give_back(given)
            raise

    def _give_back(self, given: asyncio.Future[None]) -> None:
        """Leave a place that came when nobody waited for it any more."""
        if given.done() and not given.cancelled():
            self._leave()
        given.cancel()

    def _leave(self) -> None:
        """Let the next one have the place."""
        now = asyncio.get_running_loop().time()
        while self._waiting:
            since, given = self._waiting[0]
            if not given.done() and now - since > self.patience:
                _, given = self._waiting.pop()
            else:
                self._waiting.popleft()
            if not given.done():
                given.set_result(None)
                return
        self._free += 1
