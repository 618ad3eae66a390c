"""Keeps the traces that are served, by their short names, and finds new ones in folders.

A trace is opened when it is first asked for, and looked at again while its program writes. Quick questions share one
reader and a lock. A slow one has a reader of its own, so that it holds nobody up, and its answer is kept until the
trace has grown.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tdbg.errors import TdbgError
from tdbg.query.listing.groups import Groups
from tdbg.query.listing.op_health import Healths
from tdbg.query.listing.scopes import Scopes
from tdbg.query.listing.tensor_listing import TensorListings
from tdbg.query.over_time.timeline import Timeline
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.query.trace.executions import Executions
from tdbg.query.trace.overview import is_live
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.store.format import PROCESS_JSON, TRACE_JSON
from tdbg.store.process import check_version
from tdbg.web.route import Refused

if TYPE_CHECKING:
    from tdbg.query.verdict.verdict import Verdict

_LOOK_AGAIN = 0.4  # seconds
_STARTING = 600.0  # seconds; a trace that no process wrote to in so long is empty
_MOST_KEPT = 64  # answers to particular questions, whose keys are tuples
_PATIENCE = 10  # a slow answer that took a second may be ten seconds old while the program runs


@dataclass(slots=True)
class _Kept:
    version: int
    value: Any
    took: float
    made: float


class StartingError(TdbgError):
    """Raised when nothing was recorded yet, but something is about to be."""


class ServedTrace:
    """One trace that is served. ``lock`` is held while its scenes are used."""

    def __init__(self, name: str, path: Path) -> None:
        self.id, self.path = name, path
        self.lock = threading.RLock()
        self.version = 0
        self._trace: Trace | None = None
        self._is_gone = False  # it was there before
        self._scenes: dict[int, TraceScene] = {}
        self._listings: dict[int, TensorListings] = {}
        self._executions: dict[int, Executions] = {}
        self._healths: dict[int, Healths] = {}
        self._scopes: dict[int, Scopes] = {}
        self._groups: dict[int, Groups] = {}
        self._timelines: dict[int, Timeline] = {}
        self._looked = 0.0
        self._state: Any = None
        self._first_process: tuple[int, int] | None = None  # as of a version
        self._counted: dict[int, dict[str, Any]] = {}
        self._may_grow = True  # once more after its program has ended
        self._grown: list[int] = []  # rows, as they were counted last
        self._kept: dict[Any, _Kept] = {}
        self._making: dict[Any, threading.Lock] = {}

    # ---- quick questions

    def open(self) -> Trace:
        """Opens the trace; TdbgError when it cannot be read. Asked again, it tries again."""
        with self.lock:
            if self._trace is None:
                if self._is_gone and not self.path.exists():
                    raise TdbgError("this trace is gone; if it is recorded again, it appears again")
                if _is_starting(self.path):
                    raise StartingError("this run is just starting; it appears as soon as something is recorded")
                self._trace, self._is_gone = Trace.open(self.path), False
            return self._trace

    @property
    def is_starting(self) -> bool:
        with self.lock:
            return self._trace is None and not self._is_gone and _is_starting(self.path)

    def process(self, asked: int | None) -> int:
        """Gives the process that is asked for, else that with the first bad value."""
        with self.lock:
            trace = self.open()
            if asked is not None and asked >= len(trace.processes):
                there = f"this trace has {len(trace.processes)}, counted from 0"
                raise Refused(404, f"there is no process {asked}", there)
            if asked is not None or len(trace.processes) == 1:
                return asked or 0
            if self._first_process is None or self._first_process[0] != self.version:
                found = trace.first_bad()
                self._first_process = self.version, int(found["process"]) if found else 0
            return self._first_process[1]

    def scene(self, process: int) -> TraceScene:
        """Gives the scene of all moments together. To be called only while the lock is held."""
        if process not in self._scenes:
            self._scenes[process] = TraceScene(self.open(), process)
            self._scenes[process].go(None)
        return self._scenes[process]

    def listings(self, process: int) -> TensorListings:
        """To be called only while the lock is held."""
        if process not in self._listings:
            self._listings[process] = TensorListings(self.scene(process).read)
        return self._listings[process]

    def harmless(self, process: int) -> frozenset[int]:
        """Gives the ops whose bad values did no harm; none before somebody asked for the verdict."""
        said: Verdict | None = self.peek("verdict")
        return said.harmless.get(process, frozenset()) if said is not None else frozenset()

    def harm_begins(self, process: int) -> int:
        """Gives the first event that led to harm; -1 when there is none, or nobody asked for the verdict yet."""
        said: Verdict | None = self.peek("verdict")
        return said.harm_begins.get(process, -1) if said is not None else -1

    def executions(self, process: int) -> Executions:
        """To be called only while the lock is held."""
        harmless, begins = self.harmless(process), self.harm_begins(process)
        known = self._executions.get(process)
        if known is None or (known.harmless, known.harm_begins) != (harmless, begins):
            known = self._executions[process] = Executions(self.scene(process).read, harmless, begins)
        return known

    def healths(self, process: int) -> Healths:
        """To be called only while the lock is held."""
        harmless = self.harmless(process)
        if process not in self._healths or self._healths[process].harmless != harmless:
            self._healths[process] = Healths(self.scene(process).read, harmless)
        return self._healths[process]

    def scopes(self, process: int) -> Scopes:
        """To be called only while the lock is held."""
        healths = self.healths(process)
        if process not in self._scopes or self._scopes[process].healths is not healths:
            self._scopes[process] = Scopes(self.scene(process).read, healths)
        return self._scopes[process]

    def groups(self, process: int) -> Groups:
        """To be called only while the lock is held."""
        healths = self.healths(process)
        if process not in self._groups or self._groups[process].healths is not healths:
            self._groups[process] = Groups(self.scene(process).read, self.listings(process), healths)
        return self._groups[process]

    def timeline(self, process: int) -> Timeline:
        """To be called only while the lock is held."""
        harmless, begins = self.harmless(process), self.harm_begins(process)
        known = self._timelines.get(process)
        if known is None or (known.harmless, known.harm_begins) != (harmless, begins):
            known = self._timelines[process] = Timeline(self.open(), self.scene(process).read, harmless, begins)
        return known

    @property
    def is_live(self) -> bool:
        return is_live(self.open())

    def refresh(self) -> None:
        """Looks at what is on disk now, unless that was done just before."""
        with self.lock:
            trace = self.open()
            if time.monotonic() - self._looked < _LOOK_AGAIN:
                return
            if not all(process.folder.exists() for process in trace.processes):  # removed, or recorded anew
                self._forget()
                trace = self.open()
            trace.refresh()
            if self._may_grow:
                self._grown = [trace.row_count(name) for name in ("tensors", "executions", "ends")]
            state = ([process.state for process in trace.processes], self._grown)
            self._may_grow = is_live(trace)
            if state != self._state:
                for number, scene in self._scenes.items():
                    scene.refresh()
                    for made in (
                        self._listings,
                        self._executions,
                        self._healths,
                        self._scopes,
                        self._groups,
                        self._timelines,
                    ):
                        made.pop(number, None)
                self.version += 1
                self._state = state
            self._looked = time.monotonic()

    def _forget(self) -> None:
        self._trace, self._is_gone = None, True
        for made in (
            self._scenes,
            self._listings,
            self._executions,
            self._healths,
            self._scopes,
            self._groups,
            self._timelines,
        ):
            made.clear()
        self._kept.clear()
        self._state, self._may_grow = None, True

    def counted(self) -> dict[str, Any]:
        """Counts rows and bad ones, as it was when somebody last looked."""
        with self.lock:
            known = self._counted.get(self.version)
            if known is None:
                trace = self.open()
                steps = trace.rollup("steps")
                rows, bad = (int(steps[name].to_numpy().sum()) for name in ("rows", "bad"))
                known = {"version": self.version, "rows": rows, "bad": bad, "live": is_live(trace)}
                self._counted = {self.version: known}
            return known

    # ---- slow questions

    def apart(self) -> Trace:
        """Opens a reader of the asker's own."""
        return self.open().another()

    @contextmanager
    def rows_apart(self) -> Iterator[tuple[Trace, Rows]]:
        """Lends one more reader with its queries, kept for those who ask again and again, one after the other."""
        trace, rows, lock = self.kept("rows", self._open_rows)
        with lock:
            yield trace, rows

    def _open_rows(self) -> tuple[Trace, Rows, threading.Lock]:
        trace = self.apart()
        return trace, Rows(trace), threading.Lock()

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Gives what ``make`` gives, made once for each state of the trace; while it grows fast, less often. Not to be
        called while the lock is held: who makes something may wait for it."""
        with self.lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            known, version = self._kept.get(key), self.version
            if known is not None and (known.version == version or self._is_recent(known)):
                return known.value
            began = time.monotonic()
            value = make()
            with self.lock:
                self._kept.pop(key, None)
                self._kept[key] = _Kept(version, value, time.monotonic() - began, time.monotonic())
                particular = [one for one in self._kept if isinstance(one, tuple)]
                for one in particular[:-_MOST_KEPT]:
                    self._kept.pop(one)
                    self._making.pop(one, None)
            return value

    def peek(self, key: Any) -> Any:
        """Gives what is kept, however old; None when nothing is."""
        known = self._kept.get(key)
        return known.value if known is not None else None

    def _is_recent(self, known: _Kept) -> bool:
        return self.is_live and time.monotonic() - known.made < _PATIENCE * known.took


class Traces:
    """All traces that are served. Those of a folder, and those that ``search`` finds, are looked for again and
    again."""

    def __init__(
        self,
        paths: Sequence[Path],
        folders: Sequence[Path] = (),
        search: Callable[[], Sequence[Path]] = lambda: (),
    ) -> None:
        self._folders = [folder.resolve() for folder in folders]
        self._search = search
        self._passing: set[Path] = set()  # those that were found by looking, and may go
        self._lock = threading.Lock()
        self._by_id: dict[str, ServedTrace] = {}
        for path in paths:
            self._add(path)
        self.look()

    def add(self, path: Path) -> ServedTrace:
        """Serves one more; one that is served already stays as it is."""
        with self._lock:
            return self._add(path)

    def look(self) -> None:
        """Looks for traces that have come or gone."""
        with self._lock:
            found = [path for folder in self._folders for path in _traces_in(folder)]
            found += self._search()
            self._passing |= {self._add(path).path for path in found}
            gone = [
                name
                for name, trace in self._by_id.items()
                if trace.path in self._passing and trace.path not in found and not trace.path.exists()
            ]
            for name in gone:
                del self._by_id[name]

    def all(self) -> list[ServedTrace]:
        return list(self._by_id.values())

    def find(self, name: str) -> ServedTrace:
        found = self._by_id.get(name)
        if found is None:
            raise Refused(404, "there is no such trace here", "api/traces lists those being served")
        return found

    def _add(self, path: Path) -> ServedTrace:
        path = path.resolve()
        known = next((trace for trace in self._by_id.values() if trace.path == path), None)
        if known is not None:
            return known
        short = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name.removesuffix(".tdbg")).strip("-.") or "trace"
        name, number = short, 1
        while name in self._by_id:
            number += 1
            name = f"{short}~{number}"
        return self._by_id.setdefault(name, ServedTrace(name, path))


def _traces_in(folder: Path) -> list[Path]:
    try:
        return sorted((path for path in folder.glob("*.tdbg") if (path / "trace.json").is_file()), key=_age)
    except OSError:
        return []


def _age(path: Path) -> tuple[float, str]:
    try:
        return -path.stat().st_mtime, path.name
    except OSError:
        return 0.0, path.name


def _is_starting(path: Path) -> bool:
    """Whether the trace is not there yet, or was made just now and no process has written to it."""
    try:
        if not path.is_dir():
            return not path.exists()
        is_fresh = time.time() - path.stat().st_mtime < _STARTING
        inside = list(path.iterdir())
        if (path / TRACE_JSON).exists():
            check_version(path)
        has_more = any(one.is_file() and one.name != TRACE_JSON for one in inside)
        return is_fresh and not has_more and not any((folder / PROCESS_JSON).exists() for folder in inside)
    except (OSError, TdbgError):
        return False


def reason(trace: ServedTrace) -> str:
    """Says why a trace cannot be read; "" when it can, or when it is about to be written."""
    try:
        trace.open()
    except StartingError:
        return ""
    except TdbgError as error:
        return str(error)
    return ""
