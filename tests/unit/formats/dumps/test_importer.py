"""Hand-written dumps in, traces out: ops, loops, variables, damage."""

import numpy as np
import pytest
from dump_files import node, tensor_event, write_run

import tdbg
from tdbg.formats.debug_events.wire import WireError, put_double, put_message, put_text
from tdbg.formats.dumps.events import read_tensor
from tdbg.formats.dumps.graph_def import parse_graph
from tdbg.formats.dumps.importer import import_dumps
from tdbg.model import Flag
from tdbg.query.listing.profile import read_profile
from tdbg.query.verdict.verdict import explain

GOOD, ZERO = np.array([1.0, 2.0], np.float32), np.array([1.0, 0.0], np.float32)
with np.errstate(divide="ignore"):
    LOG = np.log(ZERO)
LOG_NODES = (node("_arg_x_0_0", "_Arg", index=0), node("scope/y", "Log", "_arg_x_0_0"))


def imported(root, tmp_path, **options):
    import_dumps(root, tmp_path / "it.tdbg", **options)
    return tdbg.open(tmp_path / "it.tdbg")


def rows(trace, table):
    return trace.table(table).to_pylist()


def test_runs_share_their_graph(tmp_path):
    for n, value in enumerate((GOOD, ZERO)):
        with np.errstate(divide="ignore"):
            dumps = {"_arg_x_0_0_0": value, "scope/y_0": np.log(value)}
        write_run(tmp_path / "dumps" / f"run_{n}_{n}", LOG_NODES, dumps, 1000 * (n + 1))
    trace = imported(tmp_path / "dumps", tmp_path)
    assert len(rows(trace, "graphs")) == 1 and len(rows(trace, "executions")) == 2
    (origin,) = explain(trace).origins
    assert (origin.op.name, origin.row.execution, origin.cause.name) == ("scope/y", 1, "log_of_zero")
    evidence = [row for row in rows(trace, "tensors") if row["flags"] & Flag.EVIDENCE]
    assert [trace.value(0, row["value"]).tolist() for row in evidence] == [[1.0, 0.0]]
    assert read_profile(trace) == []


def test_values_are_kept_when_asked_for(tmp_path):
    root = write_run(tmp_path / "dumps", LOG_NODES, {"_arg_x_0_0_0": GOOD, "scope/y_0": np.log(GOOD)}, 1000)
    assert {row["value"] for row in rows(imported(root, tmp_path), "tensors")} == {-1}
    trace = imported(root, tmp_path / "all", keep_values=True)
    assert [trace.value(0, row["value"]).tolist() for row in rows(trace, "tensors")] == [[1, 2], np.log(GOOD).tolist()]


def test_phases_and_forward_ops_by_name(tmp_path):
    nodes = (
        node("a/log", "Log"), node("gradients/a/log_grad/mul", "Mul", "a/log"), node("gradients_1/Fill", "Fill"),
        node("GradientDescent/update", "ApplyGradientDescent", "w", "gradients/a/log_grad/mul"),
        node("w", "VariableV2"), node("w/Assign", "Assign", "w"), node("_mkl", "_MklFusedMatMul"),
        node("mm", "_MklMatMul"),
    )  # fmt: skip
    trace = imported(write_run(tmp_path / "dumps", nodes, {"a/log_0": GOOD}, 1000), tmp_path)
    ops = {op["name"]: op for op in rows(trace, "ops")}
    phases = {name: op["phase"] for name, op in ops.items()}
    assert phases["gradients/a/log_grad/mul"] == phases["gradients_1/Fill"] == 1
    assert (phases["GradientDescent/update"], phases["w/Assign"], phases["a/log"]) == (2, 3, 0)
    assert ops["gradients/a/log_grad/mul"]["forward"] == ops["a/log"]["op"]
    assert (ops["mm"]["type"], ops["_mkl"]["type"]) == ("MatMul", "_FusedMatMul")
    order = [ops[name]["op"] for name in ("a/log", "gradients/a/log_grad/mul", "GradientDescent/update")]
    assert order == sorted(order)


def test_rounds_and_loops(tmp_path):
    nodes = (
        node("in", "Const"), node("enter", "Enter", "in"), node("merge", "Merge", "enter", "next"),
        node("body", "Square", "merge"), node("next", "NextIteration", "body"), node("exit", "Exit", "merge"),
        node("after", "Neg", "exit"),
    )  # fmt: skip
    root = write_run(tmp_path / "dumps", nodes, {"in_0": GOOD}, 1000)
    (device,) = root.glob("_tfdbg_device_*")
    (first,) = device.glob("in_0_*")
    for n, name in enumerate(
        ("enter", "merge", "body", "next", "merge", "body", "next", "merge", "exit", "after"), 1100
    ):
        (device / f"{name}_0_DebugIdentity_{n}").write_bytes(first.read_bytes())
    trace = imported(root, tmp_path)
    ops = {op["op"]: op["name"] for op in rows(trace, "ops")}
    seen = [(ops[row["op"]], row["iteration"]) for row in rows(trace, "tensors")]
    assert seen == [
        ("in", -1), ("enter", 0), ("merge", 0), ("body", 0), ("next", 1), ("merge", 1), ("body", 1), ("next", 2),
        ("merge", 2), ("exit", -1), ("after", -1),
    ]  # fmt: skip


def test_attributes():
    (found,) = parse_graph(put_message(1, node("n", "Op", frame_name="loop", count=3)))
    assert (found.name, found.op, found.attributes()) == ("n", "Op", {"frame_name": "loop", "count": 3})


@pytest.mark.parametrize("content", [b"", b"\xff" * 30, put_double(1, 1.0), put_message(6, put_text(2, "{}"))])
def test_files_that_hold_no_tensor(content, tmp_path):
    root = write_run(tmp_path / "dumps", LOG_NODES, {"_arg_x_0_0_0": GOOD, "scope/y_0": LOG}, 1000)
    (device,) = root.glob("_tfdbg_device_*")
    damaged = device / "other_0_DebugIdentity_2000"
    damaged.write_bytes(content)
    with pytest.raises(WireError):
        read_tensor(str(damaged))
    done = import_dumps(root, tmp_path / "it.tdbg")
    assert (done.losses, done.runs) == (1, 1)
    trace = tdbg.open(tmp_path / "it.tdbg")
    (note,) = [note for note in rows(trace, "notes") if note["kind"] == "damaged"]
    assert str(damaged) in note["text"]


def test_what_was_not_initialized_has_no_numbers(tmp_path):
    root = write_run(tmp_path / "dumps", (node("v", "VariableV2"),), {}, 1000)
    (device,) = root.glob("_tfdbg_device_*")
    proto = b"\x08\x01" + put_message(2, put_message(2, b"\x08\x02"))  # float32 of shape [2], and nothing in it
    event = put_message(5, put_message(1, put_message(8, proto)))
    (device / "v_0_DebugIdentity_1001").write_bytes(event)
    trace = imported(root, tmp_path, keep_values=True)
    (row,) = rows(trace, "tensors")
    assert (row["elements"], row["nan"], row["value"]) == (2, None, -1)
    assert "uninitialized" in {note["kind"] for note in rows(trace, "notes")}


def test_absurd_numbers_are_not_believed(tmp_path):
    """Sizes of petabytes, slots and times out of range, summaries of NaN: damaged files can say all that."""
    root = write_run(tmp_path / "dumps", (*LOG_NODES, node("z", "Neg", "scope/y:99999")), {"scope/y_0": LOG}, 1000)
    (device,) = root.glob("_tfdbg_device_*")
    huge = b"\x08\x01" + put_message(2, put_message(2, b"\x08\x80\x80\x80\x80\x80\x80\x80\x40") * 3)
    spelt = huge + put_message(5, np.ones(1, np.float32).tobytes())  # one element that stands for all
    for n, proto in enumerate((huge, spelt)):
        (device / f"big_{n}_DebugIdentity_2000").write_bytes(put_message(5, put_message(1, put_message(8, proto))))
    for name in ("a_99999_DebugIdentity_1", f"a_0_DebugIdentity_{'9' * 30}"):
        (device / name).write_bytes(b"")
    for name, columns in (("s", np.full(16, np.nan)), ("t", np.full(16, 1e300)), ("u", np.ones(3))):
        (device / f"{name}_0_DebugNumericSummary_3000").write_bytes(tensor_event(columns))
    done = import_dumps(root, tmp_path / "it.tdbg")
    assert (done.losses, done.tensors) == (0, 6)
    kinds = {note["kind"]: note["count"] for note in rows(tdbg.open(tmp_path / "it.tdbg"), "notes")}
    assert kinds["strangers"] == 2
