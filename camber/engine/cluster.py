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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from camber.engine.engine import Piece, Result, Shared
from camber.engine.in_place import dumped
from camber.errors import CamberError, SettingsError
from camber.progress import log

LOCAL_PREFIX = "local:"
#: pieces that are under way, for each thread of the workers: enough to keep all busy, few enough to bound memory
AHEAD = 2
#: seconds to wait for a scheduler
PATIENCE = 10.0
_INSTALL = "pip install 'camber[cluster]'"


class ClusterError(CamberError):
    """A cluster that cannot be reached, was lost, or does not fit."""


@dataclass
class Cluster:
    """Run tasks on the workers of a cluster."""

    client: Any  # distributed.Client
    where: str
    folder: Path | None = None  # what is below it, all machines see under the same name
    _owned: list[Any] = field(default_factory=list)  # what to close, last first

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
        return cls(client, where, Path("/").resolve(), [workers, client])

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
        name, run = f"{task.__module__}.{task.__qualname__}", uuid.uuid4().hex[:8]
        loaded: Any = None
        waiting: deque[tuple[int, bytes, Any]] = deque()

        def submitted(number: int, sent: bytes, again: str = "") -> Any:
            key = f"{name}-{run}-{number}{again}"
            return self.client.submit(_run, loaded, sent, _facts(), key=key, pure=False)

        def result() -> Any:
            number, sent, future = waiting.popleft()
            with self._telling(name):
                if self._was_killed(future, [other for _, _, other in waiting]):
                    # whatever waits on a worker that dies is blamed, too: alone, it shows whether it is to blame
                    future = submitted(number, sent, "-alone")
            return self._result(name, number, future)

        try:
            with self._telling(name):
                most = AHEAD * max(1, sum(self.client.nthreads().values()))
            for number, piece in enumerate(pieces):
                with self._telling(name):
                    if loaded is None:
                        # a task, not data: what it makes is made anew if the worker that has it dies
                        blob = dumped((task, shared), self.folder)
                        loaded = self.client.submit(pickle.loads, blob, key=f"shared-{run}", pure=False)
                    sent = dumped(piece, self.folder)
                    future = submitted(number, sent)
                waiting.append((number, sent, future))
                if len(waiting) >= most:
                    yield result()
            while waiting:
                yield result()
        finally:
            for _, _, future in waiting:
                with contextlib.suppress(Exception):
                    future.cancel()

    def _was_killed(self, future: Any, others: list[Any]) -> bool:
        """Wait for a piece; if all workers that tried it died, also wait until no other piece is under way."""
        from distributed.scheduler import KilledWorker

        if not isinstance(future.exception(), KilledWorker):
            return False
        for other in others:
            other.exception()
        return True

    def _result(self, name: str, number: int, future: Any) -> Any:
        with self._telling(name, number):
            done, value = future.result()
        if not done:
            raise value
        return value

    @contextlib.contextmanager
    def _telling(self, name: str, number: int = -1) -> Iterator[None]:
        """Turn what may happen to a cluster into errors that say what to do."""
        from concurrent.futures import CancelledError

        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        piece = f"piece {number + 1} of {name}" if number >= 0 else name
        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"{piece} ended every worker that tried it, {error.last_worker.address} last: does it need more memory "
                "than they may take? give them more (`dask worker --memory-limit`), or run it here, without --cluster"
            ) from None
        except (CommClosedError, CancelledError, FutureCancelledError, TimeoutError, ConnectionError) as error:
            log.debug("cluster: %r", error)
            raise ClusterError(
                f"the cluster at {self.where} was lost while {piece} was computed; when it is there again, run the "
                "same command: what was finished is kept"
            ) from None


def _run(loaded: tuple[Callable[..., Any], Any], piece: bytes, facts: tuple[tuple[str, str], ...]) -> tuple[bool, Any]:
    """Run a task on a worker; return whether it ended well, and its result or its error."""
    _compare(facts, "the command that sent this work", mine=_facts())
    task, shared = loaded
    try:
        return True, task(shared, pickle.loads(piece))
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
    from camber.kernel.compile import compiler

    package = Path(camber.__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return (
        ("Camber", camber.__version__),
        ("Camber's source", digest.hexdigest()[:12]),
        ("Python", ".".join(map(str, sys.version_info[:2]))),
        ("NumPy", numpy.__version__),
        ("Numba", compiler()[0]),
    )


def _processor() -> str:
    from camber.kernel.compile import compiler

    return compiler()[1]
