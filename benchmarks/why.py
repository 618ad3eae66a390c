"""How long the search for trouble takes on a large trace, beyond opening it.

    python benchmarks/why.py                      ten million rows
    python benchmarks/why.py --rows 1000000       fewer
    python benchmarks/why.py --json why.json      the same numbers for a machine

The rows are those of store.py, each op with a row of its own in ``ops``: a chain, in which each op reads the one before
it. In the last three per cent of the steps all is NaN from one op on, as it is when a program goes on with NaNs. Each
time is of a fresh Python, the median of some.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from store import OPS, Workload

FIRST_BAD = 300

_ASK = """
import sys, time
from tdbg.store.reader import Trace
from tdbg.query import verdict
from tdbg.query.rows import Rows
from tdbg.query.program import Program
from tdbg.query.trouble import Trouble
began = time.perf_counter()
trace = Trace.open(sys.argv[1])
rows = Rows(trace)
rows.query("SELECT count(*) FROM tensors WHERE seq < 0")
opened = time.perf_counter()
trouble = Trouble(rows, Program(trace, 0), 0)
assert trouble.origins
trouble.harmless
searched = time.perf_counter()
verdict.explain(Trace.open(sys.argv[1]))
print(opened - began, searched - opened, time.perf_counter() - searched)
"""


def write(trace: Path, rows: int) -> None:
    from tdbg.store.writer import TraceWriter

    writer = TraceWriter(trace, {"argv": ["benchmark"], "rank": 0, "mode": "numerics"})
    ops = range(OPS)
    writer.append(
        "ops",
        {
            "op": list(ops),
            "graph": [0] * OPS,
            "name": [f"op_{op}" for op in ops],
            "type": ["Mul"] * OPS,
            "device": [""] * OPS,
            "input_ops": [[op - 1] if op else [] for op in ops],
            "input_slots": [[0] if op else [] for op in ops],
            "output_dtypes": [[3]] * OPS,
            "attributes": ["{}"] * OPS,
            "stack": [-1] * OPS,
            "phase": [int(op >= OPS // 2) for op in ops],  # the second half are gradients
            "forward": [-1] * OPS,
            "observed": [True] * OPS,
        },
    )
    for columns in Workload(rows).steps():
        if columns["seq"][0] > 0.97 * rows:
            _spoil(columns)
        writer.append("tensors", columns)
        writer.flush()
        writer.seal_if_large()
    writer.close({"status": 0})


def _spoil(columns: dict[str, np.ndarray]) -> None:
    """From one op on everything is NaN, as behind the first bad op of a real step."""
    bad = columns["op"] >= FIRST_BAD
    for name in ("negative", "zero", "positive"):
        columns[name] = np.where(bad, 0, columns[name])
    columns["nan"] = np.where(bad, columns["elements"], 0)
    columns["flags"] = np.where(bad, 3, 2).astype(np.uint16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-why-"))
    trace = folder / "bench.tdbg"
    try:
        write(trace, options.rows)
        times = []
        for _ in range(options.runs):
            command = [sys.executable, "-c", _ASK, str(trace)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            times.append([float(word) for word in done.stdout.splitlines()[-1].split()[-3:]])
    finally:
        shutil.rmtree(folder)
    names = ("open_seconds", "trouble_seconds", "whole_verdict_seconds")
    numbers = {"rows": options.rows} | {
        name: statistics.median(column) for name, column in zip(names, zip(*times, strict=True), strict=True)
    }
    for name, number in numbers.items():
        print(f"{name:28} {number:>14,.2f}" if isinstance(number, float) else f"{name:28} {number:>14,}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
