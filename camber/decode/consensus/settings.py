"""How a consensus is found."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting

#: What is to be gained: a linear approximation of BLEU by n-gram posteriors, or BLEU of every sentence.
GAINS = ("linear", "sentence")


@dataclass(frozen=True)
class ConsensusSettings(Settings, group="Consensus (minimum Bayes risk)"):
    """Minimum Bayes risk over the hypotheses of one search or several."""

    mbr_size: int = setting(100, "hypotheses of every model that are compared", low=2)
    mbr_scale: float = setting(
        0.5,
        "how sharply scores tell hypotheses: what a standard deviation of a list's scores is worth",
        low=0.0,
        high=1000.0,
    )
    mbr_gain: str = setting(
        "sentence", "what is expected: BLEU by n-gram posteriors (linear), or of every sentence", choices=GAINS
    )
