"""Hierarchical translation beside cdec: chart decoding, grammars on demand, and how both grow with the corpus.

    python benchmarks/hiero.py [--data ../shared] [decoding extraction edges growth] [--json]

decoding    cdec's grammars, language model and weights for 100 sentences of Multi30k's test set: speed against search
            quality, loading and compiling excluded; and the whole command, which includes them.
extraction  grammars from the indexed training set of Multi30k, with fast_align's links; compared with cdec's rules.
edges       what loose edges cost: extraction for 300 sentences of dev with our own links, beside tight edges; the best
            of seven for each sentence.
growth      the same and decoding with these grammars, from 10,000 to 158,000 pairs of tatoeba-fr-en.

One thread; CPU time. cdec cannot be installed with pip: its figures are those in README.md beside this file, and our
speed is scaled to the machine of those figures by a yardstick that runs here and now (pip kenlm's words per
CPU-second).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from camber.align.lexical import lexical_table
from camber.align.pharaoh import Alignment, read_pharaoh
from camber.align.words import AlignSettings, align_corpus
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.inputs import Input, as_inputs
from camber.decode.searcher import LogLinear
from camber.engine import Threads
from camber.files import read_lines, read_parallel, words, write_lines
from camber.lm.kneser_ney import estimate
from camber.lm.ngrams import NgramModel
from camber.model.translator import load
from camber.pipeline.convert_cdec import convert_cdec
from camber.rules.hiero.extraction import EDGES, HieroExtractor, HieroSettings
from camber.rules.hiero.index import CorpusIndex
from camber.text.pipeline import TextPipeline, TextSettings

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("decoding", "extraction", "edges", "growth")
EDGE_SETS = (("multi30k/tok", "de", "none"), ("tatoeba-fi-en", "fi", "moses"), ("callhome-es-en", "es", "moses"))
POP_LIMITS = (50, 100, 200, 400)
SIZES = (10_000, 40_000, 157_998)
#: cdec, from README.md beside this file: sentences per CPU-second at pop limit 200 without and with reading its text
#: grammars, peak memory in MB; sentences per CPU-second and rules per sentence of extraction, seconds for the suffix
#: array
PEER_RATE, PEER_COMMAND, PEER_MEMORY = 14.0, 12.0, 117
PEER_EXTRACTION, PEER_RULES, PEER_INDEX = 11.6, 3200, 0.45
#: words per CPU-second of pip kenlm where the peers were measured
YARDSTICK = 8e6

#: fresh processes that say how much memory they took (in MB; 0 where there is no /proc)
PEAK = """
import json, os, sys, time
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
def peak():
    if not os.path.exists("/proc/self/status"):
        return 0.0
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))
with open(sys.argv[1], encoding="utf-8") as file:
    text = [line.split() for line in file]
"""
DECODE_PROBE = (
    PEAK
    + """
import camber
imported = peak()
decoder = camber.load(sys.argv[2]).decoder
list(decoder.decode(as_inputs(text), engine=Threads(1)))
print(json.dumps({"imported": imported, "peak": peak()}))
"""
)
GROWTH_PROBE = (
    PEAK
    + """
from camber.lm.ngrams import NgramModel
from camber.model.hiero import HieroRules, untuned_hiero_weights
from camber.rules.hiero.index import CorpusIndex
imported = peak()
start = time.process_time()
models = [NgramModel.load(sys.argv[2], "lm")]
decoder = HieroRules(CorpusIndex.load(sys.argv[2])).weighted(models, untuned_hiero_weights(1), None)
list(decoder.decode(as_inputs(text[:1]), engine=Threads(1)))
opened = time.process_time() - start
start = time.process_time()
rules = sum(len(decoder.grammars.grammar(Input(sentence))) for sentence in text)
extracted = time.process_time() - start
start = time.process_time()
for _ in decoder.decode(as_inputs(text), engine=Threads(1)):
    pass
both = time.process_time() - start
print(json.dumps({"opened": opened, "rules": rules, "extracted": extracted, "both": both, "imported": imported,
                  "peak": peak()}))
"""
)


def cpu(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a call gives, and its CPU-seconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def probe(code: str, *arguments: Any, repeat: int = 2) -> dict[str, float]:
    """Run a probe in a process of its own; of some runs, return the one with the least memory.

    The first may have to compile, which takes more memory and time than to decode.
    """
    command = [sys.executable, "-c", code, *map(str, arguments)]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(repeat)]
    return min(map(json.loads, runs), key=lambda run: run["peak"])


def yardstick(arpa: Path, lines: Sequence[str], passes: int = 10, repeat: int = 10) -> float:
    """Return the speed of this machine: 1.0 where the peers were measured.

    The best of many repetitions: one that other processes slow down would flatter us.
    """
    try:
        import kenlm
    except ImportError:
        sys.exit("the yardstick needs pip's kenlm: pip install 'camber[bench]'")
    model = kenlm.Model(str(arpa))
    count = sum(len(line.split()) + 1 for line in lines)

    def score() -> None:
        for _ in range(passes):
            for line in lines:
                model.score(line)

    return passes * count / min(cpu(score)[1] for _ in range(repeat)) / YARDSTICK


# --- decoding --------------------------------------------------------------------------------------------------------


def decoding(data: Path, repeat: int) -> dict[str, Any]:
    """Decode with cdec's grammars: a curve over pop limits, lists of 100, the command, memory."""
    anchors = data / "anchors"
    lines = list(islice(read_lines(data / "data/multi30k/tok/test.de"), 100))
    sentences = [line.split() for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        model, source = Path(folder) / "model", Path(folder) / "source.txt"
        convert_cdec(anchors / "cdec/cdec.ini", model)
        write_lines(source, lines)
        opened = load(model).decoder

        def decoder(pop_limit: int) -> LogLinear:
            return opened.searching({"pop_limit": pop_limit})

        list(decoder(10).decode(as_inputs(sentences[:2]), engine=Threads(1)))  # compile, and read the pages that matter
        curve = []
        for pop_limit in POP_LIMITS:
            one = decoder(pop_limit)
            runs = [
                cpu(lambda one=one: list(one.decode(as_inputs(sentences), engine=Threads(1)))) for _ in range(repeat)
            ]
            work = np.zeros(len(one.WORK), np.int64)
            list(one.decode(as_inputs(sentences), work=work))
            names = ("items", "bundles", "lm_scores", "pops")
            curve.append(
                {
                    "pop_limit": pop_limit,
                    "rate": len(sentences) / min(seconds for _, seconds in runs),
                    "score": float(np.mean([item[0].score for item in runs[0][0]])),
                    "work": dict(zip(names, (work / len(sentences)).tolist(), strict=True)),
                }
            )
        lists = decoder(200)
        seconds = min(
            cpu(lambda: list(lists.decode(as_inputs(sentences), 100, engine=Threads(1))))[1] for _ in range(repeat)
        )
        command = min(command_seconds(model, source) for _ in range(repeat))
        memory = probe(DECODE_PROBE, source, model)
    return {
        "sentences": len(sentences),
        "curve": curve,
        "nbest": {"rate": len(sentences) / seconds},
        "command": {"rate": len(sentences) / command},
        "memory": memory,
        "peer_score": peer_score(anchors / "cdec/test.first100.nbest100.gz"),
    }


def command_seconds(model: Path, source: Path) -> float:
    """Return the CPU-seconds of `camber translate`, start-up included."""
    start = os.times()
    code = "from camber.cli import main; main()"
    command = [sys.executable, "-c", code, "--quiet", "translate", model, "--threads", 1, "--input", source]
    subprocess.run([str(item) for item in command], check=True, stdout=subprocess.DEVNULL)
    end = os.times()
    return end.children_user + end.children_system - start.children_user - start.children_system


def peer_score(path: Path) -> float:
    """Return the mean of the first scores of cdec's n-best lists."""
    best: dict[str, float] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.split(" ||| ")
            best.setdefault(fields[0], float(fields[3]))
    return float(np.mean(list(best.values())))


def report_decoding(figures: dict[str, Any], speed: float) -> None:
    """Print the table."""
    print(f"decoding: {figures['sentences']} sentences of Multi30k de-en, cdec's grammars\n")
    print("  decoder   pop limit   sentences/CPU-s   scaled   times cdec   mean 1-best score   LM scores   pops")
    for row in figures["curve"]:
        work, scaled = row["work"], row["rate"] / speed
        print(
            f"  camber {row['pop_limit']:12d} {row['rate']:17.0f} {scaled:8.0f} {scaled / PEER_RATE:12.1f} "
            f"{row['score']:19.4f} {work['lm_scores']:11.0f} {work['pops']:6.0f}"
        )
    print(f"  cdec   {200:12d} {PEER_RATE:17.0f} {PEER_RATE:8.0f} {1:12.1f} {figures['peer_score']:19.4f}\n")
    scaled = figures["command"]["rate"] / speed
    print(
        f"  `camber translate`, start-up included: {figures['command']['rate']:.0f} sentences/CPU-s, scaled "
        f"{scaled:.0f} = {scaled / PEER_COMMAND:.1f} × cdec ({PEER_COMMAND:.0f}, reading its grammars included)"
    )
    rate = figures["nbest"]["rate"]
    print(f"  100-best at pop limit 200: {rate:.0f} sentences/CPU-s, scaled {rate / speed:.0f}")
    if figures["memory"]["peak"]:
        print(
            f"  peak memory: {figures['memory']['peak']:.0f} MB, {figures['memory']['imported']:.0f} of them Python and"
            f" libraries; cdec {PEER_MEMORY} MB"
        )


# --- extraction ------------------------------------------------------------------------------------------------------


def by_first_use(side: Sequence[Sequence[str]]) -> Sentences:
    """Number words as cdec does: that decides the order of suffixes, and so which occurrences are sampled."""
    return Sentences.encode(side, Vocabulary(list(dict.fromkeys(word for line in side for word in line))))


def first_pairs(bitext: Bitext, alignment: Alignment, pairs: int) -> tuple[Bitext, Alignment]:
    """Return the first pairs of a corpus."""
    sides = [
        Sentences(side.ids[: side.offsets[pairs]], side.offsets[: pairs + 1], side.vocabulary)
        for side in (bitext.source, bitext.target)
    ]
    offsets = alignment.offsets[: pairs + 1]
    return Bitext(*sides), Alignment(alignment.links[: offsets[-1]], offsets)


def index_times(bitext: Bitext, alignment: Alignment, folder: str) -> tuple[CorpusIndex, dict[str, float]]:
    """Build an index, save it into a folder, and time every step, adding 1,000 pairs included."""
    times = {}
    index, times["build"] = cpu(CorpusIndex.build, bitext, alignment)
    _, seconds = cpu(lambda: index.columns)
    times["build"] += seconds
    _, times["lexical table"] = cpu(lexical_table, bitext, alignment)
    longer, times["add 1,000 pairs"] = cpu(index.extended, *first_pairs(bitext, alignment, 1000))
    _, seconds = cpu(lambda: longer.columns)
    times["add 1,000 pairs"] += seconds
    _, times["save"] = cpu(index.save, folder)
    return index, times


def extraction(data: Path, limit: int) -> dict[str, Any]:
    """Extract the grammars of Multi30k's test sentences and compare some with cdec's."""
    text = data / "data/multi30k/tok"
    sides = [[words(line) for line in side] for side in read_parallel(text / "train.de", text / "train.en")]
    alignment = read_pharaoh(data / "anchors/moses/aligned.grow-diag-final-and.gz")
    bitext = Bitext(*map(by_first_use, sides))
    sentences = [words(line) for line in read_lines(text / "test.de")][:limit]
    few = first_pairs(bitext, alignment, 50)  # compile
    tight, loose = (HieroSettings(edges=edges) for edges in EDGES)  # cdec's are tight
    HieroExtractor(CorpusIndex.build(*few)).grammar(Input(sentences[0]))
    CorpusIndex.build(*few).extended(*few)
    lexical_table(*few)
    with tempfile.TemporaryDirectory() as folder:
        index, times = index_times(bitext, alignment, folder)
    lexicon = lexical_table(bitext, alignment)
    extractor = HieroExtractor(index, lexicon, tight)
    rules, seconds = fastest(extractor, sentences)
    loose_rules, loose_seconds = fastest(HieroExtractor(index, lexicon, loose), sentences)
    return {
        "loose": {"rules": loose_rules / len(sentences), "rate": len(sentences) / loose_seconds},
        "pairs": len(bitext),
        "sentences": len(sentences),
        "times": times,
        "index_mb": index.nbytes / 1e6,
        "rate": len(sentences) / seconds,
        "rules_rate": rules / seconds,
        "rules": rules / len(sentences),
        "comparison": compare(extractor, sentences[:100], data / "anchors/cdec/grammars"),
    }


def compare(extractor: HieroExtractor, sentences: Sequence[Sequence[str]], folder: Path) -> dict[str, int]:
    """Count rules in common with cdec's grammars, those of one side only, and among the first those of equal counts."""
    common = ours_only = theirs_only = equal = 0
    for number, sentence in enumerate(sentences):
        theirs = {}
        with gzip.open(folder / f"grammar.{number}.gz", "rt", encoding="utf-8") as stream:
            for line in stream:
                _, source, target, features, _ = line.split(" ||| ")
                count = next(f for f in features.split() if f.startswith("CountEF="))
                theirs[source.replace("[X,", "["), target.replace("[X,", "[")] = float(count[8:])
        found = extractor.grammar(Input(sentence))
        counts = np.log10(1.0 + found.features[:, found.names.index("count_st")])  # as cdec has them
        ours = {
            (" ".join(found.source_side(rule)), " ".join(found.target_side(rule))): counts[rule]
            for rule in range(len(found))
        }
        both = ours.keys() & theirs.keys()
        common += len(both)
        ours_only += len(ours) - len(both)
        theirs_only += len(theirs) - len(both)
        equal += sum(abs(ours[key] - theirs[key]) < 1e-3 for key in both)
    return {"common": common, "ours_only": ours_only, "theirs_only": theirs_only, "equal": equal}


def fastest(extractor: HieroExtractor, sentences: Sequence[list[str]]) -> tuple[int, float]:
    """Return how many rules sentences have, and the CPU seconds that extracting them takes: the better of two runs."""
    rules, seconds = 0, float("inf")
    for _ in range(2):
        rules, took = cpu(lambda: sum(len(extractor.grammar(Input(sentence))) for sentence in sentences))
        seconds = min(seconds, took)
    return rules, seconds


def report_extraction(figures: dict[str, Any], speed: float) -> None:
    """Print the table."""
    print(f"\nextraction: Multi30k de-en, {figures['pairs']:,} pairs, {figures['sentences']:,} test sentences\n")
    print(
        f"  {'':8} {'sentences/CPU-s':>16} {'scaled':>8} {'times cdec':>11} {'rules/CPU-s':>12} {'rules/sentence':>15}"
    )
    scaled = figures["rate"] / speed
    print(
        f"  {'camber':8} {figures['rate']:16.0f} {scaled:8.0f} {scaled / PEER_EXTRACTION:11.1f} "
        f"{figures['rules_rate']:12,.0f} {figures['rules']:15,.0f}"
    )
    loose = figures["loose"]
    rate = loose["rate"]
    print(
        f"  {'loose':8} {rate:16.0f} {rate / speed:8.0f} {rate / speed / PEER_EXTRACTION:11.1f} "
        f"{rate * loose['rules']:12,.0f} {loose['rules']:15,.0f}"
    )
    print(
        f"  {'cdec':8} {PEER_EXTRACTION:16.1f} {PEER_EXTRACTION:8.1f} {1:11.1f} {PEER_EXTRACTION * PEER_RULES:12,.0f} "
        f"{PEER_RULES:15,}\n"
    )
    times = ", ".join(f"{name} {seconds:.2f}" for name, seconds in figures["times"].items())
    print(f"  index ({figures['index_mb']:.0f} MB), CPU-seconds: {times}; cdec's suffix array {PEER_INDEX}")
    rules = figures["comparison"]
    common, ours, theirs = rules["common"], rules["ours_only"], rules["theirs_only"]
    print(
        f"  rules of the first 100 sentences: {common:,} as in cdec's grammars ({rules['equal'] / common:.1%} with the"
        f" same count), {ours:,} only here,\n  {theirs:,} only there: precision {common / (common + ours):.3f}, recall"
        f" {common / (common + theirs):.3f} (cdec also lists rules that the sentence has no\n  room for, and samples"
        " frequent phrases elsewhere)"
    )


# --- edges -----------------------------------------------------------------------------------------------------------


def edges(data: Path, limit: int) -> dict[str, Any]:
    """Extract with tight and with loose edges, by turns."""
    rows = []
    for folder, language, tokenizer in EDGE_SETS:
        pipeline = TextPipeline(TextSettings(tokenizer=tokenizer, source_lang=language, target_lang="en"))
        text = data / "data" / folder
        pairs = [
            (pipeline.source_tokens(source), pipeline.target_tokens(target))
            for source, target in zip(*read_parallel(text / f"train.{language}", text / "train.en"), strict=True)
        ]
        bitext = Bitext.encode(
            *zip(*(pair for pair in pairs if all(0 < len(side) <= 80 for side in pair)), strict=True)
        )
        alignment = align_corpus(bitext, AlignSettings(), Threads(1))
        index, lexicon = CorpusIndex.build(bitext, alignment), lexical_table(bitext, alignment)
        sentences = [pipeline.source_tokens(line) for line in islice(read_lines(text / f"dev.{language}"), limit)]
        best, rules = np.full((len(EDGES), len(sentences)), np.inf), np.zeros(len(EDGES), np.int64)
        for _ in range(7):
            for kind, name in enumerate(EDGES):
                extractor = HieroExtractor(index, lexicon, HieroSettings(edges=name))
                extractor.raw(sentences[-1])  # its memory grows
                found = [cpu(extractor.raw, sentence) for sentence in sentences]
                best[kind] = np.minimum(best[kind], [seconds for _, seconds in found])
                rules[kind] = sum(len(grammar) for grammar, _ in found)
        rows.append({"set": folder, "ms": (1e3 * best.mean(1)).tolist(), "rules": (rules / len(sentences)).tolist()})
    return {"rows": rows}


def report_edges(figures: dict[str, Any], speed: float) -> None:
    """Print the table."""
    print(
        f"\nedges: CPU-ms and rules of a sentence (this machine)\n\n  {'':16} {'tight':>16} {'loose':>16} {'ratio':>6}"
    )
    for row in figures["rows"]:
        cells = " ".join(f"{ms:7.2f} {rules:8,.0f}" for ms, rules in zip(row["ms"], row["rules"], strict=True))
        print(f"  {row['set']:16} {cells} {row['ms'][1] / row['ms'][0]:6.2f}")


# --- growth ----------------------------------------------------------------------------------------------------------


def growth(data: Path, limit: int) -> dict[str, Any]:
    """Index, extract and decode with more and more pairs; each size is measured in processes of its own."""
    folder = data / "data/tatoeba-fr-en"
    pipeline = TextPipeline(TextSettings(lowercase=True, source_lang="fr", target_lang="en"))
    french, english = read_parallel(folder / "train.fr", folder / "train.en")
    bitext = Bitext.encode([*map(pipeline.source_tokens, french)], [*map(pipeline.target_tokens, english)])
    lines = [" ".join(pipeline.source_tokens(line)) for line in read_lines(folder / "test.fr")][:limit]
    alignment, seconds = cpu(lambda: align_corpus(bitext, AlignSettings(model="quick"), Threads(1)))
    rows = []
    for size in SIZES:
        some = first_pairs(bitext, alignment, min(size, len(bitext)))
        with tempfile.TemporaryDirectory() as place:
            index, times = index_times(*some, place)
            NgramModel.from_trie(estimate(some[0].target)).save(place, "lm")
            source = Path(place) / "source.txt"
            write_lines(source, lines)
            found = probe(GROWTH_PROBE, source, place)
        count = len(lines)
        rows.append(
            {
                "pairs": len(index),
                "times": times,
                "index_mb": index.nbytes / 1e6,
                "open": found["opened"],
                "extraction": count / found["extracted"],
                "rules_rate": found["rules"] / found["extracted"],
                "rules": found["rules"] / count,
                "both": count / found["both"],
                "peak": found["peak"],
                "imported": found["imported"],
            }
        )
    return {"sentences": len(lines), "align_seconds": seconds, "rows": rows}


def report_growth(figures: dict[str, Any], speed: float) -> None:
    """Print the table."""
    print(
        f"\ngrowth: tatoeba-fr-en (aligned in {figures['align_seconds']:.0f} CPU-s), {figures['sentences']:,} test"
        " sentences; sentences per CPU-second are scaled\n"
    )
    print(
        f"  {'pairs':>8} {'index CPU-s':>12} {'index MB':>9} {'add 1,000':>10} {'open':>6} {'extraction':>11}"
        f" {'rules/CPU-s':>12} {'rules/sentence':>15} {'and decoding':>13} {'peak MB':>8}"
    )
    for row in figures["rows"]:
        times = row["times"]
        print(
            f"  {row['pairs']:8,} {times['build']:12.2f} {row['index_mb']:9.0f} {times['add 1,000 pairs']:10.2f} "
            f"{row['open']:6.2f} {row['extraction'] / speed:11.0f} {row['rules_rate']:12,.0f} {row['rules']:15,.0f} "
            f"{row['both'] / speed:13.0f} {row['peak']:8.0f}"
        )
    print(f"\n  of the peak, {figures['rows'][0]['imported']:.0f} MB are Python and libraries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the best counts")
    parser.add_argument("--sentences", type=int, default=1000, help="most test sentences for extraction and growth")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(PARTS)}")
    needed = ("data/multi30k/tok/train.de", "data/tatoeba-fr-en/train.fr", "anchors/cdec/cdec.ini", "anchors/moses")
    if missing := [name for name in needed if not (args.data / name).exists()]:
        parser.exit(1, f"no benchmark data in {args.data}: {missing[0]} is missing; name its folder with --data\n")
    test = read_lines(args.data / "data/multi30k/tok/test.en")
    arpa = args.data / "anchors/lm/multi30k.en.o5.arpa.gz"
    measures: dict[str, tuple[Callable[..., dict[str, Any]], int, Callable[..., None]]] = {
        "decoding": (decoding, args.repeat, report_decoding),
        "extraction": (extraction, args.sentences, report_extraction),
        "edges": (edges, 300, report_edges),
        "growth": (growth, args.sentences, report_growth),
    }
    result: dict[str, Any] = {}
    speeds = [yardstick(arpa, test)]
    for part in args.parts or PARTS:
        measure, number, _ = measures[part]
        result[part] = measure(args.data, number)
        speeds.append(yardstick(arpa, test))
    result["yardstick"] = speed = max(speeds)
    if args.json:
        print(json.dumps(result, indent=2))
        return
    print(f"one thread; this machine: {speed:.2f} of the peers' machine\n")
    for part in args.parts or PARTS:
        measures[part][2](result[part], speed)


if __name__ == "__main__":
    main()
