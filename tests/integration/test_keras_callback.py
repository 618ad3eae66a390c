"""tdbg.keras.Debugger on real Keras models: what it records, when it stops them, and what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, line_with

import tdbg

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

from tdbg.keras import Debugger  # noqa: E402

SOURCE = str(Path(tdbg.__file__).parents[1])
INPUTS = np.linspace(0.1, 1, 64, dtype=np.float32).reshape(32, 2)
TARGETS = INPUTS[:, :1]
BAD_INPUTS = np.concatenate([INPUTS[:16], -INPUTS[:16]])  # from batch 2 on


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    tdbg.disable()


class LogLayer(keras.layers.Layer):
    def call(self, x):
        return tf.math.log(x)  # the log


def make_model(**options: Any) -> Any:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([LogLayer(), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse", **options)
    return model


def fit(model: Any, debugger: Debugger, inputs: np.ndarray = INPUTS, **options: Any) -> Any:
    options = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0, **options}
    return model.fit(inputs, TARGETS, callbacks=[debugger], **options)


def batches_of(path: Path) -> set[int]:
    return {row["step"] for row in Recorded(path).rows("Log", eager=False)}


def is_closed(path: Path) -> bool:
    return bool(list(path.glob("*/end.json"))) and tdbg.recording.current_path() is None


# ---- fit


def test_training_stops_at_the_end_of_the_first_batch_with_trouble(capsys: pytest.CaptureFixture) -> None:
    debugger = Debugger("run.tdbg")
    history = fit(make_model(), debugger, BAD_INPUTS)
    assert len(history.history["loss"]) == 1
    assert debugger.trace == Path("run.tdbg").absolute() and is_closed(debugger.trace)
    assert batches_of(debugger.trace) == {0, 1, 2}
    assert debugger.verdict.is_trouble and debugger.verdict.first.op.type == "Log"
    assert (debugger.verdict.first.frame.file, debugger.verdict.first.frame.line) == (
        __file__,
        line_with(__file__, "the log"),
    )
    printed = capsys.readouterr().err
    assert "Log → NaN" in printed and "next:  tdbg" in printed and "run.tdbg" in printed


def test_a_healthy_training_goes_on_to_its_end(capsys: pytest.CaptureFixture) -> None:
    debugger = Debugger("run.tdbg")
    assert len(fit(make_model(), debugger).history["loss"]) == 3
    assert not debugger.verdict.is_trouble and batches_of(debugger.trace) == set(range(12))
    assert "no bad values" in capsys.readouterr().err


def test_it_can_let_training_go_on_and_be_silent(capsys: pytest.CaptureFixture) -> None:
    debugger = Debugger("run.tdbg", stop_on_alert=False, verdict=False)
    assert len(fit(make_model(), debugger, BAD_INPUTS).history["loss"]) == 3
    assert debugger.verdict.first.op.type == "Log" and batches_of(debugger.trace) == set(range(12))
    assert capsys.readouterr().err == ""


def test_harmless_infinities_do_not_stop_it() -> None:
    class Masked(keras.layers.Layer):
        def call(self, x):
            return tf.nn.softmax(tf.where([True, False], x, -float("inf")))

    model = keras.Sequential([Masked(), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    debugger = Debugger("run.tdbg", verdict=False)
    assert len(fit(model, debugger).history["loss"]) == 3
    assert not debugger.verdict.origins and debugger.verdict.benign


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        ({"epochs": "1:2"}, {4, 5, 6, 7}),
        ({"epochs": range(1, 3), "batches": [0, 3]}, {4, 7, 8, 11}),
        ({"epochs": [0, 2], "batches": ":2"}, {0, 1, 8, 9}),
        ({"batches": 1}, {1, 5, 9}),
    ],
)
def test_only_the_given_epochs_and_batches_are_recorded(options: dict[str, Any], recorded: set[int]) -> None:
    debugger = Debugger("run.tdbg", verdict=False, **options)
    fit(make_model(), debugger)
    assert batches_of(debugger.trace) == recorded


def test_trouble_outside_of_what_is_recorded_is_not_noticed() -> None:
    debugger = Debugger("run.tdbg", batches=":2", epochs=0, verdict=False)
    assert len(fit(make_model(), debugger, BAD_INPUTS).history["loss"]) == 3
    assert not debugger.verdict.is_trouble


def test_when_nothing_was_recorded_it_says_so(capsys: pytest.CaptureFixture) -> None:
    debugger = Debugger("run.tdbg", epochs=7)
    fit(make_model(), debugger)
    assert debugger.trace is None and debugger.verdict is None
    assert "nothing was recorded of this fit" in capsys.readouterr().err


def test_bad_values_of_the_validation_stop_the_training() -> None:
    debugger = Debugger("run.tdbg", verdict=False)
    history = fit(make_model(), debugger, validation_data=(BAD_INPUTS, TARGETS))
    assert len(history.history["loss"]) == 1 and debugger.verdict.first.op.type == "Log"


def test_a_model_that_was_trained_before_is_traced_again() -> None:
    model = make_model()
    model.fit(INPUTS, TARGETS, batch_size=8, verbose=0)
    debugger = Debugger("run.tdbg", verdict=False)
    fit(model, debugger, BAD_INPUTS)
    assert debugger.verdict.first.op.type == "Log"


@pytest.mark.parametrize("options", [{"jit_compile": True}, {"run_eagerly": True}, {"steps_per_execution": 2}])
def test_models_compiled_otherwise(options: dict[str, Any]) -> None:
    debugger = Debugger("run.tdbg", verdict=False)
    fit(make_model(**options), debugger, BAD_INPUTS)
    assert is_closed(debugger.trace)
    assert debugger.verdict.first.op.type == "Log"


# ---- evaluate and predict


def test_evaluate_and_predict(capsys: pytest.CaptureFixture) -> None:
    model, debugger = make_model(), Debugger("run.tdbg")
    model.evaluate(BAD_INPUTS, TARGETS, batch_size=8, verbose=0, callbacks=[debugger])
    assert debugger.trace == Path("run.tdbg").absolute() and debugger.verdict.first.op.type == "Log"
    assert len(Recorded(debugger.trace).rows("Log", eager=False)) == 3
    outputs = model.predict(BAD_INPUTS, batch_size=8, verbose=0, callbacks=[debugger])
    assert debugger.trace == Path("run-2.tdbg").absolute() and debugger.verdict.first.op.type == "Log"
    assert len(outputs) == 24 and is_closed(debugger.trace)


# ---- again, failures, other recordings


def test_one_debugger_used_twice_makes_two_traces() -> None:
    debugger = Debugger(verdict=False)
    fit(make_model(), debugger, BAD_INPUTS)
    first = debugger.trace
    fit(make_model(), debugger)
    assert not debugger.verdict.is_trouble and debugger.trace != first
    assert is_closed(first) and is_closed(debugger.trace)


@pytest.mark.parametrize("what", ["fit", "evaluate", "predict"])
def test_when_keras_raises_the_trace_is_closed(what: str, capsys: pytest.CaptureFixture) -> None:
    class Failing(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyError("mine")

        on_test_batch_end = on_predict_batch_end = on_train_batch_end

    debugger, model = Debugger("run.tdbg"), make_model()
    targets = () if what == "predict" else (TARGETS,)
    with pytest.raises(KeyError, match="mine"):
        getattr(model, what)(INPUTS, *targets, batch_size=8, verbose=0, callbacks=[debugger, Failing()])
    assert is_closed(debugger.trace) and not debugger.verdict.is_trouble
    assert "no bad values" in capsys.readouterr().err


def test_beside_a_recording_of_the_program_it_only_watches(capsys: pytest.CaptureFixture) -> None:
    tdbg.enable("mine.tdbg")
    debugger = Debugger("run.tdbg", epochs="0:1")
    for _ in range(2):
        assert len(fit(make_model(), debugger, BAD_INPUTS).history["loss"]) == 1
    assert tdbg.disable() == debugger.trace == Path("mine.tdbg").absolute()
    assert debugger.verdict.first.op.type == "Log" and not Path("run.tdbg").exists()
    assert capsys.readouterr().err.count("only watches") == 1


PROGRAM = """
import keras, numpy as np, tensorflow as tf
from tdbg.keras import Debugger
model = keras.Sequential([keras.layers.Lambda(tf.math.log), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
debugger = Debugger("mine.tdbg")
history = model.fit(-np.ones([32, 2]), np.ones([32, 1]), batch_size=8, epochs=3, verbose=0, callbacks=[debugger])
print(len(history.history["loss"]), debugger.trace.name, debugger.verdict.first.op.type)
"""


def test_under_tdbg_run_it_only_watches(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    words = [sys.executable, "-m", "tdbg", "run", "-o", "run.tdbg", "train.py"]
    ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert ran.stdout == "1 run.tdbg Log\n", ran.stderr
    assert ran.stderr.count("only watches") == 1 and ran.stderr.count("first bad value") == 1
    assert not (tmp_path / "mine.tdbg").exists()


def test_wrong_arguments_are_refused_at_once() -> None:
    for wrong in ({"mode": "loud"}, {"epochs": "two"}, {"batches": []}, {"depth": 3}):
        with pytest.raises(tdbg.TdbgError):
            Debugger(**wrong)
    Debugger("run.tdbg", verdict=False)
    Path("run.tdbg").mkdir()
    Path("run.tdbg/notes.txt").write_text("mine")
    with pytest.raises(tdbg.TdbgError, match="already exists; to overwrite it, use force=True"):
        fit(make_model(), Debugger("run.tdbg"))
    assert tdbg.recording.current_path() is None
