"""Text that is tokenised already, as Moses' clients send it: tokens in, tokens out, with positions in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.model.translator import Translation, Translator
from camber.text.prepared import Prepared
from camber.text.protect import CLASS_OF
from camber.text.restore import restore
from camber.text.tokenise import escape, unescape


def translate_tokens(translator: Translator[Any], lines: Sequence[str], nbest: int = 1) -> Iterator[list[Translation]]:
    """Yield the translations of lines of tokens; no token is split or joined.

    Words of derivations and links are those of the texts. A token that the model knows by its class (a number, say)
    comes back as it was. Moses' tokeniser escapes ``'`` and others, as models do; clients with a tokeniser of their own
    do not, and get such tokens back as they write them.
    """
    rows = [line.split() for line in lines]
    plain = [_is_plain(translator, row) for row in rows]
    prepared = [
        _prepared(translator, [escape(token) if _has_plain(token) else token for token in row] if own else row)
        for row, own in zip(rows, plain, strict=True)
    ]
    decoded = translator.decoder.decode(as_inputs([item.tokens for item in prepared]), nbest, engine=Threads(1))
    for row, own, source, derivations in zip(rows, plain, prepared, decoded, strict=True):
        best = []
        for item in derivations:
            links = tuple(translator.decoder.word_alignment(item))
            restored = restore(item.words, source, links)
            words = [
                source.protected.get(at, token) for token, at in zip(restored.tokens, restored.origins, strict=True)
            ]
            text = " ".join(map(unescape, words) if own else words)
            best.append(Translation(text, row, item, links=tuple(restored.links)))
        recalled = _recall(translator, row, source, plain=own)
        if recalled is not None:
            first = replace(best[0], text=recalled, recalled=True, decoded=best[0].text)
            best = [first, *(item for item in best if item.text != recalled)][:nbest]
        yield best


def _is_plain(translator: Translator[Any], tokens: Sequence[str]) -> bool:
    """Say whether tokens have characters as they are that the model knows as entities."""
    return translator.text.settings.tokenizer != "none" and any(map(_has_plain, tokens))


def _has_plain(token: str) -> bool:
    return escape(token) != token == unescape(token)


def _recall(translator: Translator[Any], row: Sequence[str], source: Prepared, *, plain: bool) -> str | None:
    """Return the target of an added pair with this source, as tokens."""
    if translator.memory is None:
        return None
    as_given = translator.memory.recall(" ".join(row))
    if as_given is not None:
        return as_given
    target = None if source.protected else translator.memory.recall("", source.tokens)
    if target is None:
        return None
    tokens = translator.text.target_tokenizer.tokenise(target)
    return " ".join(map(unescape, tokens) if plain else tokens)


def _prepared(translator: Translator[Any], tokens: Sequence[str]) -> Prepared:
    seen, protected = list(tokens), {}
    if translator.text.protects:
        for at, token in enumerate(tokens):
            own = translator.text.source_tokens(token)
            if len(own) == 1 and own[0] in CLASS_OF and own[0] != token:
                seen[at], protected[at] = own[0], token
    prepared = Prepared(
        " ".join(tokens), tuple(seen), tuple(tokens), shouted=False, written=tuple(tokens), protected=protected
    )
    return translator.known_case(prepared)
