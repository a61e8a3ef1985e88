"""Keys: who may ask. A file has a line for each: its name, the SHA-256 of the key, and what it may do.

    caddy 5f1c… translate
    alice 91ab… translate,learn

Keys are random, 192 bits, so a plain hash is enough: there is nothing to guess. The file never holds a key itself.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from camber.errors import CamberError, InputError
from camber.files import read_lines, write_lines

TRANSLATE, LEARN = RIGHTS = ("translate", "learn")
#: to see what a memory has like a segment, and glossaries, which every key may
MATCH = "match"


@dataclass(frozen=True)
class Key:
    """One key: what it is called and what it may do."""

    name: str
    digest: str
    rights: frozenset[str] = frozenset([TRANSLATE])


def digest_of(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class Keys:
    """The keys of a server, read again when their file changes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._keys: tuple[Key, ...] = ()
        self._seen: tuple[int, int, int] = (0, 0, 0)
        self.refresh()

    def refresh(self) -> None:
        """Read the file if it changed."""
        facts = self.path.stat() if self.path.exists() else None
        seen = (facts.st_mtime_ns, facts.st_size, facts.st_ino) if facts else (0, 0, 0)
        if seen != self._seen or not facts:
            self._keys = tuple(read_keys(self.path))
            self._seen = seen

    def find(self, key: str) -> Key | None:
        """Return the key that was given, if it is one; takes as long for any wrong one."""
        given, found = digest_of(key), None
        for known in self._keys:
            if hmac.compare_digest(known.digest, given):
                found = known
        return found


def read_keys(path: str | Path) -> list[Key]:
    """Read a file of keys."""
    keys = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *rest = line.split()
        rights = rest[1].split(",") if len(rest) == 2 else [TRANSLATE]
        if not rest or len(rest) > 2 or not re.fullmatch("[0-9a-f]{64}", rest[0]) or set(rights) - set(RIGHTS):
            remedy = f"expected a name, 64 hexadecimal digits, and {' or '.join(RIGHTS)}; make it with --new-key"
            raise InputError("no key", path, number, remedy=remedy)
        keys.append(Key(name, rest[0], frozenset(rights)))
    return keys


def make_key(path: str | Path, name: str, *, learn: bool = False) -> str:
    """Add a key to a file (made if need be, readable by its owner only) and return it: it is told only now."""
    path = Path(path)
    if not re.fullmatch(r"[\w.-]{1,64}", name):
        raise CamberError(f"{name!r} is no name for a key; use letters, digits, . _ -")
    lines = read_lines(path) if path.exists() else []
    if any(key.name == name for key in read_keys(path)) if lines else False:
        raise CamberError(f"{path}: there is a key {name} already; remove its line or choose another name")
    key = secrets.token_urlsafe(24)
    rights = ",".join(RIGHTS) if learn else TRANSLATE
    write_lines(path, [*lines, f"{name} {digest_of(key)} {rights}"])
    path.chmod(0o600)
    return key
