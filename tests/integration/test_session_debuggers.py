"""The prompt, the hooks and the debug servers around Sessions: commands and programs in, what users see out."""

from __future__ import annotations

import glob
import io
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from event_listener import EventListener
from scripted_prompt import ScriptedPrompt
from tensorflow.core.framework import graph_pb2

from tdbg.capture.control import Action
from tdbg.frameworks.tensorflow.tfdbg import grpc as grpc_wrappers
from tdbg.frameworks.tensorflow.tfdbg import local_cli
from tdbg.scene import Selection
from tdbg.tensorflow import debug as tf_debug

v1 = tf.compat.v1


@pytest.fixture
def net():
    """y = log(x), its mean, and a step that adds 1 to a counter."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None], name="x")
        log = tf.math.log(x, name="log")  # the line of the log
        loss = tf.reduce_mean(log, name="loss")
        step = v1.train.get_or_create_global_step()
        train = v1.assign_add(step, 1, name="train")
        yield {"x": x, "log": log, "loss": loss, "step": step, "train": train}


@pytest.fixture(autouse=True)
def state(tmp_path_factory, monkeypatch):
    """The prompt keeps its history apart from the user's."""
    monkeypatch.setenv("TDBG_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def commands(monkeypatch):
    """Puts lines on standard input."""
    return lambda *lines: monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))


def session_of(net):
    session = v1.Session(graph=net["x"].graph)
    session.run(v1.global_variables_initializer())
    return session


def run_values(wrapper, net, values):
    return [float(wrapper.run(net["loss"], {net["x"]: [value]})) for value in values]


# ---- the prompt


def test_run_and_run_until_a_filter_passes(net, commands, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used = []
    monkeypatch.setattr(
        tempfile, "mkdtemp", lambda *a, make=tempfile.mkdtemp, **k: used.append(make(*a, **k)) or used[-1]
    )
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session)
        commands("run", "run -f has_inf_or_nan", "run_info", "exit")
        with pytest.raises(SystemExit) as ended:
            run_values(wrapper, net, [1, 1, 1, 0, 1])
        assert ended.value.code == 1 and wrapper.run_call_count == 4
    said = capsys.readouterr().out
    assert "run-start: run #1: 1 fetch (loss:0); 1 feed (x:0)" in said
    assert "run-end: run #1" in said and "run-end: run #2" not in said
    assert 'dumped tensor(s) passing filter "has_inf_or_nan":' in said
    assert "first bad tensor: log:0, -inf ×1 of 1" in said
    assert "test_session_debuggers.py:" in said and "# the line of the log" in said
    assert said.count("run #4: 1 fetch (loss:0); 1 feed (x:0)\n") == 2  # the headline, and run_info
    assert any(path.startswith(f"{tmp_path}/tfdbg_") for path in used)
    assert not glob.glob(f"{tmp_path}/tfdbg_*")


def test_a_search_tells_a_terminal_how_far_it_is(net, commands, monkeypatch):
    near, far = pty.openpty()
    os.set_blocking(near, False)  # where nothing was said, nothing comes
    monkeypatch.setattr(local_cli, "_SHOWN_EVERY", 0.0)
    with open(far, "w") as terminal, session_of(net) as session:
        monkeypatch.setattr(sys, "stderr", terminal)
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session)
        commands("run -f has_inf_or_nan", "run")
        run_values(wrapper, net, [1, 1, 0])
        terminal.flush()
        said = os.read(near, 10_000).decode()
    os.close(near)
    assert "tdbg: 2 runs so far, and no tensor has passed the filter has_inf_or_nan" in said and said.endswith(
        "\r\x1b[K"
    )


def test_the_end_of_the_input_does_not_look_like_an_error(commands, capsys):
    with tf.Graph().as_default(), v1.Session() as session:
        element = v1.data.make_one_shot_iterator(v1.data.Dataset.range(1)).get_next()
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session)
        commands("run", "run", "run")
        wrapper.run(element)
        with pytest.raises(tf.errors.OutOfRangeError):
            wrapper.run(element)
    said = capsys.readouterr().out
    assert "The input has ended (OutOfRangeError: End of sequence)" in said
    assert "An error occurred" not in said and "Try:" not in said


class Answers:
    """A prompt that gives prepared answers and keeps what it was asked."""

    def __init__(self, *actions):
        self.actions, self.asked, self.firsts = list(actions), [], []

    def ask(self, pause):
        names = sorted(seen.node for seen in pause.scene.tensors(Selection()))
        number = pause.scene.moment.number
        self.firsts.append(pause.first)
        self.asked.append((pause.kind, number, names) if names else (pause.kind, number))
        return self.actions.pop(0)


def test_which_runs_are_debugged(net):
    prompt = Answers(
        Action(debug=False), Action(times=3), Action(debug=False, times=2), Action(node_name_filter="log"), Action()
    )
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        run_values(wrapper, net, [1] * 4)
        assert prompt.asked[:2] == [("run-start", 1), ("run-start", 2)]
        assert [asked[:2] for asked in prompt.asked[2:]] == [("run-end", 4)]
        run_values(wrapper, net, [1] * 3)
        assert prompt.asked[3:] == [("run-start", 7), ("run-end", 7, ["log"])]


def test_run_options_at_the_prompt(net, commands, capsys):
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, ui_type="curses")
        wrapper.add_tensor_filter("my_filter", lambda datum, tensor: len(tensor.shape) == 0 and tensor == 0.0)
        commands(
            "bogus", "run -f nothing", "run -fenn x", "run -t 0", "run --bogus", "run 'open", "help run", "",
            "run -f my_filter -fenn train", "run -p", "run --op_type_filter Log", "run --tensor_dtype_filter int.*",
        )  # fmt: skip
        assert run_values(wrapper, net, [4, 1, 1, 1, 1, 1])[1:] == [0] * 5
    said, errors = capsys.readouterr()
    assert said.count("ERROR: ") == 6 and 'tensor filter "nothing" does not exist' in said
    assert "-p, --profile" in said
    assert "run-end: run #1" not in said and re.search(r'1 of \d+ dumped tensor\(s\) passing filter "my_filter"', said)
    assert re.search(r"\nlog +Log .*test_session_debuggers.py:\d+\(net\)\n", said)  # run -p
    assert "run-end: run #4: 1 fetch (loss:0); 1 feed (x:0)\n1 dumped tensor(s)" in said
    assert errors.count("the program continues without the debugger") == 1


def test_the_dump_root_is_used_and_emptied(net, tmp_path):
    seen = []

    class Looking(Answers):
        def ask(self, pause):
            seen.extend(path for path in glob.glob(f"{tmp_path}/dumps/run_*"))
            return super().ask(pause)

    with session_of(net) as session:
        root = str(tmp_path / "dumps")
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, root, prompt=Looking(Action(), Action()))
        run_values(wrapper, net, [1])
        assert len(seen) == 1 and not glob.glob(f"{root}/run_*")
        del wrapper
        assert not os.path.exists(root)
        with pytest.raises(ValueError, match="ui_type"):
            tf_debug.LocalCLIDebugWrapperSession(session, ui_type="telepathy")


def test_a_filter_that_nothing_passes_is_said_at_the_end(net, capsys):
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=Answers(Action(until_filter="has_inf_or_nan")))
        run_values(wrapper, net, [1, 2, 3])
        del wrapper
    assert "no tensor passed the filter has_inf_or_nan in 3 runs" in capsys.readouterr().err


def test_until_a_condition_is_met(net, capsys):
    prompt = Answers(Action(until_filter="neg_inf > 0", exclude_nodes="log"), Action(until_filter="bogus"), Action())
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        run_values(wrapper, net, [1, 2, 0, 3])
    assert [asked[:2] for asked in prompt.asked] == [("run-start", 1), ("run-end", 3), ("run-end", 4)]
    assert prompt.firsts[1] == "lt -f 'neg_inf > 0' -fenn log"
    assert "there is no filter 'bogus'" in capsys.readouterr().err  # of a prompt that did not look


def test_a_forked_child_leaves_the_dumps_to_its_parent(tmp_path):
    ran = run_program(
        """
        import os
        import sys
        import tensorflow.compat.v1 as tf
        from tdbg.tensorflow import debug as tf_debug

        tf.disable_eager_execution()
        sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), dump_root="shown")
        dumping = tf_debug.DumpingDebugWrapperSession(tf.Session(), "dumps")
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        print("still there:", os.path.isdir("shown"))
        """,
        "",
        tmp_path,
    )
    assert "still there: True" in ran.stdout, ran.stderr
    assert not (tmp_path / "shown").exists()


def test_an_error_is_shown_and_leaves_run(net, commands, capsys):
    with session_of(net) as session:
        other = v1.placeholder(tf.float32, [None], name="other")
        total = tf.add(net["log"], other, name="total")  # the line of the sum
        feeds = {net["x"]: [1.0, 2.0], other: [1.0, 2.0, 3.0]}
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session)
        commands("run", "run -n")
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
                wrapper.run(total, feeds)
        said = capsys.readouterr().out
    assert said.count("!!! An error occurred during the run !!!") == 2
    assert said.count("Op:  total (AddV2)") == 2
    assert "input 0: log:0  float32, shape (2,) in this run" in said
    assert "input 1: other:0  float32, shape (3,) in this run" in said
    assert "InvalidArgumentError: Incompatible shapes: [2] vs. [3]\n" in said and "Try: compare the shapes" in said
    assert "# the line of the sum" in said


def test_a_fault_of_the_prompt_stays_its_own(net, capsys):
    class Broken(Answers):
        def ask(self, pause):
            if pause.kind == "run-end":
                raise KeyError("broken")
            return super().ask(pause)

    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=Broken(Action()))
        assert run_values(wrapper, net, [1]) == [0]
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=Answers())
        assert run_values(wrapper, net, [1]) == [0]
    assert "tdbg failed while showing a run" in capsys.readouterr().err


def run_program(text, stdin, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TMPDIR": str(tmp_path)}
    return subprocess.run(
        [sys.executable, program.name],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=240,
    )


def test_the_guides_programs(tmp_path):
    """Wrapping, a filter, the main thread only, a dump root, Variables: as the guide has them, in one program."""
    ran = run_program(
        """
        import numpy as np
        import tensorflow.compat.v1 as tf
        from tdbg.tensorflow import debug as tf_debug

        tf.disable_eager_execution()
        a = tf.Variable(np.ones([10]), name="a")
        b = tf.add(a, a, name="b")
        y = tf.placeholder(tf.float32, [], name="y")
        cross_entropy = tf.log(y, name="cross_entropy/Log")
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        sess = tf_debug.LocalCLIDebugWrapperSession(sess, thread_name_filter="MainThread$", dump_root="lots_of_space")

        def my_filter_callable(datum, tensor):
            return len(tensor.shape) == 0 and tensor == 0.0

        sess.add_tensor_filter("my_filter", my_filter_callable)
        print("sum", sess.run(b).sum())
        for step in range(6):
            print("value", step, sess.run(cross_entropy, {y: 3.0 - step}))
        """,
        "run\nrun -f has_inf_or_nan\nrun -n\n",
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert "b:0" not in ran.stderr and "Traceback" not in ran.stderr
    assert "run-end: run #1: 1 fetch (b:0); 0 feeds" in ran.stdout and "sum 20.0" in ran.stdout
    assert "run-end: run #5: 1 fetch (cross_entropy/Log:0); 1 feed (y:0)" in ran.stdout
    assert "first bad tensor: cross_entropy/Log:0, -inf ×1 of 1\n -> program.py:10" in ran.stdout
    assert "value 4 nan" in ran.stdout
    assert ran.stderr.count("no more commands") == 1
    assert not glob.glob(f"{tmp_path}/tfdbg_*") and not (tmp_path / "lots_of_space").exists()


def test_ops_of_the_debugger_that_fail_do_not_fail_the_program(tmp_path):
    """Here TensorFlow refuses to dump more bytes, in the middle of the first run."""
    ran = run_program(
        """
        import os

        os.environ["TFDBG_DISK_BYTES_LIMIT"] = "20"
        import tensorflow.compat.v1 as tf
        from tdbg.tensorflow import debug as tf_debug

        tf.disable_eager_execution()
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.log(tf.nn.relu(x), name="y")
        for wrapper, root in (
            (tf_debug.DumpingDebugWrapperSession, "dumps"),
            (tf_debug.LocalCLIDebugWrapperSession, "shown"),
        ):
            session = wrapper(tf.Session(), root)
            print([float(session.run(y, {x: [1.0, value]})[0]) for value in (1.0, 2.0)])
        """,
        "run\n" * 5,
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("[0.0, 0.0]") == 2
    assert ran.stderr.count("tdbg: the debugger's own ops failed in a run") == 2, ran.stderr
    assert "exhausted file-system byte-size allowance" in ran.stderr


# ---- hooks


def monitored(net, *hooks, **options):
    return v1.train.MonitoredTrainingSession(hooks=hooks, log_step_count_steps=None, **options)


def test_hooks_dump_the_runs_of_a_monitored_session(net, tmp_path):
    dumping = tf_debug.DumpingDebugHook(tmp_path / "dumps", start_step=1)
    again = tf_debug.DumpingDebugHook(tmp_path / "again")
    with monitored(net, dumping, again, checkpoint_dir=str(tmp_path / "model"), save_checkpoint_steps=1) as session:
        for value in (1.0, 2.0, 3.0):
            session.run([net["loss"], net["train"]], {net["x"]: [value]})
    for root, values in (("dumps", [2, 3]), ("again", [1, 2, 3])):
        found = [tf_debug.DebugDumpDir(path) for path in sorted(glob.glob(f"{tmp_path}/{root}/run_*"))]
        logs = [dump.get_tensors("log", 0, "DebugIdentity")[0][0] for dump in found]
        assert logs == pytest.approx(np.log(values))
    assert glob.glob(f"{tmp_path}/model/model.ckpt-3*")  # whose own runs were left alone


def test_a_hook_serves_one_session_after_the_other(net, tmp_path):
    hook = tf_debug.DumpingDebugHook(tmp_path)
    for _ in range(2):
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            session.run(net["loss"], {net["x"]: [1.0]})
    assert len(glob.glob(f"{tmp_path}/run_*")) == 2
    assert all(tf_debug.DebugDumpDir(path).partition_graphs() for path in glob.glob(f"{tmp_path}/run_*"))


def test_a_hook_is_switched_off_and_on(net, tmp_path):
    hook = tf_debug.DumpingDebugHook(tmp_path)
    hook.enabled = False
    with v1.train.MonitoredSession(hooks=[hook]) as session:
        for number in range(4):
            session.run(net["loss"], {net["x"]: [1.0]})
            hook.enabled = number in (0, 1)
    assert [int(path.rsplit("_", 1)[1]) for path in sorted(glob.glob(f"{tmp_path}/run_*"))] == [1, 2]
    with pytest.raises(TypeError, match="bogus"):
        tf_debug.DumpingDebugHook(tmp_path, bogus=1)


def test_the_prompt_comes_before_the_nan_hook_ends_the_program(net, commands, capsys):
    hook = tf_debug.LocalCLIDebugHook()
    hook.add_tensor_filter("never", lambda datum, tensor: False)
    commands("run -f has_inf_or_nan", "run")
    hooks = v1.train.NanTensorHook(net["loss"]), hook
    with pytest.raises(v1.train.NanLossDuringTrainingError), monitored(net, *hooks) as session:
        for value in (1.0, 1.0, -1.0):
            session.run(net["train"], {net["x"]: [value]})
    said = capsys.readouterr().out
    assert "first bad tensor: log:0, NaN ×1 of 1" in said and "has_inf_or_nan, never" in said


def test_a_run_that_fails_under_hooks(net, commands, capsys, tmp_path):
    total = tf.add(net["log"], v1.placeholder(tf.float32, [None], name="other"), name="total")
    dumping = tf_debug.DumpingDebugHook(tmp_path)
    commands("run")
    hooks = tf_debug.LocalCLIDebugHook(), dumping
    with pytest.raises(tf.errors.InvalidArgumentError), monitored(net, *hooks) as session:
        session.run(total, {net["x"]: [1.0, 2.0], "other:0": [1.0, 2.0, 3.0]})
    assert "Op:  total (AddV2)" in capsys.readouterr().out


def test_hooks_in_the_hands_of_another_host(net, tmp_path):
    hook = tf_debug.DumpingDebugHook(tmp_path)
    with session_of(net) as session:
        for value in (1.0, 2.0):
            args = v1.train.SessionRunArgs(net["loss"], {net["x"]: [value]})
            context = v1.train.SessionRunContext(args, session)
            asked = hook.before_run(context)
            metadata = v1.RunMetadata()
            result = session.run(args.fetches, args.feed_dict, options=asked.options, run_metadata=metadata)
            hook.after_run(context, v1.train.SessionRunValues(result, asked.options, metadata))
    assert len(glob.glob(f"{tmp_path}/run_*")) == 2


def test_a_wrapped_monitored_session(net, tmp_path):
    with v1.train.MonitoredSession() as session:
        wrapper = tf_debug.DumpingDebugWrapperSession(session, tmp_path)
        assert not wrapper.should_stop()
        loss = wrapper.run_step_fn(lambda context: context.run_with_hooks(net["loss"], {net["x"]: [1.0]}))
        assert loss == 0 and len(glob.glob(f"{tmp_path}/run_*")) == 1


# ---- debug servers


def watch_log(fetches, feeds):
    return tf_debug.WatchOptions(node_name_regex_allowlist="log")


def test_tensors_come_to_the_server(net):
    with EventListener() as server, session_of(net) as session:
        wrapper = tf_debug.GrpcDebugWrapperSession(session, server.address, watch_fn=watch_log)
        assert run_values(wrapper, net, [1.0]) == [0]
        (event,) = server.wait_for("log:0:DebugIdentity")
        assert tf_debug.load_tensor_from_event(event) == [0]
        assert set(server.watch_keys()) == {"log:0:DebugIdentity"}
        hook = tf_debug.GrpcDebugHook(f"grpc://{server.address}")  # without a watch_fn
        with v1.train.MonitoredSession(hooks=[hook]) as monitored_session:
            monitored_session.run(net["loss"], {net["x"]: [1.0]})
        server.wait_for("loss:0:DebugIdentity")
    for wrong in (7, [7]):
        with pytest.raises(TypeError, match="grpc_debug_server_addresses"):
            tf_debug.GrpcDebugWrapperSession(session, wrong)


def test_sources_and_stacks_come_to_the_server(net):
    handler = signal.getsignal(signal.SIGINT)
    with EventListener() as server, session_of(net) as session:
        wrapper = tf_debug.TensorBoardDebugWrapperSession(session, [server.address])
        run_values(wrapper, net, [1.0, 1.0])
        assert len(server.tracebacks) == 1  # once for each version of the graph
        (sent,) = server.tracebacks
        texts = sent.graph_traceback.id_to_string
        (entry,) = (entry for entry in sent.graph_traceback.log_entries if entry.name == "log")
        files = [(texts[trace.file_id], texts[trace.function_id]) for trace in entry.code_def.traces]
        assert (__file__, "net") in files
        assert sent.call_key == '[["x:0"], ["loss:0"]]' and sent.graph_version == net["x"].graph.version
        assert "run_values" in sent.origin_id_to_string.values()
        lines = {file.file_path: list(file.lines) for message in server.sources for file in message.source_files}
        assert lines[__file__] == Path(__file__).read_text().splitlines()
        silent = tf_debug.TensorBoardDebugWrapperSession(session, server.address, send_traceback_and_source_code=False)
        run_values(silent, net, [1.0])
        assert len(server.tracebacks) == 1
        graph = net["x"].graph
        for _ in range(2):
            version = grpc_wrappers.publish_traceback(server.address, graph, None, net["loss"], graph.version - 1)
            assert grpc_wrappers.publish_traceback(server.address, graph, None, net["loss"], version) == version
        assert len(server.tracebacks) == 3 and server.tracebacks[-1].call_key == '[[], ["loss:0"]]'
    assert signal.getsignal(signal.SIGINT) is handler


def nan_or_inf(datum, tensor):
    return tf.reduce_any(tf.math.is_nan(tensor)) or tf.reduce_any(tf.math.is_inf(tensor))


def test_a_filter_decides_which_runs_are_sent(net, capsys):
    with EventListener() as server:
        hook = tf_debug.TensorBoardDebugHook(server.address, tensor_filter_fn=nan_or_inf)
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            for value in (1.0, 2.0):
                session.run([net["loss"], net["train"]], {net["x"]: [value]})
            assert not server.events and len(server.tracebacks) == 1
            session.run([net["loss"], net["train"]], {net["x"]: [0.0, 1.0]})
        (event,) = server.wait_for("log:0:DebugIdentity")
        assert tf_debug.load_tensor_from_event(event).tolist() == [-np.inf, 0]
        metadata, graph, *_ = server.events
        assert '"input_names":["x:0"]' in metadata.log_message.message
        title, number, count, content = graph.graph_def.split(b"|", 3)
        assert title.decode().split(",")[1] == "/job:localhost/replica:0/task:0/device:CPU:0"
        assert (number, count) == (b"0", b"1")
        assert "log" in {node.name for node in graph_pb2.GraphDef.FromString(content).node}
    assert "run #3: 2 tensors passed tensor_filter_fn, the first is log:0" in capsys.readouterr().err


def test_a_large_tensor_goes_in_pieces(net):
    with EventListener() as server, session_of(net) as session:
        wrapper = tf_debug.TensorBoardDebugWrapperSession(
            session, server.address, send_traceback_and_source_code=False, tensor_filter_fn=lambda datum, tensor: True
        )
        values = np.arange(1, 1_500_001, dtype=np.float32)
        wrapper.run(net["loss"], {net["x"]: values})
        pieces = server.wait_for("log:0:DebugIdentity", 2)
        whole = b"".join(event.summary.value[0].tensor.tensor_content for event in pieces)
        assert np.array_equal(np.frombuffer(whole, np.float32), session.run(net["log"], {net["x"]: values}))
        about = [event.summary.value[0].metadata.plugin_data.content for event in pieces]
        assert [b'"numChunks":2' in text and b'"chunkIndex":%d' % n in text for n, text in enumerate(about)] == [
            True
        ] * 2


def test_no_server_and_the_program_goes_on(net, capsys):
    with EventListener() as server:
        address = server.address  # nobody listens there any more afterwards
    with session_of(net) as session:
        wrapper = tf_debug.GrpcDebugWrapperSession(session, address, patience=0)
        assert run_values(wrapper, net, [1.0, 1.0]) == [0, 0]
    hook = tf_debug.TensorBoardDebugHook(address, patience=0)
    with v1.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(net["loss"], {net["x"]: [1.0]}) == 0
    assert capsys.readouterr().err.count(f"no debug server answers at {address}") == 2


class WithALateServer(tf_debug.GrpcDebugWrapperSession):
    """Its server starts when the first run does."""

    started = None

    def on_run_start(self, request):
        if self.started is None:
            type(self).started = threading.Event()
            threading.Thread(target=self.start).start()
        return super().on_run_start(request)


def test_a_server_that_starts_late_is_waited_for(net, capsys, monkeypatch):
    with EventListener() as server:
        address = server.address
    late = EventListener(address)
    WithALateServer.start = lambda self: late.__enter__()
    with session_of(net) as session:
        wrapper = WithALateServer(session, address, watch_fn=watch_log, patience=120)
        try:
            assert run_values(wrapper, net, [1.0]) == [0]
            assert late.wait_for("log:0:DebugIdentity")
        finally:
            late.__exit__()
    assert "no debug server answers" not in capsys.readouterr().err


def test_a_server_that_comes_after_the_first_runs_gets_the_later_ones(net, capsys, monkeypatch):
    monkeypatch.setattr(grpc_wrappers, "_LOOKS_AGAIN", 0.0)
    with EventListener() as server:
        address = server.address
    with session_of(net) as session:
        wrapper = tf_debug.GrpcDebugWrapperSession(session, address, watch_fn=watch_log, patience=0)
        assert run_values(wrapper, net, [1.0]) == [0]
        with EventListener(address) as server:
            assert run_values(wrapper, net, [1.0]) == [0]
            assert server.wait_for("log:0:DebugIdentity")
    assert capsys.readouterr().err.count("no debug server answers") == 1


def test_hooks_tell_what_the_program_fetches(net, commands, capsys, tmp_path):
    fetched = []

    def watch_fn(fetches, feeds):
        fetched.append(fetches.name)
        return tf_debug.WatchOptions(node_name_regex_allowlist="log")

    dumping = tf_debug.DumpingDebugHook(tmp_path / "dumps", watch_fn)
    logging = v1.train.LoggingTensorHook({"loss": net["loss"]}, every_n_iter=1)
    with monitored(net, dumping, logging) as session:
        session.run(net["train"], {net["x"]: [1.0]})
    [folder] = glob.glob(f"{tmp_path}/dumps/run_*")
    assert fetched == [net["train"].name]
    assert net["train"].name in tf_debug.DebugDumpDir(folder).run_fetches_info
    commands("run")
    with monitored(net, tf_debug.LocalCLIDebugHook(ui_type="readline"), logging) as session:
        session.run(net["train"], {net["x"]: [1.0]})
    assert f"run-start: run #1: 1 fetch ({net['train'].name})" in capsys.readouterr().out


def test_a_callable_of_one_tensor_is_asked_about(net, commands, capsys):
    commands("run", "run")
    with session_of(net) as session:
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session)
        assert wrapper.make_callable(net["loss"], [net["x"]])([1.0]) == 0
        runner = session.make_callable(net["loss"], [net["x"]])
        with pytest.raises(ValueError, match="fetches and feed_dict must be None"):
            wrapper.run(net["loss"], callable_runner=runner)
    said, errors = capsys.readouterr()
    assert "run-end: run #1: 1 fetch (loss:0); 1 feed (x:0)" in said and "fault" not in errors


def test_filters_of_run_are_for_what_is_fed_too_and_an_empty_list_says_why(net, capsys):
    with tf.Graph().as_default(), v1.Session() as session:
        ids = v1.placeholder(tf.int64, [None], name="input/ids")
        x = v1.placeholder(tf.float32, [None], name="input/x")
        total = tf.reduce_sum(x * tf.cast(ids, tf.float32), name="total")
        prompt = ScriptedPrompt((
            "run --node_name_filter input.*", "lt",
            "run --tensor_dtype_filter int64", "lt",
            "run --node_name_filter nowhere", "lt",
            "run --node_name_filter unused", "lt",
            "run", "lt",
        ))  # fmt: skip
        tf.exp(x, name="unused")
        wrapper = tf_debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        for _ in range(5):
            assert wrapper.run(total, {ids: [1, 2], x: [1.0, 2.0]}) == 5
    by_name, by_type, nowhere, unused, everything = prompt.shown[1::2]
    assert by_name.startswith("2 dumped tensor(s)") and "input/ids:0" in by_name and "input/x:0" in by_name
    assert "input/ids:0" in by_type and "input/x:0" not in by_type
    assert 'no tensor of the graph has node name "nowhere"' in nowhere
    assert '"unused", which 1 tensors of the graph have; it computed none of them' in unused
    assert "total:0" in everything
