"""Settings of transduction: which pairs are selected, what is learnt from them, and how it becomes a translation."""

from __future__ import annotations

from dataclasses import dataclass

from camber.errors import SettingsError
from camber.regress.select.selectors import SELECTORS, SelectSettings
from camber.regress.select.selectors import USUAL as USUAL_SELECTOR
from camber.regress.sparse.regressor import REGRESSORS, Regressor, make_regressor
from camber.regress.sparse.regressor import USUAL as USUAL_REGRESSOR
from camber.settings import Settings, setting

#: what makes a translation of what was learnt
GRAPH, TABLE, INDIVIDUAL, MIXED, FEATURE = "graph", "table", "individual", "mixed", "feature"
#: of these, the ones that have phrase pairs of the whole corpus, too; and those that ask a regression
GLOBAL, REGRESSING = (MIXED, FEATURE), (GRAPH, TABLE, FEATURE)
#: longest phrases of a sentence's own system: the number of a rule holds its links, which are 49 bits then
LONGEST = 7


@dataclass(frozen=True)
class SparseSettings(Settings, group="Sparse models"):
    """What a sentence is translated with."""

    decoder: str = setting(
        GRAPH,
        "paths through predicted n-grams (graph); phrases: those that the regression says (table), those of the "
        "selected pairs (individual), these mixed with those of all pairs (mixed), or those of all pairs with the "
        "regression as one more feature (feature)",
        choices=(GRAPH, TABLE, INDIVIDUAL, MIXED, FEATURE),
    )
    instances: int = setting(250, "pairs that are selected for a sentence", low=1)
    selector: str = setting(USUAL_SELECTOR, "how they are selected", choices=SELECTORS)
    selector_settings: str = setting("", "settings of the selector, such as 'order=3 denominator=sum'")
    regressor: str = setting(USUAL_REGRESSOR, "what learns which target n-grams to expect", choices=REGRESSORS)
    regressor_settings: str = setting("", "settings of the regressor, such as 'penalty=0.5'")
    shortest: int = setting(1, "shortest n-gram that is regressed", low=1, high=7)
    order: int = setting(2, "longest n-gram that is regressed", low=1, high=7)
    phrase_length: int = setting(7, "longest phrase of the selected pairs, on either side", low=1, high=LONGEST)
    share: float = setting(0.5, "what the phrases of the selected pairs count beside those of all pairs", low=0, high=1)

    def __post_init__(self) -> None:
        """Check what is written inside of texts, too."""
        super().__post_init__()
        self.selecting()
        if self.regressor_settings:  # a regressor is imported where there is something to check
            self.make_regressor()
        if self.shortest > self.order:
            raise SettingsError(f"SparseSettings.shortest is {self.shortest}; expected at most the order, {self.order}")
        if self.decoder == GRAPH and self.order < 2:
            raise SettingsError("SparseSettings.order is 1; paths go through n-grams of 2 words at least")

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of n-grams."""
        return tuple(range(self.shortest, self.order + 1))

    def selecting(self) -> SelectSettings:
        """Return the settings of the selector."""
        return SelectSettings.from_dict(SelectSettings.values_of(self.selector_settings))

    def make_regressor(self) -> Regressor:
        """Make the regressor."""
        kind = REGRESSORS.load(self.regressor)
        return make_regressor(self.regressor, kind.values_of(self.regressor_settings))

    @property
    def idle(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Tables of settings that make no difference to the decoder, and settings of this table."""
        tables = {GRAPH: ("rules", "decode"), TABLE: ("rules", "graph")}.get(self.decoder, ("graph",))
        own = {
            "regressor": self.decoder in REGRESSING,
            "regressor_settings": self.decoder in REGRESSING,
            "shortest": self.decoder in REGRESSING,
            "order": self.decoder in REGRESSING,
            "phrase_length": self.decoder in (INDIVIDUAL, MIXED),
            "share": self.decoder == MIXED,
        }
        return tables, tuple(name for name, matters in own.items() if not matters)
