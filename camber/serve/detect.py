"""Which of the served languages a text is in, by the words and letters that the models know of each.

A language is a mixture of its words, as often as they were seen, and of a model of letters (each by the two before it)
for words that were not. There is nothing to download: both come from what models keep of the text that they were
trained on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from camber.model.translator import Translator

_words = re.compile(r"[^\W\d_]+")
_unspaced = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
#: letters of a text that are looked at
_LOOKED_AT = 2000
#: what probabilities are raised to: words of a text depend on each other, so that their product is too sure
_TEMPER = 0.35
_ALPHABET = 3000.0  # letters that a language might have: what was never seen gets its share of these


class Detected(NamedTuple):
    """A language and how sure it is, 0 to 100."""

    language: str
    confidence: float


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters; of scripts without spaces, the letters.

    >>> words_of("L'été 2024, 東京!")
    ['l', 'été', '東', '京']
    """
    found: list[str] = []
    for word in _words.findall(text[:_LOOKED_AT].lower()):
        if _unspaced.search(word):
            found += re.findall(f"{_unspaced.pattern}|[^{_unspaced.pattern[1:]}+", word)
        else:
            found.append(word)
    return found


@dataclass
class Language:
    """What is known of one language."""

    words: Counter[str] = field(default_factory=Counter)
    _letters: Counter[str] = field(default_factory=Counter)  # pieces of one, two and three letters
    _contexts: Counter[str] = field(default_factory=Counter)  # what stands before the last letter of these
    _seen: int = 0  # words, each as often as it was

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Language:
        """Learn from words and how often each was seen.

        >>> Language.of({"the": 3}).score("the") > Language.of({"der": 3}).score("the")
        True
        """
        language = cls()
        for text, count in counts.items():
            for word in words_of(text):
                language.words[word] += count
        language._seen = language.words.total()
        for word, count in language.words.items():
            shown = f"  {word} "
            weight = 1 + math.log(count)  # as new words are: the most frequent ones tell little of these
            for end in range(2, len(shown)):
                for start in range(end - 2, end + 1):
                    language._letters[shown[start : end + 1]] += weight  # type: ignore[assignment]
                    language._contexts[shown[start:end]] += weight  # type: ignore[assignment]
        return language

    def score(self, word: str) -> float:
        """Return the logarithm of a word's probability."""
        total = self._seen + 1.0
        spelt = 0.0
        shown = f"  {word} "
        for end in range(2, len(shown)):
            probability = 1 / _ALPHABET
            for start in (end, end - 1, end - 2):  # letters alone, then behind one, then behind two
                context = self._contexts[shown[start:end]]
                probability = (self._letters[shown[start : end + 1]] + 2 * probability) / (context + 2)
            spelt += math.log(probability)
        # words that were seen once or twice stand for those that were not seen
        return math.log(0.9 * self.words[word] / total + 0.1 * math.exp(max(spelt, -600.0)) + 1e-300)


class Detector:
    """Tells languages apart."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Learn from the words of each language and how often each was seen."""
        self.languages = {code: Language.of(words) for code, words in counts.items()}

    def detect(self, text: str) -> list[Detected]:
        """Return the languages that a text may be in, the most probable first; all of them with 0 if nothing tells.

        >>> Detector({"en": {"house": 2, "the": 5}, "fr": {"la": 5, "maison": 2}}).detect("the houses")[0].language
        'en'
        """
        words = words_of(text)
        if not words or not self.languages:
            return [Detected(code, 0.0) for code in self.languages]
        scores = {code: _TEMPER * sum(map(language.score, words)) for code, language in self.languages.items()}
        best = max(scores.values())
        weights = {code: math.exp(score - best) for code, score in scores.items()}
        total = sum(weights.values())
        found = [Detected(code, round(100 * weight / total, 1)) for code, weight in weights.items()]
        # a text that not even its best language knows a word of is not surely in it
        known = sum(any(word in language.words for language in self.languages.values()) for word in words) / len(words)
        return sorted(
            (Detected(code, round(sure * (0.2 + 0.8 * known), 1)) for code, sure in found),
            key=lambda it: -it.confidence,
        )


def counts_of(translators: Sequence[tuple[str, str, Translator[Any]]]) -> dict[str, dict[str, int]]:
    """Return the words of each language and how often they were seen, as models of (source, target) know them."""
    counts: dict[str, Counter[str]] = {}
    for source, target, translator in translators:
        for code, caser in ((source, translator.text.source_case), (target, translator.text.target_case)):
            if caser is not None:
                counts.setdefault(code, Counter()).update(
                    {word: sum(forms.values()) for word, forms in caser.counts.items()}
                )
        if translator.text.source_case is None:
            # vocabularies have no counts, but an order: Zipf's law
            words = translator.decoder.source_vocabulary.words
            ranked = {word: max(1, len(words) // place) for place, word in enumerate(words, 1)}
            counts.setdefault(source, Counter()).update(ranked)
    return {code: dict(words) for code, words in counts.items()}
