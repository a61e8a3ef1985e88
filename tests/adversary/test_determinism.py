"""The same input and seed give the same bytes: with any number of threads, hash seed, working directory, and again."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from adversary.kills import text_files

#: every command that writes something, one after the other; T is where the text is, N the number of threads
COMMANDS = """
align --source T/train.es --target T/train.en --out links.txt --threads N
lm --text T/train.en --arpa lm.arpa --order 3
select --source T/train.es --target T/train.en --test T/dev.es --count 20 --out chosen --threads N
train --source T/train.es --target T/train.en --dev-source T/dev.es --dev-target T/dev.en --model phrase --lm-order 2 \
 --align-model quick --rule-features large --bend trees --trees 3 --tuner pro --iterations 2 --nbest 20 --threads N
train --source T/train.es --target T/train.en --no-tune --method hiero --model hiero --lm-order 2 --threads N
train --source T/train.es --target T/train.en --no-tune --method kernel --model kernel --preimage-scale 1 --threads N
tune hiero --dev-source T/dev.es --dev-target T/dev.en --bend mnr --bits 3 --tuner expected-bleu \
 --iterations 1 --nbest 20 --threads N
add phrase --source T/shorter.es --target T/shorter.en --threads N
add hiero --source T/shorter.es --target T/shorter.en --threads N
translate phrase --input T/dev.es --output phrase.en --nbest 20 --nbest-file list.jsonl --threads N
translate hiero --input T/dev.es --output hiero.en --nbest 5 --nbest-file list.moses --threads N
translate kernel --input T/dev.es --output kernel.en --threads N
rerank fit --nbest list.jsonl --ref T/dev.en --model linear --threads N
rerank fit --nbest list.jsonl --ref T/dev.en --model mixture --learner mixture --kernels 4 --threads N
rerank apply linear --nbest list.jsonl --output reranked.en
"""

RUN = """
import sys
from camber.cli import cli
text, threads, commands = sys.argv[1:]
for line in commands.strip().splitlines():
    words = [word.replace("T/", text + "/") if word.startswith("T/") else word for word in line.split()]
    cli(["--quiet", *(threads if word == "N" else word for word in words)], standalone_mode=False)
"""


def run(text: Path, home: Path, threads: int, seed: int, *, relative: bool) -> dict[str, str]:
    """Run all commands in a folder; return the digests of all files that they wrote."""
    home.mkdir(parents=True)
    given = os.path.relpath(text, home) if relative else str(text)
    search = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    variables = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": search}
    command = [sys.executable, "-c", RUN, given, str(threads), COMMANDS.replace(" \\\n", " ")]
    done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    files = (path for path in sorted(home.rglob("*")) if path.is_file())
    return {path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
def test_threads_hash_seeds_and_folders_change_no_byte(tmp_path):
    text = tmp_path / "text"
    text.mkdir()
    text_files(text)
    first = run(text, tmp_path / "one", 1, 1, relative=False)
    assert len(first) > 100
    for number, (threads, relative) in enumerate(((2, True), (3, False)), 2):
        other = run(text, tmp_path / "others" / str(number), threads, number, relative=relative)
        assert other.keys() == first.keys()
        assert [name for name in first if first[name] != other[name]] == []
