"""Runs that tdbg's own kernel dumps: the same files as TensorFlow's, byte for byte, and where it leaves them to it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import textwrap
import threading
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import session_graphs
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.debug.lib import debug_data

from tdbg import native
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import read_event
from tdbg.frameworks.tensorflow.sessions.debug_nodes import take_out
from tdbg.frameworks.tensorflow.sessions.executor_cost import ExecutorCost
from tdbg.tensorflow import debug as tf_debug

v1 = tf.compat.v1

pytestmark = pytest.mark.skipif(not native.AVAILABLE, reason="needs the compiled extension")


@pytest.fixture(autouse=True)
def from_the_second_run_on(monkeypatch):
    monkeypatch.setattr(ExecutorCost, "took", lambda self, seconds: True)


def runs_of(root) -> list[Path]:
    return sorted(Path(root).glob("run_*"), key=lambda path: int(path.name.rsplit("_", 1)[1]))


def tensors(run: Path) -> dict[str, list[bytes]]:
    """The files of a run in the order of their times, without these, by where they lie."""
    found = defaultdict(list)
    for path in run.rglob("*_DebugIdentity_*"):
        place, _, stamp = str(path.relative_to(run)).rpartition("_")
        time, _, again = stamp.partition("-")
        content = path.read_bytes()
        assert content[:1] == b"\x09" and struct.unpack("<d", content[1:9]) == (float(time),)
        found[place].append((int(time), int(again or 0), content[9:]))
    return {place: [content for *_, content in sorted(files)] for place, files in found.items()}


def graph_of(run: Path) -> graph_pb2.GraphDef:
    (path,) = run.glob("_tfdbg_device_*/_tfdbg_graph_*")
    return graph_pb2.GraphDef.FromString(read_event(str(path)).graph_def)


def spied(session) -> list[set[str]]:
    """The debug ops of each run to come."""
    asked, run = [], session.run

    def spy(fetches, feed_dict=None, options=None, run_metadata=None):
        watches = options.debug_options.debug_tensor_watch_opts if options is not None else ()
        asked.append({op for watch in watches for op in watch.debug_ops})
        return run(fetches, feed_dict, options, run_metadata)

    session.run = spy
    return asked


# Without those whose values, or whose handles, change from run to run.
@pytest.mark.parametrize("name", "feed_forward convolution loop_v1 loop_v2 condition element_types an_error".split())
def test_the_same_files_as_tensorflow_writes(name, tmp_path):
    asked = []

    def wrapper(session, root):
        asked.append(spied(session))
        return tf_debug.DumpingDebugWrapperSession(session, root)

    session_graphs.dump(name, wrapper, str(tmp_path), runs=3)
    assert asked[0][0] == {"DebugIdentity"} and asked[0][1] == asked[0][2] >= {"TdbgDump"}
    assert ("DebugIdentity" in asked[0][1]) == (name == "element_types")  # it has strings
    first, second, third = runs_of(tmp_path)
    assert tensors(first) == tensors(second) == tensors(third) != {}
    graphs = [graph_of(run) for run in (first, second, third)]
    assert graphs[1] == graphs[2]
    names = [{(node.name, node.op, *sorted(node.input)) for node in graph.node} for graph in graphs]
    assert names[0] == names[1]
    specs = [{tuple(node.attr["debug_ops_spec"].list.s) for node in graph.node} for graph in graphs]
    assert specs[0] == specs[1]
    for graph in graphs[:2]:
        take_out(graph)
    assert {node.name for node in graphs[0].node} == {node.name for node in graphs[1].node}


def test_devices_that_send_to_each_other(tmp_path):
    """The runtime gives other names to what is received in each executor; the graph tells of those."""
    session_graphs.dump("two_devices", tf_debug.DumpingDebugWrapperSession, str(tmp_path), runs=3)
    folders = runs_of(tmp_path)
    dumps = [debug_data.DebugDumpDir(str(folder)) for folder in folders]
    for dump in dumps:
        assert len(dump.devices()) == 2
        assert all(dump.node_exists(datum.node_name) for datum in dump.dumped_tensor_data)
    assert dumps[0].size == dumps[1].size == dumps[2].size
    assert dumps[1].get_tensors("c", 0, "DebugIdentity")[0].tolist() == [np.inf, np.inf]


def test_filters_and_a_variable_without_a_value(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        w = v1.get_variable("w", [2], use_resource=False)
        is_there = v1.is_variable_initialized(w)
        y = tf.exp(x, name="y")
        z = tf.add(y, 1.0, name="z")
        asked = spied(session)
        some = tf_debug.DumpingDebugWrapperSession(
            session, tmp_path / "some", lambda *_: tf_debug.WatchOptions(node_name_regex_allowlist="(y|w)$")
        )
        every = tf_debug.DumpingDebugWrapperSession(session, tmp_path / "every")
        for wrapper in (some, every):
            for _ in range(3):
                assert wrapper.run([z, is_there], {x: [0.0]})[1] == np.False_
    assert asked[0] == asked[3] == {"DebugIdentity"}
    assert asked[1:3] == asked[4:] == [{"DebugIdentity", "TdbgDump"}] * 2
    for root in ("some", "every"):
        first, second, third = map(tensors, runs_of(tmp_path / root))
        assert first == second == third
        names = {os.path.basename(place).removesuffix("_0_DebugIdentity") for place in first}
        assert names == {"y", "w"} if root == "some" else names > {"y", "w", "z"}


def test_what_is_left_to_tensorflow(tmp_path):
    """What is not certain to be the same run again, and other debug ops."""

    class OwnSession(v1.Session):
        def run(self, *args, **kwargs):
            return super().run(*args, **kwargs)

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.exp(x, name="y")
        sparse = tf.SparseTensor([[0, 0]], y[:1], [1, 1])
        watch = v1.RunOptions()
        tf_debug.add_debug_tensor_watch(watch, "y", 0, debug_urls=f"file://{tmp_path}/users")
        numbers = lambda *_: tf_debug.WatchOptions(debug_ops=["DebugNumericSummary"])  # noqa: E731
        cases = [
            (v1.Session(), None, y, None),
            (v1.Session(), None, {"a": [y]}, None),
            (OwnSession(), None, y, None),
            (v1.Session(), None, sparse, None),
            (v1.Session(), None, y, watch),
            (v1.Session(), numbers, y, None),
        ]
        asked = []
        for number, (session, watch_fn, fetches, options) in enumerate(cases):
            asked.append(spied(session))
            wrapper = tf_debug.DumpingDebugWrapperSession(session, tmp_path / str(number), watch_fn)
            for _ in range(2):
                wrapper.run(fetches, {x: [0.0, 1.0]}, options=options)
            session.close()
            assert len(runs_of(tmp_path / str(number))) == 2
    assert [runs[1] for runs in asked] == [{"TdbgDump"}] * 2 + [{"DebugIdentity"}] * 3 + [{"DebugNumericSummary"}]


def test_threads_and_wrappers_do_not_mix_their_runs(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        wrapper = tf_debug.DumpingDebugWrapperSession(session, tmp_path)
        got = []

        def train(first):
            for value in range(first, first + 8):
                got.append(wrapper.run(y, {x: float(value)}))

        graph.finalize()
        threads = [threading.Thread(target=train, args=(100 * number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    dumps = [debug_data.DebugDumpDir(str(folder)) for folder in runs_of(tmp_path)]
    values = [dump.get_tensors("y", 0, "DebugIdentity") for dump in dumps]
    assert all(len(value) == 1 for value in values)
    assert sorted(float(value[0]) for value in values) == sorted(got)


def test_a_disk_that_takes_no_more(tmp_path):
    program = """
        import resource
        import tensorflow.compat.v1 as tf
        from tdbg.tensorflow import debug as tf_debug
        from tdbg.frameworks.tensorflow.sessions.executor_cost import ExecutorCost

        ExecutorCost.took = lambda self, seconds: True
        tf.disable_eager_execution()
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.exp(x, name="y")
        session = tf_debug.DumpingDebugWrapperSession(tf.Session(), "dumps")
        for count in (10, 10, 100_000, 10):
            if count > 10:
                __import__("sys").dont_write_bytecode = True  # Python would leave half a .pyc
                resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
            print(float(session.run(y, {x: [0.0] * count}).sum()))
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert ran.stdout.split() == ["10.0", "10.0", "100000.0", "10.0"], ran.stderr
    assert ran.stderr.count("tensors are missing from the dumps in ") == 1, ran.stderr
    assert "2 tensors are missing" in ran.stderr and "/dumps: File too large; one of 2 GiB and more" in ran.stderr
    written = [sum(map(len, tensors(run).values())) for run in runs_of(tmp_path / "dumps")]
    assert written == [2, 2, 0, 2]
