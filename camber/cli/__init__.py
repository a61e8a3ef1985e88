"""The command `camber`: one small file per verb, imported when the verb is used."""

from __future__ import annotations

import importlib
import os
import sys

import click

#: verb → one-line help (the module camber.cli.<verb> holds `command`)
VERBS = {
    "add": "Add sentence pairs to a model, without training.",
    "align": "Word-align two parallel files.",
    "convert": "Bring a Moses or cdec model along.",
    "curves": "Draw what the bent features of a model learnt.",
    "demo": "Train, translate and report on the built-in corpus.",
    "extract": "Write Moses-format phrase and reordering tables.",
    "info": "Say what a model is made of.",
    "lm": "Estimate an n-gram language model.",
    "rerank": "Re-rank the n-best lists of any engine.",
    "score": "Measure translations against references.",
    "train": "Train a translator from parallel text.",
    "translate": "Translate text.",
    "tune": "Fit a model's weights to a development set.",
    "warmup": "Compile the kernels ahead of time.",
}


class Verbs(click.Group):
    """A group that imports a verb's module only when that verb is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        return importlib.import_module(f"camber.cli.{name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quiet", is_flag=True, help="Only warnings and errors on standard error.")
@click.version_option(package_name="camber")
def cli(quiet: bool) -> None:
    """Machine translation and n-best re-ranking in which every feature may bend."""
    from camber.progress import show

    show(quiet)


def main() -> None:
    """Run the command line: exit code 0 done, 1 a clear error, 2 wrong usage."""
    from camber.errors import CamberError

    # Camber has threads of its own. Those of BLAS cost time at every start, and sums would depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        cli(standalone_mode=False)
    except CamberError as error:
        click.echo(f"camber: {error}", err=True)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("camber: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # the reader of our output went away (`camber … | head`): not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        click.echo("camber: out of memory; give less text at a time or use a machine with more", err=True)
        sys.exit(1)
