"""How long the server takes for what a page asks, on a large trace, and how much memory; TensorBoard beside it.

    python benchmarks/web.py                        ten million rows; TensorBoard with what it can manage
    python benchmarks/web.py --rows 1000000         fewer
    python benchmarks/web.py --keep big.tdbg        leaves the trace there, and takes it when it is there already
    python benchmarks/web.py --json web.json        the same numbers for a machine

The trace is that of why.py. Each question goes over HTTP to a server that was started for it alone, with the trace in
the page cache. Times are the server's own, as it tells them: of the first asking, and the median of others of the same
kind (other pages, other ops). Memory is the greatest that the server had until then. Stock TensorBoard then reads what
``tdbg export --format tfdbg2`` made of a smaller trace: it loads a directory as a whole, so ten million rows are beyond
it. What it takes until a page of rows can be asked for stands beside what tdbg takes on a trace of the same size.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from why import write

_BOARD = """
import sys
from tensorboard import program
board = program.TensorBoard()
board.configure(argv=[None, "--logdir", sys.argv[1], "--port", "0", "--host", "127.0.0.1", "--load_fast", "false"])
print(board.launch(), flush=True)
sys.stdin.read()
"""
_PAGE = 200  # rows


class Tdbg:
    """A server of one trace."""

    def __init__(self, trace: Path) -> None:
        words = [sys.executable, "-m", "tdbg", "serve", "--no-browser", "--port", "0", str(trace)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        address = self._process.stdout.readline().strip()
        self._host, _, self._token = address.removeprefix("http://").partition("/?token=")
        self._name = trace.name.removesuffix(".tdbg")

    def ask(self, question: str) -> float:
        """Milliseconds of the server."""
        connection = http.client.HTTPConnection(self._host, timeout=600)
        connection.request("GET", f"/api/t/{self._name}/{question}", headers={"Authorization": f"Bearer {self._token}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{question}: {body[:200]!r}")
        return float((answer.getheader("Server-Timing") or "").rpartition("=")[2])

    def memory(self) -> float:
        return _memory(self._process.pid)

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


def _memory(process: int) -> float:
    """The greatest so far, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def questions(rows: int) -> dict[str, list[str]]:
    """Several of each kind: the first is what a person waits for first."""
    page = f"tensors?format=columns&limit={_PAGE}"
    last = max(1, rows - _PAGE)
    return {
        "overview": ["overview"] * 5,
        "first page of tensors": [f"{page}&map=400"] + [f"{page}&offset={n * _PAGE}&map=400" for n in range(1, 5)],
        "jump to a row far away": [f"{page}&offset={last * n // 10}" for n in (9, 4, 7, 2, 6)],
        "filter: nan > 0, then its pages": [f"{page}&where=nan%3E0&offset={n * rows // 200}" for n in range(5)],
        "tensors of a step": [f"{page}&step={n * rows // 10_000}" for n in range(1, 6)],
        "timeline": [f"timeline?buckets=400&from={n}" for n in range(5)],
        "executions": [f"executions?offset={n * 10}" for n in range(5)],
        "an op with what is around it": [f"op?op={n}" for n in range(300, 305)],
        "the graph's scopes": ["graph?graph=0"] * 3,
        "one tensor, with inputs and consumers": [f"tensor?seq={last * n // 10}" for n in (9, 4, 7)],
        "history of a tensor": [f"history?op=0:{op}:0" for op in (300, 301, 302)],
        "where a value came from": [f"lineage?seq={last - n}" for n in (0, 1, 2)],
        "gradients of all layers": ["gradients"] * 2,
        "alerts": ["alerts"] * 2,
        "verdict": ["verdict"] * 2,
    }


def measure(trace: Path, rows: int) -> dict[str, dict[str, float]]:
    server = Tdbg(trace)
    found = {}
    try:
        for name, asked in questions(rows).items():
            times = [server.ask(one) for one in asked]
            others = statistics.median(times[1:])
            found[name] = {"first_ms": times[0], "others_ms": others, "memory_mb": server.memory()}
    finally:
        server.end()
    return found


# ---- beside TensorBoard


def first_page(trace: Path) -> tuple[float, float]:
    """Seconds from the start of tdbg's server to its first page of rows, and its memory."""
    began = time.perf_counter()
    server = Tdbg(trace)
    try:
        server.ask(f"tensors?format=columns&limit={_PAGE}")
        return time.perf_counter() - began, server.memory()
    finally:
        server.end()


def board_first_page(folder: Path, rows: int) -> tuple[float, float]:
    """The same of TensorBoard, which can be asked for the last rows only when it has read all."""
    began = time.perf_counter()
    environment = os.environ | {"PYTHONPATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    board = subprocess.Popen([sys.executable, "-c", _BOARD, str(folder)], env=environment, text=True, **pipes)
    try:
        assert board.stdout is not None
        address = board.stdout.readline().strip()
        while _count(address) < rows:
            time.sleep(0.2)
        _ask_board(address, f"/graph_execution/digests?begin=0&end={_PAGE}")
        return time.perf_counter() - began, _memory(board.pid)
    finally:
        board.communicate()


def _count(address: str) -> int:
    if "__default_debugger_run__" not in _ask_board(address, "/runs?"):
        return -1
    return _ask_board(address, "/graph_execution/digests?begin=0&end=0").get("num_digests", -1)


def _ask_board(address: str, route: str) -> Any:
    url = f"{address}data/plugin/debugger-v2{route}&run=__default_debugger_run__"
    with urllib.request.urlopen(url, timeout=600) as answer:
        return json.load(answer)


def beside_tensorboard(folder: Path, rows: int) -> dict[str, dict[str, float]]:
    trace, exported = folder / "small.tdbg", folder / "exported"
    write(trace, rows)
    words = [sys.executable, "-m", "tdbg", "export", "--format", "tfdbg2", str(trace), str(exported)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    ours, theirs = first_page(trace), board_first_page(exported, rows)
    return {
        "tdbg": {"first_page_seconds": ours[0], "memory_mb": ours[1]},
        "TensorBoard": {"first_page_seconds": theirs[0], "memory_mb": theirs[1]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--board-rows", type=int, default=200_000, help="of the trace that TensorBoard reads; 0: none")
    parser.add_argument("--keep", type=Path, help="leave the trace here; one that is here already is taken")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-web-"))
    trace = options.keep or folder / "bench.tdbg"
    try:
        if not trace.exists():
            write(trace, options.rows)
        measured = measure(trace, options.rows)
        beside = beside_tensorboard(folder, options.board_rows) if options.board_rows else {}
    finally:
        shutil.rmtree(folder)
    print(f"{options.rows:,} rows {'':30} {'first ms':>9} {'others ms':>10} {'memory MB':>10}")
    for name, numbers in measured.items():
        print(f"{name:46} {numbers['first_ms']:9.0f} {numbers['others_ms']:10.0f} {numbers['memory_mb']:10.0f}")
    if beside:
        print(f"\nfrom start to the first page, {options.board_rows:,} rows")
        for name, numbers in beside.items():
            print(f"{name:46} {numbers['first_page_seconds']:7.1f} s {numbers['memory_mb']:22.0f} MB")
    if options.json:
        content = {"cpus": os.cpu_count(), "rows": options.rows, "measured": measured, "beside": beside}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
