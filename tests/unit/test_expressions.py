"""The filter language: what it means, as a predicate and as SQL alike, and what it says of mistakes."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdbg.errors import TdbgError
from tdbg.expressions import FIELDS, parse

EVENT = {
    "nan": 3,
    "inf": 0,
    "min": -2.5,
    "max": 4.0,
    "max_abs": 4.0,
    "step": 12,
    "op": "Log",
    "name": "a/Log",
    "bad": True,
}


@pytest.mark.parametrize(
    ("text", "is_wanted"),
    [
        ('nan > 0 and op == "Log"', True),
        ("nan > 0 and op == 'Exp'", False),
        ("max_abs > 1e4 or bad", True),
        ("not bad", False),
        ('name ~ "a/.*"', True),
        ('name !~ "a/.*"', False),
        ("step in 10:13", True),
        ("step in 10:12", False),
        ("step in :12 or step in 12:", True),
        ("min < -2 and max >= 4", True),
        ("not (nan > 0 or max > 3) or min == -2.5", True),
        ("max < inf", True),
        ("mean > 0", False),  # not measured
        ("not mean > 0", False),
        ("mean > 0 or bad", True),
        ("zero == nan", False),
        ("max == max_abs", True),
    ],
)
def test_predicates(text: str, is_wanted: bool) -> None:
    assert parse(text).matches(EVENT) is is_wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("nam > 0", "did you mean"),
        ("nan = 0", "equality is =="),
        ("nan >", "expected a field, a number or text, not the end"),
        ('nan > "x"', "nan is a number"),
        ('op < "Log"', "text is compared with"),
        ("(nan > 0", "not closed"),
        ('name ~ "("', "not a regular expression"),
        ("name ~ Log", "in quotes"),
        ("nan > 0 nan", "expected 'and'"),
        ("step in 3", "FIRST:END"),
        ("nan > 0; import os", "is not understood here"),
        ("__import__('os')", "there is no field"),
        ("(" * 500 + "bad", "nested too deeply"),
        ("not " * 500 + "bad", "nested too deeply"),
    ],
)
def test_mistakes_are_one_sentence_with_the_place(text: str, says: str) -> None:
    with pytest.raises(TdbgError, match=r"^filter .*, at character \d+: ") as raised:
        parse(text)
    assert says in str(raised.value) and "\n" not in str(raised.value)


NUMBERS = [name for name, field in FIELDS.items() if field.kind == "number"]
number = st.integers(-3, 3)
condition = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(NUMBERS), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), number),
    st.builds("{} in {}:{}".format, st.sampled_from(NUMBERS), number, number),
    st.sampled_from(["bad", 'op == "Log"', 'name ~ "^a"', 'op != "Exp"']),
)
expression = st.recursive(
    condition,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner), st.builds("not {}".format, inner)
    ),
    max_leaves=6,
)
event = st.fixed_dictionaries(
    {name: st.none() | number for name in NUMBERS}
    | {"bad": st.booleans(), "op": st.sampled_from(["Log", "Exp"]), "name": st.sampled_from(["a/Log", "b/Log"])}
)


@settings(max_examples=200, deadline=None)
@given(expression, event)
def test_sql_and_predicate_say_the_same(text: str, values: dict) -> None:
    found = parse(text)
    answer = found.sql({name: name for name in FIELDS} | {"min": '"min"', "max": '"max"'})
    columns = ", ".join(f'?::{_sql_type(value)} AS "{name}"' for name, value in values.items())
    rows = duckdb.execute(
        f"SELECT 1 FROM (SELECT {columns}) WHERE {answer.sql}", [*values.values(), *answer.parameters]
    ).fetchall()
    assert bool(rows) == found.matches(values)


def test_the_least_and_greatest_of_no_finite_element_are_not_known() -> None:
    rows = "(VALUES (1.0, 2.0, 0, 0, 9), ('NaN'::DOUBLE, 'NaN'::DOUBLE, 0, 0, 0)) t(min, max, negative, zero, positive)"
    for text, wanted in (("max > 1", [1.0]), ("not max > 1", []), ("max_abs > 1", [1.0]), ("min in 0:9", [1.0])):
        answer = parse(text).sql()
        found = duckdb.execute(f"SELECT t.min FROM {rows} WHERE {answer.sql}", answer.parameters).fetchall()
        assert [row[0] for row in found] == wanted, text
        assert not parse(text).matches({"min": math.nan, "max": math.nan, "max_abs": math.nan})


def _sql_type(value: object) -> str:
    return "BOOLEAN" if isinstance(value, bool) else "VARCHAR" if isinstance(value, str) else "DOUBLE"


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("step == 3", (3, 3)),
        ("step >= 3 and bad and step < 9", (3, 9)),
        ("step in 3:9", (3, 9)),
        ("step > 3 or bad", (-math.inf, math.inf)),
        ("not step > 3", (-math.inf, math.inf)),
        ("step != 3", (-math.inf, math.inf)),
        ("3 == step", (-math.inf, math.inf)),
        ("step == 3 and step == 5", (5, 3)),
        ("step == slot", (-math.inf, math.inf)),
    ],
)
def test_bounds(text: str, bounds: tuple[float, float]) -> None:
    assert parse(text).bounds("step") == bounds


def test_numbers_are_read_as_people_write_them() -> None:
    assert parse("max > -1.5e-3").root.right == -1.5e-3
    assert parse("min == -inf").root.right == -math.inf


def test_every_field_is_a_column_of_a_trace() -> None:
    """Each runs as SQL over the tables of the format."""
    from tdbg.store.format import SCHEMAS

    tables = {name: SCHEMAS[name].empty_table() for name in ("tensors", "ops")}
    db = duckdb.connect()
    for name, table in tables.items():
        db.register(name, table)
    for name, field in FIELDS.items():
        text = {"number": f"{name} > 1", "text": f'{name} ~ "a"', "truth": name}[field.kind]
        answer = parse(text).sql()
        assert db.execute(f"SELECT 1 FROM tensors t JOIN ops o USING (op) WHERE {answer.sql}", answer.parameters)


def test_the_docs_list_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    assert [f"| `{name}` | {field.kind} | {field.meaning} |" in page for name, field in FIELDS.items()] == [True] * len(
        FIELDS
    )
