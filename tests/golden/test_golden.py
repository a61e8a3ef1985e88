"""What our tools make of our own small texts is what independent tools confirmed (see `make.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden.extracts import EXTRACTS

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", EXTRACTS)
def test_we_make_what_independent_tools_confirmed(name: str) -> None:
    golden = (HERE / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    lines = EXTRACTS[name]()
    if name != "lm_scores":
        assert lines == golden
        return
    for ours, theirs in zip(lines, golden, strict=True):  # KenLM has single precision
        assert ours.split("\t")[1] == theirs.split("\t")[1]
        assert float(ours.split("\t")[0]) == pytest.approx(float(theirs.split("\t")[0]), abs=3e-4)
