"""The program comes first: with tdbg on, off, and on again it computes, raises and saves what it does without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import record

import tdbg
from tdbg.capture import faults
from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.capture.graphs import Graphs

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


def python(folder: Path, code: str, *arguments: str, with_tdbg: bool = True) -> Any:
    """Runs code in a process of its own; what it prints last is JSON."""
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    source = str(Path(tdbg.__file__).parents[1])
    environment["PYTHONPATH"] = source if with_tdbg else ""
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


# ---- the same numbers

TRAINS = """
import json, sys
import numpy as np
import tensorflow as tf
import tdbg

tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)
rng = np.random.default_rng(0)
inputs = rng.normal(size=(64, 8)).astype(np.float32)
targets = np.tanh(inputs[:, :1])

def custom(as_graph):
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(16, "relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.2),
              tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.build((None, 8))
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
    step = tf.function(step) if as_graph else step
    return [float(step(tf.constant(inputs), tf.constant(targets))).hex() for _ in range(8)]

def fit():
    tf.keras.utils.set_random_seed(2)
    model = tf.keras.Sequential([tf.keras.layers.Reshape((4, 2, 1)), tf.keras.layers.Conv2D(4, 2, activation="gelu"),
                                 tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(inputs, targets, batch_size=16, epochs=3, verbose=0)
    return [loss.hex() for loss in history.history["loss"]]

class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.last = tf.keras.layers.Dense(3)

    def call(self, x):
        return tf.nn.softmax(self.last(x))

def entropy():
    # A loss of Keras takes the logits behind the op Softmax, if it finds it, whatever it was told.
    tf.keras.utils.set_random_seed(3)
    found = []
    for from_logits in (False, True):
        model = Classifier()
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits))
        history = model.fit(inputs, (inputs[:, 0] > 0).astype(int), batch_size=16, epochs=2, verbose=0)
        found += [loss.hex() for loss in history.history["loss"]]
    return found

def all_of_it():
    return {"graph": custom(True), "eager": custom(False), "fit": fit(), "entropy": entropy()}

results = {}
for grappler in ("off", "on"):
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": grappler == "off"})
    results[grappler] = [all_of_it(), all_of_it()]  # twice, to know that the program itself is deterministic
    for mode in ("numerics", "health")[: 1 if grappler == "off" else 2]:
        with tdbg.watch(f"{grappler}-{mode}.tdbg", mode=mode):
            results[grappler].append(all_of_it())
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, list[str]]]]:
    """Per setting of Grappler (TensorFlow optimizes graphs): plain, plain again, recorded (with it: in two modes)."""
    return python(tmp_path_factory.mktemp("losses"), TRAINS)


@pytest.mark.parametrize("which", ["graph", "eager", "fit", "entropy"])
def test_losses_are_the_same_bit_for_bit_without_grappler(losses: Any, which: str) -> None:
    plain, again, recorded = [run[which] for run in losses["off"]]
    assert plain == again
    assert recorded == plain


@pytest.mark.parametrize("which", ["graph", "eager", "fit", "entropy"])
def test_losses_are_nearly_the_same_with_grappler(losses: Any, which: str) -> None:
    plain, again, numerics, health = [[float.fromhex(x) for x in run[which]] for run in losses["on"]]
    assert plain == again
    assert numerics == pytest.approx(plain, rel=1e-6)
    assert health == pytest.approx(plain, rel=1e-6)


# ---- on and off


def test_on_and_off_many_times(tmp_path: Path) -> None:
    before = tf.function(lambda x: tf.sin(x) * 2.0)
    expected = float(before(tf.constant(0.5)))
    functions = [before]
    traces = []
    for turn in range(20):
        with record(tmp_path, str(turn)) as run:
            during = tf.function(lambda x: tf.cos(x))
            functions.append(during)
            for function in functions[-3:]:
                function(tf.constant(0.5))
            assert float(before(tf.constant(0.5))) == expected
        traces.append(run)
        between = tf.function(lambda x: tf.tan(x))
        between(tf.constant(0.5))
        functions.append(between)
        assert float(before(tf.constant(0.5))) == expected
    assert before.experimental_get_tracing_count() == 21
    for run in traces:
        assert run.rows("Sin")
        assert run.rows("Cos")
        assert run.trace.problems == []
    assert traces[0].rows("Tan") == []
    assert traces[5].rows("Tan")


def test_two_threads_switch_it_at_once(tmp_path: Path) -> None:
    from tensorflow.python.eager import context, execute

    function = tf.function(lambda x: tf.sin(x) * 2.0)
    expected = float(function(tf.constant(0.5)))
    start, refused = threading.Barrier(4), []

    def switch(name: int) -> None:
        for turn in range(15):
            start.wait()
            try:
                tdbg.enable(tmp_path / f"{name}-{turn}.tdbg")
            except TdbgError as error:
                refused.append(str(error))
            tdbg.disable()

    threads = [threading.Thread(target=switch, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tdbg.disable()
    # then everything is as it was before, and the next recording is a whole one
    assert set(refused) <= {"tdbg is already recording; call tdbg.disable() first"}
    assert context.context().op_callbacks == []
    assert execute.execute is execute.quick_execute
    assert float(function(tf.constant(0.5))) == expected
    with record(tmp_path) as run:
        function(tf.constant(0.5))
        tf.tan(0.5)
    assert run.rows("Sin")
    assert run.rows("Tan")
    assert run.trace.problems == []


def test_after_disable_everything_is_as_it_was(tmp_path: Path) -> None:
    from tensorflow.python.eager import backprop, context, execute
    from tensorflow.python.eager.polymorphic_function import atomic_function, function_context
    from tensorflow.python.ops import gradients_util

    def state() -> list[Any]:
        return [
            execute.execute,
            list(context.context().op_callbacks),
            atomic_function.AtomicFunction.__dict__.get("call_flat"),
            atomic_function.from_func_graph,
            function_context.make_function_context,
            backprop.GradientTape._push_tape,
            gradients_util._MaybeCompile,
            threading.Thread._bootstrap_inner,  # type: ignore[attr-defined]
        ]

    before = state()
    with record(tmp_path):
        tf.function(lambda x: x + 1.0)(tf.constant(1.0))
        assert state() != before
    assert state() == before


def test_a_function_traced_before_is_seen(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.sin(x))
    function(tf.constant(0.5))
    with record(tmp_path) as run:
        function(tf.constant(0.5))
    assert len(run.rows("Sin")) == 1


def test_a_function_traced_under_tdbg_works_after_it_and_records_nothing(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.sin(x))
    with record(tmp_path, "first") as first:
        concrete = function.get_concrete_function(tf.TensorSpec([]))
    assert float(concrete(tf.constant(0.5))) == pytest.approx(np.sin(0.5))
    assert first.rows("Sin") == []
    with record(tmp_path, "second") as second:
        assert float(function(tf.constant(0.5))) == pytest.approx(np.sin(0.5))
    assert len(second.rows("Sin")) == 1
    assert not any("Tdbg" in op.type for op in function.get_concrete_function(tf.TensorSpec([])).graph.get_operations())


def test_threads_go_on_while_it_is_switched(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.sin(x) + x)
    stop, problems = threading.Event(), []

    def work(number: float) -> None:
        try:
            while not stop.is_set():
                assert float(function(tf.constant(number))) == pytest.approx(np.sin(number) + number)
                assert float(tf.cos(tf.constant(number))) == pytest.approx(np.cos(number), abs=1e-6)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 4)]
    for thread in threads:
        thread.start()
    for turn in range(5):
        with record(tmp_path, str(turn)) as run:
            for _ in range(20):
                function(tf.constant(9.0))
        assert len(run.rows("Sin")) >= 20
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []


# ---- beside TensorFlow's own debugger


@pytest.fixture
def check_numerics() -> Iterator[Any]:
    yield tf.debugging.enable_check_numerics
    tf.debugging.disable_check_numerics()


@pytest.mark.parametrize("first", ["tdbg", "TensorFlow"])
@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_check_numerics_raises_as_ever(tmp_path: Path, check_numerics: Any, first: str, as_graph: bool) -> None:
    def log(x: Any) -> Any:
        return tf.math.log(x) * 2.0

    function = tf.function(log) if as_graph else log
    if first == "TensorFlow":
        check_numerics()
    with record(tmp_path) as run:
        if first == "tdbg":
            check_numerics()
        assert float(function(tf.constant(1.0))) == 0.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity or NaN"):
            function(tf.constant(0.0))
    assert [row["neg_inf"] for row in run.rows("Log")] == [0, 1]
    if as_graph:
        (product,), (logarithm,) = run.ops_of("Mul"), run.ops_of("Log")
        assert product["input_ops"][0] == logarithm["op"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity or NaN"):
        function(tf.constant(0.0))


DUMPS = """
import json, sys
import tensorflow as tf
import tdbg

folder, order = sys.argv[1:]
function = tf.function(lambda x: tf.math.log(x) * 2.0)
dump = lambda: tf.debugging.experimental.enable_dump_debug_info(folder, "FULL_HEALTH", circular_buffer_size=-1)
if order == "TensorFlow":
    writer = dump()
tdbg.enable(folder + ".tdbg")
if order == "tdbg":
    writer = dump()
result = float(function(tf.constant(4.0)))
writer.FlushNonExecutionFiles()
writer.FlushExecutionFiles()
tf.debugging.experimental.disable_dump_debug_info()
tdbg.disable()
from tensorflow.python.debug.lib import debug_events_reader
with debug_events_reader.DebugDataReader(folder) as reader:
    reader.update()
    dumped = [trace.op_type for trace in reader.graph_execution_traces()]
types = {row["op"]: row["type"] for row in tdbg.open(folder + ".tdbg").table("ops").to_pylist()}
rows = [types[row["op"]] for row in tdbg.open(folder + ".tdbg").table("tensors").to_pylist()]
print(json.dumps([result, dumped, rows]))
"""


@pytest.mark.parametrize("first", ["tdbg", "TensorFlow"])
def test_dump_debug_info_beside_tdbg(tmp_path: Path, first: str) -> None:
    result, dumped, rows = python(tmp_path, DUMPS, "dump", first)
    assert result == pytest.approx(2 * np.log(4.0))
    assert {"Log", "Mul"} <= set(dumped)
    assert {"Log", "Mul"} <= set(rows)


def test_a_users_own_callback_goes_on(tmp_path: Path) -> None:
    from tensorflow.python.framework import op_callbacks

    seen: list[str] = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        seen.append(op_type if isinstance(op_type, str) else op_type.decode())

    op_callbacks.add_op_callback(callback)
    try:
        with record(tmp_path) as run:
            tf.sin(tf.constant(1.0))
            tf.function(lambda x: tf.cos(x))(tf.constant(1.0))
        tf.tan(tf.constant(1.0))
        tf.math.log([1.0])
    finally:
        op_callbacks.remove_op_callback(callback)
    assert {"Sin", "Cos", "Tan", "Log"} <= set(seen)
    assert run.rows("Sin")
    assert run.rows("Cos")


# ---- saving


LOADS = """
import json, sys
import tensorflow as tf
assert "tdbg" not in sys.modules
x = tf.constant([[0.5, 0.25]])
module = tf.saved_model.load("module")
exported = tf.saved_model.load("exported")
model = tf.keras.models.load_model("model.keras")
print(json.dumps([module(x[0]).numpy().tolist(), exported.serve(x).numpy().tolist(), model(x).numpy().tolist()]))
"""


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning")
def test_what_was_saved_under_tdbg_loads_without_it(tmp_path: Path) -> None:
    class Module(tf.Module):
        def __init__(self):
            self.scale = tf.Variable([2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def __call__(self, x):
            y = tf.math.log(x) / self.scale
            for _ in tf.range(3):
                y = tf.cond(tf.reduce_sum(y) > 0.0, lambda y=y: tf.sin(y), lambda y=y: y * self.scale)
            return y

    module = Module()
    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = tf.constant([[0.5, 0.25]])
    with record(tmp_path):
        model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
        expected = [module(x[0]).numpy().tolist(), model(x).numpy().tolist(), model(x).numpy().tolist()]
        tf.saved_model.save(module, str(tmp_path / "module"))
        model.export(str(tmp_path / "exported"), verbose=False)
        model.save(tmp_path / "model.keras")
        weights = [np.copy(weight) for weight in model.get_weights()]
    loaded = python(tmp_path, LOADS, with_tdbg=False)
    assert [np.ravel(result) for result in loaded] == [pytest.approx(np.ravel(result)) for result in expected]
    kept = tf.keras.models.load_model(tmp_path / "model.keras").get_weights()
    assert all(np.array_equal(mine, saved) for mine, saved in zip(weights, kept, strict=True))


# ---- every kind of function


def check_same(tmp_path: Path, function: Any, *arguments: Any) -> Any:
    plain = function(*arguments)
    with record(tmp_path) as run:
        recorded = function(*arguments)
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6) if a.dtype != tf.string else None, plain, recorded
    )
    return run


def test_functions_with_signatures(tmp_path: Path) -> None:
    reduced = tf.function(lambda x: tf.sin(x), reduce_retracing=True)
    signed = tf.function(lambda x: tf.cos(x), input_signature=[tf.TensorSpec([None], tf.float32)])
    with record(tmp_path) as run:
        for size in range(1, 5):
            reduced(tf.ones([size]))
            signed(tf.ones([size]))
    assert [row["dims"] for row in run.rows("Sin")] == [(1,), (2,), (3,), (4,)]
    assert [row["dims"] for row in run.rows("Cos")] == [(1,), (2,), (3,), (4,)]
    assert len(run.ops_of("Sin")) == 2
    assert len(run.ops_of("Cos")) == 1


def test_numpy_and_python_arguments(tmp_path: Path) -> None:
    function = tf.function(lambda x, y, flag=True: tf.add(x, y) if flag else tf.subtract(x, y))
    run = check_same(tmp_path, function, np.array([1.0, 2.0], np.float32), 3.0)
    assert [row["max"] for row in run.rows("AddV2")] == [5.0]


def test_generators(tmp_path: Path) -> None:
    def numbers():
        for n in range(3):
            yield float(tf.sqrt(tf.constant(float(n))))

    with record(tmp_path) as run:
        dataset = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([]))
        assert [float(x) for x in dataset] == pytest.approx([0.0, 1.0, 2.0**0.5])
    assert len(run.rows("Sqrt")) == 3


def test_ragged_sparse_and_strings(tmp_path: Path) -> None:
    @tf.function
    def compute(ragged, sparse, text):
        dense = tf.sparse.to_dense(tf.sparse.map_values(tf.exp, sparse))
        return tf.reduce_sum(tf.sin(ragged), axis=1), dense, tf.strings.upper(text)

    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.sparse.from_dense([[0.0, 2.0]])
    run = check_same(tmp_path, compute, ragged, sparse, tf.constant(["a"]))
    assert {row["dims"] for row in run.rows("Sin")} == {(3,)}
    assert {"Exp", "StringUpper"} <= run.op_types()


def test_python_code_inside_a_graph(tmp_path: Path) -> None:
    @tf.function
    def mixed(x):
        y = tf.py_function(lambda v: tf.sqrt(v) + 1.0, [x], tf.float32)
        z = tf.numpy_function(lambda v: np.cbrt(v), [x], tf.float32)
        return tf.ensure_shape(y, []) + tf.ensure_shape(z, [])

    run = check_same(tmp_path, mixed, tf.constant(64.0))
    assert [row["max"] for row in run.rows("Sqrt", eager=True)] == [8.0]
    assert {row["max"] for row in run.rows("AddV2")} == {9.0, 13.0}


def test_gradients_through_everything(tmp_path: Path) -> None:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for n in tf.range(3):
                y = tf.cond(n < 2, lambda y=y: tf.sin(y) * y, lambda y=y: tf.exp(y))
            y = tf.map_fn(tf.tanh, y)
        return tape.gradient(y, x)

    check_same(tmp_path, slope, tf.constant([0.5, 0.25]))


# ---- errors


def test_errors_inside_graphs_arrive_unchanged(tmp_path: Path) -> None:
    @tf.function
    def checked(x):
        tf.debugging.assert_less(x, 1.0, message="too large")
        return tf.sqrt(x)

    @tf.function
    def wrong(x):
        return tf.matmul(x, tf.ones([3, 3]))

    def raised(function: Any, argument: Any) -> tuple[type, str]:
        with pytest.raises(Exception) as caught:
            function(argument)
        return caught.type, str(caught.value).split("\n")[0]

    for name, function, argument in (
        ("assertion", checked, tf.constant(2.0)),
        ("shapes", wrong, tf.ones([2, 2])),
        ("type", tf.sqrt, "text"),
    ):
        plain = raised(function, argument)
        with record(tmp_path, name):
            assert raised(function, argument) == plain


def test_a_fault_of_tdbg_is_one_line(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    function = tf.function(lambda x: tf.sin(x) + tf.cos(x))
    expected = float(function(tf.constant(0.5)))
    monkeypatch.delenv("TDBG_STRICT")
    monkeypatch.setattr(faults, "counts", {})

    def broken(*_: Any) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Graphs, "created", broken)
    capfd.readouterr()
    with record(tmp_path) as run:
        assert float(function(tf.constant(0.5))) == expected
        assert float(function(tf.constant(0.5))) == expected
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("tdbg:")]
    assert len(said) == 1
    assert "broken on purpose" in said[0]
    assert sum(faults.counts.values()) > 1
    assert run.rows("Sin") == []


def test_a_disk_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((tdbg.TdbgError, OSError)):
        tdbg.enable(tmp_path / "file" / "run.tdbg")
    assert float(tf.sin(tf.constant(0.0))) == 0.0
    with record(tmp_path) as run:
        tf.sin(tf.constant(1.0))
    assert run.rows("Sin")
