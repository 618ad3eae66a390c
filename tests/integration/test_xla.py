"""Functions meant for XLA: looked into without it, or, where it is kept, seen from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

from tdbg.model import Flag
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")

from tdbg.tensorflow import disable_check_numerics, enable_check_numerics  # noqa: E402


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TDBG_STRICT", "1")
    yield
    disable_check_numerics()


@tf.function(jit_compile=True)
def compiled(x):
    return tf.math.log(tf.sin(x) * 2.0)  # inside


def is_compiled(function: Any, *arguments: Any) -> bool:
    return function.get_concrete_function(*arguments).function_def.attr["_XlaMustCompile"].b


def test_a_function_is_looked_into_and_compiled_again_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = tf.constant([0.5, 1.0])
    plain = compiled(x)
    assert is_compiled(compiled, x)
    with record(tmp_path) as run:
        np.testing.assert_allclose(compiled(x), plain, rtol=1e-6)
        compiled(x)
        assert not is_compiled(compiled, x)
    assert is_compiled(compiled, x)
    np.testing.assert_array_equal(compiled(x), plain)
    assert len(run.rows("Sin")) == 2
    assert run.line(run.ops_of("Sin")[0]) == (__file__, line_with(__file__, "inside"))
    assert capsys.readouterr().err.count("function compiled runs without XLA") == 1
    assert [row["kind"] for row in run.table("notes")] == ["xla"]
    assert "XLA was switched off for compiled" in explain(run.trace).coverage.notes[0]


def test_a_function_that_was_first_called_under_tdbg(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.cos(x), jit_compile=True)
    with record(tmp_path) as run:
        function(tf.constant(0.5))
    assert len(run.rows("Cos")) == 1
    assert is_compiled(function, tf.constant(0.5))


def test_nested_functions_and_gradients(tmp_path: Path) -> None:
    inner = tf.function(lambda x: tf.sin(x) * x, jit_compile=True)

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return y, tape.gradient(y, x)

    x = tf.constant([0.5, 1.0])
    plain = outer(x)
    with record(tmp_path) as run:
        for mine, theirs in zip(outer(x), plain, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert len(run.rows("Sin")) >= 1
    assert run.rows("Cos")  # of the gradient
    calls = [op for op in run.ops.values() if op["type"].endswith("PartitionedCall")]
    assert calls
    assert not any('"_XlaMustCompile": true' in op["attributes"] for op in calls)


def test_jit_scope(tmp_path: Path) -> None:
    @tf.function
    def scoped(x):
        with tf.xla.experimental.jit_scope():
            return tf.exp(tf.sin(x) * 2.0 + 1.0)

    x = tf.constant([0.5, 1.0])
    plain = scoped(x)
    with record(tmp_path) as run:
        np.testing.assert_allclose(scoped(x), plain, rtol=1e-6)
    assert len(run.rows("Sin")) == len(run.rows("Exp")) == 1


def test_keras_compiled_with_xla(tmp_path: Path) -> None:
    data = np.linspace(0, 1, 32).reshape(16, 2).astype("float32")

    def fit() -> list[float]:
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", jit_compile=True)
        return model.fit(data, data[:, :1], batch_size=8, epochs=2, verbose=0, shuffle=False).history["loss"]

    plain = fit()
    with record(tmp_path) as run:
        assert fit() == pytest.approx(plain, rel=1e-4)
    assert run.rows("Tanh")
    assert run.rows("MatMul")
    assert max(run.steps) == 3


# ---- XLA kept


def test_kept_functions_have_rows_of_what_went_in_and_came_out(tmp_path: Path) -> None:
    with record(tmp_path, xla="keep") as run:
        product = compiled(tf.constant([0.0, 1.0])) * 2.0  # the call
        assert is_compiled(compiled, tf.constant([0.0, 1.0]))
    assert np.isneginf(product[0])
    assert run.rows("Sin") == []
    rows = [row for row in run.tensors if row["of"]["type"].startswith("__inference_compiled")]
    assert [(row["flags"] & Flag.INPUT, row["dims"], row["neg_inf"]) for row in rows] == [
        (Flag.INPUT, (2,), 0),
        (0, (2,), 1),
    ]
    assert rows[0]["execution"] == rows[1]["execution"] >= 0
    assert run.line(rows[1]["of"]) == (__file__, line_with(__file__, "the call"))
    assert run.call(rows[1]["execution"])["op"] == rows[1]["op"]
    assert [row["kind"] for row in run.table("notes")] == ["xla"]
    assert "only what went in and came out" in explain(run.trace).coverage.notes[0]


def test_kept_functions_inside_others(tmp_path: Path) -> None:
    outer = tf.function(lambda x: compiled(x * 1.0) * 2.0)
    x = tf.constant([0.0, 1.0])
    plain = outer(x)
    with record(tmp_path, xla="keep") as run:
        np.testing.assert_allclose(outer(x), plain, rtol=1e-6)
    (call,) = [op["type"] for op in run.ops.values() if op["type"].endswith("PartitionedCall")]
    assert [row["neg_inf"] for row in run.rows(call)] == [1]
    assert len(run.rows("Mul")) == 2


@pytest.mark.parametrize("nested", [False, True], ids=["called", "nested"])
def test_kept_functions_are_checked_from_outside(tmp_path: Path, nested: bool) -> None:
    function = tf.function(lambda x: compiled(x)) if nested else compiled  # the nested call
    with record(tmp_path, xla="keep", check=True):
        assert np.isfinite(function(tf.constant([1.0]))).all()
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            function(tf.constant([0.0]))  # the bad call
    text = caught.value.message
    assert "made -inf ×1 of 1 from finite values" in text
    assert "compiled" in text
    mark = "the nested call" if nested else "the bad call"
    assert f"test_xla.py:{line_with(__file__, mark)} in " in text
    assert np.isneginf(function(tf.constant([0.0]))[0])


def test_nan_under_xla_is_not_passed_silently() -> None:
    square_root = tf.function(lambda x: tf.sqrt(x), jit_compile=True)
    assert np.isnan(square_root(tf.constant(-1.0)))
    enable_check_numerics()
    with pytest.raises(tf.errors.InvalidArgumentError, match="tdbg: Sqrt made NaN"):
        square_root(tf.constant(-1.0))
    disable_check_numerics()
    assert is_compiled(square_root, tf.constant(-1.0))
    assert np.isnan(square_root(tf.constant(-1.0)))
