"""Serves the files of the built page, and the plain pages that say what is wrong."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from functools import cached_property
from html import escape
from pathlib import Path
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.wrappers import Request, Response

STATIC = Path(__file__).parent / "static"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def error_page(sentence: str, following: str) -> str:
    """Writes a page that needs nothing else, and runs nothing."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>tdbg</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        f"<body><main><h1>tdbg</h1><p>{escape(sentence)}</p><p>{escape(following)}</p></main></body></html>\n"
    )


class Page:
    """Serves the built page, with the API under it."""

    def __init__(self, api: WSGIApplication, folder: Path = STATIC) -> None:
        self._api, self._folder = api, folder

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        if request.path.startswith("/api/"):
            return self._api(environ, start_response)
        return self._file(request)(environ, start_response)

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The files by address: nothing else can be asked for."""
        found = {
            f"/{path.relative_to(self._folder).as_posix()}": path
            for path in sorted(self._folder.rglob("*"))
            if path.is_file()
        }
        if "/index.html" in found:
            found["/"] = found["/index.html"]
        return found

    def _file(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response(error_page("this is not possible here", "use GET"), 405, content_type="text/html")
        path = self._files.get(request.path)
        if path is None:
            status, sentence = (404, "there is nothing at this address") if self._files else (503, _NOT_BUILT)
            page = error_page(sentence, "go to the start page of this server")
            return Response(page, status, content_type="text/html; charset=utf-8")
        kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        text = "; charset=utf-8" if kind.startswith("text/") else ""
        answer = Response(path.read_bytes(), content_type=f"{kind}{text}", headers={"Cache-Control": "no-cache"})
        answer.add_etag()
        return answer.make_conditional(request.environ)


_NOT_BUILT = "the page is not part of this installation; its data is under api/"
