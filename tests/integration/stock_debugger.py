"""Programs run in processes of their own under TensorFlow's stock debugger, and its reader's view of what it wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")

RUNNER = """
import runpy, sys
import tensorflow as tf
mode, folder, ring, script = sys.argv[1:]
tf.debugging.experimental.enable_dump_debug_info(folder, mode, circular_buffer_size=int(ring))
runpy.run_path(script, run_name="__main__")
"""

# Dense layers, a loop in a graph, an eager op with two outputs, and log(0) from the third step on.
PROGRAM = """
import tensorflow as tf

w = tf.Variable([[0.5, -1.0], [1.0, 2.0]])

@tf.function
def train(x, scale):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w)
        for _ in tf.range(3):
            y = y * 1.5
        p = tf.nn.relu(y) * scale
        loss = tf.reduce_mean(p * tf.math.log(p))  # the log
    w.assign_sub(0.0 * tape.gradient(loss, w))
    return loss, tf.argmax(p, 1)

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
for step in range(4):
    loss, best = train(tf.abs(x), tf.constant(1.0 if step < 2 else 0.0))
    values, where = tf.nn.top_k(tf.stack([loss, 1.0]), 2)
"""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TDBG_")}
    return kept | {"TF_CPP_MIN_LOG_LEVEL": "3"}


def record(script: Path, folder: Path, mode: str, ring: int = -1) -> Path:
    words = [sys.executable, "-c", RUNNER, mode, str(folder), str(ring), str(script)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return folder


def read(folder: Path) -> Any:
    """Stock TensorFlow's reader; its monitor of bad values hangs on full tensors, so it is not asked for those."""
    from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader

    reader = DebugDataReader(str(folder))
    reader.update()
    return reader


def alerts(folder: Path) -> list[tuple]:
    from tensorflow.python.debug.lib.debug_events_monitors import InfNanMonitor
    from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader

    reader = DebugDataReader(str(folder))
    monitor = InfNanMonitor(reader)
    reader.update()
    names = ("op_type", "output_slot", "size", "num_neg_inf", "num_pos_inf", "num_nan", "execution_index",
             "graph_execution_trace_index")  # fmt: skip
    return [tuple(getattr(alert, name) for name in names) for alert in monitor.alerts()]
