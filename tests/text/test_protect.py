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
        ("user_name __init__ --no-tune e-mail -n", "code:user_name code:__init__ code:--no-tune code:-n"),
        ("👍🏽 👨‍👩‍👧 🇫🇷 1️⃣", "emoji:👍🏽 emoji:👨‍👩‍👧 emoji:🇫🇷 emoji:1️⃣"),
        ("10:30 24/12/2025 1,299.95 3–5", "num:10:30 num:24/12/2025 num:1,299.95 num:3–5"),
        ("٣٫٥ 1\u00a0000", "num:٣٫٥ num:1\u00a0000"),
        ("-42 (−3,5) 2-3 1 299,95 12 345 6 1;2 1.2.3-b 1e-5", "num:-42 num:−3,5 num:2-3 num:1 299,95"
         " num:12 num:345 num:6 num:1;2 num:1e-5"),
        ("2025-12-24T10:30:00Z fe80::1 00:1A:2B:3C:4D:5E 0xFF #FF00AA", "num:2025-12-24T10:30:00Z num:fe80::1"
         " num:00:1A:2B:3C:4D:5E num:0xFF num:#FF00AA"),
        ("550e8400-e29b-41d4-a716-446655440000 +33 1 23 45 67 89", "num:550e8400-e29b-41d4-a716-446655440000"
         " num:+33 1 23 45 67 89"),
        ("%d%% %02d:%02d {x}-{y} {a}{b} {x}.5 ${x}/bin $X/y. %s.\\n", "var:%d%% var:%02d:%02d var:{x}-{y} var:{a}"
         " var:{b} var:{x} var:${x}/bin var:$X/y var:%s var:\\n"),
        ("{n, plural, =0 {a {b}} other {# c}} {0, date, short}", "var:{n, plural, =0 {a {b}} other {# c}}"
         " var:{0, date, short}"),
        ("<%= n %> $(X) @user @id/n a@b [[x]] {{{y}}} &nbsp; \\1", "var:<%= n %> var:$(X) var:@user var:@id/n var:[[x]]"
         " var:{{{y}}} var:&nbsp; var:\\1"),
        ("<a.b@c.de> <https://a.org> https://a.org/b_(c). (https://a.org) a.org/b", "mail:<a.b@c.de> url:<https://a.org>"
         " url:https://a.org/b_(c) url:https://a.org url:a.org/b"),
        (r"C:\Program Files\A b, \\srv\a\b.c a/b/c.png", r"path:C:\Program Files\A path:\\srv\a\b.c path:a/b/c.png"),
        (r"C:\Program Files (x86)\c.exe", r"path:C:\Program Files (x86)\c.exe"),
        ("foo() a(b) --a=b/c. -n (-v) x-y x_", "code:foo() code:--a=b/c code:-n code:-v code:x_"),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿 ⌘S ⏎ ;-) <3 :-", "emoji:🏴󠁧󠁢󠁥󠁮󠁧󠁿 emoji:⌘S emoji:⏎ emoji:;-) emoji:<3"),
        ("3rd x86 3-year-old v3.13 H2O", ""),
        ("An ordinary line, isn't it? Yes.", ""),
    ],
)  # fmt: skip
def test_spans_and_their_classes(line: str, expected: str) -> None:
    assert " ".join(f"{kind}:{line[start:end]}" for start, end, kind in find_spans(line)) == expected


def test_a_pattern_that_is_none_is_an_error() -> None:
    with pytest.raises(SettingsError, match="no regular expression"):
        user_pattern("(")
