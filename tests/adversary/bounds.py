"""What a reader may cost: CPU seconds and memory, measured around a call or enforced on a process of its own.

A reader of `size` bytes takes at most `SECONDS` of CPU, and `RATIO` times its input plus `ROOM` bytes of memory.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core import event

SECONDS = 2.0
RATIO, ROOM = 20, 200_000_000


class Hang(BaseException):
    """A call that took longer than it may; no reader can catch it by mistake."""


class _Compiling(event.Listener):
    """Knows whether a kernel is being compiled."""

    depth = 0

    def on_start(self, event: event.Event) -> None:
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1


def most_memory(size: int) -> int:
    """Return how many bytes the reader of an input of `size` bytes may take."""
    return RATIO * size + ROOM


def _memory(field: str) -> int | None:
    """Return a field of this process's status in bytes; None where the system has no such file."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(field + ":")), None)


def _forget_peak() -> None:
    """Let the peak of memory be what is used now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


@contextmanager
def bounded(size: int, seconds: float = SECONDS) -> Iterator[None]:
    """Let a call take no more CPU time and memory than the reader of an input of `size` bytes may.

    Time is that of the processor, so that a busy machine changes nothing, and compiling kernels does not count.
    """
    compiling = _Compiling()

    def stop(*_: object) -> None:
        if compiling.depth > 0:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            return
        raise Hang(f"more than {seconds} CPU seconds for {size:,} bytes")

    before = signal.signal(signal.SIGPROF, stop)
    _forget_peak()
    used = _memory("VmRSS")
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with event.install_listener("numba:compile", compiling):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    peak = _memory("VmHWM")
    if used is not None and peak is not None:
        assert peak - used <= most_memory(size), f"{peak - used:,} bytes of memory for an input of {size:,}"


_LIMITS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from adversary.bounds import _forget_peak, _memory
used = _memory("VmRSS") or 0
_forget_peak()
"""
_REPORT = """
peak = (_memory("VmHWM") or 0) - used
print("memory", peak)
"""


def run_alone(code: str, *, seconds: int = 20, warm: str = "", **environment: str) -> tuple[str, int]:
    """Run Python in a process of its own, which is ended after so many CPU seconds; return its output and peak memory.

    `warm` runs before the memory is looked at (imports, kernels). The limit is far above what linear work takes and far
    below what work of another order does: no test measures time.
    """
    tests = Path(__file__).parent.parent
    paths = [str(tests.parent), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", warm + _LIMITS.format(seconds=seconds) + code + _REPORT],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"
    output, _, memory = done.stdout.rpartition("memory ")
    return output.strip(), int(memory)
