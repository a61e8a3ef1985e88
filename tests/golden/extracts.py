"""What our tools make of small texts of ours: the content of the golden files, by name.

Nothing here comes from anybody's data: the text is the built-in corpus, and a few lines with traps.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

from camber.align.pharaoh import Alignment
from camber.align.words import align_corpus
from camber.corpus import Bitext
from camber.corpus.hotel import generate
from camber.engine import Threads
from camber.lm.kneser_ney import LmSettings, estimate_arpa
from camber.lm.ngrams import NgramModel
from camber.metrics import BLEU, TER
from camber.metrics.chrf import ChrF
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.settings import RuleSettings
from camber.text.tokenise import Tokenizer

HERE = Path(__file__).parent
#: Lines whose tokens Moses' conventions decide.
TRAPS = (
    'Isn\'t it 5,300 m, Mr. Smith? He said: "No!"',
    "At 5 p.m. we met in the U.S. office ... and left.",
    "A (small) room [two beds] costs $120.50 / night; 10% off.",
    "The boys' toys, the boss's car, rock 'n' roll & more.",
    "e-mail, well-known, 3-4 people -- or so.",
)
Lines = list[str]


@cache
def sides() -> tuple[list[list[str]], list[list[str]]]:
    """Return the tokenised text, Spanish and English."""
    source, target = generate(train=120, dev=5, test=5, seed=15).train
    spanish, english = Tokenizer("moses", "es"), Tokenizer("moses", "en")
    return [spanish.tokenise(line) for line in source], [english.tokenise(line) for line in target]


@cache
def bitext() -> tuple[Bitext, Alignment]:
    """Return the text and its alignment."""
    text = Bitext.encode(*sides())
    return text, align_corpus(text, engine=Threads(1))


def tokens() -> Lines:
    """Spell the tokens of raw lines, each behind its line."""
    english = Tokenizer("moses", "en")
    raw = [*TRAPS, *generate(train=40, dev=5, test=5, seed=15).train[1]]
    return [f"{line}\t{' '.join(english.tokenise(line))}" for line in raw]


def lm_scores() -> Lines:
    """Score lines that a language model was not made of: log10 probability and the line."""
    import math

    with tempfile.TemporaryDirectory() as folder:
        model = NgramModel.read(write_arpa(Path(folder)))
    lines = held_out()
    return [
        f"{score / math.log(10):.4f}\t{' '.join(line)}" for score, line in zip(model.score(lines), lines, strict=True)
    ]


def held_out() -> list[list[str]]:
    """Return tokenised lines with words that the language model knows and does not know."""
    english = Tokenizer("moses", "en")
    return [english.tokenise(line) for line in (*TRAPS, *generate(train=150, dev=5, test=5, seed=16).train[1][120:])]


def write_arpa(folder: Path) -> Path:
    """Estimate the language model of the English side, in a folder."""
    (folder / "text").write_text("".join(" ".join(line) + "\n" for line in sides()[1]), encoding="utf-8")
    estimate_arpa(folder / "text", folder / "lm.arpa", LmSettings(order=4))
    return folder / "lm.arpa"


def phrases() -> Lines:
    """Count the phrase pairs of the aligned text: count, source, target."""
    text, alignment = bitext()
    store = extract(text, alignment, RuleSettings(max_phrase_length=4, options_per_phrase=0), engine=Threads(1))
    counts: Counter[tuple[str, str]] = Counter()
    for phrase in range(store.phrases):
        for rule in store.rules(phrase):
            pair = " ".join(store.source(phrase)), " ".join(store.target(rule))
            counts[pair] = int(store.counts[rule, 1])
    return [f"{count}\t{source}\t{target}" for (source, target), count in sorted(counts.items())]


def scores() -> Lines:
    """Score one half of the text as if it were a translation of the other."""
    raw = generate(train=120, dev=5, test=5, seed=15).train[1]
    hypotheses, references = raw[:60], [raw[60:]]
    metrics = BLEU(), ChrF(), TER()
    return [
        f"{metric.name}\t{float(metric.score(metric.statistics(hypotheses, references).sum(0))):.6f}"
        for metric in metrics
    ]


EXTRACTS = {"tokens": tokens, "lm_scores": lm_scores, "phrases": phrases, "scores": scores}
