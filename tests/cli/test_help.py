"""Help that can be read: verbs and flags stand under headings, those that most people need first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

from camber.cli import HEADINGS, VERBS, cli
from camber.cli.groups import RUNNING, Grouped, option
from camber.cli.options import settings_options
from camber.settings import EVERYDAY, Settings, setting

#: more flags than this want headings, and no heading has more
MOST = 18


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command, those of groups too, with the words that call it."""
    context = click.Context(cli)
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{verb} {name}", below) for name, below in command.commands.items())
        else:
            yield verb, command


def blocks(shown: str) -> dict[str, list[str]]:
    """Return the flags under every heading of a help text."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in shown.splitlines():
        if re.fullmatch(r"\S.*:", line):
            heading = line.removesuffix(":")
        elif heading and (flag := re.match(r"  (?:-h, )?(--[a-z-]+)", line)):
            found.setdefault(heading, []).append(flag.group(1))
    return found


def test_every_flag_of_every_verb_stands_under_one_heading_and_no_heading_has_too_many() -> None:
    for words, command in commands():
        shown = blocks(CliRunner().invoke(cli, [*words.split(), "--help"]).output)
        flags = [flag for listed in shown.values() for flag in listed]
        wanted = {option.opts[0] for option in command.params if isinstance(option, click.Option)}
        assert sorted(flags) == sorted(wanted | {"--help"}), words
        assert all(len(listed) <= MOST for listed in shown.values()), words
        assert len(shown) > 1 or len(flags) <= MOST, f"camber {words} has many flags: cls=Grouped"


def test_training_begins_with_what_most_people_need_and_ends_with_how_it_runs() -> None:
    shown = blocks(CliRunner().invoke(cli, ["train", "--help"]).output)
    headings = list(shown)
    assert (headings[0], headings[-1]) == (EVERYDAY, RUNNING)
    assert {"--source", "--target", "--model", "--source-lang", "--help"} <= set(shown[EVERYDAY])
    assert shown["Language model"] == ["--lm", "--lm-order", "--lm-prune", "--own-lm"]
    assert {"--bend", "--bits", "--cautious"} <= set(shown["Bends"])
    assert shown[RUNNING] == ["--keep-work", "--seed", "--threads", "--cluster", "--cluster-folder", "--memory"]


def test_all_verbs_stand_under_headings_below_each_other() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    for heading, verbs in HEADINGS.items():
        assert f"\n{heading}:\n" in shown
        assert all(f"\n  {verb}  " in shown and told in shown for verb, told in verbs.items()), heading
    columns = {line.index(VERBS[line.split()[0]]) for line in shown.splitlines() if line[2:].split(" ")[0] in VERBS}
    assert len(columns) == 1


def test_help_tells_the_exit_codes() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert all(re.search(rf"\b{code}\b", shown) for code in (0, 1, 2, 130, 141))


@dataclass(frozen=True)
class Dough(Settings, group="Dough"):
    flour: int = setting(500, "grams")
    salt: bool = setting(True, "a pinch", group=EVERYDAY)


@dataclass(frozen=True)
class Bread(Dough, group="Bread"):
    flour: int = setting(700, "grams")
    minutes: int = setting(40, "in the oven")


@pytest.mark.parametrize(("name", "group"), [("flour", "Dough"), ("salt", EVERYDAY), ("minutes", "Bread")])
def test_a_flag_stands_where_its_setting_was_declared_first_unless_it_says_otherwise(name: str, group: str) -> None:
    @click.command(cls=Grouped)
    @settings_options(Bread)
    @option("--oven", group="Bread")
    def bake(**values: object) -> None:
        """Bake."""

    assert Bread.group_of(name) == group
    assert f"--{name}" in blocks(CliRunner().invoke(bake, ["--help"]).output)[group]


def test_settings_without_a_heading_are_for_everyday() -> None:
    @dataclass(frozen=True)
    class Plain(Settings):
        size: int = setting(1, "how much")

    @click.command(cls=Grouped)
    @settings_options(Plain)
    def plain(**values: object) -> None:
        """Do it."""

    shown = CliRunner().invoke(plain, ["--help"]).output
    assert Plain.group_of("size") == EVERYDAY
    assert blocks(shown) == {"Options": ["--size", "--help"]}
