"""Examples of the Session debugger: each tells its story plainly, at the prompt, in dumps and under ``tdbg run``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from example_runs import SOURCE, Result, run_examples

EXAMPLES = Path(SOURCE) / "tdbg" / "examples"
UNTIL_BAD = "run -f has_inf_or_nan;run"


def marked_line(name: str, mark: str = "# BUG") -> int:
    lines = (EXAMPLES / f"{name}.py").read_text().splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if mark in line]
    return number


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, Result]:
    typed = {
        "debug_mnist --debug --ui_type readline": UNTIL_BAD,
        "debug_fibonacci --debug --ui_type readline": "run -f has_negative;run",
        "debug_errors --error shape_mismatch --debug --ui_type readline": "run",
        "debug_errors --error uninitialized_variable --debug --ui_type readline": "run",
    }
    plain = ["debug_mnist", "debug_fibonacci", "debug_fibonacci --length 1", "debug_estimator_iris", "debug_keras"]
    plain += ["debug_slim", "debug_mnist --max_steps 3 --dump_dir dumps", "debug_errors --error shape_mismatch"]
    plain += ["debug_mnist --max_steps 1 --debugger_address localhost:1"]
    return run_examples(folder, *plain, *typed, typed=typed)


def accuracies(printed: str) -> list[float]:
    lines = [line for line in printed.splitlines() if line.startswith("Accuracy at step ")]
    assert [line.split(":")[0] for line in lines] == [f"Accuracy at step {step}" for step in range(len(lines))]
    return [float(line.split(": ")[1]) for line in lines]


def test_accuracy_rises_once_and_is_then_stuck_near_chance(runs: dict[str, Result]) -> None:
    first, second, *rest = accuracies(runs["debug_mnist"].out)
    assert first < second and len(rest) == 8 and len(set(rest)) == 1 and rest[0] < 0.13


def test_the_prompt_stops_at_the_first_bad_tensor_and_names_the_line(runs: dict[str, Result]) -> None:
    ran = runs["debug_mnist --debug --ui_type readline"]
    assert ran.end == "" and "run #4" in ran.out
    assert "cross_entropy/Log:0" in ran.out and f"debug_mnist.py:{marked_line('debug_mnist')}" in ran.out


def test_dumps_have_all_runs_and_the_first_bad_tensor(runs: dict[str, Result], folder: Path) -> None:
    from tdbg.tensorflow import debug as tf_debug

    assert runs["debug_mnist --max_steps 3 --dump_dir dumps"].end == ""
    dumps = [tf_debug.DebugDumpDir(str(run)) for run in sorted((folder / "dumps").glob("run_*"))]
    bad = [[datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan, first_n=1)] for dump in dumps]
    assert len(bad) == 6 and bad[:4] == [[], [], [], ["cross_entropy/Log"]]


def test_without_a_server_training_goes_on(runs: dict[str, Result]) -> None:
    ran = runs["debug_mnist --max_steps 1 --debugger_address localhost:1"]
    assert ran.end == "" and len(accuracies(ran.out)) == 1 and "localhost:1" in ran.err


def test_a_filter_of_ones_own_finds_the_overflow(runs: dict[str, Result]) -> None:
    assert runs["debug_fibonacci"].out == "Fibonacci number 50: -298632863\n"
    ran = runs["debug_fibonacci --debug --ui_type readline"]
    assert ran.end == "" and "number_47:0" in ran.out and "number_46:0" not in ran.out.partition("run-end")[2]
    assert runs["debug_fibonacci --length 1"].end == "SystemExit"


@pytest.mark.parametrize(
    ("error", "kind", "op"),
    [
        ("shape_mismatch", "InvalidArgumentError", "product"),
        ("uninitialized_variable", "FailedPreconditionError", "doubled"),
    ],
)
def test_an_error_is_shown_with_its_op_and_then_ends_the_program(
    runs: dict[str, Result], error: str, kind: str, op: str
) -> None:
    ran = runs[f"debug_errors --error {error} --debug --ui_type readline"]
    assert ran.end == kind and op in ran.out and "debug_errors.py:" in ran.out
    assert runs["debug_errors --error shape_mismatch"].end == "InvalidArgumentError"


@pytest.mark.parametrize(
    ("example", "package", "install"),
    [
        ("debug_estimator_iris", "tensorflow_estimator", "pip install 'tensorflow==2.15.*'"),
        ("debug_keras", "tf_keras", "pip install tf_keras"),
        ("debug_slim", "tf_slim", "pip install tf_slim"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(
    runs: dict[str, Result], example: str, package: str, install: str
) -> None:
    if find_spec(package):
        pytest.skip(f"{package} is here")
    assert runs[example].end == "SystemExit" and install in runs[example].message


def test_under_tdbg_run_the_verdict_names_the_line(folder: Path) -> None:
    words = [sys.executable, "-m", "tdbg", "run", "--json", "-o", "mnist.tdbg", "-m", "tdbg.examples.debug_mnist"]
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0 and len(accuracies(ran.stdout)) == 10
    [line] = [line for line in ran.stderr.splitlines() if line.startswith("{")]  # TensorFlow may say something, too
    [origin] = json.loads(line)["origins"]
    assert (origin["file"], origin["line"]) == (str(EXAMPLES / "debug_mnist.py"), marked_line("debug_mnist"))
