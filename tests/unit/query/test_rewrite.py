"""The user's own statement with one expression replaced: what is found, what is left alone."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.frameworks import dialect_of
from tdbg.query.fixes import finders as found
from tdbg.query.fixes import rewrite as r
from tdbg.query.fixes import softmax_by_hand
from tdbg.query.fixes.rewrite import rewrite
from tdbg.query.fixes.statement import Finder, Statement
from tdbg.query.trace.definitions import Definitions, definitions
from tdbg.vocabulary import Kind

BOUNDED = "{library}.maximum({0}, 1e-7)"
LOG = found.argument_of(Kind.LOG)


def in_tensorflow(text: str, known: Definitions | None = None) -> Statement:
    """A statement of a file that has ``import tensorflow as tf``."""
    return Statement(text, dialect_of("tensorflow"), {"tf": "tensorflow", "np": "numpy"}, known)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y = tf.math.log(p)", "y = tf.math.log(tf.maximum(p, 1e-7))"),
        ("return -tf.reduce_sum(t * tf.math.log(p))", "return -tf.reduce_sum(t * tf.math.log(tf.maximum(p, 1e-7)))"),
        ("y = ops.log(p)  # probabilities", "y = ops.log(ops.maximum(p, 1e-7))  # probabilities"),
        ("y = keras.ops.log(p)", "y = keras.ops.log(keras.ops.maximum(p, 1e-7))"),
        ("y = log(p)", "y = log(tf.maximum(p, 1e-7))"),
        ("ä = 'ü', tf.math.log(p)", "ä = 'ü', tf.math.log(tf.maximum(p, 1e-7))"),
        ("y = tf.math.log(\n    a +\n    b\n)", "y = tf.math.log(tf.maximum(a +\n    b, 1e-7))"),
        ("y = tf.math.log(p) + tf.math.log(q)", ""),  # which of the two?
        ("y = tf.math.log1p(p)", ""),
        ("y = model(x)", ""),
        ("y = tf.math.log(*args)", ""),
        ("y = tf.math.log(p", ""),
    ],
)
def test_the_argument_of_a_call(statement: str, expected: str) -> None:
    assert rewrite(in_tensorflow(statement), LOG, BOUNDED) == expected


@pytest.mark.parametrize(
    ("statement", "find", "template", "expected"),
    [
        ("y = a / b", found.division, "{library}.math.divide_no_nan({0}, {1})", "y = tf.math.divide_no_nan(a, b)"),
        (
            "y = (a + 1) / b[0]",
            found.division,
            "{0.operand} / {library}.maximum({1}, 1e-7)",
            "y = (a + 1) / tf.maximum(b[0], 1e-7)",
        ),
        ("y = a / b / c", found.division, "{0}", ""),
        (
            "y = tf.div(a, b)",
            found.division,
            "{library}.math.divide_no_nan({0}, {1})",
            "y = tf.math.divide_no_nan(a, b)",
        ),
        (
            "y = tf.divide(a, b) ** 2",
            found.division,
            "{0.operand} / {library}.maximum({1}, 1)",
            "y = (a / tf.maximum(b, 1)) ** 2",
        ),
        ("y = p * tf.math.log(p)", found.times_own_log, "{library}.math.xlogy({0}, {0})", "y = tf.math.xlogy(p, p)"),
        (
            "y = tf.math.log(p[0]) * p[0]",
            found.times_own_log,
            "{library}.math.xlogy({0}, {0})",
            "y = tf.math.xlogy(p[0], p[0])",
        ),
        (
            "h = tf.atan2(y, x)",
            found.second_argument_of(Kind.ATAN2),
            "{library}.abs({1})",
            "h = tf.atan2(y, tf.abs(x))",
        ),
        ("h = tf.atan2(y - 1, x)", found.second_argument_of(Kind.ATAN2), "{0}", "h = tf.atan2(y - 1, (y - 1))"),
        (
            "y = ops.arccos(x)",
            found.argument_of(Kind.ACOS),
            "{library}.clip_by_value({0})",
            "y = ops.arccos(tf.clip_by_value(x))",
        ),
        ("y = tf.log(x, name='y')", LOG, "{library}.abs({0})", "y = tf.log(tf.abs(x), name='y')"),
        ("y = tf.log(**given)", LOG, "{library}.abs({0})", ""),
        ("h = tf.atan2(y, x=x)", found.second_argument_of(Kind.ATAN2), "{0}", ""),
        (
            "y = tf.cast(x, tf.float16)",
            found.type_of_cast("float16"),
            "{library}.bfloat16",
            "y = tf.cast(x, tf.bfloat16)",
        ),
        (
            "y = tf.cast(x, 'float16')",
            found.type_of_cast("float16"),
            "{library}.bfloat16",
            "y = tf.cast(x, tf.bfloat16)",
        ),
        ("y = tf.cast(x, tf.float32)", found.type_of_cast("float16"), "{0}", ""),
        ("b = (1 - m) * float('-inf')", found.minus_infinity, "-1e9", "b = (1 - m) * -1e9"),
        ("b = (1 - m) * -np.inf", found.minus_infinity, "-1e9", "b = (1 - m) * -1e9"),
        ("b = m - np.inf", found.minus_infinity, "-1e9", ""),
        (
            "y = tf.linalg.inv(a if c else b)",
            found.argument_of(Kind.INVERSE),
            "{0.operand} + e",
            "y = tf.linalg.inv((a if c else b) + e)",
        ),
        ("y = q * tf.math.log(p)", found.times_own_log, "{library}.math.xlogy({0}, {0})", ""),
        (
            "y = tf.math.log(tf.nn.softmax(x, axis=1))",
            found.call_of_call(Kind.LOG, Kind.SOFTMAX),
            "{library}.nn.log_softmax({0}{1})",
            "y = tf.nn.log_softmax(x, axis=1)",
        ),
        (
            "y = tf.math.log(1 - tf.sigmoid(x))",
            found.call_of_one_minus(Kind.LOG, Kind.SIGMOID),
            "{library}.math.log_sigmoid(-({0}))",
            "y = tf.math.log_sigmoid(-(x))",
        ),
        (
            "y = tf.math.log(1 - tf.sigmoid(x) + 1e-10)",
            found.call_of_one_minus(Kind.LOG, Kind.SIGMOID),
            "{library}.math.log_sigmoid(-({0}))",
            "y = tf.math.log_sigmoid(-(x))",
        ),
        (
            "y = tf.where(x > 0, tf.math.log(x), 0.0)",
            found.where_around(Kind.LOG),
            "{library}.where({0}, {1}, {library}.ones_like({1}))",
            "y = tf.where(x > 0, tf.math.log(tf.where(x > 0, x, tf.ones_like(x))), 0.0)",
        ),
        ("y = x ** 0.5", found.power, "{library}.maximum({0}, 1e-7) ** {1.operand}", "y = tf.maximum(x, 1e-7) ** 0.5"),
    ],
)
def test_other_expressions(statement: str, find: Finder, template: str, expected: str) -> None:
    assert rewrite(in_tensorflow(statement), find, template) == expected


@pytest.mark.parametrize(
    ("before", "statement", "expected"),
    [
        ("p = tf.nn.softmax(x)", "y = tf.math.log(p)", "y = tf.nn.log_softmax(x)"),
        ("p = tf.nn.softmax(x)\nq = p[:, 0]", "y = tf.math.log(q)", "y = tf.nn.log_softmax(x)[:, 0]"),
        ("p = tf.nn.softmax(x)\np = p * 2", "y = tf.math.log(p)", ""),  # which of the two?
        ("p = tf.nn.softmax(x)\nx = 1", "y = tf.math.log(p)", ""),
        ("p, q = tf.nn.softmax(x), tf.nn.softmax(z)", "y = tf.math.log(q)", "y = tf.nn.log_softmax(z)"),
        ("x = 2\np = tf.nn.softmax(x)\nx = 1", "y = tf.math.log(p)", ""),  # x is another by now
        ("p = tf.nn.softmax(tf.layers.dense(x, 3))", "y = tf.math.log(p)", ""),  # would make a second layer
        ("p = tf.nn.softmax(tf.nn.dropout(x, 0.5))", "y = tf.math.log(p)", ""),  # would draw again
    ],
)
def test_a_name_that_stands_for_one_expression(before: str, statement: str, expected: str) -> None:
    tree = ast.parse(f"{before}\n{statement}")
    known = definitions(tree, before.count("\n") + 2, dialect_of("tensorflow").repeatable)
    find = found.call_of_call(Kind.LOG, Kind.SOFTMAX)
    assert rewrite(in_tensorflow(statement, known), find, "{library}.nn.log_softmax({0}{1})") == expected


def test_of_several_places_the_one_that_made_the_op() -> None:
    statement = "y = tf.math.log(p) + tf.math.log(q)"
    for at, expected in enumerate(("tf.maximum(p, 1e-7)", "tf.maximum(q, 1e-7)")):
        assert expected in rewrite(in_tensorflow(statement), LOG, BOUNDED, r.Target(LOG, at, 2))
    again = r.Target(LOG, 3, 4)  # the statement ran twice
    assert "tf.maximum(q, 1e-7)" in rewrite(in_tensorflow(statement), LOG, BOUNDED, again)
    assert rewrite(in_tensorflow(statement), LOG, BOUNDED, r.Target(LOG, 0, 3)) == ""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("p = tf.exp(x) / tf.reduce_sum(tf.exp(x), 1, keepdims=True)", "p = tf.nn.softmax(x, axis=1)"),
        ("p = tf.div(tf.exp(x), tf.reduce_sum(tf.exp(x), reduction_indices=[1]))", "p = tf.nn.softmax(x, axis=1)"),
        ("p = tf.exp(x) / tf.tile(tf.reduce_sum(tf.exp(x), -1, True), [1, 3])", "p = tf.nn.softmax(x, axis=-1)"),
        ("p = tf.exp(x) / tf.reduce_sum(tf.exp(z), 1)", ""),
        ("p = tf.exp(x) / tf.reduce_sum(tf.exp(x), [1, 2])", ""),
        ("p = tf.exp(x) / tf.reduce_mean(tf.exp(x), 1)", ""),
    ],
)
def test_a_softmax_by_hand(statement: str, expected: str) -> None:
    assert rewrite(in_tensorflow(statement), softmax_by_hand.quotient, "{library}.nn.softmax({0}{1})") == expected


def test_without_a_name_for_tensorflow_nothing_is_written() -> None:
    statement = Statement("y = a / b", dialect_of("tensorflow"), {"np": "numpy"})
    assert rewrite(statement, found.division, "{library}.math.divide_no_nan({0}, {1})") == ""


_EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "y[0]", "3.0", "self.w", "tf.exp(x)", "f(x, axis=1)"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=6,
)


@given(_EXPRESSIONS, _EXPRESSIONS, st.sampled_from(["", "    # why", "\n"]))
def test_all_else_stays_as_it_is(argument: str, around: str, end: str) -> None:
    statement = f"loss = {around} - tf.math.log({argument}){end}"
    changed = rewrite(in_tensorflow(statement), LOG, BOUNDED)
    assert changed.startswith(f"loss = {around} - tf.math.log(tf.maximum(")
    assert changed.endswith(f", 1e-7)){end}")
    assert _meaning(changed) == _meaning(f"loss = {around} - tf.math.log(tf.maximum({argument}, 1e-7))")


def _meaning(statement: str) -> str:
    return ast.dump(ast.parse(statement))
