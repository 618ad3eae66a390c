"""Gives each run that TensorFlow dumps a folder of its own, whole at once, though all are written to one URL.

TensorFlow builds a new executor for each new URL and keeps all of them. So each run is dumped to a spool, which gets
the run's name when it has ended. Runs at the same time have spools of their own. The graph is written only when an
executor is built; later runs of the same executor get links to it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tensorflow.core.framework import graph_pb2
from tensorflow.core.util import event_pb2

from tdbg.formats.dumps.names import CORE_METADATA_PREFIX, FEEDS_NAME, FETCHES_NAME, GRAPH_PREFIX
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import read_event
from tdbg.frameworks.tensorflow.sessions.debug_nodes import rename_debug_op

IDENTITY = "DebugIdentity"


class KeptGraph(NamedTuple):
    """A partition graph: where it lies in the folder of a run, and a copy of that file."""

    path: str
    copy: Path


class RunDump(NamedTuple):
    """A run that is being dumped: where TensorFlow writes to, and what the run will be called."""

    spool: Path
    name: str
    fetches: str
    feeds: str
    watched: str  # what else tells one executor from another: the filters and debug ops
    debug_op: str = IDENTITY  # which writes the tensors; where it is another, the graph tells of this one all the same

    @property
    def url(self) -> str:
        return f"file://{self.spool}"


class FinishedDump(NamedTuple):
    """The folder of a run that has ended, how many bytes were written to it, and its graphs."""

    folder: Path
    size: int
    graphs: Sequence[KeptGraph]


class DumpRoot:
    """A folder of dumped runs. It must be new or empty; ValueError, with ``what`` in it, when it is not."""

    def __init__(self, root: str | os.PathLike, what: str) -> None:
        text = os.fspath(root)
        if "://" in text:
            raise ValueError(f"{what} must be a folder of this machine, and not {text}")
        self.path = Path(os.path.abspath(os.path.expanduser(text)))
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{what} path points to a file: {self.path}")
        if self.path.is_dir() and any(self.path.iterdir()):
            raise ValueError(f"{what} path points to a non-empty directory; name a new one: {self.path}")
        self.is_new = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        self._spools = _place_beside(self.path)
        self._free: list[Path] = []
        self._count = 0
        self._graphs: dict[tuple, Sequence[KeptGraph]] = {}
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._cleanup = weakref.finalize(self, _clear, self._spools, self._process)

    @classmethod
    def temporary(cls) -> DumpRoot:
        """A root in the system's folder for temporary files; ``remove`` takes it away."""
        root = cls(tempfile.mkdtemp(prefix="tfdbg_"), "dump_root")
        root.is_new = True
        return root

    def begin(self, number: int, fetches: Any, feed_dict: Any, watched: Any = "") -> RunDump:
        """A spool for a run. ``number`` becomes part of its folder's name."""
        with self._lock:
            if self._free:
                spool = self._free.pop()
            else:
                spool = self._spools / str(self._count)
                self._count += 1
        name = f"run_{time.time_ns() // 1000}_{number}"
        feeds = repr(feed_dict.keys()) if feed_dict else repr(feed_dict)
        return RunDump(spool, name, repr(fetches), feeds, str(watched))

    def finish(self, dump: RunDump) -> FinishedDump:
        """The run has ended: its dumps get a folder of their own."""
        try:
            dump.spool.mkdir(parents=True, exist_ok=True)
            found = _survey(dump.spool)
            graphs = self._complete_graphs(dump, found)
            _write_message(dump.spool / FETCHES_NAME, dump.fetches)
            _write_message(dump.spool / FEEDS_NAME, dump.feeds)
            folder = self.path / dump.name
            dump.spool.rename(folder)
        finally:
            self._release(dump.spool)
        return FinishedDump(folder, found.size, graphs)

    def discard(self, folder: Path) -> None:
        """Takes a run away again."""
        shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Takes everything away, and the root too if it was made here. A forked child leaves it to its parent."""
        if os.getpid() != self._process:
            return
        shutil.rmtree(self._spools, ignore_errors=True)
        for entry in list(self.path.glob("run_*")) if self.path.is_dir() else []:
            shutil.rmtree(entry, ignore_errors=True)
        if self.is_new:
            with contextlib.suppress(OSError):
                self.path.rmdir()

    def _release(self, spool: Path) -> None:
        shutil.rmtree(spool, ignore_errors=True)
        with self._lock:
            self._free.append(spool)

    def _complete_graphs(self, dump: RunDump, found: _Survey) -> Sequence[KeptGraph]:
        """Keeps new graphs, and links known ones to a run whose executor had written them before."""
        key = (dump.spool.name, dump.watched, dump.debug_op, *found.signature)
        if found.graphs:
            kept = self._graphs[key] = [
                KeptGraph(path, self._spools / "graphs" / uuid.uuid4().hex) for path in found.graphs
            ]
            for graph in kept:
                graph.copy.parent.mkdir(exist_ok=True)
                if dump.debug_op != IDENTITY:
                    _rename_debug_op(dump.spool / graph.path, dump.debug_op)
                _link(dump.spool / graph.path, graph.copy)
            return kept
        known = self._graphs.get(key, ())
        for graph in known:
            target = dump.spool / graph.path
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(graph.copy, target)
        return known


class _Survey(NamedTuple):
    """What has to be known of a dump: its graphs, its size, and feeds, fetches and targets as TensorFlow has them,
    which tell its executors apart."""

    graphs: list[str]
    signature: tuple[str, ...]
    size: int


def _survey(spool: Path) -> _Survey:
    graphs, signature, size = [], [], 0
    pending = [str(spool)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending.append(entry.path)
                    continue
                size += entry.stat().st_size
                if entry.name.startswith(GRAPH_PREFIX):
                    graphs.append(os.path.relpath(entry.path, spool))
                elif entry.name.startswith(CORE_METADATA_PREFIX):
                    signature.append(read_event(entry.path).log_message.message.partition('"input_names"')[2])
    return _Survey(graphs, tuple(signature), size)


def _place_beside(root: Path) -> Path:
    """Where TensorFlow writes to until a run has ended: not in the root, whose folders are taken for runs, but where a
    folder can be moved into it. A name that no wrapper had before: executors of an earlier one would not write their
    graphs again."""
    name = f"tdbg_spool_{uuid.uuid4().hex[:8]}"
    for place in (Path(tempfile.gettempdir()) / name, root.parent / f".{name}"):
        try:
            (place / "probe").mkdir(parents=True)
            (place / "probe").rename(root / f".{name}")
            (root / f".{name}").rmdir()
            return place
        except OSError:  # of another file system, or not to be written to
            shutil.rmtree(place, ignore_errors=True)
    return root / f".{name}"


def _clear(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _rename_debug_op(path: Path, debug_op: str) -> None:
    event = read_event(str(path))
    graph = graph_pb2.GraphDef.FromString(event.graph_def)
    rename_debug_op(graph, debug_op, IDENTITY)
    event.graph_def = graph.SerializeToString()
    path.write_bytes(event.SerializeToString())


def _write_message(path: Path, text: str) -> None:
    event = event_pb2.Event()
    event.log_message.message = text
    path.write_bytes(event.SerializeToString())
