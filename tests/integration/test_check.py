"""The program stops at the first op that makes a bad value, and only there: real TensorFlow, with the check on."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

import tdbg
from tdbg.capture import faults

tf = pytest.importorskip("tensorflow")

from tdbg.frameworks.tensorflow.capture.checks import BadValueError  # noqa: E402
from tdbg.tensorflow import disable_check_numerics, enable_check_numerics  # noqa: E402

INF = float("inf")
Stopped = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def check(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the check on, and with faults of tdbg raised."""
    monkeypatch.setenv("TDBG_STRICT", "1")
    enable_check_numerics()
    yield
    disable_check_numerics()


def stopped_by(function: Any, *arguments: Any) -> str:
    """The message of the error that the function must raise."""
    with pytest.raises(Stopped) as caught:
        function(*arguments)
    assert "tdbg: " in caught.value.message, caught.value.message
    return "tdbg: " + caught.value.message.split("tdbg: ", 1)[1]


def here(mark: str) -> str:
    return f"test_check.py:{line_with(__file__, mark)} in "


# ---- where it stops


def log_of(x: Any) -> Any:
    scaled = x * 2.0  # the product
    return tf.reduce_sum(tf.math.log(scaled))  # the log


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_line_op_numbers_and_inputs(as_graph: bool) -> None:
    function = tf.function(log_of) if as_graph else log_of
    assert float(function(tf.constant([0.5, 0.5]))) == 0.0
    text = stopped_by(function, tf.constant([1.0, 0.0, 0.0]))
    lines = text.splitlines()
    assert lines[0] == "tdbg: Log made -inf ×2 of 3 from finite values"
    assert here("the log") + "log_of  return tf.reduce_sum(tf.math.log(scaled))" in lines[1]
    assert "output 0 of Log: float32, shape (3,)" in text
    (given,) = [line for line in lines if line.startswith("    input 0: ")]
    assert "min 0, max 2, 2 of 3 zero; from Mul" in given
    assert here("the product") in given
    assert any(line.startswith("    -> ") and here("the log") in line for line in lines[4:])
    # The words of TensorFlow's own check, for which scripts look.
    kind = "graph" if as_graph else "eagerly-executing"
    at = lines.index(f'    Detected Infinity or NaN in output 0 of {kind} op "Log"')
    told = ["dtype: float32", "shape: (3,)", "# of -Inf elements: 2"]
    assert [line.strip() for line in lines[at + 1 : at + 4]] == told


def test_an_eager_error_is_tensorflows_own_kind_and_can_be_pickled() -> None:
    with pytest.raises(BadValueError) as caught:
        tf.math.log(tf.constant(-1.0))
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)
    assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_gradients_name_the_forward_line(as_graph: bool) -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)  # the root
        return tape.gradient(y, x)

    text = stopped_by(tf.function(slope) if as_graph else slope, tf.constant([0.0, 1.0]))
    assert text.startswith("tdbg: SqrtGrad made +inf ×1 of 2 from finite values in a gradient")
    assert "the gradient of Sqrt at " in text
    assert here("the root") in text


def test_a_custom_gradient() -> None:
    @tf.custom_gradient
    def clever(x):
        return tf.sin(x), lambda upstream: upstream / (x - x)  # the clever slope

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clever(x)
        return tape.gradient(y, x)

    text = stopped_by(slope, tf.constant(1.0))
    assert text.startswith("tdbg: RealDiv made +inf")
    assert here("the clever slope") in text


def test_loops_name_the_iteration_and_inner_functions_the_graph() -> None:
    @tf.function
    def inverse(x):
        return 1.0 / x  # the inverse

    @tf.function
    def count_down(x):
        y = x
        for _ in tf.range(5):
            x = x - 1.0
            y = inverse(x)
        return y

    text = stopped_by(count_down, tf.constant(3.0))
    assert text.startswith("tdbg: RealDiv made +inf ×1 of 1")
    assert here("the inverse") in text
    assert "graph inverse" in text

    @tf.function
    def loop(x):
        return tf.while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, 1.0 / (2.0 - tf.cast(n, tf.float32))), [0, x])

    assert "iteration 2)" in stopped_by(loop, tf.constant(1.0))


def test_conditionals_stop_only_in_the_branch_that_runs() -> None:
    safe = tf.function(lambda x: tf.cond(x > 0.0, lambda: tf.math.log(x), lambda: 0.0 * x))
    assert float(safe(tf.constant(0.0))) == 0.0
    wrong = tf.function(lambda x: tf.cond(x >= 0.0, lambda: tf.math.log(x), lambda: 0.0 * x))
    assert stopped_by(wrong, tf.constant(0.0)).startswith("tdbg: Log made -inf")


def test_a_constant_that_tensorflow_folds() -> None:
    assert stopped_by(tf.function(lambda: tf.math.log(tf.constant(0.0)))).startswith("tdbg: Log made -inf")


@pytest.mark.parametrize("parallel", [None, 2])
def test_data_sets(parallel: int | None) -> None:
    data = tf.data.Dataset.range(3).map(lambda n: 1.0 / (1.0 - tf.cast(n, tf.float32)), num_parallel_calls=parallel)
    seen = []

    def read() -> None:
        for value in data:
            seen.append(float(value))

    assert "RealDiv made +inf" in stopped_by(read)
    assert seen == [1.0]


def test_python_code_in_graphs() -> None:
    def in_numpy(x):
        with np.errstate(all="ignore"):
            return np.log(x)

    function = tf.function(lambda x: tf.numpy_function(in_numpy, [x], tf.float32) + 1.0)
    assert float(function(tf.constant(1.0))) == 1.0
    assert "made -inf" in stopped_by(function, tf.constant(0.0)).splitlines()[0]
    eager = tf.function(lambda x: tf.py_function(tf.math.log, [x], tf.float32))
    assert "Log made -inf" in stopped_by(eager, tf.constant(0.0))


def test_other_threads() -> None:
    problems: list[str] = []

    def work() -> None:
        for function in (log_of, tf.function(log_of)):
            try:
                function(tf.constant([0.0]))
            except Stopped as error:
                problems.append(error.message)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(problems) == 8
    assert all("tdbg: Log made -inf ×1 of 1" in text for text in problems)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_types(dtype: str) -> None:
    big = tf.constant(2.0, dtype)
    assert f"{dtype}, shape ()" in stopped_by(lambda: tf.pow(big, tf.constant(20000.0, dtype)))
    assert stopped_by(tf.function(tf.pow), big, tf.constant(20000.0, dtype)).startswith("tdbg: Pow made +inf")


# ---- Keras


def model_of(loss: Any, **options: Any) -> Any:
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(4, "relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("adam", loss, **options)
    return model


def log_loss(y_true: Any, y_pred: Any) -> Any:
    return tf.reduce_mean(tf.math.log(y_pred - 100.0))  # the loss


DATA = np.linspace(0, 1, 32).reshape(16, 2).astype("float32")


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["graph", "xla", "eager"])
def test_keras_fit(options: dict[str, Any]) -> None:
    healthy = model_of("mse", **options)
    assert np.isfinite(healthy.fit(DATA, DATA[:, :1], verbose=0).history["loss"][0])
    text = stopped_by(lambda: model_of(log_loss, **options).fit(DATA, DATA[:, :1], verbose=0))
    assert text.startswith("tdbg: Log made NaN ×16 of 16 from finite values")
    assert here("the loss") in text


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_saving_exporting_copying_and_pickling(tmp_path: Path) -> None:
    model = model_of("mse")
    model.fit(DATA, DATA[:, :1], verbose=0)
    expected = model.predict(DATA, verbose=0)
    model.save(tmp_path / "model.keras")
    model.export(tmp_path / "exported", verbose=False)
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    for other in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(other.predict(DATA, verbose=0), expected, rtol=1e-5)
    exported = tf.saved_model.load(str(tmp_path / "exported"))
    np.testing.assert_allclose(exported.serve(DATA), expected, rtol=1e-5)
    assert b"Tdbg" not in (tmp_path / "exported" / "saved_model.pb").read_bytes()


# ---- where it does not stop


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_masks_of_minus_infinity_pass(as_graph: bool) -> None:
    def attention(scores: Any, mask: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(scores)
            masked = tf.where(mask, scores, -INF)
            added = scores + tf.constant([0.0, 0.0, -INF])
            result = tf.reduce_sum(tf.nn.softmax(masked) * tf.nn.softmax(added))
        return tape.gradient(result, scores)

    function = tf.function(attention) if as_graph else attention
    gradient = function(tf.constant([[1.0, 2.0, 3.0]]), tf.constant([[True, True, False]]))
    assert np.isfinite(gradient.numpy()).all()


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_a_row_that_is_masked_everywhere_stops(as_graph: bool) -> None:
    def attention(scores: Any) -> Any:
        return tf.nn.softmax(scores + tf.constant([-INF, -INF]))

    text = stopped_by(tf.function(attention) if as_graph else attention, tf.constant([1.0, 2.0]))
    assert text.startswith("tdbg: Softmax made NaN ×2 of 2 from values without NaN")


@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_values_that_came_in_bad_pass(as_graph: bool) -> None:
    variable = tf.Variable([1.0, float("nan")])

    def repaired(x: Any) -> Any:
        both = variable + x
        return tf.where(tf.math.is_finite(both), both, 0.0)

    function = tf.function(repaired) if as_graph else repaired
    assert function(tf.constant([INF, 1.0])).numpy().tolist() == [0.0, 0.0]
    data = tf.data.Dataset.from_tensor_slices([1.0, float("nan")]).map(lambda x: x * 2.0)
    first, second = [float(value) for value in data]
    assert first == 2.0
    assert np.isnan(second)


def test_statistics_of_an_empty_batch_pass() -> None:
    function = tf.function(lambda x: tf.compat.v1.nn.fused_batch_norm(x, [1.0], [0.0], is_training=True)[0])
    assert function(tf.zeros([0, 2, 2, 1])).shape == (0, 2, 2, 1)


# ---- on and off


def test_twice_on_and_twice_off() -> None:
    function = tf.function(log_of)
    enable_check_numerics()
    assert "Log" in stopped_by(function, tf.constant([0.0]))
    disable_check_numerics()
    for _ in range(2):
        assert float(function(tf.constant([0.0]))) == -INF
        assert float(log_of(tf.constant([0.0]))) == -INF
        disable_check_numerics()
    enable_check_numerics()
    assert "Log" in stopped_by(function, tf.constant([0.0]))


def test_everything_is_as_it_was_afterwards() -> None:
    from tensorflow.python.eager import context, execute
    from tensorflow.python.eager.polymorphic_function import atomic_function, function_context, polymorphic_function

    def state() -> list[Any]:
        names = [execute.execute, list(context.context().op_callbacks), atomic_function.from_func_graph]
        return [*names, function_context.make_function_context, polymorphic_function.OptionalXlaContext]

    on = state()
    disable_check_numerics()
    off = state()
    enable_check_numerics()
    disable_check_numerics()
    assert state() == off
    assert off != on


def test_a_function_that_was_traced_under_the_check_goes_on_after_it() -> None:
    concrete = tf.function(log_of).get_concrete_function(tf.TensorSpec([1]))
    assert "Log" in stopped_by(concrete, tf.constant([0.0]))
    disable_check_numerics()
    assert float(concrete(tf.constant([0.0]))) == -INF


def test_limits() -> None:
    enable_check_numerics(stack_height_limit=2, path_length_limit=10)
    text = stopped_by(tf.function(log_of), tf.constant([0.0]))
    stack = text.split("Stack trace of op's creation")[1].splitlines()[1:]
    assert len([line for line in stack if " in " in line and line.startswith("    ")]) == 2
    assert f" -> ...t_check.py:{line_with(__file__, 'the log')} in log_of" in text


def test_nothing_is_written_or_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tdbg import native

    monkeypatch.chdir(tmp_path)
    before = native.events().counters()
    model_of("mse").fit(DATA, DATA[:, :1], verbose=0)
    log_of(tf.constant([1.0]))
    assert native.events().counters() == before
    assert list(tmp_path.iterdir()) == []


# ---- beside a recording, and beside TensorFlow's own


@pytest.mark.parametrize("order", ["check first", "recording first"])
def test_with_a_recording(tmp_path: Path, order: str) -> None:
    function = tf.function(log_of)
    if order == "recording first":
        disable_check_numerics()
    with record(tmp_path) as run:
        if order == "recording first":
            assert float(function(tf.constant([0.0, 1.0]))) == -INF
            enable_check_numerics()
        assert "Log made" in stopped_by(function, tf.constant([0.0]))
        assert "Log made" in stopped_by(log_of, tf.constant([0.0]))
    assert [row["neg_inf"] for row in run.rows("Log")][-2:] == [1, 1]
    assert run.trace.problems == []
    assert "Log made" in stopped_by(function, tf.constant([0.0]))
    disable_check_numerics()
    assert float(function(tf.constant([0.0]))) == -INF


def test_the_check_of_a_recording_ends_with_it(tmp_path: Path) -> None:
    disable_check_numerics()
    function = tf.function(log_of)
    with record(tmp_path, check=True, ops="Sin", steps="5:") as run:
        assert "Log made" in stopped_by(function, tf.constant([0.0]))
        assert "Log made" in stopped_by(log_of, tf.constant([0.0]))
    assert run.rows("Log") == run.rows("Mul") == []  # filters say what is recorded, not what is checked
    assert run.trace.processes[0].info["mode"] == "health"
    assert float(function(tf.constant([0.0]))) == -INF


@pytest.mark.parametrize("first", ["tdbg", "TensorFlow"])
@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_beside_tensorflows_own_check(first: str, as_graph: bool) -> None:
    def function(x):
        return tf.math.log(x) * 2.0

    if first == "TensorFlow":
        disable_check_numerics()
    tf.debugging.enable_check_numerics()
    try:
        enable_check_numerics()
        called = tf.function(function) if as_graph else function
        assert float(called(tf.constant(1.0))) == 0.0
        with pytest.raises(Stopped, match=r"Detected Infinity or NaN|tdbg: Log made"):
            called(tf.constant(0.0))
    finally:
        tf.debugging.disable_check_numerics()


SCRIPT = """
import sys
import tensorflow as tf
if "dump" in sys.argv:
    tf.debugging.experimental.enable_dump_debug_info("dump", "FULL_HEALTH", circular_buffer_size=-1)
if "enable" in sys.argv:
    from tdbg.tensorflow import enable_check_numerics
    enable_check_numerics()

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.log(x))

print("first", float(loss(tf.constant([1.0]))))
print("second", float(loss(tf.constant([0.0]))))
"""


def python(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(SCRIPT)
    source = str(Path(tdbg.__file__).parents[1])
    variables = os.environ | {"PYTHONPATH": source, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"} | environment
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=variables, capture_output=True, text=True, timeout=240
    )


def test_beside_debugger_v2(tmp_path: Path) -> None:
    ran = python(tmp_path, "train.py", "dump", "enable")
    assert ran.stdout == "first 0.0\n"
    assert "tdbg: Log made -inf" in ran.stderr
    assert "RecursionError" not in ran.stderr


@pytest.mark.parametrize("native", ["1", "0"])
def test_tdbg_run_with_check(tmp_path: Path, native: str) -> None:
    ran = python(tmp_path, "-m", "tdbg", "run", "--check", "-o", "run.tdbg", "train.py", TDBG_NATIVE=native)
    assert ran.returncode == 1
    assert ran.stdout == "first 0.0\n"
    assert "InvalidArgumentError" in ran.stderr
    assert "tdbg: Log made -inf ×1 of 1 from finite values" in ran.stderr
    verdict = ran.stderr[ran.stderr.rindex("tdbg: first bad value at step 0") :]
    assert "Log" in verdict.splitlines()[0]
    assert " -> train.py:12" in verdict
    assert tdbg.open(tmp_path / "run.tdbg").processes[0].info["mode"] == "health"


def test_without_the_compiled_extension(tmp_path: Path) -> None:
    ran = python(tmp_path, "train.py", "enable", TDBG_NATIVE="0")
    assert ran.stdout == "first 0.0\n"
    assert "tdbg: Log made -inf ×1 of 1 from finite values" in ran.stderr
    assert "InvalidArgumentError" in ran.stderr


def test_no_faults_were_counted() -> None:
    assert faults.counts == {}
