"""Non-parametric features and expected BLEU (nguyen2007) on German and French to English: its Table 1 and Figures 1-3.

    python experiments/nguyen2007/run.py [--data ../shared] [--work FOLDER] [--languages de,fr] [--write]
                                         [--jobs 2 | --threads 2 | --cluster ADDRESS]
    python experiments/nguyen2007/run.py --quick

Lists over all training text are made fold by fold (`camber nbest-folds`); dev and test are translated by the system of
all of it. Everything is trained on the lists of the training text and chosen on dev; only then is test looked at, once,
by what was chosen. Finished steps are kept in the work folder, so that an interrupted experiment goes on where it was.
--write puts the tables and figures into README.md. --quick does all of it with a few sentences, in a folder of its own,
and takes more of the training text for the test set.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the workers: theirs are the languages, not the vectors

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import figures  # noqa: E402
from engines import add_jobs, jobs_of  # noqa: E402
from lists import Sizes, make_lists  # noqa: E402
from steps import arguments, multi30k, write_tables  # noqa: E402
from systems import Scale, Trainer  # noqa: E402
from tables import report_of  # noqa: E402

LANGUAGES = ("de", "fr")


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    sizes: Sizes = field(default_factory=Sizes)
    scale: Scale = field(default_factory=Scale)
    starts: int = 128
    sentences: int = figures.SENTENCES  # of training text, for the figures


FULL = Plan()
QUICK = Plan(
    Sizes(train=600, dev=60, test=60, folds=3, nbest=10, wide=20),
    Scale((0.5, 1.0), (1.0, 10.0), em_points=2000, small=16, large=64),
    starts=8,
    sentences=200,
)


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    add_jobs(parser)  # a language pair each
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--quick", action="store_true", help="a few sentences, to see that everything runs")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("a quick run tells nothing: it is not written into README.md")
    plan = QUICK if options.quick else FULL
    options.work = options.work / "quick" if options.quick else options.work
    text = multi30k(options)
    names = options.languages.split(",")
    if unknown := [name for name in names if name not in LANGUAGES]:
        parser.error(f"--languages: no {', '.join(unknown)}; there are {', '.join(LANGUAGES)}")
    for _ in jobs_of(options, jobs_each=1).map(run, (text, plan, options.work), names):
        pass
    report = "\n\n".join(tell(options.work, names))
    print(report)
    if options.write:
        write_tables(HERE, report)
        for name in names:
            figures.draw(HERE, name, *(_read(options.work / f"{name}.{what}.json") for what in ("starts", "binned")))


def run(shared: tuple[Path, Plan, Path], language: str) -> None:
    """Do all of one language pair."""
    text, plan, work = shared
    lists = make_lists(text, language, plan.sizes, work, 1)
    trainer = Trainer(language, lists, plan.scale, work)
    chosen = trainer.choose()
    starts = figures.from_vertices(trainer, plan.starts, plan.sentences)
    binned, times = figures.bins(trainer, plan.sentences), figures.times(trainer, plan.sentences)
    report = report_of(trainer, chosen, starts, binned, times)
    for name, document in (("starts", starts), ("binned", binned), ("report", report)):
        part = work / f"{language}.{name}.part"
        part.write_text(json.dumps(document))
        part.rename(work / f"{language}.{name}.json")


def tell(work: Path, names: Sequence[str]) -> list[str]:
    """Return what every language pair reports."""
    return [_read(work / f"{name}.report.json")["text"] for name in names if (work / f"{name}.report.json").exists()]


def _read(place: Path) -> dict:
    document: dict = json.loads(place.read_text())
    return document


if __name__ == "__main__":
    from run import main as start  # by the name that processes and workers know

    start()
