"""What is left of an expression once an op is known, in Python and in C alike."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdbg import native
from tdbg.capture import condition
from tdbg.expressions import FIELDS, Both, Comparison, Expression, Name, Opposite, Range, Search, Truth, parse
from tdbg.model import Phase

KNOWN = condition.known_of("Log", "a/Log", Phase.FORWARD, "") | {"slot": 1, "dtype": "float32"}
OF_TENSORS = [name for name in condition.OF_TENSORS if name != "bad"]


def test_every_number_of_the_language_is_tested_in_c() -> None:
    decided = {*KNOWN}
    assert set(condition.OF_TENSORS) == {name for name in FIELDS if name not in decided}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('nan > 0 and op == "Log"', "nan > 0"),
        ('nan > 0 and op == "Exp"', False),
        ('op == "Log" or nan > 0', True),
        ('not (op == "Exp") and bad', "bad"),
        ('name ~ "^a/" and slot == 1 and dtype == "float32" and phase == "forward"', True),
        ("max > 3 and step in 10:20", "max > 3 and step in 10:20"),
        ('name == "b" or (step > 3 and op != "Log")', False),
    ],
)
def test_what_is_known_of_the_op_is_decided_first(text: str, left: str | bool) -> None:
    found = condition.left_over(parse(text), KNOWN)
    assert found == (parse(left).root if isinstance(left, str) else left)


def test_a_field_may_be_compared_with_what_is_known() -> None:
    assert condition.left_over(parse("iteration > slot"), KNOWN) == Comparison(Name("iteration"), ">", 1)


constants = st.sampled_from([-math.inf, -3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 1e4, math.inf])
sides = st.one_of(constants, st.sampled_from(OF_TENSORS).map(Name))
leaves = st.one_of(
    st.just(Truth("bad")),
    st.builds(Comparison, sides, st.sampled_from(condition._MARKS), sides),
    st.builds(Range, st.sampled_from(OF_TENSORS), constants, constants),
    st.builds(lambda kind, mark: Comparison(Name("op"), mark, kind), st.sampled_from(["Log", "Exp"]),
              st.sampled_from(["==", "!="])),
    st.builds(lambda wanted: Search("name", re.compile("a/"), wanted), st.booleans()),
)  # fmt: skip
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(st.builds(Both, st.sampled_from(["and", "or"]), inner, inner), st.builds(Opposite, inner)),
    max_leaves=12,
)
elements = st.lists(st.sampled_from([-2.0, 0.0, 1.0, 4.0, 1e5, math.nan, math.inf, -math.inf]), max_size=6)


@pytest.mark.skipif(not native.AVAILABLE, reason="the compiled extension is not there")
@settings(max_examples=400, deadline=None)
@given(expressions, elements, st.booleans(), st.integers(0, 3), st.integers(-1, 2))
def test_c_says_what_the_expression_says(
    root: object, values: list[float], is_number: bool, step: int, iteration: int
) -> None:
    expression = Expression("generated", root)
    numbers = native.summarize(np.array(values, np.float64)) if is_number else None
    event = condition.event_of(numbers, len(values), step, iteration)
    tests = condition.compiled(condition.left_over(expression, KNOWN))
    fields = None if numbers is None else dataclasses.astuple(numbers)
    found = native.lib.tests_met(tests, fields, len(values), step, iteration)
    assert (found is True) == expression.matches(KNOWN | event)
    assert found == root.of(KNOWN | event)  # type: ignore[attr-defined]


@pytest.mark.skipif(not native.AVAILABLE, reason="the compiled extension is not there")
@pytest.mark.parametrize("tests", [b"", b"x", condition._TEST.pack(condition._AND, 0, -1, -1, 0, 0), bytes([9]) * 32])
def test_c_refuses_what_it_cannot_follow(tests: bytes) -> None:
    with pytest.raises(ValueError, match="no condition"):
        native.lib.tests_met(tests, None, 0, 0, -1)
