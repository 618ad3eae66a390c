"""A DebugEvents directory with a million graph execution traces in; seconds and memory to import it, and to load it
with TensorFlow's own reader, out. Each way runs in a process of its own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OPS = 500


def generate(folder: Path, traces: int) -> None:
    """One function of 500 ops called over and over, in the files that TensorFlow writes, FULL_HEALTH."""
    from tdbg.formats.debug_events.messages import (
        FILE_VERSION,
        CodeLocation,
        Execution,
        Graph,
        GraphOp,
        Metadata,
        SourceFile,
        StackFrame,
        event,
        trace_event,
        trace_head,
    )
    from tdbg.formats.debug_events.records import write_record
    from tdbg.formats.debug_events.tensors import put_summary

    prefix, start, device = (
        folder / "tfdbg_events.1700000000.host",
        1.7e9,
        "/job:localhost/replica:0/task:0/device:CPU:0",
    )

    def put(kind, *events):
        with open(f"{prefix}.{kind}", "ab") as file:
            for one in events:
                write_record(file, one)

    location = CodeLocation("host", ("frame",)).body()
    put("metadata", event(start, Metadata("2.21.0", FILE_VERSION, "run")))
    put("source_files", event(start, SourceFile("/home/user/train.py", "host", ["train()"])))
    put("stack_frames", event(start, StackFrame("frame", 0, 1, "<module>")))
    ops = [GraphOp("Mul", f"layer/op_{n}", "train", "graph-of-train", "", [], 1, location, [n]) for n in range(OPS)]
    put("graphs", event(start, Graph("graph-of-train", "train")), *(event(start, op) for op in ops))
    heads = [trace_head("graph-of-train", op.name, 0, 4, device) for op in ops]
    with open(f"{prefix}.graph_execution_traces", "wb") as file, open(f"{prefix}.execution", "wb") as calls:
        for n in range(traces):
            row = put_summary([n % OPS, -1, 1, 2, 4096, 0, 0, 0, n % 2000, 96, 4000 - n % 2000])
            write_record(file, trace_event(start + n * 1e-5, heads[n % OPS], row))
            if n % OPS == OPS - 1:
                call = Execution("__inference_train_7", "", [1], [2], 4, [], location, [1])
                write_record(calls, event(start + n * 1e-5 + 5e-6, call))


def import_it(folder: Path, scratch: Path) -> int:
    from tdbg.formats.debug_events.importer import import_debug_events

    return import_debug_events(folder, scratch / "out.tdbg").tensors


def load_stock(folder: Path, scratch: Path) -> int:
    from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader

    with DebugDataReader(str(folder)) as reader:
        reader.update()
        return reader.num_graph_execution_traces()


WAYS = {"tdbg import": import_it, "stock DebugDataReader.update()": load_stock}


def measure(way: str, folder: Path) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        if "stock" in way:
            import tensorflow  # noqa: F401  its import is not what is measured
        else:
            import tdbg.formats.debug_events.importer  # noqa: F401
        began = time.perf_counter()
        rows = WAYS[way](folder, Path(scratch))
        seconds = time.perf_counter() - began
    return {
        "way": way,
        "rows": rows,
        "seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=1_000_000)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.way:
        print(json.dumps(measure(args.way, args.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), args.traces)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"{args.traces:,} traces, {size / 1e6:,.0f} MB\n")
        print("| way | traces | seconds | a million take | peak memory |\n|---|---|---|---|---|")
        for way in WAYS:
            words = [sys.executable, __file__, "--way", way, "--folder", folder]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            r = json.loads(done.stdout.splitlines()[-1])
            each = r["seconds"] / r["rows"] * 1e6
            print(f"| {way} | {r['rows']:,} | {r['seconds']:.1f} | {each:.1f} s | {r['peak_mb']:,.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
