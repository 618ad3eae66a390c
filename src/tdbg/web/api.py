"""Answers the page's requests with JSON and column pages: a WSGI application that also runs under a prefix.

Who may ask is not its business: ``guard.py`` stands before it, or TensorBoard does.
"""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request, Response

from tdbg.errors import TdbgError
from tdbg.store.damage import damage_in
from tdbg.strict_json import to_json
from tdbg.web.openapi import describe
from tdbg.web.route import Answer, Asked, NotFoundError, Refused, Route
from tdbg.web.routes import all_routes
from tdbg.web.schema import named, record, text, truth
from tdbg.web.traces import ServedTrace, Traces

LONGEST_QUERY = 16_384
LARGEST_BODY = 65_536
_NEVER_KEPT = {"Cache-Control": "no-store"}


_LINK = named(
    "PageLink",
    record(
        token=text("goes after ?token=; empty: none is needed"),
        is_local=truth("only this machine can reach the server"),
    ),
)


class Link(NamedTuple):
    """What a link to this server needs besides its address, and who may follow it."""

    token: str = ""  # "": none is needed
    is_local: bool = False  # only this machine can reach the server


class Api:
    """Answers requests. ``prefix`` is what stands before ``/api`` in the paths that it is asked for."""

    def __init__(self, traces: Traces, prefix: str = "", link: Link | None = None) -> None:
        self.traces, self._prefix = traces, prefix
        said = (link or Link())._asdict()
        self.routes = [
            *all_routes(),
            Route(
                "/api/link",
                "What a link to this page needs, and who can follow it",
                lambda _: said,
                _LINK,
            ),
        ]
        self._patterns = [(_pattern(route.path), route) for route in self.routes]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        return self.answer(request)(environ, start_response)

    def answer(self, request: Request) -> Response:
        """Never raises: whatever goes wrong is one sentence in JSON. A header says how long it took."""
        began = time.perf_counter()
        answer = self._answered(request)
        answer.headers["Server-Timing"] = f"tdbg;dur={1000 * (time.perf_counter() - began):.1f}"
        return answer

    def _answered(self, request: Request) -> Response:
        try:
            return self._answer(request)
        except Refused as refused:
            return failure(refused.status, refused.sentence, refused.following)
        except NotFoundError as error:
            return failure(404, *_sentence_and_next(str(error)))
        except TdbgError as error:
            return failure(400, *_sentence_and_next(str(error)))
        except OSError as error:
            return failure(409, f"a file of the trace cannot be read: {error.strerror}", "check that it is still there")
        except HTTPException as error:
            return failure(error.code or 400, "cannot read this request", "")
        except Exception as fault:
            damage = damage_in(fault)
            return failure(409, *_sentence_and_next(damage)) if damage is not None else _own_fault(fault)

    def _answer(self, request: Request) -> Response:
        path = request.path.removeprefix(self._prefix)
        if path == "/api/openapi.json":
            return _json(describe(self.routes))
        if len(request.query_string) > LONGEST_QUERY:
            raise Refused(
                414, "the query string is too long", f"write at most {LONGEST_QUERY:,} characters after the ?"
            )
        route, name, rest = self._find(path, request.method)
        chosen = self.traces.find(name) if name is not None else None
        values = {one.name: one.read(request.args.getlist(one.name)) for one in route.parameters} | rest
        unknown = set(request.args) - set(values) - {"token"}
        if unknown:
            known = ", ".join(one.name for one in route.parameters) or "none"
            raise Refused(400, f"there is no parameter {min(unknown)[:40]!r} here", f"there are: {known}")
        body = self._body(request) if route.body is not None else b""
        if chosen is not None:
            self._look_at(chosen)
        made = route.make(Asked(self.traces, values, chosen, body))
        return _response(made)

    def _find(self, path: str, method: str) -> tuple[Route, str | None, dict[str, str]]:
        there = [(route, match) for pattern, route in self._patterns if (match := pattern.fullmatch(path))]
        if not there:
            raise Refused(404, "there is nothing at this address", "api/openapi.json lists every address")
        for route, match in there:
            if route.method == ("GET" if method == "HEAD" else method):
                named = match.groupdict()
                return route, named.pop("trace", None), named
        raise Refused(405, f"{method[:10]} is not possible here", f"use {there[0][0].method}")

    def _look_at(self, trace: ServedTrace) -> None:
        try:
            trace.refresh()
        except TdbgError as error:
            raise Refused(409, *_sentence_and_next(_without_folders(str(error), trace.path))) from None

    def _body(self, request: Request) -> bytes:
        if request.mimetype != "application/json":
            raise Refused(415, "the body is not JSON", "send it as application/json")
        if request.content_length is None or request.content_length > LARGEST_BODY:
            raise Refused(413, "the body is too large", f"send at most {LARGEST_BODY:,} bytes, with a Content-Length")
        return request.get_data(cache=False)


def failure(status: int, sentence: str, following: str) -> Response:
    return _json({"error": sentence, "next": following}, status)


def _own_fault(fault: Exception) -> Response:
    place = traceback.extract_tb(fault.__traceback__)[-1]
    sentence = f"this is a bug in tdbg ({type(fault).__name__} in {Path(place.filename).name}:{place.lineno})"
    print(f"tdbg: {sentence}: {fault}", file=sys.stderr)
    return failure(500, sentence, "the server is still running; try something else, and please report this")


def _response(made: Any) -> Response:
    if not isinstance(made, Answer):
        return _json(made)
    headers = {**_NEVER_KEPT, **made.headers}
    if made.file:
        headers["Content-Disposition"] = f'attachment; filename="{re.sub(r"[^A-Za-z0-9._~-]+", "-", made.file)}"'
    return Response(made.body, content_type=made.kind, headers=headers)


def _json(value: Any, status: int = 200) -> Response:
    return Response(to_json(value), status, _NEVER_KEPT, content_type="application/json")


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[A-Za-z0-9._~-]{1,200})", re.escape(path)))


def _sentence_and_next(text: str) -> tuple[str, str]:
    """Splits ``there is no such step; there are 0 to 9`` into what is wrong, and what to do."""
    sentence, _, following = text.partition("; ")
    return sentence, following


def _without_folders(text: str, path: Path) -> str:
    return text.replace(str(path), path.name)
