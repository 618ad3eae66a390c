"""What debugging a Session's training loop costs: plain, under TensorFlow's own dumping wrapper, under tdbg's wrapper
of that name, and recorded by tdbg.

Each way runs in a process of its own, one after the other, --rounds times; the fastest counts. --dumping-runs gives the
wrappers fewer runs; their disk is scaled to the others' then, and said so. Prints a table, and JSON with --json FILE.

What was written is taken away when all have ended: for some minutes after files were deleted ext4 makes new ones up to
ten times slower, which would be counted to whoever comes next. So a second benchmark within five minutes should get
another --folder; one in memory (/dev/shm) leaves the disk out altogether.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WAYS = {
    "plain": "plain",
    "dumping": "TensorFlow's DumpingDebugWrapperSession",
    "our-dumping": "tdbg's DumpingDebugWrapperSession",
    "tdbg-health": "tdbg health",
    "tdbg-numerics": "tdbg numerics",
}
_WARM_UP = 10


def training() -> tuple[Any, Any, Any]:
    """A network of two layers with Adam on digits: what to fetch, and what to feed."""
    import numpy as np
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()
    x = v1.placeholder(tf.float32, [None, 784], name="x")
    y = v1.placeholder(tf.int64, [None], name="y")
    hidden = v1.get_variable("hidden", [784, 128])
    out = v1.get_variable("out", [128, 10])
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), out)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = v1.train.AdamOptimizer(1e-3).minimize(loss)
    rng = np.random.default_rng(0)
    feed = {x: rng.random((64, 784), np.float32), y: rng.integers(0, 10, 64)}
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    return session, [train, loss], feed


def measure(way: str, runs: int, folder: str) -> dict[str, float]:
    """In a process of its own."""
    if way.startswith("tdbg-"):
        import tdbg

        tdbg.enable(f"{folder}/run.tdbg", mode=way.removeprefix("tdbg-"))
    session, fetches, feed = training()
    if way == "dumping":
        from tensorflow.python.debug.wrappers import dumping_wrapper

        session = dumping_wrapper.DumpingDebugWrapperSession(session, f"{folder}/dumps")
    elif way == "our-dumping":
        from tdbg.tensorflow import debug

        session = debug.DumpingDebugWrapperSession(session, f"{folder}/dumps")
    for _ in range(_WARM_UP):
        session.run(fetches, feed)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    for _ in range(runs):
        session.run(fetches, feed)
    seconds = time.perf_counter() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if way.startswith("tdbg-"):
        import tdbg

        tdbg.disable()
    disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return {"runs": runs, "ms": 1000 * seconds / runs, "disk": disk / (runs + _WARM_UP) * runs, "grown_kib": grown}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--dumping-runs", type=int, default=1000, help="of the dumping wrappers")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="to write in, instead of the system's for temporary files")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = _parse()
    if options.child:
        way, folder = options.child
        print(json.dumps(measure(way, options.runs, folder)))
        return
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = _measure_all(options, Path(folder))
        _print(results, options.runs)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


def _measure_all(options: argparse.Namespace, folder: Path) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}
    for turn, way in itertools.product(range(options.rounds), options.ways.split(",")):
        own = folder / f"{way}_{turn}"
        own.mkdir()
        runs = min(options.runs, options.dumping_runs) if way.endswith("dumping") else options.runs
        command = [sys.executable, __file__, "--child", way, str(own), "--runs", str(runs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        results[way] = min(results.get(way, found), found, key=lambda result: result["ms"])
    return results


def _print(results: dict[str, dict[str, float]], runs: int) -> None:
    plain = results.get("plain", next(iter(results.values())))["ms"]
    print(f"{'way':68} {'ms a run':>9} {'ratio':>6} {'MiB on disk':>12} {'memory grew, MiB':>17}")
    for way, found in results.items():
        scale = runs / found["runs"]
        scaled = f" (of {found['runs']:.0f} runs, disk scaled)" if scale > 1 else ""
        print(
            f"{WAYS[way] + scaled:68} {found['ms']:9.2f} {found['ms'] / plain:6.2f} "
            f"{found['disk'] * scale / 2**20:12.1f} {found['grown_kib'] / 1024:17.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
