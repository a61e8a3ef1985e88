"""The version stands in four files, which agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import camber

HOME = Path(__file__).resolve().parents[1]


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == camber.__version__
    citation = (HOME / "CITATION.cff").read_text("utf-8")
    released = re.findall(r"^## \[([\d.]+)\] - (\S+)$", (HOME / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert released[0] == (camber.__version__, *re.findall(r"^date-released: (\S+)$", citation, re.MULTILINE))
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [camber.__version__]
