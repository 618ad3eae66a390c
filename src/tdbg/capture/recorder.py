"""Writes the events of this process to a trace, on one background thread that drains the ring.

Whatever fails here is counted and said once; the host program goes on.

While the process forks, that thread is held between two cycles. The child starts its own, and at its first event its
own folder of the same trace, into which it copies its parent's interned tables.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import socket
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from tdbg.capture import children, cluster, faults
from tdbg.capture.source import script_of
from tdbg.config import Config
from tdbg.model import Mode
from tdbg.native.record import RING_FILE
from tdbg.native.reference import DTYPES
from tdbg.store import ring_values
from tdbg.store.format import SCHEMAS
from tdbg.store.place import new_name
from tdbg.store.process import ProcessInfo
from tdbg.store.records import Decoder
from tdbg.store.tables import ProcessTables
from tdbg.store.writer import TraceWriter

INHERITED = (
    "graphs",
    "ops",
    "controls",
    "targets",
    "signatures",
    "functions",
    "shapes",
    "stacks",
    "frames",
    "sources",
    "steps",
)
_BAD_VALUE_BYTES, _VALUES_PER_OP = 256 << 20, 2
_BATCH = 1 << 15


class Recorder:
    """Owns the writer thread. Producers call ``add`` for interned rows and the native ring for everything hot."""

    def __init__(self, config: Config, lib: Any, versions: dict[str, str]) -> None:
        self.config, self.lib, self.versions = config, lib, versions
        self.path = (config.output or new_name(script_of())).absolute()
        self._rows: dict[str, deque[tuple]] = {name: deque() for name in SCHEMAS}
        self._wake, self._stopping = threading.Event(), False
        self._idle = threading.Condition()
        self._cycles = self._goal = 0
        self._unwritten = 0  # events that were taken from the ring and are in no file
        self._counted: dict[str, int] = {}
        self._decoder = Decoder()
        self._turn, self._cycle = threading.Lock(), threading.Lock()
        self._sealer: threading.Thread | None = None
        self._given_up: TraceWriter | None = None
        self._parent: tuple[Path, dict[str, int]] | None = None
        self._shapes_written = 0
        self._open()

    # ---- life

    def _open(self) -> None:
        self.writer: TraceWriter | None = TraceWriter(
            self.path, self._process(), segment_bytes=self.config.segment_bytes
        )
        self._open_ring()
        # Debugger V2 notes in its mode NO_TENSOR too that a graph's tensor was computed.
        is_noted = self.config.every_op and self.config.mode == Mode.NONE
        mode = Mode.SHAPE if is_noted else self.config.mode
        mode = Mode.NUMERICS if mode == Mode.EDGES else mode
        self.lib.set_mode(int(mode), int(self.config.values_when_bad), 256 << 20, _BAD_VALUE_BYTES, _VALUES_PER_OP)
        self._start_thread()

    def _open_ring(self) -> None:
        file = str(self.writer.folder / RING_FILE) if self.writer is not None and self.config.ring else None
        capacity = self.config.ring or self.config.queue_events
        self.lib.ring_open(capacity, file, not self.config.drop_when_full)

    def _start_thread(self) -> None:
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._work, name="tdbg-writer", daemon=True)
        self._thread.start()
        atexit.register(self.stop)
        children.end_with_child(self)

    def _process(self) -> dict[str, Any]:
        task = cluster.member()
        return {
            "pid": os.getpid(),
            "parent": os.getppid(),
            "host": socket.gethostname(),
            "rank": task.rank if task else 0,
            "cluster": task.cluster if task else None,
            "task": task.task if task else None,
            "argv": list(getattr(sys, "orig_argv", sys.argv)),
            "script": script_of(),
            "cwd": os.getcwd(),
            "started": time.time_ns(),
            "mode": self.config.mode.label,
            "debug_mode": self.config.debug_mode,
            "every_op": self.config.every_op,
            "exact": self.config.exact,
            "ring": self.config.ring,
            "filters": {name: getattr(self.config, name) for name in ("ops", "op_regex", "names", "dtypes", "files")},
            "steps": [self.config.first_step, self.config.last_step, self.config.every],
            "versions": {"python": sys.version.split()[0], **self.versions},
        }

    def stop(self, **end: Any) -> None:
        """Drains what is left, seals, and ends the trace. Safe to call twice."""
        atexit.unregister(self.stop)
        if self._stopping or self._pid != os.getpid():
            return
        self.lib.set_recording(False)
        self._last_call = time.monotonic() + 1.0
        self._stopping = True
        self._wake.set()
        self._thread.join()
        with faults.guard("writing the end of the trace"):
            self._write_end(end)
        self.writer = self._given_up = None

    def _write_end(self, end: dict[str, Any]) -> None:
        produced, dropped, values_dropped, waits, _ = self.lib.counters()
        counts = {"events": produced, "dropped": dropped, "values_dropped": values_dropped, "waits": waits}
        end = {"ended": time.time_ns(), "faults": dict(faults.counts), **counts, **end}
        self._wait_for_sealer()
        if self.writer is not None:
            try:
                self.writer.close({**end, "dropped": dropped + self._unwritten})
            except OSError as error:
                self._say_stopped(self.writer, error)
            if self.config.ring:
                (self.writer.folder / RING_FILE).unlink(missing_ok=True)
                ring_values.remove(self.writer.folder)
        elif self._given_up is not None:
            with contextlib.suppress(OSError):  # said already
                self._given_up.amend_end({**end, "unwritten": self._unwritten})

    # ---- fork

    def hold(self) -> None:
        """Waits for the writer thread to be between two cycles, and keeps it there while the process forks."""
        self._turn.acquire()  # else a busy writer would begin its next cycle before this thread wakes up
        self._cycle.acquire()
        self._wait_for_sealer()

    def release(self) -> None:
        self._cycle.release()
        self._turn.release()

    def restart_after_fork(self) -> None:
        """In a forked child: a writer thread of its own, and, once it records anything, a folder of its own."""
        self.lib.after_fork()
        if self.writer is not None:
            self._parent = self.writer.folder, dict(self.writer.rows)
            self.writer.discard_after_fork()
        self.writer = self._given_up = self._sealer = None
        self._wake, self._idle = threading.Event(), threading.Condition()
        self._turn, self._cycle = threading.Lock(), threading.Lock()
        self._decoder = Decoder()
        self._counted = {"dropped": self.lib.counters()[1], "values_dropped": self.lib.counters()[2]}
        self._unwritten = 0
        self._rows["notes"].clear()
        if self._parent is None:  # the parent had stopped
            return
        if self.config.ring:  # its file is needed before the first event
            self._join_trace()
            self._open_ring()
        self._start_thread()

    def _join_trace(self) -> None:
        """The child's own folder. Its events refer to ops and stacks that the parent wrote: copy those.

        Not those that the parent wrote since the fork: the child gives the same numbers to others.
        """
        assert self._parent is not None
        (folder, counts), self._parent = self._parent, None
        self.writer = TraceWriter(self.path, self._process(), segment_bytes=self.config.segment_bytes)
        parent = ProcessTables(ProcessInfo(0, folder, {}))
        for name in INHERITED:
            left = counts[name]
            for table in parent.read(name, SCHEMAS[name].names):
                rows = table.slice(0, left)
                left -= len(rows)
                if len(rows):
                    self.writer.append(name, {column: rows[column].combine_chunks() for column in rows.column_names})

    # ---- producers

    def add(self, table: str, row: tuple) -> None:
        """One interned row; it reaches the disk before any event that was pushed after this call."""
        self._rows[table].append(row)

    def push_array(self, op: int, slot: int, graph: int, flags: int, array: np.ndarray, execution: int = -1) -> None:
        """One array as a tensor event; for values that no observer passes, such as a graph's constants."""
        code = DTYPES.get(array.dtype.name)
        if code is not None:
            plain = np.ascontiguousarray(array).reshape(array.shape)
            if plain.dtype.kind == "V":  # numpy has no buffer format for bfloat16 and the 8-bit floats
                plain = plain.view(f"u{plain.dtype.itemsize}")
            self.lib.tensor(op, slot, graph, int(flags), execution, plain, int(code))

    def note(self, kind: str, text: str, count: int = 1) -> None:
        """Something that was skipped, dropped or could not be done."""
        self.add("notes", (time.time_ns(), kind, count, text))

    def flush(self) -> None:
        """Returns when everything pushed before is on disk."""
        with self._idle:
            goal = self._goal = self._cycles + 2
            self._wake.set()
            self._idle.wait_for(lambda: self._cycles >= goal or not self._thread.is_alive(), timeout=30)

    # ---- the writer thread

    def _work(self) -> None:
        while True:
            self._wake.wait(self.config.flush_seconds)
            self._wake.clear()
            last = self._stopping
            with self._turn:
                self._cycle.acquire()
            try:
                self._write_all(last)
            except OSError as error:
                self._give_up(error)
            except MemoryError:
                self._give_up(OSError(errno.ENOMEM, "out of memory"))
            except Exception as error:
                faults.report("writing the trace", error)
            finally:
                self._cycle.release()
            with self._idle:
                self._cycles += 1
                self._idle.notify_all()
            if last:
                return
            if self._cycles < self._goal:
                self._wake.set()

    def _write_all(self, last: bool) -> None:
        """What waits now; what comes meanwhile is for the next cycle, or a busy program would never see the end."""
        waiting = self.lib.counters()[4]
        while True:
            events = b"" if self.config.ring and not last else self.lib.ring_drain(_BATCH)
            self._write(events)
            waiting -= len(events) // self.lib.RECORD_BYTES
            is_done = waiting <= 0 or not events
            if is_done and not (last and self._still_coming()):
                break
        if events and self.lib.counters()[4] > _BATCH // 2:
            self._wake.set()

    def _write(self, events: bytes) -> None:
        if self._parent is not None:  # a forked child that has recorded nothing so far
            if not events:
                return
            self._join_trace()
        is_buffered = False
        try:
            self._write_interned()
            values = self._take_values()
            batches = self._decoder.decode(events, values)
            if self.writer is not None:
                for table, columns in batches.items():
                    self.writer.append(table, columns)
                is_buffered = True
        finally:
            if not is_buffered:
                self._unwritten += len(events) // self.lib.RECORD_BYTES
        if self.writer is not None:
            self.writer.flush()
            if values and self.config.ring:
                self._keep_values_of_ring(self.writer, values)
            if self.writer.rotate_if_large() and not self._stopping:  # the end seals what is left by itself
                self._seal_beside(self.writer)

    def _keep_values_of_ring(self, writer: TraceWriter, values: dict[int, int]) -> None:
        """The events stay in the ring, so which value is whose is noted beside it; older values go."""
        capacity = 4 * self.config.ring  # rings are rounded up, and threads take tokens and places in other orders
        ring_values.write(writer.folder, values, capacity)
        self._decoder.forget_values(max(values) - capacity)
        writer.remove_values(capacity)

    def _seal_beside(self, writer: TraceWriter) -> None:
        """A slow disk takes long to sync; meanwhile events must go on to it, or they would have to be dropped."""

        def seal() -> None:
            with contextlib.suppress(OSError):  # tried again with the next segment, and at the end
                writer.seal_waiting()

        if self._sealer is None or not self._sealer.is_alive():
            self._sealer = threading.Thread(target=seal, name="tdbg-sealer", daemon=True)
            self._sealer.start()

    def _wait_for_sealer(self) -> None:
        if self._sealer is not None:
            self._sealer.join()

    def _still_coming(self) -> bool:
        """At the end: an observer may be in the middle of its record, with whole ones behind it."""
        pending = self.lib.counters()[4]
        if not pending or time.monotonic() > self._last_call:
            return False
        time.sleep(0.001)
        return True

    def _write_interned(self) -> None:
        shapes = self.lib.shapes_since(self._shapes_written)
        rows = {name: [queue.popleft() for _ in range(len(queue))] for name, queue in self._rows.items() if queue}
        if shapes:
            first = self._shapes_written
            rows["shapes"] = [(first + i, dims) for i, dims in enumerate(shapes)]
            self._shapes_written += len(shapes)
        self._count_drops(rows)
        if self.writer is None:
            return
        for name, table in rows.items():
            try:
                self.writer.append(name, dict(zip(SCHEMAS[name].names, zip(*table, strict=True), strict=True)))
            except ValueError as error:
                faults.report(f"writing rows of {name}", error)

    def _count_drops(self, rows: dict[str, list[tuple]]) -> None:
        _, dropped, values_dropped, _, _ = self.lib.counters()
        for kind, count, text in (
            ("dropped", dropped, "events were dropped because the disk could not keep up"),
            ("values_dropped", values_dropped, "full values were not kept: over the size limit"),
        ):
            new = count - self._counted.get(kind, 0)
            if new > 0:
                self._counted[kind] = count
                rows.setdefault("notes", []).append((time.time_ns(), kind, new, text))

    def _take_values(self) -> dict[int, int]:
        values = {}
        while (value := self.lib.take_value()) is not None:
            token, dtype, dims, data = value
            if self.writer is not None:
                values[token] = self.writer.put_value(data, dtype, dims)
        return values

    def _give_up(self, error: OSError) -> None:
        """The disk is full or gone: what is written stays readable, the rest is counted, training goes on."""
        if self.writer is None:
            faults.report("writing the trace", error)
            return
        writer, self.writer, self._given_up = self.writer, None, self.writer
        self._wait_for_sealer()
        with contextlib.suppress(OSError):
            writer.close({"stopped": error.strerror or str(error)})
        self._say_stopped(writer, error)

    def _say_stopped(self, writer: TraceWriter, error: OSError) -> None:
        readable = f". What was written can be read: tdbg why {self.path.name}" if writer.folder.is_dir() else ""
        faults.say(
            f"the trace can no longer be written ({error.strerror or error}); recording stopped, your program "
            f"continues{readable}"
        )
