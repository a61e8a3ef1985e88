"""Text at the edges: tokenise, case, detokenise."""

from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.tokenise import Tokenizer

__all__ = ["TextPipeline", "TextSettings", "Tokenizer"]
