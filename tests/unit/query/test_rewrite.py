"""The user's own statement with one expression replaced: what is found, what is left alone."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.query.fixes import rewrite as r
from tdbg.query.fixes import softmax_by_hand
from tdbg.query.fixes.rewrite import rewrite
from tdbg.query.trace.definitions import definitions

BOUNDED = "{2}({tf}.maximum({0}, 1e-7))"


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
    assert rewrite(statement, r.call("log"), BOUNDED) == expected


@pytest.mark.parametrize(
    ("statement", "find", "template", "expected"),
    [
        ("y = a / b", r.division, "{tf}.math.divide_no_nan({2}, {3})", "y = tf.math.divide_no_nan(a, b)"),
        ("y = (a + 1) / b[0]", r.division, "{0} / {tf}.maximum({3}, 1e-7)", "y = (a + 1) / tf.maximum(b[0], 1e-7)"),
        ("y = a / b / c", r.division, "{0}", ""),
        ("y = tf.div(a, b)", r.division, "{tf}.math.divide_no_nan({2}, {3})", "y = tf.math.divide_no_nan(a, b)"),
        ("y = tf.divide(a, b) ** 2", r.division, "{0} / {tf}.maximum({3}, 1)", "y = (a / tf.maximum(b, 1)) ** 2"),
        ("y = p * tf.math.log(p)", r.times_own_log, "{tf}.math.xlogy({0}, {0})", "y = tf.math.xlogy(p, p)"),
        ("y = tf.math.log(p[0]) * p[0]", r.times_own_log, "{tf}.math.xlogy({0}, {0})", "y = tf.math.xlogy(p[0], p[0])"),
        ("h = tf.atan2(y, x)", r.call_of_two("atan2"), "{2}({0}, {tf}.abs({1}))", "h = tf.atan2(y, tf.abs(x))"),
        ("h = tf.atan2(y - 1, x)", r.call_of_two("atan2"), "{0}", "h = (y - 1)"),
        ("h = tf.atan2(y, x=x)", r.call_of_two("atan2"), "{0}", ""),
        ("y = tf.cast(x, tf.float16)", r.cast_to("float16"), "{1}({0}, {tf}.bfloat16)", "y = tf.cast(x, tf.bfloat16)"),
        ("y = tf.cast(x, 'float16')", r.cast_to("float16"), "{1}({0}, {tf}.bfloat16)", "y = tf.cast(x, tf.bfloat16)"),
        ("y = tf.cast(x, tf.float32)", r.cast_to("float16"), "{0}", ""),
        ("b = (1 - m) * float('-inf')", r.minus_infinity, "-1e9", "b = (1 - m) * -1e9"),
        ("b = (1 - m) * -np.inf", r.minus_infinity, "-1e9", "b = (1 - m) * -1e9"),
        ("b = m - np.inf", r.minus_infinity, "-1e9", ""),
        (
            "y = tf.linalg.inv(a if c else b)",
            r.call("inv"),
            "{2}({3} + e{1})",
            "y = tf.linalg.inv((a if c else b) + e)",
        ),
        ("y = q * tf.math.log(p)", r.times_own_log, "{tf}.math.xlogy({0}, {0})", ""),
        (
            "y = tf.math.log(tf.nn.softmax(x, axis=1))",
            r.call_of_call(("log",), ("softmax",)),
            "{tf}.nn.log_softmax({0}{1})",
            "y = tf.nn.log_softmax(x, axis=1)",
        ),
        (
            "y = tf.math.log(1 - tf.sigmoid(x))",
            r.call_of_one_minus(("log",), ("sigmoid",)),
            "{tf}.math.log_sigmoid(-({0}))",
            "y = tf.math.log_sigmoid(-(x))",
        ),
        (
            "y = tf.math.log(1 - tf.sigmoid(x) + 1e-10)",
            r.call_of_one_minus(("log",), ("sigmoid",)),
            "{tf}.math.log_sigmoid(-({0}))",
            "y = tf.math.log_sigmoid(-(x))",
        ),
        (
            "y = tf.where(x > 0, tf.math.log(x), 0.0)",
            r.where_around("log"),
            "{tf}.where({0}, {1}({tf}.where({0}, {2}, {tf}.ones_like({2}))), {3})",
            "y = tf.where(x > 0, tf.math.log(tf.where(x > 0, x, tf.ones_like(x))), 0.0)",
        ),
        ("y = x ** 0.5", r.power, "{tf}.maximum({2}, 1e-7) ** {1}", "y = tf.maximum(x, 1e-7) ** 0.5"),
    ],
)
def test_other_expressions(statement: str, find: r.Finder, template: str, expected: str) -> None:
    assert rewrite(statement, find, template) == expected


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
    known = definitions(tree, before.count("\n") + 2)
    find = r.call_of_call(("log",), ("softmax",))
    assert rewrite(statement, find, "{tf}.nn.log_softmax({0}{1})", known=known) == expected


def test_of_several_places_the_one_that_made_the_op() -> None:
    statement = "y = tf.math.log(p) + tf.math.log(q)"
    for at, expected in enumerate(("tf.maximum(p, 1e-7)", "tf.maximum(q, 1e-7)")):
        assert expected in rewrite(statement, r.call("log"), BOUNDED, target=r.Target(r.call("log"), at, 2))
    again = r.Target(r.call("log"), 3, 4)  # the statement ran twice
    assert "tf.maximum(q, 1e-7)" in rewrite(statement, r.call("log"), BOUNDED, target=again)
    assert rewrite(statement, r.call("log"), BOUNDED, target=r.Target(r.call("log"), 0, 3)) == ""


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
    assert rewrite(statement, softmax_by_hand.quotient, "{tf}.nn.softmax({0}{1})") == expected


def test_without_a_name_for_tensorflow_nothing_is_written() -> None:
    assert rewrite("y = a / b", r.division, "{tf}.math.divide_no_nan({2}, {3})", library="") == ""


_EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "y[0]", "3.0", "self.w", "tf.exp(x)", "f(x, axis=1)"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=6,
)


@given(_EXPRESSIONS, _EXPRESSIONS, st.sampled_from(["", "    # why", "\n"]))
def test_all_else_stays_as_it_is(argument: str, around: str, end: str) -> None:
    statement = f"loss = {around} - tf.math.log({argument}){end}"
    changed = rewrite(statement, r.call("log"), BOUNDED)
    assert changed.startswith(f"loss = {around} - tf.math.log(tf.maximum(")
    assert changed.endswith(f", 1e-7)){end}")
    assert _meaning(changed) == _meaning(f"loss = {around} - tf.math.log(tf.maximum({argument}, 1e-7))")


def _meaning(statement: str) -> str:
    return ast.dump(ast.parse(statement))
