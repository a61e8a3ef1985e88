"""Compiling ahead of time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from camber.kernel.image import usable

pytestmark = pytest.mark.slow

LATER = """
import sys
from pathlib import Path
from numba.core import event
import camber.kernel

class Compiled(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
import pytest

from camber.kernel.image import usable
from camber.cli import cli
folder, files = Path(sys.argv[1]), Path(sys.argv[2])
def run(*words):
    cli([str(word) for word in words], standalone_mode=False)
run("align", "--source", files / "dev.es", "--target", files / "dev.en", "--out", folder / "align")
run("lm", "--text", files / "dev.en", "--arpa", folder / "arpa")
run("extract", "--source", files / "dev.es", "--target", files / "dev.en", "--alignment", folder / "align",
    "--out", folder / "tables")
run("train", "--source", files / "dev.es", "--target", files / "dev.en", "--model", folder / "m",
    "--lm", folder / "arpa")
run("translate", folder / "m", "--input", files / "test.es", "--output", folder / "out", "--nbest", 5,
    "--nbest-file", folder / "nbest", "--alignment-file", folder / "links")
run("match", folder / "m", "--input", files / "test.es", "--output", folder / "out2")
run("score", "--ref", files / "test.en", folder / "out", files / "test.es", "--tokenize", "none", "--json")
run("tune", folder / "m", "--dev-source", files / "test.es", "--dev-target", files / "test.en", "--iterations", 2)
run("train", "--method", "hiero", "--source", files / "dev.es", "--target", files / "dev.en", "--model", folder / "h",
    "--dev-source", files / "test.es", "--dev-target", files / "test.en", "--iterations", 2)
run("combine", folder / "m", folder / "h", "--dev-source", files / "test.es", "--dev-target", files / "test.en",
    "--out", folder / "both", "--mbr-size", 5)
for arguments in ((folder / "both",), (folder / "m", "--mbr")):
    run("translate", *arguments, "--input", files / "test.es", "--output", folder / "out")
for model, tuner in (("m", "pro"), ("m", "likelihood"), ("h", "expected-bleu")):
    run("tune", folder / model, "--dev-source", files / "test.es", "--dev-target", files / "test.en",
        "--iterations", 2, "--bend", "lnr", "--tuner", tuner, "--bits", 3, "--no-cautious")
    run("translate", folder / model, "--input", files / "test.es", "--output", folder / "out")
for model in ("m", "h"):
    run("tune", folder / model, "--dev-source", files / "test.es", "--dev-target", files / "test.en",
        "--iterations", 2, "--no-cautious", "--bend", "trees", "--trees", 3, "--tree-refit",
        "--tree-split", "pairs" if model == "m" else "parts", "--out", folder / "t")
    run("translate", folder / "t", "--input", files / "test.es", "--output", folder / "out")
for decoder in ("graph", "table", "individual", "mixed", "feature"):
    run("train", "--method", "sparse", "--sparse-decoder", decoder, "--source", files / "dev.es",
        "--target", files / "dev.en", "--model", folder / "s", "--sparse-instances", 10, "--no-keep-work",
        "--dev-source", files / "test.es", "--dev-target", files / "test.en", "--iterations", 2)
    run("translate", folder / "s", "--input", files / "test.es", "--output", folder / "out", "--nbest", 5,
        "--nbest-file", folder / "paths")
for model in ("m", "h"):
    run("add", folder / model, "--source", files / "test.es", "--target", files / "test.en")
    run("translate", folder / model, "--input", files / "dev.es", "--output", folder / "out")
    run("translate", folder / model, "--input", files / "dev.es", "--output", folder / "out", "--prefix", "the")
    (folder / "terms.csv").write_text("habitación,chamber\\nuna,1\\n")
    run("translate", folder / model, "--input", files / "dev.es", "--output", folder / "out",
        "--glossary", folder / "terms.csv")
for regression in ("lsr", "mmr"):
    run("train", "--method", "kernel", "--source", files / "dev.es", "--target", files / "dev.en",
        "--model", folder / regression, "--kernel-regression", regression, "--no-keep-work")
    run("add", folder / regression, "--source", files / "test.es", "--target", files / "test.en")
    run("translate", folder / regression, "--input", files / "dev.es", "--output", folder / "out")
for score in ("round-robin", "dice", "bm25", "decay"):
    run("select", "--source", files / "train.es", "--target", files / "train.en", "--test", files / "test.es",
        "--count", 10, "--score", score)
run("nbest-folds", "--source", files / "dev.es", "--target", files / "dev.en", "--out", folder / "folds", "--folds", 2,
    "--rounds", 2)
for method, flag in (("phrase", "--rule-features"), ("hiero", "--hiero-rule-features")):
    run("train", "--method", method, "--source", files / "dev.es", "--target", files / "dev.en",
        "--model", folder / "l", flag, "large", "--no-tune", "--no-keep-work")
    run("translate", folder / "l", "--input", files / "test.es", "--output", folder / "out")
run("rerank", "fit", "--nbest", folder / "nbest", "--ref", files / "test.en", "--model", folder / "r")
run("rerank", "fit", "--nbest", folder / "nbest", "--ref", files / "test.en", "--model", folder / "c",
    "--learner", "mnr")
run("translate", folder / "m", "--input", files / "test.es", "--output", folder / "out", "--nbest", 5,
    "--nbest-file", folder / "parts.jsonl")
for list in ("nbest", "parts.jsonl"):
    run("rerank", "fit", "--nbest", folder / list, "--ref", files / "test.en", "--model", folder / "b",
        "--learner", "trees", "--no-cautious")
    run("rerank", "apply", folder / "b", "--nbest", folder / list, "--output", folder / "out")
"""


def test_after_a_warm_up_no_verb_compiles_anything(hotel_files: Path, tmp_path: Path) -> None:
    warm = [sys.executable, "-c", "from camber.pipeline.warmup import warm_up; warm_up()"]
    subprocess.run(warm, check=True)
    later = [sys.executable, "-c", LATER, str(tmp_path), str(hotel_files)]
    done = subprocess.run(later, capture_output=True, text=True, check=True)
    compiled = [line for line in done.stdout.splitlines() if line.startswith("_") or line.isidentifier()]
    assert compiled == []


def test_the_cache_goes_to_the_folder_that_is_named(tmp_path: Path) -> None:
    script = "import numpy as np\nfrom camber.kernel.table import mix\nmix(np.int64(5))"
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "CAMBER_CACHE": str(tmp_path)})
    assert list(tmp_path.rglob("*.image" if usable() else "*.nbi"))
