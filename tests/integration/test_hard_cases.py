"""Programs that are hard to watch are recorded: which rows there are, whose lines and devices they name."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, line_with, record

from tdbg.model import DType, Flag
from tdbg.query.verdict.verdict import Verdict, explain

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


def here(mark: str) -> tuple[str, int]:
    return __file__, line_with(__file__, mark)


def verdict(run: Recorded) -> Verdict:
    return explain(run.trace)


def named(verdict: Verdict) -> tuple[str, tuple[str, int]]:
    """The op that a verdict names, and its line."""
    first = verdict.first
    assert first is not None and first.frame is not None, verdict
    return first.op.type, (first.frame.file, first.frame.line)


# ---- functions


def test_functions_that_are_run_eagerly(tmp_path: Path) -> None:
    @tf.function
    def total(x):
        logs = tf.math.log(x)  # the eager log
        return tf.reduce_sum(logs)

    tf.config.run_functions_eagerly(True)
    try:
        with record(tmp_path) as run:
            total(tf.constant([1.0, 0.0]))
    finally:
        tf.config.run_functions_eagerly(False)
    assert run.table("graphs") == []
    assert [row["neg_inf"] for row in run.rows("Log", eager=True)] == [1]
    assert named(verdict(run)) == ("Log", here("the eager log"))


def test_a_concrete_function_of_before_is_noted_and_its_results_recorded(tmp_path: Path) -> None:
    @tf.function
    def logarithm(x):
        return tf.math.log(x)

    concrete = logarithm.get_concrete_function(tf.TensorSpec([2]))
    with record(tmp_path) as run:
        tf.reduce_sum(concrete(tf.constant([1.0, 0.0])) * 0.0)  # the call
        logarithm(tf.constant([3.0, 4.0]))
    assert [note["text"] for note in run.table("notes")] == [
        "function logarithm was traced before recording began, so tdbg did not look inside"
    ]
    (given,) = [row for row in run.tensors if row["of"]["type"].startswith("__inference_logarithm") and row["neg_inf"]]
    assert run.line(given["of"]) == here("the call")
    assert verdict(run).first.row.seq == given["seq"]
    assert [row["min"] for row in run.rows("Log")] == pytest.approx([np.log(3.0)])  # a new tracing, with observers


def test_functions_of_an_earlier_recording_add_no_rows_of_theirs(tmp_path: Path) -> None:
    @tf.function
    def root(x):
        return tf.sqrt(x)

    with record(tmp_path, "first") as first:
        concrete = root.get_concrete_function(tf.TensorSpec([]))
        concrete(tf.constant(4.0))
    with record(tmp_path, "second") as second:
        concrete(tf.constant(9.0))
        tf.exp(tf.constant(0.0))
    assert [row["max"] for row in first.rows("Sqrt")] == [2.0]
    assert "Sqrt" not in second.op_types()
    assert all(row["op"] in second.ops for row in second.table("tensors"))
    assert [row["max"] for row in second.tensors if row["of"]["type"].startswith("__inference")] == [3.0]


def test_lineage_goes_through_calls_inside_a_function(tmp_path: Path) -> None:
    @tf.function
    def inner(x):
        return tf.math.log(x)  # the inner log

    @tf.function
    def outer(x):
        return inner(x) * 0.0

    with record(tmp_path) as run:
        outer(tf.constant([1.0, 0.0]))
    (product,) = run.ops_of("Mul")
    assert run.ops[product["input_ops"][0]]["type"] in ("PartitionedCall", "StatefulPartitionedCall")
    assert named(verdict(run)) == ("Log", here("the inner log"))


# ---- slots and element types


def test_slots_keep_their_numbers_under_a_filter_of_types(tmp_path: Path) -> None:
    @tf.function
    def best(x):
        return tf.nn.top_k(x, 2)

    x = tf.constant([1.0, 4.0, 3.0])
    with record(tmp_path, "graph", dtypes="int32") as graph:
        best(x)
    with record(tmp_path, "eager", dtypes="int32") as eager:
        tf.nn.top_k(x, 2)
    for run in (graph, eager):
        (row,) = run.rows("TopKV2")
        assert (row["slot"], row["dtype"], row["dims"], row["max"]) == (1, DType.INT32, (2,), 2.0)
    with record(tmp_path, "floats", dtypes="float") as floats:
        best(x)
    assert [(row["slot"], row["max"]) for row in floats.rows("TopKV2")] == [(0, 4.0)]


@pytest.mark.parametrize("as_graph", [False, True])
def test_tensors_that_are_no_plain_numbers(tmp_path: Path, capfd: Any, as_graph: bool) -> None:
    def compute(ragged, sparse, text, number):
        lists = tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, 5.0)  # a variant in graphs
        return (
            tf.reduce_sum(ragged * 2.0),
            tf.sparse.sparse_dense_matmul(sparse, tf.ones([2, 2])),
            tf.strings.length(tf.strings.join([text, text])),
            tf.signal.fft(number),
            tf.reduce_sum(lists.stack()),
            table.lookup(text),
        )

    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1.5]), 0.0)
    given = (
        tf.ragged.constant([[1.0, 2.0], [3.0]]),
        tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]),
        tf.constant(["a", "bc"]),
        tf.constant([1 + 2j, complex(3, float("nan"))], tf.complex64),
    )
    run_it = tf.function(compute) if as_graph else compute
    with record(tmp_path) as run:
        run_it(*given)
    assert capfd.readouterr().err == ""
    assert run.table("notes") == []
    assert {row["dtype"] for row in run.tensors} <= {code for code in DType if code.is_number}
    (product,) = run.rows("SparseTensorDenseMatMul")
    assert (product["dims"], product["max"]) == ((2, 2), 2.0)
    assert [row["max"] for row in run.rows("Mul") if row["dims"] == (3,)] == [6.0]
    (transform,) = run.rows("FFT")
    assert (transform["dtype"], transform["nan"]) == (DType.COMPLEX64, 2)
    assert [row["max"] for row in run.rows("LookupTableFindV2")] == [1.5]
    assert {"StringJoin", "LookupTableFindV2"} <= run.op_types()
    assert run.rows("StringJoin") == []


# ---- gradients and Python code


@pytest.mark.parametrize("as_graph", [False, True])
def test_nan_made_in_a_custom_gradient(tmp_path: Path, as_graph: bool) -> None:
    @tf.custom_gradient
    def doubled(x):
        def grad(upstream):
            return upstream * tf.sqrt(x - 10.0)  # the root in the gradient

        return x * 2.0, grad

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(doubled(weights))
        weights.assign_sub(tape.gradient(loss, weights))

    weights = tf.Variable([1.0, 2.0])
    with record(tmp_path) as run:
        (tf.function(step) if as_graph else step)()
    assert named(verdict(run)) == ("Sqrt", here("the root in the gradient"))
    assert verdict(run).first.cause.name == "custom_gradient"


def spoiled(x):
    return np.where(x > 1.0, np.nan, x).astype(np.float32)


@pytest.mark.parametrize("as_graph", [False, True])
def test_nan_made_by_a_numpy_function(tmp_path: Path, as_graph: bool) -> None:
    def compute(x):
        spoilt = tf.numpy_function(spoiled, [x], tf.float32)  # the Python code
        return tf.reduce_sum(spoilt * 2.0)

    with record(tmp_path) as run:
        (tf.function(compute) if as_graph else compute)(tf.constant([1.0, 2.0]))
    assert named(verdict(run)) == ("PyFunc", here("the Python code"))
    (row,) = run.rows("PyFunc")
    assert (row["nan"], bool(row["flags"] & Flag.ORIGIN)) == (1, True)


@pytest.mark.parametrize("as_graph", [False, True])
def test_nan_made_by_a_py_function_is_found_inside_it(tmp_path: Path, as_graph: bool) -> None:
    def eager_code(x):
        root = tf.sqrt(x - 1.5)  # the root in Python code
        return root * 2.0

    def compute(x):
        return tf.reduce_sum(tf.py_function(eager_code, [x], tf.float32))

    with record(tmp_path) as run:
        (tf.function(compute) if as_graph else compute)(tf.constant([1.0, 2.0]))
    assert named(verdict(run)) == ("Sqrt", here("the root in Python code"))
    assert [row["nan"] for row in run.rows("EagerPyFunc")] == [1]


# ---- threads and data


def test_many_threads_at_once(tmp_path: Path) -> None:
    @tf.function
    def square(x):
        return x * x

    def work(number: int) -> None:
        native[number] = threading.get_native_id()
        start.wait()
        for turn in range(20):
            value = float(100 * number + turn)
            results[number].append((float(square(tf.constant(value))), float(tf.exp(tf.constant(value / 1000)))))

    count = 6
    native, results = [0] * count, [[] for _ in range(count)]
    start = threading.Barrier(count)
    with record(tmp_path) as run:
        square(tf.constant(0.0))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls = {row["execution"]: row for row in run.table("executions")}
    arguments = {row["execution"]: row for row in run.tensors if row["of"]["type"] == "Placeholder"}
    squares = run.rows("Mul")
    assert len(squares) == 1 + 20 * count == len({row["execution"] for row in squares})
    for row in squares:
        given = arguments[row["execution"]]["max"]
        assert row["max"] == np.float32(given) ** 2
        if given > 0:
            assert calls[row["execution"]]["thread"] == native[int(given) // 100]
    for number in range(count):
        mine = [row["max"] for row in run.rows("Exp") if row["thread"] == native[number]]
        assert mine == pytest.approx([result for _, result in results[number]])


def test_workers_of_a_dataset(tmp_path: Path) -> None:
    def halves(n):
        return tf.data.Dataset.from_tensors(tf.sqrt(n - 2.0))  # inside interleave

    with record(tmp_path) as run:
        data = tf.data.Dataset.range(6).map(lambda n: tf.cast(n, tf.float32) * 0.5, num_parallel_calls=2)
        data = data.map(lambda x: x * 4.0, num_parallel_calls=2)
        data = data.interleave(halves, cycle_length=2, num_parallel_calls=2).batch(3).prefetch(2)
        batches = [batch.numpy() for batch in data]
    assert sorted(row["max"] for row in run.rows("Mul")) == sorted(
        [n * 0.5 for n in range(6)] + [n * 2.0 for n in range(6)]
    )
    roots = run.rows("Sqrt")
    assert {row["execution"] for row in roots} == {-1}  # apart from any call
    assert sorted(row["max"] for row in roots if not row["nan"]) == pytest.approx(np.sqrt([0.0, 2.0, 4.0, 6.0, 8.0]))
    taken = run.rows("IteratorGetNext")
    assert [row["dims"] for row in taken] == [(3,), (3,)] == [batch.shape for batch in batches]
    assert named(verdict(run)) == ("Sqrt", here("inside interleave"))


# ---- models from disk


class Saved(tf.Module):
    def __init__(self) -> None:
        self.weights = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def __call__(self, x):
        return self.inner(x) * 2.0

    @tf.function
    def inner(self, x):
        return tf.math.log(x * self.weights)


@pytest.fixture
def saved_model(tmp_path: Path) -> str:
    tf.saved_model.save(Saved(), str(tmp_path / "model"))
    return str(tmp_path / "model")


def test_a_model_that_is_loaded_is_looked_inside(tmp_path: Path, saved_model: str) -> None:
    with record(tmp_path) as run:
        model = tf.saved_model.load(saved_model)  # the load
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant([[1.0, 0.0]]))
            result = tf.reduce_sum(model(x) * 0.0)
        gradient = tape.gradient(result, x)
        served = model.signatures["serving_default"](tf.constant([[1.0, 2.0]]))
    assert np.isnan(gradient.numpy()).any()
    assert served["output_0"].numpy() == pytest.approx(2.0 * np.log([[1.0, 4.0]]))
    assert sorted(row["max"] for row in run.rows("Log")) == pytest.approx([0.0, np.log(4.0)])
    assert named(verdict(run)) == ("Log", here("the load"))
    assert run.table("notes") == []


def test_a_model_that_was_loaded_before_is_noted(tmp_path: Path, saved_model: str) -> None:
    model = tf.saved_model.load(saved_model)
    with record(tmp_path) as run:
        result = model(tf.constant([[1.0, 0.0]]))
        tf.reduce_sum(result * 0.0)
    assert {note["kind"] for note in run.table("notes")} == {"unseen"}
    assert "Log" not in run.op_types()
    (given,) = [row for row in run.tensors if "PartitionedCall" in row["of"]["type"]]
    assert (given["dims"], given["neg_inf"]) == ((1, 2), 1)
    assert verdict(run).first.row.seq == given["seq"]
    assert any("tdbg did not look inside" in text for text in verdict(run).coverage.notes)
