"""Small TensorFlow programs are recorded: which rows there are, what they say and whose line they name."""

from __future__ import annotations

import linecache
import re
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, line_with, record

import tdbg
from tdbg.model import DType, Flag, Phase
from tdbg.native import reference

tf = pytest.importorskip("tensorflow")

CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
OURS = {"TdbgObserve", "TdbgWatch", "PyFunc", "PyFuncStateless"}


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


def here(mark: str) -> tuple[str, int]:
    return __file__, line_with(__file__, mark)


# ---- eager ops


def test_every_eager_op_has_a_row_with_its_line(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        x = tf.constant([1.0, 4.0])
        root = tf.sqrt(x)  # the root
        tf.reduce_sum(root * x)  # product and sum
    assert [row["of"]["type"] for row in run.tensors if not row["flags"] & Flag.INPUT] == ["Sqrt", "Mul", "Sum"]
    lines = {op["type"]: run.line(op) for op in run.ops.values()}
    assert lines == {"Sqrt": here("the root"), "Mul": here("product and sum"), "Sum": here("product and sum")}


def test_an_eager_op_names_the_tensors_that_went_in(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        x = tf.constant([1.0, 4.0])
        tf.sqrt(x) * tf.exp(x)
    (root,), (exponential,), (product,) = run.rows("Sqrt"), run.rows("Exp"), run.rows("Mul")
    assert run.call(product["execution"])["inputs"] == [root["tensor"], exponential["tensor"]]
    (entered,) = [row for row in run.tensors if row["flags"] & Flag.INPUT]
    assert run.call(root["execution"])["inputs"] == run.call(exponential["execution"])["inputs"] == [entered["tensor"]]
    assert (entered["min"], entered["max"]) == (1.0, 4.0)


@pytest.mark.parametrize(
    ("expected", "compute"),
    {
        "a Python list": ("Log", lambda: tf.math.log([1.0, 2.0])),
        "a Python number": ("Fill", lambda: tf.fill([2], 3.0)),
        "a shape": ("Reshape", lambda: tf.reshape(tf.constant([1.0, 2.0]), [2, 1])),
        "a condition": ("SelectV2", lambda: tf.where([True, False], tf.constant([1.0, 2.0]), 0.0)),
        "a numpy array": ("AddV2", lambda: tf.add(np.ones(2, np.float32), 2.0)),
        "a variable": ("ResourceGather", lambda: tf.gather(tf.Variable([1.0, 2.0]), [1])),
        "a raw op": ("Exp", lambda: tf.raw_ops.Exp(x=tf.constant([1.0]))),
    }.values(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_eager_op_is_seen_however_its_inputs_come(tmp_path: Path, expected: str, compute: Any) -> None:
    with record(tmp_path) as run:
        result = compute()
    row = run.rows(expected)[-1]
    assert row["dims"] == tuple(result.shape)
    assert row["max"] == pytest.approx(float(tf.reduce_max(result)))


def test_one_place_of_the_program_is_one_op(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        x = tf.constant(1.0)
        for _ in range(5):
            x = x + 1.0
    assert len(run.ops_of("AddV2")) == 1
    assert [row["max"] for row in run.rows("AddV2")] == [2.0, 3.0, 4.0, 5.0, 6.0]


def test_strings_and_resources_are_ops_without_rows(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        tf.strings.join(["a", tf.constant("b")])
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0).lookup(tf.constant(["a"]))
    assert {"StringJoin", "LookupTableFindV2"} <= run.op_types()
    assert run.rows("StringJoin") == []


# ---- functions


def test_ops_of_a_function_with_their_lines(tmp_path: Path) -> None:
    @tf.function
    def scaled(x):
        y = tf.tanh(x)  # inside
        return y * 3.0

    with record(tmp_path) as run:
        scaled(tf.constant([0.5]))
        scaled(tf.constant([0.25]))
    assert [row["max"] for row in run.rows("Tanh")] == pytest.approx([np.tanh(0.5), np.tanh(0.25)])
    assert len(run.ops_of("Tanh")) == 1
    assert run.line(run.ops_of("Tanh")[0]) == here("inside")
    executions = [row["execution"] for row in run.rows("Tanh")]
    assert executions == [row["execution"] for row in run.rows("Mul")]
    assert len(set(executions)) == 2
    graphs = {run.call(execution)["graph"] for execution in executions}
    assert graphs == {run.ops_of("Tanh")[0]["graph"]}


def test_arguments_and_results_join_the_calls(tmp_path: Path) -> None:
    @tf.function
    def twice(x):
        return x * 2.0

    with record(tmp_path) as run:
        given = tf.sqrt(tf.constant([9.0]))
        tf.exp(twice(given))
    (argument,) = [row for row in run.tensors if row["of"]["type"] == "Placeholder"]
    assert argument["flags"] & Flag.INPUT
    assert argument["max"] == 3.0
    call = run.call(argument["execution"])
    assert call["inputs"] == [run.rows("Sqrt")[0]["tensor"]]
    (end,) = [row for row in run.table("ends") if row["execution"] == call["execution"]]
    assert not end["failed"]
    assert end["outputs"] == run.call(run.rows("Exp")[0]["execution"])["inputs"]


def test_nested_functions_belong_to_the_outer_call(tmp_path: Path) -> None:
    @tf.function
    def inner(x):
        return tf.sin(x)

    @tf.function
    def outer(x):
        return inner(x) + inner(x * 2.0)

    with record(tmp_path) as run:
        outer(tf.constant(0.5))
        inner(tf.constant(0.125))
    sines = run.rows("Sin")
    assert sorted(row["max"] for row in sines) == pytest.approx(sorted(np.sin([0.5, 1.0, 0.125])))
    (total,) = run.rows("AddV2")
    assert [row["execution"] == total["execution"] for row in sines] == [True, True, False]
    calls = [op for op in run.ops.values() if op["type"] in CALLS]
    assert {op["graph"] for op in calls} == {total["of"]["graph"]}


def test_retracing_makes_a_graph_for_each_signature(tmp_path: Path) -> None:
    @tf.function
    def cubed(x):
        return x**3

    with record(tmp_path) as run:
        cubed(tf.constant(2.0))
        cubed(tf.constant([2.0, 3.0]))
        cubed(tf.constant(4.0))
    rows = run.rows("Pow")
    assert [row["max"] for row in rows] == [8.0, 27.0, 64.0]
    graphs = [row["of"]["graph"] for row in rows]
    assert graphs[0] == graphs[2] != graphs[1]


def test_a_call_that_fails_is_recorded_as_failed(tmp_path: Path) -> None:
    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x)
        return tf.math.log(x)

    with record(tmp_path) as run:
        checked(tf.constant(1.0))
        with pytest.raises(tf.errors.InvalidArgumentError):
            checked(tf.constant(-1.0))
    assert [row["failed"] for row in run.table("ends")] == [False, True]


# ---- control flow


def test_iterations_of_a_while_loop(tmp_path: Path) -> None:
    @tf.function
    def powers(x):
        return tf.while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, y * 2.0), [0, x])[1]

    with record(tmp_path) as run:
        powers(tf.constant(1.0))
    assert [(row["iteration"], row["max"]) for row in run.rows("Mul")] == [(n, 2.0 ** (n + 1)) for n in range(5)]


def test_iterations_of_an_autograph_loop_and_its_line(tmp_path: Path) -> None:
    @tf.function
    def total(x):
        y = tf.zeros([])
        for value in x:
            if value > 2.0:
                y += tf.sqrt(value)  # in the loop
        return y

    with record(tmp_path) as run:
        total(tf.constant([1.0, 4.0, 9.0]))
    assert [(row["iteration"], row["max"]) for row in run.rows("Sqrt")] == [(1, 2.0), (2, 3.0)]
    assert run.line(run.ops_of("Sqrt")[0]) == here("in the loop")
    assert all("__autograph_generated_file" not in row["file"] for row in run.table("frames") if row["is_user"])


def test_an_eager_while_loop(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        tf.while_loop(lambda x: x < 10.0, lambda x: (x * 3.0,), [tf.constant(1.0)])
    assert [row["max"] for row in run.rows("Mul")] == [3.0, 9.0, 27.0]


def test_both_branches_of_a_conditional(tmp_path: Path) -> None:
    @tf.function
    def either(x):
        return tf.cond(x > 0.0, lambda: tf.exp(x), lambda: tf.sin(x))

    with record(tmp_path) as run:
        either(tf.constant(1.0))
        either(tf.constant(-1.0))
    (yes,), (no,) = run.rows("Exp"), run.rows("Sin")
    assert (yes["max"], no["max"]) == pytest.approx((np.exp(1.0), np.sin(-1.0)))
    assert yes["execution"] < no["execution"]


def test_map_fn(tmp_path: Path) -> None:
    @tf.function
    def mapped(x):
        return tf.map_fn(lambda row: tf.reduce_prod(row), x)

    with record(tmp_path) as run:
        mapped(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    rows = sorted(run.rows("Prod"), key=lambda row: row["iteration"])
    assert [(row["iteration"], row["max"]) for row in rows] == [(0, 2.0), (1, 12.0), (2, 30.0)]


def test_vectorized_map(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        result = tf.vectorized_map(lambda row: tf.reduce_sum(tf.exp(row)), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert result.shape == (2,)
    assert "Exp" in run.op_types()


# ---- gradients


def gradients_are_linked(run: Recorded, mark: str) -> None:
    """The gradient of the marked Log is a Reciprocal, which names that Log and its line."""
    (backward,) = run.ops_of("Reciprocal")
    assert run.phase(backward) == Phase.BACKWARD
    forward = run.ops[backward["forward"]]
    assert forward["type"] == "Log"
    assert run.phase(forward) == Phase.FORWARD
    assert run.line(backward) == run.line(forward) == here(mark)
    assert run.rows("Reciprocal")[0]["max"] == 0.5


def test_eager_tape(tmp_path: Path) -> None:
    x = tf.Variable([2.0, 4.0])
    with record(tmp_path) as run:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(x))  # eager log
        x.assign_sub(tape.gradient(y, x))
    gradients_are_linked(run, "eager log")
    assert run.phase(run.ops_of("AssignSubVariableOp")[0]) == Phase.UPDATE


def test_tape_inside_a_function(tmp_path: Path) -> None:
    x = tf.Variable([2.0, 4.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(x))  # log inside
        x.assign_sub(tape.gradient(y, x))

    with record(tmp_path) as run:
        step()
    gradients_are_linked(run, "log inside")
    assert run.phase(run.ops_of("AssignSubVariableOp")[0]) == Phase.UPDATE


def test_tape_outside_a_function(tmp_path: Path) -> None:
    x = tf.Variable([2.0, 4.0])

    @tf.function
    def loss():
        return tf.reduce_sum(tf.math.log(x))  # log of a function

    with record(tmp_path) as run:
        with tf.GradientTape() as tape:
            y = loss()
        assert tape.gradient(y, x).numpy().tolist() == [0.5, 0.25]
    gradients_are_linked(run, "log of a function")


def test_persistent_tape(tmp_path: Path) -> None:
    x = tf.Variable([2.0, 4.0])
    with record(tmp_path) as run:
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(tf.math.log(x))
            z = tf.reduce_sum(tf.sin(x))
        tape.gradient(y, x)
        tape.gradient(z, x)
    forward = {run.ops[op["forward"]]["type"] for op in run.ops.values() if op["forward"] >= 0}
    assert {"Log", "Sin"} <= forward
    assert {run.phase(op) for op in run.ops_of("Cos")} == {Phase.BACKWARD}


def test_second_derivative(tmp_path: Path) -> None:
    x = tf.Variable(2.0)
    with record(tmp_path) as run:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.math.log(x)
            first = inner.gradient(y, x)
        assert float(outer.gradient(first, x)) == -0.25
    assert {run.phase(op) for op in run.ops.values() if op["forward"] >= 0} == {Phase.BACKWARD}


def test_custom_gradient(tmp_path: Path) -> None:
    @tf.custom_gradient
    def clipped(x):
        def gradient(upstream):
            return tf.clip_by_value(upstream * tf.cos(x), -1.0, 1.0)  # own gradient

        return tf.sin(x), gradient

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clipped(x)
        return tape.gradient(y, x)

    for name, function in {"graph": slope, "eager": slope.python_function}.items():
        with record(tmp_path, name) as run:
            assert float(function(tf.constant(0.5))) == pytest.approx(np.cos(0.5))
        (cosine,) = run.rows("Cos")
        assert run.phase(cosine["of"]) == Phase.BACKWARD
        assert (
            next(frame.line for frame in run.program.stack(cosine["of"]["stack"]) if frame.is_user)
            == here("own gradient")[1]
        )


@pytest.mark.parametrize("name", ["Adam", "SGD"])
@pytest.mark.parametrize("as_graph", [True, False], ids=["graph", "eager"])
def test_optimizer_ops_are_the_update(tmp_path: Path, name: str, as_graph: bool) -> None:
    x = tf.Variable([2.0, 4.0])
    optimizer = getattr(tf.keras.optimizers, name)(0.5)
    optimizer.build([x])

    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(x))
        optimizer.apply_gradients([(tape.gradient(y, x), x)])

    with record(tmp_path) as run:
        (tf.function(step) if as_graph else step)()
    writes = [op for op in run.ops.values() if op["type"].startswith("Assign")]
    assert writes
    assert {run.phase(op) for op in writes} == {Phase.UPDATE}
    assert {run.phase(op) for op in run.ops_of("Log")} == {Phase.FORWARD}
    assert {run.phase(op) for op in run.ops_of("Reciprocal")} == {Phase.BACKWARD}
    if name == "Adam":
        assert {run.phase(op) for op in run.ops_of("Sqrt")} == {Phase.UPDATE}


# ---- Keras and tf.data


class Subclassed(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(tf.cos(x))  # the layer's line


def functional() -> Any:
    inputs = tf.keras.Input([3])
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Activation("tanh")(inputs)))


@pytest.mark.parametrize("run_eagerly", [False, True], ids=["graph", "eager"])
@pytest.mark.parametrize(("make", "op_type"), [(functional, "Tanh"), (Subclassed, "Cos")])
def test_keras(tmp_path: Path, make: Any, op_type: str, run_eagerly: bool) -> None:
    inputs = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
    model = make()
    model.compile("sgd", "mse", run_eagerly=run_eagerly)
    with record(tmp_path) as run:
        model.fit(inputs, inputs.sum(1, keepdims=True), batch_size=4, epochs=2, verbose=0, shuffle=False)
        model.evaluate(inputs, inputs.sum(1, keepdims=True), batch_size=4, verbose=0)
        model.predict(inputs, batch_size=4, verbose=0)
    rows = run.rows(op_type)
    assert len(rows) == 4 + 2 + 2
    function = np.tanh if op_type == "Tanh" else np.cos
    assert rows[0]["max"] == pytest.approx(function(inputs[:4]).max())
    assert rows[1]["max"] == pytest.approx(function(inputs[4:]).max())
    phases = {run.phase(op) for op in run.ops.values()}
    assert {Phase.FORWARD, Phase.BACKWARD, Phase.UPDATE} <= phases
    if op_type == "Cos":
        assert {run.line(row["of"]) for row in rows} == {here("the layer's line")}
    assert sorted(set(run.steps)) == [0, 1, 2, 3]


def test_functions_of_a_dataset_run_apart_from_any_call(tmp_path: Path) -> None:
    def prepare(x):
        return tf.sqrt(x)  # in the pipeline

    with record(tmp_path) as run:
        dataset = tf.data.Dataset.from_tensor_slices([1.0, 4.0, 9.0]).map(prepare)
        assert [float(x) for x in dataset] == [1.0, 2.0, 3.0]
    rows = run.rows("Sqrt")
    assert sorted(row["max"] for row in rows) == [1.0, 2.0, 3.0]
    assert {row["execution"] for row in rows} == {-1}
    assert run.line(rows[0]["of"]) == here("in the pipeline")


# ---- threads


def test_rows_of_threads_belong_to_their_own_calls(tmp_path: Path) -> None:
    @tf.function
    def inner(x):
        return tf.tanh(x) * 2.0

    @tf.function
    def added(x):
        return tf.reduce_sum(inner(x) + x)

    @tf.function
    def subtracted(x):
        return tf.reduce_sum(inner(x) - x)

    def work(function, first):
        for number in range(first, first + 50):
            function(tf.fill([4], float(number)))

    with record(tmp_path) as run:
        added(tf.zeros([4]))
        subtracted(tf.zeros([4]))
        jobs = [(added, 100), (added, 200), (subtracted, 300), (subtracted, 400)]
        threads = [threading.Thread(target=work, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    made = {row["tensor"]: row["max"] for row in run.rows("Fill")}
    given = {row["execution"]: made[row["inputs"][0]] for row in run.table("executions") if row["graph"] >= 0}
    assert len(given) == 202
    arguments = [row for row in run.tensors if row["of"]["type"] == "Placeholder"]
    assert len(arguments) == 2 * 202
    assert all(row["max"] == given[row["execution"]] for row in arguments)
    for op_type, sign in (("AddV2", 1), ("Sub", -1)):
        rows = run.rows(op_type)
        assert len(rows) == 101
        for row in rows:
            x = given[row["execution"]]
            assert row["max"] == pytest.approx(2 * np.tanh(x) + sign * x)


def test_a_thread_that_was_there_before(tmp_path: Path) -> None:
    begin, ready = threading.Event(), threading.Event()

    @tf.function
    def cosine(x):
        return tf.cos(x)

    def work():
        tf.constant(1.0) + 1.0
        ready.set()
        begin.wait(30)
        cosine(tf.constant(0.5)) * 3.0

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(30)
    with record(tmp_path) as run:
        begin.set()
        thread.join()
    assert run.rows("Cos")[0]["max"] == pytest.approx(np.cos(0.5))
    assert run.rows("Mul")[0]["max"] == pytest.approx(3 * np.cos(0.5))


# ---- graphs


def test_the_tables_hold_the_whole_graph(tmp_path: Path) -> None:
    x = tf.Variable([2.0, 4.0])

    @tf.function
    def step(scale):
        with tf.GradientTape() as tape:
            y = tf.zeros([])
            for _ in tf.range(2):
                y += tf.reduce_sum(tf.math.log(x) * scale)
        low, high = tf.split(x, 2)
        x.assign_sub(tape.gradient(y, x) + tf.concat([high, low], 0))
        tf.debugging.assert_all_finite(x, "weights")
        return tf.cond(scale > 0.0, lambda: y, lambda: -y)

    with record(tmp_path) as run:
        concrete = step.get_concrete_function(tf.TensorSpec([]))
        concrete(tf.constant(0.5))
    (function,) = [row for row in run.table("functions") if row["function"] == concrete.function_def.signature.name]
    mine = {op["name"]: op for op in run.ops.values() if op["graph"] == function["graph"]}

    def named(name: str) -> str:
        """TensorFlow names some ops after an observer; the trace names them after what was observed."""
        return re.sub(r"tdbg/(\d+)_\d+", lambda match: run.ops[int(match[1])]["name"], name)

    theirs = {named(op.name): op for op in concrete.graph.get_operations() if op.type not in OURS}
    assert {name: op["type"] for name, op in mine.items()} == {name: op.type for name, op in theirs.items()}

    def source(tensor: Any) -> tuple[str, int]:
        tensor = tensor.op.inputs[0] if tensor.op.type in OURS else tensor
        return named(tensor.op.name), tensor.value_index

    for name, op in theirs.items():
        inputs = zip(mine[name]["input_ops"], mine[name]["input_slots"], strict=True)
        assert [(run.ops[number]["name"], slot) for number, slot in inputs] == [source(t) for t in op.inputs]
        assert mine[name]["output_dtypes"] == [_code(t.dtype) for t in op.outputs]
    assert [run.ops[number]["name"] for number in function["input_ops"]] == [
        named(t.op.name) for t in concrete.graph.inputs
    ]
    results = zip(function["output_ops"], function["output_slots"], strict=True)
    assert [(run.ops[op]["name"], slot) for op, slot in results] == [source(t) for t in concrete.graph.outputs]
    edges = {(run.ops[row["op"]]["name"], run.ops[row["input_op"]]["name"]) for row in run.table("controls")}
    wanted = {
        (named(op.name), named(before.name))
        for op in theirs.values()
        for before in op.control_inputs
        if before.type not in OURS
    }
    assert wanted <= edges
    outer = {row["graph"]: row["outer"] for row in run.table("graphs")}
    assert outer[function["graph"]] == -1
    assert function["graph"] in set(outer.values())


def _code(dtype: Any) -> int:
    return int(DType[dtype.name.upper()]) if dtype.name.upper() in DType.__members__ else 0


def test_constants_of_graphs_bad_ones_too(tmp_path: Path) -> None:
    @tf.function
    def masked(x):
        return tf.where(x > 0, x, tf.constant([-np.inf, np.nan]))

    with record(tmp_path) as run:
        masked(tf.constant([1.0, 2.0]))
    constants = [row for row in run.tensors if row["of"]["type"] == "Const" and row["flags"] & Flag.BAD]
    assert [(row["nan"], row["neg_inf"], row["elements"]) for row in constants] == [(1, 1, 2)]


# ---- source


def test_the_source_is_kept_as_it_was(tmp_path: Path) -> None:
    with record(tmp_path) as run:
        tf.exp(tf.constant(1.0))
    sources = {row["file"]: row["text"] for row in run.table("sources")}
    assert sources[__file__] == Path(__file__).read_text()


NOTEBOOK = """
import tensorflow as tf

@tf.function(autograph=False)
def root(x):
    return tf.sqrt(x)

root(tf.constant(4.0))
tf.exp(tf.constant(1.0))
"""


@pytest.mark.parametrize("file", ["<string>", "<ipython-input-3-0a1b2c>", "<stdin>"])
def test_code_without_a_file(tmp_path: Path, file: str) -> None:
    with record(tmp_path) as run:
        exec(compile(NOTEBOOK, file, "exec"), {"__name__": "cell"})
    assert run.line(run.ops_of("Sqrt")[0]) == (file, 6)
    assert run.line(run.ops_of("Exp")[0]) == (file, 9)


def test_a_cell_whose_text_python_knows(tmp_path: Path) -> None:
    file = "<ipython-input-4-c0ffee>"
    linecache.cache[file] = (len(NOTEBOOK), None, NOTEBOOK.splitlines(True), file)
    module = types.ModuleType("cell")
    with record(tmp_path) as run:
        exec(compile(NOTEBOOK, file, "exec"), module.__dict__)
    frame = run.program.user_frame(run.program.ops[run.ops_of("Sqrt")[0]["op"]])
    assert frame is not None
    assert run.program.line_text(frame) == "return tf.sqrt(x)"


# ---- numbers


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "complex128"])
def test_numbers_are_those_of_numpy(tmp_path: Path, dtype: str) -> None:
    given = tf.cast(np.random.default_rng(0).normal(size=(7, 33)), dtype)
    given = tf.concat([given, tf.cast([[0.0] * 33], dtype)], 0)

    @tf.function
    def compute(x):
        product = x * x
        return product, tf.math.divide(product, x), tf.exp(x)

    for name, function in {"graph": compute, "eager": compute.python_function}.items():
        with record(tmp_path, name) as run:
            product, quotient, exponential = function(given)
        for op_type, value in (("Mul", product), ("RealDiv", quotient), ("Exp", exponential)):
            (row,) = run.rows(op_type)
            expected = reference.summarize(value.numpy())
            assert row["dtype"] == DType[dtype.upper()]
            assert row["dims"] == (8, 33)
            for field in ("elements", "negative", "zero", "positive", "neg_inf", "pos_inf", "nan"):
                assert row[field] == getattr(expected, field), (op_type, field)
            for field in ("min", "max", "mean", "std"):
                assert row[field] == pytest.approx(getattr(expected, field), rel=1e-5, abs=1e-7, nan_ok=True)


# ---- steps


def test_steps_of_an_eager_loop(tmp_path: Path) -> None:
    x = tf.Variable(1.0)
    with record(tmp_path) as run:
        for _ in range(4):
            with tf.GradientTape() as tape:
                y = tf.sin(x)
            x.assign_sub(tape.gradient(y, x))
    assert [row["step"] for row in run.rows("Sin")] == [0, 1, 2, 3]
    assert run.steps == [0, 1, 2, 3]


def test_steps_of_a_function(tmp_path: Path) -> None:
    x = tf.Variable(1.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = tf.exp(x)
        x.assign_sub(tape.gradient(y, x))

    with record(tmp_path) as run:
        for _ in range(4):
            step()
    assert [row["step"] for row in run.rows("Exp")] == [0, 1, 2, 3]


def test_gradients_gathered_over_two_tapes_are_one_step(tmp_path: Path) -> None:
    x = tf.Variable(1.0)
    with record(tmp_path) as run:
        for _ in range(3):
            gradient = tf.zeros([])
            for _ in range(2):
                with tf.GradientTape() as tape:
                    y = tf.sin(x)
                gradient += tape.gradient(y, x)
            x.assign_sub(gradient)
    assert [row["step"] for row in run.rows("Sin")] == [0, 0, 1, 1, 2, 2]


def test_inference_alone_is_one_step(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.sin(x))
    with record(tmp_path) as run:
        for _ in range(3):
            function(tf.constant(1.0))
    assert run.steps == [0]


def test_steps_that_were_told(tmp_path: Path) -> None:
    x = tf.Variable(1.0)
    with record(tmp_path) as run:
        for number in (None, None, 10):
            tdbg.step(number)
            for _ in range(2):
                with tf.GradientTape() as tape:
                    y = tf.sin(x)
                x.assign_sub(tape.gradient(y, x))
    assert [row["step"] for row in run.rows("Sin")] == [0, 0, 1, 1, 10, 10]
    assert {row["source"] for row in run.table("steps")} == {"start", "told"}


def test_a_gradient_in_a_function_and_an_update_outside_are_a_step(tmp_path: Path) -> None:
    weights = tf.Variable([1.0, 2.0])

    @tf.function
    def gradient_of(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(weights * x))
        return tape.gradient(loss, weights)

    with record(tmp_path) as run:
        for _ in range(3):
            weights.assign_sub(0.01 * gradient_of(tf.constant([1.0, 2.0])))
    assert [row["step"] for row in run.table("steps")] == [0, 1, 2]
