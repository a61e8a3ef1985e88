"""How raw text becomes tokens, as users say it."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import EVERYDAY, Settings, setting
from camber.text.tokenise import KINDS

#: formats of numbers
KEEP, TARGET = "keep", "target"


@dataclass(frozen=True)
class TextSettings(Settings, group="Text"):
    """How raw text becomes tokens."""

    tokenizer: str = setting("moses", "moses: raw text in and out; none: text that is already tokenised", choices=KINDS)
    lowercase: bool = setting(False, "lower-case everything instead of truecasing")
    source_lang: str = setting("", "language code of the source, for its tokenisation rules", group=EVERYDAY)
    target_lang: str = setting("", "language code of the target, for its tokenisation rules", group=EVERYDAY)
    protection: bool = setting(
        True, "bring placeholders, mark-up, code, addresses, file names and numbers back as they are"
    )
    protect: str = setting("", "regular expression for more text that must come back as it is")
    number_format: str = setting(
        KEEP, "numbers: keep, or write them as the target language does (1,234.5 or 1.234,5)", choices=(KEEP, TARGET)
    )
    segment: bool = setting(True, "split text that is written without spaces (Chinese, Japanese, Thai, Lao, Khmer)")
    split: bool = setting(True, "translate the sentences of a line one by one")
