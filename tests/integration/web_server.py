"""A real server on a thread, and a client that asks it over HTTP."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tdbg.web.server import Server
from tdbg.web.traces import Traces


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks with the token, unless headers are given."""

    def __init__(self, server: Server, traces: Traces) -> None:
        self.server, self.traces = server, traces
        self.token = {"Authorization": f"Bearer {server.token}"}

    def server_trace(self, name: str) -> Path:
        return self.traces.find(name).path

    def ask(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET", body: bytes | None = None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=240)
        try:
            sent = self.token if headers is None else headers
            connection.putrequest(method, path, skip_host="Host" in sent)
            for name, value in sent.items():
                connection.putheader(name, value)
            if body is not None and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON of an answer that must be good."""
        reply = self.ask(path + query(parameters))
        assert reply.status == 200, (path, reply)
        return reply.json

    def refused(self, path: str, **parameters: Any) -> Reply:
        """An answer that must be a refusal: one sentence in JSON."""
        reply = self.ask(path + query(parameters))
        assert reply.status >= 400, (path, reply)
        said = reply.json
        assert set(said) == {"error", "next"}
        assert "\n" not in said["error"]
        return reply

    def post(self, path: str, content: Any) -> Reply:
        headers = self.token | {"Content-Type": "application/json"}
        return self.ask(path, headers, "POST", json.dumps(content).encode())


def query(parameters: dict[str, Any]) -> str:
    words = []
    for name, value in parameters.items():
        values = value if isinstance(value, list) else [value]
        words += [f"{name.rstrip('_')}={quote(str(one), safe='')}" for one in values]
    return f"?{'&'.join(words)}" if words else ""


@contextmanager
def serving(paths: Sequence[Path], folders: Sequence[Path] = ()) -> Iterator[Client]:
    traces = Traces(paths, folders)
    server = Server(traces, port=0)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield Client(server, traces)
    finally:
        server.stop()
        thread.join()
        server.close()
