"""Methods: how `camber train` makes a translator from an aligned corpus.

Another package adds a method by an entry point of the group `camber.methods`.
"""

from typing import cast

from camber.errors import SettingsError
from camber.model.kinds import KINDS
from camber.pipeline.methods.method import Method, UnweighedMethod, WeighedMethod
from camber.pipeline.settings import SHARED, WEIGHED
from camber.registry import Entry, Registry

#: name, as `camber train --method` has it → method
METHODS: Registry[Method] = Registry(
    "method",
    "camber.methods",
    {
        "phrase": Entry("camber.pipeline.methods.phrase:METHOD", "phrases, which are extracted once"),
        "hiero": Entry(
            "camber.pipeline.methods.hiero:METHOD", "hierarchical rules, which are extracted for every sentence"
        ),
        "kernel": Entry(
            "camber.pipeline.methods.kernel:METHOD", "regression of n-gram vectors, spelt with phrases; no weights"
        ),
        "sparse": Entry(
            "camber.pipeline.methods.sparse:METHOD", "each sentence by what pairs selected for it teach (L1 regression)"
        ),
    },
)


def weighs(method: Method) -> bool:
    """Say whether the models of a method have weights, which are tuned, and language models, which have some."""
    return KINDS.load(method.kind).weighs


def weighed(method: Method) -> WeighedMethod:
    """Return a method whose models have weights; another one is an error."""
    if not weighs(method):
        raise SettingsError(f"the method {method.name} makes models without weights, so there is nothing to tune")
    return cast(WeighedMethod, method)


def unweighed(method: Method) -> UnweighedMethod:
    """Return a method whose models have no weights."""
    assert not weighs(method)
    return cast(UnweighedMethod, method)


def tables_of(method: Method) -> tuple[str, ...]:
    """Return all tables of settings that a method uses."""
    return (*SHARED, *(WEIGHED if weighs(method) else ()), *method.tables)


__all__ = ["METHODS", "Method", "tables_of", "unweighed", "weighed", "weighs"]
