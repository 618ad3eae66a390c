"""Sessions of TensorFlow 1: what is recorded of their runs, what the verdict says, and that the program is the same."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import session_programs as programs
import tensorflow as tf
from recorded_run import line_with, record
from tensorflow.core.protobuf import config_pb2

import tdbg
from tdbg.model import Flag, Phase
from tdbg.query.verdict.verdict import explain

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def strict_in_a_new_graph(monkeypatch):
    monkeypatch.setenv("TDBG_STRICT", "1")
    with v1.Graph().as_default():
        yield


def texts(recorded, kind):
    return [note["text"] for note in recorded.table("notes") if note["kind"] == kind]


# ---- verdicts

BROKEN = [
    (programs.log_of_zero, "the log", "forward", "log_of_zero", 0),
    (programs.norm_at_zero, "the norm", "backward", "norm_at_zero", 3),
    (programs.normalised, "the division", "forward", "rsqrt_of_zero", 2),
    (programs.nan_in_data, "the data", "data", "nan_in_data", 4),
    (programs.exploding, "the square", "forward", "mul_overflow", None),
]


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize(("program", "mark", "kind", "cause", "step"), BROKEN, ids=[row[0].__name__ for row in BROKEN])
def test_the_verdict_names_the_line(tmp_path, program, mark, kind, cause, step, resource):
    with record(tmp_path) as recorded:
        program(resource)
    verdict = explain(recorded.trace)
    assert len(verdict.origins) == 1, [origin.as_dict() for origin in verdict.origins]
    origin = verdict.first
    assert origin.frame is not None
    assert (origin.frame.line, origin.kind, origin.cause.name) == (line_with(programs.__file__, mark), kind, cause)
    assert step is None or origin.row.step == step
    assert origin.reach.weights == 1


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("lowered", [True, False], ids=["while_v2", "while_v1"])
def test_a_loop_is_looked_into(tmp_path, resource, lowered):
    (v1.enable_control_flow_v2 if lowered else v1.disable_control_flow_v2)()
    try:
        with record(tmp_path) as recorded:
            programs.recurrent(resource)
    finally:
        v1.enable_control_flow_v2()
    origin = explain(recorded.trace).first
    assert (origin.frame.line, origin.cause.name) == (line_with(programs.__file__, "the loop"), "div_by_zero")
    assert (origin.row.step, origin.row.iteration) == (2, 3)


def test_of_ops_that_became_one_the_right_one_is_named(tmp_path):
    with record(tmp_path) as recorded:
        programs.chained(True)
    assert recorded.rows("_UnaryOpsComposition")
    origin = explain(recorded.trace).first
    assert (origin.op.type, origin.cause.name) == ("Log", "log_of_zero")
    assert origin.frame.line == line_with(programs.__file__, "the inner log")
    assert origin.inputs[0].row.zero and origin.inputs[0].row.min == 0  # behind the relu, not before


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
def test_a_clean_program_is_clean(tmp_path, resource):
    with record(tmp_path) as recorded:
        programs.clean(resource)
    verdict = explain(recorded.trace)
    assert verdict.name == "clean"
    assert not verdict.benign
    assert recorded.steps == list(range(12))


def test_tdbg_run_and_why(tmp_path):
    (tmp_path / "train.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(programs.__file__).rsplit('/', 1)[0]!r})\n"
        "import session_programs\n"
        "with session_programs.v1.Graph().as_default():\n"
        "    session_programs.log_of_zero(False)\n"
    )
    run = [sys.executable, "-m", "tdbg", "run", "-o", "a.tdbg", "train.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert "loss = -tf.reduce_mean(y * tf.math.log(p))" in done.stderr, done.stderr
    assert "log(0)" in done.stderr
    assert "tf.maximum(p, " in done.stderr  # the fix was tried on the values that were kept
    for command in ("why", "info", "diff"):
        words = [command, "a.tdbg", *(["a.tdbg"] if command == "diff" else [])]
        done = subprocess.run(
            [sys.executable, "-m", "tdbg", *words], cwd=tmp_path, capture_output=True, text=True, timeout=240
        )
        assert "Traceback" not in done.stderr, done.stderr


# ---- rows


def test_rows_of_a_run(tmp_path):
    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        w = v1.get_variable("w", [4, 3], use_resource=True)
        h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w, name="product"), tf.ones(3)), name="h")  # the layer
        loss = tf.reduce_mean(tf.exp(h, name="grown"), name="loss")
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run([train, loss], {x: np.ones((2, 4))})
            session.run([train, loss], {x: np.ones((2, 4))})
            session.run(loss, {x: np.ones((2, 4))})
    layer = [op for op in recorded.ops_of("Relu") if op["name"] == "h"]
    assert layer and all(recorded.line(op) == (__file__, line_with(__file__, "the layer")) for op in layer)
    (fused,) = [op for op in layer if "FusedMatMul" in op["attributes"]]  # where no gradient needs what is inside
    (added,) = [recorded.ops[number] for number in fused["input_ops"]]
    product, _ = (recorded.ops[number] for number in added["input_ops"])
    assert [(op["name"], op["type"]) for op in (added, product)] == [("BiasAdd", "BiasAdd"), ("product", "MatMul")]
    assert recorded.ops[product["input_ops"][0]]["name"] == "x"
    assert recorded.line(product) == recorded.line(fused) and not product["observed"] and fused["observed"]
    fed = [row for row in recorded.tensors if row["of"]["name"] == "x"]
    assert len(fed) == 3 and all(row["flags"] & Flag.INPUT and row["dims"] == (2, 4) for row in fed)
    slopes = [op for op in recorded.ops.values() if op["name"].startswith("gradients/grown_grad")]
    assert slopes and all(recorded.phase(op) == Phase.BACKWARD for op in slopes)
    assert {recorded.ops[op["forward"]]["name"] for op in slopes} == {"grown"}
    signatures = {tuple(row["fetches"]): row for row in recorded.table("signatures")}
    asked = [row for row in recorded.table("signatures") if row["fetches"] == ["loss:0"]]
    assert sorted(row["targets"] for row in asked) == [[], ["train"]]
    assert signatures["loss:0",]["feeds"] == ["x:0"]
    runs = [row for row in recorded.table("executions") if recorded.ops[row["op"]]["type"] == "Session.run"]
    assert [row["step"] for row in runs] == [0, 0, 1, 1]
    assert len({row["graph"] for row in runs}) == 3
    ends = {row["execution"]: row["failed"] for row in recorded.table("ends")}
    assert not any(ends[row["execution"]] for row in runs)


def test_filters_find_what_the_runtime_renamed(tmp_path):
    with record(tmp_path, ops="^MatMul$") as recorded:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, tf.ones((4, 3)), name="product"), tf.ones(3)), name="h")
        with v1.Session() as session:
            session.run(h, {x: np.ones((2, 4))})
    assert {row["of"]["name"] for row in recorded.tensors if not row["flags"] & Flag.INPUT} == {"h"}


# ---- functions in a graph


def test_what_a_function_computes_is_seen_and_its_lines_are_named(tmp_path):
    """Functions in functions, and one with side effects, which TensorFlow would not put into the graph."""

    @tf.function
    def logarithm(x):
        return tf.math.log(x)  # inside the inner function

    @tf.function
    def outer(x):
        return logarithm(x - 1.0) * 0.0

    @tf.function
    def counted(x):
        seen.assign_add(1.0)
        return tf.sqrt(x) * seen  # inside the counting function

    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [3], name="x")
        seen = v1.get_variable("seen", initializer=0.0, use_resource=True)
        good, bad = counted(x) + 1.0, outer(x) + 1.0
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            first, second = (session.run(good, {x: [1.0, 4.0, 9.0]}) for _ in range(2))
            session.run(bad, {x: [1.0, 2.0, 3.0]})
            assert not session._config.graph_options.optimizer_options.do_function_inlining
    assert (first.tolist(), second.tolist()) == ([2, 3, 4], [3, 5, 7])
    origin = explain(recorded.trace).first
    assert (origin.op.type, origin.cause.name) == ("Log", "log_of_zero")
    assert origin.frame.line == line_with(__file__, "inside the inner function")
    roots = [row for row in recorded.tensors if row["of"]["type"] == "Sqrt"]
    assert len(roots) == 2
    assert {recorded.line(row["of"])[1] for row in roots} == {line_with(__file__, "inside the counting function")}


def test_a_function_that_cannot_be_looked_into_is_said_to_be_the_place(tmp_path):
    apart = tf.function(lambda x: tf.math.log(x) * 0.0, experimental_attributes={"_noinline": True})
    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [2], name="x")
        bad = apart(x) * 2.0  # the call
        with v1.Session() as session:
            session.run(bad, {x: [0.0, 1.0]})
    origin = explain(recorded.trace).first
    assert origin.op.type == "PartitionedCall" and origin.frame.line == line_with(__file__, "the call")
    assert "did not look inside" in origin.cause.reason


def test_what_was_computed_from_constants_before_the_run_is_named(tmp_path):
    with record(tmp_path) as recorded:
        zero = tf.math.log(tf.constant([0.0, 1.0]))  # the constants
        bad = tf.multiply(zero, 0.0, name="bad")
        with v1.Session() as session:
            assert np.isnan(session.run(bad)).any()
    origin = explain(recorded.trace).first
    assert origin.row.nan == 1 and origin.op.name == "bad"
    assert "from constants" in origin.cause.reason
    assert f"Log, {os.path.basename(__file__)}:{line_with(__file__, 'the constants')}" in origin.cause.reason.replace(
        os.path.relpath(os.path.dirname(__file__)) + os.sep, ""
    )


def test_an_overflow_inside_a_fused_op_is_that_of_the_product(tmp_path):
    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        product = tf.matmul(x, tf.fill([4, 3], 1e20), name="product")  # the product
        out = tf.nn.relu(tf.nn.bias_add(product, tf.ones(3)), name="out")
        with v1.Session() as session:
            session.run(tf.reduce_sum(out) - tf.reduce_sum(out), {x: np.full((2, 4), 1e30)})
    origin = explain(recorded.trace).first
    assert (origin.op.type, origin.frame.line) == ("MatMul", line_with(__file__, "the product"))


# ---- what was there before


def test_graphs_made_before_recording(tmp_path):
    x = v1.placeholder(tf.float32, [None], name="x")
    bad = tf.math.log(x)  # made before
    session = v1.Session()
    with record(tmp_path) as recorded:
        session.run(bad, {x: [0.0]})
    origin = explain(recorded.trace).first
    assert origin.frame.line == line_with(__file__, "made before")
    assert origin.source.startswith("bad = tf.math.log(x)")


# ---- every way to run a graph


def test_every_way_to_run(tmp_path):
    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.square(x, name="y")
        free = tf.square(tf.random.uniform([2], name="r"), name="free")
        with v1.Session() as session:
            assert y.eval({x: [1, 2]}).tolist() == [1, 4]
            assert session.make_callable(y, [x])(np.array([1, 3], "f")).tolist() == [1, 9]
            assert session.make_callable(free)().shape == (2,)
            options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"])
            assert session._make_callable_from_options(options)(np.array([1, 6], "f"))[0].tolist() == [1, 36]
            free.op.run()
            thread = threading.Thread(target=lambda: session.run(y, {x: [1, 4]}))
            thread.start()
            thread.join()
        with v1.train.MonitoredSession() as monitored:
            assert monitored.run(y, {x: [1, 5]}).tolist() == [1, 25]
    runs = [row for row in recorded.table("executions") if recorded.ops[row["op"]]["type"] == "Session.run"]
    assert len([row for row in recorded.tensors if row["of"]["name"] == "y"]) == 5
    assert len([row for row in recorded.tensors if row["of"]["name"] == "free"]) == 2
    assert len({row["thread"] for row in runs}) >= 2


def test_every_run_has_the_same_rows_however_many_there_are(tmp_path):
    with record(tmp_path) as recorded:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.reshape(tf.square(x, name="y"), [1, 2]) / tf.constant(2.0)
        with v1.Session() as session:
            for number in range(300):  # somewhere here kernels that have nothing to do are left out
                session.run(y, {x: [number, 2]})
    rows = [row["of"]["name"] for row in recorded.tensors if row["execution"] >= 0]
    assert {name: rows.count(name) for name in rows} == {"x": 300, "y": 300, "truediv": 300}
    assert len(recorded.table("signatures")) == 1
    names = [op["name"] for op in recorded.ops.values()]
    assert len(names) == len(set(names))


def test_queues_and_their_threads(tmp_path):
    with record(tmp_path) as recorded:
        queue = v1.FIFOQueue(4, [tf.float32], shapes=[[2]])
        enqueue = queue.enqueue([tf.random.uniform([2], name="made")])
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [enqueue] * 2))
        y = tf.square(queue.dequeue(), name="y")
        with v1.Session() as session:
            coordinator = v1.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            got = [float(session.run(y).sum()) for _ in range(5)]
            coordinator.request_stop()
            session.run(queue.close(cancel_pending_enqueues=True))
            coordinator.join(threads)
    seen = [row for row in recorded.tensors if row["of"]["name"] == "y"]
    assert [row["mean"] * 2 for row in seen] == pytest.approx(got)
    assert len({row["execution"] for row in seen}) == 5
    made = [row for row in recorded.tensors if row["of"]["type"] == "RandomUniform"]
    assert len({row["execution"] for row in made}) == len(made) >= 5


def test_two_devices(tmp_path):
    with record(tmp_path) as recorded:
        with tf.device("/cpu:0"):
            x = v1.placeholder(tf.float32, [2], name="x")
            shifted = tf.add(x, -1.0, name="shifted")
        with tf.device("/cpu:1"):
            logged = tf.math.log(shifted)  # on the other device
            total = tf.reduce_sum(logged)
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(total, {x: [1.0, 2.0]})
    origin = explain(recorded.trace).first
    assert origin.frame.line == line_with(__file__, "on the other device")
    assert origin.cause.name == "log_of_zero"
    assert {op["device"][-5:] for op in recorded.ops.values() if op["device"]} == {"CPU:0", "CPU:1"}
    assert "shifted" in {recorded.ops[op["input_ops"][0]]["name"] for op in recorded.ops_of("_Recv")}


def test_a_session_in_another_process(tmp_path):
    server = (
        "import sys, tensorflow as tf\n"
        "server = tf.distribute.Server.create_local_server()\n"
        "print(server.target, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        target = process.stdout.readline().strip()
        with record(tmp_path) as recorded:
            x = v1.placeholder(tf.float32, [1], name="x")
            y = tf.math.log(x, name="y")
            with v1.Session(target) as session:
                assert session.run(y, {x: [0.0]})[0] == -np.inf
        process.stdin.close()
    assert [(row["of"]["name"], row["flags"] & Flag.BAD) for row in recorded.tensors] == [("x", 0), ("y", 1)]
    assert any("another process" in text for text in texts(recorded, "sessions"))


def test_partial_runs_are_seen_from_outside(tmp_path):
    with record(tmp_path) as recorded:
        a = v1.placeholder(tf.float32, [], name="a")
        b = v1.placeholder(tf.float32, [], name="b")
        first = tf.add(a, 1.0, name="first")
        second = tf.multiply(first, b, name="second")
        with v1.Session() as session:
            handle = session.partial_run_setup([first, second], [a, b])
            assert session.partial_run(handle, first, {a: 1.0}) == 2
            assert session.partial_run(handle, second, {b: 4.0}) == 8
    seen = [(row["of"]["name"], row["mean"]) for row in recorded.tensors]
    assert seen == [("a", 1.0), ("first", 2.0), ("b", 4.0), ("second", 8.0)]
    assert any("partial" in text for text in texts(recorded, "sessions"))


# ---- the program is the same


def test_the_users_options_are_theirs(tmp_path):
    x = v1.placeholder(tf.float32, [2], name="x")
    y = tf.square(x, name="y")
    with record(tmp_path) as recorded, v1.Session() as session:
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
        metadata = v1.RunMetadata()
        before = options.SerializeToString()
        session.run(y, {x: [1, 2]}, options, metadata)
        assert options.SerializeToString() == before
        names = [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]
        assert names and not any(name.startswith(("__copy_", "__dbg_")) for name in names)
        nodes = [node.name for graph in metadata.partition_graphs for node in graph.node]
        assert "y" in nodes and not any(name.startswith("__") for name in nodes)
        own = v1.RunOptions()
        own.debug_options.debug_tensor_watch_opts.add(
            node_name="y", output_slot=0, debug_ops=["DebugIdentity"], debug_urls=[f"file://{tmp_path}/own"]
        )
        session.run(y, {x: [1, 3]}, own)
        assert list((tmp_path / "own").rglob("y_0_DebugIdentity*"))
    assert [row["max"] for row in recorded.tensors if row["of"]["name"] == "y"] == [4, 9]
    assert any("watches" in text for text in texts(recorded, "sessions"))


def test_an_error_is_the_programs_own(tmp_path):
    x = v1.placeholder(tf.float32, [None], name="x")
    picked = tf.gather(x, 7, name="picked")
    with record(tmp_path) as recorded, v1.Session() as session:
        session.run(picked, {x: [1.0] * 8})
        with pytest.raises(tf.errors.InvalidArgumentError, match="picked"):
            session.run(picked, {x: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            session.run(picked)
    failed = [row["failed"] for row in recorded.table("ends")]
    assert failed == [False, True, True]
    runs = recorded.table("runs")
    assert [row["run"] for row in runs] == [1, 2, 3]
    assert ["InvalidArgumentError" in row["error"] for row in runs] == failed
    assert any("picked" in text and "InvalidArgumentError" in text for text in texts(recorded, "session_error"))


def test_the_same_results_and_nothing_left_behind(tmp_path):
    x = v1.placeholder(tf.float32, [4, 4], name="x")
    y = tf.linalg.matmul(tf.math.tanh(x), x)
    given = np.random.default_rng(0).normal(size=(4, 4))
    run, do_run = v1.Session.run, v1.Session._do_run
    with v1.Session() as session:
        before = session.run(y, {x: given})
        with record(tmp_path):
            np.testing.assert_array_equal(session.run(y, {x: given}), before)
            made = session.make_callable(y.op)
        assert (v1.Session.run, v1.Session._do_run) == (run, do_run)
        np.testing.assert_array_equal(session.run(y, {x: given}), before)
        with record(tmp_path, "second") as second:
            np.testing.assert_array_equal(session.run(y, {x: given}), before)
        with pytest.raises(tf.errors.InvalidArgumentError):
            made()  # as it would without tdbg: x is not fed
    assert [row["of"]["type"] for row in second.tensors if row["of"]["type"] == "Tanh"] == ["Tanh"]


def test_steps_and_pauses(tmp_path):
    with record(tmp_path, steps="1:3") as recorded:
        w = v1.get_variable("w", initializer=1.0, use_resource=True)
        train = v1.assign(w, w * 2.0)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(5):
                session.run(train)
    assert {row["step"] for row in recorded.tensors if row["execution"] >= 0} == {1, 2}
    assert recorded.steps == [0, 1, 2, 3, 4]


def test_without_the_extension(tmp_path):
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\n"
        "with tf.Graph().as_default():\n"
        "    x = tf.compat.v1.placeholder(tf.float32, [None], name='x')\n"
        "    y = tf.math.log(x)\n"
        "    with tf.compat.v1.Session() as session:\n"
        "        print(session.run(y, {x: [0.0]}))\n"
    )
    run = [sys.executable, "-m", "tdbg", "run", "-o", "a.tdbg", "train.py"]
    env = {**os.environ, "TDBG_NATIVE": "0"}
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=240, env=env)
    assert "[-inf]" in done.stdout, done.stderr
    trace = tdbg.open(tmp_path / "a.tdbg")
    assert any(
        "compiled extension, Sessions are recorded from outside only" in note["text"]
        for note in trace.table("notes").to_pylist()
    )
    assert explain(trace).first.op.type == "Log"
