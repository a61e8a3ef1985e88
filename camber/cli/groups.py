"""Help in groups: the flags of a verb that has many stand under headings, those that most people need first.

A flag made of settings stands under the heading of these (`camber.settings`); one that is written by hand names it:

    @click.command(cls=Grouped)
    @option("--threads", group=RUNNING, …)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from camber.settings import EVERYDAY

#: heading of flags that say how and where a verb runs, not what it does
RUNNING = "Running"


class Option(click.Option):
    """An option that knows the heading it stands under."""

    def __init__(self, *flags: Any, group: str = EVERYDAY, **attributes: Any) -> None:
        super().__init__(*flags, **attributes)
        self.group = group


def option(*flags: str, group: str = EVERYDAY, **attributes: Any) -> Callable[[Any], Any]:
    """Decorate a command with an option under a heading."""
    return click.option(*flags, cls=Option, group=group, **attributes)


class Grouped(click.Command):
    """A command whose help has a block for every heading, in the order of their first flags; everyday ones lead."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        blocks: dict[str, list[tuple[str, str]]] = {EVERYDAY: []}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                blocks.setdefault(getattr(parameter, "group", EVERYDAY), []).append(record)
        if running := blocks.pop(RUNNING, None):
            blocks[RUNNING] = running  # at the end, wherever a verb names them
        for heading, records in blocks.items():
            with formatter.section(heading if len(blocks) > 1 else "Options"):
                formatter.write_dl(records)
