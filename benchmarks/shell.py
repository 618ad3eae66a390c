"""How long a person waits for a scene of a large trace: to open it, to list, to jump, to find.

    python benchmarks/shell.py                        ten million rows
    python benchmarks/shell.py --rows 1000000         fewer
    python benchmarks/shell.py --keep big.tdbg        leaves the trace there, and takes it when it is there already
    python benchmarks/shell.py --json shell.json      the same numbers for a machine

The trace is that of why.py. Each round is a fresh Python with the trace in the page cache; the numbers are medians of
some rounds. Beside each stands the time that the processor worked for it, which says more on a busy machine. First the
screen in a terminal, from the command until its rows stand there, and beside it what the libraries alone take to load.
The next line has imports in it, too, and ends with the first page of the first bad step in hand; each line behind it is
what that question takes beyond what was asked before.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from why import write

_ASK = """
import json, sys, time
now = lambda: (time.perf_counter(), time.process_time())
began = now()
found = {}
def lap(name):
    global began
    ended = now()
    found[name] = [ended[0] - began[0], ended[1] - began[1]]
    began = now()
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.scene import Selection
scene = TraceScene(sys.argv[1])
assert len(scene.tensors(Selection())[:50]) == 50
lap("open, first page of the first bad step")
bad = scene.tensors(Selection(filter="has_inf_or_nan"))[0]
lap("first bad tensor of that step")
scene.node(bad.node)
lap("node and what is around it")
scene.source("train.py")
lap("source file of that step")
scene.go(None)
whole = scene.tensors(Selection())
whole[:50]
lap("whole trace, first page")
at = len(whole) * 9 // 10
whole[at : at + 50]
lap("jump to nine tenths")
whole[at + 50 : at + 100]
lap("the page behind it")
scene.tensors(Selection(filter="has_inf_or_nan"))[:50]
lap("whole trace, has_inf_or_nan")
assert len(scene.seen(bad.tensor)) > 1
lap("one tensor in all steps")
scene.sources()
lap("sources of the whole trace")
scene.tensors(Selection(op_pattern="MatMul"))[:50]
lap("whole trace, -t MatMul")
scene.tensors(Selection(filter="max > 3"))[:50]
lap("whole trace, max > 3")
scene.tensors(Selection(sort_by="dump_size"))[:50]
lap("whole trace, by size")
scene.moments()
lap("all steps")
print(json.dumps(found))
"""


Times = tuple[float, float]  # seconds by the clock, seconds of the processor


_LIBRARIES = "import numpy, pyarrow.parquet, textual.app, textual.widgets; print('they are loaded')"


def _round(trace: Path) -> dict[str, Times]:
    done = subprocess.run([sys.executable, "-c", _ASK, str(trace)], stdout=subprocess.PIPE, text=True, check=True)
    return {
        "numpy, pyarrow and textual alone": _until("they are loaded", "-c", _LIBRARIES),
        "the screen, until its rows stand there": _until("dumped tensor", "-m", "tdbg", "shell", str(trace)),
        **json.loads(done.stdout.splitlines()[-1]),
    }


def _until(text: str, *words: str) -> Times:
    """A Python in a terminal of its own, with the bytecode that an installed package has, until it shows a text."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.execv(sys.executable, [sys.executable, *words])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    shown = b""
    while text.encode() not in shown:
        shown += os.read(terminal, 65536)
    clock = time.perf_counter() - began
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return clock, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(trace: Path, rounds: int) -> dict[str, Times]:
    _round(trace)  # for the bytecode and the page cache
    found = [_round(trace) for _ in range(rounds)]
    return {name: tuple(map(statistics.median, zip(*(one[name] for one in found), strict=True))) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="leave the trace here; one that is here already is taken")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-shell-"))
    trace = options.keep or folder / "bench.tdbg"
    try:
        if not trace.exists():
            write(trace, options.rows)
        seconds = measure(trace, options.runs)
    finally:
        shutil.rmtree(folder)
    print(f"{'milliseconds':42} {'clock':>8} {'processor':>10}")
    for name, (clock, worked) in seconds.items():
        print(f"{name:42} {clock * 1000:8.0f} {worked * 1000:10.0f}")
    if options.json:
        options.json.write_text(json.dumps({"cpus": os.cpu_count(), "seconds": seconds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
