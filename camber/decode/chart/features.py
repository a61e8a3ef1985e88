"""The features of a chart derivation: those of the grammar, and those that the decoder adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from camber.features.feature import CONTEXT, INDICATOR, NUMBER, RULE, Feature, names_of

#: columns that the decoder adds behind those of the grammar; for each language model follow its score and its OOV count
GLUE, PASS_THROUGH, WORD_PENALTY, SOURCE_OOV, LM, PER_LM = 0, 1, 2, 3, 4, 2


@dataclass(frozen=True)
class ChartFeatures:
    """What the decoder's own features are called, and the unit of its logarithms.

    `glue` counts the pieces that are put behind each other, `pass_through` words copied from the source, `source_oov`
    those of them that are in no rule of the grammar, `word_penalty` is minus the number of words, `oov` counts the
    words that a language model does not know.
    """

    glue: str = "glue"
    pass_through: str = "pass_through"
    word_penalty: str = "word_penalty"
    lm: str = "lm"
    oov: str = "lm_oov"
    source_oov: str = "source_oov"
    unit: float = 1.0  # what a natural logarithm of 1, and a word of the penalty, count

    def all(self, grammar: Sequence[Feature], language_models: int) -> tuple[Feature, ...]:
        """Return the columns of a part's feature vector; `grammar` are those of the grammar."""
        models: list[Feature] = []
        for number in range(1, language_models + 1):
            count = "" if number == 1 else str(number)
            models.append(Feature(self.lm + count, NUMBER, CONTEXT))
            models.append(Feature(self.oov.replace(self.lm, self.lm + count, 1), NUMBER, RULE))
        return (
            *grammar,
            Feature(self.glue, INDICATOR, RULE),
            Feature(self.pass_through, INDICATOR, RULE),
            Feature(self.word_penalty, NUMBER, RULE),
            Feature(self.source_oov, INDICATOR, RULE),
            *models,
        )

    def names(self, grammar: Sequence[str], language_models: int) -> tuple[str, ...]:
        """Name the columns of a part's feature vector.

        >>> ChartFeatures().names(["p"], 1)
        ('p', 'glue', 'pass_through', 'word_penalty', 'source_oov', 'lm', 'lm_oov')
        """
        return names_of(self.all([Feature(name) for name in grammar], language_models))


NATIVE = ChartFeatures()
#: as cdec names and counts them: logarithms to the base 10, a penalty of 1 / ln 10 for a word
CDEC = ChartFeatures(
    "Glue", "PassThrough", "WordPenalty", "LanguageModel", "LanguageModel_OOV", "SourceOOV", 1.0 / math.log(10)
)
