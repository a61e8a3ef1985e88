"""The tokeniser on text that invites work of a higher order: 1 MB without a space, by what its rules look at.

    python benchmarks/tokenise.py

Prints the CPU seconds of the slowest lines; the goal is 0.5 at most, on any of them.
"""

from __future__ import annotations

import argparse
import time

from figures import note

from camber.text.tokenise import Tokenizer

PIECES = [
    "a", ".", "'", ",", "1,", "9", "a.", "a@b.c", "a@b.c,", "www.a.b/", "http://x.y,", "e\u0301", "\u0301", "漢字",
    "漢a字b,。", "a'", "Mr.", "...a", "&#", "&#1;", "&amp;", "-", "_", "'s", "1'", "1's", "a’", "’'", "|", "😀", "@",
    "@a.", "a.@", "www.", "a:", "EU:s", "No.1", "”", '"a', "(s)", "`", "]]", "a.'b,", "'.a'",
]  # fmt: skip
LANGUAGES = ("en", "fr", "fi", "de", "zh")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="bytes of a line")
    parser.add_argument("--show", type=int, default=8, help="how many of the slowest lines to print")
    options = parser.parse_args()
    costs = []
    for language in LANGUAGES:
        tokenizer = Tokenizer("moses", language)
        tokenizer.tokenise("Warm up.")
        for piece in PIECES:
            line = piece * (options.size // len(piece.encode()))
            begin = time.process_time()
            tokens = len(tokenizer.tokenise(line))
            costs.append((time.process_time() - begin, language, piece, tokens))
    note("1 MB without a space, the slowest, CPU-s", max(costs)[0], more_is_better=False)
    print(f"{len(costs)} lines of {options.size:,} bytes; the slowest:")
    for seconds, language, piece, count in sorted(costs, reverse=True)[: options.show]:
        print(f"  {seconds:.2f} CPU s  {language}  {piece!r} repeated: {count:,} tokens")


if __name__ == "__main__":
    main()
