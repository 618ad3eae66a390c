"""The server while programs write: pages grow, events come, the commands that start it begin and end cleanly."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_web_security import write_trace
from web_server import Client, serving

import tdbg
from tdbg.store.format import SCHEMAS
from tdbg.store.writer import TraceWriter
from tdbg.web.api import Api
from tdbg.web.live import changes
from tdbg.web.traces import Traces

ENVIRONMENT = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(Path(tdbg.__file__).parents[1])}
PATIENCE = 60.0


class Recording:
    """A trace that this process writes to."""

    def __init__(self, path: Path) -> None:
        self._writer = TraceWriter(path, {"argv": ["train.py"], "rank": 0, "mode": "numerics"})
        self._seq = 0

    def add(self, rows: int, bad: bool = False) -> None:
        columns: dict[str, list[Any]] = {field.name: [0] * rows for field in SCHEMAS["tensors"]}
        columns |= {
            "seq": list(range(self._seq, self._seq + rows)),
            "step": [n // 10 for n in range(self._seq, self._seq + rows)],
            "dtype": [3] * rows,
            "flags": [3 if bad else 2] * rows,
            "nan": [int(bad)] * rows,
            "value": [-1] * rows,
            "tensor": [-1] * rows,
        }
        self._writer.append("tensors", columns)
        self._writer.flush()
        self._seq += rows

    def end(self) -> None:
        self._writer.close({"status": 0})


def until(is_so: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "this did not happen"
        time.sleep(0.05)


def events(client: Client) -> Iterator[tuple[str, dict[str, Any]]]:
    connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=PATIENCE)
    connection.request("GET", "/api/events", headers=client.token)
    answer = connection.getresponse()
    assert answer.getheader("Content-Type", "").startswith("text/event-stream")
    name = ""
    try:
        for line in iter(answer.readline, b""):
            word, _, text = line.decode().strip("\r\n").partition(": ")
            if word == "event":
                name = text
            elif word == "data":
                yield name, json.loads(text)
    finally:
        answer.close()
        connection.close()


def test_pages_grow_and_events_tell_so(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "run.tdbg")
    recording.add(30)
    with serving([], [tmp_path]) as client:
        assert client.get("/api/t/run/tensors", limit=1)["total"] == 30
        assert client.get("/api/t/run/overview")["live"]
        listening = events(client)
        name, said = next(listening)
        assert (name, said["traces"][0]["rows"]) == ("traces", 30)
        recording.add(20)
        name, said = next(listening)
        assert (name, said["rows"], said["bad"]) == ("grew", 50, 0)
        until(lambda: client.get("/api/t/run/tensors", offset=45)["total"] == 50)
        assert [row["seq"] for row in client.get("/api/t/run/tensors", offset=45)["rows"]] == [45, 46, 47, 48, 49]
        assert client.get("/api/t/run/timeline")["last"] == 4
        recording.add(5, bad=True)
        assert {next(listening)[0], next(listening)[0]} == {"grew", "bad"}
        until(lambda: client.get("/api/t/run/overview")["bad"] == 5)
        recording.end()
        while next(listening)[0] != "ended":
            pass
        assert not client.get("/api/t/run/overview")["live"]
        write_trace(tmp_path / "another.tdbg")
        while (event := next(listening))[0] != "traces":
            pass
        assert {one["id"] for one in event[1]["traces"]} == {"run", "another"}
        listening.close()


def test_a_trace_that_is_not_there_yet(tmp_path: Path) -> None:
    with serving([tmp_path / "soon.tdbg"]) as client:
        (soon,) = client.get("/api/traces")
        assert (soon["error"], soon["is_starting"]) == ("", True)
        refused = client.refused("/api/t/soon/overview")
        assert (refused.status, refused.json["error"]) == (409, "this run is just starting")
        (tmp_path / "soon.tdbg").mkdir()
        (tmp_path / "soon.tdbg" / "trace.json").write_text('{"format": "tdbg", "version": 1}')
        assert client.get("/api/traces")[0]["is_starting"]
        shutil.rmtree(tmp_path / "soon.tdbg")
        told = changes(client.traces, lambda _: None)
        next(told)
        recording = Recording(tmp_path / "soon.tdbg")
        recording.add(3)
        assert "event: traces" in next(told).decode()  # the page looks again
        until(lambda: client.ask("/api/t/soon/overview").status == 200)
        assert not client.get("/api/traces")[0]["is_starting"]
        recording.end()


def test_a_trace_that_is_recorded_anew_or_goes(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "run.tdbg", rows=60)
    with serving([path]) as client:
        assert client.get("/api/t/run/tensors", limit=1)["total"] == 60
        assert client.get("/api/t/run/verdict")
        shutil.rmtree(path)
        write_trace(path, rows=40)
        until(lambda: client.get("/api/t/run/tensors", limit=1)["total"] == 40)
        assert client.get("/api/t/run/verdict")["coverage"]["tensors"] == 40
        shutil.rmtree(path)
        until(lambda: "is gone" in client.ask("/api/t/run/tensors").json.get("error", ""))
        assert client.refused("/api/t/run/overview").status == 409
        assert client.get("/api/traces")[0]["error"]


def test_each_process_of_a_trace_is_asked_for_by_number(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "run.tdbg", rows=60)
    write_trace(path, rows=20)
    with serving([path]) as client:
        assert [one["index"] for one in client.get("/api/t/run/overview")["processes"]] == [0, 1]
        totals = [client.get("/api/t/run/tensors", process=n, limit=1)["total"] for n in (0, 1)]
        assert totals == [60, 20]
        assert client.get("/api/t/run/overview")["rows"] == 80
        assert {row["process"] for row in client.get("/api/t/run/alerts")["rows"]} == {0, 1}
        assert {row["process"] for row in client.get("/api/t/run/alerts", process=1)["rows"]} == {1}
        series = client.get("/api/t/run/history", op=["0:0:0", "1:0:0"])["series"]
        assert [(one["process"], sum(one["points"]["rows"])) for one in series] == [(0, 30), (1, 10)]
        assert client.get("/api/t/run/tensor", process=1, seq=15)["process"] == 1
        assert client.refused("/api/t/run/tensors", process=2).status == 404


def test_the_api_runs_below_any_path(tmp_path: Path) -> None:
    """As it does inside TensorBoard."""
    from werkzeug.test import Client as Caller

    traces = Traces([write_trace(tmp_path / "run.tdbg")])
    caller = Caller(Api(traces, prefix="/data/plugin/tdbg"))
    assert caller.get("/data/plugin/tdbg/api/t/run/overview").status_code == 200
    assert caller.get("/data/plugin/tdbg/api/openapi.json").status_code == 200
    assert caller.get("/data/plugin/tdbg/api/nothing").status_code == 404


# ---- the commands


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tdbg", *words],
        cwd=cwd, env=ENVIRONMENT | {"TDBG_STATE": str(cwd / "state")}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def test_serve_says_its_address_takes_the_next_port_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    write_trace(tmp_path / "one.tdbg")
    write_trace(tmp_path / "two.tdbg")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = start("serve", "--no-browser", "--port", str(port), "one.tdbg", ".", cwd=tmp_path)
        assert server.stdout and server.stderr
        address = server.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{30,})", address)
        assert found
        assert int(found[1]) > port
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
        connection.request("GET", f"/api/traces?token={found[2]}")
        names = {one["id"] for one in json.loads(connection.getresponse().read())}
        connection.close()
        assert names == {"one", "two"}
        server.send_signal(signal.SIGINT)
        out, said = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert f"port {port} is taken" in said
    assert "Traceback" not in out + said


def test_ctrl_c_ends_it_while_a_page_listens_and_waits_for_answers(tmp_path: Path) -> None:
    write_trace(tmp_path / "one.tdbg")
    server = start("serve", "--no-browser", "--port", "0", "one.tdbg", cwd=tmp_path)
    assert server.stdout
    port, token = re.findall(r":(\d+)/\?token=([\w-]+)", server.stdout.readline())[0]
    connections = {
        path: http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        for path in ("/api/events", "/api/t/one/overview", "/api/t/one/verdict")
    }
    for path, connection in connections.items():
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    listening = connections["/api/events"].getresponse()
    assert listening.readline().startswith(b"retry")
    connections["/api/t/one/overview"].getresponse().read()
    server.send_signal(signal.SIGINT)
    out, said = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert (out + said).strip() == ""
    for connection in connections.values():
        connection.close()
    again = start("serve", "--no-browser", "--port", port, "one.tdbg", cwd=tmp_path)
    assert again.stdout
    assert f":{port}/" in again.stdout.readline()  # the port is free
    again.send_signal(signal.SIGINT)
    assert again.communicate(timeout=PATIENCE)[1].strip() == ""
    assert again.returncode == 0


def address_of(server: subprocess.Popen[str]) -> tuple[int, str]:
    assert server.stdout
    ((port, token),) = re.findall(r":(\d+)/\?token=([\w-]+)", server.stdout.readline())
    return int(port), token


def asked(port: int, path: str, token: str, host: str = "") -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    named = {"Host": host} if host else {}
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}", **named})
    answer = connection.getresponse()
    said = answer.status, json.loads(answer.read())
    connection.close()
    return said


def test_a_server_that_is_started_again_knows_its_pages_and_a_folder_without_traces_waits_for_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs").mkdir()
    words = ("serve", "runs", "--no-browser", "--allow-host", "localhost:7000")
    port = free_port()
    server = start(*words, "--port", str(port), cwd=tmp_path)
    first, token = address_of(server)
    assert (first, asked(port, "/api/traces", token)) == (port, (200, []))
    write_trace(tmp_path / "runs" / "later.tdbg")
    assert [one["id"] for one in asked(port, "/api/traces", token)[1]] == ["later"]
    assert asked(port, "/api/traces", token, "localhost:7000")[0] == 200  # a forwarded port
    status, said = asked(port, "/api/traces", token, "localhost:7001")
    assert (status, said["next"]) == (
        403,
        "use the address that tdbg serve printed, or start it with: tdbg serve --allow-host localhost:7001",
    )
    assert asked(port, "/api/link", token)[1] == {"token": token, "is_local": True}
    server.send_signal(signal.SIGINT)
    assert "there is no trace here yet" in server.communicate(timeout=PATIENCE)[1]

    server = start(*words, "--port", str(port), cwd=tmp_path)
    assert address_of(server) == (port, token)
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=PATIENCE)
    kept = tmp_path / "state" / "page-tokens.json"
    assert kept.stat().st_mode & 0o777 == 0o600

    with socket.socket() as stranger:  # who listens there hears the cookies of pages that are still open
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind(("127.0.0.1", port))
        stranger.listen()
        server = start(*words, "--port", str(port), cwd=tmp_path)
        assert address_of(server)[0] != port
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE)
    kept.chmod(0o644)  # a file that others can read is not trusted
    server = start(*words, "--port", str(port), cwd=tmp_path)
    assert address_of(server)[1] != token
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=PATIENCE)
    assert token not in kept.read_text()


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.tdbg"], "there is no trace here"),
        (["--allow-host", "http://localhost:7000/", "."], "without http://"),
        (["--port", "99999", "."], "up to 65535"),
        (["--host", "192.0.2.1", "--port", "0", "t.tdbg"], "cannot listen on this address"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, words: list[str], says: str) -> None:
    if "t.tdbg" in words:
        write_trace(tmp_path / "t.tdbg")
    done = start("serve", "--no-browser", *words, cwd=tmp_path)
    _, said = done.communicate(timeout=PATIENCE)
    assert done.returncode == 2
    assert says in said
    assert said.count("\n") == 1


PROGRAM = """\
import sys
import time
from pathlib import Path

import tensorflow as tf

tf.math.log(tf.constant([0.0, 1.0]))
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.05)
sys.exit(3)
"""


def test_run_with_a_page_serves_while_it_runs_and_changes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "program.py").write_text(PROGRAM)
    program = start("run", "--web", "-o", "run.tdbg", "program.py", cwd=tmp_path)
    assert program.stdout and program.stderr
    address = ""
    while "the page is at" not in address:
        address = program.stderr.readline()
        assert address
    found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", address)
    assert found
    assert program.stdout.readline() == "ready\n"

    def bad() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
        connection.request("GET", f"/api/t/run/overview?token={found[2]}")
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
        return said.get("bad", 0)

    until(lambda: bad() == 1)
    (tmp_path / "go").touch()
    out, said = program.communicate(timeout=PATIENCE)
    assert (program.returncode, out) == (3, "")
    assert "next:  tdbg" in said
    until(lambda: not is_listening(int(found[1])))


def is_listening(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
