"""A real RunMetadata of a profiled run: nodes, times and the lines that made them, and the same out of a trace."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

import tdbg
from tdbg.frameworks.tensorflow.sessions.profile import profiled_nodes, record_profile
from tdbg.query.listing.profile import ProfileFilter, line_totals, list_profile, parse_time_range, read_profile, totals
from tdbg.store.writer import TraceWriter

tf1 = tf.compat.v1


@pytest.fixture(scope="module")
def profiled():
    """(RunMetadata, tf.Graph, line of the product)."""
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [200, 200], name="x")
        line = inspect.currentframe().f_lineno + 1
        product = tf.matmul(x, x, name="product")
        loop = tf1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
        root = tf.sqrt(tf.nn.relu(product), name="scope/root")
        metadata = tf1.RunMetadata()
        options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
        for _ in range(2):
            session.run([root, loop], {x: np.ones((200, 200))}, options=options, run_metadata=metadata)
    return metadata, graph, line


def test_nodes_have_devices_times_and_lines(profiled):
    metadata, graph, line = profiled
    nodes = profiled_nodes(metadata, graph)
    assert len(nodes) == sum(len(device.node_stats) for device in metadata.step_stats.dev_stats)
    assert [node.start for node in nodes] == sorted(node.start for node in nodes)
    product = next(node for node in nodes if node.node == "product")
    assert (product.type, product.frame.file, product.frame.line) == ("MatMul", __file__, line)
    assert product.device.endswith("CPU:0") and 0 < product.op_time <= product.exec_time
    stats = next(
        one for device in metadata.step_stats.dev_stats for one in device.node_stats if one.node_name == "product"
    )
    assert product.start // 1000 == stats.all_start_micros
    assert product.op_time // 1000 == pytest.approx(stats.op_end_rel_micros - stats.op_start_rel_micros, abs=1)
    renamed = [node for node in nodes if node.node.startswith("scope/root")]
    assert renamed and all(node.frame.file == __file__ for node in renamed)  # whatever TensorFlow made of it
    assert all(node.type for node in renamed)


def test_without_the_graph(profiled):
    nodes = profiled_nodes(profiled[0])
    assert next(node for node in nodes if node.node == "product").type.endswith("MatMul")
    assert all(node.frame is None for node in nodes)


def test_questions(profiled):
    metadata, graph, line = profiled
    nodes = profiled_nodes(metadata, graph)
    here = ProfileFilter(file_path=".*test_session_profile", min_line=line, max_line=line + 1)
    assert {node.node for node in list_profile(nodes, here)} == {"product"}
    assert line_totals(nodes, __file__)[line].nodes == 1
    slow = list_profile(nodes, ProfileFilter(exec_time=parse_time_range(">0us")), sort_by="exec_time", reverse=True)
    assert slow[0].exec_time == max(node.exec_time for node in nodes)
    assert sum(total.exec_time for total in totals(nodes, "op_type")) == sum(node.exec_time for node in nodes)
    in_loop = [total for total in totals(nodes, "node") if total.key.startswith("loop/")]
    assert any(total.runs > 1 for total in in_loop)


def test_through_a_trace(profiled, tmp_path):
    metadata, graph, line = profiled
    rows, stacks, frames = [], {}, {}

    def stack_of(told):
        number = -1
        for frame in told:
            place = frames.setdefault(frame, len(frames))
            number = stacks.setdefault((number, place), len(stacks))
        return number

    assert record_profile(metadata, graph, 7, stack_of, lambda table, row: rows.append((table, row))) == len(rows)
    writer = TraceWriter(tmp_path / "it.tdbg", {"mode": "numerics"})
    names = ("execution", "node", "type", "device", "start", "op_time", "exec_time", "stack")
    writer.append("profile", {name: [row[n] for _, row in rows] for n, name in enumerate(names)})
    writer.append("stacks", {
        "stack": list(stacks.values()), "parent": [parent for parent, _ in stacks],
        "frame": [place for _, place in stacks],
    })  # fmt: skip
    writer.append("frames", {
        "frame": list(frames.values()), "file": [file for file, _, _ in frames], "line": [at for _, at, _ in frames],
        "function": [function for _, _, function in frames], "is_user": [file == __file__ for file, _, _ in frames],
    })  # fmt: skip
    writer.close({})
    trace = tdbg.open(tmp_path / "it.tdbg")
    assert read_profile(trace, execution=8) == []
    told = read_profile(trace, execution=7)
    assert told == read_profile(trace)
    assert [(node.node, node.exec_time) for node in told] == [
        (node.node, node.exec_time) for node in profiled_nodes(metadata, graph)
    ]
    assert next(node for node in told if node.node == "product").frame.line == line


def test_profiles_of_recorded_programs_are_kept(tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [2], name="x")
        y = tf.exp(x, name="y")
        tdbg.enable(output=tmp_path / "it.tdbg")
        try:
            session.run(y, {x: [1.0, 2.0]})
            metadata = tf1.RunMetadata()
            options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
            session.run(y, {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
        finally:
            tdbg.disable()
    trace = tdbg.open(tmp_path / "it.tdbg")
    told = read_profile(trace)
    assert {node.node for node in told} == {
        stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats
    }
    assert next(node for node in told if node.node == "y").frame.file == __file__
    last = max(row["execution"] for row in trace.table("executions").to_pylist())
    assert len(read_profile(trace, last)) == len(told) > 0
