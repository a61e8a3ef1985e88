"""Words that no rule translates: kept between their neighbours, or moved like others; judged by lines that have some.

    python experiments/unknown/run.py [--data ../shared] [--work FOLDER] [--sets NAME,…] [--tuners NAME,…] [--write]

Models and weights are those of experiments/tuners, whose work folder may be given: what is there is not made again.
Lines are those of the pool that were not tuned on, and the next ones of the training text where not all of it was used.
--write puts the table into README.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from camber.cli.display import show
from camber.decode.phrase.settings import UNKNOWN_WORDS
from camber.files import read_lines
from camber.metrics.bleu import BLEU
from camber.metrics.significance import paired_bootstrap
from camber.model.translator import Translator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "tuners"))

from engines import add_engine, engine_of  # noqa: E402
from run import Run, as_dev, opened, tuned  # noqa: E402
from sets import TEXTS, Lines, Set  # noqa: E402
from steps import arguments, write_tables  # noqa: E402

SETS = ("multi30k-de", "multi30k-fr", "tatoeba-fi", "tatoeba-fr", "europarl-fr")
STAY, MOVE = UNKNOWN_WORDS
#: lines behind those that were trained on that are looked through, and how many with unknown words are translated
MORE, LINES = 6000, 500
METRIC = BLEU(tokenize="none")


def main() -> None:
    """Run what is missing and print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--tuners", default="held-bleu,pro")
    add_engine(parser)
    options = parser.parse_args()
    if not (options.data / "data").is_dir():
        parser.exit(1, f"{options.data}: no such folder; name the data folder with --data\n")
    options.work.mkdir(parents=True, exist_ok=True)
    show()
    rows = [
        "| set | tuner | lines | move | stay | difference | p | lines that differ |",
        "|---|---|---|---|---|---|---|---|",
    ]
    gains = []
    for tuner in options.tuners.split(","):
        for name in options.sets.split(","):
            row, gain = compared(name, tuner, options)
            rows.append(row)
            gains.append(gain)
    rows.append(f"| **mean** | | | | | {np.mean(gains):+.2f} | | |")
    print("\n".join(rows))
    if options.write:
        write_tables(HERE, "\n".join(rows))


def compared(name: str, tuner: str, options: argparse.Namespace) -> tuple[str, float]:
    """Translate the lines of a set both ways; return the row of the table, and what staying gains."""
    engine, run = engine_of(options), Run("phrase", name, tuner, 0)
    whole, model = opened(name, "phrase", options.data, options.work)
    weights = tuned(run, whole, model, options.work, engine)["weights"]
    judging = as_dev(model, strange(whole, model, options.data))
    tables = {}
    for unknown in UNKNOWN_WORDS:
        decoder = model.decoder.reweighted(weights).searching({"unknown": unknown})
        best = decoder.decode_columns(judging.inputs, judging.vocabulary, 1, engine)
        tables[unknown] = judging.statistics(best), np.split(best.words.ids, best.words.offsets[1:-1])
    stay, move = (np.asarray(tables[unknown][0], float) for unknown in (STAY, MOVE))
    scores = [METRIC.score(table.sum(0)) for table in (move, stay)]
    differ = sum(not np.array_equal(*pair) for pair in zip(tables[STAY][1], tables[MOVE][1], strict=True))
    gain, p = scores[1] - scores[0], paired_bootstrap(METRIC, [move], [stay]).p
    cells = f"{len(stay)} | {scores[0]:.2f} | {scores[1]:.2f} | {gain:+.2f} | {p:.3f} | {differ}"
    return f"| {name} | {tuner} | {cells} |", gain


def strange(whole: Set, model: Translator, data: Path) -> Lines:
    """Return lines that neither training nor tuning saw and that have words which no rule of the model has."""
    text = TEXTS[whole.name]
    sides = [
        read_lines(data / "data" / text.folder / f"train.{end}")[text.pairs :][:MORE] for end in (text.source, "en")
    ]
    lines = (whole.others(0) + Lines(*sides)).short()
    known = model.decoder.source_vocabulary
    rows = [
        row
        for row, line in enumerate(lines.source)
        if any(known.id(token) < 0 for sentence in model.paragraph(line).sentences for token in sentence.tokens)
    ]
    return lines.of(rows[:LINES])


if __name__ == "__main__":
    main()
