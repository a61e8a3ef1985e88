"""All that there is to see of a translation, as plain values: phrases, links, features, terms, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from camber.corpus.constraints import folded
from camber.decode.terms import TermFinder
from camber.memory.match import Match
from camber.model.kinds import KINDS
from camber.model.translator import Translation, Translator
from camber.serve.jobs import Options
from camber.text.tokenise import unescape

#: candidates that are told
CANDIDATES = 6
#: features beyond these are told together
_MOST_FEATURES = 12


def details(text: str, best: Sequence[Translation], options: Options, finder: TermFinder | None) -> dict[str, Any]:
    """Return what there is to see of a piece of text."""
    first = best[0]
    derivation = first.derivation
    names, values = contributions(options.translator, first)
    plain = _plain(options.translator)
    spans = zip(
        derivation.spans.tolist(), derivation.target_spans.tolist(), derivation.rules.tolist(), values, strict=True
    )
    return {
        "source": text,
        "text": first.text,
        "tokens": [plain(token) for token in first.tokens],
        "words": [plain(word) for word in derivation.words],
        "links": [list(link) for link in first.links],
        "places": [list(place) for place in first.places],
        "features": names,
        "parts": [
            {"source": source, "target": target, "known": rule >= 0, "features": [round(value, 3) for value in row]}
            for source, target, rule, row in spans
        ],
        "score": round(derivation.score, 3),
        "confidence": None if first.confidence is None else round(first.confidence, 3),
        "word_confidences": [round(value, 3) for value in first.word_confidences],
        "recalled": first.recalled,
        "notes": [*first.notes, *first.repairs],
        "alternatives": _alternatives(best),
        "terms": _terms(text, first, options.translator, finder),
    }


def _plain(translator: Translator[Any]) -> Callable[[str], str]:
    """Return what makes a token what was written: tokenisers escape what means something in Moses' formats."""
    return str if translator.text.settings.tokenizer == "none" else unescape


def _alternatives(best: Sequence[Translation]) -> list[dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = {}
    for item in best[1:]:
        if item.text != best[0].text:
            texts.setdefault(item.text, {"text": item.text, "score": round(item.derivation.score, 3)})
    return list(texts.values())


def contributions(translator: Translator[Any], item: Translation) -> tuple[list[str], list[list[float]]]:
    """Return names of features, and what each adds to the score in every part; small ones come together as "others".

    Nothing for models that do not weigh features.
    """
    derivation = item.derivation
    parts = len(derivation.rules)
    if translator.directory is None or not KINDS.load(translator.directory.kind).weighs:
        return [], [[] for _ in range(parts)]
    weighing = translator.decoder.weighing
    columns = {
        feature.name: np.nan_to_num(weighing.worth(feature.name, np.ascontiguousarray(derivation.features[:, k])))
        for k, feature in enumerate(derivation.inputs)
    }
    # what depends on several features together: trees
    rest = derivation.score - sum(float(column.sum()) for column in columns.values())
    by_size = sorted(columns, key=lambda name: -float(np.abs(columns[name]).sum()))
    shown = [name for name in by_size[:_MOST_FEATURES] if np.abs(columns[name]).sum() > 0]
    others = sum((columns[name] for name in columns if name not in shown), np.zeros(parts))
    if abs(rest) > 1e-3 and parts:
        others = others + rest / parts
    table = [columns[name] for name in shown]
    if np.abs(others).sum() > 1e-6:
        shown, table = [*shown, "others"], [*table, others]
    return shown, np.array(table).reshape(len(table), parts).T.tolist()


def _terms(
    text: str, item: Translation, translator: Translator[Any], finder: TermFinder | None
) -> list[dict[str, Any]]:
    """Return the terms in a text, and whether the translation has one of their targets."""
    if finder is None:
        return []
    plain = _plain(translator)
    target = folded(item.derivation.words if not item.recalled else translator.text.target_tokens(item.text))
    found, first = [], 0
    for sentence in translator.paragraph(text).sentences:
        terms, bans = finder.find(sentence)
        for term in terms:
            found.append(
                {
                    "source": [first + term.begin, first + term.end],
                    "targets": [" ".join(map(plain, row)) for row in term.targets],
                    "obeyed": any(_within(folded(row), target) for row in term.targets),
                }
            )
        for ban in bans:
            found.append(
                {
                    "source": [first + ban.begin, first + ban.end],
                    "forbidden": " ".join(map(plain, ban.target)),
                    "obeyed": not _within(folded(ban.target), target),
                }
            )
        first += len(sentence.tokens)
    return found


def _within(row: Sequence[str], words: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(row)]) == tuple(row) for at in range(len(words) - len(row) + 1))


def told_match(match: Match, text: str) -> dict[str, Any]:
    """Return a pair of the memory, with where it differs from a text."""
    return match.to_json(text)
