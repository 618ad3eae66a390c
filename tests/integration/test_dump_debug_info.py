"""The functions that users of Debugger V2 know: what they take, what they refuse, and what they record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from recorded_run import Recorded

import tdbg
from tdbg.__main__ import main
from tdbg.query.trace.trace import Trace

tf = pytest.importorskip("tensorflow")

from tdbg.tensorflow import disable_dump_debug_info, enable_dump_debug_info  # noqa: E402

SOURCE = str(Path(tdbg.__file__).parents[1])


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    disable_dump_debug_info()


def only_trace(root: Path) -> Recorded:
    (path,) = root.glob("*.tdbg")
    return Recorded(path)


@tf.function
def small(x):
    return tf.reshape(tf.math.log(x), [-1]) + 1.0


# ---- what is refused


def test_no_root_is_refused() -> None:
    for wrong in ({}, {"dump_root": ""}, {"logdir": None}):
        with pytest.raises(ValueError, match="Empty or None dump root"):
            enable_dump_debug_info(**wrong)


def test_two_different_roots_are_refused_and_two_equal_ones_are_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="differ"):
        enable_dump_debug_info(tmp_path / "a", logdir=tmp_path / "b")
    assert enable_dump_debug_info(tmp_path, logdir=str(tmp_path)).dump_root == str(tmp_path)


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="FULL_HEALTH"):
        enable_dump_debug_info(tmp_path, tensor_debug_mode="HEALTHY")


@pytest.mark.parametrize("wrong", ["float32", tf.float32, 7])
def test_dtypes_that_are_no_list_and_no_function_are_refused(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(ValueError, match="tensor_dtypes"):
        enable_dump_debug_info(tmp_path, tensor_dtypes=wrong)


def test_another_mode_or_buffer_is_refused_while_it_records(tmp_path: Path) -> None:
    enable_dump_debug_info(tmp_path, "FULL_HEALTH", 500)
    with pytest.raises(ValueError, match="circular_buffer_size 500, not 1000"):
        enable_dump_debug_info(tmp_path, "FULL_HEALTH")
    with pytest.raises(ValueError, match="tensor_debug_mode FULL_HEALTH, not SHAPE"):
        enable_dump_debug_info(tmp_path, "SHAPE", 500)


# ---- again, elsewhere, not at all


def test_the_same_call_again_changes_nothing(tmp_path: Path) -> None:
    first = enable_dump_debug_info(tmp_path)
    assert enable_dump_debug_info(tmp_path) is first
    disable_dump_debug_info()
    disable_dump_debug_info()
    assert only_trace(tmp_path).path == first.path


def test_other_filters_in_a_second_call_are_said_to_be_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    first = enable_dump_debug_info(tmp_path, op_regex="Log")
    assert enable_dump_debug_info(tmp_path, op_regex="Exp") is first
    assert "those of the first call are kept" in capsys.readouterr().err


def test_another_root_ends_the_first_trace_and_begins_another(tmp_path: Path) -> None:
    first = enable_dump_debug_info(tmp_path / "a", "FULL_HEALTH", -1)
    tf.math.log(tf.constant(1.0))
    second = enable_dump_debug_info(tmp_path / "b", "FULL_HEALTH", -1)
    tf.math.exp(tf.constant(1.0))
    second.Close()
    assert "Log" in Recorded(first.path).op_types() and "Exp" not in Recorded(first.path).op_types()
    assert "Exp" in Recorded(second.path).op_types() and "Log" not in Recorded(second.path).op_types()
    first.Close()  # long over


def test_threads_that_switch_on_and_off_at_the_same_time_do_not_fail(tmp_path: Path) -> None:
    start, failures = threading.Barrier(4), []

    def switch(number: int) -> None:
        start.wait()
        try:
            for _ in range(3):
                enable_dump_debug_info(tmp_path / str(number))
                tf.constant(1.0) + 1.0
                disable_dump_debug_info()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=switch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    enable_dump_debug_info(tmp_path / "last")
    tf.constant(2.0) * 3.0
    disable_dump_debug_info()
    assert "Mul" in only_trace(tmp_path / "last").op_types()


def test_a_recording_that_the_program_ended_otherwise_can_be_followed_by_another(tmp_path: Path) -> None:
    enable_dump_debug_info(tmp_path, "SHAPE")
    tdbg.disable()
    enable_dump_debug_info(tmp_path, "FULL_HEALTH")
    assert len(list(tmp_path.glob("*.tdbg"))) == 2


def test_flushing_brings_everything_to_disk(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "FULL_HEALTH", -1)
    small(tf.constant([1.0, 2.0]))
    writer.FlushNonExecutionFiles()
    writer.FlushExecutionFiles()
    assert len(Recorded(writer.path).rows("Log")) == 1


# ---- what is recorded


def test_movers_constants_and_every_read_are_recorded(tmp_path: Path) -> None:
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def reads_twice():
        return tf.transpose(tf.reshape(variable + variable, [1, 2])) * 3.0

    enable_dump_debug_info(tmp_path, "FULL_HEALTH", -1)
    reads_twice()
    disable_dump_debug_info()
    recorded = only_trace(tmp_path)
    assert [len(recorded.rows(name)) for name in ("ReadVariableOp", "Reshape", "Transpose", "Identity")] == [2, 1, 1, 0]
    assert [row["max"] for row in recorded.tensors if row["of"]["type"] == "Const"] == [3.0]
    assert not any("tdbg" in op["name"] or "Debug" in op["name"] for op in recorded.ops.values())


@pytest.mark.parametrize(
    ("mode", "kept"),
    [
        ("NO_TENSOR", {"float32", "int32", "string"}),
        ("SHAPE", {"float32", "int32"}),
        ("FULL_NUMERICS", {"float32"}),
        ("CURT_HEALTH", {"float32"}),
    ],
)
def test_which_types_a_mode_records(tmp_path: Path, mode: str, kept: set[str]) -> None:
    @tf.function
    def three(x):
        return tf.strings.as_string(tf.size(x)), x + 1.0

    enable_dump_debug_info(tmp_path, mode, -1)
    three(tf.constant([1.0]))
    disable_dump_debug_info()
    recorded = only_trace(tmp_path)
    found = {tdbg.model.DType(row["dtype"]).label for row in recorded.tensors if row["of"]["graph"] >= 0}
    assert found == kept
    info = recorded.trace.processes[0].info
    assert (info["debug_mode"], info["every_op"]) == (mode, True)


@pytest.mark.parametrize(
    ("pattern", "types"),
    [
        ("Re", {"Reshape", "Relu", "RealDiv"}),
        ("^(Log|Relu)$", {"Log", "Relu"}),
        ("(?!^Relu$)R", {"Reshape", "RealDiv"}),
    ],
)
def test_op_regex_is_matched_at_the_beginning(tmp_path: Path, pattern: str, types: set[str]) -> None:
    @tf.function
    def some(x):
        return tf.nn.relu(tf.reshape(tf.math.log(x), [-1])) / 2.0

    enable_dump_debug_info(tmp_path, "FULL_HEALTH", -1, op_regex=pattern)
    some(tf.constant([1.0]))
    tf.exp(1.0)
    disable_dump_debug_info()
    recorded = only_trace(tmp_path)
    assert {row["of"]["type"] for row in recorded.tensors} == types
    assert "Exp" in recorded.op_types()  # an execution without tensors, as in Debugger V2


@pytest.mark.parametrize(
    "wanted", [[tf.int32, tf.bool], ("int32", "bool"), lambda dtype: dtype.is_integer or dtype.is_bool]
)
def test_dtypes_as_list_tuple_of_names_or_function(tmp_path: Path, wanted: object) -> None:
    @tf.function
    def some(x):
        return tf.size(x) > 1, x * 2.0

    enable_dump_debug_info(tmp_path, "SHAPE", -1, tensor_dtypes=wanted)
    some(tf.constant([1.0]))
    disable_dump_debug_info()
    assert {tdbg.model.DType(row["dtype"]).label for row in only_trace(tmp_path).tensors} == {"int32", "bool"}


def test_what_a_call_gave_back_leads_the_verdict_into_the_call(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)
        return tape.gradient(y, x)

    enable_dump_debug_info(tmp_path, "FULL_HEALTH", -1)
    slope(tf.constant([0.0, 1.0])) * 0.0
    disable_dump_debug_info()
    assert main(["why", "--json", str(tmp_path)]) == 1
    verdict = json.loads(capsys.readouterr().out)
    first = verdict["origins"][0]
    assert first["op_type"] in ("SqrtGrad", "RealDiv") and first["kind"] == "backward"


def test_the_newest_trace_of_a_root_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for value in (0.0, 1.0):
        enable_dump_debug_info(tmp_path, "FULL_HEALTH", -1)
        tf.math.log(tf.constant(value))
        disable_dump_debug_info()
    assert main(["why", str(tmp_path)]) == 0
    assert "no bad values" in capsys.readouterr().out


# ---- the circular buffer

KILLED = """
import os, signal, sys
import tensorflow as tf
from tdbg.tensorflow import enable_dump_debug_info
writer = enable_dump_debug_info(sys.argv[1], "FULL_HEALTH")
for n in range(50):
    tf.math.log(tf.constant(float(n)))
    if n == 0:
        writer.FlushNonExecutionFiles()  # the op itself; it would reach the disk within 0.1 s anyway
os.kill(os.getpid(), signal.SIGKILL)
"""


def run(code: str, *words: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    return subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, timeout=240
    )


def test_the_circular_buffer_survives_a_kill(tmp_path: Path) -> None:
    assert run(KILLED, str(tmp_path)).returncode == -signal.SIGKILL
    assert len(only_trace(tmp_path).rows("Log")) == 50


WHOLE_VALUES = """
import os, signal, sys
import tensorflow as tf
from tdbg.tensorflow import enable_dump_debug_info
writer = enable_dump_debug_info(sys.argv[1], "FULL_TENSOR")  # with the default circular buffer
for n in range(40):
    tf.math.sqrt(tf.constant([float(n), 1.0]))
writer.FlushNonExecutionFiles()
writer.FlushExecutionFiles()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_whole_values_of_the_circular_buffer_are_on_disk_once_they_are_flushed(tmp_path: Path) -> None:
    assert run(WHOLE_VALUES, str(tmp_path)).returncode == -signal.SIGKILL
    recorded = only_trace(tmp_path)
    rows = recorded.rows("Sqrt")
    assert len(rows) == 40
    trace = Trace.open(recorded.path)
    assert [trace.value(0, row["value"])[0] for row in rows] == pytest.approx([n**0.5 for n in range(40)])


def test_the_circular_buffer_keeps_the_last_events(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "FULL_HEALTH", circular_buffer_size=100)
    for n in range(1000):
        tf.math.sqrt(tf.constant(float(n)))
    disable_dump_debug_info()
    kept = [row["max"] for row in Recorded(writer.path).rows("Sqrt")]
    assert 100 <= len(kept) < 1000 and kept[-1] == pytest.approx(999**0.5)


NEVER_DISABLED = """
import sys
import tensorflow as tf
from tdbg.tensorflow import enable_dump_debug_info
enable_dump_debug_info(logdir=sys.argv[1], tensor_debug_mode="FULL_HEALTH")
tf.math.log(tf.constant(0.0))
"""


def test_the_end_of_the_program_closes_the_trace(tmp_path: Path) -> None:
    ran = run(NEVER_DISABLED, str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    recorded = only_trace(tmp_path)
    assert list(recorded.path.glob("*/end.json")) and len(recorded.rows("Log")) == 1


def test_under_tdbg_run_its_recording_is_the_only_one(tmp_path: Path) -> None:
    program, root, trace = tmp_path / "train.py", tmp_path / "root", tmp_path / "run.tdbg"
    program.write_text(NEVER_DISABLED)
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-m", "tdbg", "run", "-o", str(trace), str(program), str(root)]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert "this enable_dump_debug_info() is ignored" in ran.stderr
    assert not root.exists() and len(Recorded(trace).rows("Log")) == 1
