"""The unit for systemd and the recipe of the container say commands that there are, in ways that can work."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toys.pages import REPOSITORY
from toys.reader import check_command

UNIT = (REPOSITORY / "docs" / "camber.service").read_text()
RECIPE = (REPOSITORY / "docs" / "Containerfile").read_text()


def test_the_unit_runs_commands_that_there_are() -> None:
    commands = [shlex.split(line) for line in re.findall(r"^Exec\w+=(.+)$", UNIT, re.MULTILINE)]
    assert len(commands) == 2
    for program, *words in commands:
        assert program == "/opt/camber/bin/camber"
        check_command(["camber", *words])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "camber"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    (tmp_path / "camber.service").write_text(UNIT.replace("/opt/camber/bin/camber", str(program)))
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "camber.service")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "camber.service" not in done.stderr


def test_the_container_runs_commands_that_there_are_and_copies_what_it_installs() -> None:
    for words in [["serve", "--help"], ["warmup"]]:
        assert " ".join(words) in RECIPE or str(words).replace("'", '"') in RECIPE
        check_command(["camber", *words])
    (shown,) = re.findall(r"camber (serve /models/\S+ .+)$", RECIPE, re.MULTILINE)
    check_command(["camber", *shlex.split(shown)])
    (constraints,) = re.findall(r"-c /src/(\S+)", RECIPE)
    assert (REPOSITORY / constraints).is_file()
    check_command(["pip", "install", *re.findall(r"'(/src\[\w+\])'", RECIPE)])
