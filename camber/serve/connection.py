"""A connection whose other end must say what it wants, and take what it gets, within some seconds.

Whoever sends a request letter by letter, or asks and never reads, would otherwise hold a connection for as long as it
likes, and enough of them all that a process may have. (How long a body may take is the business of the application.)
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """One connection of HTTP; its patience is that which it has with idle ones."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._asked: asyncio.TimerHandle | None = None  # runs until there is a request
        self._taken: asyncio.TimerHandle | None = None  # runs while what was written is not taken
        self._left = 0  # bytes that were not taken when that was last looked at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take some bytes, which may be a request or a part of one."""
        super().data_received(data)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget everything."""
        super().connection_lost(exc)
        for timer in (self._asked, self._taken):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """Look from time to time whether the other end reads."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """Go on: it does."""
        super().resume_writing()
        if self._taken is not None:
            self._taken.cancel()
            self._taken = None

    def timeout_keep_alive_handler(self) -> None:
        """End a connection that is idle, or whose other end has not taken its last answer."""
        if self.transport.get_write_buffer_size():
            self._await_reading()
        else:
            super().timeout_keep_alive_handler()

    def _await_request(self) -> None:
        """Let the timer run while there is no request, only a part of one, or a body too many: one that is answered.

        Bytes that come do not set it back.
        """
        answered = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        waits = (answered or self.conn.their_state is h11.IDLE) and not self.transport.is_closing()
        if waits and self._asked is None:
            self._asked = self.loop.call_later(self.timeout_keep_alive, self._unasked)
        elif not waits and self._asked is not None:
            self._asked.cancel()
            self._asked = None

    def _unasked(self) -> None:
        self._asked = None
        super().timeout_keep_alive_handler()

    def _await_reading(self) -> None:
        self._left = self.transport.get_write_buffer_size()
        if self._taken is None:
            self._taken = self.loop.call_later(self.timeout_keep_alive, self._untaken)

    def _untaken(self) -> None:
        self._taken = None
        left = self.transport.get_write_buffer_size()
        if left >= self._left:
            self.transport.abort()
        elif left:
            self._await_reading()
        else:
            self.timeout_keep_alive_handler()
