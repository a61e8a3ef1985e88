"""Files that are translated by way of the queue: other requests go on meanwhile, and progress is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from camber.errors import CamberError
from camber.model.asking import Request
from camber.pipeline.translate_file import translate_data
from camber.progress import log
from camber.serve.calls import Refusal
from camber.serve.hosted import Hosted
from camber.serve.jobs import Best
from camber.serve.kept import Kept
from camber.text.tags import TEXT

if TYPE_CHECKING:  # it has one of these
    from camber.serve.house import House

#: texts that are in the queue at a time, for one file
_CHUNK = 32


class Documents:
    """Translates files, and keeps the results for a while."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.finished = Kept()
        self._threads = ThreadPoolExecutor(2, "files")

    async def translate(self, data: bytes, name: str, model: Hosted) -> AsyncIterator[dict[str, Any]]:
        """Yield how far the translation of a file is, and at its end where to fetch it."""
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        queued = _Queued(self.house, model, loop, told)
        work = loop.run_in_executor(self._threads, lambda: translate_data(queued, data, name))  # type: ignore[arg-type]
        work.add_done_callback(lambda _: told.put_nowait({}))
        try:
            while progress := await told.get():
                yield progress
            try:
                translated, report = await work
            except (CamberError, Refusal) as error:
                yield {"error": str(error)}
                return
            except Exception:
                log.exception("a file could not be translated")
                yield {"error": "this file could not be translated"}
                return
            new = _new_name(name, model.target)
            id = self.finished.keep(new, translated)
            yield {"id": id, "name": new, "report": report.to_dict(), "summary": str(report)}
        finally:
            queued.stopped = True

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _new_name(name: str, target: str) -> str:
    """Return the name of a translated file.

    >>> _new_name("manual.xliff", "en"), _new_name("notes", "en")
    ('manual.en.xliff', 'notes.en')
    """
    stem, dot, ending = name.rpartition(".")
    return f"{stem}.{target}.{ending}" if dot and stem else f"{name}.{target}"


class _Queued:
    """What `translate_data` needs of a translator; texts go through the queue of the house."""

    def __init__(
        self, house: House, model: Hosted, loop: asyncio.AbstractEventLoop, told: asyncio.Queue[dict[str, Any]]
    ) -> None:
        self.house, self.model, self.loop, self.told = house, model, loop, told
        self.text = model.translator.text
        self.stopped = False

    def translations(self, lines: Iterable[str], *, format: str = TEXT, **_: Any) -> Iterator[Best]:
        """Yield the translations of lines."""
        texts = list(lines)
        options = self.house.options(self.model, format=format)
        for first in range(0, len(texts), _CHUNK):
            if self.stopped or not self.house.ready:
                raise CamberError("the translation was stopped")
            chunk = texts[first : first + _CHUNK]
            found = asyncio.run_coroutine_threadsafe(self._decoded(chunk, options), self.loop).result()
            progress = {"done": first + len(chunk), "total": len(texts)}
            self.loop.call_soon_threadsafe(self.told.put_nowait, progress)
            yield from found

    async def _decoded(self, texts: list[str], options: Any) -> list[Best]:
        return await self.house.decoding.translations(
            options, texts, [Request()] * len(texts), self.house.deadline() + len(texts)
        )
