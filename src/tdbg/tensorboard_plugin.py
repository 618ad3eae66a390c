"""Shows the page of the traces below a TensorBoard logdir as one of TensorBoard's tabs.

TensorBoard imports this at every start, so it loads nothing of tdbg before a route is asked for.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from tensorboard.plugins import base_plugin

NAME = "tdbg"
_MODULE = "/tensorboard.js"
_PREFIX = f"/data/plugin/{NAME}"
_PATIENCE = 10  # a walk that took a second is not done again for ten
_SHORTEST = 2.0  # seconds between two walks


class TdbgPlugin(base_plugin.TBPlugin):
    """The tab is there when a trace, or a folder of TensorFlow's own debuggers, is below the logdir."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        super().__init__(context)
        self._logdirs = _LogDirs(_folders(context))

    def is_active(self) -> bool:
        return bool(self._logdirs.places())

    def data_plugin_names(self) -> Sequence[str]:
        return ()  # it reads no summaries

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        # The page follows its traces by itself; TensorBoard's reload would lose what was chosen.
        return base_plugin.FrontendMetadata(es_module_path=_MODULE, tab_name="tdbg", disable_reload=True)

    def get_plugin_apps(self) -> dict[str, WSGIApplication]:
        return {"/*": self._serve}

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        from tdbg.web.guard import IN_FRAME, adding, below

        return self._page(below(environ, _PREFIX), adding(IN_FRAME, start_response))

    @cached_property
    def _page(self) -> WSGIApplication:
        from tdbg.web.api import Api
        from tdbg.web.static_files import Page
        from tdbg.web.traces import Traces

        return Page(Api(Traces([], search=_Search(self._logdirs))))


class _LogDirs:
    """What lies below some folders: found by a walk, which is not repeated while its answer is fresh."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._lock = threading.Lock()
        self._found: list[Path] = []
        self._until = 0.0

    def places(self) -> list[Path]:
        """Traces, and folders that can be imported."""
        with self._lock:
            began = time.monotonic()
            if began >= self._until:
                self._found = [place for folder in self._folders for place in _places_below(folder)]
                ended = time.monotonic()
                self._until = ended + max(_SHORTEST, _PATIENCE * (ended - began))
            return list(self._found)


class _Search:
    """What lies below the logdir as traces: those of other formats are imported, once, beside everything else."""

    def __init__(self, logdirs: _LogDirs) -> None:
        self._logdirs = logdirs
        self._lock = threading.Lock()
        self._imported: dict[Path, Path | None] = {}  # None while it is being done, and when it cannot be done

    def __call__(self) -> list[Path]:
        places = self._logdirs.places()
        foreign = [place for place in places if not _is_trace(place)]
        with self._lock:
            new = [place for place in foreign if place not in self._imported]
            self._imported.update(dict.fromkeys(new))
            ready = [trace for place in foreign if (trace := self._imported[place]) is not None]
        if new:
            threading.Thread(target=self._import, args=(new,), daemon=True).start()
        return [place for place in places if _is_trace(place)] + ready

    def _import(self, places: Sequence[Path]) -> None:
        from tdbg.commands.import_formats import cached_import
        from tdbg.errors import TdbgError

        for place in places:
            try:
                self._imported[place] = cached_import(place)
            except (TdbgError, OSError) as error:
                print(f"tdbg: cannot show {place}: {error}", file=sys.stderr)


def _folders(context: base_plugin.TBContext) -> list[Path]:
    """The local folders of --logdir and --logdir_spec, which is ``name:path,path``."""
    named = [context.logdir] if context.logdir else []
    for word in (getattr(context.flags, "logdir_spec", "") or "").split(","):
        name, colon, path = word.partition(":")
        has_name = bool(colon) and "://" not in word and "/" not in name and not os.path.splitdrive(word)[0]
        named.append(path if has_name else word)
    return [Path(word).expanduser() for word in named if word and "://" not in word]


def _places_below(folder: Path) -> Iterator[Path]:
    """Does not look into what it found, nor into hidden folders; links are not followed, for they may go in circles."""
    from tdbg.commands.import_formats import FORMATS

    waiting = [folder]
    while waiting:
        at = waiting.pop()
        if (at.suffix == ".tdbg" and _is_trace(at)) or any(one.recognises(at) for one in FORMATS):
            yield at
            continue
        try:
            with os.scandir(at) as entries:
                inner = [
                    entry.path for entry in entries if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue  # it is gone, or not ours to read
        waiting += map(Path, sorted(inner, reverse=True))


def _is_trace(path: Path) -> bool:
    return (path / "trace.json").is_file()
