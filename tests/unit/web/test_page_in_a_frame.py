"""The token in the path: who may show the page inside another, and who may not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from werkzeug.test import Client

from tdbg.web.guard import Guard


def application(environ: Any, start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


def client(framed: bool) -> Client:
    return Client(Guard(application, "secret", "127.0.0.1", 80, framed))


HERE = {"Host": "127.0.0.1"}


def test_the_page_lies_below_its_token():
    answer = client(framed=True).get("/secret/api/traces", headers=HERE)
    assert answer.status_code == 200 and answer.text == "/api/traces"
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors" not in answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert client(framed=True).get("/secret/", headers=HERE).text == "/"


def test_another_site_may_show_the_page_and_ask_for_nothing_else():
    elsewhere = {**HERE, "Sec-Fetch-Site": "cross-site"}
    assert client(framed=True).get("/secret/", headers=elsewhere).status_code == 200
    assert client(framed=True).get("/secret/api/traces", headers=elsewhere).status_code == 403


def test_without_the_token_there_is_nothing_and_no_frame():
    for path in ("/", "/api/traces", "/wrong/", "/secre/", "/secretive/api/traces", "//secret/"):
        answer = client(framed=True).get(path, headers=HERE)
        assert answer.status_code == 403, path
        assert answer.headers["X-Frame-Options"] == "DENY"
    assert client(framed=True).get("/secret/", headers={"Host": "evil.example"}).status_code == 403


def test_a_server_of_its_own_cannot_be_framed():
    assert client(framed=False).get("/secret/", headers=HERE).status_code == 403
