"""Make the golden files anew, and write only what an independent tool confirms: ``python tests/golden/make.py``.

It needs kenlm, nltk, sacremoses and sacrebleu. Tokens are compared with sacremoses, language model scores with KenLM on
the ARPA file that we wrote, the phrase pairs of every sentence with nltk's extraction from the same alignment, metrics
with sacreBLEU. Tests compare what we make later with these files, and need none of these tools.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]


def confirmed_tokens(lines: list[str]) -> bool:
    """Ask sacremoses."""
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer("en")
    return all(moses.tokenize(raw, return_str=True) == ours for raw, ours in (line.split("\t") for line in lines))


def confirmed_lm_scores(lines: list[str]) -> bool:
    """Ask KenLM."""
    import kenlm
    from golden.extracts import write_arpa

    with tempfile.TemporaryDirectory() as folder:
        model = kenlm.Model(str(write_arpa(Path(folder))))
    return all(abs(model.score(text) - float(ours)) < 2e-4 for ours, text in (line.split("\t") for line in lines))


def confirmed_phrases(lines: list[str]) -> bool:
    """Ask nltk, sentence pair by sentence pair."""
    from golden.extracts import bitext, sides
    from nltk.translate.phrase_based import phrase_extraction

    _, alignment = bitext()
    counts: Counter[tuple[str, str]] = Counter()
    for number, (source, target) in enumerate(zip(*sides(), strict=True)):
        links = alignment.links[alignment.offsets[number] : alignment.offsets[number + 1]].tolist()
        found = phrase_extraction(" ".join(source), " ".join(target), [tuple(link) for link in links], 100)
        # a limit of nltk's own would cut target sides that are longer, rather than leave them out
        spans = {(s, t, x, y) for s, t, x, y in found if max(s[1] - s[0], t[1] - t[0]) <= 4}
        counts.update((x, y) for *_, x, y in spans)
    return [f"{count}\t{x}\t{y}" for (x, y), count in sorted(counts.items())] == lines


def confirmed_scores(lines: list[str]) -> bool:
    """Ask sacreBLEU."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    from camber.corpus.hotel import generate

    raw = generate(train=120, dev=5, test=5, seed=15).train[1]
    theirs = [metric.corpus_score(raw[:60], [raw[60:]]).score for metric in (BLEU(), CHRF(), TER())]
    return all(abs(float(line.split("\t")[1]) - score) < 1e-5 for line, score in zip(lines, theirs, strict=True))


def main() -> int:
    from golden.extracts import EXTRACTS

    failed = False
    for name, extract in EXTRACTS.items():
        lines = extract()
        good = globals()[f"confirmed_{name}"](lines)
        print(f"{name}: {len(lines)} lines, {'confirmed' if good else 'NOT CONFIRMED, not written'}")
        if good:
            (HERE / f"{name}.tsv").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
