"""The same causes and fixes in the words of frameworks that tdbg does not know: nothing but their dialect is theirs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scene_traces import BAD, EVIDENCE, NUMBERS, add, new_trace

from tdbg import frameworks
from tdbg.frameworks.contract import Dialect
from tdbg.model import Phase
from tdbg.query.causes import Cause, Fix, find_cause
from tdbg.query.fixes import finders, softmax_by_hand
from tdbg.query.fixes.rewrite import rewrite
from tdbg.query.fixes.statement import Statement
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

# A library whose functions are methods of its tensors as well.
LATHE = Dialect(
    name="lathe",
    title="Lathe",
    alias="lathe",
    modules=("lathe",),
    calls={
        "maximum": "{0.operand}.clamp(min={1})",
        "where": "{library}.where({0}, {1}, {2})",
        "ones_like": "{library}.ones_like({0})",
        "log_softmax": "{library}.log_softmax({0}{1})",
        "log_sigmoid": "{library}.special.log_sigmoid({0})",
        "dtype": "{library}.{0}",
        "max_along": "{0.operand}.amax(dim={1}, keepdim=True)",
    },
    spelled={
        Kind.LOG: ("log",),
        Kind.EXP: ("exp",),
        Kind.SQRT: ("sqrt",),
        Kind.DIVIDE: ("div", "true_divide"),
        Kind.SUBTRACT: ("sub",),
        Kind.SUM: ("sum",),
        Kind.SOFTMAX: ("softmax",),
        Kind.SIGMOID: ("sigmoid",),
        Kind.SELECT: ("where",),
        Kind.CAST: ("to", "type"),
        Kind.SQUEEZE: ("squeeze",),
    },
    has_methods=True,
    namespaces=("special",),
    axis_names=("dim", "axis"),
    keep_names=("keepdim",),
    no_axis=", dim=-1",
    words={"variable": "parameter"},
)
# One whose functions are written as NumPy's are.
NUMPLE = Dialect(
    name="numple",
    title="Numple",
    alias="nu",
    modules=("numple", "numple.arrays"),
    calls={"maximum": "{library}.maximum({0}, {1})", "where": "{library}.where({0}, {1}, {2})"},
    spelled={Kind.LOG: ("log",), Kind.SQRT: ("sqrt",), Kind.DIVIDE: ("divide",)},
    has_methods=True,
)
SOURCE = {
    "lathe": """\
import lathe


def step(x, a, b, v):
    y = (x + 1).log()
    r = a / (b - 1)
    return (v * v).sum().sqrt()
""",
    "numple": """\
from numple import arrays as nu


def step(x, a, b, v):
    y = nu.log(x + 1)
    r = a / (b - 1)
    return nu.sqrt((v * v).sum())
""",
}
LINES = {"log": 5, "divide": 6, "sqrt": 7}
ZEROS = {"zero": 2, "positive": 2, "negative": 0, "min": 0.0, "max": 2.0}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes tdbg know both, for a test."""
    for dialect in (LATHE, NUMPLE):
        monkeypatch.setitem(frameworks.FRAMEWORKS, dialect.name, dialect.name)
        monkeypatch.setitem(sys.modules, f"{dialect.name}.dialect", SimpleNamespace(DIALECT=dialect))
    frameworks.dialect_of.cache_clear()
    yield
    frameworks.dialect_of.cache_clear()


def op(number: int, kind: Kind, *inputs: int, **more: Any) -> dict[str, Any]:
    words = {"op": number, "kind": kind.value, "type": f"native::{kind.value}", "name": f"{kind.value}_{number}"}
    return words | {"input_ops": list(inputs), "input_slots": [0] * len(inputs), "stack": 1} | more


def cause_of(folder: Path, framework: str, kind: Kind, ops: list[dict[str, Any]], bad: dict[str, Any]) -> Cause:
    """Of the last of some ops, which gave bad values; all that it was given has zeros."""
    writer = new_trace(folder)
    frame = {"frame": 0, "file": "/home/me/train.py", "line": LINES[kind.value], "function": "step", "is_user": True}
    add(writer, "sources", {"file": "/home/me/train.py", "text": SOURCE[framework], "time": 0})
    add(writer, "frames", frame)
    add(writer, "stacks", {"stack": 1, "parent": -1, "frame": 0})
    add(writer, "shapes", {"shape": 0, "dims": [4]})
    add(writer, "graphs", {"graph": 0, "outer": -1, "name": "step", "function": "step", "stack": 1, "time": 0})
    add(writer, "ops", *({"framework": framework} | one for one in ops))
    last = ops[-1]["op"]
    rows = [{"seq": 10 + one["op"], "op": one["op"], **ZEROS} for one in ops[:-1]]
    rows += [{"seq": 10 + last, "op": last, "flags": BAD | NUMBERS, **ZEROS, "zero": 0, **bad}]
    rows += [
        {"seq": 20 + at, "op": last, "slot": at, "flags": EVIDENCE | NUMBERS, **ZEROS}
        for at in range(len(ops[-1]["input_ops"]))
    ]
    add(writer, "tensors", *rows)
    writer.close({"status": 0})
    trace = Trace.open(folder / "run.tdbg")
    rows_of = Rows(trace)
    (row,) = rows_of.select(0, "seq = ?", [10 + last])
    return find_cause(Case(trace, rows_of, Program(trace, 0), 0, row))


def log_of_zero(folder: Path, framework: str) -> Cause:
    ops = [op(0, Kind.ARGUMENT), op(1, Kind.ADD, 0), op(2, Kind.LOG, 1)]
    return cause_of(folder, framework, Kind.LOG, ops, {"neg_inf": 2})


def zero_by_zero(folder: Path, framework: str) -> Cause:
    ops = [op(0, Kind.ARGUMENT), op(1, Kind.ARGUMENT), op(2, Kind.SUBTRACT, 1), op(3, Kind.DIVIDE, 0, 2)]
    return cause_of(folder, framework, Kind.DIVIDE, ops, {"nan": 2})


def slope_of_root(folder: Path, framework: str) -> Cause:
    backward = {"phase": int(Phase.BACKWARD), "forward": 2}
    ops = [op(0, Kind.ARGUMENT), op(1, Kind.SUM, 0), op(2, Kind.SQRT, 1), op(3, Kind.SQRT_GRADIENT, 2, 2, **backward)]
    return cause_of(folder, framework, Kind.SQRT, ops, {"nan": 2})


def fix_of(cause: Cause) -> Fix:
    assert cause.fix is not None
    return cause.fix


def test_the_log_of_zero(tmp_path: Path) -> None:
    for framework, code in (
        ("lathe", "y = (x + 1).clamp(min=1e-7).log()"),
        ("numple", "y = nu.log(nu.maximum(x + 1, 1e-7))"),
    ):
        cause = log_of_zero(tmp_path / framework, framework)
        assert (cause.name, cause.reason) == ("log_of_zero", "log(0): 2 of 4 elements are exactly 0")
        assert fix_of(cause).text == "bound the input of the log from below"
        assert fix_of(cause).code == code


def test_zero_by_zero_where_no_function_guards_a_division(tmp_path: Path) -> None:
    """The code is of the fix that can be written."""
    for framework, code in (
        ("lathe", "r = a / (b - 1).clamp(min=1e-7)"),
        ("numple", "r = a / nu.maximum(b - 1, 1e-7)"),
    ):
        cause = zero_by_zero(tmp_path / framework, framework)
        assert (cause.name, cause.reason) == ("zero_over_zero", "0/0: in the denominator 2 of 4 elements are exactly 0")
        assert fix_of(cause).text == "bound the denominator from below (by 1e-7)"
        assert fix_of(cause).code == code


def test_the_slope_of_a_root_at_zero(tmp_path: Path) -> None:
    for framework, code in (
        ("lathe", "return (v * v).sum().clamp(min=1e-12).sqrt()"),
        ("numple", "return nu.sqrt(nu.maximum((v * v).sum(), 1e-12))"),
    ):
        cause = slope_of_root(tmp_path / framework, framework)
        assert cause.name == "sqrt_at_zero"
        assert fix_of(cause).code == code


def test_what_cannot_be_written_is_said_in_plain_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mute = Dialect(name="lathe", title="Lathe", alias="lathe", modules=("lathe",))
    monkeypatch.setitem(sys.modules, "lathe.dialect", SimpleNamespace(DIALECT=mute))
    fix = fix_of(zero_by_zero(tmp_path, "lathe"))
    assert fix.text == "a division that is guarded against 0 gives 0 there, and a gradient of 0"
    assert fix.code == ""


@pytest.mark.parametrize(
    ("statement", "find", "template", "expected"),
    [
        ("y = lathe.log(x)", finders.argument_of(Kind.LOG), "{0.operand}.clamp(1)", "y = lathe.log(x.clamp(1))"),
        ("y = -x.log() * a", finders.argument_of(Kind.LOG), "{0} + 1", "y = -(x + 1).log() * a"),
        ("y = self.log('loss', x)", finders.argument_of(Kind.LOG), "{0} + 1", ""),  # nothing of a tensor
        ("y = x.to(lathe.half16)", finders.type_of_cast("half16"), "{library}.full32", "y = x.to(lathe.full32)"),
        ("y = a.div(b + 1)", finders.division, "{0} / {1.operand}.clamp(min=1)", "y = (a / (b + 1).clamp(min=1))"),
        (
            "y = x.softmax(dim=1).squeeze(0).log()",
            finders.call_of_call(Kind.LOG, Kind.SOFTMAX),
            LATHE.write("log_softmax", "{0}", "{1}"),
            "y = lathe.log_softmax(x, dim=1).squeeze(0)",
        ),
        (
            "y = (1 - lathe.sigmoid(x)).log()",
            finders.call_of_one_minus(Kind.LOG, Kind.SIGMOID),
            LATHE.write("log_sigmoid", "-({0})"),
            "y = lathe.special.log_sigmoid(-(x))",
        ),
        (
            "y = lathe.where(x > 0, x.log(), 0.0)",
            finders.where_around(Kind.LOG),
            LATHE.write("where", "{0}", "{1}", LATHE.write("ones_like", "{1}")),
            "y = lathe.where(x > 0, lathe.where(x > 0, x, lathe.ones_like(x)).log(), 0.0)",
        ),
        (
            "p = x.exp() / x.exp().sum(dim=1, keepdim=True)",
            softmax_by_hand.quotient,
            "{library}.softmax({0}{1})",
            "p = lathe.softmax(x, dim=1)",
        ),
        ("p = x.exp() / x.exp().sum()", softmax_by_hand.quotient, "f({0}{1})", "p = f(x, dim=-1)"),
    ],
)  # fmt: skip
def test_methods_of_tensors(statement: str, find: Any, template: str, expected: str) -> None:
    assert rewrite(Statement(statement, LATHE, {"lathe": "lathe"}), find, template) == expected


def test_every_function_of_a_dialect_can_be_put_into_a_sentence() -> None:
    assert (LATHE.says("maximum"), LATHE.says("maximum", "a + b", "1")) == ("clamp", "(a + b).clamp(min=1)")
    assert (LATHE.says("where"), LATHE.function("ones_like")) == ("lathe.where", "ones_like")
    assert LATHE.says("divide_no_nan") == "a division that is guarded against 0"
    assert NUMPLE.says("log_softmax", "x", "") == "log_softmax(x)"
    assert NUMPLE.write("where", "c", NUMPLE.write("ones_like", "x"), "y") == ""  # of what cannot be written
