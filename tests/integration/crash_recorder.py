"""A program for test_crash.py: reads the names of traces, and records into each at full speed in a process of its own.

It does not load TensorFlow, so such a process starts at once. Event number N says so itself: its op is N // BURST, and
the greatest of its numbers is N % BURST where that is above 8. How many were pushed, and when, is published in a file
that outlives the process. ``--memory EVENTS`` instead prints by how many megabytes recording that many events grows
the process.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

BURST = 500
ENTRY = struct.Struct("<QQQ")  # events pushed, when, and how long the process has computed by then
ENTRIES = 1 << 14


def record(folder: Path, name: str) -> None:
    """Records until it is killed, or its parent is gone."""
    parent = os.getppid()
    with open(folder / f"{name}.log", "w+b") as file:
        file.truncate(ENTRIES * ENTRY.size)
        published = mmap.mmap(file.fileno(), 0)
    _, lib = start(folder / f"{name}.tdbg", segment_bytes=2 << 20)
    for turn in range(1 << 30):
        if os.getppid() != parent:
            os._exit(0)
        lib.push_rows(turn, BURST)
        if turn < ENTRIES:
            ENTRY.pack_into(published, turn * ENTRY.size, (turn + 1) * BURST, time.time_ns(), time.process_time_ns())


def published(folder: Path, name: str) -> list[tuple[int, int, int]]:
    """(events pushed, when, time computed, in ns) as far as the process came."""
    file = folder / f"{name}.log"
    entries = ENTRY.iter_unpack(file.read_bytes()) if file.exists() else []
    return [entry for entry in entries if all(entry)]


def start(trace: Path, **options: Any) -> tuple[Any, Any]:
    """The real recorder and its ring, which is open for events."""
    from tdbg import native
    from tdbg.capture.recorder import Recorder
    from tdbg.config import make_config

    lib = native.events()
    recorder = Recorder(make_config(output=trace, **options), lib, {})
    lib.set_recording(True)
    return recorder, lib


def memory_growth(trace: Path, events: int) -> float:
    """In megabytes, from after the first events to the highest point."""
    recorder, lib = start(trace)
    lib.push_rows(0, 1000)
    recorder.flush()
    before = _status("VmRSS")
    lib.push_rows(1, events)
    recorder.stop()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def main() -> None:
    if sys.argv[1] == "--memory":
        print(memory_growth(Path("run.tdbg"), int(sys.argv[2])))
        return
    import pyarrow.parquet  # noqa: F401  (loaded once, here, and not in every process)

    import tdbg.capture.recorder  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # killed children are not to stay as zombies
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            record(Path(sys.argv[1]), line.strip())
        print(pid, flush=True)


if __name__ == "__main__":
    main()
