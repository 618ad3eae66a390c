"""Replicas on two devices, and a cluster of two processes that share one trace."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tdbg
from tdbg.capture.cluster import Member, member
from tdbg.query.verdict.verdict import explain
from tdbg.store.place import make_room
from tdbg.store.writer import TraceWriter

pytest.importorskip("tensorflow")

MIRRORED = """
import numpy as np
import tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    weights = tf.Variable([1.0, 1.0])

@tf.function
def train(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weights * x))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss
    return strategy.run(replica, args=(x,))

for data in ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [-7.0, 8.0]]):
    values = lambda context: tf.constant(data[context.replica_id_in_sync_group])
    train(strategy.experimental_distribute_values_from_function(values))
"""

WORKER = """
import json, os
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    weights = tf.Variable([1.0, 1.0])

@tf.function
def train(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weights * x))
        gradient = tape.gradient(loss, weights)
        weights.assign_sub(0.01 * tf.distribute.get_replica_context().all_reduce("sum", gradient))
        return loss
    return strategy.run(replica, args=(x,))

for step in range(3):
    train(tf.constant([1.0, -3.0 if index == 1 and step == 1 else 2.0]))
"""


def line_of(text: str, program: str) -> int:
    return next(n for n, line in enumerate(program.splitlines(), 1) if text in line)


def tdbg_run(program: Path, *options: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "tdbg", "run", *options, program.name],
        cwd=program.parent,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen) -> str:
    output = process.communicate(timeout=240)[0]
    assert process.returncode == 0, output
    return output


def test_replicas_of_a_mirrored_strategy(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(MIRRORED)
    finish(tdbg_run(program, "-o", "run.tdbg"))
    trace = tdbg.open(tmp_path / "run.tdbg")
    logs = trace.connect().execute(
        "SELECT right(o.device, 5), t.step, t.nan FROM tensors t JOIN ops o USING (process, op) "
        "WHERE o.type = 'Log' AND t.flags & 16 = 0 ORDER BY ALL"
    )
    assert logs.fetchall() == [("CPU:0", 0, 0), ("CPU:0", 1, 0), ("CPU:1", 0, 0), ("CPU:1", 1, 1)]
    first = explain(trace).first
    assert first.op.type == "Log"
    assert first.op.name.startswith("replica_1/")
    assert (first.row.step, first.cause.name) == (1, "log_of_negative")
    assert (first.frame.file, first.frame.line) == (str(program), line_of("math.log", MIRRORED))


def free_addresses(count: int) -> list[str]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def test_workers_of_a_cluster_share_a_trace(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(WORKER)
    cluster = {"worker": free_addresses(2)}
    tasks = [json.dumps({"cluster": cluster, "task": {"type": "worker", "index": n}}) for n in (0, 1)]
    workers = [tdbg_run(program, "-o", "run.tdbg", TF_CONFIG=task) for task in tasks]
    for output in [finish(worker) for worker in workers]:
        assert "of worker:1: Log → NaN ×1 of 2" in output, output
    trace = tdbg.open(tmp_path / "run.tdbg")
    ranks = {process.info["task"]: process.info["rank"] for process in trace.processes}
    assert ranks == {"worker:0": 0, "worker:1": 1}
    by_task = {process.info["task"]: process.index for process in trace.processes}
    logs = trace.connect().execute(
        "SELECT t.process, t.step, t.nan FROM tensors t JOIN ops o USING (process, op) "
        "WHERE o.type = 'Log' AND t.flags & 16 = 0 AND t.step < 2 ORDER BY ALL"
    )
    rows = {(process, step): nan for process, step, nan in logs.fetchall()}
    assert rows == {
        (by_task["worker:0"], 0): 0,
        (by_task["worker:0"], 1): 0,
        (by_task["worker:1"], 0): 0,
        (by_task["worker:1"], 1): 1,
    }
    # The run is over: the same cluster again does not add to it.
    again = tdbg_run(program, "-o", "run.tdbg", TF_CONFIG=tasks[0])
    assert "this already exists" in again.communicate(timeout=240)[0]
    assert again.returncode == 2


# ---- who may join


CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


def task_of(kind: str, index: int, cluster: dict = CLUSTER) -> Member | None:
    return member({"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})})


def test_ranks_count_through_the_cluster() -> None:
    found = [task_of(kind, index) for kind, index in (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0))]
    assert [(one.task, one.rank) for one in found] == [("chief:0", 0), ("worker:0", 1), ("worker:1", 2), ("ps:0", 3)]
    assert len({one.cluster for one in found}) == 1


@pytest.mark.parametrize("text", ["", "{}", "[]", "nonsense", '{"cluster": {"worker": ["a:1"]}}', '{"task": 3}'])
def test_no_cluster(text: str) -> None:
    assert member({"TF_CONFIG": text}) is None


def begin(trace: Path, task: Member) -> TraceWriter:
    return TraceWriter(trace, {"cluster": task.cluster, "task": task.task, "rank": task.rank})


def test_only_other_tasks_of_a_running_cluster_join(tmp_path: Path) -> None:
    trace, chief, worker = tmp_path / "run.tdbg", task_of("chief", 0), task_of("worker", 0)
    writer = begin(trace, chief)
    for force in (False, True):  # and force removes nothing from a run that goes on
        make_room(trace, force, "--force", *worker[:2])
        assert len(list(trace.iterdir())) == 2
    stranger = task_of("worker", 0, {"chief": ["a:1"], "worker": ["x:1"]})
    for other in (chief, stranger):
        with pytest.raises(tdbg.TdbgError, match="already exists"):
            make_room(trace, False, "--force", *other[:2])
    with pytest.raises(tdbg.TdbgError, match="already exists"):
        make_room(trace, False, "--force")
    writer.close({})
    with pytest.raises(tdbg.TdbgError, match="already exists"):
        make_room(trace, False, "--force", *worker[:2])
    make_room(trace, True, "--force", *worker[:2])
    assert not trace.exists()
