"""What must come back as it was is found."""

from __future__ import annotations

import pytest

from camber.errors import SettingsError
from camber.text.protect import find_spans, user_pattern


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{name} {0} {} {{ x.y }} {# file}", "var:{name} var:{0} var:{} var:{{ x.y }} var:{# file}"),
        ("{x!r:>10}", "var:{x!r:>10}"),
        ("%s %d %5.2f %(n)s %1$s %% %@", "var:%s var:%d var:%5.2f var:%(n)s var:%1$s var:%% var:%@"),
        ("100% of, 5 %discount, 50%", "num:100 num:5 num:50"),
        ("${x} $PATH $5 #{y}", "var:${x} var:$PATH num:5 var:#{y}"),
        ("[X8X] |release| [1]_ a\\nb", "var:[X8X] var:|release| var:[1]_ var:\\n"),
        ("``a b`` `c` :func:`d`", "code:``a b`` code:`c` code::func:`d`"),
        (":ref:`the title <t>` `Name`_", "open::ref:` close:<t>` open:` close:`_"),
        ("``quoted'' and ``again''", ""),
        ("see https://a.org/b?c=d. Or x.y+z@a.co.uk!", "url:https://a.org/b?c=d mail:x.y+z@a.co.uk"),
        (r"C:\a\b.txt /etc/hosts ~/x and/or km/h setup.py", r"path:C:\a\b.txt path:/etc/hosts path:~/x path:setup.py"),
        ("user_name __init__ --no-tune e-mail -n", "code:user_name code:__init__ code:--no-tune"),
        ("👍🏽 👨‍👩‍👧 🇫🇷 1️⃣", "emoji:👍🏽 emoji:👨‍👩‍👧 emoji:🇫🇷 emoji:1️⃣"),
        ("10:30 24/12/2025 1,299.95 3–5", "num:10:30 num:24/12/2025 num:1,299.95 num:3–5"),
        ("٣٫٥ 1\u00a0000", "num:٣٫٥ num:1\u00a0000"),
        ("3rd x86 3-year-old v3.13 H2O", ""),
        ("An ordinary line, isn't it? Yes.", ""),
    ],
)  # fmt: skip
def test_spans_and_their_classes(line: str, expected: str) -> None:
    assert " ".join(f"{kind}:{line[start:end]}" for start, end, kind in find_spans(line)) == expected


def test_a_pattern_that_is_none_is_an_error() -> None:
    with pytest.raises(SettingsError, match="no regular expression"):
        user_pattern("(")
