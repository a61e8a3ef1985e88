"""The command `camber`: one small file per verb, imported when the verb is used."""

from __future__ import annotations

import errno
import importlib
import keyword
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

#: heading → verb → one-line help (the module camber.cli.<verb>, with _ for - and behind a keyword, holds `command`)
HEADINGS = {
    "Models": {
        "demo": "Train, translate and report on the built-in corpus.",
        "train": "Train a translator from parallel text.",
        "tune": "Fit a model's weights to a development set.",
        "calibrate": "Find out how sure a model's translations are.",
        "combine": "Make one model of several that vote.",
        "convert": "Bring a Moses or cdec model along.",
        "info": "Say what a model is made of.",
        "curves": "Draw what the bent features of a model learnt.",
    },
    "Translation": {
        "translate": "Translate text and files.",
        "serve": "Serve models to translators' tools, with a page.",
        "add": "Add sentence pairs to a model, without training.",
        "forget": "Take pairs back from a model.",
        "match": "Find what a model remembers that is like a text.",
        "analyse": "Say what a job is made of, and how much of it is remembered.",
    },
    "Measuring and re-ranking": {
        "score": "Measure translations against references.",
        "rerank": "Re-rank the n-best lists of any engine.",
        "nbest-folds": "Make n-best lists over a training corpus.",
    },
    "Parallel text and single steps": {
        "import": "Make parallel text of translation memories.",
        "select": "Choose the training pairs that help most to translate a text.",
        "align": "Word-align two parallel files.",
        "extract": "Write Moses-format phrase and reordering tables.",
        "lm": "Estimate an n-gram language model.",
        "tokenize": "Split raw text into tokens.",
        "detokenize": "Join tokens to raw text.",
        "warmup": "Compile the kernels ahead of time.",
    },
}
VERBS = {verb: told for verbs in HEADINGS.values() for verb, told in verbs.items()}


#: so that the texts of all headings stand below each other
_WIDTH = max(map(len, VERBS))


class ReaderGone(Exception):
    """The reader of our output went away (`camber … | head`), which click would call a failure."""


class Interrupted(Exception):
    """Ctrl-C, to which click would write a line of its own."""


@contextmanager
def _ended_from_outside() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None
    except KeyboardInterrupt:
        raise Interrupted from None


class Verbs(click.Group):
    """A group that imports a verb's module only when that verb is called."""

    def make_context(self, *args: Any, **keywords: Any) -> click.Context:
        with _ended_from_outside():
            return super().make_context(*args, **keywords)

    def invoke(self, ctx: click.Context) -> Any:
        with _ended_from_outside():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = name.replace("-", "_") + "_" * keyword.iskeyword(name)
        return importlib.import_module(f"camber.cli.{module}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, verbs in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(_WIDTH), told) for verb, told in verbs.items()])


#: what a shell or a script learns from the code
EXIT_CODES = """Exit codes: 0 done; 1 an error, which is told; 2 wrong usage; 130 interrupted (Ctrl-C); 141 the reader
of the output went away (camber … | head). Whatever the code, files and models are whole: as they were, or new."""


@click.group(cls=Verbs, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quiet", is_flag=True, help="Only warnings and errors on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Progress, messages and errors as JSON on standard error.")
@click.option(
    "--gzip-ratio",
    type=click.FloatRange(1),
    help="Read gzip files that hold so many times their own size (default 100; 100 MB in any case).",
)
@click.version_option(package_name="camber")
def cli(quiet: bool, as_json: bool, gzip_ratio: float | None) -> None:
    """Machine translation and n-best re-ranking in which every feature may bend."""
    from camber.cli.display import show

    show(quiet=quiet, as_json=as_json)
    if gzip_ratio is not None:
        from camber.files import RATIO_VARIABLE

        os.environ[RATIO_VARIABLE] = repr(gzip_ratio)


def main() -> None:
    """Run the command line: exit code 0 done, 1 a clear error, 2 wrong usage; as from a shell, 130 and 141 for signals.

    Whoever reads our output may stop (`camber … | head`): that is no error, but not all was done either, so that the
    code is the one of other tools then.
    """
    # Camber has threads of its own. Those of BLAS cost time at every start, and sums would depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_what_is_closed()
    # What was interrupted is let go before the process ends: threads finish what they began, and begin nothing more.
    if code := _run():
        sys.exit(code)


def _run() -> int:
    """Run the command line, tell errors, and return the exit code."""
    from camber.cli.display import close, tell_error, tells_json
    from camber.errors import CamberError

    code = 1
    try:
        cli(standalone_mode=False)
        return 0
    except CamberError as error:
        tell_error(str(error), code)
    except click.ClickException as error:
        code = error.exit_code
        if tells_json():
            tell_error(error.format_message(), code)
        else:
            error.show()
    except (click.Abort, Interrupted, KeyboardInterrupt):
        code = 130
        tell_error("interrupted", code)
    except ReaderGone:
        code = 141  # 128 + SIGPIPE
        _drop_output()
    except OSError as error:
        from camber.model.places import is_full

        place = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        told = "the disk is full; make room and try again" if is_full(error) else error.strerror or str(error)
        if error.errno == errno.EBADF:
            told = "standard input or output is closed; give a file, or /dev/null"
        tell_error(f"{place}{told}", code)
        _drop_output()
    except MemoryError:
        tell_error("out of memory; give less text at a time or use a machine with more", code)
    finally:
        close()
    return code


def _open_what_is_closed() -> None:
    """Open standard streams that whoever started us has closed, before files of ours get their numbers.

    Messages go nowhere then. Whoever reads the input, or writes output, gets an error.
    """
    for name, number, flags in (("stdin", 0, os.O_WRONLY), ("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, flags)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            stream = open(number, "r" if number == 0 else "w", encoding="utf-8")  # noqa: SIM115 - for all that follows
            setattr(sys, name, stream)


def _drop_output() -> None:
    """Let what standard output still holds go nowhere: Python would try to write it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
