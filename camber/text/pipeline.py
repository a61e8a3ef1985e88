"""From raw lines to the tokens that a model is trained on, and from its output back to raw text.

text = TextPipeline.learn(TextSettings(source_lang="de", target_lang="en"), german_lines, english_lines)
prepared = text.prepare("Wo ist der Bahnhof?")                      # prepared.tokens: what the model translates
text.finish(["where", "is", "the", "station", "?"], prepared)       # → 'Where is the station?'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from camber.errors import ModelError
from camber.files import decode_lines, read_bytes, write_lines
from camber.settings import Settings, setting
from camber.text.case import Truecaser, is_shouted, recase
from camber.text.detokenise import learn_spaces
from camber.text.prepared import Prepared
from camber.text.tokenise import KINDS, Tokenizer, base_language

_SETTINGS_FILE = "text.json"
_CASE_FILES = ("truecase.source.tsv", "truecase.target.tsv")


@dataclass(frozen=True)
class TextSettings(Settings):
    """How raw text becomes tokens."""

    tokenizer: str = setting("moses", "moses: raw text in and out; none: text that is already tokenised", choices=KINDS)
    lowercase: bool = setting(False, "lower-case everything instead of truecasing")
    source_lang: str = setting("", "language code of the source, for its tokenisation rules")
    target_lang: str = setting("", "language code of the target, for its tokenisation rules")


class TextPipeline:
    """Tokenise, case and back, for both sides of a model.

    With tokenizer "none" nothing is changed, and case is left alone unless `lowercase` asks for small letters. With
    `lowercase` the output is in small letters too.
    """

    def __init__(
        self,
        settings: TextSettings,
        source_case: Truecaser | None = None,
        target_case: Truecaser | None = None,
        spaces: dict[str, str] | None = None,
    ) -> None:
        self.settings, self.spaces = settings, spaces
        self.source_case, self.target_case = source_case, target_case
        self.source_tokenizer = Tokenizer(settings.tokenizer, settings.source_lang)
        self.target_tokenizer = Tokenizer(settings.tokenizer, settings.target_lang, spaces)

    @classmethod
    def learn(cls, settings: TextSettings, source_lines: Sequence[str], target_lines: Sequence[str]) -> TextPipeline:
        """Learn the truecasers (and the target's habits of spacing) from raw parallel text."""
        if settings.tokenizer == "none":
            return cls(settings)
        spaces = learn_spaces(base_language(settings.target_lang), target_lines)
        plain = cls(settings, spaces=spaces)
        if settings.lowercase:
            return plain
        source = Truecaser.learn(map(plain.source_tokenizer.tokenise, source_lines))
        target = Truecaser.learn(map(plain.target_tokenizer.tokenise, target_lines))
        return cls(settings, source, target, spaces)

    def prepare(self, line: str) -> Prepared:
        """Prepare a source line for translation."""
        plain = self.source_tokenizer.tokenise(line)
        return Prepared(line, tuple(self._cased(plain, self.source_case)), tuple(plain), is_shouted(plain))

    def source_tokens(self, line: str) -> list[str]:
        """Return the tokens of a source line as the model knows them."""
        return self._cased(self.source_tokenizer.tokenise(line), self.source_case)

    def target_tokens(self, line: str) -> list[str]:
        """Return the tokens of a target line as the model knows them."""
        return self._cased(self.target_tokenizer.tokenise(line), self.target_case)

    def _cased(self, tokens: list[str], caser: Truecaser | None) -> list[str]:
        if self.settings.lowercase:
            return [token.lower() for token in tokens]
        return caser.apply(tokens) if caser else tokens

    def finish(self, tokens: Sequence[str], source: Prepared) -> str:
        """Return the raw text of a translation: cased like its source line, then detokenised.

        A source line in capitals gives a translation in capitals; otherwise sentences begin with a capital, unless the
        source line begins with a small letter.
        """
        if self.settings.lowercase or self.settings.tokenizer == "none":
            return self.target_tokenizer.detokenise(tokens)
        if source.shouted:
            return self.target_tokenizer.detokenise(tokens).upper()
        return self.target_tokenizer.detokenise(recase(tokens, source.plain))

    def save(self, folder: str | Path) -> None:
        """Write ``text.json`` and, where there are truecasers, ``truecase.*.tsv`` into a folder that exists."""
        folder = Path(folder)
        content = {"settings": self.settings.to_dict(), "spaces": self.spaces}
        write_lines(folder / _SETTINGS_FILE, json.dumps(content, indent=2).split("\n"))
        for name, caser in zip(_CASE_FILES, (self.source_case, self.target_case), strict=True):
            if caser:
                caser.save(folder / name)

    @classmethod
    def load(cls, folder: str | Path) -> TextPipeline:
        """Read what :meth:`save` wrote."""
        path = Path(folder) / _SETTINGS_FILE
        if not path.is_file():
            raise ModelError(f"{path}: no such file; the model is not whole: train it again")
        try:
            content = json.loads("\n".join(decode_lines(read_bytes(path), path)))
            settings, spaces = TextSettings.from_dict(content["settings"]), content["spaces"]
            if not (spaces is None or isinstance(spaces, dict)):
                raise ValueError(f"spaces is {spaces!r}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"{path}: damaged ({error}); train the model again") from None
        if settings.tokenizer == "none" or settings.lowercase:
            return cls(settings, spaces=spaces)
        source, target = (Truecaser.load(Path(folder) / name) for name in _CASE_FILES)
        return cls(settings, source, target, spaces)
