"""What recording costs: the same training step plain, under TensorFlow's Debugger V2 and under tdbg, in one run.

Each way runs in a process of its own, kept alive; rounds go round robin over all of them, one at a time, so that a
slow minute of the machine hits all alike. Prints a table of medians as ratios to plain, and JSON with --json FILE.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAYS = {
    "plain": "plain",
    "imported": "tdbg imported, off",
    "disabled": "tdbg enabled, then disabled",
    "tdbg-none": "tdbg none",
    "tdbg-health": "tdbg health",
    "tdbg-numerics": "tdbg numerics",
    "tdbg-check": "tdbg check, not recording",
    "tdbg-break": "tdbg numerics, and a condition",
    "v2-NO_TENSOR": "Debugger V2 NO_TENSOR",
    "v2-CURT_HEALTH": "Debugger V2 CURT_HEALTH",
    "v2-FULL_HEALTH": "Debugger V2 FULL_HEALTH",
    "v2-check_numerics": "TensorFlow's check_numerics",
}
USUAL = ",".join(WAYS)
# Debugger V2's own function, stock and on tdbg's recorder, in every mode; stock has no FULL_NUMERICS.
MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "FULL_NUMERICS", "SHAPE", "FULL_TENSOR")
WAYS |= {f"dump-{mode}": f"tdbg's dump {mode}" for mode in MODES}
WAYS |= {f"v2-{mode}": f"Debugger V2 {mode}" for mode in MODES if mode != "FULL_NUMERICS"}
EVERY_MODE = ",".join(["plain", *(way for mode in MODES for way in (f"dump-{mode}", f"v2-{mode}") if way in WAYS)])
BUILDS = 5
PROGRAMS = {"transformer-128": (20, 60), "transformer-512": (3, 12), "eager": (20, 60)}  # steps a round, warm-up


def switch_on(way: str, folder: str) -> None:
    if way == "tdbg-check":
        from tdbg.tensorflow import enable_check_numerics

        enable_check_numerics()
    elif way == "v2-check_numerics":
        import tensorflow as tf

        tf.debugging.enable_check_numerics()
    elif way in ("imported", "disabled") or way.startswith("tdbg-"):
        import tdbg

        if way == "tdbg-break":  # which is never met
            tdbg.enable(f"{folder}/{way}.tdbg", break_on="nan > 0 or max_abs > 1e30")
        elif way.startswith("tdbg-"):
            tdbg.enable(f"{folder}/{way}.tdbg", mode=way.removeprefix("tdbg-"))
        elif way == "disabled":
            tdbg.enable(f"{folder}/{way}.tdbg")
    elif way.startswith(("v2-", "dump-")):
        if way.startswith("v2-"):
            from tensorflow.debugging.experimental import enable_dump_debug_info
        else:
            from tdbg.tensorflow import enable_dump_debug_info

        enable_dump_debug_info(f"{folder}/{way}", tensor_debug_mode=way.partition("-")[2], circular_buffer_size=-1)


def eager_step():
    """An eager training loop of a small network: 12 ops forward, their gradients, and the update."""
    import tensorflow as tf

    w1, b1 = tf.Variable(tf.random.normal([64, 128], stddev=0.1, seed=1)), tf.Variable(tf.zeros([128]))
    w2, b2 = tf.Variable(tf.random.normal([128, 10], stddev=0.1, seed=2)), tf.Variable(tf.zeros([10]))
    x, y = tf.random.normal([32, 64], seed=3), tf.one_hot(tf.range(32) % 10, 10)
    variables = [w1, b1, w2, b2]

    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            loss = tf.reduce_mean(-tf.reduce_sum(y * tf.nn.log_softmax(tf.matmul(hidden, w2) + b2), axis=1))
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    return step


def make_program(program: str) -> Callable[[], Any]:
    if program == "eager":
        return eager_step()
    import transformer

    train, batch = transformer.make_step(int(program.split("-")[1])), transformer.batch()
    return lambda: train(*batch)


def worker(way: str, program: str, folder: str) -> None:
    """Answers each line on standard input: ``build`` (a fresh model and its first step) with the seconds it took, a
    number of steps with the seconds of each."""
    import tensorflow as tf

    switch_on(way, folder)

    def build() -> tuple[Callable[[], Any], float]:
        step = make_program(program)
        begun = time.perf_counter()
        step().numpy()
        return step, time.perf_counter() - begun

    step, _ = build()  # TensorFlow's first graph of a process takes longer than the others
    if way == "disabled":
        import tdbg

        tdbg.disable()
    assert tf.executing_eagerly()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        if line.strip() == "build":
            step, seconds = build()
            print(json.dumps(seconds), flush=True)
            continue
        times = []
        for _ in range(int(line)):
            begun = time.perf_counter()
            step().numpy()
            times.append(time.perf_counter() - begun)
        print(json.dumps(times), flush=True)


def measure(program: str, ways: list[str], rounds: int) -> dict[str, dict[str, float]]:
    steps, warm_up = PROGRAMS[program]
    with tempfile.TemporaryDirectory() as folder:
        processes = {}
        for way in ways:
            command = [sys.executable, __file__, "--worker", way, program, folder]
            processes[way] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            json.loads(processes[way].stdout.readline())  # one at a time: no contention

        def ask(way: str, what: object) -> Any:
            process = processes[way]
            process.stdin.write(f"{what}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        built: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(BUILDS):
            for way in ways:
                built[way].append(ask(way, "build"))
        for way in ways:
            ask(way, warm_up)
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                times[way].append(statistics.median(ask(way, steps)))
        for process in processes.values():
            process.stdin.close()
            process.wait()
    return {
        way: {
            "ms": statistics.median(times[way]) * 1e3,
            "ratio": _ratio(times[way], times["plain"]),
            "built_s": statistics.median(built[way]),
            "built_ratio": _ratio(built[way], built["plain"]),
        }
        for way in ways
    }


def _ratio(mine: list[float], plain: list[float]) -> float:
    """Round by round, so that a slow minute of the machine is in both."""
    return statistics.median(a / b for a, b in zip(mine, plain, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--ways", default=USUAL)
    parser.add_argument("--every-mode", action="store_const", const=EVERY_MODE, dest="ways")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.worker:
        worker(*options.worker)
        return
    results = {}
    for program in options.programs.split(","):
        results[program] = measure(program, options.ways.split(","), options.rounds)
        print(f"\n{program}\n{'':30} {'ms/step':>10} {'ratio':>8} {'build s':>9} {'ratio':>8}")
        for way, found in results[program].items():
            print(
                f"{WAYS[way]:30} {found['ms']:10.2f} {found['ratio']:7.2f}× {found['built_s']:9.2f} "
                f"{found['built_ratio']:7.2f}×",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
