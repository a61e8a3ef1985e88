"""Hierarchical grammars on demand: sentences and rules per CPU-second, memory, and how they grow with the corpus.

    python benchmarks/hiero_extract.py [--data ../shared] [--sentences 1000] [--no-growth]

cdec cannot be installed with pip. Its figures were measured on another machine, as the anchors' README says, with the
same text and limits; they are printed as they are, without scaling. Its own grammars of the first test sentences are
compared with ours rule by rule.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from camber.align.lexical import lexical_table
from camber.align.pharaoh import Alignment, read_pharaoh
from camber.align.words import AlignSettings, align_corpus
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.reading import read_lines, read_parallel, words
from camber.rules.hiero import HieroExtractor
from camber.rules.index import CorpusIndex
from camber.text.pipeline import TextPipeline, TextSettings

ROOT = Path(__file__).resolve().parent.parent

#: cdec on Multi30k de-en, 29,000 pairs (anchors' README, "Hiero").
CDEC_SENTENCES, CDEC_RULES, CDEC_INDEX_SECONDS = 11.6, 3200, 0.45

SIZES = (10_000, 40_000, 157_998)


def peak() -> float:
    """Return the largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def cpu(function, *arguments):
    """Return what a call gives, and its CPU-seconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def by_first_use(side: Sequence[Sequence[str]]) -> Sentences:
    """Number words as cdec does: that decides the order of suffixes, and so which occurrences are sampled."""
    return Sentences.encode(side, Vocabulary(list(dict.fromkeys(word for line in side for word in line))))


def extract_all(extractor: HieroExtractor, sentences: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Return the rules of all sentences, and the CPU-seconds."""
    start = time.process_time()
    rules = sum(len(extractor.grammar(sentence)) for sentence in sentences)
    return rules, time.process_time() - start


def index_times(bitext: Bitext, alignment: Alignment) -> tuple[HieroExtractor, dict[str, float]]:
    """Build an extractor and time every step, adding 1,000 pairs and opening a saved index included."""
    times = {}
    index, times["index: suffix array"] = cpu(CorpusIndex.build, bitext, alignment)
    _, times["index: lay out for extraction"] = cpu(lambda: index.columns)
    lexicon, times["lexical table"] = cpu(lexical_table, bitext, alignment)
    extractor, times["extractor"] = cpu(HieroExtractor, index, lexicon)
    few = first_pairs(bitext, alignment, 1000)
    longer, times["add 1,000 pairs"] = cpu(index.extended, *few)
    _, seconds = cpu(lambda: longer.columns)
    times["add 1,000 pairs"] += seconds
    with tempfile.TemporaryDirectory() as folder:
        _, times["save"] = cpu(index.save, folder)
        _, times["open"] = cpu(CorpusIndex.load, folder)
    return extractor, times


def first_pairs(bitext: Bitext, alignment: Alignment, pairs: int) -> tuple[Bitext, Alignment]:
    """Return the first pairs of a corpus."""
    sides = [
        Sentences(side.ids[: side.offsets[pairs]], side.offsets[: pairs + 1], side.vocabulary)
        for side in (bitext.source, bitext.target)
    ]
    offsets = alignment.offsets[: pairs + 1]
    return Bitext(*sides), Alignment(alignment.links[: offsets[-1]], offsets)


def compare(extractor: HieroExtractor, sentences: Sequence[Sequence[str]], folder: Path) -> tuple[int, int, int, int]:
    """Count rules in common with cdec's grammars, ours only, cdec's only, and among the first those of equal counts."""
    common = ours_only = theirs_only = equal = 0
    for number, sentence in enumerate(sentences):
        theirs = {}
        with gzip.open(folder / f"grammar.{number}.gz", "rt", encoding="utf-8") as stream:
            for line in stream:
                _, source, target, features, _ = line.split(" ||| ")
                count = next(f for f in features.split() if f.startswith("CountEF="))
                theirs[source.replace("[X,", "["), target.replace("[X,", "[")] = float(count[8:])
        found = extractor.grammar(sentence)
        counts = found.features[:, found.names.index("count_st")]
        ours = {
            (" ".join(found.source_side(rule)), " ".join(found.target_side(rule))): counts[rule]
            for rule in range(len(found))
        }
        both = ours.keys() & theirs.keys()
        common += len(both)
        ours_only += len(ours) - len(both)
        theirs_only += len(theirs) - len(both)
        equal += sum(abs(ours[key] - theirs[key]) < 1e-3 for key in both)
    return common, ours_only, theirs_only, equal


def multi30k(data: Path, limit: int) -> None:
    """Measure on Multi30k with the anchors' alignment."""
    text = data / "data/multi30k/tok"
    sides = [[words(line) for line in side] for side in read_parallel(text / "train.de", text / "train.en")]
    alignment = read_pharaoh(data / "anchors/moses/aligned.grow-diag-final-and.gz")
    bitext = Bitext(*map(by_first_use, sides))
    sentences = [words(line) for line in read_lines(text / "test.de")][:limit]
    HieroExtractor(CorpusIndex.build(*first_pairs(bitext, alignment, 50))).grammar(sentences[0])  # compile
    CorpusIndex.build(*first_pairs(bitext, alignment, 5)).extended(*first_pairs(bitext, alignment, 5))

    extractor, times = index_times(bitext, alignment)
    before = peak()
    rules, seconds = extract_all(extractor, sentences)
    print(f"Multi30k de-en, {len(bitext):,} pairs, {len(sentences):,} test sentences, one thread\n")
    for name, value in times.items():
        print(f"  {name:34} {value:8.3f} CPU-s")
    built = times["index: suffix array"] + times["index: lay out for extraction"]
    print(f"  {'cdec: suffix array':34} {CDEC_INDEX_SECONDS:8.3f} CPU-s, ratio {CDEC_INDEX_SECONDS / built:.1f}")
    speed = len(sentences) / seconds
    print(f"\n  {'':34} {'sentences/CPU-s':>16} {'rules/CPU-s':>12} {'rules/sentence':>15}")
    print(f"  {'ours':34} {speed:16.1f} {rules / seconds:12,.0f} {rules / len(sentences):15,.0f}")
    cdec_rules = CDEC_SENTENCES * CDEC_RULES
    print(f"  {'cdec (figures of the anchors)':34} {CDEC_SENTENCES:16.1f} {cdec_rules:12,.0f} {CDEC_RULES:15,}")
    print(f"  {'ratio ours / cdec':34} {speed / CDEC_SENTENCES:16.1f} {rules / seconds / cdec_rules:12.1f}")
    grown = peak() - before
    print(f"\n  index {extractor.index.nbytes / 1e6:.0f} MB, +{grown:.0f} MB in extraction, {peak():.0f} in all")

    grammars = data / "anchors/cdec/grammars"
    if grammars.exists():
        common, ours_only, theirs_only, equal = compare(extractor, sentences[:100], grammars)
        print(f"\n  rules of the first {min(100, len(sentences))} sentences: {common:,} as in cdec's grammars ", end="")
        print(f"({equal / common:.1%} with the same count), {ours_only:,} only here, {theirs_only:,} only there")
        print(f"  precision {common / (common + ours_only):.3f}, recall {common / (common + theirs_only):.3f}: cdec")
        print("  also lists rules that the sentence has no room for, and samples frequent phrases elsewhere")


def growth(data: Path, limit: int) -> None:
    """Measure how time and memory grow with the corpus."""
    folder = data / "data/tatoeba-fr-en"
    pipeline = TextPipeline(TextSettings(lowercase=True, source_lang="fr", target_lang="en"))
    french, english = read_parallel(folder / "train.fr", folder / "train.en")
    bitext = Bitext.encode([*map(pipeline.source_tokens, french)], [*map(pipeline.target_tokens, english)])
    sentences = [pipeline.source_tokens(line) for line in read_lines(folder / "test.fr")][:limit]
    alignment, seconds = cpu(lambda: align_corpus(bitext, AlignSettings(model="quick"), 1))
    print(f"\ntatoeba-fr-en (aligned here in {seconds:.0f} CPU-s), {len(sentences):,} test sentences\n")
    print(f"  {'pairs':>8} {'index CPU-s':>12} {'index MB':>9} {'add 1,000':>10} {'open':>7}", end="")
    print(f" {'sentences/CPU-s':>16} {'rules/CPU-s':>12} {'rules/sentence':>15}")
    for size in SIZES:
        extractor, times = index_times(*first_pairs(bitext, alignment, min(size, len(bitext))))
        rules, seconds = extract_all(extractor, sentences)
        built = times["index: suffix array"] + times["index: lay out for extraction"]
        print(
            f"  {len(extractor.index):8,} {built:12.2f} {extractor.index.nbytes / 1e6:9.0f} "
            f"{times['add 1,000 pairs']:10.2f} {times['open']:7.2f} {len(sentences) / seconds:16.1f} "
            f"{rules / seconds:12,.0f} {rules / len(sentences):15,.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--sentences", type=int, default=1000, help="test sentences")
    parser.add_argument("--no-growth", action="store_true", help="leave out the larger corpus")
    args = parser.parse_args()
    if not (args.data / "data/multi30k/tok/train.de").exists() or not (args.data / "anchors/moses").exists():
        parser.exit(
            1, f"no benchmark data in {args.data}: give --data a folder with data/multi30k/tok and anchors/moses\n"
        )
    multi30k(args.data, args.sentences)
    if not args.no_growth:
        growth(args.data, args.sentences)


if __name__ == "__main__":
    main()
