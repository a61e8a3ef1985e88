"""Measure how exactly raw text survives, and how close the tokens are to sacremoses'.

    python benchmarks/roundtrip.py [--data ../shared] [--show 5]

The first three columns of figures are shares of lines that come back byte for byte: all that is done around a model, if
the model leaves the tokens as they are (whole); `camber tokenize` and `camber detokenize` one after the other (marked);
and the rules of detokenising alone, without a memory of the line (rules), as sacremoses has them (peer).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from figures import note
from sacremoses import MosesDetokenizer, MosesTokenizer

from camber.files import read_lines
from camber.text.detokenise import learn_spaces
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.spacing import joined_tokens, marked_tokens
from camber.text.tokenise import Tokenizer

SETS = [
    ("multi30k/raw", "en"),
    ("tatoeba-fr-en", "en"),
    ("multi30k/raw", "de"),
    ("multi30k/raw", "fr"),
    ("tatoeba-fr-en", "fr"),
    ("tatoeba-fi-en", "fi"),
    ("tatoeba-fi-en", "en"),
    ("tatoeba-tr-en", "tr"),
    ("tatoeba-tr-en", "en"),
    ("tatoeba-zh-en", "zh"),
    ("tatoeba-zh-en", "en"),
    ("pythondocs-fr-en", "fr"),
    ("pythondocs-fr-en", "en"),
    ("callhome-es-en", "es"),
    ("callhome-es-en", "en"),
    ("eutrans-es-en", "es"),
    ("eutrans-es-en", "en"),
    ("europarl-fr-en-10k", "fr"),
    ("europarl-fr-en-10k", "en"),
]
PARTS = ("train", "dev", "test")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--show", type=int, default=0, help="print so many lines that did not come back")
    parser.add_argument("--no-peer", action="store_true", help="do not run sacremoses")
    arguments = parser.parse_args()
    data = arguments.data / "data"
    if not data.is_dir():
        sys.exit(f"{data} is absent: give the folder that holds data/multi30k with --data")
    print(f"{'set':18} {'lang':4} {'part':5} {'lines':>7}  {'whole':>7} {'marked':>7}", end="")
    print(f"  {'rules':>7} {'peer':>7}  {'same tokens':>11}", end="")
    print(f"  {'tok/s':>8} {'peer':>7}  {'detok/s':>8} {'peer':>7}")
    for folder, language in SETS:
        spaces = learn_spaces(language, read_lines(data / folder / f"train.{language}"))
        for part in PARTS:
            measure(data / folder / f"{part}.{language}", folder, language, part, spaces, arguments)


def measure(
    path: Path, folder: str, language: str, part: str, spaces: dict[str, str], arguments: argparse.Namespace
) -> None:
    lines = read_lines(path)
    ours = Tokenizer("moses", language, spaces, segment=True)
    pipeline = TextPipeline(TextSettings(source_lang=language, target_lang=language), spaces=spaces)
    whole = share(line == unchanged(line, pipeline) for line in lines)
    marked = share(line == joined_tokens(marked_tokens(line, ours), ours) for line in lines)
    tokens, tokenise_seconds = timed(ours.tokenise, lines)
    back, detokenise_seconds = timed(ours.detokenise, tokens)
    exact = share(a == b for a, b in zip(lines, back, strict=True))
    peer_exact = same = peer_tokenise = peer_detokenise = float("nan")
    peer_tokens: list[list[str]] = []
    if not arguments.no_peer:
        tokenizer, detokenizer = MosesTokenizer(language), MosesDetokenizer(language)
        peer_tokens, peer_tokenise = timed(tokenizer.tokenize, lines)
        peer_back, peer_detokenise = timed(detokenizer.detokenize, peer_tokens)
        peer_exact = share(a == b for a, b in zip(lines, peer_back, strict=True))
        same = share(a == b for a, b in zip(tokens, peer_tokens, strict=True))
    print(
        f"{folder:18} {language:4} {part:5} {len(lines):7,}  {whole:7.2%} {marked:7.2%}"
        f"  {exact:7.2%} {peer_exact:7.2%}  {same:11.2%}"
        f"  {len(lines) / tokenise_seconds:8,.0f} {len(lines) / peer_tokenise:7,.0f}"
        f"  {len(lines) / detokenise_seconds:8,.0f} {len(lines) / peer_detokenise:7,.0f}"
    )
    if not arguments.no_peer:
        note(f"{folder}, {language}, {part}: tokenising, times sacremoses", peer_tokenise / tokenise_seconds)
        note(f"{folder}, {language}, {part}: detokenising, times sacremoses", peer_detokenise / detokenise_seconds)
    wrong = [(a, b) for a, b in zip(lines, back, strict=True) if a != b]
    for line, found in wrong[: arguments.show]:
        print(f"    - {line}\n    + {found}")
    differ = [(a, b) for a, b in zip(tokens, peer_tokens, strict=False) if a != b]
    for mine, theirs in differ[: arguments.show]:
        print(f"    ours  {' '.join(mine)}\n    peer  {' '.join(theirs)}")


def unchanged(line: str, pipeline: TextPipeline) -> str:
    """Return a line as a model gives it back that leaves all tokens as they are."""
    paragraph = pipeline.paragraph(line)
    texts = [
        pipeline.finish(sentence.tokens, sentence, [(at, at) for at in range(len(sentence.tokens))])
        for sentence in paragraph.sentences
    ]
    return paragraph.join(texts)


def timed(function, items):
    start = time.process_time()
    results = [function(item) for item in items]
    return results, max(time.process_time() - start, 1e-9)


def share(values) -> float:
    values = list(values)
    return sum(values) / max(1, len(values))


if __name__ == "__main__":
    main()
