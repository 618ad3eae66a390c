"""The examples that need tf.estimator, tf-slim or Keras 2: plainly, at the prompt, in dumps, against a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_listener import EventListener
from example_runs import SOURCE, Result, run_examples

from tdbg.tensorflow import debug as tf_debug

IRIS = "debug_estimator_iris"
PROMPT = "--debug --ui_type readline"
TYPED = {
    f"{IRIS} --train_steps 2 {PROMPT}": "run;run;run;run;run;run",
    f"{IRIS} --dirty_data {PROMPT}": "run -f has_inf_or_nan;run",
    f"debug_keras {PROMPT}": "run -f has_inf_or_nan",
    f"debug_slim {PROMPT}": "run -f has_inf_or_nan",
}
PLAIN = [IRIS, "debug_keras", "debug_slim", f"{IRIS} --use_experiment --train_steps 2 --dump_dir iris"]
PLAIN += ["debug_slim --number_of_steps 2 --dump_dir slim", "debug_keras --epochs 1 --dump_dir keras"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, Result]:
    with EventListener() as server:
        to_server = f"{IRIS} --train_steps 2 --debugger_address {server.address}"
        results = run_examples(folder, *PLAIN, *TYPED, to_server, typed=TYPED)
        results["to the server"] = results.pop(to_server)
        assert server.tracebacks and server.sources
    return results


def bug_of(example: str) -> str:
    lines = (Path(SOURCE) / "tdbg/examples" / f"{example}.py").read_text().splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if "# BUG" in line]
    return f"{example}.py:{number}"


def dumped_nodes(folder: Path) -> set[str]:
    dumps = [tf_debug.DebugDumpDir(str(run)) for run in folder.rglob("run_*")]
    return {datum.node_name for dump in dumps for datum in dump.dumped_tensor_data}


def test_the_flowers_are_learnt(runs: dict[str, Result]) -> None:
    ran = runs[IRIS]
    assert (ran.end, ran.err) == ("", "") and ran.out.startswith("After training 100 steps, accuracy = ")
    assert float(ran.out.split()[-1]) > 0.8


def test_flowers_at_the_prompt_and_with_a_server(runs: dict[str, Result]) -> None:
    ran = runs[f"{IRIS} --train_steps 2 {PROMPT}"]
    assert ran.end == "" and "run-end: run #2" in ran.out and "accuracy = " in ran.out
    assert runs["to the server"].end == "" and "accuracy = " in runs["to the server"].out


def test_the_prompt_shows_the_dirty_flower(runs: dict[str, Result]) -> None:
    ran = runs[f"{IRIS} --dirty_data {PROMPT}"]
    assert "IteratorGetNext:0" in ran.out
    # Where oneDNN computes product, bias and ReLU at once, its ReLU makes 0 of NaN, and training goes on.
    assert ran.end in ("NanLossDuringTrainingError", "")


@pytest.mark.parametrize("example", ["debug_keras", "debug_slim"])
def test_the_loss_is_nan_and_the_prompt_names_the_line(runs: dict[str, Result], example: str) -> None:
    assert (runs[example].end, runs[example].err) == ("", "") and "loss: nan" in runs[example].out
    ran = runs[f"{example} {PROMPT}"]
    assert ran.end == "" and bug_of(example) in ran.out


def test_dumps_of_all_hosts(runs: dict[str, Result], folder: Path) -> None:
    assert not any(ran.end for call, ran in runs.items() if "--dump_dir" in call)
    assert {"IteratorGetNext", "dnn/logits/BiasAdd"} <= dumped_nodes(folder / "iris")
    assert any("Log" in node for node in dumped_nodes(folder / "keras"))
    assert "fully_connected/BiasAdd" in dumped_nodes(folder / "slim/train") & dumped_nodes(folder / "slim/evaluate")
