"""How fast events reach the disk, how small they get there, and how soon a large trace opens.

    python benchmarks/store.py                        one million rows
    python benchmarks/store.py --rows 10000000        and the cold times of a large trace
    python benchmarks/store.py --json store.json      the same numbers for a machine

The rows look like a training run's: 750 to 1,200 tensors a step, each op's statistics on its own random walk and
rounded to float32 as the recorder does, a few bad rows near the end. The times of a fresh Python are given with the
trace in the page cache, and evicted from it.
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
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

OPS, ARGUMENTS, SHAPES = 1200, 2, 60

# Each is asked in a fresh Python; what it prints first is its own time, imports included.
_ASK = """
import sys, time
began = time.perf_counter()
from tdbg.query.trace.trace import Trace
trace = Trace.open(sys.argv[1])
{question}
print(time.perf_counter() - began)
"""
QUESTIONS = {
    name: _ASK.format(question=question)
    for name, question in {
        "open_and_count": 'trace.row_count("tensors")',
        "first_bad": "assert trace.first_bad()",
        "rollup_ops": 'trace.rollup("ops")',
        "alerts": "from tdbg.query.over_time.alerts import find_alerts\nassert len(find_alerts(trace))",
        "sql_group_by": 'trace.connect().execute("SELECT op, max(max) FROM tensors GROUP BY op").fetchall()',
    }.items()
}


class Workload:
    """Steps of a made-up model: every op has a fixed shape and dtype, and statistics that drift."""

    def __init__(self, rows: int, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._rows = rows
        random = self._random
        self._dims = random.integers(0, SHAPES, OPS).astype(np.int32)
        self._elements = (2 ** random.integers(0, 18, OPS)).astype(np.int64)
        self._scale = np.exp(random.normal(-3, 2, OPS))
        self._mean = random.normal(0, 0.1, OPS)
        self._negative = random.choice([0.0, 0.5], OPS, p=[0.35, 0.65])

    def steps(self) -> Iterator[dict[str, np.ndarray]]:
        seq = step = 0
        clock = time.time_ns()
        while seq < self._rows:
            count = min(int(self._random.integers(750, OPS + 1)), self._rows - seq)
            yield self._step(seq, step, clock, count)
            seq, step, clock = seq + count, step + 1, clock + 20_000_000

    def _step(self, seq: int, step: int, clock: int, count: int) -> dict[str, np.ndarray]:
        random, ops = self._random, np.arange(count, dtype=np.int32)
        self._scale *= np.exp(random.normal(0, 0.01, OPS))
        self._mean += random.normal(0, 0.001, OPS)
        scale, mean = self._scale[:count], self._mean[:count]
        elements = self._elements[:count]
        width = np.sqrt(2 * np.log(elements + 2.0)) * random.normal(1, 0.05, count)
        low, high = (_float32(mean - scale * width), _float32(mean + scale * width))
        negative = random.binomial(elements, self._negative[:count])
        zero = np.where(self._negative[:count] == 0, random.binomial(elements, 0.3), 0)
        bad = np.zeros(count, bool)
        if seq > 0.97 * self._rows:
            bad = random.random(count) < 0.02
        nan = np.where(bad, np.minimum(elements, 3), 0)
        negative, zero = np.where(bad, 0, negative), np.where(bad, 0, zero)
        return {
            "seq": np.arange(seq, seq + count),
            "time": clock + np.cumsum(random.integers(2_000, 30_000, count)),
            "step": np.full(count, step, np.int32),
            "thread": random.integers(0, 3, count).astype(np.int32),
            "execution": np.full(count, step),
            "op": ops,
            "slot": np.zeros(count, np.int16),
            "iteration": np.full(count, -1, np.int32),
            "dtype": np.full(count, 3, np.uint8),
            "shape": self._dims[:count] + (SHAPES if step % 100 == 99 else 0),  # a smaller batch
            "elements": elements,
            "negative": negative,
            "zero": zero,
            "positive": elements - negative - zero - nan,
            "neg_inf": np.zeros(count, np.int64),
            "pos_inf": np.zeros(count, np.int64),
            "nan": nan,
            "min": low,
            "max": high,
            "mean": _float32(mean + scale * random.normal(0, 0.01, count)),
            "std": _float32(scale * random.normal(1, 0.01, count)),
            "flags": np.where(bad, 3, 2).astype(np.uint16),
            "tensor": np.arange(seq, seq + count),
            "value": np.full(count, -1),
        }


def _float32(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(np.float64)


def program() -> dict[str, dict[str, list]]:
    """One function of which all ops are, its arguments first."""
    numbers = list(range(OPS))
    types = ["Placeholder"] * ARGUMENTS + ["Mul"] * (OPS - ARGUMENTS)
    none: list[list[int]] = [[] for _ in numbers]
    return {
        "shapes": {"shape": list(range(2 * SHAPES)), "dims": [[32, n] for n in range(SHAPES)] + [[17, 1]] * SHAPES},
        "graphs": {"graph": [0], "outer": [-1], "name": ["step"], "function": ["step"], "stack": [-1], "time": [0]},
        "ops": {
            "op": numbers, "graph": [0] * OPS, "name": [f"op_{n}" for n in numbers], "type": types,
            "device": [""] * OPS, "input_ops": none, "input_slots": none, "output_dtypes": [[3]] * OPS,
            "attributes": ["{}"] * OPS, "stack": [-1] * OPS, "phase": [0] * OPS, "forward": [-1] * OPS,
            "observed": [True] * OPS, "kind": ["other"] * OPS, "roles": none, "framework": ["tensorflow"] * OPS,
        },
        "functions": {
            "function": ["step_1"], "graph": [0], "input_ops": [list(range(ARGUMENTS))], "output_ops": [[OPS - 1]],
            "output_slots": [[0]], "python": ["step"], "file": ["train.py"], "line": [1], "instance": [0],
            "signature": ["{}"],
        },
    }  # fmt: skip


def write(trace: Path, rows: int) -> dict[str, Any]:
    """Records the workload; making the rows is not counted."""
    from tdbg.store.writer import TraceWriter

    writer = TraceWriter(trace, {"argv": ["benchmark"], "rank": 0})
    for table, columns in program().items():
        writer.append(table, columns)
    spent, worst, memory, peak = 0.0, 0.0, 0, 0
    for number, columns in enumerate(Workload(rows).steps()):
        if number == 20:
            memory = _memory("VmRSS")
        began = time.perf_counter()
        writer.append("tensors", columns)
        writer.flush()
        writer.seal_if_large()
        took = time.perf_counter() - began
        spent, worst = spent + took, max(worst, took)
        if number % 50 == 0:
            peak = max(peak, _memory("VmRSS"))
    began = time.perf_counter()
    writer.close({"status": 0})
    spent += time.perf_counter() - began
    return {
        "rows": rows,
        "rows_per_second": rows / spent,
        "longest_call_ms": worst * 1e3,
        "memory_growth_mb": (max(peak, _memory("VmRSS")) - memory) / 1024,
        "memory_peak_growth_mb": (_memory("VmHWM") - memory) / 1024,
    }


def size(trace: Path, rows: int) -> dict[str, Any]:
    sealed = sum(path.stat().st_size for path in trace.rglob("tensors-??????.parquet"))
    rollups = sum(path.stat().st_size for path in trace.rglob("tensors-??????.*.parquet"))
    return {"bytes_per_row": sealed / rows, "bytes_per_row_with_rollups": (sealed + rollups) / rows}


def cold(code: str, trace: Path, evict: bool = False, runs: int = 5) -> float:
    """Milliseconds in a fresh Python, imports included, median of some; ``evict`` empties the page cache of it."""
    times = []
    for _ in range(runs):
        if evict:
            _evict(trace)
        done = subprocess.run([sys.executable, "-c", code, str(trace)], capture_output=True, text=True, check=True)
        times.append(float(done.stdout.split()[0]))
    return statistics.median(times) * 1e3


def _evict(trace: Path) -> None:
    for path in trace.rglob("*.*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _memory(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    parser.add_argument("--keep", type=Path, help="leave the trace here")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tdbg-store-"))
    trace = options.keep or folder / "bench.tdbg"
    try:
        numbers = write(trace, options.rows) | size(trace, options.rows)
        for name, code in QUESTIONS.items():
            numbers[f"{name}_ms"] = cold(code, trace)
            numbers[f"{name}_evicted_ms"] = cold(code, trace, evict=True)
        numbers["cpus"] = os.cpu_count()
    finally:
        shutil.rmtree(folder)
    for name, number in numbers.items():
        print(f"{name:28} {number:>14,.1f}" if isinstance(number, float) else f"{name:28} {number:>14}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
