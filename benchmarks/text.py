"""Measure what is done around the search: protected text, sentences, scripts without spaces, and what it costs.

    python benchmarks/text.py [pythondocs] [chinese] [sentences] [--data ../shared] [--work DIR]

pythondocs: a model with protected text and one without, on a software manual with mark-up: BLEU, the share of
placeholders and roles of the source that its translation has, and the CPU time around the search.
chinese: both ways. sentences: Turkish, line by line, and with five sentences on each line, split or not.
Models are made in --work, and made once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import sacrebleu

import camber
from camber.engine import Threads
from camber.files import read_lines
from camber.pipeline.settings import TrainSettings
from camber.text.protect import NUMBER, find_spans

ONE = Threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="pythondocs, chinese, sentences (default: all)")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--work", type=Path, default=Path("text-benchmark"))
    arguments = parser.parse_args()
    data = arguments.data / "data"
    if not data.is_dir():
        sys.exit(f"{data} is absent: give the folder that holds data/pythondocs-fr-en with --data")
    arguments.work.mkdir(parents=True, exist_ok=True)
    parts = {"pythondocs": pythondocs, "chinese": chinese, "sentences": sentences}
    for name in arguments.parts or parts:
        parts[name](data, arguments.work)


def trained(folder: Path, source: str, target: str, model: Path, **text: object) -> camber.Translator:
    if model.is_dir():
        return camber.load(model)
    settings = TrainSettings.from_dict({"text": {"source_lang": source, "target_lang": target} | text})
    return camber.train(
        folder / f"train.{source}",
        folder / f"train.{target}",
        model,
        dev_source=folder / f"dev.{source}",
        dev_target=folder / f"dev.{target}",
        settings=settings,
        engine=ONE,
    )


def bleu(texts: list[str], references: list[str], tokenize: str = "13a") -> float:
    return sacrebleu.corpus_bleu(texts, [references], tokenize=tokenize).score


def kept(source: list[str], texts: list[str]) -> tuple[int, int]:
    """Count the protected spans of the source but numbers, and those of them that are in the translations."""
    total = there = 0
    for line, text in zip(source, texts, strict=True):
        spans = Counter(line[start:end] for start, end, kind in find_spans(line) if kind != NUMBER)
        total += sum(spans.values())
        there += sum(min(count, text.count(span)) for span, count in spans.items())
    return total, there


def pythondocs(data: Path, work: Path) -> None:
    folder = data / "pythondocs-fr-en"
    for name, text in {
        "protected": {},
        "not protected": {"protection": False, "split": False, "segment": False},
    }.items():
        model = trained(folder, "fr", "en", work / f"pythondocs-{name.replace(' ', '-')}", **text)
        for part in ("dev", "test"):
            source, reference = read_lines(folder / f"{part}.fr"), read_lines(folder / f"{part}.en")
            watch = Watch(model)
            start = time.process_time()
            texts = model.translate(source, engine=ONE)
            whole = time.process_time() - start
            total, there = kept(source, texts)
            print(f"pythondocs {part:4} {name:13} BLEU {bleu(texts, reference):.2f}", end="; ")
            print(f"placeholders and roles kept: {there:,} of {total:,}", end="; ")
            print(f"CPU time {whole:.1f} s, around the search {watch.seconds:.2f} s", end=", ")
            print(f"{100 * watch.seconds / (whole - watch.seconds):.1f} % of the rest", flush=True)
            watch.end()


class Watch:
    """Add up the time that a translator spends on preparing lines and finishing translations."""

    def __init__(self, model: camber.Translator) -> None:
        self.model, self.seconds = model, 0.0
        self.before = model.paragraph, model._finished
        model.paragraph, model._finished = map(self.timed, self.before)

    def timed(self, function):
        def run(*arguments):
            start = time.process_time()
            result = function(*arguments)
            self.seconds += time.process_time() - start
            return result

        return run

    def end(self) -> None:
        self.model.paragraph, self.model._finished = self.before


def chinese(data: Path, work: Path) -> None:
    folder = data / "tatoeba-zh-en"
    for source, target in (("zh", "en"), ("en", "zh")):
        model = trained(folder, source, target, work / f"{source}-{target}")
        for part in ("dev", "test"):
            texts = model.translate(read_lines(folder / f"{part}.{source}"), engine=ONE)
            score = bleu(texts, read_lines(folder / f"{part}.{target}"), "zh" if target == "zh" else "13a")
            print(f"tatoeba {source}→{target} {part:4} BLEU {score:.2f}", flush=True)


def sentences(data: Path, work: Path, many: int = 5) -> None:
    folder = data / "tatoeba-tr-en"
    model = trained(folder, "tr", "en", work / "tr-en")
    source, reference = read_lines(folder / "test.tr"), read_lines(folder / "test.en")
    lines, joined = in_groups(source, many), in_groups(reference, many)
    found = {
        "one sentence on a line": in_groups(model.translate(source, engine=ONE), many),
        f"{many} on a line, split": model.translate(lines, engine=ONE),
        f"{many} on a line, not split": model.reading({"split": False}).translate(lines, engine=ONE),
    }
    for name, texts in found.items():
        print(f"tatoeba tr→en test, {name:25} BLEU {bleu(texts, joined):.2f}", flush=True)


def in_groups(lines: list[str], many: int) -> list[str]:
    return [" ".join(lines[first : first + many]) for first in range(0, len(lines), many)]


if __name__ == "__main__":
    main()
