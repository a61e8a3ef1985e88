"""Methods: how `camber train` makes a translator from an aligned corpus.

Another package adds a method by an entry point of the group `camber.methods`.
"""

from camber.pipeline.methods.method import Method
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
    },
)

__all__ = ["METHODS", "Method"]
