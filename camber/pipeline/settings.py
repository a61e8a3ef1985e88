"""All settings of a training, and the TOML file that they may come from."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from camber.align.words import AlignSettings
from camber.corpus.cleaning import CleanSettings
from camber.decode.chart.settings import ChartSettings
from camber.decode.phrase.settings import DecodeSettings
from camber.errors import InputError, SettingsError
from camber.files import decode_lines, read_bytes
from camber.lm.kneser_ney import LmSettings
from camber.memory.settings import MemorySettings
from camber.pipeline.domain import DomainSettings
from camber.regress.graph_settings import GraphSettings
from camber.regress.settings import KernelSettings, PreimageSettings, RegressionSettings
from camber.regress.transduce.settings import SparseSettings
from camber.rules.hiero.extraction import HieroSettings
from camber.rules.phrase.settings import RuleSettings
from camber.settings import Settings
from camber.text.settings import TextSettings
from camber.tune.loop import TuneSettings

#: table of the file → settings of that stage
STAGES: dict[str, type[Settings]] = {
    "text": TextSettings,
    "clean": CleanSettings,
    "align": AlignSettings,
    "lm": LmSettings,
    "rules": RuleSettings,
    "decode": DecodeSettings,
    "tune": TuneSettings,
    "regression": RegressionSettings,
    "hiero": HieroSettings,
    "chart": ChartSettings,
    "kernel": KernelSettings,
    "preimage": PreimageSettings,
    "sparse": SparseSettings,
    "graph": GraphSettings,
    "memory": MemorySettings,
    "domain": DomainSettings,
}

#: tables that every method uses
SHARED = ("text", "clean", "align", "memory")
#: tables that those methods use whose models have weights
WEIGHED = ("lm", "tune", "domain")


@dataclass(frozen=True)
class TrainSettings:
    """The settings of every stage of a training."""

    text: TextSettings = field(default_factory=TextSettings)
    clean: CleanSettings = field(default_factory=CleanSettings)
    align: AlignSettings = field(default_factory=AlignSettings)
    lm: LmSettings = field(default_factory=LmSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    decode: DecodeSettings = field(default_factory=DecodeSettings)
    tune: TuneSettings = field(default_factory=TuneSettings)
    regression: RegressionSettings = field(default_factory=RegressionSettings)
    hiero: HieroSettings = field(default_factory=HieroSettings)
    chart: ChartSettings = field(default_factory=ChartSettings)
    kernel: KernelSettings = field(default_factory=KernelSettings)
    preimage: PreimageSettings = field(default_factory=PreimageSettings)
    sparse: SparseSettings = field(default_factory=SparseSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    domain: DomainSettings = field(default_factory=DomainSettings)

    @classmethod
    def from_dict(cls, tables: dict[str, dict[str, Any]]) -> TrainSettings:
        """Make settings from a table per stage; unknown tables and keys are errors that list the known ones."""
        for name, table in tables.items():
            if name not in STAGES or not isinstance(table, dict):
                raise SettingsError(f"unknown table {name!r} of settings; known: {', '.join(STAGES)}")
        stages: dict[str, Any] = {name: STAGES[name].from_dict(table) for name, table in tables.items()}
        return cls(**stages)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return a table per stage."""
        return dataclasses.asdict(self)


#: What a settings file may hold.
MOST_LINES, MOST_LETTERS = 1000, 1000


def read_config(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read the tables of a TOML file, such as ``[lm]`` / ``order = 4``."""
    lines = decode_lines(read_bytes(path), path)
    for number, line in enumerate(lines, 1):
        # a parser takes far longer than in proportion for very long keys, and numbers of any length are none
        if len(line) > MOST_LETTERS or number > MOST_LINES:
            told = f"a settings file has at most {MOST_LINES:,} lines of at most {MOST_LETTERS:,} characters"
            raise InputError(f"this is more than settings: {told}", path, number)
    try:
        tables = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML ({error})", path) from None
    except RecursionError:
        deepest = max(range(len(lines)), key=lambda at: lines[at].count("[") + lines[at].count("{"))
        raise InputError("tables or lists in each other, too many to be read", path, deepest + 1) from None
    try:
        TrainSettings.from_dict(tables)
    except (SettingsError, TypeError) as error:
        raise InputError(str(error), path) from None
    return tables
