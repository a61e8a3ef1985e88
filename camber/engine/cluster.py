"""The workers of a Dask cluster: on this machine, or on others.

    with Cluster.open("tcp://scheduler:8786") as engine:
        camber.train("train.de", "train.en", "my-model", engine=engine)

Results come in the order of the pieces, whenever they were computed and wherever, so they are the same bytes as on
threads. A worker that dies costs time: its pieces run again elsewhere. What all pieces share is sent to a worker once,
and made anew where the worker that had it is gone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from camber.engine.engine import Base, Part, Piece, Result, Shared
from camber.engine.in_place import dumped
from camber.errors import CamberError, SettingsError
from camber.progress import log

LOCAL_PREFIX = "local:"
#: pieces that are under way, for each thread of the workers: enough to keep all busy, few enough to bound memory
AHEAD = 2
#: seconds to wait for a scheduler
PATIENCE = 10.0
#: seconds after which a cluster without any worker is given up, and between two looks whether it has some
ABANDONED, _LOOK = 60.0, 5.0
#: how often what is blamed for the end of workers is tried alone before it is named
TRIALS = 3
_SHARED = "shared-"  # how keys of what all pieces share begin
_INSTALL = "pip install 'camber[cluster]'"


class ClusterError(CamberError):
    """A cluster that cannot be reached, was lost, or does not fit."""


class _NoWorkers(Exception):
    """Nobody is there who could work."""


@dataclass
class Cluster:
    """Run tasks on the workers of a cluster."""

    client: Any  # distributed.Client
    where: str
    folder: Path | None = None  # what is below it, all machines see under the same name
    _owned: list[Any] = field(default_factory=list)  # what to close, last first
    _own_workers: tuple[Any, int] | None = None  # a cluster that was started for this, and how many it shall have

    @classmethod
    def open(cls, where: str, folder: str | Path | None = None) -> Cluster:
        """Connect to a scheduler (``tcp://host:port``), or start so many workers on this machine (``local:4``).

        `folder`: arrays in files below it are not sent, since all workers can open them under the same name; workers of
        this machine see all that there is.
        """
        try:
            import distributed
        except ImportError:
            raise ClusterError(f"--cluster needs Dask: {_INSTALL}") from None
        if where.startswith(LOCAL_PREFIX):
            return cls._local(distributed, where)
        if "://" not in where:
            raise SettingsError(
                f"--cluster {where!r}; expected tcp://host:port of a scheduler, or local:N for N workers"
            )
        try:
            client = distributed.Client(where, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {where} ({error or type(error).__name__}); start one with `dask scheduler`, "
                "and workers with `dask worker ADDRESS`"
            ) from None
        cluster = cls(client, where, None if folder is None else Path(folder).resolve(), [client])
        try:
            cluster.check()
        except BaseException:
            cluster.close()
            raise
        return cluster

    @classmethod
    def _local(cls, distributed: Any, where: str) -> Cluster:
        count = where.removeprefix(LOCAL_PREFIX)
        if not count.isascii() or not count.isdecimal() or not 1 <= int(count) <= 1024:
            raise SettingsError(f"--cluster {where!r}; expected local:N with a number of workers, such as local:2")
        try:
            workers = distributed.LocalCluster(
                n_workers=int(count),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
                memory_limit=0,
            )
        except (OSError, RuntimeError) as error:
            raise ClusterError(
                f"workers could not be started here ({error}); a script of yours must keep what it does below "
                'if __name__ == "__main__", since workers import it'
            ) from None
        client = distributed.Client(workers, timeout=PATIENCE, set_as_default=False)
        return cls(client, where, Path("/").resolve(), [workers, client], (workers, int(count)))

    def check(self) -> None:
        """Refuse workers of another version: their results would be others."""
        try:
            if not self.client.scheduler_info(n_workers=-1)["workers"]:
                raise ClusterError(f"the scheduler at {self.where} has no workers; start some with `dask worker`")
            told, processors = self.client.run(_facts), {*self.client.run(_processor).values(), _processor()}
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"a worker of {self.where} has no {error.name}: install the same there as here"
            ) from None
        except pickle.UnpicklingError as error:
            raise ClusterError(f"a worker of {self.where} cannot read what is sent to it: {error}") from None
        for address, facts in told.items():
            _compare(facts, address)
        if len(processors) > 1:
            log.warning(
                "the machines have different processors (%s): results may differ from those of one of them in the last "
                "digits, and from run to run", ", ".join(sorted(processors)),
            )  # fmt: skip

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; workers that were started for it end."""
        while self._owned:
            with contextlib.suppress(Exception):
                self._owned.pop().close()

    def map(self, task: Callable[[Shared, Piece], Result], shared: Shared, pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``task(shared, piece)`` for every piece, in their order."""
        with contextlib.closing(_Pieces(self, task, shared)) as under_way:
            for _, (done, value) in under_way.done(pieces, self._fetched):
                if not done:
                    raise value
                yield value

    def _replenish(self) -> None:
        """Start workers of our own again that Dask gave up.

        It does so where a worker died, and is just being started once more 15 seconds later since it died again.
        """
        if self._own_workers is not None:
            workers, count = self._own_workers
            if len(workers.workers) < count:
                workers.scale(count)

    @property
    def parts(self) -> int:
        """As many as there are workers."""
        return max(1, len(self.client.nthreads()))

    def exchange(
        self,
        split: Callable[[Shared, Piece], Sequence[Part]],
        shared: Shared,
        pieces: Iterable[Piece],
        merge: Callable[[Base, Iterable[Part]], Result],
        bases: Sequence[Base],
    ) -> Iterator[Result]:
        """Yield each base merged with its parts of all pieces, which go from worker to worker."""
        with contextlib.closing(_Pieces(self, split, shared)) as under_way:
            rows = list(under_way.done(pieces, self._finished))
            with contextlib.closing(_Merging(under_way, rows, merge, bases)) as merging:
                for done, value in merging.done():
                    if not done:
                        raise value
                    yield value

    def _finished(self, future: Any) -> Any:
        """Wait for a future, whose result stays where it is."""
        if error := self._wait(future.exception):
            raise error
        return future

    def _was_killed(self, future: Any) -> bool:
        """Wait for a future, and say whether all workers that tried it died."""
        from distributed.scheduler import KilledWorker

        return isinstance(self._wait(future.exception), KilledWorker)

    def _fetched(self, future: Any) -> Any:
        self._finished(future)
        return self._wait(future.result, longer=2.0)  # the worker that has it may die before it is fetched

    def _wait(self, ask: Callable[..., Any], *, longer: float = 1.0) -> Any:
        """Ask a future until it answers; a cluster that has no workers for long is given up.

        What is sent is sent anew each time, so that every wait must be `longer` for it.
        """
        left_alone, patience = 0.0, _LOOK
        while True:
            with contextlib.suppress(TimeoutError):
                return ask(timeout=patience)
            self._replenish()
            left_alone = 0.0 if self.client.nthreads() else left_alone + patience
            if left_alone >= ABANDONED:
                raise _NoWorkers
            patience *= longer

    @contextlib.contextmanager
    def _telling(self, piece: str) -> Iterator[None]:
        """Turn what may happen to a cluster into errors that say what to do; `piece` is what was at work."""
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as error:
            if str(error.task).startswith(_SHARED):
                piece = f"what {piece} shares with the others"
            raise ClusterError(
                f"{piece} ended every worker that tried it, {error.last_worker.address} last: does it need more memory "
                "than they may take? give them more (`dask worker --memory-limit`), or run it here, without --cluster"
            ) from None
        except _NoWorkers:
            raise ClusterError(
                f"the cluster at {self.where} has had no workers for {ABANDONED:.0f} seconds while {piece} waited: "
                "they died, perhaps for want of memory, and nobody started them again; when there are some, run the "
                "same command: what was finished is kept"
            ) from None
        except (CommClosedError, CancelledError, FutureCancelledError, TimeoutError, ConnectionError) as error:
            log.debug("cluster: %r", error)
            raise ClusterError(
                f"the cluster at {self.where} was lost while {piece} was computed; when it is there again, run the "
                "same command: what was finished is kept"
            ) from None


class _Pieces:
    """The pieces of a map that are under way on a cluster."""

    def __init__(self, cluster: Cluster, task: Callable[..., Any], shared: Any) -> None:
        self.cluster, self.task, self.shared = cluster, task, shared
        self.name, self.run = _name(task), uuid.uuid4().hex[:8]
        self._loaded: Any = None
        self._waiting: deque[tuple[int, bytes, Any]] = deque()

    def place(self, number: int) -> str:
        """Say which piece that is."""
        return f"piece {number + 1} of {self.name}"

    def done(self, pieces: Iterable[Any], take: Callable[[Any], Any]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each piece and what `take` makes of its future, in their order, when it is over."""
        cluster, client = self.cluster, self.cluster.client
        with cluster._telling(self.name):
            cluster._replenish()
            most = AHEAD * max(1, sum(client.nthreads().values()))
        for number, piece in enumerate(pieces):
            with cluster._telling(self.name):
                if self._loaded is None:
                    # a task, not data: what it makes is made anew if the worker that has it dies
                    blob = dumped((self.task, self.shared), cluster.folder)
                    self._loaded = client.submit(pickle.loads, blob, key=f"{_SHARED}{self.run}", pure=False)
                sent = dumped(piece, cluster.folder)
                self._waiting.append((number, sent, self._submitted(number, sent)))
            if len(self._waiting) >= most:
                yield self._first(take)
        while self._waiting:
            yield self._first(take)

    def close(self) -> None:
        """Begin nothing more."""
        _let_go(future for _, _, future in self._waiting)

    def _submitted(self, number: int, sent: bytes, again: str = "") -> Any:
        key = f"{self.name}-{self.run}-{number}{again}"
        return self.cluster.client.submit(_run, self._loaded, sent, _facts(), key=key, pure=False)

    def _first(self, take: Callable[[Any], Any]) -> tuple[int, Any]:
        """Take the first piece that is under way; if all workers that tried it died, see what it does alone."""
        from distributed.scheduler import KilledWorker

        number, sent, future = self._waiting.popleft()
        with self.cluster._telling(self.place(number)):
            try:
                return number, take(future)
            except KilledWorker:
                # whatever waits on a worker that dies is blamed, too: alone, it shows whether it is to blame
                for _, _, other in self._waiting:
                    self.cluster._wait(other.exception)
                return number, take(self._submitted(number, sent, "-alone"))


class _Merging:
    """The bases of an exchange, which workers merge with their parts of pieces.

    A worker that dies takes down what was merged there, and with it are blamed all that waited there: other merges, and
    pieces that were made anew since their results were lost. So what has ended its workers is tried again alone, when
    all pieces are there.
    """

    def __init__(
        self, split: _Pieces, rows: list[tuple[int, Any]], merge: Callable[..., Any], bases: Sequence[Any]
    ) -> None:
        self.split, self.rows, self.merge, self.bases = split, rows, merge, bases
        self.cluster, self.name = split.cluster, _name(merge)
        self._under_way: list[Any] = []  # None: its turn has passed, or it must be tried alone

    def done(self) -> Iterator[Any]:
        """Yield what becomes of each base, in their order."""
        from distributed.scheduler import KilledWorker

        with self.cluster._telling(self.name):
            self._under_way.extend(self._submitted(k) for k in range(len(self.bases)))
        for k, future in enumerate(self._under_way):
            with self.cluster._telling(f"part {k + 1} of {self.name}"):
                try:
                    merged = self.cluster._fetched(future) if future is not None else self._alone(k)
                except KilledWorker:
                    merged = self._alone(k)
            yield merged
            self._under_way[k] = None

    def close(self) -> None:
        """Begin nothing more, and let go of the pieces."""
        _let_go(future for future in self._under_way if future is not None)
        _let_go(future for _, future in self.rows)

    def _submitted(self, k: int, again: str = "") -> Any:
        client, run = self.cluster.client, f"{self.split.run}{again}"
        parts = [
            client.submit(_part, future, k, key=f"part-{run}-{number}-{k}", pure=False) for number, future in self.rows
        ]
        sent = dumped((self.merge, self.bases[k]), self.cluster.folder)
        return client.submit(_merge, sent, parts, _facts(), key=f"{self.name}-{run}-{k}", pure=False)

    def _alone(self, k: int) -> Any:
        """Return what becomes of a base when nothing else is under way."""
        from distributed.scheduler import KilledWorker

        pieces = {future.key for _, future in self.rows}
        for trial in range(TRIALS):
            self._clear()
            for number, future in self.rows:
                self._remake(number, future)
            try:
                return self.cluster._fetched(self._submitted(k, f"-alone-{trial}"))
            except KilledWorker as error:
                # pieces that were lost with the workers are made anew beside it, and may be blamed once more
                if error.task not in pieces or trial + 1 == TRIALS:
                    raise
        raise AssertionError

    def _clear(self) -> None:
        """Wait for all that is under way, and take away what is blamed: it would begin again with its pieces."""
        for k, future in enumerate(self._under_way):
            if future is not None and self.cluster._was_killed(future):
                _let_go([future])
                self._under_way[k] = None

    def _remake(self, number: int, future: Any) -> None:
        """Wait until the result of a piece is there; if it is blamed for the end of workers, let it show that alone."""
        from distributed.scheduler import KilledWorker

        client = self.cluster.client
        with self.cluster._telling(self.split.place(number)):
            for trial in range(TRIALS):
                # what the client knows of the piece may be late; a task that needs it is told by the scheduler
                key = f"there-{self.split.run}-{number}-{uuid.uuid4().hex[:8]}"
                try:
                    self.cluster._finished(client.submit(_is_there, future, key=key, pure=False))
                    return
                except KilledWorker:
                    if trial + 1 == TRIALS:
                        raise
                    client.retry([future])


def _let_go(futures: Iterable[Any]) -> None:
    """Tell the scheduler that nobody here wants these: what has not begun does not begin.

    Cancelling them would do more than that, and where something depends on them that has no future of its own, as the
    merges of an exchange do by their parts, the scheduler then drops the connection of the client.
    """
    for future in futures:
        with contextlib.suppress(Exception):
            future.release()


def _name(task: Callable[..., Any]) -> str:
    return f"{task.__module__}.{task.__qualname__}"


def _run(loaded: tuple[Callable[..., Any], Any], piece: bytes, facts: tuple[tuple[str, str], ...]) -> tuple[bool, Any]:
    """Run a task on a worker; return whether it ended well, and its result or its error."""
    _compare(facts, "the command that sent this work", mine=_facts())
    task, shared = loaded
    try:
        return True, task(shared, pickle.loads(piece))
    except CamberError as error:
        return False, error


def _part(told: tuple[bool, Any], number: int) -> tuple[bool, Any]:
    """Take one part of what a piece gave, or its error."""
    done, parts = told
    return (True, parts[number]) if done else told


def _is_there(_: tuple[bool, Any]) -> None:
    """Need what a piece gave."""


def _merge(sent: bytes, parts: list[tuple[bool, Any]], facts: tuple[tuple[str, str], ...]) -> tuple[bool, Any]:
    """Merge a base with its parts on a worker; return whether all ended well, and the result or the first error."""
    _compare(facts, "the command that sent this work", mine=_facts())
    for told in parts:
        if not told[0]:
            return told
    merge, base = pickle.loads(sent)
    try:
        return True, merge(base, (part for _, part in parts))
    except CamberError as error:
        return False, error


def _compare(facts: tuple[tuple[str, str], ...], who: str, mine: tuple[tuple[str, str], ...] | None = None) -> None:
    """Refuse versions that differ from ours."""
    own = dict(mine or _facts())
    other = [f"{what} {version} there, {own.get(what)} here" for what, version in facts if own.get(what) != version]
    if other:
        raise ClusterError(
            f"{who} and this process are not alike: {'; '.join(other)}. Results would differ: install the same "
            "versions on all machines"
        )


@functools.cache
def _facts() -> tuple[tuple[str, str], ...]:
    """Return what must be equal on all machines."""
    import numpy

    import camber
    from camber.kernel.compiler import versions

    package = Path(camber.__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return (
        ("Camber", camber.__version__),
        ("Camber's source", digest.hexdigest()[:12]),
        ("Python", ".".join(map(str, sys.version_info[:2]))),
        ("NumPy", numpy.__version__),
        ("Numba", versions()[0]),
    )


def _processor() -> str:
    from camber.kernel.compiler import versions

    return versions()[1]
