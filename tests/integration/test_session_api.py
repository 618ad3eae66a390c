"""Session wrappers and watch functions: the names of tfdbg in, its behaviour without its faults out."""

from __future__ import annotations

import gc
import glob
import inspect
import json
import os
import threading

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python import debug as stock
from tensorflow.python.debug.lib import debug_data
from tensorflow.python.debug.lib import debug_graphs as stock_graphs
from tensorflow.python.debug.wrappers import framework as stock_framework

import tdbg
from tdbg.frameworks.tensorflow.reading_dumps import debug_data as own_data
from tdbg.frameworks.tensorflow.reading_dumps import debug_graphs
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import read_event
from tdbg.frameworks.tensorflow.tfdbg import framework
from tdbg.tensorflow import debug as tf_debug

v1 = tf.compat.v1


@pytest.fixture
def net():
    """A placeholder x, a weight w of ones, mm = x·w, log(mm) and its mean: bad for x below or at 0."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        w = v1.get_variable("w", [4, 4], initializer=v1.ones_initializer(), use_resource=False)
        product = tf.matmul(x, w, name="mm")
        log = tf.math.log(product, name="log")
        loss = tf.reduce_mean(log, name="loss")
        doubled = tf.add(loss, loss, name="doubled")
        session.run(v1.global_variables_initializer())
        session.net = {"x": x, "mm": product, "log": log, "loss": loss, "doubled": doubled}
        yield session


def ones(factor=1.0):
    return np.full((2, 4), factor, np.float32)


def runs_of(root):
    return sorted(glob.glob(os.path.join(root, "run_*")), key=lambda path: int(path.rsplit("_", 1)[1]))


# ---- names


def test_every_name_is_there_with_its_arguments():
    names = [name for name in dir(stock) if not name.startswith("_") and not inspect.ismodule(getattr(stock, name))]
    assert len(names) >= 19
    for name in names:
        theirs, ours = getattr(stock, name), getattr(tf_debug, name)
        expected = list(inspect.signature(theirs).parameters.values())
        given = list(inspect.signature(ours).parameters.values())[: len(expected)]
        ours_differ = {"ui_type": "curses"}  # the guide's line opens a screen where there is a terminal
        wanted = [(p.name, ours_differ.get(p.name, p.default)) for p in expected]
        assert [(p.name, p.default) for p in given] == wanted, name
    for name in vars(stock_framework):
        if name.startswith("On") or name.endswith("WrapperSession"):
            assert hasattr(framework, name)


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"node_name_regex_allowlist": "(mm|loss)"},
        {"op_type_regex_allowlist": "Log$", "tensor_dtype_regex_allowlist": "float"},
        {"tensor_dtype_regex_allowlist": "int"},
        {"debug_ops": ["DebugIdentity", "DebugNanCount"], "tolerate_debug_op_creation_failures": True},
        {"global_step": 7, "reset_disk_byte_usage": True},
    ],
)
def test_watch_graph_asks_tensorflow_for_the_same_as_stock(net, filters):
    ours, theirs = config_pb2.RunOptions(), config_pb2.RunOptions()
    tf_debug.watch_graph(ours, net.graph, debug_urls="file:///d", **filters)
    stock.watch_graph(theirs, net.graph, debug_urls="file:///d", **filters)
    assert ours == theirs
    denied = {name.replace("allowlist", "denylist"): value for name, value in filters.items()}
    ours, theirs = config_pb2.RunOptions(), config_pb2.RunOptions()
    tf_debug.watch_graph_with_denylists(ours, net.graph, debug_urls=["file:///d"], **denied)
    stock.watch_graph_with_denylists(theirs, net.graph, debug_urls=["file:///d"], **denied)
    assert ours == theirs


def test_watches_need_ops_and_urls(net):
    with pytest.raises(ValueError, match="debug_urls"):
        tf_debug.watch_graph(config_pb2.RunOptions(), net.graph)
    with pytest.raises(ValueError, match="debug_ops"):
        tf_debug.watch_graph(config_pb2.RunOptions(), net.graph, debug_ops=[], debug_urls="file:///d")
    assert repr(tf_debug.WatchOptions()) == repr(stock.WatchOptions())


def test_watch_graph_by_hand_as_the_guide_does_it(net, tmp_path):
    options = v1.RunOptions()
    tf_debug.watch_graph(options, net.graph, debug_urls=[f"file://{tmp_path}/dumps"])
    net.run(net.net["loss"], {net.net["x"]: ones()}, options=options)
    dump = tf_debug.DebugDumpDir(f"{tmp_path}/dumps")
    assert dump.get_tensors("mm", 0, "DebugIdentity")[0].tolist() == [[4.0] * 4] * 2
    theirs = debug_data.DebugDumpDir(f"{tmp_path}/dumps")
    assert [datum.watch_key for datum in dump.dumped_tensor_data] == [d.watch_key for d in theirs.dumped_tensor_data]


# ---- dumping


def test_dumped_runs_are_what_stock_reads(net, tmp_path):
    root = tmp_path / "dumps"
    wrapper = tf_debug.DumpingDebugWrapperSession(net, str(root))
    loss, doubled, x = (net.net[name] for name in ("loss", "doubled", "x"))
    for factor in (1, 2, 3):
        assert wrapper.run(loss, {x: ones(factor)}) == pytest.approx(np.log(4 * factor))
        wrapper.run([doubled], {x: ones(factor)})
    found = runs_of(root)
    assert len(found) == 6
    for number, folder in enumerate(found):
        dump = debug_data.DebugDumpDir(folder)  # stock's own reader, with its checks
        assert dump.get_tensors("mm", 0, "DebugIdentity")[0].max() == 4 * (number // 2 + 1)
        assert ("doubled" in dump.nodes()) == bool(number % 2)
        assert dump.run_fetches_info == repr([doubled] if number % 2 else loss)
        assert dump.run_feed_keys_info == repr({x: 1}.keys())
        # One executor for each kind of run, whatever the number of runs.
        assert dump.core_metadata.executor_step_index == number // 2


def test_a_root_must_be_new_or_empty(net, tmp_path):
    (tmp_path / "file").write_text("")
    for wrapper, name in (
        (tf_debug.DumpingDebugWrapperSession, "session_root"),
        (tf_debug.LocalCLIDebugWrapperSession, "dump_root"),
    ):
        with pytest.raises(ValueError, match=f"{name} path points to a non-empty directory"):
            wrapper(net, str(tmp_path))
        with pytest.raises(ValueError, match=f"{name} path points to a file"):
            wrapper(net, str(tmp_path / "file"))


def test_steps_and_the_switch(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, start_step=2, stop_step=9, every=3)
    for step in range(12):
        wrapper.enabled = step != 5
        wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    assert [int(path.rsplit("_", 1)[1]) for path in runs_of(tmp_path)] == [2, 8]
    with pytest.raises(ValueError, match="every"):
        tf_debug.DumpingDebugWrapperSession(net, tmp_path / "other", every=0)


def test_the_disk_limit_stops_the_dumps_and_not_the_program(net, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "4000")
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    for _ in range(20):
        wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    assert 1 <= len(runs_of(tmp_path)) < 10
    said = capsys.readouterr().err
    assert said.count("the limit is 4,000") == 1 and "disk_limit" in said


def test_watch_fn_says_what_is_dumped(net, tmp_path):
    asked = []

    def watch(fetches, feeds):
        asked.append((fetches, feeds))
        return tf_debug.WatchOptions(node_name_regex_allowlist="mm") if len(asked) == 1 else (["DebugIdentity"], "log")

    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, watch_fn=watch)
    feeds = {net.net["x"]: ones()}
    wrapper.run(net.net["loss"], feeds)
    wrapper.run(net.net["loss"], feeds)
    assert asked[0] == (net.net["loss"], feeds)
    first, second = (
        {datum.node_name for datum in tf_debug.DebugDumpDir(run).dumped_tensor_data} for run in runs_of(tmp_path)
    )
    assert first == {"mm"}
    assert second == {"log"}
    with pytest.raises(TypeError, match="watch_fn is not callable"):
        tf_debug.DumpingDebugWrapperSession(net, tmp_path / "other", watch_fn="mm")


def test_a_filter_finds_what_tensorflow_merged(net, tmp_path):
    with net.graph.as_default():
        chain = tf.math.sqrt(tf.nn.relu(net.net["mm"], name="relu"), name="root")
        other = tf.reduce_sum(chain, name="other")
    wrapper = tf_debug.DumpingDebugWrapperSession(
        net, tmp_path, watch_fn=lambda fetches, feeds: tf_debug.WatchOptions(op_type_regex_allowlist="Sqrt$")
    )
    wrapper.run(other, {net.net["x"]: ones()})
    (datum,) = tf_debug.DebugDumpDir(runs_of(tmp_path)[0]).dumped_tensor_data
    assert datum.node_name == "root/unary_ops_composition" and datum.get_tensor().tolist() == [[2.0] * 4] * 2


def test_a_debug_op_that_does_not_take_every_type(net, tmp_path):
    def watch(fetches, feeds):
        return tf_debug.WatchOptions(
            "DebugNumericSummary(mute_if_healthy=true)", tolerate_debug_op_creation_failures=True
        )

    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, watch_fn=watch)
    with net.graph.as_default():
        text = tf.strings.as_string(net.net["loss"], name="text")
    wrapper.run(text, {net.net["x"]: ones(0)})
    names = {datum.node_name for datum in tf_debug.DebugDumpDir(runs_of(tmp_path)[0]).dumped_tensor_data}
    assert {"log", "loss"} <= names and "mm" not in names


def test_runs_at_the_same_time(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    failures = []

    def work(factor):
        for _ in range(8):
            if wrapper.run(net.net["mm"], {net.net["x"]: ones(factor)}).max() != 4 * factor:
                failures.append(factor)

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    dumps = [tf_debug.DebugDumpDir(folder) for folder in runs_of(tmp_path)]
    assert len(dumps) == 32
    values = sorted(int(dump.get_tensors("mm", 0, "DebugIdentity")[0].max()) for dump in dumps)
    assert values == sorted([4, 8, 12, 16] * 8)
    assert all(dump.partition_graphs() and dump.size == dumps[0].size for dump in dumps)


# ---- errors


@pytest.mark.parametrize("pass_through", [None, True])
def test_errors_leave_run_and_their_dump_is_kept(net, tmp_path, pass_through):
    with net.graph.as_default():
        inverse = tf.linalg.inv(tf.reshape(net.net["mm"], [2, 2, 2]), name="inverse")
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, pass_through_operrors=pass_through)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        wrapper.run(inverse, {net.net["x"]: ones()})
    with pytest.raises(TypeError, match="fetch"):
        wrapper.run(7.0)
    assert wrapper.run(net.net["loss"], {net.net["x"]: ones(0.25)}) == 0
    dumps = [tf_debug.DebugDumpDir(run) for run in runs_of(tmp_path)]
    assert len(dumps) == 2  # none of the run that did not begin
    assert dumps[0].get_tensors("mm", 0, "DebugIdentity")[0].max() == 4
    assert sorted(os.listdir(tmp_path)) == sorted(map(os.path.basename, runs_of(tmp_path)))


# ---- the Session's surface


def test_all_of_a_sessions_surface(net, tmp_path, capsys):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    x, loss = net.net["x"], net.net["loss"]
    assert wrapper.graph is net.graph and wrapper.session is net and wrapper.sess_str == net.sess_str
    assert wrapper.graph_def == net.graph_def and wrapper.list_devices()
    with wrapper as same:
        assert same is wrapper and v1.get_default_session() is wrapper and v1.get_default_graph() is net.graph
        assert loss.eval({x: ones(0.25)}) == 0
        with wrapper:
            pass
    with wrapper.as_default():
        assert v1.get_default_session() is wrapper
    assert wrapper.run_call_count == 1
    assert wrapper.make_callable({"a": loss}, [x])(ones(0.25)) == {"a": 0}
    assert wrapper.make_callable(loss, [x], accept_options=True)(ones(0.25), options=v1.RunOptions()) == 0
    runner = net.make_callable(loss, [x], accept_options=True)
    assert wrapper.run(None, callable_runner=runner, callable_runner_args=[ones(0.25)]) == 0
    assert wrapper.run([]) == [] and wrapper.run({"a": [], "b": ()}) == {"a": [], "b": ()}
    assert wrapper.run_step_fn(lambda context: context.session) is net
    assert len(runs_of(tmp_path)) == 4
    with pytest.raises(ValueError, match="mutually exclusive"):
        wrapper.run(None, callable_runner=runner, callable_options=config_pb2.CallableOptions())
    with pytest.raises(ValueError, match="should_stop"):
        wrapper.should_stop()
    with pytest.raises(TypeError, match="Session"):
        tf_debug.DumpingDebugWrapperSession(wrapper, tmp_path / "other")
    handle = wrapper.partial_run_setup([loss], [x])
    assert wrapper.partial_run(handle, loss, {x: ones(0.25)}) == 0
    assert capsys.readouterr().err.count("partial_run() is passed through") == 1
    wrapper.close()
    with pytest.raises(RuntimeError, match="closed"):
        net.run(loss, {x: ones()})


def test_callables_as_keras_makes_them(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["loss:0"], target=["doubled"])
    runner = wrapper._make_callable_from_options(options)
    assert runner(ones(0.25)) == [0]
    assert wrapper.run(None, callable_options=options, callable_runner_args=[ones(0.25)]) == [0]
    dumped = [tf_debug.DebugDumpDir(run).debug_watch_keys("doubled") for run in runs_of(tmp_path)]
    assert dumped == [["doubled:0:DebugIdentity"]] * 2
    wrapper.enabled = False
    assert runner(ones(0.25)) == [0] and len(runs_of(tmp_path)) == 2


def test_callables_that_name_ops_and_not_their_outputs(net, tmp_path):
    options = config_pb2.CallableOptions(feed=["x"], fetch=["loss", "mm:0"])
    expected = net._make_callable_from_options(options)(ones())
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path / "dumps")
    tdbg.enable(tmp_path / "trace.tdbg")
    try:
        recorded = net._make_callable_from_options(options)(ones())
    finally:
        tdbg.disable()
    for given in (wrapper._make_callable_from_options(options)(ones()), recorded):
        assert len(given) == 2 and given[0] == expected[0] and np.array_equal(given[1], expected[1])
    assert len(runs_of(tmp_path / "dumps")) == 1


def test_only_runs_stand_in_the_dump_root(net, tmp_path):
    root, listed = tmp_path / "dumps", []

    def watch_fn(fetches, feeds):
        listed.append(sorted(os.listdir(root)))
        return tf_debug.WatchOptions(node_name_regex_allowlist="mm$" if len(listed) % 2 else "(?!)")

    wrapper = tf_debug.DumpingDebugWrapperSession(net, root, watch_fn)
    for _ in range(3):
        wrapper.run(net.net["loss"], {net.net["x"]: ones()})
        listed[-1] += [sorted(os.listdir(root))]
    names = [os.path.basename(path) for path in runs_of(root)]
    assert listed[-1] == [*names[:2], names]
    dumps = [tf_debug.DebugDumpDir(path) for path in runs_of(root)]
    assert [dump.size for dump in dumps] == [1, 0, 1]  # a run that watches nothing has a folder all the same
    assert all("loss:0" in dump.run_fetches_info for dump in dumps)
    spools = wrapper._root._spools
    del wrapper
    gc.collect()
    assert not spools.exists()


def test_names_of_tensorflow_1(net, tmp_path, capsys):
    old = {"node_name_regex_whitelist": "mm", "op_type_regex_whitelist": "MatMul"}
    options, again = v1.RunOptions(), v1.RunOptions()
    tf_debug.watch_graph(options, net.graph, debug_urls="file:///nowhere", **old)
    assert [watch.node_name for watch in options.debug_options.debug_tensor_watch_opts] == ["mm"]
    denied = {"debug_urls": "file:///nowhere", "node_name_regex_blacklist": "(?!mm)"}
    tf_debug.watch_graph_with_blacklists(again, net.graph, **denied)
    assert [watch.node_name for watch in again.debug_options.debug_tensor_watch_opts] == ["mm"]
    watched = tf_debug.WatchOptions(**old)
    assert watched.node_name_regex_allowlist == "mm"
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, lambda fetches, feeds: watched, log_usage=False)
    wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    assert tf_debug.DebugDumpDir(runs_of(tmp_path)[0]).size == 1
    tf_debug.LocalCLIDebugWrapperSession(net, None, True, log_usage=True)
    tf_debug.GrpcDebugWrapperSession(net, "localhost:1", log_usage=False)
    tf_debug.LocalCLIDebugHook(watch_fn=lambda fetches, feeds: watched)
    assert "LocalCLIDebugHook does not take watch_fn" in capsys.readouterr().err
    with pytest.raises(TypeError, match="bogus"):
        tf_debug.WatchOptions(bogus=1)


def test_helpers_that_public_code_imports_say_what_stock_says(net, tmp_path):
    for name in ("a/b", "a/b:0", "a/b:12"):
        for helper in ("parse_node_or_tensor_name", "get_node_name", "get_output_slot"):
            assert getattr(debug_graphs, helper)(name) == getattr(stock_graphs, helper)(name)
    debug_node = "__dbg_a/b:1_0_DebugIdentity"
    assert debug_graphs.parse_debug_node_name(debug_node) == stock_graphs.parse_debug_node_name(debug_node)
    assert debug_graphs.is_debug_node(debug_node) and debug_graphs.is_copy_node("__copy_a_0")
    with pytest.raises(ValueError, match="debug node name"):
        debug_graphs.parse_debug_node_name("a:1_0_DebugIdentity")
    for name in own_data.__all__:
        assert name.islower() or not name.isupper() or getattr(own_data, name) == getattr(debug_data, name)
    folder = debug_data.device_name_to_device_path("/job:localhost/replica:0/task:0/device:CPU:0")
    assert own_data.device_name_to_device_path("/job:localhost/replica:0/task:0/device:CPU:0") == folder
    assert own_data.device_path_to_device_name(f"/somewhere/{folder}") == debug_data.device_path_to_device_name(folder)
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    [path] = glob.glob(f"{tmp_path}/run_*/{own_data.METADATA_FILE_PREFIX}{own_data.CORE_METADATA_TAG}*")
    event = read_event(path)
    assert tuple(own_data.extract_core_metadata_from_event_proto(event)) == tuple(
        debug_data.extract_core_metadata_from_event_proto(event)
    )


def test_a_collected_wrapper_leaves_the_session_open(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    del wrapper
    gc.collect()
    assert net.run(net.net["loss"], {net.net["x"]: ones(0.25)}) == 0
    assert [os.path.basename(path) for path in glob.glob(f"{tmp_path}/*")] == [
        os.path.basename(path) for path in runs_of(tmp_path)
    ]


def test_only_the_threads_that_are_asked_for(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path, thread_name_filter="MainThread$")
    feeds = {net.net["x"]: ones()}
    thread = threading.Thread(target=wrapper.run, args=(net.net["loss"], feeds), name="QueueRunnerThread-1")
    thread.start()
    thread.join()
    assert not runs_of(tmp_path)
    wrapper.run(net.net["loss"], feeds)
    assert len(runs_of(tmp_path)) == 1


def test_options_and_metadata_of_the_user(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    metadata = v1.RunMetadata()
    wrapper.run(net.net["loss"], {net.net["x"]: ones()}, options=options, run_metadata=metadata)
    assert options == v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    assert metadata.step_stats.dev_stats and not metadata.partition_graphs
    options.output_partition_graphs = True
    wrapper.run(net.net["loss"], {net.net["x"]: ones()}, options=options, run_metadata=metadata)
    assert metadata.partition_graphs


# ---- wrappers of one's own


class Recording(framework.BaseDebugWrapperSession):
    """Does with each run what it was told, and keeps what it hears."""

    def __init__(self, sess, root, actions, **options):
        self.root, self.actions, self.heard = root, list(actions), []
        super().__init__(sess, **options)

    def on_session_init(self, request):
        self.heard.append(request)
        return framework.OnSessionInitResponse(framework.OnSessionInitAction.PROCEED)

    def on_run_start(self, request):
        self.heard.append(request)
        return framework.OnRunStartResponse(self.actions.pop(0), [f"file://{self.root}"])

    def on_run_end(self, request):
        self.heard.append(request)
        return framework.OnRunEndResponse()


def test_a_wrapper_of_ones_own(net, tmp_path):
    kind = framework.OnRunStartAction
    wrapper = Recording(net, tmp_path, [kind.DEBUG_RUN, kind.PROFILE_RUN, kind.NON_DEBUG_RUN, "dance"])
    feeds = {net.net["x"]: ones()}
    for _ in range(3):
        wrapper.run(net.net["loss"], feeds)
    with pytest.raises(ValueError, match="Invalid OnRunStartAction value: dance"):
        wrapper.run(net.net["loss"], feeds)
    init, *heard = wrapper.heard
    assert init.session is net
    starts, ends = heard[:6:2], heard[1:6:2]
    assert [start.run_call_count for start in starts] == [1, 2, 3]
    assert starts[0].fetches is net.net["loss"] and starts[0].feed_dict is feeds
    assert [end.performed_action for end in ends] == ["debug_run", "profile_run", "non_debug_run"]
    assert ends[0].run_metadata.partition_graphs and ends[1].run_metadata.step_stats.dev_stats
    assert ends[0].client_graph_def == net.graph.as_graph_def() and ends[0].tf_error is None
    assert tf_debug.DebugDumpDir(str(tmp_path)).size
    with pytest.raises(TypeError):
        framework.OnRunStartResponse("debug_run", "file:///d")


def test_a_wrapper_of_ones_own_hears_of_errors(net, tmp_path):
    with net.graph.as_default():
        inverse = tf.linalg.inv(tf.reshape(net.net["mm"], [2, 2, 2]), name="inverse")
    for action in ("debug_run", "non_debug_run"):
        wrapper = Recording(net, tmp_path, [action])
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            wrapper.run(inverse, {net.net["x"]: ones()})
        assert wrapper.heard[-1].tf_error is raised.value
    wrapper = Recording(net, tmp_path, ["debug_run"], pass_through_operrors=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrapper.run(inverse, {net.net["x"]: ones()})
    assert not isinstance(wrapper.heard[-1], framework.OnRunEndRequest)


# ---- gradients


def test_gradients_are_found_beside_the_stock_debugger():
    for order in ("by tensors", "by names", "identify"):
        with tf.Graph().as_default() as graph, v1.Session() as session:
            x = v1.get_variable("x", initializer=3.0, use_resource=False)
            y = tf.add(x, x, name="y")
            debugger = tf_debug.GradientsDebugger()
            z = tf.square(debugger.identify_gradient(y) if order == "identify" else y, name="z")
            if order == "by tensors":
                debugger.watch_gradients_by_tensors(graph, y)
            elif order == "by names":
                debugger.watch_gradients_by_tensor_names(graph, r"(y|z):0$")
            stock_debugger = stock.GradientsDebugger()
            theirs = tf.square(stock_debugger.identify_gradient(x.value()), name="theirs")
            with debugger, stock_debugger:
                train = v1.train.GradientDescentOptimizer(0.1).minimize(z + theirs)
            session.run(v1.global_variables_initializer())
            assert session.run(debugger.gradient_tensor(y)) == 12
            assert debugger.gradient_tensor("y:0") is debugger.gradient_tensors()["y:0"]
            assert stock_debugger.gradient_tensors()
            session.run(train)
            assert session.run(x) == pytest.approx(3.0 - 0.1 * (2 * 12 + 6))
            with pytest.raises(LookupError, match="has not received any gradient tensor"):
                debugger.gradient_tensor("other:0")
            with pytest.raises(TypeError):
                debugger.gradient_tensor(7)


def test_gradient_values_in_a_dump(net, tmp_path):
    from tdbg.frameworks.tensorflow.tfdbg.watched_gradients import gradient_values_from_dump

    debugger = tf_debug.GradientsDebugger(net.net["loss"])
    with net.graph.as_default(), debugger.watch_gradients_by_tensors(net.graph, [net.net["mm"]]):
        gradient = v1.gradients(net.net["loss"], net.graph.get_tensor_by_name("w:0"))
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    wrapper.run(gradient, {net.net["x"]: ones()})
    (values,) = gradient_values_from_dump(debugger, "mm:0", tf_debug.DebugDumpDir(runs_of(tmp_path)[0]))
    assert values == pytest.approx(np.full((2, 4), 1 / 32))


def test_the_graph_without_the_debugger(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    (path,) = glob.glob(f"{runs_of(tmp_path)[0]}/_tfdbg_device_*/_tfdbg_graph_*")
    decorated = debug_data._load_graph_def_from_event_file(path)
    assert any(node.name.startswith("__copy_") for node in decorated.node)
    plain = tf_debug.reconstruct_non_debug_graph_def(decorated)
    assert plain == stock.reconstruct_non_debug_graph_def(decorated)


def test_core_metadata_is_of_this_run(net, tmp_path):
    wrapper = tf_debug.DumpingDebugWrapperSession(net, tmp_path)
    wrapper.run(net.net["loss"], {net.net["x"]: ones()})
    metadata = tf_debug.DebugDumpDir(runs_of(tmp_path)[0]).core_metadata
    assert json.dumps([metadata.input_names, metadata.output_names]) == '[["x:0"], ["loss:0"]]'
