"""The server against people and pages that mean harm, and against damaged traces: nothing leaks, and it goes on."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_server import Client, serving

from hostile_trace import HOSTILE, write_trace
from tdbg.web.guard import Guard

SECRET = "the-secret-of-another-folder"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "traces").mkdir()
    (folder / "traces" / "secret.txt").write_text(SECRET)
    write_trace(folder / "traces" / "good.tdbg")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    with serving([folder / "traces" / "good.tdbg"]) as client:
        yield client


def is_alive(client: Client) -> bool:
    return client.get("/api/t/good/overview")["rows"] == 60


# ---- who may ask


@pytest.mark.parametrize("path", ["/", "/index.html", "/api/traces", "/api/t/good/verdict", "/nothing"])
def test_a_wrong_host_is_refused_whatever_it_knows(client: Client, path: str) -> None:
    port = client.server.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}",
                 f"localhost.evil:{port}", "", f"[::2]:{port}", f"10.0.0.1:{port}"):  # fmt: skip
        reply = client.ask(path, client.token | {"Host": host})
        assert reply.status == 403, host
        assert "access-control-allow-origin" not in reply.headers
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        assert client.ask("/api/traces", client.token | {"Host": host}).status == 200


def test_names_are_checked_also_where_all_addresses_are_listened_on() -> None:
    guard = Guard(None, "t", "0.0.0.0", 80)  # type: ignore[arg-type]
    assert guard._is_host("10.1.2.3")
    assert guard._is_host(f"{socket.gethostname()}:80")
    assert not guard._is_host("evil.example")


def test_nothing_is_told_without_the_token(client: Client) -> None:
    paths = [path.replace("{trace}", "good").replace("{file}", "ops.csv") for path in
             client.get("/api/openapi.json")["paths"]]  # fmt: skip
    token = client.server.token
    wrong = [{}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {token[:-1]}"}]
    wrong += [{"Cookie": f"tdbg-{client.server.port}=x"}, {"Cookie": f"tdbg-1={token}"}, {"Authorization": token[::-1]}]
    for path in [*paths, "/api/openapi.json", "/", "/index.html", "/main.js"]:
        for headers in wrong:
            reply = client.ask(path, headers)
            assert reply.status == 403, (path, headers)
            assert b"good" not in reply.body
        assert client.ask(f"{path}?token={token}x", {}).status == 403


def test_the_token_becomes_a_cookie_that_only_this_site_can_use(client: Client) -> None:
    token = client.server.token
    reply = client.ask(f"/?token={token}", {})
    assert (reply.status, reply.headers["location"]) == (303, "./")
    cookie = reply.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert client.ask("/api/traces", {"Cookie": cookie.partition(";")[0]}).status == 200
    assert token not in client.ask("/api/traces").body.decode()
    assert len(token) >= 32


def test_other_sites_get_nothing_even_with_the_cookie(client: Client) -> None:
    for site in ("cross-site", "same-site"):
        for path in ("/api/traces", "/api/t/good/export/ops.csv", "/index.html"):
            assert client.ask(path, client.token | {"Sec-Fetch-Site": site}).status == 403
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    reply = client.ask("/api/t/good/shell", client.token | preflight, "OPTIONS")
    assert reply.status == 405
    assert not any(name.startswith("access-control") for name in reply.headers)


def test_every_answer_has_strict_headers(client: Client) -> None:
    asked = ["/", "/nothing", "/api/traces", "/api/nothing", "/api/t/good/export/ops.csv", "/api/t/good/overview?x=1"]
    for path in asked:
        for headers in (client.token, {}):
            reply = client.ask(path, headers)
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in reply.headers
            assert "Python" not in reply.headers["server"]


# ---- what can be asked

EVIL = (
    "../../secret.txt", "..%2f..%2fsecret.txt", "/etc/passwd", "....//secret.txt", "secret.txt", "%00", "\0",
    "a" * 3000, "-1", "99999999999999999999", "1e5", "NaN", "0x10", "١", "'; DROP TABLE ops; --", "1 OR 1=1",
    "", " ", "<b>", "%s%n", "[" * 500, "(" * 500, '"', "not " * 400 + "bad", "read_csv('/etc/passwd')", "\ud7ff",
    'name ~ "(?=a)"', 'name ~ "(a+)+$"', "step in 0:99999999999999999999999", "max > 1e999",
)  # fmt: skip


def test_no_parameter_leads_outside_or_breaks_the_server(client: Client) -> None:
    described = client.get("/api/openapi.json")["paths"]
    required = {"seq": "40", "op": "0", "graph": "0", "file": "x", "stack": "0", "execution": "0", "other": "good"}
    for path, operations in described.items():
        if "get" not in operations or path == "/api/events":
            continue
        for evil in EVIL:
            names = [one["name"] for one in operations["get"]["parameters"] if one["in"] == "query"]
            for name in names:
                given = {one["name"]: required[one["name"]] for one in operations["get"]["parameters"]
                         if one["required"] and one["in"] == "query"} | {name: evil}  # fmt: skip
                where = path.replace("{trace}", "good").replace("{file}", "ops.csv")
                reply = client.ask(where + "?" + "&".join(f"{key}={quoted(text)}" for key, text in given.items()))
                check(reply.status, reply.body, (where, given))
            if "{trace}" in path:
                reply = client.ask(path.replace("{trace}", quoted(evil)).replace("{file}", "ops.csv"))
                check(reply.status, reply.body, (path, evil))
                assert reply.status in (403, 404, 405)
            if "{file}" in path:
                reply = client.ask(path.replace("{trace}", "good").replace("{file}", quoted(evil)))
                assert reply.status == 404
    assert is_alive(client)


def quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def check(status: int, body: bytes, asked: Any) -> None:
    assert status in (200, 400, 404, 405, 409, 414), asked
    assert SECRET.encode() not in body
    assert b"root:" not in body
    assert b"Traceback" not in body


def test_no_address_leads_to_other_files(client: Client) -> None:
    for path in ("/../secret.txt", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                 "/static/../x", "/..%5c..%5csecret.txt", "/./index.html/../../server.py", "/server.py", "/__init__.py",
                 "/api/../api.py",
                 "/api/t/../t/good/overview", "/api/t/good/../../../etc/passwd", "/api/t/good%2f..%2fgood/overview",
                 "/" + "a" * 5000):  # fmt: skip
        reply = client.ask(path)
        assert reply.status in (400, 404, 414, 503), path
        check_page = reply.body.decode("utf-8", "replace")
        assert SECRET not in check_page
        assert "import" not in check_page
    assert is_alive(client)


def test_too_much_and_malformed_is_refused(client: Client) -> None:
    assert client.ask("/api/t/good/tensors?where=" + "a" * 20_000).status == 414
    assert client.ask("/api/t/good/tensors?where=" + "a" * 200_000).status == 414
    assert client.ask("/api/t/good/tensors?" + "&".join(f"op={n}" for n in range(50))).status == 400
    assert client.ask("/api/t/good/history?" + "&".join("op=0:0:0" for _ in range(100))).status == 400
    for name, value in (
        ("limit", 0),
        ("limit", 5001),
        ("offset", -1),
        ("map", 2001),
        ("sort", "password"),
        ("desc", "x"),
    ):
        assert client.refused("/api/t/good/tensors", **{name: value}).status == 400
    kind = client.token | {"Content-Type": "application/json"}
    shell = "/api/t/good/shell"
    assert client.ask(shell, kind, "POST", b"x" * 70_000).status == 413
    assert client.ask(shell, kind | {"Content-Length": "999999999999"}, "POST", b"{}").status == 413
    for body in (b"", b"{", b"[]", b"null", b'{"line": 1}', b"\xff\xfe", b"[" * 60_000, b'{"line": "lt", "step": 1e99}',
                 b'{"line": "lt", "width": 9999999}', b'{"line": "' + b"a" * 5000 + b'"}'):  # fmt: skip
        assert client.ask(shell, kind, "POST", body).status == 400, body[:20]
    assert client.ask(shell, client.token | {"Content-Type": "text/plain"}, "POST", b'{"line": "lt"}').status == 415
    assert client.ask(shell, client.token, "GET").status == 405
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "NONSENSE"):
        assert client.ask("/api/traces", client.token, method).status in (405, 501)
    with socket.create_connection(("127.0.0.1", client.server.port), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        raw.recv(1000)
    assert is_alive(client)


def test_the_prompt_writes_and_opens_nothing(client: Client, folder: Path) -> None:
    out = folder / "written"
    for line in (f"lt > {out}", f"lt >{out}", f"eval -w {out}.npy 1 + 1", f"pt b:0 -w {out}.npy",
                 f"open {folder}/traces", f"diff {folder}/traces/good.tdbg", f"sql COPY ops TO '{out}'",
                 "sql SELECT * FROM read_csv('/etc/passwd')",
                 f"sql SELECT * FROM read_text('{folder}/secret.txt')", "sql ATTACH '/tmp/x.db'", "sql INSTALL httpfs",
                 "eval __import__('os').system('id')", f"ps {folder}/secret.txt"):  # fmt: skip
        said = client.post("/api/t/good/shell", {"line": line})
        assert said.status == 200
        assert said.json["is_error"], line
        assert SECRET not in said.body.decode()
    assert [path.name for path in sorted(folder.iterdir())] == ["secret.txt", "traces"]
    assert is_alive(client)


# ---- what traces bring along


def test_hostile_names_are_data_and_never_markup(client: Client) -> None:
    for path in ("overview", "tensors", "verdict", "alerts", "graphs", "sources", "layers", "op?op=0", "notes"):
        reply = client.ask(f"/api/t/good/{path}")
        assert reply.headers["content-type"] == "application/json"
        json.loads(reply.body)
    assert client.get("/api/t/good/graphs")["graphs"][0]["name"] == HOSTILE
    page = client.ask("/api/t/good/report.html").body.decode()
    assert "<img" not in page
    assert "onerror=alert(1)&gt;" in page
    text = client.ask("/%3Cscript%3Ealert(1)%3C/script%3E").body.decode()
    assert "<script" not in text
    name = client.ask("/api/t/good/export/ops.csv").headers["content-disposition"]
    assert name == 'attachment; filename="good-ops.csv"'


def damaged(folder: Path, name: str) -> Path:
    trace = write_trace(folder / f"{name}.tdbg", rows=60)
    process = next(path for path in trace.iterdir() if path.is_dir())
    if name == "newer":
        (trace / "trace.json").write_text('{"format": "tdbg", "version": 99}')
    elif name == "nonsense":
        (trace / "trace.json").write_bytes(b"\x00\xff nonsense")
    elif name == "empty":
        shutil.rmtree(process)
        os.utime(trace, (0, 0))  # long ago: it is not starting
    elif name == "bits":
        for file in process.glob("*.arrows"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 0xFF
            file.write_bytes(bytes(data))
    elif name == "cut":
        for file in process.iterdir():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif name == "gone":
        for file in process.glob("ops.*"):
            file.unlink()
    return trace


def test_damaged_traces_are_told_and_the_server_goes_on(tmp_path: Path) -> None:
    names = ("newer", "nonsense", "empty", "bits", "cut", "gone")
    write_trace(tmp_path / "good.tdbg")
    for name in names:
        damaged(tmp_path, name)
    with serving([], [tmp_path]) as client:
        told = {one["id"]: one["error"] for one in client.get("/api/traces")}
        assert set(told) == {"good", *names}
        assert told["good"] == ""
        assert "version 99" in told["newer"]
        assert told["nonsense"]
        assert told["empty"]
        assert not any(str(tmp_path) in text for text in told.values())
        assert client.refused("/api/t/newer/overview").status == 409
        assert "install a newer tdbg" in client.refused("/api/t/newer/tensors").json["next"]
        for name in names:
            for path in ("overview", "problems", "verdict", "alerts", "tensors", "timeline", "executions", "graphs",
                         "layers", "sources", "tensor?seq=3", "op?op=0", "graph?graph=0", "export/ops.csv",
                         "report.html", "history?op=0:0:0", "lineage?seq=40", "value?seq=3"):  # fmt: skip
                reply = client.ask(f"/api/t/{name}/{path}")
                assert reply.status in (200, 400, 404, 409), (name, path, reply)
                assert b"Traceback" not in reply.body
        assert client.get("/api/t/bits/problems")["problems"] or client.get("/api/t/cut/problems")["problems"]
        assert is_alive(client)
        shutil.rmtree(tmp_path / "good.tdbg")
        assert "good" not in {one["id"] for one in client.get("/api/traces")}
        assert client.ask("/api/t/good/overview").status == 404
