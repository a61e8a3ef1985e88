"""Translation as kernel regression (wang2007) on French to English: its Table 1, Figures 3 and 4, and larger corpora.

    python experiments/wang2007/run.py [--data ../shared] [--work FOLDER] [--corpora short] [--systems lsr] [--write]
    python experiments/wang2007/run.py --show --write
    python experiments/wang2007/run.py --quick

Hyper-parameters are chosen on dev at 4,000 pairs of the short ones, and hold for all corpora; the scale of predictions
and the weights of the baseline are found anew for each training. Every condition runs in a process of its own. Finished
ones are kept in the work folder, so that an interrupted experiment goes on where it was; --show runs nothing and tells
what is there. --write puts tables and figures into README.md. --quick does all of it with a few sentences.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the processes of conditions

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import figures  # noqa: E402
from plan import FULL, QUICK, SYSTEMS, Plan, choose, conditions_of  # noqa: E402
from steps import arguments, write_tables  # noqa: E402
from systems import Runner  # noqa: E402
from tables import Report  # noqa: E402
from texts import CORPORA, texts_of  # noqa: E402


def main() -> None:
    """Run what is missing and print the tables."""
    parser = arguments(__doc__, HERE)
    names = [corpus.name for corpus in CORPORA]
    parser.add_argument("--corpora", default=",".join(names))
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="what is trained: phrase, mmr, lsr")
    parser.add_argument("--quick", action="store_true", help="a few sentences, to see that everything runs")
    parser.add_argument("--show", action="store_true", help="run nothing: only tell what is there")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("a quick run tells nothing: it is not written into README.md")
    asked = options.corpora.split(",")
    if unknown := [name for name in asked if name not in names]:
        parser.error(f"--corpora: no {', '.join(unknown)}; there are {', '.join(names)}")
    systems = options.systems.split(",")
    if unknown := [name for name in systems if name not in SYSTEMS]:
        parser.error(f"--systems: no {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    if not (options.data / "data" / "tatoeba-fr-en").is_dir():
        raise SystemExit(f"{options.data / 'data'}: no tatoeba-fr-en there; name the data folder with --data")
    plan = QUICK if options.quick else FULL
    work = options.work / "quick" if options.quick else options.work
    work.mkdir(parents=True, exist_ok=True)
    texts = {name: texts_of(plan.corpora[name], options.data, work, plan.sentences) for name in names}
    runner = Runner(texts, work)
    if not options.show:
        run(plan, runner, asked, systems)
    report = Report(plan, texts, work)
    print(report.text())
    if options.write:
        write_tables(HERE, report.text())
        figures.draw(HERE, report)


def run(plan: Plan, runner: Runner, names: list[str], systems: list[str]) -> None:
    """Choose what is to be chosen, then run all conditions that were asked for."""
    chosen = choose(plan, lambda condition: runner.run(condition) if condition.system in systems else None)
    for name in names:
        for condition in conditions_of(plan, name, chosen):
            if condition.system in systems:
                runner.run(condition)
        for condition in chosen:
            if name == "short" and condition.system in systems:
                runner.searched(condition, plan.beams, plan.wide, plan.words)


if __name__ == "__main__":
    main()
