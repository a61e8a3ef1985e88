"""How a server behaves."""

from __future__ import annotations

from dataclasses import dataclass

from camber.settings import Settings, setting

ERROR, ECHO = "error", "echo"


@dataclass(frozen=True)
class ServeSettings(Settings, group="Limits and rights"):
    """What a server accepts, how long it takes, and what it tells."""

    deadline: float = setting(15.0, "seconds after which a request is refused (503, or 429)", low=0.1, high=3600)
    idle: float = setting(
        30.0, "seconds after which a connection ends that asks nothing, or does not take its answer", low=0.1, high=3600
    )
    queue: int = setting(256, "requests that are worked on at a time; others wait before they are read", low=1)
    batch: int = setting(32, "texts of several requests that are decoded together", low=1, high=1000)
    cache: int = setting(2000, "translations that are remembered; 0: none", low=0, high=1_000_000)
    body_limit: int = setting(4_000_000, "bytes that a request may have", low=1000)
    char_limit: int = setting(100_000, "characters that the texts of a request may have", low=1)
    batch_limit: int = setting(1000, "texts that a request may have", low=1)
    sentence_limit: int = setting(2000, "words that a line of text may have", low=1)
    unknown_pairs: str = setting(
        ERROR,
        "pairs of languages that no model serves: an error, or the text as it is, with a header that says so",
        choices=(ERROR, ECHO),
    )
    learn: bool = setting(False, "let anyone confirm translations, which are added to models at once")
    reload: float = setting(1.0, "seconds between looks whether a model was replaced; 0: never", low=0.0, high=3600)
    log_text: bool = setting(False, "write texts and translations into the log")
