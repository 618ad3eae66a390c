"""The edges of a program: in its graphs, across calls, through variables, and among eager ops."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scene_traces import INPUT, NUMBERS, add, new_trace

from tdbg.model import Phase
from tdbg.query.flow.graph import Graph, moved_input
from tdbg.query.flow.neighbourhood import neighbourhood
from tdbg.query.flow.neighbours import Neighbours
from tdbg.query.listing.op_health import Healths
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.op import Op
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.vocabulary import Kind

# Number, name, type, inputs, and more. A graph calls one that is a branch, and one in a loop; both take x.
OPS: list[tuple[int, str, str, list[int], dict[str, Any]]] = [
    (0, "x", "Placeholder", [], {}),
    (1, "is_large", "Greater", [0], {}),
    (2, "cond", "If", [1, 0], {"attributes": json.dumps({"then_branch": "small_7", "else_branch": "large_8"})}),
    (3, "loop", "While", [0], {"attributes": json.dumps({"body": "body_9"})}),
    (4, "sum", "AddV2", [2, 3], {}),
    (10, "given", "Placeholder", [], {"graph": 1}),
    (11, "log", "Log", [10], {"graph": 1}),
    (20, "given", "Placeholder", [], {"graph": 2}),
    (21, "exp", "Exp", [20], {"graph": 2}),
    (30, "given", "Placeholder", [], {"graph": 3}),
    (31, "square", "Square", [30], {"graph": 3}),
    (40, "w", "VarHandleOp", [], {}),
    (41, "w/Assign", "AssignVariableOp", [40, 4], {}),
    (42, "w/Read", "ReadVariableOp", [40], {"observed": False}),
    (43, "moved", "Reshape", [42, 0], {"observed": False}),
    (44, "end", "Mul", [43, 43], {}),
    (45, "reference", "VariableV2", [], {}),
    (50, "made", "Square", [], {"graph": -1}),
    (51, "taken", "Log", [], {"graph": -1}),
]
FUNCTIONS = [("small_7", 1, 10, 11), ("large_8", 2, 20, 21), ("body_9", 3, 30, 31)]


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    writer = new_trace(tmp_path)
    rows = [
        {"op": op, "name": name, "type": type_, "input_ops": inputs, "input_slots": [0] * len(inputs)} | more
        for op, name, type_, inputs, more in OPS
    ]
    add(writer, "ops", *rows)
    about = {"output_slots": [0], "python": "train.step", "file": "train.py", "line": 3, "instance": 0}
    for name, graph, argument, result in FUNCTIONS:
        told = {"function": name, "graph": graph, "input_ops": [argument], "output_ops": [result], "signature": "{}"}
        add(writer, "functions", about | told)
    add(writer, "controls", {"op": 42, "input_op": 41})
    add(
        writer,
        "executions",
        {"execution": 0, "op": 50, "graph": -1, "inputs": [100]},
        {"execution": 1, "op": 51, "graph": -1, "inputs": [101]},
        {"execution": 2, "op": 51, "graph": -1, "inputs": [101, 100]},
    )
    add(writer, "ends", {"execution": 0, "time": 1, "failed": False, "outputs": [101, 102]})
    add(
        writer,
        "tensors",
        {"seq": 0, "op": 50, "execution": 0, "tensor": 100, "flags": INPUT | NUMBERS},
        {"seq": 1, "op": 50, "execution": 0, "tensor": 101},
        {"seq": 2, "op": 51, "execution": 1, "tensor": 103},
    )
    writer.close({"status": 0})
    return Trace.open(tmp_path / "run.tdbg")


@pytest.fixture
def graph(trace: Trace) -> Graph:
    return Program(trace, 0).graph


@pytest.fixture
def read(trace: Trace) -> SceneCache:
    return SceneCache(trace, 0, trace.pages(0))


def test_who_takes_an_output(graph: Graph) -> None:
    assert [(reader.name, slot) for reader, slot in graph.recipients[43]] == [("end", 0), ("end", 0)]
    assert 45 not in graph.recipients  # a reference to a variable is its own handle


def test_readers_behind_ops_that_let_pass(graph: Graph) -> None:
    found = graph.readers_beyond(40, lambda op: not op.observed)
    assert sorted(op.name for op in found) == ["end", "moved", "w/Assign", "w/Read"]
    assert [op.name for op in graph.readers_beyond(42, lambda op: False)] == ["moved"]


def test_upstream(graph: Graph, trace: Trace) -> None:
    ops = Program(trace, 0).ops
    assert graph.leads_to(ops[0], ops[41])
    assert not graph.leads_to(ops[41], ops[0])


def test_what_a_call_passes(graph: Graph) -> None:
    assert [(call.name, tensor) for call, tensor in graph.passed(10)] == [("cond", (0, 0))]  # not its condition
    assert [(call.name, tensor) for call, tensor in graph.passed(30)] == [("loop", (0, 0))]
    assert graph.passed(0) == []


def test_what_a_call_gives(graph: Graph, trace: Trace) -> None:
    ops = Program(trace, 0).ops
    assert graph.results(ops[2], 0) == [(11, 0), (21, 0)]
    assert graph.results(ops[2], 1) == []
    assert (graph.result(3, 0), graph.result(3, 1), graph.result(9, 0)) == ((31, 0), None, None)


def test_what_is_handed_on(trace: Trace) -> None:
    ops = Program(trace, 0).ops
    assert moved_input(ops[43], 0) == 0
    assert moved_input(ops[44], 0) is None
    cast, identity = Op(1, 0, "", "", (), -1, Phase.FORWARD, -1, True, Kind.CAST), replace(ops[43], kind=Kind.IDENTITY)
    assert (moved_input(cast, 0), moved_input(cast, 0, through_casts=True)) == (None, 0)
    assert moved_input(identity, 2) == 2


def test_variables(graph: Graph, trace: Trace) -> None:
    ops = Program(trace, 0).ops
    assert [op.name for op in graph.writers(0, (40, 0))] == ["w/Assign"]
    assert graph.value_before(ops[42]) == (4, 0)
    assert graph.value_before(ops[45]) is None
    assert (graph.runs_before, graph.runs_after) == ({42: [41]}, {41: [42]})


def test_eager_calls(trace: Trace) -> None:
    calls = Rows(trace).calls(0)
    assert calls.of(2).inputs == (101, 100)
    assert (calls.of(9).op, calls.of(9).graph, calls.of(9).inputs) == (-1, -1, ())
    assert sorted(calls.given_to([0, 1])) == [100, 101]
    assert calls.makers_of([102, 7]) == [0]
    assert calls.made(102) == [(calls.of(0), 1)]
    assert [call.execution for call in calls.takers_of(101)] == [1, 2]
    assert sorted(calls.taken_by_ops([100])) == [(100, 50), (100, 51)]


def test_in_graphs_and_in_eager_code_alike(read: SceneCache) -> None:
    around: Neighbours = read.neighbours
    ops = read.program.ops
    assert [(made.op, made.slot) for made in around.inputs(ops[4])] == [(2, 0), (3, 0)]
    assert [(made.op, made.slot, made.is_given) for made in around.inputs(ops[51])] == [(50, 0, False)]
    assert [(made.op, made.is_given) for made in around.inputs(ops[50])] == [(50, True)]
    assert around.recipients(ops[50]) == [(51, 0)]
    assert (around.before(ops[42]), around.after(ops[41])) == ([41], [42])


def test_an_eager_op_has_neighbours_on_the_page(read: SceneCache) -> None:
    found = neighbourhood(read, Healths(read), 51)
    assert [(one["name"], one["slot"]) for one in found["inputs"]] == [("made", 0)]
    assert [node["name"] for node in found["nodes"]] == ["taken", "made"]
    assert found["edges"] == [{"from": 50, "slot": 0, "to": 51, "index": 0}]
    (output,) = neighbourhood(read, Healths(read), 50)["outputs"]
    assert [one["name"] for one in output["consumers"]] == ["taken"]
