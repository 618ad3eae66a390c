"""Dump roots of Sessions become traces: what was dumped is there, number by number, and ``why`` finds the op."""

import json
import os
import re
import shutil

import numpy as np
import pytest
import session_graphs
import tensorflow as tf
from tensorflow.python import debug as stock

import tdbg
from tdbg.__main__ import main
from tdbg.errors import TdbgError
from tdbg.formats.dumps.importer import import_dumps
from tdbg.frameworks.tensorflow.reading_dumps import dump_dir as ours
from tdbg.model import Flag
from tdbg.query.verdict.verdict import explain

tf1 = tf.compat.v1


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """Dump root by graph, each made once by TensorFlow's own wrapper."""
    place, found = tmp_path_factory.mktemp("roots"), {}

    def of(name):
        if name not in found:
            found[name] = place / name
            session_graphs.dump(name, stock.DumpingDebugWrapperSession, str(found[name]))
        return found[name]

    return of


def imported(root, tmp_path, **options):
    import_dumps(root, tmp_path / "it.tdbg", **options)
    return tdbg.open(tmp_path / "it.tdbg")


def rows(trace, table):
    return trace.table(table).to_pylist()


@pytest.mark.parametrize("name", session_graphs.GRAPHS)
def test_every_dump_is_a_row(name, roots, tmp_path):
    trace = imported(roots(name), tmp_path, keep_values=True)
    ops = {op["op"]: op for op in rows(trace, "ops")}
    shapes = {row["shape"]: tuple(row["dims"]) for row in rows(trace, "shapes")}
    tensors = [row for row in rows(trace, "tensors") if not row["flags"] & Flag.EVIDENCE]
    folders = sorted(roots(name).glob("run_*"))
    assert len(rows(trace, "executions")) == len(rows(trace, "runs")) == len(folders) == 2
    for execution, folder in enumerate(folders):
        dumps = ours.DebugDumpDir(folder)
        mine = [row for row in tensors if row["execution"] == execution]
        assert len(mine) == dumps.size
        for row, datum in zip(mine, dumps.dumped_tensor_data, strict=True):
            assert row["time"] == datum.timestamp * 1000
        by_place = {}
        for row in mine:
            op = ops[row["op"]]
            runtime_name = json.loads(op["attributes"]).get("runtime_name", op["name"])
            by_place.setdefault((op["device"], runtime_name, row["slot"]), []).append(row)
        for (device, node, slot), seen in by_place.items():
            if "/_" in node:  # what came from another device has another name in each run
                continue
            values = dumps.get_tensors(node, slot, "DebugIdentity", device)
            for row, value in zip(seen, values, strict=True):
                check_row(trace, row, value, shapes)


def check_row(trace, row, value, shapes):
    if not isinstance(value, np.ndarray):
        return
    assert shapes[row["shape"]] == value.shape and row["elements"] == value.size
    if value.dtype.kind == "O":
        assert row["nan"] is None and row["value"] == -1
        return
    assert np.array_equal(
        np.frombuffer(trace.value(0, row["value"]).tobytes(), np.uint8), np.frombuffer(value.tobytes(), np.uint8)
    )
    if value.dtype.kind in "fiu" and value.size:
        finite = value[np.isfinite(value)].astype(np.float64)
        assert row["nan"] == np.isnan(value).sum() and row["zero"] == (value == 0).sum()
        assert row["mean"] == pytest.approx(finite.mean() if finite.size else np.nan, rel=1e-5, nan_ok=True)


def test_graphs_and_their_edges(roots, tmp_path):
    trace = imported(roots("two_devices"), tmp_path)
    ops = {op["name"]: op for op in rows(trace, "ops")}
    by_number = {op["op"]: op for op in ops.values()}
    assert ops["x"]["type"] == "Placeholder" and ops["b"]["device"].endswith("CPU:1")
    behind, waiting = set(), [ops["c"]["op"]]
    while waiting:  # over to the other device and back
        for source in by_number[waiting.pop()]["input_ops"]:
            if source not in behind:
                behind.add(source)
                waiting.append(source)
    assert {"a", "b", "x"} <= {by_number[number]["name"] for number in behind}
    assert len(rows(trace, "graphs")) == 1  # two runs of the same
    (signature,) = rows(trace, "signatures")
    assert (signature["fetches"], signature["feeds"]) == (["c:0"], ["x:0"])
    assert rows(imported(roots("element_types"), tmp_path / "2"), "controls")


def test_rounds_of_a_loop(roots, tmp_path):
    trace = imported(roots("loop_v1"), tmp_path)
    ops = {op["op"]: op for op in rows(trace, "ops")}
    seen = {}
    for row in rows(trace, "tensors"):
        if row["execution"] == 0:
            seen.setdefault(ops[row["op"]]["type"], []).append(row["iteration"])
    assert sorted(set(seen["Merge"])) == [0, 1, 2, 3, 4]
    assert sorted(set(seen["NextIteration"])) == [1, 2, 3, 4]
    assert set(seen["Placeholder"]) == {-1}


def train(root, use_resource=True, optimizer=None, wrapper=stock.DumpingDebugWrapperSession):
    """A softmax that saturates from the third run on; the log of its zeros is the trouble."""
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [None, 3], name="x")
        labels = tf1.placeholder(tf.int32, [None], name="labels")
        initial = tf1.constant_initializer(np.arange(12.0).reshape(3, 4) / 10)
        w = tf1.get_variable("w", [3, 4], initializer=initial, use_resource=use_resource)
        p = tf.nn.softmax(tf.matmul(x, w), name="p")
        with tf1.name_scope("loss"):
            loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(labels, 4) * tf.math.log(p, name="log"), 1))
        step = (optimizer or tf1.train.GradientDescentOptimizer(0.01)).minimize(loss)
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())
        session = wrapper(session, str(root))
        for scale in (1, 1, 900, 1, 1):
            session.run([step, loss], {x: np.ones((2, 3)) * scale, labels: [0, 1]})


@pytest.mark.parametrize("use_resource", [True, False])
def test_why_names_the_op(use_resource, tmp_path, capsys):
    root = tmp_path / "dumps"
    train(root, use_resource)
    trace = imported(root, tmp_path)
    verdict = explain(trace)
    (origin,) = verdict.origins
    assert (origin.op.name, origin.op.type, origin.kind, origin.row.step) == ("loss/log", "Log", "forward", 2)
    assert origin.cause.name == "log_of_zero" and origin.frame is None
    assert origin.cause.fix.trial is not None  # its inputs were kept, so the fix was tried
    assert {op["phase"] for op in rows(trace, "ops") if op["name"].startswith("gradients/")} == {1}
    assert main(["why", str(tmp_path / "it.tdbg")]) == 1
    shown = capsys.readouterr().out
    assert "-> op loss/log (the line that created it is unknown)" in shown and "record with tdbg run" in shown


def test_commands_take_the_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    train(tmp_path / "dumps")
    (first, *_) = sorted((tmp_path / "dumps").glob("run_*"))
    assert main(["why", "dumps"]) == 1
    told = capsys.readouterr()
    assert "loss/log" in told.out and "imported dumps (tfdbg1)" in told.err
    assert main(["why", str(first)]) == 0  # one run, and a good one
    assert main(["info", "dumps"]) == 0
    assert "executions  5" in capsys.readouterr().out
    assert main(["sql", "--json", "dumps", "SELECT count(*) AS n FROM runs"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 5}]
    assert main(["report", "dumps", "-o", "page.html"]) in (0, 1)
    assert "loss/log" in (tmp_path / "page.html").read_text()
    assert main(["import", "dumps", "--values", "-q"]) == 0
    trace = tdbg.open("dumps.tdbg")
    assert all(row["value"] >= 0 for row in rows(trace, "tensors") if row["flags"] & Flag.NUMBERS)


def test_damage_is_counted_and_said(tmp_path, capsys, monkeypatch):
    train(tmp_path / "dumps")
    runs = sorted((tmp_path / "dumps").glob("run_*"))
    (tensor,) = runs[0].glob("_tfdbg_device_*/p_0_DebugIdentity_*")
    (graph,) = runs[1].glob("_tfdbg_device_*/_tfdbg_graph_*")
    (about,) = runs[2].glob("_tfdbg_core_metadata_*")
    for path in (tensor, graph, about):
        os.truncate(path, path.stat().st_size // 2)
    next(runs[3].glob("_tfdbg_device_*/p_0_*")).write_bytes(os.urandom(300))
    (runs[4] / "_tfdbg_device_,job_localhost" / "more").mkdir(parents=True)
    (runs[4] / "_tfdbg_device_,job_localhost" / "more" / "readme.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert main(["import", "dumps"]) == 0
    assert "4 of the files are damaged" in capsys.readouterr().out
    trace = tdbg.open("dumps.tdbg")
    notes = {note["kind"]: note for note in rows(trace, "notes")}
    assert notes["damaged"]["count"] == 4 and notes["strangers"]["count"] == 1 and notes["ops_lost"]["count"] > 0
    assert len(rows(trace, "executions")) == 5
    assert main(["why", "dumps.tdbg"]) == 1
    assert "truncated or damaged" in capsys.readouterr().out


def test_nothing_to_import(tmp_path, capsys):
    (tmp_path / "run_1_1").mkdir()
    assert main(["import", str(tmp_path)]) == 2
    assert "nothing that tdbg can import" in capsys.readouterr().err
    with pytest.raises(TdbgError, match="cannot be read"):
        import_dumps(tmp_path / "missing", tmp_path / "it.tdbg")
    assert not (tmp_path / "it.tdbg").exists()


def test_summaries_instead_of_tensors(tmp_path):
    """DebugNumericSummary and DebugNanCount tell less, and only that is in the trace."""
    root = tmp_path / "dumps"

    def watch(fetches, feeds):
        return stock.WatchOptions(
            debug_ops=["DebugNumericSummary", "DebugNanCount"], tolerate_debug_op_creation_failures=True
        )

    train(root, wrapper=lambda session, place: stock.DumpingDebugWrapperSession(session, place, watch))
    trace = imported(root, tmp_path)
    ops = {op["op"]: op for op in rows(trace, "ops")}
    logs = [row for row in rows(trace, "tensors") if ops[row["op"]]["name"] == "loss/log"]
    assert [row["neg_inf"] for row in logs][:3] == [0, 0, 6] and logs[0]["elements"] == 8
    assert logs[0]["min"] == pytest.approx(logs[0]["mean"] - 1.2, abs=1.2) and logs[0]["value"] == -1
    assert explain(trace).origins[0].op.name == "loss/log"
    (told,) = [note for note in rows(trace, "notes") if note["kind"] == "debug_ops"]
    assert told["count"] > 0


def test_what_was_not_watched_is_said(tmp_path):
    def watch(fetches, feeds):
        return stock.WatchOptions(node_name_regex_allowlist="p|loss.*")

    train(tmp_path / "dumps", wrapper=lambda session, place: stock.DumpingDebugWrapperSession(session, place, watch))
    trace = imported(tmp_path / "dumps", tmp_path)
    (process,) = trace.processes
    assert " of " in process.info["filters"]["watched"]
    verdict = explain(trace)
    assert verdict.origins[0].op.name == "loss/log" and any("only part" in text for text in verdict.coverage.notes)


def test_global_steps_and_runs_of_one_folder(tmp_path):
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [], name="x")
        y = tf.sqrt(x, name="root")
        for step, value in ((10, 4.0), (20, -1.0)):
            options = tf1.RunOptions()
            stock.watch_graph(options, graph, debug_urls=f"file://{tmp_path}/dumps", global_step=step)
            session.run(y, {x: value}, options=options)
    trace = imported(tmp_path / "dumps", tmp_path)
    first, second = rows(trace, "runs")
    assert (first["global_step"], second["global_step"], second["run"] - first["run"]) == (10, 20, 1)
    (origin,) = explain(trace).origins
    assert (origin.op.name, origin.row.step, origin.row.execution) == ("root", 20, 1)


def test_bad_data_that_was_fed(tmp_path):
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2], name="data/x")
        session = stock.DumpingDebugWrapperSession(tf1.Session(), str(tmp_path / "dumps"))
        session.run(tf.reduce_sum(tf.exp(x), name="sum"), {x: [1.0, np.nan]})
    (origin,) = explain(imported(tmp_path / "dumps", tmp_path)).origins
    assert (origin.kind, origin.op.name, origin.op.type) == ("data", "data/x", "Placeholder")


def test_ops_that_became_one(tmp_path):
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2], name="x")
        y = tf.math.log(tf.nn.relu(x, name="positive"), name="scope/log")
        session = stock.DumpingDebugWrapperSession(tf1.Session(), str(tmp_path / "dumps"))
        session.run(tf.reduce_sum(y, name="sum"), {x: [1.0, -1.0]})
    trace = imported(tmp_path / "dumps", tmp_path)
    assert "_UnaryOpsComposition" in {op["type"] for op in rows(trace, "ops")}
    (origin,) = explain(trace).origins
    assert (origin.op.type, origin.op.name, origin.cause.name) == ("Log", "scope/log", "log_of_zero")


@pytest.mark.parametrize("version_2", [False, True])
def test_a_recurrent_net_whose_gradient_overflows(version_2, tmp_path):
    with tf.Graph().as_default(), session_graphs.control_flow(version_2):
        x = tf1.placeholder(tf.float32, [4, 3], name="x")
        w = tf1.get_variable("w", [3, 3], initializer=tf1.constant_initializer(np.eye(3)), use_resource=True)

        def cell(i, state):
            return i + 1, tf.sqrt(tf.nn.relu(tf.matmul(state, w)) + x, name="root")

        _, last = tf1.while_loop(lambda i, _: i < 4, cell, [0, tf.zeros([4, 3])], name="rnn")
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(last, name="loss"))
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())
        session = stock.DumpingDebugWrapperSession(session, str(tmp_path / "dumps"))
        for value in (1.0, 0.0, 1.0):
            session.run(train_op, {x: np.full((4, 3), value)})
    (origin,) = explain(imported(tmp_path / "dumps", tmp_path)).origins
    assert (origin.op.type, origin.kind, origin.row.step) == ("SqrtGrad", "backward", 1)
    assert origin.cause.name == "sqrt_at_zero"


def test_a_loop_that_overflows(tmp_path):
    with tf.Graph().as_default(), session_graphs.control_flow(version_2=False):
        x = tf1.placeholder(tf.float32, [2], name="x")
        loop = tf1.while_loop(lambda i, v: i < 8, lambda i, v: (i + 1, tf.square(v, name="power")), [0, x], name="loop")
        session = stock.DumpingDebugWrapperSession(tf1.Session(), str(tmp_path / "dumps"))
        session.run(tf.reduce_sum(loop[1], name="end"), {x: [1.0, 10.0]})
    verdict = explain(imported(tmp_path / "dumps", tmp_path))
    first = verdict.first
    assert (first.op.name, first.row.iteration) == ("loop/power", 5)  # 10 to the 64th is over float32's end


def test_a_trace_is_not_written_where_one_is(roots, tmp_path):
    place = tmp_path / "it.tdbg"
    place.mkdir()
    (place / "mine").touch()
    with pytest.raises(TdbgError, match="cannot write the trace"):
        import_dumps(roots("feed_forward"), place)
    assert list(tmp_path.iterdir()) == [place]
    shutil.rmtree(place)


@pytest.mark.parametrize("name", ["feed_forward", "loop_v1", "two_devices", "ref_variables", "element_types"])
def test_exported_dumps_are_read_by_stock(name, roots, tmp_path):
    import_dumps(roots(name), tmp_path / "it.tdbg", keep_values=True)
    assert main(["export", "--format", "tfdbg1", "-q", str(tmp_path / "it.tdbg"), str(tmp_path / "out")]) == 0
    for folder, first in zip(sorted((tmp_path / "out").iterdir()), sorted(roots(name).glob("run_*")), strict=True):
        again, original = stock.DebugDumpDir(str(folder), validate=False), ours.DebugDumpDir(first)
        assert again.devices() and again.core_metadata.output_names == original.core_metadata.output_names
        seen = 0
        for datum in original.dumped_tensor_data:
            value = datum.get_tensor()
            if not isinstance(value, np.ndarray) or value.dtype.kind == "O" or "/_" in datum.node_name:
                continue
            place = (datum.node_name, datum.output_slot, datum.debug_op, datum.device_name)
            assert [array.tobytes() for array in again.get_tensors(*place)] == [
                array.tobytes() for array in original.get_tensors(*place)
            ]
            assert again.node_op_type(datum.node_name, datum.device_name) == original.node_op_type(*place[::3])
            inputs = [dumps.node_inputs(datum.node_name, device_name=datum.device_name) for dumps in (again, original)]
            lasting = [[re.sub(r"/_\d+$", "/_N", name) for name in names] for names in inputs]
            assert lasting[0] == lasting[1]
            seen += 1
        assert seen


def test_measured_tensors_are_exported_as_summaries(tmp_path):
    train(tmp_path / "dumps")
    import_dumps(tmp_path / "dumps", tmp_path / "it.tdbg")
    assert main(["export", "--format", "tfdbg1", "-q", str(tmp_path / "it.tdbg"), str(tmp_path / "out")]) == 0
    first = stock.DebugDumpDir(str(min((tmp_path / "out").iterdir())), validate=False)
    (summary,) = first.get_tensors("p", 0, "DebugNumericSummary")
    assert summary[:2].tolist() == [1, 8] and summary[13:].tolist() == [2, 2, 4]
    import_dumps(tmp_path / "out", tmp_path / "again.tdbg")
    told = explain(tdbg.open(tmp_path / "again.tdbg")).origins[0]
    assert (told.op.name, told.row.step) == ("loss/log", 2)
    assert (
        main(["export", "--format", "tfdbg1", "--force", "-q", str(tmp_path / "it.tdbg"), str(tmp_path / "out")]) == 0
    )
