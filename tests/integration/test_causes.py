"""Tiny programs, each broken in one way: the cause, the line and the fix that the verdict names for it.

The programs are functions from variables to a loss. Each is trained for two steps, as a graph or eagerly, while tdbg
records; the line to find is marked. All run in this one process.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import record

pytest.importorskip("tensorflow")

import keras
import tensorflow as tf

from tdbg.query.trace.program import short_path
from tdbg.query.verdict.text import full_lines, short_lines
from tdbg.query.verdict.verdict import Origin, explain


@dataclass(frozen=True)
class Program:
    """A loss, the values of its variables, and what there is to find."""

    function: Callable[..., Any]
    cause: str
    values: tuple[Any, ...]
    eager: bool
    code: str  # part of the rewritten statement; "" when none is expected
    tried: bool

    @property
    def line(self) -> int:
        lines, first = inspect.getsourcelines(self.function)
        return first + next(at for at, line in enumerate(lines) if line.rstrip().endswith("# here"))

    def train(self) -> None:
        variables = [tf.Variable(np.asarray(v, getattr(v, "dtype", np.float32))) for v in self.values]

        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = self.function(*variables)
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                if gradient is not None:
                    variable.assign_sub(tf.cast(0.1, variable.dtype) * gradient)
            return loss

        run = step if self.eager else tf.function(step)
        for _ in range(2):
            run()


PROGRAMS: list[Any] = []


def program(cause: str, *values: Any, eager: bool | None = None, code: str = "", tried: bool = True) -> Callable:
    """``eager=None``: both ways."""

    def register(function: Callable) -> Callable:
        for is_eager in (False, True) if eager is None else (eager,):
            case = Program(function, cause, values, is_eager, code, tried)
            PROGRAMS.append(pytest.param(case, id=f"{function.__name__}-{'eager' if is_eager else 'graph'}"))
        return function

    return register


@program("log_of_zero", [0.5, 0.0], code="tf.math.log(tf.maximum(p, 1e-7))")
def log_of_zero(p):
    return -tf.reduce_sum(tf.math.log(p))  # here


@program("log_of_zero", [0.5, 0.0], eager=False, code="tf.math.xlogy(p, p)")
def entropy(p):
    return -tf.reduce_sum(p * tf.math.log(p))  # here


@program("log_of_zero", [[500.0, 1.0]], code="tf.nn.log_softmax(p)")
def log_of_softmax(p):
    return -tf.reduce_sum(tf.math.log(tf.nn.softmax(p)))  # here


@program("log_of_zero", [40.0, 1.0], eager=False, code="tf.math.log_sigmoid(-(p))")
def log_of_one_minus_sigmoid(p):
    return -tf.reduce_sum(tf.math.log(1.0 - tf.sigmoid(p)))  # here


@program("log_of_zero", [0.5, -1.0], eager=False, code="tf.maximum(p, -0.999999)")
def log1p(p):
    return tf.reduce_sum(tf.math.log1p(p))  # here


@program("log_of_negative", [0.5, -1.0], eager=False, code="tf.maximum(p, 1e-7)")
def log_of_negative(p):
    return tf.reduce_sum(tf.math.log(p))  # here


@program("clip_after_bad_op", [0.5, 0.0], code="tf.math.log(tf.maximum(p, 1e-7))")
def clip_of_log(p):
    return tf.reduce_sum(tf.clip_by_value(tf.math.log(p), -10.0, 1.0))  # here


@program("clip_after_bad_op", [0.5, 0.0], eager=False, code="tf.math.log(tf.maximum(p, 1e-7))")
def cleaned_log(p):
    y = tf.math.log(p)  # here
    return tf.reduce_sum(tf.where(tf.math.is_finite(y), y, 0.0))


@program("where_trap", [0.5, 0.0], code="tf.where(p > 0, p, tf.ones_like(p))")
def where_of_log(p):
    return tf.reduce_sum(tf.where(p > 0, tf.math.log(p), 0.0))  # here


@program("where_trap", [0.5, 0.0], eager=False, code="1.0 / tf.where(p > 0, p, tf.ones_like(p))")
def where_of_quotient(p):
    return tf.reduce_sum(tf.where(p > 0, 1.0 / p, 0.0))  # here


@program("where_trap", [0.5, 1000.0], eager=False, code="tf.exp(tf.where(p < 10, p, tf.zeros_like(p)))")
def where_of_exp(p):
    return tf.reduce_sum(tf.where(p < 10, tf.exp(p), 0.0))  # here


@program("all_masked_softmax", [[0.5, 1.0], [2.0, 0.2]])
def row_without_a_choice(p):
    mask = tf.constant([[True, False], [False, False]])
    scores = tf.where(mask, p, -np.inf)
    return tf.reduce_sum(tf.square(tf.nn.softmax(scores)))  # here


@program("wrong_mask", [[0.5, 1.0], [2.0, 0.2]], eager=False, code="tf.constant(-1e9)")
def mask_times_infinity(p):
    keep = tf.constant([[1.0, 0.0], [1.0, 1.0]])
    bias = (1.0 - keep) * tf.constant(-np.inf)  # here
    return tf.reduce_sum(tf.square(tf.nn.softmax(p + bias)))


@program("div_by_zero", [0.5, 0.0], code="tf.math.divide_no_nan(1.0, p)")
def quotient(p):
    return tf.reduce_sum(1.0 / p)  # here


@program("div_by_zero", [0.5, 0.0], eager=False, code="tf.math.log(0.3 / tf.maximum(q, 1e-7))")
def quotient_that_must_not_be_zero(q):
    return tf.reduce_sum(tf.math.log(0.3 / q))  # here


@program("zero_over_zero", [[0.0, 0.0], [1.0, 2.0]], eager=False, code="tf.math.divide_no_nan(p, length)")
def unit_vector(p):
    length = tf.norm(p, axis=1, keepdims=True)
    return tf.reduce_sum(p / length)  # here


@program("empty_reduction", [0.5, 0.3], code="tf.math.divide_no_nan(tf.reduce_sum(p * m), tf.reduce_sum(m))")
def mean_over_an_empty_mask(p):
    m = tf.cast(p > 1, tf.float32)
    return tf.reduce_sum(p * m) / tf.reduce_sum(m)  # here


@program("empty_reduction", [0.5, 0.3], code="tf.maximum(tf.size(tf.boolean_mask(p, p > 1)), 1)")
def mean_of_nothing(p):
    return tf.reduce_mean(tf.boolean_mask(p, p > 1))  # here


@program("half_underflow", np.array([1.0, 2.0], np.float16), eager=False)
def epsilon_of_half(p):
    same = p * 0
    return tf.reduce_sum(same / tf.sqrt(tf.math.reduce_variance(same) + 1e-8))  # here


@program("repeated_eigenvalues", [[1.0, 0.0], [0.0, 1.0]], eager=False)
def gap_of_eigenvalues(p):
    values = tf.linalg.eigvalsh(tf.stop_gradient(tf.eye(2)))
    gap = values[1:] - values[:-1]
    return tf.reduce_sum(p) + tf.reduce_sum(p[0] / gap)  # here


@program("sqrt_at_zero", [0.5, 0.0], code="tf.sqrt(tf.maximum(p, 1e-12))")
def root(p):
    return tf.reduce_sum(tf.sqrt(p))  # here


@program("norm_at_zero", [[0.0, 0.0], [1.0, 2.0]], code="tf.reduce_sum(tf.square(p), axis=1), 1e-12))")
def norm(p):
    return tf.reduce_sum(tf.norm(p, axis=1))  # here


@program("norm_at_zero", [[0.0, 0.0], [1.0, 2.0]], eager=False, code="tf.sqrt(tf.maximum(tf.reduce_sum(")
def norm_by_hand(p):
    return tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(p), axis=1)))  # here


@program("sqrt_of_negative", [0.5, -1.0], eager=False, code="tf.sqrt(tf.maximum(p, 1e-12))")
def root_of_negative(p):
    return tf.reduce_sum(tf.sqrt(p))  # here


@program("catastrophic_cancellation", [1000.1, 1000.1, 1000.2], code="tf.sqrt(tf.maximum(variance, 1e-12))")
def variance_by_squares(p):
    squares = tf.reduce_mean(p * p) + 0.0625 * tf.stop_gradient(tf.reduce_mean(p * 0.0) - 2.0)
    variance = squares - tf.square(tf.reduce_mean(p))
    return tf.sqrt(variance)  # here


@program("rsqrt_of_zero", [0.5, 0.0], eager=False, code="tf.math.rsqrt(tf.maximum(p, 1e-12))")
def reciprocal_root(p):
    return tf.reduce_sum(tf.math.rsqrt(p))  # here


@program("pow_domain", [0.5, 0.0], code="tf.pow(tf.maximum(p, 1e-7), 0.5)")
def power_at_zero(p):
    return tf.reduce_sum(tf.pow(p, 0.5))  # here


@program("pow_domain", [0.5, -2.0], eager=False, code="tf.maximum(p, 1e-7) ** 0.3")
def power_of_negative(p):
    return tf.reduce_sum(p**0.3)  # here


@program("trig_domain", [0.5, 1.0], code="tf.acos(tf.clip_by_value(p, -0.999999, 0.999999))")
def angle(p):
    return tf.reduce_sum(tf.acos(p))  # here


@program("trig_domain", [0.5, 1.0000002], eager=False, code="tf.asin(tf.clip_by_value(p, -0.999999, 0.999999))")
def angle_past_the_end(p):
    return tf.reduce_sum(tf.asin(p))  # here


@program("trig_domain", [1.5, 1.0], eager=False, code="tf.acosh(tf.maximum(p, 1.000001))")
def hyperbolic(p):
    return tf.reduce_sum(tf.acosh(p))  # here


@program("exp_overflow", [0.5, 100.0], code="tf.exp(tf.minimum(p, 20.0))")
def exponential(p):
    return tf.reduce_sum(tf.exp(p))  # here


@program("log_of_zero", [0.5, 0.0], eager=False, code="tf.math.xlogy(2.0, tf.maximum(p, 1e-7))")
def second_of_xlogy(p):
    return tf.reduce_sum(tf.math.xlogy(2.0, p))  # here


@program("clip_after_bad_op", [0.5, 0.0], eager=False, code="tf.math.log(tf.maximum(p, 1e-7))")
def log_behind_a_flat_function(p):
    gate = tf.math.log(p)  # here
    return tf.reduce_sum(tf.tanh(gate))


@program("trig_domain", [0.0, 1.0], [0.0, 1.0], eager=False, code="tf.ones_like(x), x))")
def angle_of_nothing(y, x):
    return tf.reduce_sum(tf.atan2(y, x))  # here


@program("trig_domain", [0.5, 1.0], eager=False, code="tf.math.erfinv(tf.clip_by_value(p, -0.999999, 0.999999))")
def quantile(p):
    return tf.reduce_sum(tf.math.erfinv(p))  # here


@program("mul_overflow", [1.0, 1e-25], code="tf.math.reciprocal(tf.maximum(p, 1e-7))")
def slope_of_a_reciprocal(p):
    return tf.reduce_sum(tf.math.reciprocal(p))  # here


@program("zero_over_zero", [0.0, 1.0], eager=False, code="tf.maximum(tf.math.divide_no_nan(p, p * p), 1e-12)")
def root_of_a_quotient(p):
    return tf.reduce_sum(tf.sqrt(p / (p * p)))  # here


@program("exp_overflow", [0.5, 100.0], eager=False, code="tf.exp(p - tf.reduce_max(p))")
def softmax_by_hand(p):
    e = tf.exp(p)  # here
    return tf.reduce_sum(tf.square(e / tf.reduce_sum(e)))


@program("exp_overflow", [[0.5, 100.0], [1.0, 2.0]], code="p = tf.nn.softmax(x, axis=1)")
def softmax_by_hand_in_one_statement(x):
    p = tf.exp(x) / tf.reduce_sum(tf.exp(x), axis=1, keepdims=True)  # here
    return tf.reduce_sum(tf.square(p))


@program("exp_overflow", [[0.5, 100.0], [1.0, 2.0]], code="tf.exp(x - tf.reduce_max(x, axis=1, keepdims=True))")
def softmax_by_hand_with_tile(x):
    e = tf.exp(x)  # here
    total = tf.tile(tf.expand_dims(tf.reduce_sum(e, 1), 1), [1, 2])
    return tf.reduce_sum(tf.square(tf.divide(e, total)))


@program("zero_over_zero", [[0.5, 300.0], [1.0, 2.0]], code="tf.nn.softmax(x - tf.reduce_max(x), axis=1)")
def softmax_by_hand_with_one_maximum_for_all_rows(x):
    e = tf.exp(x - tf.reduce_max(x))
    p = e / tf.reduce_sum(e, axis=1, keepdims=True)  # here
    return tf.reduce_sum(tf.square(p))


@program("exp_overflow", [[0.5, 100.0], [1.0, 2.0]], eager=False, code="y * tf.nn.log_softmax(x, axis=1)")
def log_of_a_softmax_by_hand(x):
    y = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    return -tf.reduce_sum(y * tf.math.log(tf.exp(x) / tf.reduce_sum(tf.exp(x), 1, keepdims=True)))  # here


@program("log_of_zero", [[0.5, 300.0], [1.0, 2.0]], eager=False, code="tf.gather(tf.nn.log_softmax(x), [0], axis=1)")
def log_of_a_softmax_of_another_statement(x):
    p = tf.nn.softmax(x)
    chosen = tf.gather(p, [0], axis=1)
    return -tf.reduce_sum(tf.math.log(chosen))  # here


@program("log_of_zero", [0.5, 1.0], [0.5, 300.0], code="tf.math.log(real) + tf.math.log_sigmoid(-(g))")
def two_logs_of_a_discriminator(d, g):
    real, fake = tf.sigmoid(d), tf.sigmoid(g)
    return -tf.reduce_mean(tf.math.log(real) + tf.math.log(1.0 - fake))  # here


@program("exp_overflow", [0.5, 1.0], [0.5, 100.0], code="tf.exp(p) + tf.exp(tf.minimum(q, 20.0))")
def two_exponentials(p, q):
    return tf.reduce_sum(tf.exp(p) + tf.exp(q))  # here


@program("div_by_zero", [0.5, 0.0], eager=False, code="tf.math.divide_no_nan(1.0, p)")
def quotient_as_a_call(p):
    return tf.reduce_sum(tf.divide(1.0, p))  # here


@program("variance_collapse", [-100.0, 1.0], eager=False)
def gaussian_likelihood(log_variance):
    error = tf.square(tf.constant([1.0, 2.0]))
    return tf.reduce_sum(0.5 * (log_variance + error / tf.exp(log_variance)))  # here


@program("mul_overflow", [1e30, 1.0])
def product(p):
    return tf.reduce_sum(p * p)  # here


@program("sum_overflow", [3e38, 3e38])
def total(p):
    return tf.reduce_sum(p)  # here


@program("half_overflow", np.array([300.0, 2.0], np.float16))
def square_in_half(p):
    return tf.reduce_sum(p * p)  # here


@program("half_overflow", np.full((2, 64), 40.0, np.float16), eager=False)
def product_of_matrices_in_half(p):
    return tf.reduce_sum(tf.cast(tf.matmul(p, p, transpose_b=True), tf.float32))  # here


@program("half_overflow", np.full((3, 2, 64), 40.0, np.float16), eager=False)
def attention_in_half(p):
    return tf.reduce_sum(tf.cast(tf.matmul(p, p, transpose_b=True), tf.float32))  # here


@program("half_overflow", np.full((1, 6, 6, 4), 60.0, np.float16), eager=False)
def convolution_in_half(p):
    kernel = tf.fill([3, 3, 4, 2], tf.cast(40.0, tf.float16))
    return tf.reduce_sum(tf.cast(tf.nn.conv2d(p, kernel, 1, "VALID"), tf.float32))  # here


@program("half_overflow", np.full((3, 2, 64), 40.0, np.float16), eager=False)
def einsum_in_half(p):
    return tf.reduce_sum(tf.cast(tf.einsum("bij,bkj->bik", p, p), tf.float32))  # here


@program("half_overflow", np.full(100, 1000.0, np.float16), eager=False)
def sum_in_half(p):
    return tf.reduce_sum(p)  # here


@program("cast_overflow", [1e6, 2.0], code="tf.cast(p * 1.0, tf.bfloat16)")
def cast_to_half(p):
    return tf.reduce_sum(tf.cast(p * 1.0, tf.float16))  # here


@program("fp8_saturation", [500.0, 2.0], eager=False)
def cast_to_eight_bits(p):
    small = tf.cast(p * 1.0, tf.dtypes.experimental.float8_e4m3fn)  # here
    return tf.reduce_sum(tf.cast(small, tf.float32)) + tf.reduce_sum(p)


@program("singular_matrix", [[1.0, 0.0], [0.0, 0.0]], eager=False, code="p + 2e-06 * tf.eye(tf.shape(p)[-1]")
def cholesky(p):
    return tf.reduce_sum(tf.linalg.cholesky(p))  # here


@program("singular_matrix", [[1.0, 2.0], [2.0, 4.0]], tried=False)
def orthogonal(p):
    q, r = tf.linalg.qr(p)  # here
    return tf.reduce_sum(q) + tf.reduce_sum(r)


@program("singular_matrix", [[1.0, 1.0], [1.0, 1.0]], eager=False, code="tf.linalg.slogdet(tf.stop_gradient(p) + ")
def volume(p):
    return tf.reduce_sum(p) + tf.linalg.slogdet(tf.stop_gradient(p))[1]  # here


@program("singular_matrix", [[1.0, 0.0], [0.0, -1.0]], eager=False, tried=False)
def no_covariance(p):
    return tf.reduce_sum(p) + tf.reduce_sum(tf.linalg.cholesky(tf.stop_gradient(p)))  # here


@program("mul_overflow", [[1e30, 0.0], [0.0, 1e30]], eager=False)
def large_determinant(p):
    return tf.reduce_sum(p) + tf.linalg.det(tf.stop_gradient(p))  # here


@program("ctc_infeasible", np.zeros((3, 1, 4), np.float32), eager=False, tried=False)
def too_many_labels(logits):
    labels = tf.sparse.from_dense([[1, 1, 1]])
    return tf.reduce_sum(tf.nn.ctc_loss(labels, logits, None, tf.constant([3]), blank_index=0))  # here


@program("custom_gradient", [0.0, 3.0], eager=True, code="return tf.math.divide_no_nan(upstream, x)")
def own_gradient(p):
    @tf.custom_gradient
    def double(x):
        def gradient(upstream):
            return upstream / x  # here

        return x * 2.0, gradient

    return tf.reduce_sum(double(p))


@program("gradient_clip_contamination", [1.0, 2.0], [1.0], eager=False)
def norm_of_gradients(p, q):
    with tf.GradientTape() as tape:
        tape.watch([p, q])
        loss = tf.reduce_sum(p * 1e25) + tf.reduce_sum(q)
    clipped, _ = tf.clip_by_global_norm(tape.gradient(loss, [p, q]), 1.0)  # here
    return tf.reduce_sum(clipped[0] * p) + tf.reduce_sum(clipped[1] * q)


@program("unknown", [0.0, 2.0], eager=False, tried=False)
def gamma_at_zero(p):
    return tf.reduce_sum(tf.math.lgamma(p))  # here


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def first_origin(folder: Path, run: Callable[[], None]) -> Origin:
    with record(folder) as recorded:
        run()
    origins = explain(recorded.trace).origins
    assert origins, "no trouble was found"
    return origins[0]


@pytest.mark.parametrize("case", PROGRAMS)
def test_cause_line_and_fix(case: Program, tmp_path: Path) -> None:
    origin = first_origin(tmp_path, case.train)
    cause = origin.cause
    assert cause.name == case.cause, cause
    assert origin.frame is not None and (origin.frame.file, origin.frame.line) == (__file__, case.line)
    if case.code:
        assert cause.fix is not None and case.code in cause.fix.code
    if cause.fix is not None:
        assert bool(cause.fix.trial) != bool(cause.fix.not_executed)
    if case.tried:
        assert cause.fix is not None and cause.fix.trial is not None
        assert "finite" in cause.fix.trial.after
        assert any(word in cause.fix.trial.before for word in ("inf", "nan"))


def test_the_evidence_names_the_element_and_what_made_it(tmp_path: Path) -> None:
    case = next(one.values[0] for one in PROGRAMS if one.id == "log_of_softmax-graph")
    evidence = first_origin(tmp_path, case.train).cause.evidence
    assert f"element [0, 1]: log(0); the 0 came from Softmax, {short_path(__file__)}:{case.line}" in " ".join(evidence)


def test_float64_tells_range_from_domain(tmp_path: Path) -> None:
    overflow = next(one.values[0] for one in PROGRAMS if one.id == "exponential-eager")
    assert "in float64 it is 2.688e+43" in " ".join(first_origin(tmp_path, overflow.train).cause.evidence)


# ---- what comes in, and what an optimizer does


def test_a_sample_of_a_dataset(tmp_path: Path) -> None:
    data = np.ones((40, 3), np.float32)
    data[25, 2] = np.nan
    weights = tf.Variable(tf.ones([3, 1]))

    def batches() -> Any:
        for at in range(0, 40, 8):
            yield data[at : at + 8]

    def train() -> None:
        dataset = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec([8, 3]))

        @tf.function
        def step(batch: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(batch @ weights))
            weights.assign_sub(0.1 * tape.gradient(loss, weights))
            return loss

        for batch in dataset:
            step(batch)

    cause = first_origin(tmp_path, train).cause
    assert cause.name == "nan_in_data"
    assert "sample 1 of this batch, feature 2" in cause.evidence[0]
    assert cause.evidence[1] == "it is recorded batch 3, counting from 0; the 3 before it were good"
    assert "FlatMapDataset" in cause.evidence[2]


def test_text_that_says_nan(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("".join(f"{row},{'nan' if row == 13 else row},1\n" for row in range(20)))
    weights = tf.Variable(tf.ones([2, 1]))

    def fit(table: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(table[:, :2] @ weights - table[:, 2:]))
        weights.assign_sub(0.001 * tape.gradient(loss, weights))

    def parsed_in_a_dataset() -> None:
        lines = tf.data.TextLineDataset(str(file))
        for batch in lines.map(lambda line: tf.stack(tf.io.decode_csv(line, [0.0] * 3))).batch(5):
            fit(batch)

    def parsed_in_a_function() -> None:
        numbers = tf.function(lambda lines: tf.strings.to_number(tf.strings.split(lines, ",").to_tensor()))
        for batch in tf.data.TextLineDataset(str(file)).batch(5):
            fit(numbers(batch))

    def read_by_a_dataset_of_its_own() -> None:
        rows = tf.data.experimental.CsvDataset(str(file), [0.0] * 3)
        for batch in rows.map(lambda *columns: tf.stack(columns)).batch(5):
            fit(batch)

    found = {}
    for run in (parsed_in_a_dataset, parsed_in_a_function, read_by_a_dataset_of_its_own):
        weights.assign(tf.ones([2, 1]))
        (tmp_path / run.__name__).mkdir()
        found[run] = first_origin(tmp_path / run.__name__, run)
    assert {(origin.cause.name, origin.kind) for origin in found.values()} == {("nan_in_data", "data")}
    assert found[parsed_in_a_dataset].cause.evidence[0] == "column 1 is nan (counted from 0)"
    assert found[parsed_in_a_dataset].cause.evidence[1].endswith("records were parsed before it")
    assert found[parsed_in_a_function].cause.evidence[0] == "row 3, column 1 is nan (counted from 0)"
    assert found[read_by_a_dataset_of_its_own].cause.evidence[0].endswith("sample 3 of this batch, feature 1")


def test_an_overflow_of_half_precision_names_data_that_is_not_scaled(tmp_path: Path) -> None:
    weights = tf.Variable(np.full((64, 3), 0.5, np.float16))

    @tf.function
    def step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cast(tf.matmul(tf.cast(batch, tf.float16), weights), tf.float32))
        weights.assign_sub(tf.cast(0.001, tf.float16) * tape.gradient(loss, weights))
        return loss

    cause = first_origin(tmp_path, lambda: step(tf.constant(np.full((2, 64), 25500.0, np.float32)))).cause
    assert cause.name == "half_overflow" and "input 0 is large, up to 2.55e+04" in cause.reason
    assert cause.evidence[0].startswith("input 0 is input data, not scaled")
    assert cause.fix is not None and cause.fix.text.startswith("scale the data")


def test_an_epsilon_that_is_lost_beside_one_is_named(tmp_path: Path) -> None:
    def first_evidence(name: str, loss: Callable[..., Any]) -> str:
        (tmp_path / name).mkdir()
        case = Program(loss, "log_of_zero", ([0.2, 40.0],), False, "", True)
        return " ".join(first_origin(tmp_path / name, case.train).cause.evidence)

    def beside_one(x: Any) -> Any:
        return -tf.reduce_mean(tf.math.log(1.0 + 1e-10 - tf.sigmoid(x)))

    def in_a_clip(x: Any) -> Any:
        epsilon = 1e-10
        p = tf.clip_by_value(tf.sigmoid(x), epsilon, 1.0 - epsilon)
        return -tf.reduce_mean(tf.math.log(1.0 - p))

    def none(x: Any) -> Any:
        return -tf.reduce_mean(tf.math.log(1.0 - tf.sigmoid(x)))

    assert "the epsilon of 1e-10 is lost" in first_evidence("one", beside_one)
    assert "the epsilon of 1e-10 is lost" in first_evidence("clip", in_a_clip)
    assert "epsilon" not in first_evidence("none", none)


def test_of_two_logs_of_a_session_the_bad_one_is_changed(tmp_path: Path) -> None:
    """The runtime numbers its ops in another order than the program made them."""
    v1 = tf.compat.v1

    def run() -> None:
        with v1.Graph().as_default(), v1.Session() as session:
            p, q = (v1.placeholder(tf.float32, [2], name) for name in "pq")
            loss = tf.reduce_sum(tf.math.log(p) + tf.math.log(q * 2.0) + tf.math.log(p + q))
            session.run(loss, {p: [1.0, 2.0], q: [0.0, 1.0]})

    fix = first_origin(tmp_path, run).cause.fix
    assert fix is not None and "log(p) + tf.math.log(tf.maximum(q * 2.0, 1e-7)) + tf.math.log(p + q)" in fix.code


def test_a_fix_says_on_what_it_was_tried_how_far_and_where_it_stops_the_gradient(tmp_path: Path) -> None:
    def train() -> None:
        for low in (0.5, 0.0, 0.25, 0.125):  # nothing that is bad goes into the next run
            p = tf.constant([low, 1.0])
            with tf.GradientTape() as tape:
                tape.watch(p)
                loss = tf.reduce_sum(tf.math.log(p))
            tape.gradient(loss, p)

    fix = first_origin(tmp_path, train).cause.fix
    assert fix is not None and fix.trial is not None
    assert fix.trial.on == "this op's inputs"
    assert "; the gradient is 0 at the 1 that was bad" in fix.trial.after
    assert "; finite too in the 2 later runs of the op" in fix.trial.after
    assert "on values made from the recorded minimum, maximum and zeros, because their inputs" in fix.trial.after


def test_a_better_fix_is_named_before_one_that_stops_the_gradient(tmp_path: Path) -> None:
    def discriminator(x: Any) -> Any:
        return tf.sigmoid(x)

    def loss(x: Any) -> Any:
        return -tf.reduce_mean(tf.math.log(1.0 - discriminator(x)))

    with record(tmp_path) as run:
        Program(loss, "", ([0.2, 40.0],), False, "", True).train()
    verdict = explain(run.trace)
    fix = verdict.origins[0].cause.fix
    assert fix is not None and fix.text.startswith(
        "best, because it keeps the gradient: tf.nn.sigmoid_cross_entropy_with_l"
    )
    assert "tf.maximum(1.0 - discriminator(x), 1e-7)" in fix.code
    short = [line.strip() for line in short_lines(verdict)]
    assert "fix, not executed: tf.math.log_sigmoid(-x) keeps the gradient (x: the input of the sigmoid)" in short
    assert "or: return -tf.reduce_mean(tf.math.log(tf.maximum(1.0 - discriminator(x), 1e-7)))" in short


def test_an_array_that_a_dataset_is_made_from(tmp_path: Path) -> None:
    data = np.ones((40, 3), np.float32)
    data[25, 2] = np.nan

    def train() -> None:
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(data, data[:, :1], batch_size=8, verbose=0, shuffle=False)

    cause = first_origin(tmp_path, train).cause
    assert cause.name == "nan_in_data"
    assert cause.evidence[0] == "element [25, 2] is nan: sample 25 of this data, feature 2"


def test_an_infinite_argument_of_a_function(tmp_path: Path) -> None:
    data = np.ones((40, 3), np.float32)
    data[25, 2] = np.inf
    weights = tf.Variable(tf.ones([3, 1]))

    @tf.function
    def step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(batch @ weights))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    def train() -> None:
        for at in range(0, 40, 8):
            step(tf.constant(data[at : at + 8]))

    cause = first_origin(tmp_path, train).cause
    assert cause.name == "inf_in_data"
    assert cause.evidence[0] == "element [1, 2] is inf: sample 1 of this batch, feature 2"


def test_what_cannot_be_executed_says_so_and_what_grows_is_told_by_its_growth(tmp_path: Path) -> None:
    w = tf.Variable([3.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w * x)
        w.assign_sub(5.0 * tape.gradient(loss, w))
        return loss

    def short_and_full(name: str, rows: list[float]) -> tuple[str, str, Any]:
        with record(tmp_path, name) as recorded:
            for x in rows:
                step(tf.constant([x]))
        verdict = explain(recorded.trace)
        return "\n".join(short_lines(verdict)), "\n".join(full_lines(verdict)), verdict.origins[0].as_dict()

    short, full, origin = short_and_full("grows", [1000.0] * 12)
    assert origin["fix"]["trial"] is None and origin["fix"]["not_executed"].startswith("it changes more than this op")
    assert "it grew with each run, until the product is larger than float32" in short
    assert "fix, not executed: use a smaller learning rate" in short
    assert "not executed: it changes more than this op" in full
    w.assign([3.0])
    short, full, origin = short_and_full("data", [np.nan])
    assert "fix, not executed: check where this data" in short and "it is recorded batch 0" in full
    assert origin["fix"]["not_executed"] == "it changes the data, not an op"


def test_an_initializer(tmp_path: Path) -> None:
    def train() -> None:
        layer = keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(np.nan))
        model = keras.Sequential([layer])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)

    assert first_origin(tmp_path, train).cause.name == "bad_initial_weights"


def test_a_checkpoint(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(w=tf.Variable([1.0, np.nan])).write(tempfile.mkdtemp(dir=tmp_path) + "/checkpoint")
    weights = tf.Variable([1.0, 2.0])

    def train() -> None:
        tf.train.Checkpoint(w=weights).read(path)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    assert first_origin(tmp_path, train).cause.name == "nan_in_checkpoint"


def test_adam_with_an_epsilon_that_half_precision_rounds_to_zero(tmp_path: Path) -> None:
    weights = tf.Variable(np.ones(3, np.float16))

    def train() -> None:
        optimizer = keras.optimizers.Adam(1e-3, epsilon=1e-8)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights * tf.constant([0.0, 1.0, 2.0], tf.float16))
        optimizer.apply([tape.gradient(loss, weights)], [weights])

    origin = first_origin(tmp_path, train)
    assert (origin.cause.name, origin.kind) == ("adam_eps_underflow", "update")
