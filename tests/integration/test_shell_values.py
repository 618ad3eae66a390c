"""Tensors, eval and tdbg's own commands at the prompt, on real traces: Sessions, a Keras fit, a loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tdbg
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result_data import as_data

SOURCE = Path(tdbg.__file__).parents[1]
EXAMPLES = SOURCE.parent / "examples"
LOOP = """
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
start = tf.placeholder(tf.float32, [], name="start")
end = tf.while_loop(lambda x: x < 4.0, lambda x: tf.add(x, 1.0, name="next"), [start])
half = tf.sqrt(tf.cast(tf.stack([start - 1.0, start]), tf.bfloat16), name="half")
with tf.Session() as session:
    session.run([end, half], {start: 0.0})
"""


def record(folder: Path, name: str, *program: str) -> Path:
    trace = folder / f"{name}.tdbg"
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-m", "tdbg", "run", "--mode", "full", "-o", str(trace), *program]
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)
    assert trace.exists(), ran.stderr
    return trace


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shell")


@pytest.fixture(scope="module")
def session(folder):
    return record(folder, "session", "-m", "tdbg.examples.debug_mnist", "--max_steps", "4")


@pytest.fixture(scope="module")
def keras(folder):
    return record(folder, "keras", str(EXAMPLES / "keras_fit.py"))


@pytest.fixture(scope="module")
def loop(folder):
    program = folder / "loop.py"
    program.write_text(LOOP)
    return record(folder, "loop", str(program))


def shown(shell: Engine, line: str) -> str:
    result = shell.execute(line)
    assert not result.is_error, list(Layout(result).plain())
    return "\n".join(Layout(result, 120).plain())


def links(shell: Engine, line: str) -> set[str]:
    result = shell.execute(line)
    spans = [span for row in Layout(result, 120) for span in row]
    return {span.link for span in [*spans, *result.menu] if span.link}


def test_tensors_of_a_session(session, tmp_path):
    shell = Engine(TraceScene(session))
    text = shown(shell, "pt -s cross_entropy/Log:0")
    assert 'Tensor "cross_entropy/Log:0:DebugIdentity":\n  dtype: float32\n  shape: (100, 10)' in text
    assert "| -inf " in text and "[99, " not in shown(shell, "pt cross_entropy/Log:0[:3, -2:]")
    assert "Highlighted [-inf,-20]" in shown(shell, "pt cross_entropy/Log:0 -r [-inf,-20]")
    sums = shell.execute("eval -a 'np.sum(`Softmax:0`, axis=1)' -w " + str(tmp_path / "sums.npy"))
    assert not sums.is_error and np.allclose(np.load(tmp_path / "sums.npy"), 1, atol=1e-5)
    product = shell.execute('eval "np.matmul((`output/add:0` / `Softmax:0`).T, `Softmax:0`)"')
    assert product.blocks[-1].values.shape == (10, 10)
    assert "shape: (100, 784)" in shown(shell, "pf input_xs:0")
    assert "dtype: int64" in shown(shell, "pf -s input_ys:0")


def test_the_story_of_a_session(session):
    shell = Engine(TraceScene(session))
    why = shown(shell, "why")
    assert "Log → -inf" in why and "debug_mnist.py:42" in why
    assert any(link.startswith("ps -b 42 ") for link in links(shell, "why"))
    where = shell.execute("where cross_entropy/Neg:0")
    rows, end = as_data(where)
    assert [row["tensor"] for row in rows] == ["cross_entropy/Neg:0", "cross_entropy/mul:0", "cross_entropy/Log:0"]
    assert end["end"] == "it began here: the inputs of this op are finite" and "Softmax" in end["inputs"][0]
    good = as_data(shell.execute("where hidden/Relu:0"))[0]
    kinds = [row["op_type"] for row in good]  # a product and a sum that are computed with the Relu have no rows
    assert kinds[0] == "Relu" and kinds[1:3] in (["AddV2", "MatMul"], [])
    assert all(row["bad"] is None for row in good)
    moments = as_data(shell.execute("steps"))
    assert moments[4]["title"].startswith("run #5: ") and moments[4]["bad"] > 0 and moments[1]["bad"] == 0
    assert "Now at run #3" in shown(shell, "steps 3") and shell.scene.moment.number == 3
    assert "No" not in shown(shell, "steps all") and shell.scene.moment is None
    assert all("train" not in row["name"] for row in as_data(shell.execute("grad -w")))
    assert {row["kind"] for row in as_data(shell.execute("alerts"))} == {"bad_values"}
    assert as_data(shell.execute("alerts -k bad_values")) and as_data(shell.execute("alerts -k retrace")) == []
    shell.execute("steps 5")
    assert (
        as_data(shell.execute("where -n 0 Softmax:0"))[0][0]["step"] == 1
        and shell.execute("where -n 1 Softmax").is_error
    )
    assert [row["bad"] > 0 for row in as_data(shell.execute("steps bad"))] == [True] * 5
    assert all(row["first"] > 0 for row in as_data(shell.execute("grad")))


def test_a_keras_fit_over_its_steps(keras, session):
    shell = Engine(TraceScene(keras))
    log = "compile_loss/poisson_loss/Log:0"
    said, plot, rows = as_data(shell.execute(f"history {log}"))
    assert said["bad_steps"][0] == 0 and len(rows) == len(plot["series"][log]) == 16
    assert rows[0]["bad"] == shell.scene.seen(log)[0].numbers.nan
    assert f"steps 3; pt -s {log}" in links(shell, f"history {log}")
    assert as_data(shell.execute(f"history -q mean {log}"))[1]["title"] == "mean"
    text = shown(shell, "grad")
    assert "compile_loss/poisson_loss" in text and "█" in text
    counted = as_data(
        shell.execute("sql SELECT step, count(*) AS n FROM tensors WHERE nan > 0 GROUP BY step ORDER BY step")
    )
    assert counted[0]["step"] == 0 and counted[0]["n"] > 0
    assert "more than these 2 rows" in shown(shell, "sql --limit 2 SELECT * FROM ops")
    assert shell.execute("sql DROP TABLE ops").is_error and shell.execute("sql SELECT nme FROM ops").is_error
    assert "the same numbers in all" in shown(shell, f"diff {keras}")
    assert "the same numbers in all" in shown(shell, f"diff --exact {keras}")
    assert "no rule could be checked" in shown(shell, "health")
    assert "session.tdbg · run #5" in shown(shell, f"open {session}") and shell.scene.moment.kind == "run"
    assert shell.execute("prev").is_error
    assert "There is no trace here" in as_data(shell.execute("open nowhere.tdbg"))["error"]


def test_loops_and_small_floats(loop):
    shell = Engine(TraceScene(loop))
    name = next(name for name in shell.scene.tensor_names() if name.endswith("next:0"))
    text = shown(shell, f"pt {name}")
    assert f'Tensor "{name}" was seen 4 times' in text and text.endswith("array(1., dtype=float32)")
    assert shown(shell, f"pt -n 3 {name}").endswith("array(4., dtype=float32)")
    assert shown(shell, f"eval `{name}#3` * 10").endswith("array(40., dtype=float32)")
    half = shown(shell, "pt -s half:0")
    assert "dtype: bfloat16" in half and "| nan   0 | total |" in half and half.endswith("array([nan,  0.])")
    assert as_data(shell.execute("where half:0"))[0][0]["bad"].startswith("NaN ×1")
    assert shown(shell, "pf start").endswith("array(0., dtype=float32)")
