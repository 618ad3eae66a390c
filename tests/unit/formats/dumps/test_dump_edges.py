"""Graphs without the debugger's nodes: edges, ways, times."""

from dataclasses import dataclass, field

from tdbg.formats.dumps.edges import Edges, InputTrace, causality_violations


@dataclass
class Node:
    name: str
    op: str = "Op"
    input: list = field(default_factory=list)


def edges(**inputs):
    return Edges(
        [Node(name, *given) if isinstance(given, tuple) else Node(name, "Op", given) for name, given in inputs.items()]
    )


def test_copies_and_debug_nodes_are_passed_over():
    found = Edges(
        [
            Node("a"), Node("__copy_a_0", "Copy", ["a"]), Node("c"), Node("s//t", "Op", ["x//y"]),
            Node("__dbg_a:0_0_DebugIdentity", "DebugIdentity", ["__copy_a_0"]),
            Node("b", "Neg", ["__copy_a_0", "a:1", "^__dbg_a:0_0_DebugIdentity", "^c"]), Node("b", "Twice"),
        ]
    )  # fmt: skip
    assert found.inputs == {"a": [], "b": ["a", "a:1"], "c": [], "s/t": ["x/y"]}
    assert found.control_inputs["b"] == ["c"] and found.control_recipients["c"] == ["b"]
    assert found.recipients["a"] == ["b", "b"] and found.duplicates == ["b"] and found.op_types["b"] == "Neg"


def test_ways_end_at_merges_and_are_real():
    found = edges(
        entered=[], merge=("Merge", ["entered", "next"]), body=["merge", "one"], one=[],
        next=("NextIteration", ["body"]), out=["merge", "two"], two=[],
    )  # fmt: skip
    trace = InputTrace(found, include_control=True, include_reversed_ref=False)
    assert trace.inputs("out") == ["merge", "two"]
    assert trace.path("two", "out") == ["two", "out"] and trace.path("entered", "out") is None
    assert trace.path("merge", "next") == ["merge", "body", "next"] and trace.path("out", "out") == ["out"]


def test_a_way_of_ten_thousand_nodes():
    count = 10_000
    found = Edges([Node(f"n{i}", "Op", [f"n{i - 1}"] if i else []) for i in range(count)])
    trace = InputTrace(found, True, False)
    assert len(trace.inputs(f"n{count - 1}")) == count - 1
    assert len(trace.path("n0", f"n{count - 1}")) == count


def test_times_that_contradict_the_graph():
    found = edges(a=[], b=["a"], c=["b", "never"], loop=("NextIteration", ["c"]), m=["loop"])
    assert list(causality_violations(found, [("a", 0, 1), ("b", 0, 1), ("c", 0, 2), ("m", 0, 2), ("loop", 0, 3)])) == []
    assert list(causality_violations(found, [("b", 0, 1), ("a", 0, 2)])) == [("b", 1, ["a"])]


def test_only_references_turn_around():
    nodes = [Node("v", "VariableV2"), Node("write", "Assign", ["v", "w"]), Node("w"), Node("read", "Op", ["v"])]
    found = Edges(nodes, lambda op_type: {0} if op_type == "VariableV2" else ())
    assert found.reversed_ref_inputs == {"v": ["write", "read"]}
    assert "w" in InputTrace(found, True, True).inputs("read") and InputTrace(found, True, False).inputs("read") == [
        "v"
    ]
