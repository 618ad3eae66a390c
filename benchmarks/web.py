"""The page on a large trace: first paint in Chromium, what the server takes for each question, and its memory.

    python benchmarks/web.py                        ten million rows; TensorBoard with what it can manage
    python benchmarks/web.py --rows 1000000         fewer
    python benchmarks/web.py --keep big.tdbg        leaves the trace there, and takes it when it is there already
    python benchmarks/web.py --json web.json        the same numbers for a machine

The trace is that of why.py. **First paint**: a server is started, and as soon as it has printed its address Chromium
goes there; painted is the strip with what is known of bad values and the first rows of the table, and, later, the
verdict. The median of some rounds, each with a server of its own, the trace in the page cache. **Questions** go over
HTTP to one server; times are its own, as it tells them: of the first asking, and the median of others of the same kind
(other pages, other ops). Memory is the greatest that it had until then. **A walk** opens all parts of the page in
Chromium, one after the other, and says what memory that took.

Stock TensorBoard then reads what ``tdbg export --format tfdbg2`` made of a smaller trace: it loads a directory as a
whole, so ten million rows are beyond it. Beside it stands what tdbg takes on a trace of the same size.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from first_paint import BOARD, ROWS, TDBG, Browser, browser, painted, walk
from served import Board, Tdbg
from why import FIRST_BAD, write

_PAGE = 200  # rows


def questions(rows: int) -> dict[str, list[str]]:
    """Several of each kind: the first is what a person waits for first."""
    page = f"tensors?format=columns&limit={_PAGE}"
    last = max(1, rows - _PAGE)
    far = [last * n // 10 for n in (9, 4, 7, 2, 6)]
    return {
        "overview": ["overview"] * 5,
        "first page of tensors": [f"{page}&map=400"] + [f"{page}&offset={n * _PAGE}&map=400" for n in range(1, 5)],
        "scroll: the page behind": [f"{page}&offset={far[4] + n * _PAGE}" for n in range(20)],
        "jump to a row far away": [f"{page}&offset={n + 17}" for n in far],
        "jump to a step": [f"{page}&step={n * rows // 10_000}" for n in range(1, 6)],
        "where a tensor stands in the table": [f"tensors?format=columns&limit=1&at={n}" for n in far],
        "timeline": [f"timeline?buckets=400&from={n}" for n in range(5)],
        "executions": [f"executions?offset={n * 10}" for n in range(5)],
        "an op with what is around it": [f"op?op={n}" for n in range(FIRST_BAD, FIRST_BAD + 5)],
        "the graph's scopes": ["graph?graph=0"] * 3,
        "layers": ["layers"] * 2,
        "one tensor, with inputs and consumers": [f"tensor?seq={n}" for n in far],
        "history of a tensor": [f"history?op=0:{op}:0" for op in range(FIRST_BAD, FIRST_BAD + 3)],
        "where a value came from": [f"lineage?seq={last - n}" for n in (0, 1, 2)],
        "verdict": ["verdict"] * 2,
        "alerts": ["alerts"] * 2,
        "the loss": ["loss"] * 2,
        "gradients of all layers": ["gradients"] * 2,
        "groups by step, then their pages": [f"groups?by=step&offset={n}" for n in (0, rows // 2000, rows // 1500)],
        "groups by layer, by phase": ["groups?by=layer", "groups?by=phase"],
        "groups of a filter": [f"groups?by=step&where=max%3E{n}" for n in (3, 2)],
        "filter: nan > 0, then its pages": [f"{page}&where=nan%3E0&offset={n * rows // 200}" for n in range(5)],
        "filter: max > 3, then its pages": [f"{page}&where=max%3E3&offset={n * rows // 100}" for n in range(5)],
        "filter: almost all rows, then its pages": [f"{page}&where=nan==0&offset={n}" for n in (0, *far)],
        "filter: an op type, then its pages": [f"{page}&where=op==%22MatMul%22&offset={n}" for n in range(0, 900, 200)],
        "sort by max, then its pages": [f"{page}&sort=max&offset={n * _PAGE}" for n in range(5)],
        "sort by mean, the middle": [f"{page}&sort=mean&offset={rows // 2 + n * _PAGE}" for n in range(3)],
    }


def views(trace: Path, rows: int) -> dict[str, str]:
    """All parts of the page."""
    last = rows - 1
    parts = {
        "start": "",
        "a tensor": f"&seq={last}",
        "its history": f"&seq={last}&side=history",
        "its lineage": f"&seq={last}&side=lineage",
        "gradients": f"&seq={last}&centre=gradients",
        "the whole graph": f"&seq={last}&structure=whole",
        "another step": f"&step={rows // 3000}",
        "by step": "&group=step",
        "by layer": "&group=layer",
        "a filter": "&where=nan%20%3E%200",
        "a filter of numbers": "&where=max%20%3E%203",
        "sorted": "&sort=max&desc=1",
    }
    return {name: f"trace={trace.name.removesuffix('.tdbg')}{rest}" for name, rest in parts.items()}


def measure(trace: Path, rows: int) -> dict[str, dict[str, float]]:
    found = {}
    with Tdbg(trace) as server:
        for name, asked in questions(rows).items():
            times = [server.ask(one) for one in asked]
            others = statistics.median(times[1:])
            found[name] = {"first_ms": times[0], "others_ms": others, "memory_mb": server.memory()}
    return found


def first_paint(page: Browser, trace: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Of what is waited for: seconds since the navigation, and since the command."""
    found: list[dict[str, tuple[float, float]]] = []
    for _ in range(rounds):
        with Tdbg(trace) as server:
            seen = painted(page, server.url, TDBG)
            found.append({name: (since, at - server.began) for name, (since, at) in seen.items()})
    return {
        name: {
            "from_navigation_seconds": statistics.median(one[name][0] for one in found),
            "from_command_seconds": statistics.median(one[name][1] for one in found),
        }
        for name in TDBG
    }


def walked(page: Browser, trace: Path, rows: int) -> float:
    """Memory in MB, after all parts of the page were looked at."""
    with Tdbg(trace) as server:
        walk(page, server.url, views(trace, rows))
        return server.memory()


def beside_tensorboard(page: Browser | None, folder: Path, rows: int) -> dict[str, dict[str, float]]:
    """Seconds from the command to the first rows on the page, and until all rows can be asked for."""
    trace, exported = folder / "small.tdbg", folder / "exported"
    write(trace, rows)
    words = [sys.executable, "-m", "tdbg", "export", "--format", "tfdbg2", str(trace), str(exported)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    found: dict[str, dict[str, float]] = {"tdbg": {}, "TensorBoard": {}}
    with Tdbg(trace) as server:
        if page is not None:
            found["tdbg"]["first_rows_seconds"] = painted(page, server.url, TDBG)[ROWS][1] - server.began
    with Tdbg(trace) as server:
        server.ask(f"tensors?format=columns&limit={_PAGE}&offset={rows - _PAGE}")
        found["tdbg"] |= {"all_rows_seconds": server.age(), "memory_mb": server.memory()}
    with Board(exported) as board:
        if page is not None:
            (seen,) = painted(page, f"{board.url}#debugger-v2", BOARD).values()
            found["TensorBoard"]["first_rows_seconds"] = seen[1] - board.began
    with Board(exported) as board:
        found["TensorBoard"] |= {"all_rows_seconds": board.wait_for(rows), "memory_mb": board.memory()}
    return found


def show(found: dict[str, Any]) -> None:
    print(f"{found['rows']:,} rows: first paint, seconds {'':18} {'navigation':>10} {'command':>10}")
    for name, numbers in found["first_paint"].items():
        print(f"{name:52} {numbers['from_navigation_seconds']:10.2f} {numbers['from_command_seconds']:10.2f}")
    if not found["first_paint"]:
        print("no Chromium on this machine: make browser installs it")
    print(f"\n{'questions':42} {'first ms':>9} {'others ms':>10} {'memory MB':>10}")
    for name, numbers in found["measured"].items():
        print(f"{name:42} {numbers['first_ms']:9.0f} {numbers['others_ms']:10.0f} {numbers['memory_mb']:10.0f}")
    if found["walk_mb"] is not None:
        print(f"{'all parts of the page, in Chromium':42} {found['walk_mb']:31.0f}")
    if found["beside"]:
        print(f"\n{found['board_rows']:,} rows, from the command {'first rows':>23} {'all rows':>10} {'memory':>10}")
        for name, numbers in found["beside"].items():
            first, later = numbers.get("first_rows_seconds", float("nan")), numbers["all_rows_seconds"]
            print(f"{name:42} {first:9.1f} s {later:8.1f} s {numbers['memory_mb']:7.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="of the first paint")
    parser.add_argument("--board-rows", type=int, default=200_000, help="of the trace that TensorBoard reads; 0: none")
    parser.add_argument("--keep", type=Path, help="leave the trace here; one that is here already is taken")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-web-"))
    trace = options.keep or folder / "bench.tdbg"
    found: dict[str, Any] = {"cpus": os.cpu_count(), "rows": options.rows, "board_rows": options.board_rows}
    try:
        if not trace.exists():
            write(trace, options.rows)
        with browser() as page:
            found["first_paint"] = first_paint(page, trace, options.rounds) if page is not None else {}
            found["walk_mb"] = walked(page, trace, options.rows) if page is not None else None
            found["beside"] = beside_tensorboard(page, folder, options.board_rows) if options.board_rows else {}
        found["measured"] = measure(trace, options.rows)
    finally:
        shutil.rmtree(folder)
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
