"""Compile every kernel ahead of time, by using each once on a tiny corpus, in as many processes as there are cores.

The pieces of work (`tiny.py`) go one by one to whoever is free. Two pieces may want the same kernel: then the process
that comes second waits for the first one's (`camber.kernel`).
"""

from __future__ import annotations

import gc
import logging
import os
import queue
import subprocess
import sys
import threading
import time

from camber.errors import CamberError
from camber.kernel import cache_folder, tell_compiled
from camber.progress import Step, log, step

#: what a process runs that works on pieces
_WORKER = "from camber.pipeline.warmup import work; work()"


def warm_up(processes: int | None = None) -> None:
    """Run every stage on a few sentence pairs; the compiled code stays in the cache folder."""
    start = time.monotonic()
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    workers: list[_Worker] = []
    try:
        for _ in range(max(1, processes or _cores())):
            workers.append(_Worker(waiting))
        from camber.pipeline.tiny import PIECES  # takes a second, in which the processes begin

        for piece in PIECES:
            waiting.put(piece.__name__)
        with step("warm up", total=len(PIECES), unit="pieces") as done:
            for worker in workers:
                worker.done = done
                worker.start()
            for worker in workers:
                worker.join()
    finally:
        for worker in workers:
            worker.stop()
    failed = [worker.failed for worker in workers if worker.failed]
    if failed:
        raise CamberError(f"kernels could not be compiled: {failed[0]}")
    log.info("the kernels are compiled, in %s (%.1f s)", cache_folder(), time.monotonic() - start)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker(threading.Thread):
    """Gives pieces to a process, one when the one before is done, and tells which kernels it compiles."""

    done: Step  # to be told of pieces

    def __init__(self, waiting: queue.SimpleQueue[str]) -> None:
        super().__init__(daemon=True)
        self.waiting, self.failed = waiting, ""
        variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | os.environ
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=variables,
        )

    def run(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            while True:
                piece = self.waiting.get_nowait()
                print(piece, file=self.process.stdin, flush=True)
                for line in self.process.stdout:
                    what, *rest = line.rstrip("\n").split("\t")
                    if what == "done":
                        self.done.add()
                        break
                    log.info("compiled %s (%s s)", *rest)
                else:
                    self.failed = f"the process at work on {piece!r} ended"
                    return
        except queue.Empty:
            self.process.stdin.close()
        except OSError as error:
            self.failed = str(error)

    def stop(self) -> None:
        """End the process, whatever it does."""
        if self.process.poll() is None:
            if self.failed or self.is_alive() or self.ident is None:  # the last: never begun
                self.process.kill()
            self.process.wait()


def work() -> None:
    """Do the pieces that standard input names, and tell on standard output what was compiled and when one is done."""
    gc.disable()  # looking for garbage took an eighth of the time; the process ends soon
    from camber.pipeline.tiny import PIECES, Tiny

    log.setLevel(logging.ERROR)  # what a tiny corpus gives cause to say is of no interest
    tell_compiled(lambda name, seconds: print("compiled", name, f"{seconds:.1f}", sep="\t", flush=True))
    pieces, tiny = {piece.__name__: piece for piece in PIECES}, Tiny()
    for line in sys.stdin:
        pieces[line.strip()](tiny)
        print("done", flush=True)
