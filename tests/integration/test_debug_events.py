"""TensorFlow's DebugEvents both ways: what its debugger wrote is imported whole, and it reads what tdbg exports."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from stock_debugger import MODES, PROGRAM, alerts, environment, read, record

import tdbg
from tdbg.__main__ import main
from tdbg.formats.debug_events.importer import import_debug_events
from tdbg.formats.debug_events.tensors import NUMBERS
from tdbg.model import DType, Flag
from tdbg.query.verdict.verdict import explain

LINE = next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# the log"))


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def stock(script, tmp_path_factory):
    """Folder by mode, each recorded once."""
    root, found = tmp_path_factory.mktemp("stock"), {}

    def of(mode: str) -> Path:
        if mode not in found:
            found[mode] = record(script, root / mode, mode)
        return found[mode]

    return of


@pytest.fixture(scope="module")
def imported(stock, tmp_path_factory):
    root, found = tmp_path_factory.mktemp("imported"), {}

    def of(mode: str):
        if mode not in found:
            import_debug_events(stock(mode), root / f"{mode}.tdbg")
            found[mode] = tdbg.open(root / f"{mode}.tdbg")
        return found[mode]

    return of


def rows(trace, table):
    return trace.table(table).to_pylist()


def tensors_of(trace):
    """Tensor rows in the order of events, with their op and dims."""
    ops = {row["op"]: row for row in rows(trace, "ops")}
    dims = {row["shape"]: row["dims"] for row in rows(trace, "shapes")}
    found = sorted(rows(trace, "tensors"), key=lambda row: row["seq"])
    return [row | {"of": ops[row["op"]], "dims": dims.get(row["shape"])} for row in found]


def columns_of(mode, row):
    """What stock TensorFlow writes of a tensor in this mode, without the tensor's id, from a row of the trace."""
    bad = [row["neg_inf"], row["pos_inf"], row["nan"]]
    dtype, size = NUMBERS.get(DType(row["dtype"]), -1), row["elements"]
    if mode == "CURT_HEALTH":
        return [bool(row["flags"] & Flag.BAD)]
    if mode == "CONCISE_HEALTH":
        return [size, *bad]
    if mode == "FULL_HEALTH":
        return [-1, dtype, len(row["dims"]), size, *bad, row["negative"], row["zero"], row["positive"]]
    return [dtype, len(row["dims"]), size, *(row["dims"] + [0] * 6)[:6]]


@pytest.mark.parametrize("mode", MODES)
def test_every_trace_and_execution_is_imported_as_it_is(mode, stock, imported):
    reader, trace = read(stock(mode)), imported(mode)
    names = {row["graph"]: row["name"] for row in rows(trace, "graphs")}
    tensors = tensors_of(trace)
    inside = [row for row in tensors if row["of"]["graph"] >= 0]
    traces = reader.graph_execution_traces()
    assert len(inside) == len(traces) > 50
    for row, told in zip(inside, traces, strict=True):
        assert (row["of"]["name"], row["of"]["type"], row["slot"]) == (told.op_name, told.op_type, told.output_slot)
        assert names[row["of"]["graph"]] == (reader.graph_by_id(told.graph_id).name or "")
        assert row["time"] / 10**9 == told.wall_time
        assert row["of"]["device"] == told.device_name
        if mode == "FULL_TENSOR":
            value = reader.graph_execution_trace_to_tensor_value(told)
            np.testing.assert_array_equal(trace.value(0, row["value"]), value)
            assert row["nan"] == np.count_nonzero(np.isnan(value.astype(np.float64)))
        elif mode != "NO_TENSOR":
            assert columns_of(mode, row) == list(told.debug_tensor_value)[1:]
    ends = {row["execution"]: row for row in rows(trace, "ends")}
    ops = {row["op"]: row for row in rows(trace, "ops")}
    executions = sorted(rows(trace, "executions"), key=lambda row: row["seq"])
    assert len(executions) == reader.num_executions() > 10
    for row, told in zip(executions, reader.executions(), strict=True):
        assert ops[row["op"]]["type"] == told.op_type
        assert row["inputs"] == list(told.input_tensor_ids or [])
        assert ends[row["execution"]]["outputs"] == list(told.output_tensor_ids or [])
        assert ends[row["execution"]]["time"] / 10**9 == told.wall_time
        made = [t for t in tensors if t["execution"] == row["execution"] and t["of"]["graph"] < 0]
        if mode == "FULL_TENSOR":
            for value, one in zip(reader.execution_to_tensor_values(told), made, strict=True):
                np.testing.assert_array_equal(trace.value(0, one["value"]), value)
        else:
            values = [v for v in told.debug_tensor_values or [] if v is not None]
            assert [columns_of(mode, one) for one in made] == [value[1:] for value in values]
    assert len({row["seq"] for row in tensors} | {row["seq"] for row in executions}) == len(tensors) + len(executions)


@pytest.mark.parametrize("mode", MODES)
def test_graphs_stacks_and_sources_are_imported(mode, stock, imported, script):
    reader, trace = read(stock(mode)), imported(mode)
    ops = [row for row in rows(trace, "ops") if row["graph"] >= 0]
    numbers = {row["op"]: row for row in ops}
    for row, told in zip(ops, reader.graph_op_digests(), strict=True):
        assert (row["name"], row["type"]) == (told.op_name, told.op_type)
        names = [f"{numbers[op]['name']}:{slot}" for op, slot in zip(row["input_ops"], row["input_slots"], strict=True)]
        assert names == list(told.input_names or [])
    frames = {row["frame"]: row for row in rows(trace, "frames")}
    stacks = {row["stack"]: row for row in rows(trace, "stacks")}
    for row, told in zip(ops, reader.graph_op_digests(), strict=True):
        found, stack = [], row["stack"]
        while stack >= 0:
            frame = frames[stacks[stack]["frame"]]
            found.insert(0, (os.path.basename(frame["file"]), frame["line"], frame["function"]))
            stack = stacks[stack]["parent"]
        stored = reader.read_graph_op_creation_stack_trace(told)[1]
        assert found == [(os.path.basename(file), line, function) for file, line, function in stored]
    assert {row["file"]: row["text"] for row in rows(trace, "sources")}[str(script)] == PROGRAM
    assert [row["file"] for row in frames.values() if row["is_user"]].count(str(script)) > 5
    assert not [row for row in frames.values() if row["is_user"] and "tensorflow" in row["file"]]


@pytest.mark.parametrize("mode", ["CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "FULL_TENSOR"])
def test_why_names_the_line(mode, imported, script):
    (origin,) = explain(imported(mode)).origins
    assert (origin.op.type, origin.frame.file, origin.frame.line) == ("Log", str(script), LINE)
    assert origin.row.step == 2
    if mode.startswith("FULL"):
        assert origin.cause.name == "log_of_zero"


NESTED_LOOP = """
import tensorflow as tf

@tf.function
def total(x):
    whole = tf.constant(0.0)
    for i in tf.range(3):
        y = x - tf.cast(i, tf.float32)
        for _ in tf.range(2):
            y = tf.math.log(y)  # the log
        whole += tf.reduce_sum(y)
    return whole * 2.0 + 1.0

total(tf.constant([3.0, 30.0]))
"""


def test_what_comes_out_of_an_imported_loop_is_traced_into_it(tmp_path):
    """Stock files do not tell a graph's results; the log's input in the second iteration is what the first gave."""
    script = tmp_path / "nested.py"
    script.write_text(NESTED_LOOP)
    import_debug_events(record(script, tmp_path / "stock", "FULL_HEALTH"), tmp_path / "nested.tdbg")
    (origin,) = explain(tdbg.open(tmp_path / "nested.tdbg")).origins
    assert (origin.op.type, origin.frame.line, origin.cause.name) == ("Log", 10, "log_of_zero")


def test_calls_know_their_graph_steps_are_counted_and_loops_have_iterations(imported):
    trace = imported("FULL_HEALTH")
    graphs = {row["graph"]: row["name"] for row in rows(trace, "graphs")}
    ops = {row["op"]: row for row in rows(trace, "ops")}
    calls = [row for row in rows(trace, "executions") if ops[row["op"]]["type"].startswith("__")]
    assert [graphs.get(row["graph"]) for row in calls] == ["train"] * 4
    assert [row["step"] for row in calls] == [0, 1, 2, 3]
    inside = [row for row in tensors_of(trace) if row["of"]["graph"] >= 0]
    assert {row["execution"] for row in inside} == {row["execution"] for row in calls}
    looped = [row for row in inside if row["of"]["type"] == "Mul" and "while" in graphs[row["of"]["graph"]]]
    assert {row["iteration"] for row in looped} == {0, 1, 2}


def test_a_circular_buffer_is_imported(script, tmp_path):
    folder = record(script, tmp_path / "ring", "FULL_HEALTH", ring=20)
    import_debug_events(folder, tmp_path / "ring.tdbg")
    trace, reader = tdbg.open(tmp_path / "ring.tdbg"), read(folder)
    inside = [row["of"]["name"] for row in tensors_of(trace) if row["of"]["graph"] >= 0]
    assert inside == [told.op_name for told in reader.graph_execution_traces()]
    assert len(inside) == 20
    assert trace.row_count("executions") == reader.num_executions()


@pytest.mark.parametrize("kinds", [["execution"], ["graph_execution_traces"], ["execution", "graph_execution_traces"]])
def test_files_that_never_left_the_circular_buffer_are_empty(kinds, stock, tmp_path):
    folder = shutil.copytree(stock("FULL_HEALTH"), tmp_path / "empty")
    for kind in kinds:
        (file,) = folder.glob(f"*.{kind}")
        file.write_bytes(b"")
    done = import_debug_events(folder, tmp_path / "empty.tdbg")
    assert done.losses == 0
    assert bool(done.executions) == ("execution" not in kinds)
    verdict = explain(tdbg.open(tmp_path / "empty.tdbg"))
    assert verdict.is_trouble == (len(kinds) == 1)


def test_two_runs_in_one_folder_are_two_processes(stock, tmp_path):
    both = tmp_path / "both"
    for mode in ("FULL_HEALTH", "CURT_HEALTH"):
        shutil.copytree(stock(mode), both, dirs_exist_ok=True)
    if len(list(both.glob("*.metadata"))) == 1:
        pytest.skip("both runs began in the same second, and TensorFlow names files by it")
    import_debug_events(both, tmp_path / "both.tdbg")
    trace = tdbg.open(tmp_path / "both.tdbg")
    assert sorted(process.info["debug_mode"] for process in trace.processes) == ["CURT_HEALTH", "FULL_HEALTH"]
    assert {origin.frame.line for origin in explain(trace).origins} == {LINE}


@pytest.mark.parametrize("kind", ["graph_execution_traces", "execution", "graphs", "stack_frames", "source_files"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_damage_costs_what_was_hit_and_is_noted(kind, damage, stock, tmp_path):
    folder = shutil.copytree(stock("FULL_HEALTH"), tmp_path / "damaged")
    (file,) = folder.glob(f"*.{kind}")
    content = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(content[: len(content) * 2 // 3])
    elif damage == "flip":
        content[len(content) // 2] ^= 16
        file.write_bytes(content)
    else:
        file.unlink()
    done = import_debug_events(folder, tmp_path / "damaged.tdbg")
    trace = tdbg.open(tmp_path / "damaged.tdbg")
    whole = read(stock("FULL_HEALTH"))
    assert done.losses == 1
    assert [kind in row["text"] for row in rows(trace, "notes") if row["kind"] == "damaged"] == [True]
    if kind == "graph_execution_traces" and damage == "flip":
        inside = [row for row in tensors_of(trace) if row["of"]["graph"] >= 0]
        assert len(inside) == whole.num_graph_execution_traces() - 1
    if kind != "execution":
        assert done.executions == whole.num_executions()
    explain(trace)


# ---- export


@pytest.mark.parametrize("mode", MODES)
def test_import_and_export_give_the_same_directory(mode, stock, imported, tmp_path):
    assert main(["export", "--format", "tfdbg2", "-q", str(imported(mode).path), str(tmp_path / "out")]) == 0
    ours, theirs = read(tmp_path / "out"), read(stock(mode))

    def fact(trace):
        value = trace.debug_tensor_value
        return (trace.wall_time, trace.op_type, trace.op_name, trace.output_slot, trace.tensor_debug_mode,
                trace.device_name, value and value[1:])  # fmt: skip

    assert [fact(t) for t in ours.graph_execution_traces()] == [fact(t) for t in theirs.graph_execution_traces()]
    for a, b in zip(ours.executions(), theirs.executions(), strict=True):
        assert (a.wall_time, a.op_type, a.input_tensor_ids, a.output_tensor_ids) == (
            b.wall_time, b.op_type, b.input_tensor_ids, b.output_tensor_ids
        )  # fmt: skip
        known = [[v for v in e.debug_tensor_values or [] if v is not None] for e in (a, b)]
        assert known[0] == known[1]
        for stack in (ours.read_execution_stack_trace(a), theirs.read_execution_stack_trace(b)):
            assert stack[1]
    assert [(d.op_name, d.op_type, d.input_names) for d in ours.graph_op_digests()] == [
        (d.op_name, d.op_type, d.input_names) for d in theirs.graph_op_digests()
    ]
    if mode == "FULL_TENSOR":
        for a, b in zip(ours.graph_execution_traces(), theirs.graph_execution_traces(), strict=True):
            np.testing.assert_array_equal(
                ours.graph_execution_trace_to_tensor_value(a), theirs.graph_execution_trace_to_tensor_value(b)
            )
    else:
        assert alerts(tmp_path / "out") == alerts(stock(mode))


@pytest.fixture(scope="module")
def live(script, tmp_path_factory):
    """A recording of tdbg itself, and its export."""
    root = tmp_path_factory.mktemp("live")
    words = [sys.executable, "-m", "tdbg", "run", "-q", "-o", str(root / "live.tdbg"), str(script)]
    subprocess.run(words, env=environment(), check=True, timeout=240)
    assert main(["export", "--format", "tfdbg2", "-q", str(root / "live.tdbg"), str(root / "out")]) == 0
    return tdbg.open(root / "live.tdbg"), root / "out"


def test_a_recording_of_tdbg_is_read_by_stock_tensorflow(live):
    trace, folder = live
    reader = read(folder)
    shown = [row for row in tensors_of(trace) if not row["flags"] & Flag.EVIDENCE]
    inside = [row for row in shown if row["of"]["graph"] >= 0]
    assert reader.num_executions() == trace.row_count("executions")
    for row, told in zip(inside, reader.graph_execution_traces(), strict=True):
        assert columns_of("FULL_HEALTH", row) == list(told.debug_tensor_value)[1:]
        assert reader.graph_execution_trace_to_tensor_id(told) == told.debug_tensor_value[0]
    made = {(row["execution"], row["slot"]): row for row in shown
            if row["of"]["graph"] < 0 and not row["flags"] & Flag.INPUT}  # fmt: skip
    values = [v for e in reader.executions() for v in e.debug_tensor_values or [] if v is not None]
    assert sorted(v[1:] for v in values) == sorted(columns_of("FULL_HEALTH", row) for row in made.values())
    bad = [row for row in [*inside, *made.values()] if row["flags"] & Flag.BAD]
    assert len(alerts(folder)) == len(bad) > 0


SEVERAL_OUTPUTS = """
import sys
import tensorflow as tf
from tdbg.tensorflow import disable_dump_debug_info, enable_dump_debug_info
for mode in ("NO_TENSOR", "CONCISE_HEALTH"):
    writer = enable_dump_debug_info(sys.argv[1] + "/" + mode, mode, circular_buffer_size=-1)
    tf.nn.top_k(tf.constant([3.0, 1.0, 2.0]), 2)
    tf.unique(tf.constant([1, 1, 2]))
    tf.function(lambda x: (tf.math.log(x), tf.argmax(x)))(tf.constant([1.0, 2.0]))
    disable_dump_debug_info()
"""


def test_executions_have_all_outputs_and_devices_also_where_nothing_was_summarised(tmp_path):
    subprocess.run([sys.executable, "-c", SEVERAL_OUTPUTS, str(tmp_path)], env=environment(), check=True, timeout=240)
    for mode, summarised in (("NO_TENSOR", 0), ("CONCISE_HEALTH", 1)):
        (trace,) = (tmp_path / mode).glob("*.tdbg")
        assert main(["export", "--format", "tfdbg2", "-q", str(trace), str(tmp_path / mode / "out")]) == 0
        reader = read(tmp_path / mode / "out")
        top_k, unique, call = (reader.read_execution(digest) for digest in reader.executions(digest=True))
        for execution in (top_k, unique, call):
            assert execution.num_outputs == len(execution.output_tensor_device_ids) == 2
            devices = {reader.device_name_map()[n] for n in execution.output_tensor_device_ids}
            assert all(":CPU:0" in name for name in devices)
        assert sum(value is not None for value in top_k.debug_tensor_values or []) == summarised
        for told in reader.graph_execution_traces():
            assert ":CPU:0" in told.device_name
            if mode == "NO_TENSOR":
                assert reader.graph_execution_trace_to_tensor_value(told).shape == (0,)


def test_an_exported_recording_is_explained_the_same_after_import(live, tmp_path):
    trace, folder = live
    import_debug_events(folder, tmp_path / "again.tdbg")
    before, after = explain(trace).origins[0], explain(tdbg.open(tmp_path / "again.tdbg")).origins[0]
    assert (after.op.name, after.frame, after.cause.name) == (before.op.name, before.frame, before.cause.name)


def test_parquet_and_npz_hold_what_the_trace_holds(live, imported, tmp_path):
    trace, _ = live
    assert main(["export", "--format", "parquet", "-q", str(trace.path), str(tmp_path / "tables")]) == 0
    for table in ("tensors", "executions", "ops", "stacks"):
        stored = pq.read_table(tmp_path / "tables" / f"{table}.parquet").to_pylist()
        assert repr(stored) == repr(rows(trace, table))  # NaN is not equal to itself, but reads the same
    full = imported("FULL_TENSOR")
    assert main(["export", "--format", "npz", "-q", str(full.path), str(tmp_path / "values.npz")]) == 0
    with np.load(tmp_path / "values.npz") as stored:
        kept = {row["seq"]: row["value"] for row in rows(full, "tensors") if row["value"] >= 0}
        assert stored["index.seq"].tolist() == sorted(kept)
        for seq, key in zip(stored["index.seq"].tolist(), stored["index.key"].tolist(), strict=True):
            np.testing.assert_array_equal(stored[key], full.value(0, kept[seq]))


# ---- commands


def test_commands_take_the_folder_itself_and_import_it_once(stock, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = {path: path.stat().st_mtime_ns for path in stock("FULL_HEALTH").iterdir()}
    assert main(["why", "--json", str(stock("FULL_HEALTH"))]) == 1
    first = capsys.readouterr()
    assert json.loads(first.out)["origins"][0]["line"] == LINE
    assert first.err.count("\n") == 1 and "imported" in first.err
    assert main(["sql", "--csv", str(stock("FULL_HEALTH")), "SELECT count(*) FROM executions"]) == 0
    second = capsys.readouterr()
    assert "was already imported into" in second.err
    assert int(second.out.split()[-1]) == read(stock("FULL_HEALTH")).num_executions()
    assert len(list((tmp_path / "cache" / "tdbg" / "imports").iterdir())) == 1
    assert {path: path.stat().st_mtime_ns for path in stock("FULL_HEALTH").iterdir()} == before


def test_import_and_export_say_what_is_wrong(stock, imported, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "there.tdbg").mkdir()
    (tmp_path / "there.tdbg" / "precious").write_text("x")
    folder, trace = str(stock("FULL_HEALTH")), str(imported("FULL_HEALTH").path)
    cases = {
        ("import", str(tmp_path / "nowhere")): "nothing here to import",
        ("import", str(tmp_path / "file")): "this is a file",
        ("import", str(tmp_path / "empty")): "nothing that tdbg can import",
        ("import", trace): "a trace already",
        ("import", folder, "-o", str(tmp_path / "there.tdbg")): "this already exists; to overwrite it,",
        ("import", folder, "--force", "-o", str(tmp_path / "there.tdbg")): "remove it yourself",
        ("export", "--format", "tfdbg2", trace, str(tmp_path / "there.tdbg")): "this already exists; to overwrite it,",
        ("export", "--format", "tfdbg2", "--force", trace, str(tmp_path / "there.tdbg")): "remove it yourself",
        ("export", "--format", "csv", trace, str(tmp_path / "x")): "invalid choice",
    }
    for words, said in cases.items():
        assert main(list(words)) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1, error
    assert (tmp_path / "there.tdbg" / "precious").read_text() == "x"


def test_a_full_disk_leaves_nothing_and_is_one_sentence(stock, tmp_path):
    code = (
        "import resource, signal, sys; from tdbg.__main__ import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "sys.dont_write_bytecode = True\n"  # Python would leave half a .pyc
        "sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", code, "import", str(stock("FULL_HEALTH")), "-o", str(tmp_path / "x.tdbg")]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "cannot write the trace" in done.stderr, (
        done.stderr
    )
    assert not list(tmp_path.iterdir())


# ---- TensorBoard


SERVER = """
import sys
from tensorboard import program
board = program.TensorBoard()
board.configure(argv=[None, "--logdir", sys.argv[1], "--port", "0", "--host", "127.0.0.1", "--load_fast", "false"])
print(board.launch(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def tensorboard(live):
    pytest.importorskip("tensorboard.plugins.debugger_v2")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(live[1])], env=environment() | {"PYTHONPATH": ""}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        address = server.stdout.readline().strip()
        assert address, "TensorBoard did not start"

        def get(route, **query):
            words = "&".join(f"{name}={value}" for name, value in {"run": "__default_debugger_run__", **query}.items())
            with urllib.request.urlopen(f"{address}data/plugin/debugger-v2{route}?{words}", timeout=240) as answer:
                return json.load(answer)

        def until(is_loaded):  # TensorBoard reads in the background
            for _ in range(2000):
                if is_loaded():
                    return
            raise AssertionError("TensorBoard did not load the directory")

        until(lambda: "__default_debugger_run__" in get("/runs"))
        expected = read(live[1]).num_executions()
        until(lambda: get("/execution/digests", begin=0, end=0)["num_digests"] >= expected)
        yield get
    finally:
        server.communicate()


def test_tensorboard_answers_every_route_from_an_export(tensorboard, live):
    _, folder = live
    reader = read(folder)
    count, traces = reader.num_executions(), reader.num_graph_execution_traces()
    found = tensorboard("/alerts", begin=0, end=-1)
    assert found["num_alerts"] == len(alerts(folder)) == len(found["alerts"])
    assert tensorboard("/execution/digests", begin=0, end=-1)["num_digests"] == count
    executions = tensorboard("/execution/data", begin=0, end=-1)["executions"]
    assert [one["op_type"] for one in executions] == [one.op_type for one in reader.executions()]
    assert tensorboard("/graph_execution/digests", begin=0, end=-1)["num_digests"] == traces
    data = tensorboard("/graph_execution/data", begin=0, end=-1)["graph_executions"]
    assert [one["op_name"] for one in data] == [one.op_name for one in reader.graph_execution_traces()]
    log = next(one for one in data if one["op_type"] == "Log")
    graph = tensorboard("/graphs/graph_info", graph_id=log["graph_id"])
    assert graph["name"] == "train"
    op = tensorboard("/graphs/op_info", graph_id=log["graph_id"], op_name=log["op_name"])
    assert op["op_type"] == "Log" and len(op["inputs"]) == 1
    files = tensorboard("/source_files/list")
    index = next(n for n, (_, path) in enumerate(files) if path.endswith("train.py"))
    assert "\n".join(tensorboard("/source_files/file", index=index)["lines"]) == PROGRAM
    frames = tensorboard("/stack_frames/stack_frames", stack_frame_ids=",".join(op["stack_frame_ids"]))["stack_frames"]
    assert [frame[2:] for frame in frames if frame[1] == files[index][1]][-1][0] == LINE
