"""What a server knows and does, whatever protocol asks: models, languages, keys, and the way of a request.

house = House([Hosted("my-model")], ServeSettings())
found = await house.translate(["Bonjour."], house.model("fr", "en"), until=house.deadline())
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple

from camber.engine.threads import default_threads
from camber.errors import CamberError, InUseError
from camber.formats.glossary.glossary import Glossary
from camber.memory.match import Match
from camber.model.asking import Request
from camber.progress import log
from camber.serve.calls import Busy, Call, Refusal
from camber.serve.detect import Detected, Detector, counts_of
from camber.serve.documents import Documents
from camber.serve.glossaries import Glossaries
from camber.serve.hosted import Hosted
from camber.serve.jobs import Best, Decoding, Options
from camber.serve.kept import Kept
from camber.serve.keys import LEARN, MATCH, TRANSLATE, Key, Keys
from camber.serve.languages import base_code, in_order, resolve
from camber.serve.metrics import Metrics
from camber.serve.places import Places
from camber.serve.settings import ECHO, ServeSettings
from camber.serve.texts import Pieces, longest_line, pieces_of
from camber.text.tags import TEXT

#: requests whose long bodies are read at a time
_BODIES = 32
#: the share of a deadline after which those who came last are served first
_PATIENCE = 0.75


class Translated(NamedTuple):
    """A text in pieces, each with its best translations."""

    pieces: Pieces
    found: Sequence[Best]

    @property
    def text(self) -> str:
        """The best translation of the whole."""
        return self.pieces.join([best[0].text for best in self.found])


class House:
    """Everything behind the protocols."""

    def __init__(
        self,
        models: Sequence[Hosted],
        settings: ServeSettings,
        keys: Keys | None = None,
        threads: int = 0,
        glossaries: Path | None = None,
    ) -> None:
        self.models: dict[tuple[str, str], Hosted] = {}
        for model in models:
            pair = model.source, model.target
            if pair in self.models:
                raise CamberError(
                    f"{model.path} and {self.models[pair].path} both translate {'-'.join(pair)}; serve one of them, or "
                    f"give one another name: {'-'.join(pair)}-x-other={model.path}"
                )
            self.models[pair] = model
        self.settings, self.keys, self.metrics = settings, keys, Metrics()
        self.glossaries = Glossaries(glossaries)
        self.decoding = Decoding(threads or default_threads(), settings.batch, settings.cache, self.metrics)
        self.ready = False
        patience = _PATIENCE * settings.deadline
        self._places, self._bodies = Places(settings.queue, patience), Places(_BODIES, patience)
        self._detector: asyncio.Task[Detector] | None = None
        self._aside = ThreadPoolExecutor(1, "aside")  # what takes a moment and is not decoding
        self._changes = ThreadPoolExecutor(1, "changes")  # of models
        self._slowly = ThreadPoolExecutor(1, "slowly")  # what takes seconds
        self._watching: asyncio.Task[None] | None = None
        self.documents = Documents(self)
        self.drawings = Kept()
        self.metrics.gauge("camber_models", "Models that are served.", lambda: len(self.models))
        self.metrics.gauge("camber_cache_texts", "Translations that are remembered.", lambda: len(self.decoding.cache))

    # --- its day -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Begin to work."""
        self.decoding.start()
        if self.settings.reload:
            self._watching = asyncio.create_task(self._watch())
        self.ready = True

    async def close(self) -> None:
        """Finish what was accepted, and end."""
        self.ready = False
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.to_thread(self.decoding.close)
        self._aside.shutdown()
        self._changes.shutdown()
        self._slowly.shutdown(wait=False, cancel_futures=True)
        self.documents.close()

    async def _watch(self) -> None:
        """Open models again that were replaced, or that others added pairs to."""
        while True:
            await asyncio.sleep(self.settings.reload)
            try:
                for model in self.models.values():
                    if model.changed() and await self._begun(self._changes, model.reopen):
                        self._detector = None
                        self._replaced()
                if self.keys is not None:
                    self.keys.refresh()
            except (CamberError, OSError) as error:
                log.warning("%s", error)
            except Exception:  # or nothing would be looked at any more
                log.exception("models and keys could not be looked at")

    def _replaced(self) -> None:
        self.decoding.cache.forget(
            lambda options: any(model.serves(options.translator) for model in self.models.values())
        )
        self.metrics.count("camber_reloads_total", "Models that were opened again.")

    async def aside(self, work: Any, *arguments: Any, until: float = math.inf) -> Any:
        """Do something that takes a moment while requests go on; :class:`Busy` if it has not begun `until` then."""
        return await self._begun(self._aside, work, *arguments, until=until)

    @staticmethod
    async def _begun(threads: ThreadPoolExecutor, work: Any, *arguments: Any, until: float = math.inf) -> Any:
        waiting = threads.submit(work, *arguments)
        doing = asyncio.wrap_future(waiting)
        left = until - asyncio.get_running_loop().time()
        await asyncio.wait([doing], timeout=None if left == math.inf else max(left, 0.0))
        if not doing.done() and waiting.cancel():
            raise Busy
        return await doing

    async def slowly(self, work: Any, *arguments: Any) -> Any:
        """Do something that takes seconds, after whatever else does."""
        return await asyncio.get_running_loop().run_in_executor(self._slowly, work, *arguments)

    # --- who may what ------------------------------------------------------------------------------------------------

    def allowed(self, call: Call, right: str = TRANSLATE) -> Key | None:
        """Return the key of a request that has this right; refuse it otherwise.

        Without keys, all may translate; but pages of others may neither see nor change what a memory holds.
        """
        key = self.keys.find(call.key) if self.keys is not None and call.key else None
        if self.keys is not None and key is None:
            if call.key:
                raise Refusal(403, "Invalid API key")
            raise Refusal(400, "Please contact the server operator to get an API key")
        if right == LEARN and not self.settings.learn and not (key and LEARN in key.rights):
            raise Refusal(403, "This server does not learn: start it with --learn, or use a key that may")
        if right in (LEARN, MATCH) and key is None and call.foreign:
            raise Refusal(403, "What memories and glossaries hold is for pages of others only with a key")
        return key

    def may_learn(self, call: Call) -> bool:
        """Say whether a request may add to a model."""
        try:
            self.allowed(call, LEARN)
        except Refusal:
            return False
        return True

    def deadline(self) -> float:
        """Return when a request that comes now must be answered, on the clock of the event loop."""
        return asyncio.get_running_loop().time() + self.settings.deadline

    def place(self, until: float, *, to_read: bool = False) -> AbstractAsyncContextManager[None]:
        """Hold one of the places for requests; :class:`Busy` if none becomes free in time.

        Places `to_read` are for those whose body is long: there are few, so that senders who never end keep nobody
        from work.
        """
        return (self._bodies if to_read else self._places).one(until)

    # --- languages ---------------------------------------------------------------------------------------------------

    @property
    def codes(self) -> list[str]:
        """All languages that models translate from or to, by name."""
        return in_order(code for pair in self.models for code in pair)

    @property
    def sources(self) -> list[str]:
        """The languages that models translate from."""
        return in_order(source for source, _ in self.models)

    def targets(self, source: str) -> list[str]:
        """Return the languages that models translate a language to."""
        return in_order(target for own, target in self.models if own == source)

    def language(self, code: str) -> str | None:
        """Return the served language that a code means (see :func:`camber.serve.languages.resolve`)."""
        return resolve(code, self.codes)

    def model(self, source: str, target: str) -> Hosted | None:
        """Return the model for a pair of languages, however their codes are written; None if there is none."""
        code = resolve(source, self.sources)
        wanted = resolve(target, self.targets(code)) if code else None
        return self.models[code, wanted] if code and wanted else None

    @property
    def echoes(self) -> bool:
        """Whether pairs that no model serves come back as they are."""
        return self.settings.unknown_pairs == ECHO

    @staticmethod
    def same(source: str, target: str) -> bool:
        """Say whether two codes mean one language: there is nothing to translate."""
        return base_code(source) == base_code(target)

    async def detector(self) -> Detector:
        """Return what tells languages apart; it learns when it is first asked for."""
        if self._detector is None:
            known = [(*pair, model.translator) for pair, model in self.models.items()]
            self._detector = asyncio.create_task(self.aside(lambda: Detector(counts_of(known))))
        return await asyncio.shield(self._detector)  # others may wait for it, too

    async def detect(self, text: str) -> list[Detected]:
        """Return the languages that a text may be in, the most probable first."""
        detector = await self.detector()
        found = detector.detect(text)
        return found or [Detected(self.codes[0], 0.0)]

    # --- translating -------------------------------------------------------------------------------------------------

    def check_sizes(self, texts: Sequence[str]) -> None:
        """Refuse more text than one request may have."""
        told = "Invalid request: request ({}) exceeds {} limit ({})"
        if len(texts) > self.settings.batch_limit:
            raise Refusal(400, told.format(len(texts), "batch", self.settings.batch_limit))
        letters = sum(map(len, texts))
        if letters > self.settings.char_limit:
            raise Refusal(400, told.format(letters, "text", self.settings.char_limit))
        longest = max(map(longest_line, texts), default=0)
        if longest > self.settings.sentence_limit:
            raise Refusal(400, told.format(f"a line of {longest} words", "sentence", self.settings.sentence_limit))

    def options(
        self,
        model: Hosted,
        nbest: int = 1,
        format: str = TEXT,
        glossary: Glossary | None = None,
        *,
        split: bool = True,
        tokens: bool = False,
        confidence: bool = False,
    ) -> Options:
        """Return how texts are to be translated; a model that was trained without protected text knows no mark-up."""
        if tokens:
            return Options(model.translator, nbest, tokens=True)
        if not model.translator.text.protects:
            format = TEXT
        if "terms" in model.translator.decoder.takes:
            glossary = glossary or model.glossary
        elif glossary is not None:
            raise Refusal(400, f"the model {model.name} takes no glossary")
        return Options(model.reading(split=split), nbest, format, glossary, confidence)

    async def translate(
        self, texts: Sequence[str], options: Options, until: float, requests: Iterable[Request] = ()
    ) -> list[Translated]:
        """Translate texts, each in pieces; :class:`Busy` if that is not done `until` then."""
        begin = time.monotonic()
        split = [pieces_of(text, options.format) for text in texts]
        given = [*requests] or [Request()] * len(texts)
        flat = [piece for pieces in split for piece in pieces.texts]
        asked = [
            request if first else Request(request.glossary)  # a beginning is that of the first piece
            for pieces, request in zip(split, given, strict=True)
            for first in [True, *[False] * len(pieces.texts)][: len(pieces.texts)]
        ]
        found = iter(await self.decoding.translations(options, flat, asked, until))
        translated = [Translated(pieces, [next(found) for _ in pieces.texts]) for pieces in split]
        self._count(texts, begin)
        if self.settings.log_text:
            for text, item in zip(texts, translated, strict=True):
                log.info("translated %r to %r", text, item.text)
        return translated

    def _count(self, texts: Sequence[str], begin: float) -> None:
        took = time.monotonic() - begin
        self.metrics.count("camber_characters_total", "Characters that were translated.", sum(map(len, texts)))
        self.metrics.observe("camber_translate_seconds", "Seconds from a request to its translation.", took)

    async def translate_tokens(self, texts: Sequence[str], options: Options, until: float) -> list[Best]:
        """Translate texts that are tokens already; nothing is found for a text without any."""
        begin = time.monotonic()
        rows = [row for row, text in enumerate(texts) if text.split()]
        free = [Request()] * len(rows)
        found = await self.decoding.translations(options, [texts[row] for row in rows], free, until)
        self._count(texts, begin)
        by_row = dict(zip(rows, found, strict=True))
        return [by_row.get(row, []) for row in range(len(texts))]

    async def matches(
        self, model: Hosted, text: str, count: int, threshold: float = 0.5, *, until: float = math.inf
    ) -> list[Match]:
        """Return what the memory of a model has like a text, the most alike first."""
        memory = model.translator.memory
        if memory is None or not count or not any(map(str.isalnum, text)):
            return []
        found: list[Match] = await self.aside(memory.matches, text, threshold, count, until=until)
        return found

    async def learn(
        self, model: Hosted, source: str, target: str, key: Key | None = None, *, until: float = math.inf
    ) -> int:
        """Add a pair to a model, in the name of a key; whoever asks next gets the model that knows it."""
        if not any(map(str.isalnum, source)) or not any(map(str.isalnum, target)):
            raise Refusal(400, "Invalid request: a pair needs words on both sides")
        if "\n" in source.strip() or "\n" in target.strip():
            raise Refusal(400, "Invalid request: a pair is one line on each side")
        self.check_sizes([source, target])
        count = await self._change(until, model, model.add, source.strip(), target.strip(), key.name if key else "")
        self.metrics.count("camber_learnt_total", "Pairs that were added to models.", count)
        return count

    async def forget(
        self, model: Hosted, source: str, target: str, key: Key | None = None, *, until: float = math.inf
    ) -> int:
        """Take a pair of a memory back, in the name of a key; whoever asks next gets the model without it."""
        count = await self._change(until, model, model.forget, source, target, key.name if key else "")
        self.metrics.count("camber_forgotten_total", "Pairs that were taken back from models.", count)
        return count

    async def _change(self, until: float, model: Hosted, change: Callable[..., int], *arguments: str) -> int:
        """Change a model, to the end: also if whoever asked for it goes away meanwhile."""

        async def whole() -> int:
            count: int = await self._begun(self._changes, change, *arguments, until=until)
            self._replaced()
            return count

        try:
            return await asyncio.shield(asyncio.create_task(whole()))
        except CamberError as error:
            ours = isinstance(error, InUseError) or isinstance(error.__cause__, OSError)  # nothing that was asked for
            if ours:
                log.warning("%s", error)
                raise Refusal(503, f"{model.name}: cannot be written at the moment", retry_after=10) from None
            raise Refusal(400, str(error).replace(str(model.path), model.name)) from None
