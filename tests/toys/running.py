"""`camber serve` as users run it: a process of its own, on a free port of this machine, bounded in time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

#: seconds that it may take to start, and to stop
_PATIENCE = 60
COMMAND = [sys.executable, "-c", "from camber.cli import main; main()", "serve"]


class Running:
    """`camber serve` in a process of its own."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments), "--port", "0", "--threads", "1"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        )
        self.log: list[str] = []
        stop = threading.Timer(_PATIENCE, self.process.kill)
        stop.start()
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if match := re.search(r"serving on (http://[\d.]+:\d+)", line):
                self.url = match[1]
                break
        else:
            raise RuntimeError("".join(self.log))
        stop.cancel()
        self._reader = threading.Thread(target=self.log.extend, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def stop(self) -> int:
        """End the server as a service manager does, and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._reader.join(10)
