"""Listens at an address and serves traces until it is told to stop."""

from __future__ import annotations

import errno
import logging
import socket
import sys
import threading
from collections.abc import Collection, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from tdbg.errors import TdbgError
from tdbg.web.api import Api, Link
from tdbg.web.guard import Guard
from tdbg.web.static_files import Page
from tdbg.web.tokens import forget, new_token, token_of
from tdbg.web.traces import Traces

DEFAULT_PORT = 6010
LOCAL = ("127.0.0.1", "localhost", "::1")
_MOST_TRIED = 50  # ports


class _Handler(WSGIRequestHandler):
    """Handles a connection. Says nothing of each request, and keeps connections, for a page asks often."""

    protocol_version = "HTTP/1.1"
    timeout = 60  # of a connection on which nothing comes

    def log(self, type: str, message: str, *args: Any) -> None:
        if type == "error":
            print(f"tdbg: {message % args if args else message}", file=sys.stderr)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        return None

    def version_string(self) -> str:
        return "tdbg"


class Server:
    """Listens as soon as it is made. ``port`` None: the first free one from DEFAULT_PORT on. ``framed``: the page may
    be shown inside another, at ``frame_url``. ``allowed``: see Guard. Without ``framed`` a server has the token of the
    last one at its port, so pages that are still open go on."""

    def __init__(
        self,
        traces: Traces,
        host: str = "127.0.0.1",
        port: int | None = None,
        framed: bool = False,
        allowed: Collection[str] = (),
    ) -> None:
        self.host = host
        self._server = _listen(host, DEFAULT_PORT if port is None else port)
        self.port = int(self._server.socket.getsockname()[1])
        self.token = new_token() if framed or port == 0 else token_of(host, self.port)
        api = Api(traces, link=Link(self.token, host in LOCAL))
        self._busy = _Busy(Guard(Page(api), self.token, host, self.port, framed, allowed))
        self._server.app = self._busy

    @property
    def url(self) -> str:
        return f"{self._address}/?token={self.token}"

    @property
    def frame_url(self) -> str:
        return f"{self._address}/{self.token}/"

    @property
    def _address(self) -> str:
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}"

    def serve(self) -> None:
        """Serves until ``stop`` is called from another thread, or Ctrl-C."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        self._server.shutdown()

    def stop_and_wait(self, seconds: float = 5.0) -> None:
        """Waits until no answer is being made any more, for a program that ends while its server is on a thread: Python
        cannot end a thread that is inside DuckDB."""
        self.stop()
        self._busy.wait(seconds)

    def close(self) -> None:
        self._server.server_close()


def open_browser(url: str) -> None:
    """Opens the page on a thread: some browsers answer only when they are closed."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


class _Busy:
    """Counts how many answers are being made."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._count, self._changed = 0, threading.Condition()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self._add(1)
        try:
            return self._application(environ, start_response)
        finally:
            self._add(-1)

    def _add(self, number: int) -> None:
        with self._changed:
            self._count += number
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._count == 0, seconds)


def _listen(host: str, port: int) -> BaseWSGIServer:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    last = port if port == 0 else min(65_535, port + _MOST_TRIED)
    for tried in range(port, last + 1):
        try:
            listening = _bound(host, tried)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                what = error.strerror or str(error)
                raise TdbgError(f"cannot listen on this address ({what}); choose another --host or --port") from None
            forget(host, tried)
            continue
        with listening:
            server = make_server(host, tried, _nothing, threaded=True, request_handler=_Handler, fd=listening.fileno())
        server.daemon_threads = True  # type: ignore[attr-defined]
        return server
    raise TdbgError(f"ports {port} to {last} are all taken; choose another with --port")


def _bound(host: str, port: int) -> socket.socket:
    """Binds a socket to a port. make_server ends the program when a port is taken, so it gets a socket that has one
    already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except OSError:
        found.close()
        raise
    return found


def _nothing(environ: Any, start_response: Any) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return []
