"""Sums and products are checked without holding their inputs: what was noted of these decides, and is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from tdbg.tensorflow import disable_check_numerics, enable_check_numerics  # noqa: E402

INF = float("inf")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def check(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TDBG_STRICT", "1")
    enable_check_numerics()
    yield
    disable_check_numerics()


def stopped_by(function: Any, *arguments: Any) -> list[str]:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(*arguments)
    return caught.value.message.split("tdbg: ", 1)[1].splitlines()


@tf.function
def chain(x: Any) -> Any:
    a = tf.matmul(x, x)
    b = a * 3.0
    c = b + a
    return tf.square(c) - c


@pytest.mark.parametrize(
    ("dtype", "fine", "op", "told"),
    [
        ("float32", 1e5, "Square", "at most 8e+20 in magnitude"),  # 2·1e20 · 4, squared
        ("float64", 1e60, "Square", "in magnitude"),
        ("float16", 1.0, "Square", "in magnitude"),
        ("bfloat16", 1e5, "Square", "in magnitude"),
    ],
)
def test_the_op_that_overflows_is_named_with_what_went_in(dtype: str, fine: float, op: str, told: str) -> None:
    ones = tf.ones([2, 2], dtype)
    chain(ones)  # finite, and far from overflowing
    chain(tf.constant(fine, dtype) * ones)  # finite, or at least not bad before the square
    too_great = {"float32": 1e10, "float64": 1e100, "float16": 20.0, "bfloat16": 1e10}[dtype]
    lines = stopped_by(chain, tf.constant(too_great, dtype) * ones)
    assert lines[0].startswith(f"{op} made +inf ×4 of 4 from finite values"), lines[0]
    (given,) = [line for line in lines if line.startswith("    input 0: ")]
    assert "all finite, at most " in given and "from AddV2" in given
    if dtype == "float32":
        assert told in given


def test_a_constant_input_is_told_with_its_numbers() -> None:
    @tf.function
    def scaled(x: Any) -> Any:
        return tf.matmul(x, x) * tf.constant([[2e30, 0.0], [1.0, -3.0]])

    lines = stopped_by(scaled, 1e5 * tf.ones([2, 2]))
    assert lines[0].startswith("Mul made +inf ×1 of 4 from finite values")
    assert "min -3, max 2e+30, 1 of 4 zero; a constant" in next(line for line in lines if "    input 1: " in line)


@pytest.mark.parametrize("through", ["argument", "variable", "constant"])
def test_bad_values_from_outside_pass_sums_and_products(through: str) -> None:
    held = tf.Variable([1.0, -INF])

    @tf.function
    def masked(x: Any, mask: Any) -> Any:
        given = {"argument": mask, "variable": held.read_value(), "constant": tf.constant([0.0, -INF])}[through]
        moved = tf.reshape(tf.expand_dims(given * 1.0, 0), [-1])
        return tf.nn.softmax(tf.square(x) * 2.0 + moved)

    assert float(masked(tf.constant([1.0, 2.0]), tf.constant([0.0, -INF]))[1]) == 0.0


def test_infinity_minus_infinity_is_found_behind_a_mask() -> None:
    @tf.function
    def difference(x: Any, mask: Any) -> Any:
        a = tf.square(x) + mask
        return a - (mask + tf.square(x))

    lines = stopped_by(difference, tf.constant([1.0, 2.0]), tf.constant([0.0, -INF]))
    assert lines[0].startswith("Sub made NaN ×1 of 2 from values without NaN")


@pytest.mark.parametrize("parallel", [1, 10])
def test_loops_tell_the_iteration_and_do_not_mix_their_rounds(parallel: int) -> None:
    @tf.function
    def grows(x: Any, mask: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            square = tf.square(x * tf.cast(i, tf.float32))
            return i + 1, tf.maximum(total, tf.reduce_max(square + mask) * 1e37)

        return tf.while_loop(lambda i, total: i < 40, body, [0, 0.0], parallel_iterations=parallel)[1]

    assert float(grows(tf.constant([0.0, 0.01]), tf.constant([0.0, -INF]))) < INF
    lines = stopped_by(grows, tf.constant([0.0, 1.0]), tf.constant([0.0, 0.0]))
    assert lines[0].startswith("Mul made +inf ×1 of 1 from finite values")
    (iteration,) = [int(found[1]) for line in lines if (found := re.search(r"iteration (\d+)", line))]
    assert iteration >= 6 and (parallel > 1 or iteration == 6)  # 6 · 6 · 1e37 is more than float32 holds


def test_a_gradient_update_that_overflows_names_the_update() -> None:
    weight = tf.Variable([1e30, 1.0])

    @tf.function
    def step(scale: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight * scale)
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(gradient * gradient * 10.0)

    step(tf.constant(1.0))
    lines = stopped_by(step, tf.constant(1e20))
    assert lines[0].startswith("Mul made +inf")
