"""Lets only requests with the right Host and the right token through, and gives every answer strict headers.

The token is in the address that ``tdbg serve`` prints. It becomes a cookie that no script and no other site can use, so
that it vanishes from the address bar.

In a frame of another site, such as a notebook, a browser keeps no such cookie. There the token is the first word of the
path, ``/TOKEN/``, below which the whole page lies; whoever does not know it cannot show the page in a frame.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.wrappers import Request, Response

from tdbg.web.api import failure
from tdbg.web.static_files import error_page

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
IN_FRAME = {name: value for name, value in HEADERS.items() if name != "X-Frame-Options"} | {
    "Content-Security-Policy": POLICY.replace("; frame-ancestors 'none'", "")
}
HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "")


class Guard:
    """Stands before an application. ``host`` and ``port`` are what the server listens on; ``framed``: the page may be
    shown inside another; ``allowed``: further names by which it may be asked, ``NAME`` with any port or
    ``NAME:PORT``."""

    def __init__(
        self,
        application: WSGIApplication,
        token: str,
        host: str,
        port: int,
        framed: bool = False,
        allowed: Collection[str] = (),
    ) -> None:
        self._application, self._token, self._framed = application, token, framed
        self._host, self._port = host, port
        self._allowed = frozenset(name.lower() for name in allowed)
        self._cookie = f"tdbg-{port}"  # cookies know no ports, and several servers may run

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        in_frame = self._framed and self._is_token(Request(environ).path.split("/")[1])
        if in_frame:
            environ = below(environ, f"/{self._token}")
        request = Request(environ)
        refused = self._refused(request, in_frame)
        if refused is not None:
            refused.headers.update(HEADERS)
            return refused(environ, start_response)
        return self._application(environ, adding(IN_FRAME if in_frame else HEADERS, start_response))

    def _refused(self, request: Request, has_token: bool) -> Response | None:
        host = request.headers.get("Host", "")
        if not self._is_host(host):
            asked = f", or start it with: tdbg serve --allow-host {host}" if HOST.fullmatch(host) else ""
            sentence = "this server does not answer to that host name"
            return _refusal(request, 403, sentence, f"use the address that tdbg serve printed{asked}")
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and request.path != "/":
            return _refusal(request, 403, "another site asked for this", "open the address that tdbg serve printed")
        if has_token:
            return None
        given = request.args.get("token", "")
        if given and request.path == "/" and self._is_token(given):
            return self._welcome()
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if any(map(self._is_token, (request.cookies.get(self._cookie, ""), bearer, given))):
            return None
        return _refusal(
            request,
            403,
            "the token is missing or wrong",
            "open the address that tdbg serve printed, with everything after token=",
        )

    def _welcome(self) -> Response:
        answer = Response(status=303, headers={"Location": "./", "Cache-Control": "no-store"})
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="Strict", path="/")
        return answer

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _is_host(self, given: str) -> bool:
        """Whether a host may be asked for. A name that another site's DNS could point here is refused; a bare address
        cannot be such a name."""
        name, colon, port = given.rpartition(":")
        if not colon or not port.isdecimal():
            name, port = given, "80"
        if given.lower() in self._allowed or name.lower() in self._allowed:
            return True
        if port != str(self._port):
            return False
        name = name.lower()
        if name in _LOCAL or name == self._host.lower():
            return True
        return self._host in _EVERYWHERE and (_is_address(name) or name in _own_names())


def adding(headers: Mapping[str, str], start_response: StartResponse) -> StartResponse:
    """Gives answers these headers, where they do not have them already."""

    def start(status: str, given: list[tuple[str, str]], *rest: Any) -> Any:
        named = {name.lower() for name, _ in given}
        return start_response(
            status, given + [(name, value) for name, value in headers.items() if name.lower() not in named], *rest
        )

    return start


def below(environ: WSGIEnvironment, prefix: str) -> WSGIEnvironment:
    """Makes a request one for an application that lies below this path."""
    path = environ.get("PATH_INFO", "").removeprefix(prefix)
    return {**environ, "SCRIPT_NAME": environ.get("SCRIPT_NAME", "") + prefix, "PATH_INFO": path or "/"}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    return {name, name.partition(".")[0], socket.getfqdn().lower()}


def _refusal(request: Request, status: int, sentence: str, following: str) -> Response:
    if request.path.startswith("/api/"):
        return failure(status, sentence, following)
    return Response(error_page(sentence, following), status, content_type="text/html; charset=utf-8")
