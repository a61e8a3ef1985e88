#!/usr/bin/env python3
"""A glossary of 500 words that the training translates otherwise; completing translations.

    python benchmarks/terms.py [phrase] [hiero] [--data ../shared] [--phrase MODEL] [--hiero MODEL] [--pairs N]

Models of tatoeba-fr-en are trained if none are given. With --pairs, they are trained on its first N pairs, and judged
on 20,000 of the others that are new: the test set has too few other words to tell small differences. The glossary has
frequent words of what is translated (but for the first ones, with --skip): half of them shall become another
translation of theirs, half a word that nobody has seen.
"Other words" are those of outputs and references that no phrase pair of a glossary's word has, and the BLEU of what is
left is that of both. CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import sacrebleu

from camber.decode.terms import TermFinder
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.formats.glossary.glossary import Glossary
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator, load
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

ONE = Threads(1)
TERMS, HELD = 500, 20_000
LANGUAGES = {"text": {"source_lang": "fr", "target_lang": "en"}}


def make_glossary(model: Translator, lines: list[str], skipped: int) -> tuple[Glossary, set[str]]:
    """Return a glossary, and all words that the rules know for its sources or that it wants.

    The most frequent words that it could have are skipped, so many of them.
    """
    store = model.decoder.rules.store
    seen = Counter(token for line in lines for sentence in model.paragraph(line).sentences for token in sentence.tokens)
    entries: dict[str, str] = {}
    words: set[str] = set()
    for source, _ in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
        phrase = store.find(store.source_vocabulary.encode([source]))
        if phrase < 0 or not (source.isalpha() and source.islower() and len(source) > 3):
            continue
        rules = [(float(store.scores[rule, 2]), store.target(rule)) for rule in store.rules(phrase)]
        single = [(p, target[0]) for p, target in rules if len(target) == 1 and target[0].isalpha()]
        if len(single) < 2 or single[0][0] < 0.4 or len(single[0][1]) < 4 or single[0][1] == source:
            continue
        if skipped > 0:
            skipped -= 1
            continue
        unseen = single[0][1] + "oid"
        entries[source] = unseen if len(entries) % 2 else single[1][1]
        words |= {entries[source].lower(), *(word.lower() for p, target in rules if p > 0.01 for word in target)}
        if len(entries) == TERMS:
            break
    return Glossary.of(entries), words


def others(texts: list[str], words: set[str], model: Translator) -> list[str]:
    """Return the words of texts that a glossary has nothing to do with."""
    tokenise = model.text.target_tokenizer.tokenise
    return [" ".join(token for token in tokenise(text) if token.lower() not in words) for text in texts]


def interval(one: np.ndarray, two: np.ndarray, metric: BLEU) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two BLEU scores: sentences drawn 1,000 times."""
    rng = np.random.default_rng(1)
    drawn = [rng.integers(len(one), size=len(one)) for _ in range(1000)]
    low, high = np.percentile([metric.score(two[d].sum(0)) - metric.score(one[d].sum(0)) for d in drawn], [2.5, 97.5])
    return float(low), float(high)


def measure_terms(
    name: str, model: Translator, glossary: Glossary, words: set[str], lines: list[str], references: list[str]
) -> None:
    """Print what a glossary does to translations."""
    finder = TermFinder(glossary, model.text)
    times, texts = {}, {}
    model.translate(lines[:20], ONE, glossary=glossary)
    for kind, used in (("without", None), ("with", glossary)) * (2 if len(lines) < HELD else 1):
        start = time.process_time()
        texts[kind] = model.translate(lines, ONE, glossary=used)
        times[kind] = min(times.get(kind, np.inf), time.process_time() - start)
    wanted = obeyed = 0
    for line, text in zip(lines, texts["with"], strict=True):
        asked: Counter[str] = Counter()
        for sentence in model.paragraph(line).sentences:
            asked.update(" ".join(term.targets[0]).lower() for term in finder.find(sentence)[0])
        said = Counter(token.lower() for token in model.text.target_tokenizer.tokenise(text))
        wanted += asked.total()
        obeyed += (asked & said).total()
    metric, wished = BLEU(tokenize="none"), others(references, words, model)
    rows = {kind: metric.statistics(others(some, words, model), [wished]) for kind, some in texts.items()}
    scores = {kind: metric.score(some.sum(0)) for kind, some in rows.items()}
    low, high = interval(rows["without"], rows["with"], metric)
    print(f"{name}: {len(glossary)} entries, {wanted} terms in {len(lines)} lines")
    print(f"  obeyed                {obeyed} ({100 * obeyed / wanted:.2f} %)")
    print(f"  BLEU of other words   {scores['without']:.2f} without, {scores['with']:.2f} with", end="; ")
    print(f"95 % interval of the difference {low:+.2f} … {high:+.2f}; {sum(map(len, map(str.split, wished))):,} words")
    ratio = times["with"] / times["without"]
    print(f"  CPU seconds           {times['without']:.1f} without, {times['with']:.1f} with: {ratio:.2f} times")


def measure_prefixes(name: str, model: Translator, data: Path) -> None:
    """Print how long it takes to complete translations of about 20 words, and what the references' beginnings help."""
    pairs = list(zip(read_lines(data / "test.fr"), read_lines(data / "test.en"), strict=True))
    long = sorted(pairs, key=lambda pair: abs(len(pair[0].split()) - 18))[:60]
    shares = (0.0, 0.25, 0.5, 0.75)
    begun = {
        share: [" ".join(target.split()[: round(share * len(target.split()))]) for _, target in long]
        for share in shares
    }
    times: dict[float, list[float]] = {share: [np.inf] * len(long) for share in shares}
    found: dict[float, list[str]] = {share: [] for share in shares}
    gc.collect()
    gc.freeze()  # what the benchmark has read is not looked through while the clock runs
    for time_around in range(4):  # the first time, kernels are compiled; of three others, the least counts
        for row, (source, _) in enumerate(long if time_around else long[:3]):
            for share in shares:  # of one sentence after the other, as somebody types
                start = time.process_time()
                texts = model.translate([source], ONE, prefix=begun[share][row])
                if time_around:
                    times[share][row] = min(times[share][row], time.process_time() - start)
                if time_around == 1:
                    found[share] += texts
    for share in shares:
        prefixes, seconds, texts = begun[share], times[share], found[share]
        kept = sum(text.startswith(prefix) for text, prefix in zip(texts, prefixes, strict=True))
        rest = [text[len(prefix) :].strip() for text, prefix in zip(texts, prefixes, strict=True)]
        wanted = [target[len(prefix) :].strip() for (_, target), prefix in zip(long, prefixes, strict=True)]
        chrf = sacrebleu.corpus_chrf(rest, [wanted]).score
        print(
            f"  {name}, {100 * share:.0f} % given: {1000 * statistics.median(seconds):.0f} ms median,"
            f" {1000 * max(seconds):.0f} ms at most; {kept} of {len(long)} begin as asked; chrF of the rest {chrf:.1f}"
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help="phrase, hiero (default: both)")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--phrase", type=Path, help="a phrase model of tatoeba-fr-en")
    parser.add_argument("--hiero", type=Path, help="a hierarchical one")
    parser.add_argument(
        "--pairs", type=int, help="train on so many pairs, and translate others instead of the test set"
    )
    parser.add_argument("--skip", type=int, default=0, help="pass over so many of the most frequent words")
    parser.add_argument("--lines", type=int, help="translate only the first lines")
    parser.add_argument("--part", choices=("dev", "test"), default="test", help="which set is translated")
    options = parser.parse_args()
    data = options.data / "data" / "tatoeba-fr-en"
    if not data.is_dir():
        sys.exit(f"{data}: no such folder; give --data")
    lines, references = read_lines(data / f"{options.part}.fr"), read_lines(data / f"{options.part}.en")
    with tempfile.TemporaryDirectory() as folder:
        pairs = data / "train.fr", data / "train.en"
        if options.pairs is not None:
            sides = [read_lines(path) for path in pairs]
            pairs = Path(folder) / "train.fr", Path(folder) / "train.en"
            for path, side in zip(pairs, sides, strict=True):
                write_lines(path, side[: options.pairs])
            known = set(sides[0][: options.pairs])
            new = [number for number in range(options.pairs, len(sides[0])) if sides[0][number] not in known][:HELD]
            lines, references = ([side[number] for number in new] for side in sides)
        models = {}
        for method in dict.fromkeys(["phrase", *(options.methods or ["hiero"])]):  # phrases make the glossary
            path = getattr(options, method)
            if path is None:
                path = Path(folder) / method
                settings = TrainSettings.from_dict(LANGUAGES)
                dev = {"dev_source": data / "dev.fr", "dev_target": data / "dev.en"}
                train(*pairs, path, method=method, settings=settings, engine=ONE, **dev)
            models[method] = load(path)
        glossary, words = make_glossary(models["phrase"], lines, options.skip)
        lines, references = lines[: options.lines], references[: options.lines]
        for method in options.methods or models:
            measure_terms(method, models[method], glossary, words, lines, references)
            if "prefix" in models[method].decoder.takes and options.pairs is None:
                measure_prefixes(method, models[method], data)


if __name__ == "__main__":
    main()
