"""Programs that are held where a condition is met: real TensorFlow, with commands typed by a prompt of the test."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record
from scripted_prompt import typed

import tdbg
from tdbg.capture import faults
from tdbg.capture.hold import Holder
from tdbg.errors import TdbgError

tf = pytest.importorskip("tensorflow")

INF = float("inf")


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of tdbg are raised."""
    monkeypatch.setenv("TDBG_STRICT", "1")


def here(mark: str) -> str:
    return f"test_break.py:{line_with(__file__, mark)} in "


def log_of(x: Any) -> Any:
    scaled = x * 2.0  # the product
    return tf.reduce_sum(tf.math.log(scaled))  # the log


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_the_tensor_its_inputs_and_the_stack(tmp_path: Path, monkeypatch: Any, as_graph: bool) -> None:
    function = tf.function(log_of) if as_graph else log_of
    prompt = typed(monkeypatch, "pt Log:0", "eval `Mul:0`" if not as_graph else "eval `mul:0`", "run")
    with record(tmp_path, break_on='inf > 0 and op == "Log"'):
        assert float(function(tf.constant([0.5, 0.5]))) == 0.0
        assert not prompt.pauses
        assert float(function(tf.constant([1.0, 0.0, 0.0]))) == -INF
    (pause,) = prompt.pauses
    assert pause.kind == "condition"
    assert pause.headline == 'condition: inf > 0 and op == "Log" is met by Log:0, step 0'
    lines = "\n".join(pause.lines)
    assert here("the log") in pause.lines[1]
    assert "input 0: float32, shape (3,): min 0, max 2, 2 of 3 zero; " in lines
    assert here("the product") in lines
    assert "-inf,      -inf" in prompt.shown[0]
    assert "2., 0., 0." in prompt.shown[1]


def test_a_condition_that_names_no_op_shows_the_inputs_of_a_gradients_op(tmp_path: Path, monkeypatch: Any) -> None:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.where(x > 0, tf.math.log(x), 0.0))
        return tape.gradient(y, x)

    prompt = typed(monkeypatch, "run -n")
    with record(tmp_path, break_on="nan > 0"):
        assert np.isnan(slope(tf.constant([4.0, 0.0])).numpy()).any()
    (pause,) = prompt.pauses
    shown = "\n".join(pause.lines)
    assert "gradient" in pause.headline + shown
    assert "input 0: float32" in shown
    assert "input 1: float32" in shown


def test_nothing_is_changed_while_no_condition_is_met(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch)

    def trained() -> Any:
        tf.random.set_seed(3)
        w = tf.Variable(tf.random.normal([8, 8]))

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.nn.softmax(tf.matmul(x, w)) ** 2)
            w.assign_sub(tape.gradient(loss, w))

        for _ in range(3):
            step(tf.random.normal([4, 8], seed=1))
        return w.numpy()

    with record(tmp_path, "plain"):
        plain = trained()
    with record(tmp_path, "with", break_on=["nan > 0", "max_abs > 1e30"]):
        assert np.array_equal(trained(), plain)
    assert not prompt.pauses


def test_loops_gradients_and_inner_functions(tmp_path: Path, monkeypatch: Any) -> None:
    @tf.function
    def inverse(x):
        return 1.0 / x  # the inverse

    @tf.function
    def count_down(x):
        total = tf.zeros([])
        for _ in tf.range(3):
            x -= 1.0
            total += inverse(x)
        return total

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)  # the root
        return tape.gradient(y, x)

    prompt = typed(monkeypatch, "run", "run")
    with record(tmp_path, break_on='bad and op ~ "Div|SqrtGrad"'):
        count_down(tf.constant(2.0))
        slope(tf.constant(0.0))
    assert "truediv:0, step 0" in prompt.headlines[0]
    assert here("the inverse") in prompt.pauses[0].lines[1]
    assert "SqrtGrad:0" in prompt.headlines[1]
    assert any("the gradient of Sqrt at " in line and here("the root") in line for line in prompt.pauses[1].lines)


def test_the_iteration_of_a_loop(tmp_path: Path, monkeypatch: Any) -> None:
    @tf.function
    def logs(x):
        total = tf.zeros([])
        for _ in tf.range(4):
            x -= 1.0
            total += tf.math.log(x)
        return total

    prompt = typed(monkeypatch, "run")
    with record(tmp_path, break_on='iteration >= 2 and op == "Log"'):
        logs(tf.constant(2.5))
    assert prompt.headlines[0].endswith("is met by while/Log:0, step 0, iteration 2")


def train(steps: int, values: list[float]) -> list[float]:
    """A step for each value, whose log is taken."""
    w = tf.Variable(1.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.math.log(w * x)
        w.assign_sub(0.0 * tape.gradient(loss, w))
        return loss

    return [float(step(tf.constant(value))) for value in values[:steps]]


def test_how_the_program_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(
        monkeypatch,
        "run -n",  # at step 0
        "run -t 3",  # at step 1
        "run -f 'max > 8 and op == \"Mul\"'",  # where step 4 begins
        "run",  # at the product of step 5
        "run -f has_inf_or_nan",  # at the log of step 5
        "exit",  # at a log of 0
    )
    with record(tmp_path, break_on='op == "Log" and phase == "forward"'), pytest.raises(SystemExit) as left:
        train(9, [1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 7.0, 0.0, 3.0])
    assert left.value.code == 1
    assert [headline.partition(" is met by ")[2] or headline for headline in prompt.headlines] == [
        "Log:0, step 0",
        "Log:0, step 1",
        "step 4 begins",
        "mul:0, step 5",
        "Log:0, step 5",
        prompt.headlines[-1].partition(" is met by ")[2],
    ]
    assert prompt.headlines[-1].startswith("condition: has_inf_or_nan is met by ")
    assert prompt.headlines[-1].endswith("step 7")


def test_going_on_traces_nothing_again(tmp_path: Path, monkeypatch: Any) -> None:
    traces = []

    @tf.function
    def logs(x):
        traces.append(x)
        return tf.math.log(x * 2.0 + tf.constant([1.0, 2.0]))

    prompt = typed(monkeypatch, "run", "run -f has_inf_or_nan", "break remove 1", "run")
    with record(tmp_path, break_on="nan > 0"):
        for value in (-1.0, -1.0, 1.0, -2.0, 3.0):
            logs(tf.constant([value, value]))
    assert len(prompt.pauses) == 3
    assert len(traces) == 1


def test_conditions_are_changed_at_the_prompt_also_for_functions_that_are_traced_already(
    tmp_path: Path, monkeypatch: Any
) -> None:
    @tf.function
    def shifted(x):
        return tf.reshape(x + 1.0, [-1])

    prompt = typed(
        monkeypatch, "break", "break max > 8", "run", "break remove 1", 'break op == "Reshape"', "break", "run", "run"
    )
    with record(tmp_path):
        shifted(tf.constant([8.0]))
        tdbg.breakpoint()
        shifted(tf.constant([8.0]))  # held at the sum
        shifted(tf.constant([1.0]))  # held at the reshape
    assert prompt.shown[0] == "this program has no conditions"
    assert [headline.partition(" is met by ")[2] for headline in prompt.headlines[1:]] == [
        "add:0, step 0",
        "Reshape:0, step 0",
    ]
    assert "max > 8" not in prompt.shown[5]
    assert 'op == "Reshape"' in prompt.shown[5]


def test_a_condition_that_is_none_is_one_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(TdbgError, match="did you mean 'nan'"):
        tdbg.enable(tmp_path / "x.tdbg", break_on="nn > 0")
    with pytest.raises(TdbgError, match="where break works; use one or the other"):
        tdbg.enable(tmp_path / "x.tdbg", break_on="nan > 0", mode="edges")
    prompt = typed(monkeypatch, "break nan >", "break remove 9", "break remove", "run")
    with record(tmp_path):
        tdbg.breakpoint()
    assert all(shown.startswith("ERROR: ") for shown in prompt.shown[:3]), prompt.shown


def test_after_detaching_nothing_holds_the_program(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch)  # no commands: it detaches
    with record(tmp_path, break_on="inf > 0"):
        for _ in range(2):
            tf.math.log(tf.zeros([2]))
            tf.function(log_of)(tf.zeros([2]))
            tdbg.breakpoint()
    assert len(prompt.pauses) == 1


@pytest.mark.parametrize("kind", ["graph", "data", "thread"])
def test_exit_ends_the_program_wherever_it_is_held(tmp_path: Path, monkeypatch: Any, kind: str) -> None:
    typed(monkeypatch, "exit")
    ran_on = False

    def leaves() -> None:
        with pytest.raises(SystemExit):
            tf.math.log(tf.zeros([2]))

    with record(tmp_path, break_on="inf > 0"), pytest.raises((SystemExit, tf.errors.OpError)) as left:
        if kind == "graph":
            tf.function(log_of)(tf.zeros([2]))
        elif kind == "data":
            for _ in tf.data.Dataset.range(2).map(lambda i: 1.0 / tf.cast(i, tf.float32)):
                ran_on = True
        else:
            worker = threading.Thread(target=leaves)
            worker.start()
            worker.join()
            tf.abs(1.0)
        ran_on = True
    assert not ran_on
    assert left.value.code == 1 if kind != "data" else "ended at tdbg's prompt" in str(left.value)


def test_a_second_thread_waits_for_its_turn(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch, *["run"] * 8)
    inside = threading.Semaphore(1)
    ask = prompt.ask

    def alone(pause: Any) -> Any:
        assert inside.acquire(blocking=False), "two prompts at once"
        try:
            return ask(pause)
        finally:
            inside.release()

    monkeypatch.setattr(prompt, "ask", alone)
    logs = tf.function(lambda x: tf.math.log(x))
    with record(tmp_path, break_on="inf > 0"):
        workers = [threading.Thread(target=logs, args=(tf.zeros([n]),)) for n in range(1, 5)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(prompt.pauses) == 4


def test_a_prompt_that_fails_is_one_line_and_the_program_goes_on(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.delenv("TDBG_STRICT")
    prompt = typed(monkeypatch)
    monkeypatch.setattr(prompt, "ask", lambda pause: 1 / 0)
    monkeypatch.setattr(faults, "counts", {})
    with record(tmp_path, break_on="inf > 0"):
        assert float(tf.function(log_of)(tf.zeros([2]))) == -INF
        assert float(log_of(tf.zeros([2]))) == -INF
    said = capfd.readouterr().err.splitlines()
    assert len([line for line in said if line.startswith("tdbg: ")]) == 1, said


def test_a_condition_added_while_the_recording_ends_holds_nothing_afterwards(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch, "break zero > 0", "run")
    is_held, is_ending, ask, wait = threading.Event(), threading.Event(), prompt.ask, Holder.wait

    def asked_at_the_end(pause: Any) -> Any:
        is_held.set()
        assert is_ending.wait(60)
        return ask(pause)

    def waited(holder: Holder) -> None:
        is_ending.set()
        wait(holder)

    monkeypatch.setattr(prompt, "ask", asked_at_the_end)
    monkeypatch.setattr(Holder, "wait", waited)
    with record(tmp_path, break_on="inf > 0"):
        logs = tf.function(lambda x: tf.math.log(x) * 0.0).get_concrete_function(tf.TensorSpec([2]))
        worker = threading.Thread(target=logs, args=(tf.zeros([2]),))
        worker.start()
        assert is_held.wait(60)
    worker.join()
    logs(tf.ones([2]))  # its observers are still there
    assert len(prompt.pauses) == 1


def test_with_the_check_the_program_is_held_first(tmp_path: Path, monkeypatch: Any) -> None:
    for function in (log_of, tf.function(log_of)):
        prompt = typed(monkeypatch, "run")
        stopped = pytest.raises(tf.errors.InvalidArgumentError, match="Log made -inf")
        with record(tmp_path, f"{len(os.listdir(tmp_path))}", break_on="inf > 0", check=True), stopped:
            function(tf.zeros([2]))
        assert len(prompt.pauses) == 1


def test_filters_of_run_say_what_is_recorded_next(tmp_path: Path, monkeypatch: Any) -> None:
    typed(monkeypatch, "run --op_type_filter Log")
    with record(tmp_path) as recorded:
        log_of(tf.constant([1.0]))
        tdbg.breakpoint()
        log_of(tf.constant([1.0]))
        tf.function(log_of)(tf.constant([1.0]))
    assert len(recorded.rows("Mul", eager=True)) == 1
    assert len(recorded.rows("Log", eager=True)) == 2
    assert not recorded.rows("Mul", eager=False)
    assert len(recorded.rows("Log", eager=False)) == 1


def test_a_forked_child_is_not_held(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch, "run")
    with record(tmp_path, break_on="inf > 0") as recorded:
        zeros = tf.zeros([2])
        child = os.fork()
        if not child:
            tf.math.log(zeros)
            tdbg.breakpoint()
            tdbg.recording.flush()
            os._exit(len(prompt.pauses))
        assert os.waitpid(child, 0)[1] == 0
    assert [row["text"] for row in recorded.table("notes") if row["kind"] == "break"] == [
        "a child process met a breakpoint or a condition; tdbg does not stop child processes"
    ]


def test_sessions(tmp_path: Path, monkeypatch: Any) -> None:
    v1 = tf.compat.v1
    prompt = typed(monkeypatch, "pt logged:0", "run", "exit")
    graph = tf.Graph()
    with record(tmp_path, break_on="inf > 0"), graph.as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.math.log(x, name="logged")
        session.run(y, {x: [1.0, 2.0]})
        assert not prompt.pauses
        session.run(y, {x: [1.0, 0.0]})
        with pytest.raises(SystemExit):
            session.run(y, {x: [0.0, 0.0]})
    assert "logged:0" in prompt.headlines[0]
    assert "-inf" in prompt.shown[0]
