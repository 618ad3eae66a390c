"""How many events reach the disk a second, all the way: producer, ring, writer thread, files.

    python benchmarks/recorder.py                     one million events, as fast as they come and at 300,000 a second
    python benchmarks/recorder.py --events 5000000    a longer run
    python benchmarks/recorder.py --json out.json     the same numbers for a machine

The producer pushes from one thread, in bursts when it keeps to a pace, as a training step does. Each run has a process
of its own, so that memory growth is its own: from before the first event to the highest point.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS = {"full_speed": 0, "300k_a_second": 300_000}
BURST = 3_000


def record(trace: Path, events: int, pace: int) -> dict[str, Any]:
    """Pushes the events and waits for the end of the trace; ``pace`` is events a second, 0 for no limit."""
    from tdbg import native
    from tdbg.capture.recorder import Recorder
    from tdbg.config import make_config

    lib = native.events()
    recorder = Recorder(make_config(output=trace), lib, {})
    lib.set_recording(True)
    lib.push_rows(0, 10_000)  # the first batch loads libraries
    recorder.flush()
    memory, began = _memory("VmRSS"), time.perf_counter()
    for done in range(0, events, BURST):
        lib.push_rows(1, min(BURST, events - done))
        if pace:
            time.sleep(max(0.0, began + (done + BURST) / pace - time.perf_counter()))
    pushed = time.perf_counter() - began
    recorder.flush()
    flushed = time.perf_counter() - began
    _, dropped, _, waits, _ = lib.counters()
    recorder.stop()
    return {
        "events": events,
        "pushed_per_second": events / pushed,
        "on_disk_per_second": events / flushed,
        "until_sealed_s": time.perf_counter() - began,
        "dropped": dropped,
        "waits": waits,
        "memory_growth_mb": (_memory("VmHWM") - memory) / 1024,
    }


def check(trace: Path, events: int) -> None:
    """Every event is there once."""
    from tdbg.query.trace.trace import Trace

    assert Trace.open(trace).row_count("tensors") == events + 10_000


def _memory(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    parser.add_argument("--one", nargs=2, metavar=("TRACE", "PACE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(record(Path(options.one[0]), options.events, int(options.one[1]))))
        return
    numbers: dict[str, Any] = {"cpus": os.cpu_count()}
    folder = Path(tempfile.mkdtemp(prefix="tdbg-recorder-"))
    try:
        for name, pace in RUNS.items():
            trace = folder / f"{name}.tdbg"
            words = [sys.executable, __file__, "--events", str(options.events), "--one", str(trace), str(pace)]
            numbers[name] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
            check(trace, options.events)
    finally:
        shutil.rmtree(folder)
    print(f"{'':22}" + "".join(f"{name:>16}" for name in RUNS))
    for row in numbers["full_speed"]:
        print(f"{row:22}" + "".join(f"{numbers[name][row]:>16,.1f}" for name in RUNS))
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
