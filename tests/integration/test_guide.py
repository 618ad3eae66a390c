"""Programs of tfdbg's guide beside its walk-through, and the table that says where each block of it is tested."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from transcript import SOURCE, Transcript, run_program

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coming-from-tfdbg.md"
HEAD = """
    import numpy as np
    import tensorflow.compat.v1 as tf
    from tdbg.tensorflow import debug as tf_debug

    tf.disable_eager_execution()
"""


def run_text(program: str, typed: list[str], folder: Path) -> Transcript:
    (folder / "program.py").write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
    return run_program(["program.py"], typed, folder)


def shell(folder: Path, trace: str, commands: str) -> str:
    words = [sys.executable, "-m", "tdbg", "shell", trace, "-c", commands]
    environment = os.environ | {"PYTHONPATH": SOURCE, "TDBG_STATE": str(folder / "state"), "TDBG_STRICT": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240).stdout


def test_constants_that_were_folded_are_shown_all_the_same(tmp_path: Path) -> None:
    said = run_text(
        """
        a = tf.ones([10], name="a")
        b = tf.add(a, a, name="b")
        sess = tf.Session()
        sess = tf_debug.LocalCLIDebugWrapperSession(sess)
        sess.run(b)
        """,
        ["run", "lt -t Add", "pt b:0", "ni -t b", "pt a:0"],
        tmp_path,
    )
    assert said.status == 0 and re.search(r"\[0\.000\] +\d+ +Const +b/\S+:0\n", said.of("run"))
    assert "b/" in said.of("lt -t Add")  # by the type that was written
    assert "array([2., 2., 2., 2., 2., 2., 2., 2., 2., 2.])" in said.of("pt b:0")
    assert 'b = tf.add(a, a, name="b")' in said.of("ni -t b")
    assert "computed before the run or merged" in said.of("pt a:0")


def test_variables_a_filter_a_dump_root_and_the_main_thread(tmp_path: Path) -> None:
    said = run_text(
        """
        a = tf.Variable(np.ones([10]), name="a")
        b = tf.add(a, a, name="b")
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.exp(tf.multiply(x, 2.0, name="twice"), name="y")
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        sess = tf_debug.LocalCLIDebugWrapperSession(sess, thread_name_filter="MainThread$", dump_root="lots_of_space")

        def my_filter_callable(datum, tensor):
          # A filter that detects zero-valued scalars.
          return len(tensor.shape) == 0 and tensor == 0.0

        sess.add_tensor_filter('my_filter', my_filter_callable)
        sess.run(b)
        import threading
        other = threading.Thread(target=lambda: sess.run(b))
        other.start()
        other.join()
        for step in range(5):
            sess.run(y, {x: 2.0 - step})
        """,
        ["run", "pt b:0", "run -f my_filter", "lt -f my_filter"],
        tmp_path,
    )
    assert said.status == 0 and not (tmp_path / "lots_of_space").exists()
    assert "b:0" in said.of("run") and "array([2., " in said.of("pt b:0")
    assert "run-end: run #5: 1 fetch (y:0); 1 feed (x:0)" in said.of("run -f my_filter")  # the third of this thread
    listed = re.findall(r"^ *\[[\d.]+\] +\d+ +\S+ +(\S+)", said.of("lt -f my_filter"), re.M)
    assert listed == ["x:0", "twice:0"]


def test_dumps_are_looked_at_elsewhere(tmp_path: Path) -> None:
    """By hand, by the wrapper with a watch_fn, and by the hook; then the shell, in a process without TensorFlow."""
    said = run_text(
        """
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.log(x, name="y")
        step = tf.train.get_or_create_global_step()
        session = tf.Session()
        run_options = tf.RunOptions()
        here = __import__("os").getcwd()
        tf_debug.watch_graph(run_options, session.graph, debug_urls=["file://" + here + "/by_hand"])
        session.run(y, feed_dict={x: [0.0, 1.0]}, options=run_options)

        def my_watch_fn(fetches, feeds):
            return tf_debug.WatchOptions(op_type_regex_allowlist="Log")

        sess = tf_debug.DumpingDebugWrapperSession(session, "wrapped/", watch_fn=my_watch_fn)
        for value in (1.0, 0.0):
            sess.run(y, {x: [value]})
        hooks = [tf_debug.DumpingDebugHook("hooked")]
        with tf.train.MonitoredSession(hooks=hooks) as monitored:
            monitored.run(y, {x: [-1.0]})
        """,
        [],
        tmp_path,
    )
    assert said.status == 0, said.errors
    shown = shell(tmp_path, "by_hand", "lt -f has_inf_or_nan; pt y:0; ni y; li y; ls; run")
    assert re.search(r"Log +y:0 +-inf ×1", shown) and "array([-inf," in shown and "Op: Log" in shown
    assert "source files" in shown and "ERROR: no program is stopped here" in shown
    runs = shell(tmp_path, "wrapped", "steps; lt; steps 2; pt y:0")
    assert "2 runs, 1 with bad values" in runs and "1 dumped tensor(s):" in runs
    assert "array([0.])" in runs  # a good value is kept, too
    assert "nan ×1" in shell(tmp_path, "hooked", "lt -f has_inf_or_nan")


def blocks_of_the_table() -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").partition("## The guide, block by block")[2].partition("\n## ")[0]
    return [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in section.splitlines() if re.match(r"\| \d", line)]


def test_every_block_of_the_guide_has_a_test() -> None:
    rows = blocks_of_the_table()
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1)) and len(rows) == 45
    known: dict[str, set[str]] = {}
    for _, block, _, tests in rows:
        assert block
        for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", tests) or pytest.fail(f"no test of {block}"):
            if file not in known:
                tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
                known[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert name in known[file], f"{file} has no {name}"
