"""Whatever is sent, a server answers, and never with an error of its own."""

from __future__ import annotations

import json
import re
import xmlrpc.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from camber.serve.app import routes
from camber.serve.server import make_app
from camber.serve.settings import ServeSettings

TEXTS = st.text(max_size=30) | st.sampled_from(
    ["Bonjour", "fr", "en", "auto", "<b>Lire</b> <x/> &amp;", "html", "tsv", "fr|en"]
)
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    re.findall(
        r"\w+",
        "q s source target format alternatives api_key text source_lang target_lang tag_handling ignore_tags "
        "glossary_id split_sentences name entries entries_format langpair markUnknown terms stream translation nbest "
        "references type",
    )
)
FIELDS = st.dictionaries(NAMES, VALUES, max_size=6)
GOOD = st.fixed_dictionaries(
    {"q": TEXTS | st.lists(TEXTS, max_size=3), "source": st.sampled_from(["fr", "auto"]), "target": st.just("en")}
)
KEYS = st.sampled_from(["", "Basic ???", "Basic YTpi", "Bearer x"])
PATHS = st.sampled_from([path for path in routes() if path not in ("/api/rerank", "/")]) | st.text(max_size=20)


@pytest.fixture(scope="module")
def any_client(french: Path) -> Iterator[TestClient]:
    app = make_app([french], settings=ServeSettings(unknown_pairs="error", char_limit=2000), threads=1)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    path = quote(
        draw(PATHS).replace("{}", draw(TEXTS)).replace("{source}", "fr").replace("{target}", "en"), safe="/?=|"
    )
    kind = draw(
        st.sampled_from(
            ["application/json", "application/x-www-form-urlencoded", "text/xml", "multipart/form-data; boundary=x", ""]
        )
    )
    fields = draw(FIELDS | GOOD)
    bodies = st.sampled_from(
        [
            json.dumps(fields).encode(),
            "&".join(f"{quote(str(name))}={quote(str(value))}" for name, value in fields.items()).encode(
                "utf-8", "replace"
            ),
            xmlrpc.client.dumps(({"text": str(draw(TEXTS)), "align": True},), "translate").encode("utf-8", "replace"),
            b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\nBonjour\r\n--x--',
        ]
    )
    return {
        "method": draw(st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])),
        "url": "http://testserver/" + path.lstrip("/"),
        "content": draw(bodies | st.binary(max_size=60)),
        "headers": {"content-type": kind, "authorization": draw(KEYS)},
    }  # fmt: skip


@given(request_=requests())
@settings(max_examples=150)
def test_nothing_that_is_sent_breaks_anything(any_client: TestClient, request_: dict[str, Any]) -> None:
    answer = any_client.request(**request_)
    assert answer.status_code != 500, answer.text
    if answer.status_code >= 400 and answer.headers.get("content-type") == "application/json" and answer.content:
        assert set(answer.json()) & {"error", "message"}
    assert answer.headers["access-control-allow-origin"] == "*"
