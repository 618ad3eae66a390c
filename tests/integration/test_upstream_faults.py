"""What goes wrong in TensorFlow's Debugger V2 must not go wrong here: one test for each known fault of it.

What could crash runs in a process of its own.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from recorded_run import Recorded, line_with

import tdbg

tf = pytest.importorskip("tensorflow")

from tdbg.tensorflow import disable_dump_debug_info, enable_dump_debug_info  # noqa: E402

SOURCE = str(Path(tdbg.__file__).parents[1])
ALL_EVENTS = -1


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    disable_dump_debug_info()


def run(code: str, *words: str) -> str:
    """The program's output; it must end well."""
    begin = "import sys\nimport tensorflow as tf\nimport tdbg.tensorflow as debug\n"
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", begin + code, *words], env=environment, capture_output=True, text=True, timeout=240
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def traces(root: Path) -> list[Recorded]:
    return [Recorded(path) for path in sorted(root.glob("*.tdbg"), key=lambda path: path.stat().st_mtime_ns)]


FUNCTION = """
@tf.function
def f(x):
    return tf.math.log(x) * 2.0
"""


def test_enabling_again_on_the_same_root(tmp_path: Path) -> None:
    code = FUNCTION + (
        "for _ in range(3):\n"
        "    debug.enable_dump_debug_info(sys.argv[1], 'FULL_HEALTH', -1)\n"
        "    f(tf.constant([1.0, 2.0]))\n"
        "    debug.disable_dump_debug_info()\n"
    )
    run(code, str(tmp_path))
    assert [len(recorded.rows("Log", eager=False)) for recorded in traces(tmp_path)] == [1, 1, 1]


def test_calling_an_instrumented_function_after_disable(tmp_path: Path) -> None:
    code = FUNCTION + (
        "debug.enable_dump_debug_info(sys.argv[1], 'FULL_HEALTH', -1)\n"
        "concrete = f.get_concrete_function(tf.TensorSpec([2]))\n"
        "f(tf.constant([1.0, 2.0]))\n"
        "debug.disable_dump_debug_info()\n"
        "print(f(tf.constant([1.0, 1.0])).numpy(), concrete(tf.constant([1.0, 1.0])).numpy())\n"
    )
    assert run(code, str(tmp_path)) == "[0. 0.] [0. 0.]\n"
    assert [len(recorded.rows("Log")) for recorded in traces(tmp_path)] == [1]


CHECKED = (
    "debug.enable_dump_debug_info(sys.argv[1], 'FULL_HEALTH', -1)\n"
    "ENABLE\n"
    "f(tf.constant([1.0, 2.0]))\n"
    "try:\n"
    "    f(tf.constant([0.0, 2.0]))\n"
    "except tf.errors.InvalidArgumentError as error:\n"
    "    print('found', 'Log' in str(error))\n"
    "debug.disable_dump_debug_info()\n"
)


def test_together_with_tensorflows_check_numerics(tmp_path: Path) -> None:
    code = FUNCTION + CHECKED.replace("ENABLE", "tf.debugging.enable_check_numerics()")
    assert run(code, str(tmp_path)) == "found True\n"
    (recorded,) = traces(tmp_path)
    assert recorded.rows("Log", eager=False)[0]["neg_inf"] == 0


@pytest.mark.skipif(
    importlib.util.find_spec("tdbg.frameworks.tensorflow.tfdbg.numerics") is None,
    reason="this tdbg has no tdbg.frameworks.tensorflow.tfdbg.numerics",
)
def test_together_with_tdbgs_check_numerics(tmp_path: Path) -> None:
    enable = "from tdbg.tensorflow import enable_check_numerics; enable_check_numerics()"
    assert run(FUNCTION + CHECKED.replace("ENABLE", enable), str(tmp_path)) == "found True\n"
    (recorded,) = traces(tmp_path)
    assert len(recorded.rows("Log", eager=False)) >= 1


def test_the_graph_of_every_call_is_known(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "NO_TENSOR", ALL_EVENTS)

    @tf.function
    def forward(x):
        return tf.nn.softmax(x)

    variable = tf.Variable([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(forward(variable) * forward(variable + 1.0))
        tape.gradient(loss, variable)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    model.fit(tf.ones([8, 2]), tf.ones([8, 1]), batch_size=4, verbose=0)
    disable_dump_debug_info()
    recorded = Recorded(writer.path)
    calls = [row for row in recorded.table("executions") if recorded.ops[row["op"]]["type"].startswith("__")]
    graphs = {row["graph"] for row in recorded.table("graphs")}
    assert len(calls) > 10
    assert [recorded.ops[row["op"]]["type"] for row in calls if row["graph"] not in graphs] == []


def test_the_slot_is_right_when_a_filter_drops_another(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "SHAPE", ALL_EVENTS, tensor_dtypes=["int32"])
    values = tf.constant([3.0, 3.0, 5.0])
    tf.unique(values)
    tf.function(tf.unique)(values)
    disable_dump_debug_info()
    recorded = Recorded(writer.path)
    for eager in (True, False):
        assert [(row["slot"], row["dims"]) for row in recorded.rows("Unique", eager)] == [(1, (3,))]


def test_jit_compile_works(tmp_path: Path) -> None:
    code = FUNCTION.replace("@tf.function", "@tf.function(jit_compile=True)") + (
        "debug.enable_dump_debug_info(sys.argv[1], 'FULL_HEALTH', -1)\n"
        "print(f(tf.constant([1.0, 1.0])).numpy(), f(tf.constant([0.0, 1.0])).numpy())\n"
        "debug.disable_dump_debug_info()\n"
    )
    assert run(code, str(tmp_path)) == "[0. 0.] [-inf   0.]\n"
    (recorded,) = traces(tmp_path)
    bad = [row for row in recorded.tensors if row["neg_inf"]]
    assert bad, "an infinity that XLA computed must not pass silently"


@pytest.mark.skipif(
    importlib.util.find_spec("tdbg.frameworks.tensorflow.capture.xla") is None,
    reason="this tdbg has no tdbg.frameworks.tensorflow.capture.xla",
)
def test_jit_compiled_functions_are_looked_inside(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "FULL_HEALTH", ALL_EVENTS)
    tf.function(lambda x: tf.math.log(x) * 2.0, jit_compile=True)(tf.constant([0.0, 1.0]))
    disable_dump_debug_info()
    assert [row["neg_inf"] for row in Recorded(writer.path).rows("Log")] == [1]


def test_a_function_traced_before_has_rows(tmp_path: Path) -> None:
    @tf.function
    def early(x):
        return tf.math.log(x)

    early(tf.constant([1.0]))
    writer = enable_dump_debug_info(tmp_path, "FULL_HEALTH", ALL_EVENTS)
    early(tf.constant([1.0]))
    disable_dump_debug_info()
    assert len(Recorded(writer.path).rows("Log", eager=False)) == 1


def test_no_stack_frame_is_lost_and_the_source_is_there(tmp_path: Path) -> None:
    writer = enable_dump_debug_info(tmp_path, "FULL_HEALTH", ALL_EVENTS)

    @tf.function
    def deep(x):
        return tf.math.log(x)  # the log

    deep(tf.constant([1.0]))  # the call
    disable_dump_debug_info()
    recorded = Recorded(writer.path)
    frames = {row["frame"]: row for row in recorded.table("frames")}
    stacks = {row["stack"]: row for row in recorded.table("stacks")}
    for op in recorded.ops.values():
        stack = op["stack"]
        while stack >= 0:
            assert stacks[stack]["frame"] in frames, op
            stack = stacks[stack]["parent"]
    (log,) = recorded.ops_of("Log")
    assert recorded.line(log) == (__file__, line_with(__file__, "the log"))
    lines, stack = [], log["stack"]
    while stack >= 0:
        frame = frames[stacks[stack]["frame"]]
        lines += [frame["line"]] if frame["file"] == __file__ else []
        stack = stacks[stack]["parent"]
    assert lines == [line_with(__file__, "the log"), line_with(__file__, "the call")]
    texts = {row["file"]: row["text"] for row in recorded.table("sources")}
    assert texts[__file__] == Path(__file__).read_text()


def test_two_runs_in_one_folder_can_be_read(tmp_path: Path) -> None:
    code = FUNCTION + (
        "debug.enable_dump_debug_info(sys.argv[1], 'FULL_HEALTH', -1)\nf(tf.constant([float(sys.argv[2])]))\n"
    )
    for value in ("1.0", "0.0"):
        run(code, str(tmp_path), value)
    assert [recorded.rows("Log")[0]["neg_inf"] for recorded in traces(tmp_path)] == [0, 1]


def test_functions_are_not_kept_alive(tmp_path: Path) -> None:
    enable_dump_debug_info(tmp_path, "FULL_HEALTH", ALL_EVENTS)

    def made():
        function = tf.function(lambda x: tf.math.log(x) * 2.0)
        concrete = function.get_concrete_function(tf.TensorSpec([2]))
        concrete(tf.constant([1.0, 2.0]))
        function(tf.constant([1.0, 2.0]))
        return weakref.ref(concrete), weakref.ref(concrete.graph)

    references = made()
    gc.collect()
    tf.exp(1.0)  # recording goes on
    assert [reference() for reference in references] == [None, None]
