"""The reference of all commands, made of the commands themselves, so that it is never older than they are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from camber.cli import VERBS, cli
from camber.cli.groups import EVERYDAY


def reference() -> str:
    """Return a section in Markdown for each verb, with its arguments and flags."""
    context = click.Context(cli, info_name="camber")
    sections = [_section(cli, context, ["camber"], 2)]
    for verb in sorted(VERBS):
        command = cli.get_command(context, verb)
        assert command is not None
        sections += _sections(command, context, ["camber", verb])
    return "\n".join(sections)


def _sections(command: click.Command, parent: click.Context, words: list[str]) -> Iterator[str]:
    """Yield the section of a command, and those of the commands below it."""
    context = click.Context(command, info_name=words[-1], parent=parent)
    yield _section(command, context, words, 2)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _sections(below, context, [*words, name])


def _section(command: click.Command, context: click.Context, words: list[str], level: int) -> str:
    """Return the section of one command: what it does, how it is called, and a table of each group of its flags."""
    usage = " ".join([*words, *command.collect_usage_pieces(context)])
    text = [f"{'#' * level} {' '.join(words)}", "", _paragraphs(command.help or ""), "", "```text", usage, "```", ""]
    groups: dict[str, list[str]] = {}
    for flag in command.get_params(context):
        if isinstance(flag, click.Option) and not flag.hidden and "--help" not in flag.opts:
            groups.setdefault(getattr(flag, "group", EVERYDAY), []).append(_row(flag, context))
    for group, rows in groups.items():
        text += [f"| {group if len(groups) > 1 else 'flag'} | | default |", "|---|---|---|", *rows, ""]
    return "\n".join(text)


def _paragraphs(text: str) -> str:
    """Return a help text, which may be indented and marks what is not to be wrapped by a backspace."""
    return _escaped(inspect.cleandoc(text).replace("\b\n", "").replace("\f", ""))


def _row(flag: click.Option, context: click.Context) -> str:
    """Return a flag as a row of a table."""
    names = ", ".join(f"`{name}`" for name in (*flag.opts, *flag.secondary_opts))
    kind = "" if flag.is_flag or flag.count else f" {_escaped(flag.make_metavar(context))}"
    told = flag.get_help_record(context)
    notes = re.search(r"\[([^\[\]]*(?:\[[^\]]*\])*[^\[\]]*)\]$", told[1]) if told else None
    repeated = " May be repeated." if flag.multiple and "repeat" not in (flag.help or "") else ""
    return f"| {names}{kind} | {_escaped(flag.help or '')}{repeated} | {_default(notes[1] if notes else '')} |"


def _default(notes: str) -> str:
    """Return what the help notes behind a flag: its default and range, or that it must be given."""
    parts = [part.removeprefix("default: ") for part in notes.split("; ")]
    return _escaped("; ".join(part for part in parts if part != '""'))


def _escaped(text: str) -> str:
    """Return text that means itself in a table of Markdown."""
    return re.sub(r"([|<>*_\[\]$])", r"\\\1", text) if "`" not in text else _around_code(text)


def _around_code(text: str) -> str:
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece.replace("|", r"\|") if piece.startswith("`") else _escaped(piece) for piece in pieces)
