"""The debugger on Sessions that others run: MonitoredSessions, queue runners' threads, another process, loops."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf2 = pytest.importorskip("tensorflow")

import tensorflow.compat.v1 as tf  # noqa: E402

from tdbg.tensorflow import debug as tf_debug  # noqa: E402


@pytest.fixture(autouse=True)
def in_a_folder_and_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield


def runs_of(root: str) -> list[Any]:
    return [tf_debug.DebugDumpDir(str(run)) for run in sorted(Path(root).glob("run_*"))]


def values_of(root: str, node: str) -> list[np.ndarray]:
    """What a node computed, over all runs."""
    runs = [run for run in runs_of(root) if run.debug_watch_keys(node)]
    return [value for run in runs for value in run.get_tensors(node, 0, "DebugIdentity")]


def counting_graph() -> Any:
    """Each run adds 1 to the global step, after it gave the log of 3 minus the step."""
    step = tf.train.get_or_create_global_step()
    left = tf.subtract(3.0, tf.cast(step, tf.float32), name="left")
    log = tf.log(left, name="log")
    with tf.control_dependencies([log]):
        return tf.assign_add(step, 1), log


# ---- MonitoredSessions


def test_a_monitored_training_session_with_two_hooks() -> None:
    add = counting_graph()
    hooks = [tf_debug.DumpingDebugHook("dumps"), tf.train.StopAtStepHook(last_step=3)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir="checkpoints", hooks=hooks) as session:
        steps = []
        while not session.should_stop():
            steps.append(session.run(add)[0])
    assert steps == [1, 2, 3]
    assert values_of("dumps", "left") == [3.0, 2.0, 1.0]


def test_a_monitored_session_that_recovers_is_debugged_on() -> None:
    """After an AbortedError TensorFlow makes a new Session from the last checkpoint; the hook goes over to it."""

    class AbortOnce(tf.train.SessionRunHook):
        runs = 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1
            if self.runs == 2:
                raise tf.errors.AbortedError(None, None, "the worker was preempted")

    add = counting_graph()
    hooks = [tf_debug.DumpingDebugHook("dumps"), AbortOnce()]
    with tf.train.MonitoredTrainingSession("", checkpoint_dir="checkpoints", save_checkpoint_steps=1, hooks=hooks) as s:
        assert [int(s.run(add)[0]) for _ in range(2)] == [1, 3]
    assert values_of("dumps", "left") == [3.0, 2.0, 1.0]


def test_the_prompt_around_a_monitored_session(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("run -f has_inf_or_nan\nrun -n\n"))
    add = counting_graph()
    with tf.train.MonitoredTrainingSession(hooks=[tf_debug.LocalCLIDebugHook(ui_type="readline")]) as session:
        assert [int(session.run(add)[0]) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    printed = capsys.readouterr().out
    assert "run-end: run #4" in printed and "log:0" in printed and "test_session_hosts.py:" in printed


# ---- queue runners


def test_only_the_main_thread_is_debugged_beside_queue_runners() -> None:
    queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
    enqueue = queue.enqueue(tf.random.uniform([], name="made"))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * 2))
    taken = tf.identity(queue.dequeue() * 2.0, name="taken")
    with tf.Session() as plain:
        session = tf_debug.DumpingDebugWrapperSession(plain, "dumps", thread_name_filter="MainThread$")
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        results = [session.run(taken) for _ in range(5)]
        coordinator.request_stop()
        plain.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads, stop_grace_period_secs=10)
    assert all(0 <= value < 2 for value in results)
    assert values_of("dumps", "taken") == results and values_of("dumps", "made") == []


def test_threads_share_one_wrapper_and_every_run_has_its_own_dump() -> None:
    number = tf.placeholder(tf.float32, [], name="number")
    square = tf.square(number, name="square")
    with tf.Session() as plain:
        session = tf_debug.DumpingDebugWrapperSession(plain, "dumps")
        session.run(square, {number: 0.0})
        results: dict[float, float] = {}

        def work(first: float) -> None:
            for value in np.arange(first, first + 5):
                results[value] = session.run(square, {number: value})

        threads = [threading.Thread(target=work, args=[first]) for first in (10.0, 20.0, 30.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {value: value**2 for value in results} and len(results) == 15
    assert sorted(values_of("dumps", "square")) == sorted([0.0, *results.values()])


# ---- another process

SERVER = """
import sys
import tensorflow as tf
server = tf.distribute.Server.create_local_server()
print(server.target, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def remote() -> Iterator[str]:
    """The target of a TensorFlow server in a process of its own, on this machine."""
    words = [sys.executable, "-c", SERVER]
    server = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdout and server.stdin
    yield server.stdout.readline().strip()
    server.kill()
    server.wait()
    server.stdin.close()
    server.stdout.close()


def test_a_session_of_another_process_is_dumped_and_checked(
    remote: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    number = tf.placeholder(tf.float32, [None], name="number")
    log = tf.log(number, name="log")
    with tf.Session(remote) as plain:
        session = tf_debug.DumpingDebugWrapperSession(plain, "dumps")
        np.testing.assert_allclose(session.run(log, {number: [1.0, 2.0]}), np.log([1, 2]), rtol=1e-6)
        assert session.run(log, {number: [0.0]}) == -np.inf
        assert [value.shape for value in values_of("dumps", "log")] == [(2,), (1,)]
        [first] = runs_of("dumps")[1].find(tf_debug.has_inf_or_nan, first_n=1)
        assert first.node_name == "log" and "job:" in first.device_name

        monkeypatch.setattr(sys, "stdin", io.StringIO("run -f has_inf_or_nan\nrun\n"))
        session = tf_debug.LocalCLIDebugWrapperSession(plain, ui_type="readline")
        assert session.run(log, {number: [0.0]}) == -np.inf
        assert "log:0" in capsys.readouterr().out


# ---- recurrent networks


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_recurrent_network_has_a_value_for_every_step_of_its_loop(version: str) -> None:
    """In the fourth step the state is divided by 0."""
    switch = tf.disable_control_flow_v2 if version == "v1" else tf.enable_control_flow_v2
    before = tf.control_flow_v2_enabled()
    switch()
    try:
        weights = tf.get_variable("weights", initializer=np.full([2, 2], 0.5, np.float32))

        def step(t: Any, state: Any) -> tuple[Any, Any]:
            state = tf.tanh(tf.matmul(state, weights), name="state")
            return t + 1, tf.divide(state, 3.0 - tf.cast(t, tf.float32), name="scaled")

        loop = tf.while_loop(lambda t, state: t < 5, step, [0, tf.ones([1, 2])], name="rnn")
        final = tf.reduce_sum(loop[1], name="final")
    finally:
        (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()
    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        expected = plain.run(final)
        session = tf_debug.DumpingDebugWrapperSession(plain, "dumps")
        np.testing.assert_array_equal(session.run(final), expected)
    [run] = runs_of("dumps")
    scaled = [datum for datum in run.dumped_tensor_data if run.node_op_type(datum.node_name) == "RealDiv"]
    assert {datum.node_name.rpartition("/")[2] for datum in scaled} <= {"scaled", "scaled_0"}  # TensorFlow renames some
    assert len(scaled) == 5
    assert [bool(np.all(np.isfinite(datum.get_tensor()))) for datum in scaled] == [True] * 3 + [False] + [True]
