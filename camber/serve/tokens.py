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


def translate_tokens(translator: Translator[Any], lines: Sequence[str], nbest: int = 1) -> Iterator[list[Translation]]:
    """Yield the translations of lines of tokens; no token is split or joined.

    Words of derivations and links are those of the texts. A token that the model knows by its class (a number, say)
    comes back as it was.
    """
    prepared = [_prepared(translator, line.split()) for line in lines]
    decoded = translator.decoder.decode(as_inputs([item.tokens for item in prepared]), nbest, engine=Threads(1))
    for source, derivations in zip(prepared, decoded, strict=True):
        best = []
        for item in derivations:
            links = tuple(translator.decoder.word_alignment(item))
            restored = restore(item.words, source, links)
            words = [
                source.protected.get(at, token) for token, at in zip(restored.tokens, restored.origins, strict=True)
            ]
            best.append(Translation(" ".join(words), list(source.written), item, links=tuple(restored.links)))
        recalled = _recall(translator, source)
        if recalled is not None:
            first = replace(best[0], text=recalled, recalled=True, decoded=best[0].text)
            best = [first, *(item for item in best if item.text != recalled)][:nbest]
        yield best


def _recall(translator: Translator[Any], source: Prepared) -> str | None:
    """Return the target of an added pair with this source, as tokens."""
    if translator.memory is None:
        return None
    as_given = translator.memory.recall(source.line)
    if as_given is not None:
        return as_given
    target = None if source.protected else translator.memory.recall("", source.tokens)
    return None if target is None else " ".join(translator.text.target_tokenizer.tokenise(target))


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
