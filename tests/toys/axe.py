"""axe-core, which finds what bars people from a page, as far as a program can see it."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from toys.browser import Browser


@functools.cache
def _source() -> tuple[str, str]:
    """Return the source from npm, or why there is none."""
    if not shutil.which("npm"):
        return "", "no npm to get axe-core from"
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        source = Path(folder) / "node_modules" / "axe-core" / "axe.min.js"
        if done.returncode or not source.is_file():
            return "", f"npm gave no axe-core: {done.stderr[-200:]}"
        return source.read_text("utf-8"), ""


def serious(window: Browser) -> list[tuple[str, str, str]]:
    """Return what bars somebody from what a window shows: the rule, an element, what to mend; skip without axe-core."""
    source, missing = _source()
    if missing:
        pytest.skip(missing)
    window.run("window.module = undefined; " + source + "; window.axe = axe;")
    window.run("window.found = null; axe.run().then(r => { window.found = r.violations })")
    found = window.wait("return window.found && JSON.stringify(window.found)")
    return [
        (item["id"], item["nodes"][0]["html"], item["nodes"][0]["failureSummary"])
        for item in json.loads(found)
        if item["impact"] in ("serious", "critical")
    ]
