"""Examples in docstrings, as code: without a fence around them, Markdown would take ``>>>`` for three quotations."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object


class Fences(Extension):
    """Put a fence around every example."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of an object when it was read."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Return a docstring with each paragraph that begins with a prompt in a fence.

    >>> fenced("Return it.\\n\\n>>> 1 + 1\\n2\\n")
    'Return it.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```\\n'
    """
    lines, inside = [], False
    for line in text.split("\n"):
        if line.startswith(">>>") and not inside:
            lines, inside = [*lines, "```pycon"], True
        elif inside and not line.strip():
            lines, inside = [*lines, "```"], False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
