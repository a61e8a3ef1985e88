"""Case: what a word looks like when it does not begin a sentence.

A truecaser counts how words are written away from sentence starts, and gives the first word of a sentence its most
frequent form: ``The`` becomes ``the``, ``Paris`` stays. So the same word is one word for the translation model, and
names keep their capital. On the way out :func:`recase` raises the first letter of every sentence again. In Turkish and
Azeri, the small letter of I is ı, and the capital of i is İ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from camber.errors import InputError
from camber.files import decode_lines, read_bytes, write_lines
from camber.numbers import is_whole

#: languages in which i and ı are two letters, each with a capital of its own
DOTTED = frozenset(["tr", "tur", "az", "aze"])
_SMALL = str.maketrans({"I": "ı", "İ": "i"})
_CAPITAL = str.maketrans({"i": "İ", "ı": "I"})

_ENDS = frozenset([".", "!", "?", "。", "！", "？"])
_QUOTES = frozenset(["&quot;", '"', "&apos;", "'", "”", "“", "»", "«", "’", "‘"])


def lower(text: str, language: str = "") -> str:
    """Return a text in small letters of a language.

    >>> lower("ISSIZ"), lower("ISSIZ", "tr"), lower("İyi", "tr")
    ('issiz', 'ıssız', 'iyi')
    """
    return (text.translate(_SMALL) if language in DOTTED else text).lower()


def upper(text: str, language: str = "") -> str:
    """Return a text in capitals of a language.

    >>> upper("iyi"), upper("iyi", "tr"), upper("ısı", "az")
    ('IYI', 'İYİ', 'ISI')
    """
    return (text.translate(_CAPITAL) if language in DOTTED else text).upper()


def sentence_starts(tokens: Sequence[str]) -> Iterator[int]:
    """Yield the positions of the words that begin a sentence: the first one, and the first after ``.``, ``!`` or ``?``.

    Marks before the word (quotes, brackets, ¿) are passed over; a number takes the place of the word.

    >>> list(sentence_starts(["¿", "Qué", "?", "Nada", "."]))
    [1, 3]
    """
    starting, end, quotes = True, "", 0
    for position, token in enumerate(tokens):
        if token in _ENDS:
            starting, end, quotes = True, token, 0
        elif not starting:
            continue
        elif token in _QUOTES:
            quotes += 1
        elif any(map(str.isalnum, token)) and not _is_mark(token):
            # "Stop!" he said: one quotation mark after ! or ?, and the sentence may go on (two: another one begins)
            if not (end in ("!", "?") and quotes == 1 and token.islower()):
                yield position
            starting = False
            if _ENDS.isdisjoint(tokens[position + 1 : -1]):  # nothing begins behind the last one
                return


def _is_mark(token: str) -> bool:
    """Say whether a token with letters is only an escaped symbol: ``&quot;``."""
    return token[0] == "&" and token[-1] == ";" and "&" not in token[1:]


def is_shouted(tokens: Sequence[str]) -> bool:
    """Say whether a line is written in capitals: two words or more, all of them.

    >>> is_shouted(["NO", "SMOKING", "!"]), is_shouted(["NASA"]), is_shouted(["I", "sing"])
    (True, False, False)
    """
    long = 0
    for token in tokens:
        if token[:1].isalpha():
            if not token.isupper():
                return False
            long += len(token) > 1
    return long >= 2


class Forms:
    """How often words were seen in each form inside sentences; sentence starts and lines in capitals tell nothing."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def count(self, tokens: Sequence[str]) -> None:
        """Count the forms of a tokenised sentence."""
        if not is_shouted(tokens):
            self._seen.update(tokens)
            self._seen.subtract([tokens[position] for position in sentence_starts(tokens)])

    def add(self, others: Forms) -> None:
        """Add what was counted in text that follows."""
        self._seen.update(others._seen)

    def truecaser(self, language: str = "") -> Truecaser:
        """Return what was learnt."""
        counts: dict[str, dict[str, int]] = {}
        for form, count in self._seen.items():
            small = lower(form, language)
            if count > 0 and small != upper(form, language):  # words that have a case
                counts.setdefault(small, {})[form] = count
        return Truecaser(counts, language)


class Truecaser:
    """The forms of every word, with how often each was seen inside sentences.

    >>> caser = Truecaser.learn([["It", "is", "Paris", "."], ["The", "cat", "it", "saw"]])
    >>> caser.apply(["It", "rains", "."]), caser.apply(["Paris", "sings"])
    (['it', 'rains', '.'], ['Paris', 'sings'])
    """

    def __init__(self, counts: dict[str, dict[str, int]], language: str = "") -> None:
        self.counts = counts  # small letters → form → count
        self.language = language  # base code
        self._best: dict[str, str] = {}  # of words with several forms: there may be as many as letters allow

    @classmethod
    def learn(cls, sentences: Iterable[Sequence[str]], language: str = "") -> Truecaser:
        """Count forms in tokenised text; sentence starts and lines in capitals tell nothing."""
        forms = Forms()
        for tokens in sentences:
            forms.count(tokens)
        return forms.truecaser(language)

    def best(self, word: str) -> str | None:
        """Return the most frequent form of a word inside sentences, None if it was not seen there."""
        small = lower(word, self.language)
        forms = self.counts.get(small)
        if not forms:
            return None
        if len(forms) == 1:
            return next(iter(forms))
        if small not in self._best:
            # Ties go to small letters, then to code point order: the same model from the same text.
            self._best[small] = min(forms, key=lambda form: (-forms[form], form != small, form))
        return self._best[small]

    def apply(self, tokens: Sequence[str]) -> list[str]:
        """Return the tokens with the words at sentence starts in their most frequent form.

        A word that is unknown stays as it is, and so does one in small letters: nobody raised it. One with capitals
        beyond the first (``NATO``, ``US``) changes only if it was never seen that way. In a line of capitals every word
        takes its most frequent form, or small letters.
        """
        if is_shouted(tokens):
            return [self.best(token) or lower(token, self.language) for token in tokens]
        out = list(tokens)
        for position in sentence_starts(tokens):
            word = tokens[position]
            small = lower(word, self.language)
            best = self.best(word)
            if best is None or word in (best, small):
                continue
            if not word[1:].islower() and len(word) > 1 and word in self.counts[small]:
                continue
            out[position] = best
        return out

    @cached_property
    def lowers_unknown(self) -> bool:
        """Whether a word that was never seen is rather one in small letters: most of those that were seen once are."""
        once = [form == small for small, forms in self.counts.items() for form, count in forms.items() if count == 1]
        return 2 * sum(once) > len(once)

    def unseen(self, word: str) -> str:
        """Return how a word that begins a sentence is written inside one, if it was never seen there.

        >>> Truecaser.learn([["The", "old", "house"]]).unseen("Barn"), Truecaser.learn([["Das", "Haus"]]).unseen("Hof")
        ('barn', 'Hof')
        """
        small = lower(word, self.language)
        known = self.best(word) is not None or word[1:] != small[1:] or len(word) < 2
        return word if known or not self.lowers_unknown else small

    def save(self, path: str | Path) -> None:
        """Write one line per word: its small form, then each form with its count, tab-separated, in order."""
        write_lines(
            path,
            (
                "\t".join([small, *(f"{form}\t{count}" for form, count in sorted(forms.items()))])
                for small, forms in sorted(self.counts.items())
            ),
        )

    @classmethod
    def load(cls, path: str | Path, language: str = "") -> Truecaser:
        """Read what :meth:`save` wrote."""
        counts: dict[str, dict[str, int]] = {}
        for number, line in enumerate(decode_lines(read_bytes(path), path), 1):
            small, *fields = line.split("\t")
            if len(fields) == 2 and is_whole(fields[1]):  # nearly all words have one form
                counts[small] = {fields[0]: int(fields[1])}
                continue
            if not fields or len(fields) % 2 or not all(map(is_whole, fields[1::2])):
                raise InputError("not a word with its forms and counts", path, number, remedy="train the model again")
            counts[small] = {form: int(count) for form, count in zip(fields[::2], fields[1::2], strict=True)}
        if language in DOTTED:  # earlier versions sorted forms by small letters of other languages
            old, counts = counts, {}
            for forms in old.values():
                for form, count in forms.items():
                    counts.setdefault(lower(form, language), {})[form] = count
        return cls(counts, language)


def recase(tokens: Sequence[str], source: Sequence[str] = (), language: str = "") -> list[str]:
    """Raise the first letter of every sentence of a translation.

    The first word stays small if the source line began with a small letter, and others do if all sentences of the
    source but the first do; a word with a capital further on (``iPhone``) and an address (``www.example.org``) always
    stay as they are.

    >>> recase(["¿", "dónde", "?"]), recase(["iPhone", "owners"]), recase(["oh", "!", "you"], ["Ah", "!", "toi"])
    (['¿', 'Dónde', '?'], ['iPhone', 'owners'], ['Oh', '!', 'you'])
    """
    out = list(tokens)
    begins = sentence_starts(source)
    first_small = _is_small(source, next(begins, None))
    others_small: bool | None = None
    for sentence, position in enumerate(sentence_starts(tokens)):
        if sentence and others_small is None:
            others = [_is_small(source, begin) for begin in begins]
            others_small = bool(others) and all(others)
        if others_small if sentence else first_small:
            continue
        word = tokens[position]
        plain = word.islower() and "@" not in word and "://" not in word and not word.startswith("www.")
        capital = upper(word[0], language)
        if plain and len(capital) == 1:  # ß has no capital of one letter
            out[position] = capital + word[1:]
    return out


def _is_small(tokens: Sequence[str], position: int | None) -> bool:
    return position is not None and tokens[position][0].islower()
