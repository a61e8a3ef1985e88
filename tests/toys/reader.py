"""Somebody who follows a page: saves what it says to save, runs what it says to run, and compares what is printed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
from lxml import etree
from toys.pages import REPOSITORY, Block, agrees, blocks, has_in_order, transcript

from camber.cli import cli

#: seconds that a block may take
_PATIENCE = 600
_SHELL, _TRANSCRIPT, _TEXT = ("sh", "bash"), "console", "text"
#: what is read by somebody else than we have here: the languages of servers' settings
_BRACES = ("caddy", "nginx")


class Reader:
    """Follows one page, from top to bottom, in a folder."""

    def __init__(self, folder: Path, commands: Path, names: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__", **(names or {})}
        self.printed = self.said = ""  # by the last command, to standard output and standard error
        self.environment = {
            **os.environ,
            "PATH": f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
        }

    def follow(self, page: Path) -> list[str]:
        """Try all blocks and return what went wrong, at most one thing a block."""
        return [told for block in blocks(page) if (told := self._told(block))]

    def _told(self, block: Block) -> str:
        try:
            self.take(block)
        except Exception as error:
            return f"{block}: {type(error).__name__}: {error}"
        return ""

    def take(self, block: Block) -> None:
        """Do with a block what it is for."""
        if block.how == "file":
            path = self.folder / block.what
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        if block.how == "output":
            assert agrees(self.printed, block.text), f"printed was\n{self.printed}"
        elif block.how == "serves":
            self._serve(block.text)
        elif block.language in _SHELL:
            self._parse(block.text) if block.how == "parsed" else self._run(block.text)
        elif block.language == _TRANSCRIPT:
            for step in transcript(block.text):
                if block.how == "parsed":
                    self._parse(step.command)
                else:
                    self._run(step.command)
                    printed, same = self.printed, agrees
                    if block.how == "numbers":
                        printed, same = self.said + self.printed, has_in_order
                    assert not step.output or same(printed, step.output), f"printed was\n{printed}"
        elif block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
            if not block.how:
                with patch.dict(os.environ, {"PATH": self.environment["PATH"]}):  # commands that it starts
                    exec(code, self.names)
        else:
            _check_data(block)

    def _run(self, text: str) -> None:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_PATIENCE,
        )  # fmt: skip
        self.printed, self.said = done.stdout, done.stderr
        assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}{done.stderr}"

    def _serve(self, text: str) -> None:
        """Run lines one by one; those that serve go on until the end, at ports of their own, which others then ask."""
        with contextlib.ExitStack() as until_the_end:
            ports: dict[str, str] = {}
            for line in text.replace("\\\n", " ").splitlines():
                words = next(iter(_commands(line)), [])
                if words[:2] == ["camber", "serve"] and "--new-key" not in words:
                    server = until_the_end.enter_context(_Serving(words, self.folder, self.environment))
                    ports[server.wanted] = server.port
                elif words[:1] == ["pip"]:
                    self._parse(line)
                elif words[:1] == ["curl"]:
                    for wanted, port in ports.items():
                        line = line.replace(f":{wanted}", f":{port}")
                    self._run(line.replace("curl ", "curl --silent --show-error --fail-with-body "))
                elif words:
                    self._run(line)

    def _parse(self, text: str) -> None:
        """See that commands, flags, and what they name of the repository exist; nothing runs."""
        subprocess.run(["bash", "-n", "-c", text], check=True, capture_output=True)
        joined = text.replace("\\\n", " ")
        for line in joined.splitlines():
            for words in _commands(line):
                check_command(words)


class _Serving:
    """A server for as long as a `with` block takes, at a port that is free."""

    def __init__(self, words: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.wanted = words[words.index("--port") + 1] if "--port" in words else "5000"
        self.process = subprocess.Popen(
            [*words, "--port", "0", "--threads", "1"],
            cwd=folder,
            env=dict(environment),
            stderr=subprocess.PIPE,
            text=True,
        )
        stop = threading.Timer(_PATIENCE, self.process.kill)
        stop.start()
        assert self.process.stderr is not None
        told = []
        for line in self.process.stderr:
            told.append(line)
            if match := re.search(r"serving on http://[\d.]+:(\d+)", line):
                self.port = match[1]
                break
        else:
            self.process.wait()
            raise AssertionError(f"{shlex.join(words)} does not serve\n{''.join(told)}")
        stop.cancel()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self) -> _Serving:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=_PATIENCE) as answer:
            assert answer.status == 200
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        assert self.process.wait(_PATIENCE) == 0


def _commands(line: str) -> list[list[str]]:
    """Return the commands of a line, as words; those of pipes and lists are several."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("|&;()"):
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def check_command(words: list[str]) -> None:
    """Refuse a command that cannot be right: flags of `camber`, targets of make, extras of ours, files of pytest."""
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    name, arguments = (words[0], words[1:]) if words else ("", [])
    if name == "camber":
        _check_flags(cli, click.Context(cli, info_name="camber"), _without_redirections(arguments))
    elif name == "make":
        targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
        assert set(arguments) <= targets, f"make has no {arguments}"
    elif name == "pip":
        extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        named = {extra for word in arguments for group in re.findall(r"\[(.+)\]", word) for extra in group.split(",")}
        assert named <= set(extras), f"there is no extra {named - set(extras)}"
    elif name in ("pytest", "python", "python3"):
        paths = [word for word in arguments if "/" in word and not word.startswith("-")]
        for path in paths if name == "pytest" else paths[:1]:  # what is behind a script may be what it writes
            assert (REPOSITORY / path).exists(), f"there is no {path}"


def _without_redirections(words: list[str]) -> list[str]:
    kept, skip = [], False
    for word in words:
        redirection = bool(re.fullmatch(r"[0-9]?[<>]+", word))
        if not (redirection or skip):
            kept.append(word)
        skip = redirection
    return kept


def _check_flags(command: click.Command, context: click.Context, words: list[str]) -> None:
    """Let click read the flags of a command, and of the one below it, without running anything."""
    _, rest, _ = command.make_parser(context).parse_args(list(words))
    if isinstance(command, click.Group) and rest:
        below = command.get_command(context, rest[0])
        assert below is not None, f"there is no command {rest[0]}"
        _check_flags(below, click.Context(below, info_name=rest[0], parent=context), rest[1:])


def _check_data(block: Block) -> None:
    """Read a block that is data in the language that it says it is in."""
    if block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "json":
        json.loads(block.text)
    elif block.language == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
    elif block.language in ("xml", "html"):
        etree.fromstring(block.text.encode())
    elif block.language in ("csv", "tsv", "po"):
        assert block.how == "file", "it is data of somebody: say as which file"
    elif block.language in _BRACES:
        assert block.text.count("{") == block.text.count("}")
    else:
        assert block.language == _TEXT, f"a block of {block.language or 'no language'}: say which, or that it is text"
