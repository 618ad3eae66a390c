"""The debugger's hooks on real Estimators: results stay the same, and every run can be looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nan_in_training as program
import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from event_listener import EventListener
from example_runs import run_examples
from same_commands import type_all

import tdbg
from tdbg.tensorflow import debug as tf_debug

SOURCE = str(Path(tdbg.__file__).parents[1])
PROGRAMS = Path(program.__file__).parent
BUG = next(n for n, line in enumerate(Path(program.__file__).read_text().splitlines(), 1) if "# BUG" in line)


@pytest.fixture
def estimator(tmp_path: Path) -> Any:
    """One that stays healthy for two steps; its loss is NaN later."""
    return program.make_estimator(str(tmp_path / "model"))


def runs_of(root: str | os.PathLike) -> list[Any]:
    """The dumps of a folder, in the order of the runs, each as a DebugDumpDir."""
    return [tf_debug.DebugDumpDir(str(run)) for run in sorted(Path(root).glob("run_*"))]


def weights_after_two_steps(tmp_path: Path) -> np.ndarray:
    plain = program.make_estimator(str(tmp_path / "plain"))
    plain.train(program.input_fn, steps=2)
    return plain.get_variable_value("score/kernel")


def test_training_evaluation_and_prediction_are_dumped_run_by_run(estimator: Any, tmp_path: Path) -> None:
    estimator.train(program.input_fn, steps=2, hooks=[tf_debug.DumpingDebugHook("training")])
    estimator.evaluate(program.input_fn, steps=1, hooks=[tf_debug.DumpingDebugHook("evaluation")])
    predictions = estimator.predict(program.input_fn, hooks=[tf_debug.DumpingDebugHook("prediction")])
    assert 0 <= next(predictions)[0] <= 1

    np.testing.assert_array_equal(estimator.get_variable_value("score/kernel"), weights_after_two_steps(tmp_path))
    steps = [run for run in runs_of("training") if run.node_exists("Log_1")]
    assert len(steps) == 2
    [one_minus] = steps[0].get_tensors("Log_1", 0, "DebugIdentity")
    assert one_minus.shape == (16, 1)
    assert any(run.node_exists("Log_1") for run in runs_of("evaluation"))
    [run] = [run for run in runs_of("prediction") if run.node_exists("probability")]
    assert not run.node_exists("Log_1")
    np.testing.assert_array_equal(
        run.get_tensors("probability", 0, "DebugIdentity")[0][1:2], np.array([next(predictions)])
    )


@pytest.mark.parametrize("name", ["LocalCLIDebugHook", "DumpingDebugHook", "GrpcDebugHook", "TensorBoardDebugHook"])
def test_one_hook_of_each_kind_serves_all_that_an_estimator_does(
    estimator: Any, type_in: Any, capsys: Any, tmp_path: Path, name: str
) -> None:
    type_in(*["run"] * 30)
    with EventListener() as server:
        arguments = {"LocalCLIDebugHook": [], "DumpingDebugHook": ["dumps"]}
        hook = getattr(tf_debug, name)(*arguments.get(name, [server.address]))
        estimator.train(program.input_fn, steps=2, hooks=[hook])
        estimator.evaluate(program.input_fn, steps=2, hooks=[hook])
        watched = next(estimator.predict(program.input_fn, hooks=[hook]))
    assert hook.wrapper.run_call_count == 5
    assert watched == next(estimator.predict(program.input_fn))
    np.testing.assert_array_equal(estimator.get_variable_value("score/kernel"), weights_after_two_steps(tmp_path))
    assert "tdbg" not in capsys.readouterr().err


def test_train_and_evaluate_takes_a_hook_for_each(estimator: Any) -> None:
    score, _ = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(program.input_fn, max_steps=2, hooks=[tf_debug.DumpingDebugHook("training")]),
        tf.estimator.EvalSpec(program.input_fn, steps=1, hooks=[tf_debug.DumpingDebugHook("evaluation")]),
    )
    assert score["global_step"] == 2
    assert len([run for run in runs_of("training") if run.node_exists("Log_1")]) == 2
    assert len([run for run in runs_of("evaluation") if run.node_exists("Log_1")]) == 1


def test_dumps_of_a_training_that_was_stopped_show_the_first_bad_tensor(estimator: Any) -> None:
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        estimator.train(program.input_fn, steps=20, hooks=[tf_debug.DumpingDebugHook("dumps")])
    bad = [found for run in runs_of("dumps") if (found := run.find(tf_debug.has_inf_or_nan, first_n=1))]
    assert bad and bad[0][0].node_name == "Log_1"


def test_the_prompt_runs_until_the_nan_and_shows_where_it_began(estimator: Any, type_in: Any, capsys: Any) -> None:
    type_in("run -f has_inf_or_nan", "run")
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        estimator.train(program.input_fn, steps=20, hooks=[tf_debug.LocalCLIDebugHook(ui_type="readline")])
    printed = capsys.readouterr().out
    assert "has_inf_or_nan" in printed and "Log_1:0" in printed
    assert f"nan_in_training.py:{BUG}" in printed


def test_the_prompt_at_training_and_evaluation_changes_nothing(
    estimator: Any, type_in: Any, capsys: Any, tmp_path: Path
) -> None:
    hook = tf_debug.LocalCLIDebugHook(ui_type="readline")
    type_in(*["run"] * 20)
    estimator.train(program.input_fn, steps=2, hooks=[hook])
    assert "run-end: run #2" in capsys.readouterr().out
    type_in(*["run"] * 20)
    estimator.evaluate(program.input_fn, steps=1, hooks=[hook])
    assert capsys.readouterr().out
    np.testing.assert_array_equal(estimator.get_variable_value("score/kernel"), weights_after_two_steps(tmp_path))


def test_a_debug_server_gets_every_run(estimator: Any) -> None:
    with EventListener() as server:
        estimator.train(program.input_fn, steps=2, hooks=[tf_debug.GrpcDebugHook(server.address)])
        server.wait_for("Log_1:0:DebugIdentity", 2)
        estimator.evaluate(program.input_fn, steps=1, hooks=[tf_debug.GrpcDebugHook([server.address])])
        server.wait_for("Log_1:0:DebugIdentity", 3)


def test_a_filter_picks_the_run_that_is_sent(estimator: Any, capsys: Any) -> None:
    with EventListener() as server:
        hook = tf_debug.TensorBoardDebugHook(server.address, tensor_filter_fn=tf_debug.has_inf_or_nan)
        with pytest.raises(tf.estimator.NanLossDuringTrainingError):
            estimator.train(program.input_fn, steps=20, hooks=[hook])
        [sent] = server.wait_for("Log_1:0:DebugIdentity")
        assert not np.all(np.isfinite(tf_debug.load_tensor_from_event(sent)))
        assert program.__file__ in {file.file_path for kept in server.sources for file in kept.source_files}
    assert "the first is Log_1:0" in capsys.readouterr().err


def test_programs_of_users_run_with_few_corrections(tmp_path: Path) -> None:
    with EventListener() as server:
        calls = [f"{PROGRAMS / name} {server.address}" for name in ("basic_hook.py", "filter_hook.py")]
        calls.append(f"{PROGRAMS / 'several_hooks.py'} {server.address}")
        basic, filtered, several = run_examples(tmp_path, *calls).values()
        sent = server.wait_for("IteratorGetNext:0:DebugIdentity")
    assert (basic.end, basic.out) == ("", "steps: 3\n")  # the data are three batches
    # Where oneDNN computes product, bias and ReLU at once, its ReLU makes 0 of NaN, and the program trains on.
    assert filtered.end == "" and filtered.out in ("stopped: NaN loss during training.\n", "")
    assert np.isnan(tf_debug.load_tensor_from_event(sent[0])).sum() == 1
    assert len(sent) == 1 or not filtered.out  # its weights are spoilt, so later runs pass the filter too
    assert "the first is IteratorGetNext:0" in filtered.err
    # The program reads the step beside its update: before or after it, so a tenth step may be seen twice, or missed.
    assert several.end == "" and 0 < several.out.count("Summaries logged") <= 6


def test_every_command_of_the_prompt_on_a_recorded_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STATE", str(tmp_path / "state"))
    words = [sys.executable, "-m", "tdbg", "run", "-q", "--mode", "full", "-o", "run.tdbg", program.__file__]
    subprocess.run(words, env=os.environ | {"PYTHONPATH": SOURCE}, capture_output=True, timeout=240)
    shown = type_all("run.tdbg", "Log_1:0")
    assert "Log_1" in shown["lt -f has_inf_or_nan"]
    assert f"nan_in_training.py:{BUG}" in shown["why"]
