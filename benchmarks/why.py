"""How long the search for trouble, the health rules, the report and a comparison take on a large trace.

    python benchmarks/why.py                        ten million rows
    python benchmarks/why.py --rows 1000000         fewer
    python benchmarks/why.py --keep big.tdbg        leaves the trace there, and takes it when it is there already
    python benchmarks/why.py --json why.json        the same numbers for a machine

The rows are those of store.py under a program of layers: each reads a variable, multiplies, and is differentiated. In
the last three per cent of the steps all is NaN from one op on, as it is when a program goes on with NaNs. Each time is
of a fresh Python with the trace in the page cache, the median of some. Beside it stand the seconds that the processor
worked for it, on all cores together, which say more on a busy machine; and the ratio of the times to a plain scan: one
query that takes the greatest value of every column of every row.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from store import OPS, Workload

from tdbg.frameworks.tensorflow.ops import in_words

FIRST_BAD = 300
LOSS = OPS // 2 - 1
_LAYER = ("ReadVariableOp", "MatMul", "AddV2", "Relu")

_ASK = """
import sys, time
from tdbg.query.trace.trace import Trace
from tdbg.query.trace.coverage import find_coverage
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.rules import find_health
from tdbg.query.verdict.trouble import Trouble
from tdbg.store.format import SCHEMAS
now = lambda: (time.perf_counter(), time.process_time())
trace = Trace.open(sys.argv[1])
began = now()
rows = Rows(trace)
rows.query("SELECT count(*) FROM tensors WHERE seq < 0")
{before}
opened = now()
{question}
done = now()
print(opened[0] - began[0], opened[1] - began[1], done[0] - opened[0], done[1] - opened[1])
"""
_SCAN = 'rows.query("SELECT " + ", ".join(f\'max("{name}")\' for name in SCHEMAS["tensors"].names) + " FROM tensors")'
_TROUBLE = "trouble = Trouble(rows, Program(trace, 0), 0)\nassert trouble.origins\ntrouble.harmless"
_HEALTH = "assert not find_health(trace, rows, coverage, (), {0: last}).skipped"
_BEFORE_HEALTH = (
    'coverage, last = find_coverage(trace, rows), max(trace.rollup("steps")["step"].to_pylist()) * 97 // 100'
)


def write(trace: Path, rows: int) -> None:
    from tdbg.store.writer import TraceWriter

    writer = TraceWriter(trace, {"argv": ["benchmark"], "rank": 0, "mode": "numerics"})
    for table, columns in _program().items():
        writer.append(table, columns)
    for columns in Workload(rows).steps():
        step, first = int(columns["step"][0]), int(columns["seq"][0])
        columns["elements"][LOSS : LOSS + 1] = 1  # the last step may be cut short
        if first > 0.97 * rows:
            _spoil(columns)
        call = {"execution": [step], "time": columns["time"][:1]}
        more = {"seq": [first], "step": [step], "thread": [1], "op": [OPS], "graph": [0], "inputs": [[-5, step]]}
        writer.append("executions", call | more)
        writer.append("ends", call | {"failed": [False], "outputs": [[step + 1]]})
        writer.append("steps", {"step": [step], "seq": [first], "time": columns["time"][:1], "source": ["benchmark"]})
        writer.append("tensors", columns)
        writer.flush()
        writer.seal_if_large()
    writer.close({"status": 0})


def _program() -> dict[str, dict[str, list[Any]]]:
    """A function of layers, all of one line; its second half differentiates the first. One more op is its call."""
    numbers = list(range(OPS))
    types = [*(_LAYER[number % 4] for number in range(OPS // 2)), *["Mul"] * (OPS // 2), "__inference_step_1"]
    inputs = [_inputs(number) for number in numbers] + [[]]
    told = [in_words(one) for one in types]
    names = [f"layer_{min(n, OPS - 1 - n) // 4}/{types[n]}_{n}" for n in numbers] + ["step"]
    return {
        "sources": {"file": ["train.py"], "text": ["x = x @ w"], "time": [0]},
        "frames": {"frame": [0], "file": ["train.py"], "line": [1], "function": ["step"], "is_user": [True]},
        "stacks": {"stack": [0], "parent": [-1], "frame": [0]},
        "shapes": {"shape": numbers, "dims": [[32, number] for number in numbers]},
        "graphs": {"graph": [0], "outer": [-1], "name": ["step"], "function": ["step"], "stack": [0], "time": [0]},
        "ops": {
            "op": [*numbers, OPS], "graph": [0] * OPS + [-1], "name": names, "type": types, "device": [""] * (OPS + 1),
            "input_ops": inputs, "input_slots": [[0] * len(read) for read in inputs],
            "output_dtypes": [[3]] * (OPS + 1), "attributes": ["{}"] * (OPS + 1), "stack": [0] * (OPS + 1),
            "phase": [int(number >= OPS // 2) for number in numbers] + [0],
            "forward": [OPS - 1 - number if number >= OPS // 2 else -1 for number in numbers] + [-1],
            "observed": [True] * OPS + [False], "kind": [kind for kind, _, _ in told],
            "roles": [roles for _, roles, _ in told], "framework": [framework for _, _, framework in told],
        },
        "functions": {
            "function": ["__inference_step_1"], "graph": [0], "input_ops": [[]], "output_ops": [[LOSS]],
            "output_slots": [[0]], "python": ["step"], "file": ["train.py"], "line": [1], "instance": [0],
            "signature": ["{}"],
        },
    }  # fmt: skip


def _inputs(number: int) -> list[int]:
    if number >= OPS // 2:
        return [number - 1, OPS - 1 - number]
    of_layer = {"ReadVariableOp": [], "MatMul": [number - 2, number - 1]}
    return [read for read in of_layer.get(_LAYER[number % 4], [number - 1]) if read >= 0]


def _spoil(columns: dict[str, np.ndarray]) -> None:
    """From one op on everything is NaN, as behind the first bad op of a real step."""
    bad = columns["op"] >= FIRST_BAD
    for name in ("negative", "zero", "positive"):
        columns[name] = np.where(bad, 0, columns[name])
    columns["nan"] = np.where(bad, columns["elements"], 0)
    columns["flags"] = np.where(bad, 3, 2).astype(np.uint16)


Times = tuple[float, float]  # seconds by the clock, seconds of the processor


def _asked(trace: Path, question: str, before: str = "") -> tuple[Times, Times]:
    """To open, and for the question beyond that."""
    code = _ASK.format(question=question, before=before)
    done = subprocess.run([sys.executable, "-c", code, str(trace)], stdout=subprocess.PIPE, text=True, check=True)
    numbers = [float(word) for word in done.stdout.split()[-4:]]
    return (numbers[0], numbers[1]), (numbers[2], numbers[3])


def _typed(*words: str) -> Times:
    """Of a whole command, its start included."""
    began, worked = time.perf_counter(), _children()
    done = subprocess.run([sys.executable, "-m", "tdbg", *words], capture_output=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    return time.perf_counter() - began, _children() - worked


def _children() -> float:
    """Seconds that the processor has worked for processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(trace: Path, folder: Path, runs: int) -> dict[str, Times]:
    page = str(folder / "report.html")
    ways = {
        "plain scan": lambda: _asked(trace, _SCAN)[1],
        "opening": lambda: _asked(trace, "pass")[0],
        "the search for trouble and its lineage, beyond opening": lambda: _asked(trace, _TROUBLE)[1],
        "all health rules, beyond opening": lambda: _asked(trace, _HEALTH, _BEFORE_HEALTH)[1],
        "tdbg why": lambda: _typed("why", str(trace)),
        "tdbg report": lambda: _typed("report", "--force", "-o", page, str(trace)),
        "tdbg diff A A": lambda: _typed("diff", str(trace), str(trace)),
    }
    found = {name: [way() for _ in range(runs)] for name, way in ways.items()}
    return {name: tuple(map(statistics.median, zip(*times, strict=True))) for name, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="leave the trace here; one that is here already is taken")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-why-"))
    trace = options.keep or folder / "bench.tdbg"
    try:
        if not trace.exists():
            write(trace, options.rows)
        seconds = measure(trace, folder, options.runs)
    finally:
        shutil.rmtree(folder)
    scan = seconds["plain scan"][0]
    print(f"{'':56} {'seconds':>8} {'processor':>10} {'scans':>6}")
    for name, (clock, worked) in seconds.items():
        print(f"{name:56} {clock:8.2f} {worked:10.2f} {clock / scan:6.2f}")
    if options.json:
        numbers = {
            name: {"seconds": clock, "processor_seconds": worked, "scans": clock / scan}
            for name, (clock, worked) in seconds.items()
        }
        options.json.write_text(json.dumps({"cpus": os.cpu_count(), "measured": numbers}, indent=1) + "\n")


if __name__ == "__main__":
    main()
