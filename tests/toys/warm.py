"""A camber that is warm: a process that has everything imported, and forks for each command that it is asked to run.

A page of documentation has dozens of commands, each of which would take a second to import what it needs. This is such
a process, and its `folder` has an executable `camber` that asks it, with the arguments, the working directory, the
environment, and the standard streams of whoever calls it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

#: what stands in for the command: Python without anything, for a start of some milliseconds
_CLIENT = """#!{python} -ISE
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({place!r})
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(line, [len(asked).to_bytes(8, "big")], [0, 1, 2])
line.sendall(asked)
pid = int.from_bytes(line.recv(8), "big")
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = line.recv(1)
sys.exit(code[0] if code else 70)
"""


class Warm:
    """The process, which ends with the `with` block that it is made for, together with all that it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        place = folder / "socket"
        client = folder / "camber"
        client.write_text(_CLIENT.format(python=sys.executable, place=str(place)))
        client.chmod(0o755)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(place))
        listener.listen()
        code = f"import sys; sys.path[:0] = {sys.path!r}; from toys.warm import serve; serve({listener.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], pass_fds=[listener.fileno()], start_new_session=True
        )
        listener.close()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def serve(listening: int) -> None:
    """Answer whoever asks, each in a process of its own, until killed."""
    _import()
    listener = socket.socket(fileno=listening)
    while True:
        line, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _answer(line)
        line.close()
        with contextlib.suppress(ChildProcessError):  # those that have ended, so that none is left
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _import() -> None:
    """Import what commands need, kernels included, of which those that forked then have copies."""
    from camber.cli import VERBS, cli

    for verb in VERBS:
        cli.get_command(None, verb)  # type: ignore[arg-type]


def _answer(line: socket.socket) -> None:
    """Run the command that is asked for, in this process, and end it."""
    head, streams, _, _ = socket.recv_fds(line, 8, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "big"):
        asked += line.recv(1 << 20)
    arguments, folder, environment = json.loads(asked)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    line.sendall(os.getpid().to_bytes(8, "big"))
    line.sendall(bytes([_run(["camber", *arguments])]))
    os._exit(0)


def _run(arguments: list[str]) -> int:
    """Run `camber` as the command does, and return its exit code."""
    import traceback

    from camber.cli import main

    sys.argv = arguments
    code: Any = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    return code if isinstance(code, int) else int(code is not None)
