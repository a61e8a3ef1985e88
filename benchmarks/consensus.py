"""What a consensus costs: comparing the hypotheses of a list, beside sacreBLEU of every pair.

    python benchmarks/consensus.py [--sentences 50] [--words 12] [--json]

Lists are made of one sentence each, in which every word is another one with the chance of a tenth, as hypotheses of one
sentence are much alike. One thread, CPU time; what the searches cost is in experiments/consensus. sacreBLEU scores one
pair after the other.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from sacrebleu.metrics import BLEU as SacreBLEU

from camber.decode.consensus.grams import gram_posteriors, pair_bleu

SIZES = (50, 100, 200, 400)
#: pairs that the peer scores
PAIRS = 500


def lists(size: int, words: int, sentences: int) -> list[list[np.ndarray]]:
    """Make lists of hypotheses that are much alike."""
    rng = np.random.default_rng(1)
    made = []
    for _ in range(sentences):
        base = rng.integers(0, 1000, words)
        made.append([np.where(rng.random(words) < 0.1, rng.integers(0, 1000, words), base) for _ in range(size)])
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--words", type=int, default=12)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    args = parser.parse_args()
    few = lists(5, args.words, 1)[0]
    gram_posteriors(few, np.full((5, 1), 0.2))  # compile
    pair_bleu(few)
    rows = []
    for size in SIZES:
        made, chances = lists(size, args.words, args.sentences), np.full((size, 1), 1.0 / size)
        start = time.process_time()
        for words in made:
            gram_posteriors(words, chances)
        linear = time.process_time() - start
        start = time.process_time()
        for words in made:
            pair_bleu(words)
        pairs = time.process_time() - start
        rows.append((size, 1000 * linear / args.sentences, 1000 * pairs / args.sentences))
    peer = SacreBLEU(smooth_method="add-k", smooth_value=1, tokenize="none", effective_order=True)
    texts = [" ".join(map(str, words)) for words in lists(PAIRS, args.words, 1)[0]]
    start = time.process_time()
    for text in texts:
        peer.sentence_score(text, [texts[0]])
    each = (time.process_time() - start) / PAIRS
    if args.json:
        print(json.dumps({"rows": rows, "sacrebleu": each}))
        return
    print(f"{'hypotheses':>10} {'n-gram posteriors, ms':>22} {'BLEU of all pairs, ms':>22} {'sacreBLEU, ms':>14}")
    for size, linear, pairs in rows:
        print(f"{size:10} {linear:22.2f} {pairs:22.2f} {1000 * each * size * size:14.0f}")


if __name__ == "__main__":
    main()
