"""Random constraints for the sentences of toy models."""

from __future__ import annotations

from toys.models import TARGET

from camber.corpus.constraints import Ban, Constraints, Term


def random_terms(rng, length, targets=(*TARGET[:3], "strange", "term")):
    """Draw terms that do not overlap, of up to two words, each with up to two targets; and perhaps a ban."""
    terms, at = [], 0
    while at < length:
        size = int(rng.integers(1, 3))
        if rng.random() < 0.4 and at + size <= length:
            rows = {tuple(map(str, rng.choice(targets, rng.integers(1, 3)))) for _ in range(rng.integers(1, 3))}
            terms.append(Term(at, at + size, tuple(sorted(rows))))
            at += size
        else:
            at += 1
    bans = ()
    if rng.random() < 0.4:
        begin = int(rng.integers(length))
        row = tuple(str(word).upper() for word in rng.choice(TARGET[:3], rng.integers(1, 3)))
        bans = (Ban(begin, int(rng.integers(begin, length)) + 1, row),)
    return Constraints(tuple(terms), bans)
