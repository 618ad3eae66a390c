"""tdbg.breakpoint(): the program held at a line, in eager code and in functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded_run import line_with, record
from scripted_prompt import typed

import tdbg

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of tdbg are raised."""
    monkeypatch.setenv("TDBG_STRICT", "1")


def test_eager_code_shows_the_local_tensors(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch, "pt doubled", "pt weights:0", "eval `doubled:0` + `weights:0`", "run")

    def compute(x: Any) -> Any:
        doubled = x * 2.0
        weights = tf.Variable([5.0, 6.0])
        name = "no tensor"
        tdbg.breakpoint()  # held here
        return doubled + weights, name

    with record(tmp_path):
        assert compute(tf.constant([1.0, 2.0]))[0].numpy().tolist() == [7.0, 10.0]
    (pause,) = prompt.pauses
    line = line_with(__file__, "held here")
    assert pause.kind == "breakpoint"
    assert pause.headline == f"breakpoint: test_breakpoint.py:{line}, step 0"
    told = "\n".join(pause.lines)
    assert "doubled = float32, shape (2,): min 2, max 4" in told
    assert "weights = float32, shape (2,): min 5, max 6" in told
    assert "name" not in told
    assert f"test_breakpoint.py:{line} in compute" in told
    assert "2., 4." in prompt.shown[0]
    assert "5., 6." in prompt.shown[1]
    assert "7., 10." in prompt.shown[2]


def test_a_function_is_held_whenever_it_runs_past_it(tmp_path: Path, monkeypatch: Any) -> None:
    prompt = typed(monkeypatch, "pt total", "run", "run", "exit")

    @tf.function
    def summed(x):
        total = tf.zeros([])
        for i in tf.range(2):
            total += x * tf.cast(i + 1, tf.float32)
            tdbg.breakpoint()
        return total

    with record(tmp_path):
        assert float(summed(tf.constant(2.0))) == 6.0
        with pytest.raises(SystemExit):
            summed(tf.constant(3.0))
    assert len(prompt.pauses) == 3
    assert "total = float32, shape (): min 2, max 2" in "\n".join(prompt.pauses[0].lines)
    assert "total = float32, shape (): min 6, max 6" in "\n".join(prompt.pauses[1].lines)
    assert "2." in prompt.shown[0]
    assert float(summed(tf.constant(1.0))) == 3.0  # off again
    assert len(prompt.pauses) == 3


def test_a_function_with_a_breakpoint_can_be_saved(tmp_path: Path, monkeypatch: Any) -> None:
    typed(monkeypatch)

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def call(self, x):
            y = x * 2.0
            tdbg.breakpoint()
            return y

    with record(tmp_path):
        model = Model()
        model.call(tf.constant([1.0]))
        tf.saved_model.save(model, str(tmp_path / "saved"))
    code = (
        f"import sys, tensorflow as tf\nm = tf.saved_model.load({str(tmp_path / 'saved')!r})\n"
        "assert 'tdbg' not in sys.modules\nprint(m.call(tf.constant([3.0])).numpy())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert ran.stdout == "[6.]\n", ran.stderr


def test_without_tdbg_it_is_passed_over_and_that_is_said_once(monkeypatch: Any, capfd: Any) -> None:
    monkeypatch.setattr(tdbg.recording, "_said_at", [])
    for _ in range(2):
        tdbg.breakpoint()

    @tf.function
    def same(x):
        tdbg.breakpoint()
        return x

    same(1.0)
    assert capfd.readouterr().err == (
        "tdbg: tdbg.breakpoint() is ignored: tdbg is off (start it with tdbg run, or tdbg.enable())\n"
    )
