"""A request and its answer, free of any framework: what protocols read and write."""

from __future__ import annotations

import email.parser
import email.policy
import json
import math
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_FORM = "application/x-www-form-urlencoded"
#: bytes of a form that takes a moment to be read
_LARGE = 65_536


class Refusal(Exception):
    """A request that is not done: the status and what its sender is told; `retry_after` seconds may help."""

    def __init__(self, status: int, message: str, *, retry_after: int = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after


class Busy(Refusal):
    """Too much to do, for as long as a request may wait."""

    def __init__(self, retry_after: int = 2) -> None:
        super().__init__(503, "too many requests at the moment", retry_after=retry_after)


@dataclass(frozen=True)
class Answer:
    """What goes back: JSON values, text, or pieces of bytes as they come."""

    content: Any = None
    status: int = 200
    type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: AsyncGenerator[bytes] | None = None

    @property
    def body(self) -> bytes:
        """The content as bytes."""
        if self.content is None:
            return b""
        if isinstance(self.content, bytes):
            return self.content
        if isinstance(self.content, str):
            return self.content.encode("utf-8", "surrogatepass")
        return json.dumps(self.content, ensure_ascii=False).encode("utf-8", "replace")


def refused(error: Refusal, refuse: Callable[[Refusal], Answer]) -> Answer:
    """Return an error as a protocol's clients expect it, with when another try may help."""
    answer = refuse(error)
    return replace(
        answer,
        headers={**answer.headers, "retry-after": str(error.retry_after)} if error.retry_after else answer.headers,
    )


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    raw_path: str  # as it came, percent-encoded, without the query
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  # names in small letters
    body: bytes = b""
    until: float = math.inf  # when it must be answered, on the clock of the event loop

    @property
    def path(self) -> str:
        """The path without doubled slashes, and without one at its end.

        >>> Call("GET", "//languages/").path
        '/languages'
        """
        return unquote(re.sub(r"/{2,}", "/", self.raw_path)).rstrip("/") or "/"

    @property
    def foreign(self) -> bool:
        """Whether a browser sends it for a page of another server; programs that are no browsers say nothing of it.

        >>> Call("GET", "/", headers={"host": "here:5000", "origin": "https://elsewhere.example"}).foreign
        True
        """
        origin = self.headers.get("origin", "")
        if origin and urlsplit(origin).netloc != self.headers.get("host", ""):
            return True
        return self.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")

    @property
    def type(self) -> str:
        """The content type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json(self) -> bool:
        """Whether the body is meant to be JSON; some clients say nothing of it, or that it is a form or text.

        >>> Call("POST", "/", headers={"content-type": "text/plain"}, body=b'{"q": "a"}').is_json
        True
        """
        if self.type in ("", _FORM, "text/plain"):
            return re.match(rb"\s*\{", self.body) is not None
        return self.type == "application/json" or self.type.endswith("+json")

    @property
    def is_slow(self) -> bool:
        """Whether it takes long to take the body apart: a large form."""
        return len(self.body) > _LARGE and self.type in (_FORM, "multipart/form-data") and not self.is_json

    @cached_property
    def json(self) -> dict[str, Any]:
        """The object in the body."""
        try:
            content = json.loads(self.body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            raise Refusal(400, "Invalid JSON format") from None
        if not isinstance(content, dict):
            raise Refusal(400, "Invalid JSON format")
        return content

    @cached_property
    def fields(self) -> dict[str, list[Any]]:
        """All parameters, each with its values: of the body, be it JSON or a form, then of the query."""
        found: dict[str, list[Any]] = {}
        if self.body and self.is_json:
            found = {key: value if isinstance(value, list) else [value] for key, value in self.json.items()}
        elif self.body and self.type == "multipart/form-data":
            found = self._parts()
        elif self.body:
            found = _parsed(self.body.decode("utf-8", "replace"))
        for key, values in _parsed(self.query).items():
            found.setdefault(key, []).extend(values)
        return found

    def value(self, name: str) -> Any:
        """Return the first value of a parameter; None if there is none. JSON keeps lists as they are.

        >>> Call("POST", "/", "b=3", {"content-type": "application/x-www-form-urlencoded"}, b"a=1&a=2").value("b")
        '3'
        """
        if self.body and self.is_json and name in self.json:
            return self.json[name]
        values = self.fields.get(name)
        return values[0] if values else None

    def text(self, name: str) -> str:
        """Return a parameter as text, nothing where it is absent or null; anything but text is refused."""
        value = self.value(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Refusal(400, f"Invalid request: {name} must be a text")
        return value

    def flag(self, name: str, *, otherwise: bool = False) -> bool:
        """Return a parameter that is yes or no, however it is written."""
        value = self.value(name)
        if value is None or value == "":
            return otherwise
        return str(value).strip().lower() not in ("0", "false", "no", "off")

    def number(self, name: str, otherwise: int, most: int) -> int:
        """Return a whole number between 0 and `most`; what is more becomes that."""
        value = self.value(name)
        if value is None or value == "":
            return otherwise
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise Refusal(400, f"Invalid request: {name} must be a number") from None
        return max(0, min(number, most))

    @cached_property
    def key(self) -> str:
        """The key that comes with the request: in a header, or as a parameter of any protocol."""
        scheme, _, rest = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() in ("deepl-auth-key", "bearer"):
            return rest.strip()
        if scheme.lower() == "basic":
            return _password(rest)
        if own := self.headers.get("x-api-key", ""):
            return own
        for name in ("api_key", "auth_key", "key"):
            value = self.value(name) if self.type != "text/xml" else None
            if isinstance(value, str) and value:
                return value
        return ""

    def _parts(self) -> dict[str, list[Any]]:
        """Return the text fields of a form in parts."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode("latin-1", "replace")
        parsed = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.body)
        found: dict[str, list[Any]] = {}
        if not parsed.is_multipart():
            raise Refusal(400, "Invalid request: a form in parts that cannot be read")
        for part in parsed.iter_parts():
            name = part.get_param("name", header="content-disposition")
            content = part.get_payload(decode=True)
            if isinstance(name, str) and isinstance(content, bytes):
                found.setdefault(name, []).append(content.decode("utf-8", "replace"))
        return found


def _parsed(text: str) -> dict[str, list[Any]]:
    try:
        return dict(parse_qs(text, keep_blank_values=True, max_num_fields=10_000))
    except ValueError:
        raise Refusal(400, "Invalid request: too many parameters") from None


def _password(encoded: str) -> str:
    import base64
    import binascii

    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return ""
    return password or user
