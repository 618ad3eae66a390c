"""Dump folders both ways: stock's read by ours and ours read by stock, record by record; and what stock gets wrong."""

import os
import shutil

import ml_dtypes
import numpy as np
import pytest
import session_graphs
import tensorflow as tf
from session_graphs import GRAPHS
from tensorflow.python import debug as stock
from tensorflow.python.debug.lib.debug_data import InconvertibleTensorProto as StockInconvertible

from tdbg.frameworks.tensorflow.reading_dumps import dump_dir as ours
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import reconstruct_non_debug_graph_def
from tdbg.frameworks.tensorflow.sessions.executor_cost import ExecutorCost
from tdbg.frameworks.tensorflow.tfdbg.dumping import DumpingDebugWrapperSession

CPU_0, CPU_1 = (f"/job:localhost/replica:0/task:0/device:CPU:{n}" for n in (0, 1))


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    """(run folders, tf.Graph) by (who wrote them, graph), each recorded once. Our kernel writes from the second run
    on."""
    root, found = tmp_path_factory.mktemp("dumps"), {}
    wrappers = {
        "stock": stock.DumpingDebugWrapperSession,
        "ours": DumpingDebugWrapperSession,
        "our kernel": DumpingDebugWrapperSession,
    }

    def of(writer: str, name: str):
        if (writer, name) not in found:
            place = root / f"{writer}_{name}"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(ExecutorCost, "took", lambda self, seconds: writer == "our kernel")
                graph = session_graphs.dump(name, wrappers[writer], str(place))
            found[writer, name] = sorted(map(str, place.glob("run_*"))), graph
        return found[writer, name]

    return of


def about(datum):
    names = "device_name node_name output_slot debug_op timestamp extended_timestamp tensor_name watch_key file_path"
    return *(getattr(datum, name) for name in names.split()), datum.dump_size_bytes, str(datum)


def same_values(one, other):
    if isinstance(other, StockInconvertible):
        return isinstance(one, ours.InconvertibleTensorProto)
    is_number = one.dtype.kind in "fciub"
    same = (
        np.array_equal(one, other, equal_nan=is_number and one.dtype.kind in "fc")
        if is_number
        else str(one) == str(other)
    )
    return one.dtype == other.dtype and one.shape == other.shape and same


@pytest.mark.parametrize("writer", ["stock", "ours", "our kernel"])
@pytest.mark.parametrize("name", GRAPHS)
def test_both_readers_see_the_same(name, writer, dumped):
    folders, graph = dumped(writer, name)
    assert len(folders) == 2
    for folder in folders:
        mine, theirs = ours.DebugDumpDir(folder), stock.DebugDumpDir(folder, validate=False)
        assert mine.size == theirs.size > 0
        assert mine.t0 == theirs.t0
        assert sorted(mine.devices()) == sorted(theirs.devices())
        assert tuple(mine.core_metadata) == tuple(theirs.core_metadata)
        assert mine.run_fetches_info == theirs.run_fetches_info
        assert mine.run_feed_keys_info == theirs.run_feed_keys_info
        assert sorted(map(about, mine.dumped_tensor_data)) == sorted(map(about, theirs.dumped_tensor_data))
        times = [datum.timestamp for datum in mine.dumped_tensor_data]
        assert times == sorted(times)
        compare_dumps(mine, theirs)
        compare_graphs(mine, theirs)
        mine.set_python_graph(graph)
        theirs.set_python_graph(graph)
        in_both = [node for node in mine.nodes() if node in {op.name for op in graph.get_operations()}]
        assert in_both
        assert all(mine.node_traceback(f"{node}:0") == theirs.node_traceback(node) for node in in_both)


def compare_dumps(mine, theirs):
    for datum in theirs.dumped_tensor_data:
        device = datum.device_name
        place = (datum.node_name, datum.output_slot, datum.debug_op, device)
        assert mine.get_rel_timestamps(*place) == theirs.get_rel_timestamps(*place)
        assert mine.get_dump_sizes_bytes(*place) == theirs.get_dump_sizes_bytes(*place)
        assert mine.get_tensor_file_paths(*place) == theirs.get_tensor_file_paths(*place)
        values = mine.get_tensors(*place), theirs.get_tensors(*place)
        assert all(same_values(one, other) for one, other in zip(*values, strict=True))
        keys = mine.debug_watch_keys(datum.node_name, device), theirs.debug_watch_keys(datum.node_name, device)
        assert sorted(keys[0]) == sorted(keys[1])
        assert datum.file_path in {one.file_path for one in mine.watch_key_to_data(datum.watch_key, device)}
    found = [about(datum) for datum in mine.find(ours.has_inf_or_nan) if "bfloat16" not in datum.node_name]
    assert sorted(found) == sorted(map(about, theirs.find(stock.has_inf_or_nan)))


def compare_graphs(mine, theirs):
    text = {graph.SerializeToString(deterministic=True) for graph in mine.partition_graphs()}
    assert text == {graph.SerializeToString(deterministic=True) for graph in theirs.partition_graphs()}
    plain, stock_plain = (one.reconstructed_non_debug_partition_graphs() for one in (mine, theirs))
    assert plain == stock_plain
    for graph in mine.partition_graphs():
        assert reconstruct_non_debug_graph_def(graph) == stock.reconstruct_non_debug_graph_def(graph)
    assert sorted(mine.nodes()) == sorted(theirs.nodes())
    for device in theirs.devices():
        assert sorted(mine.nodes(device)) == sorted(theirs.nodes(device))
        for node in theirs.nodes(device):
            assert mine.node_exists(node, device)
            assert mine.node_op_type(node, device) == theirs.node_op_type(node, device)
            assert dict(mine.node_attributes(node, device)) == dict(theirs.node_attributes(node, device))
            for is_control in (False, True):
                for question in ("node_inputs", "node_recipients"):
                    answers = [getattr(one, question)(node, is_control, device) for one in (mine, theirs)]
                    assert answers[0] == answers[1]
            for control in (False, True):
                told = theirs.transitive_inputs(node, control, device_name=device)
                assert mine.transitive_inputs(node, control, device_name=device) == list(dict.fromkeys(told))
                for source in list(theirs.nodes(device))[:6]:
                    way = theirs.find_some_path(source, node, control, device_name=device)
                    own = mine.find_some_path(source, node, control, device_name=device)
                    # Behind a Merge stock's path has steps that no edge makes.
                    assert own == way if way is None or is_path(mine, way, control, device) else own
                    assert own is None or is_path(mine, own, control, device)
            assert mine.node_device(node) in (device, [CPU_0, CPU_1])


def is_path(dumps, elements, with_control, device):
    kinds = (False, True) if with_control else (False,)
    nodes = [element.split(":")[0] for element in elements]
    return all(
        any(before in dumps.node_inputs(node, kind, device) for kind in kinds)
        for before, node in zip(elements, nodes[1:], strict=False)
    )


def test_what_stock_gets_wrong_about_devices(dumped):
    """find and watch_key_to_data with a device are errors there, and node_exists does not look at it."""
    dumps = ours.DebugDumpDir(dumped("stock", "two_devices")[0][0])
    assert dumps.devices() == [CPU_0, CPU_1]
    bad = dumps.find(ours.has_inf_or_nan, device_name=CPU_0)
    assert [datum.node_name for datum in bad] == ["c"]
    assert dumps.find(ours.has_inf_or_nan, device_name=CPU_1) == []
    assert [datum.device_name for datum in dumps.watch_key_to_data("b:0:DebugIdentity", CPU_1)] == [CPU_1]
    assert dumps.watch_key_to_data("b:0:DebugIdentity", CPU_0) == []
    assert dumps.node_exists("b", CPU_1) and not dumps.node_exists("b", CPU_0)
    assert dumps.node_device("b") == CPU_1
    for question in (dumps.find, dumps.watch_key_to_data):
        with pytest.raises(ValueError, match="device"):
            question(ours.has_inf_or_nan if question == dumps.find else "b:0:DebugIdentity", device_name="/gpu:7")
    with pytest.raises(ValueError, match="not on the same device"):
        dumps.find_some_path("a", "b")


def test_one_name_on_several_devices(dumped, tmp_path):
    """As on several GPUs: each device has its own node and its own dumps."""
    shutil.copytree(dumped("stock", "feed_forward")[0][0], tmp_path / "run")
    (first,) = (tmp_path / "run").glob("_tfdbg_device_*")
    shutil.copytree(first, first.with_name(first.name.replace("CPU_0", "GPU_1")))
    dumps = ours.DebugDumpDir(tmp_path / "run")
    gpu = CPU_0.replace("CPU:0", "GPU:1")
    assert dumps.node_device("log") == [CPU_0, gpu]
    assert len(dumps.nodes()) == 2 * len(dumps.nodes(gpu))
    with pytest.raises(ValueError, match=r"multiple \(2\) devices"):
        dumps.node_inputs("log")
    with pytest.raises(ours.WatchKeyDoesNotExistInDebugDumpDirError, match="multiple"):
        dumps.get_tensors("log", 0, "DebugIdentity")
    assert len(dumps.get_tensors("log", 0, "DebugIdentity", gpu)) == 1


def test_bad_numbers_of_every_floating_type():
    plain = (np.float16, np.float32, np.float64, np.complex64, np.complex128)
    for dtype in (*plain, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn):
        good = np.ones([2, 3], dtype)
        bad = good.copy()
        bad[1, 2] = np.nan
        assert not ours.has_inf_or_nan(None, good) and ours.has_inf_or_nan(None, bad)
        if dtype != ml_dtypes.float8_e4m3fn:  # which has no infinities
            bad[1, 2] = -np.inf
            assert ours.has_inf_or_nan(None, bad)
    others = (np.array([1, 2]), np.array([True]), np.array([b"nan"], object), np.array("nan"), np.zeros([0, 3]), None)
    assert not any(ours.has_inf_or_nan(None, value) for value in others)


def test_a_bad_bfloat16_is_found(dumped):
    dumps = ours.DebugDumpDir(dumped("stock", "element_types")[0][0])
    assert "bfloat16" in {datum.node_name for datum in dumps.find(ours.has_inf_or_nan)}
    assert dumps.find(stock.has_inf_or_nan)  # stock's own predicate takes what ours gives it
    assert len(dumps.find(lambda datum, tensor: True, first_n=3)) == 3
    excluded = dumps.find(lambda datum, tensor: True, exclude_node_names="bfloat|text")
    assert not {"bfloat16", "text"} & {datum.node_name for datum in excluded}


def test_clocks_that_run_back_are_a_warning(dumped, tmp_path):
    shutil.copytree(dumped("stock", "feed_forward")[0][0], tmp_path / "run")
    assert ours.DebugDumpDir(tmp_path / "run").warnings == []
    (late,) = (tmp_path / "run").glob("_tfdbg_device_*/hidden/act_0_DebugIdentity_*")
    late.rename(late.with_name("act_0_DebugIdentity_9999999999999999"))
    with pytest.raises(ValueError, match="Causality"):
        stock.DebugDumpDir(str(tmp_path / "run"))
    dumps = ours.DebugDumpDir(tmp_path / "run")
    assert [text for text in dumps.warnings if "Causality" in text and "log" in text]
    assert len(dumps.get_tensors("log", 0, "DebugIdentity")) == 1


def test_what_is_not_there(dumped, tmp_path):
    folder = dumped("stock", "feed_forward")[0][0]
    with pytest.raises(IOError, match="does not exist"):
        ours.DebugDumpDir(str(tmp_path / "nothing"))
    dumps = ours.DebugDumpDir(folder)
    with pytest.raises(ours.WatchKeyDoesNotExistInDebugDumpDirError, match="foo:0:DebugIdentity"):
        dumps.get_tensors("foo", 0, "DebugIdentity")
    with pytest.raises(ValueError, match="None of the 1"):
        dumps.node_inputs("foo")
    with pytest.raises(LookupError, match="Python graph"):
        dumps.node_traceback("log")
    assert dumps.debug_watch_keys("foo") == [] and dumps.watch_key_to_data("foo:0:DebugIdentity") == []
    assert not dumps.node_exists("foo")
    (tmp_path / "empty").mkdir()
    empty = ours.DebugDumpDir(tmp_path / "empty")
    assert (empty.size, empty.t0, empty.devices(), empty.dumped_tensor_data) == (0, None, [], [])
    with pytest.raises(LookupError):
        empty.nodes()


def test_damaged_and_strange_files(dumped, tmp_path):
    shutil.copytree(dumped("stock", "feed_forward")[0][0], tmp_path / "run")
    (device,) = (tmp_path / "run").glob("_tfdbg_device_*")
    (dump,) = device.glob("log_0_DebugIdentity_*")
    os.truncate(dump, 40)
    (device / "notes.txt").write_text("mine")
    dumps = ours.DebugDumpDir(tmp_path / "run")
    assert any("notes.txt" in text for text in dumps.warnings)
    with pytest.raises(ValueError, match=f"truncated or damaged: {dump}"):
        dumps.get_tensors("log", 0, "DebugIdentity")
    assert dumps.find(ours.has_inf_or_nan) == []
    assert any(str(dump) in text for text in dumps.warnings)
    (graph,) = device.glob("_tfdbg_graph_*")
    graph.rename(graph.with_name("_tfdbg_core"))
    without = ours.DebugDumpDir(tmp_path / "run")
    assert not without.loaded_partition_graphs() and without.get_tensors("hidden/act", 0, "DebugIdentity")
    given = ours.DebugDumpDir(tmp_path / "run", partition_graphs=dumps.partition_graphs())
    assert given.node_op_type("hidden/act") == dumps.node_op_type("hidden/act")


def test_dumps_that_are_not_of_the_graph(dumped, tmp_path):
    shutil.copytree(dumped("stock", "feed_forward")[0][0], tmp_path / "run")
    (dump,) = (tmp_path / "run").glob("_tfdbg_device_*/log_0_DebugIdentity_*")
    shutil.copy(dump, dump.with_name(f"nobody_0_DebugIdentity_{dump.name.rsplit('_', 1)[1]}"))
    with pytest.raises(ValueError, match="Node name 'nobody' is not found in partition graphs"):
        ours.DebugDumpDir(tmp_path / "run")
    assert ours.DebugDumpDir(tmp_path / "run", validate=False).get_tensors("nobody", 0, "DebugIdentity")


def test_several_runs_into_one_folder(tmp_path):
    """Their graphs are taken together, and the runtime tells of each run."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        one, two = tf.exp(tf.constant(1.0), name="one"), tf.sqrt(tf.ones([2]), name="two")
        for fetch in (one, two):
            options = tf.compat.v1.RunOptions()
            stock.watch_graph(options, graph, debug_urls=f"file://{tmp_path}")
            session.run(fetch, options=options)
    dumps = ours.DebugDumpDir(tmp_path)
    assert [told.output_names for told in dumps.core_metadata] == [["one:0"], ["two:0"]]
    assert dumps.node_exists("one") and dumps.node_exists("two")


def test_repeated_timestamps_sort_by_number(tmp_path):
    device = tmp_path / "_tfdbg_device_,job_localhost,replica_0,task_0,device_XLA_CPU_0" / "scope"
    device.mkdir(parents=True)
    for suffix in ("-10", "-2", "", "-1"):
        (device / f"a_b_0_DebugIdentity_100{suffix}").write_bytes(b"")
    dumps = ours.DebugDumpDir(tmp_path)
    assert [datum.extended_timestamp for datum in dumps.dumped_tensor_data] == ["100", "100-1", "100-2", "100-10"]
    datum = dumps.dumped_tensor_data[0]
    assert (datum.node_name, datum.device_name) == ("scope/a_b", "/job:localhost/replica:0/task:0/device:XLA_CPU:0")
    assert datum.dump_size_bytes == 0
    again = ours.DebugTensorDatum(str(tmp_path), os.path.relpath(datum.file_path, tmp_path))
    assert about(again) == about(datum)
    with pytest.raises(ValueError, match="naming pattern"):
        ours.DebugTensorDatum(str(tmp_path), "device/what")


def test_values_that_are_no_arrays(dumped):
    dumps = ours.DebugDumpDir(dumped("stock", "resource_variables")[0][0])
    (handle,) = dumps.get_tensors("w", 0, "DebugIdentity")
    assert isinstance(handle, ours.InconvertibleTensorProto) and handle.initialized
    assert not ours.has_inf_or_nan(None, handle)


def test_a_way_through_a_variable_that_is_written(dumped):
    """Only edges of references turn around."""
    dumps = ours.DebugDumpDir(dumped("stock", "ref_variables")[0][0])
    plain = dumps.transitive_inputs("w/read") if dumps.node_exists("w/read") else dumps.transitive_inputs("MatMul")
    through = dumps.transitive_inputs("MatMul", include_reversed_ref=True)
    assert not any("ApplyGradientDescent" in name for name in plain)
    assert any("ApplyGradientDescent" in name for name in through)


def test_many_dumps_are_listed_without_being_read(tmp_path):
    device = tmp_path / "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    device.mkdir()
    for n in range(3000):
        (device / f"node{n % 30}_0_DebugIdentity_{n}").touch()
    dumps = ours.DebugDumpDir(tmp_path)
    assert dumps.size == 3000 and len(dumps.watch_key_to_data("node7:0:DebugIdentity")) == 100
