"""Hierarchical translation beside cdec: chart decoding, grammars on demand, and how both grow with the corpus.

    python benchmarks/hiero.py [--data ../shared] [decoding extraction edges growth] [--cdec PATH] [--json]

decoding    cdec's grammars, language model and weights for 100 sentences of Multi30k's test set: speed against search
            quality, loading and compiling excluded; and the whole command, which includes them.
extraction  grammars from the indexed training set of Multi30k, with fast_align's links; compared with cdec's rules.
edges       what loose edges cost: extraction for 300 sentences of dev with our own links, beside tight edges; the best
            of seven for each sentence.
growth      the same and decoding with these grammars, from 10,000 to 158,000 pairs of tatoeba-fr-en.

One thread; CPU time. cdec cannot be installed with pip: figures of it from elsewhere (README.md beside this file) are
printed as they are. `--cdec PATH` runs one that you built, in turn with `camber translate` (the whole commands, medians
and ranges, memory, and instructions of a sentence where valgrind is installed).
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from figures import note
from peers import CAMBER, OLDER, cdec, environment, in_turn, instructions, mean_score, millions, run, shown, spread

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
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("decoding", "extraction", "edges", "growth")
EDGE_SETS = (("multi30k/tok", "de", "none"), ("tatoeba-fi-en", "fi", "moses"), ("callhome-es-en", "es", "moses"))
POP_LIMITS = (50, 100, 200, 400)
SIZES = (10_000, 40_000, 157_998)
#: cdec, from README.md beside this file: sentences per CPU-second at pop limit 200 without and with reading its text
#: grammars, peak memory in MB; sentences per CPU-second and rules per sentence of extraction, seconds for the suffix
#: array
PEER_RATE, PEER_COMMAND, PEER_MEMORY, PEER_POP_LIMIT = 14.0, 12.0, 117, 200
PEER_EXTRACTION, PEER_RULES, PEER_INDEX = 11.6, 3200, 0.45
#: how many sentences have their instructions counted
COUNTED = 20

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
    folder = source.parent
    return run([*CAMBER, "translate", model, "--threads", 1, "--input", source], folder, environment(folder)).cpu


def side_by_side(program: Path, anchors: Path, lines: list[str], rounds: int) -> dict[str, Any]:
    """Run cdec and ours in turn, whole commands."""
    program, home = program.resolve(), (anchors / "cdec").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, variables = folder / "model", environment(folder)
        convert_cdec(home / "cdec.ini", model)
        texts = {}
        for what, count in (("all", len(lines)), ("some", COUNTED + 1), ("one", 1)):
            texts[what] = folder / f"{what}.sgml", folder / f"{what}.txt"
            segments = [
                f'<seg grammar="grammars/grammar.{number}.gz" id="{number}">{html.escape(line, quote=False)}</seg>'
                for number, line in enumerate(lines[:count])
            ]
            write_lines(texts[what][0], segments)
            write_lines(texts[what][1], lines[:count])

        def theirs(what: str) -> list[object]:
            return cdec(program, home / "cdec.ini", home / "weights", texts[what][0], PEER_POP_LIMIT)

        def ours(what: str) -> list[object]:
            limit = ("--pop-limit", PEER_POP_LIMIT)
            return [*CAMBER, "translate", model, *limit, "--threads", 1, "--input", texts[what][1]]

        run(ours("one"), folder, variables)  # sources and kernels are compiled then
        runs = in_turn(
            rounds, cdec=lambda: run(theirs("all"), home), camber=lambda: run(ours("all"), folder, variables)
        )
        run(ours("one"), folder, variables | OLDER)
        counts = {
            "cdec": [instructions(theirs(what), home) for what in ("some", "one")],
            "camber": [instructions(ours(what), folder, variables | OLDER) for what in ("some", "one")],
        }
        seconds = {who: [one.cpu for one in found] for who, found in runs.items()}
        return {
            "cpu": {who: spread(found) for who, found in seconds.items()},
            "ratio": spread([a / b for a, b in zip(seconds["cdec"], seconds["camber"], strict=True)]),
            "megabytes": {who: max(one.megabytes for one in found) for who, found in runs.items()},
            "score": mean_score(runs["cdec"][0].printed.splitlines()),
            "instructions": {
                who: None if some is None or one is None else (some - one) / COUNTED
                for who, (some, one) in counts.items()
            },
        }


def peer_score(path: Path) -> float:
    """Return the mean of the first scores of cdec's n-best lists."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return mean_score(list(file))


def report_decoding(figures: dict[str, Any]) -> None:
    """Print the table."""
    print(f"decoding: {figures['sentences']} sentences of Multi30k de-en, cdec's grammars\n")
    print("  decoder   pop limit   sentences/CPU-s   mean 1-best score   LM scores   pops")
    for row in figures["curve"]:
        work = row["work"]
        print(
            f"  camber {row['pop_limit']:12d} {row['rate']:17.0f} "
            f"{row['score']:19.4f} {work['lm_scores']:11.0f} {work['pops']:6.0f}"
        )
        note(f"pop limit {row['pop_limit']}, sentences a CPU-s", row["rate"])
        note(f"pop limit {row['pop_limit']}, mean score above -7", row["score"] + 7)
    print(f"  cdec   {PEER_POP_LIMIT:12d} {PEER_RATE:17.0f} {figures['peer_score']:19.4f} (elsewhere)\n")
    rate = figures["command"]["rate"]
    note("the whole command, sentences a CPU-s", rate)
    print(f"  `camber translate`, start-up included: {rate:.0f} sentences/CPU-s (cdec elsewhere: {PEER_COMMAND:.0f})")
    rate = figures["nbest"]["rate"]
    print(f"  100-best at pop limit 200: {rate:.0f} sentences/CPU-s")
    if "cdec" in figures:
        beside = figures["cdec"]
        print(f"  beside cdec, pop limit {PEER_POP_LIMIT}, whole commands, CPU-s: ", end="")
        print(", ".join(f"{who} {seconds}" for who, seconds in beside["cpu"].items()), f"= {beside['ratio']} times")
        counts = ", ".join(f"{who} {millions(count)}" for who, count in beside["instructions"].items())
        sizes = ", ".join(f"{who} {shown(size)}" for who, size in beside["megabytes"].items())
        print(f"  mean score of cdec {beside['score']:.4f}; MB {sizes}; M instructions a sentence {counts}")
        note("the whole command, times cdec", beside["ratio"].median)
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


def report_extraction(figures: dict[str, Any]) -> None:
    """Print the table."""
    print(f"\nextraction: Multi30k de-en, {figures['pairs']:,} pairs, {figures['sentences']:,} test sentences\n")
    print(f"  {'':8} {'sentences/CPU-s':>16} {'rules/CPU-s':>12} {'rules/sentence':>15}")
    for name, rate, rules in (
        ("camber", figures["rate"], figures["rules"]),
        ("loose", figures["loose"]["rate"], figures["loose"]["rules"]),
        ("cdec", PEER_EXTRACTION, PEER_RULES),
    ):
        place = " (elsewhere)\n" if name == "cdec" else ""
        print(f"  {name:8} {rate:16.1f} {rate * rules:12,.0f} {rules:15,.0f}{place}")
    note("extraction, sentences a CPU-s", figures["rate"])
    note("extraction with loose edges, sentences a CPU-s", figures["loose"]["rate"])
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


def report_edges(figures: dict[str, Any]) -> None:
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


def report_growth(figures: dict[str, Any]) -> None:
    """Print the table."""
    print(
        f"\ngrowth: tatoeba-fr-en (aligned in {figures['align_seconds']:.0f} CPU-s), {figures['sentences']:,} test"
        " sentences; sentences per CPU-second\n"
    )
    print(
        f"  {'pairs':>8} {'index CPU-s':>12} {'index MB':>9} {'add 1,000':>10} {'open':>6} {'extraction':>11}"
        f" {'rules/CPU-s':>12} {'rules/sentence':>15} {'and decoding':>13} {'peak MB':>8}"
    )
    for row in figures["rows"]:
        times = row["times"]
        print(
            f"  {row['pairs']:8,} {times['build']:12.2f} {row['index_mb']:9.0f} {times['add 1,000 pairs']:10.2f} "
            f"{row['open']:6.2f} {row['extraction']:11.0f} {row['rules_rate']:12,.0f} {row['rules']:15,.0f} "
            f"{row['both']:13.0f} {row['peak']:8.0f}"
        )
    print(f"\n  of the peak, {figures['rows'][0]['imported']:.0f} MB are Python and libraries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/ and anchors/")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the best counts")
    parser.add_argument("--sentences", type=int, default=1000, help="most test sentences for extraction and growth")
    parser.add_argument("--cdec", type=Path, help="a cdec that you built")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run beside cdec")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(PARTS)}")
    needed = ("data/multi30k/tok/train.de", "data/tatoeba-fr-en/train.fr", "anchors/cdec/cdec.ini", "anchors/moses")
    if missing := [name for name in needed if not (args.data / name).exists()]:
        parser.exit(1, f"no benchmark data in {args.data}: {missing[0]} is missing; name its folder with --data\n")
    measures: dict[str, tuple[Callable[..., dict[str, Any]], int, Callable[..., None]]] = {
        "decoding": (decoding, args.repeat, report_decoding),
        "extraction": (extraction, args.sentences, report_extraction),
        "edges": (edges, 300, report_edges),
        "growth": (growth, args.sentences, report_growth),
    }
    result: dict[str, Any] = {}
    for part in args.parts or PARTS:
        measure, number, _ = measures[part]
        result[part] = measure(args.data, number)
        if part == "decoding" and args.cdec is not None:
            lines = list(islice(read_lines(args.data / "data/multi30k/tok/test.de"), 100))
            result[part]["cdec"] = side_by_side(args.cdec, args.data / "anchors", lines, args.rounds)
    if args.json:
        print(json.dumps(result, indent=2))
        return
    print("one thread\n")
    for part in args.parts or PARTS:
        measures[part][2](result[part])


if __name__ == "__main__":
    main()
