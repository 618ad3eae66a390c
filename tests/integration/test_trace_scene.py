"""Scenes over real traces: Keras, tf.function, Sessions, imported dumps, DebugEvents, and a program that still runs."""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import stock_debugger

import tdbg
from tdbg.errors import TdbgError
from tdbg.formats.debug_events.importer import import_debug_events
from tdbg.formats.dumps.importer import import_dumps
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.scene import Selection

ROOT = Path(__file__).parents[2]
SOURCE = str(Path(tdbg.__file__).parents[1])
ENVIRONMENT = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
BAD = Selection(filter="has_inf_or_nan")

DUMP = """
import sys
import session_graphs
from tensorflow.python import debug as stock
session_graphs.dump("feed_forward", stock.DumpingDebugWrapperSession, sys.argv[1])
"""
LIVE = """
import sys
import tensorflow as tf
import tdbg
@tf.function
def double(x):
    return tf.math.log(x) * 2.0
for step in range(3):
    tdbg.step(step)
    double(tf.constant([float(2 - step)]))
    print("step", step, flush=True)
    sys.stdin.readline()
"""


def record(trace, *words, cwd=ROOT):
    """A program under ``tdbg run``; it may end with any status, for these are broken."""
    command = [sys.executable, "-m", "tdbg", "run", "-q", "-o", str(trace), *words]
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)
    assert Path(trace).exists(), done.stderr
    return TraceScene(trace)


def first(tensors):
    return next(iter(tensors))


def test_keras_fit(tmp_path):
    scene = record(tmp_path / "fit.tdbg", "examples/keras_fit.py")
    bad = first(scene.tensors(BAD))
    assert (bad.op_type, bad.numbers.nan > 0, scene.moment.kind) == ("Log", True, "step")
    node = scene.node(bad.node)
    user = [(frame.line, text) for frame, text in node.stack if frame.is_user]
    assert "tf.math.log(y_pred)" in user[0][1]
    assert not any("/tdbg/" in frame.file and "examples" not in frame.file for frame, _ in node.stack)
    given = scene.seen(f"{node.inputs[0].node}:{node.inputs[0].slot}")[-1]
    assert (scene.value(given) < 0).any()  # kept beside the bad one
    assert np.isnan(scene.value(bad)).any()
    lines = scene.source("keras_fit.py")
    assert lines[user[0][0] - 1].is_bad
    assert bad.tensor in lines[user[0][0] - 1].tensors
    assert [moment.number for moment in scene.moments()] == sorted(moment.number for moment in scene.moments())
    scene.go(None)
    assert len(scene.tensors(Selection())) == sum(moment.tensors for moment in scene.moments())
    assert len(scene.tensors(BAD)) == sum(moment.bad for moment in scene.moments())


def test_a_function_and_the_command_that_keeps_its_values(tmp_path):
    scene = record(tmp_path / "loop.tdbg", "examples/custom_loop.py")
    scene.go(0)
    (product,) = scene.seen("train_step/MatMul_1:0")
    with pytest.raises(TdbgError) as error:
        scene.value(product)
    words = shlex.split(str(error.value).rpartition("record them with: ")[2])
    assert words[:2] == ["tdbg", "run"]
    again = record(tmp_path / "again.tdbg", *words[2:])
    (kept,) = again.seen("MatMul_1:0")
    assert (again.value(kept).shape, kept.seq >= 0, kept.step) == (product.shape, True, 0)
    np.testing.assert_allclose(again.value(kept).max(), product.numbers.max, rtol=1e-5)


def test_a_session(tmp_path):
    scene = record(tmp_path / "mnist.tdbg", "-m", "tdbg.examples.debug_mnist")
    assert scene.moment.title == "run #5: 1 fetch (train/Adam); 2 feeds"
    info = scene.run_info()
    assert (info.targets, info.feeds) == (["train/Adam"], ["input_xs:0", "input_ys:0"])
    bad = first(scene.tensors(BAD))
    assert bad.tensor == "cross_entropy/Log:0"
    assert np.isinf(scene.value(bad)).any()
    assert (scene.value(scene.seen("Softmax:0")[0]) == 0).any()
    products = scene.tensors(Selection(op_pattern="MatMul"))
    found = {seen.node for seen in products}
    for layer in ("hidden", "output"):  # with oneDNN the product is computed with what follows it
        whole = scene.node(f"{layer}/MatMul").part_of
        assert f"{layer}/MatMul" in found or (whole.partition(" ")[0] in found and whole in products.notes[0])
        assert scene.node(f"{layer}/MatMul").op_type == "MatMul"
        assert scene.node(f"{layer}/add").inputs[0].node == f"{layer}/MatMul"
    assert [edge.node for edge in scene.node("cross_entropy/Log").inputs] == ["Softmax"]
    frames = scene.node("cross_entropy/Log").stack
    assert any("tf.log(y)" in text for _, text in frames)
    assert list(scene.feeds()) == ["input_xs:0", "input_ys:0"]
    with pytest.raises(TdbgError, match=r"input_xs:0 were not kept"):
        scene.feeds()["input_xs:0"]
    with pytest.raises(TdbgError, match="accuracy/Mean:0 was not seen at run #5; it was in another run"):
        scene.seen("accuracy/Mean:0")


def test_imported_dumps(tmp_path):
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([SOURCE, str(Path(__file__).parent)])}
    done = subprocess.run(
        [sys.executable, "-c", DUMP, str(tmp_path / "dumps")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    import_dumps(tmp_path / "dumps", tmp_path / "dumps.tdbg", keep_values=True)
    scene = TraceScene(tmp_path / "dumps.tdbg")
    assert [moment.title.partition(": ")[2] for moment in scene.moments()] == ["1 fetch (log:0); 1 feed (x:0)"] * 2
    assert first(scene.tensors(BAD)).tensor == "log:0"
    assert [seen.node for seen in scene.tensors(Selection(op_pattern="MatMul"))] == ["hidden/MatMul"]
    assert scene.feeds()["x:0"].shape == (2, 3)
    assert scene.node("log").stack == []
    assert scene.sources() == []
    import_dumps(tmp_path / "dumps", tmp_path / "numbers.tdbg")
    scene = TraceScene(tmp_path / "numbers.tdbg")
    with pytest.raises(TdbgError, match="import the dumps again with: tdbg import --values"):
        scene.feeds()["x:0"]


@pytest.mark.parametrize("mode", ["FULL_TENSOR", "CURT_HEALTH"])
def test_debug_events(mode, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(stock_debugger.PROGRAM)
    import_debug_events(stock_debugger.record(script, tmp_path / "events", mode), tmp_path / "events.tdbg")
    scene = TraceScene(tmp_path / "events.tdbg")
    bad = first(scene.tensors(BAD))
    assert (scene.moment.number, bad.tensor, bad.is_bad) == (2, "Log:0", True)
    assert any("# the log" in text for _, text in scene.node("train/Log").stack)
    if mode == "FULL_TENSOR":
        assert np.isinf(scene.value(bad)).any()
        assert [seen.number for seen in scene.seen("while/mul:0")] == [0, 1, 2]
    else:
        assert bad.numbers is None
        with pytest.raises(TdbgError, match="tensor_debug_mode='FULL_TENSOR'"):
            scene.value(bad)


def test_a_program_that_still_runs(tmp_path):
    """Each step is seen while the program waits behind it."""
    script = tmp_path / "live.py"
    script.write_text(LIVE)
    words = [sys.executable, "-m", "tdbg", "run", "-q", "-o", str(tmp_path / "live.tdbg"), str(script)]
    with subprocess.Popen(words, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        scene = None
        for step in range(3):
            assert program.stdout.readline() == f"step {step}\n"
            scene = scene or TraceScene(tmp_path / "live.tdbg")
            while step not in _steps_with(scene, "Log:0"):
                _until(scene.refresh)
            scene.go(step)
            (log,) = scene.seen("Log:0")
            assert (log.is_bad, scene.node("double/Log").op_type) == (step == 2, "Log")
            program.stdin.write("\n")
            program.stdin.flush()
        program.wait(60)
    scene.refresh()
    assert not scene.refresh()
    assert first(scene.tensors(BAD)).tensor == "Log:0"


def _steps_with(scene, name):
    was = scene.moment.number if scene.moment else None
    scene.go(None)
    try:
        return {seen.step for seen in scene.seen(name)}
    except TdbgError:
        return set()
    finally:
        scene.go(was)


def _until(is_done, patience=60):
    give_up = time.monotonic() + patience
    while not is_done():
        assert time.monotonic() < give_up, "the program's rows did not come"
        time.sleep(0.02)
