"""Python in a process of its own, with its own folders."""

import os
import subprocess
import sys


def run(code: str, **environment: str) -> str:
    """Run Python in a process of its own, with only these variables about folders."""
    folders = ("HOME", "XDG_CACHE_HOME", "CAMBER_CACHE", "TMPDIR", "NUMBA_CACHE_DIR")
    variables = {name: value for name, value in os.environ.items() if name not in folders}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
