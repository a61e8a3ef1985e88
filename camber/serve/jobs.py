"""Work for the decoders: texts of all requests in one queue, from which threads take what can be decoded together.

A job is what one request wants: texts for one model, with the same options. Threads take texts of several jobs in
turn, so that a long job does not hold up short ones. What nobody waits for any more is not begun.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from camber.errors import CamberError
from camber.formats.glossary.glossary import Glossary
from camber.model.asking import Request
from camber.model.translator import Translation, Translator
from camber.progress import log
from camber.serve.calls import Busy, Refusal
from camber.serve.metrics import SIZES, Metrics
from camber.serve.tokens import translate_tokens

Best = list[Translation]
#: texts of a job that is done whenever it comes, and the longer ones that are worked on at a time: were it all, none of
#: them would be done soon, and when there are too many, none in time
_SHORT, _LONG_ONES = 4, 4
#: letters after which a batch is large enough: short texts wait for the long ones that they are decoded with
_LETTERS = 4000


class Options(NamedTuple):
    """What texts must have in common to be decoded together."""

    translator: Translator[Any]
    nbest: int = 1
    format: str = "text"
    glossary: Glossary | None = None
    confidence: bool = False  # say how sure translations are
    tokens: bool = False  # texts are tokens already (see `camber.serve.tokens`)


@dataclass(eq=False)
class Job:
    """Texts of one request; results come into `done`, as they are found, with their places."""

    options: Options
    texts: Sequence[str]
    requests: Sequence[Request]
    waiting: deque[int] = field(default_factory=deque)  # places of texts that nobody has taken yet
    done: asyncio.Queue[tuple[int, Best | Exception]] = field(default_factory=asyncio.Queue)
    given_up: bool = False
    number: int = 0  # how many came before it

    @property
    def is_long(self) -> bool:
        """Whether it has so many texts that it takes turns with few others."""
        return len(self.texts) > _SHORT


class Cache:
    """The latest translations. Those of a model that was replaced are forgotten, with the model."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._found: OrderedDict[tuple[Options, str], Best] = OrderedDict()
        self._keep: Callable[[Options], bool] = lambda options: True

    def __len__(self) -> int:
        return len(self._found)

    def get(self, options: Options, text: str) -> Best | None:
        """Return what a text was translated to."""
        best = self._found.get((options, text))
        if best is not None:
            self._found.move_to_end((options, text))
        return best

    def put(self, options: Options, text: str, best: Best) -> None:
        """Remember a translation, unless it comes when its model is gone."""
        if self.size and self._keep(options):
            self._found[options, text] = best
            if len(self._found) > self.size:
                self._found.popitem(last=False)

    def forget(self, keep: Callable[[Options], bool]) -> None:
        """Forget what was not asked of one of these, and remember no such thing from now on."""
        self._keep = keep
        for key in [key for key in self._found if not keep(key[0])]:
            del self._found[key]


class Decoding:
    """Threads that decode, and the queue before them. All methods but `_work` are for the event loop."""

    def __init__(self, threads: int, batch: int, cache: int, metrics: Metrics) -> None:
        self.threads, self.batch, self.cache, self.metrics = threads, batch, Cache(cache), metrics
        self._jobs: deque[Job] = deque()
        self._numbers = itertools.count()
        self._ready = threading.Condition()
        self._idle, self._closing = threads, False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers = [threading.Thread(target=self._work, name=f"decode-{k}", daemon=True) for k in range(threads)]
        metrics.gauge("camber_queue_texts", "Texts that wait to be decoded.", lambda: self.waiting)

    @property
    def waiting(self) -> int:
        """How many texts nobody has taken yet."""
        return sum(len(job.waiting) for job in list(self._jobs))

    def start(self) -> None:
        """Start the threads; results go to the running event loop."""
        self._loop = asyncio.get_running_loop()
        for worker in self._workers:
            worker.start()

    def close(self) -> None:
        """Let the threads finish what is in the queue, then end."""
        with self._ready:
            self._closing = True
            self._ready.notify_all()
        for worker in self._workers:
            if worker.is_alive():
                worker.join()

    async def stream(
        self, options: Options, texts: Sequence[str], requests: Sequence[Request], until: float
    ) -> AsyncIterator[tuple[int, Best]]:
        """Yield the translations of texts as they are found, with their places; :class:`Busy` when that takes too long.

        All must be there `until` then, on the clock of the event loop.
        """
        free = Request()
        job = Job(options, texts, requests)
        for place, (text, request) in enumerate(zip(texts, requests, strict=True)):
            found = self.cache.get(options, text) if request == free else None
            self.metrics.count(
                "camber_cache_total",
                "Texts asked for, by whether they were remembered.",
                found="no" if found is None else "yes",
            )
            if found is None:
                job.waiting.append(place)
            else:
                job.done.put_nowait((place, found))
        if job.waiting:
            with self._ready:
                job.number = next(self._numbers)
                self._jobs.append(job)
                self._ready.notify_all()
        try:
            for _ in texts:
                if job.done.empty():  # waiting takes a turn of the event loop, which is long when there is much to do
                    try:
                        async with asyncio.timeout_at(until):
                            place, best = await job.done.get()
                    except TimeoutError:
                        raise Busy from None
                else:
                    place, best = job.done.get_nowait()
                if isinstance(best, Exception):
                    raise best
                if requests[place] == free:
                    self.cache.put(options, texts[place], best)
                yield place, best
        finally:
            job.given_up = True

    async def translations(
        self, options: Options, texts: Sequence[str], requests: Sequence[Request], until: float
    ) -> list[Best]:
        """Return the translations of texts; `until` is when they must be there, on the clock of the event loop."""
        found: list[Best] = [[]] * len(texts)
        async for place, best in self.stream(options, texts, requests, until):
            found[place] = best
        return found

    # --- in the threads ----------------------------------------------------------------------------------------------

    def _take(self) -> tuple[Options, list[tuple[Job, int]]] | None:
        """Wait for texts and take some that can be decoded together; None: there will be no more."""
        with self._ready:
            while True:
                self._jobs = deque(job for job in self._jobs if job.waiting and not job.given_up)
                if self._jobs:
                    break
                if self._closing:
                    return None
                self._ready.wait()
            options = self._jobs[0].options
            alike = [job for job in self._jobs if job.options == options]
            long = sorted(job.number for job in alike if job.is_long)[:_LONG_ONES]
            alike = [job for job in alike if not job.is_long or job.number in long]
            # other threads that have nothing to do get their share
            most = min(self.batch, -(-sum(len(job.waiting) for job in alike) // max(self._idle, 1)))
            taken: list[tuple[Job, int]] = []
            letters = 0
            for job in itertools.cycle(alike):
                if job.waiting:
                    taken.append((job, job.waiting.popleft()))
                    letters += len(job.texts[taken[-1][1]])
                if len(taken) >= most or letters >= _LETTERS:
                    break
            first = self._jobs.popleft()
            if first.waiting:
                self._jobs.append(first)
            self._idle -= 1
            return options, taken

    def _work(self) -> None:
        while (batch := self._take()) is not None:
            options, taken = batch
            begin = time.monotonic()
            results = self._decoded(options, taken)
            self.metrics.observe(
                "camber_decode_seconds", "Seconds for texts decoded together.", time.monotonic() - begin
            )
            self.metrics.observe("camber_batch_texts", "Texts decoded together.", len(taken), SIZES)
            tokens = sum(len(best[0].tokens) for best in results if not isinstance(best, Exception))
            self.metrics.count("camber_tokens_total", "Source tokens that were decoded.", tokens)
            with self._ready:
                self._idle += 1
            assert self._loop is not None
            self._loop.call_soon_threadsafe(_deliver, taken, results)

    def _decoded(self, options: Options, taken: Sequence[tuple[Job, int]]) -> list[Best | Exception]:
        """Decode a batch; where something in it cannot be translated, one by one."""
        from camber.engine import Threads

        texts = [job.texts[place] for job, place in taken]
        requests = [job.requests[place] for job, place in taken]
        try:
            if options.tokens:
                return list(translate_tokens(options.translator, texts, options.nbest))
            return list(
                options.translator.translations(
                    texts,
                    options.nbest,
                    engine=Threads(1),
                    requests=requests,
                    glossary=options.glossary,
                    format=options.format,
                    confidence=options.confidence,
                )
            )
        except Exception as error:
            if len(taken) > 1:
                return [self._decoded(options, [one])[0] for one in taken]
            if isinstance(error, CamberError):
                return [Refusal(400, str(error))]
            log.exception("a text could not be translated")
            return [Refusal(500, "this text could not be translated")]


def _deliver(taken: Sequence[tuple[Job, int]], results: Sequence[Best | Exception]) -> None:
    for (job, place), best in zip(taken, results, strict=True):
        if not job.given_up:
            job.done.put_nowait((place, best))
