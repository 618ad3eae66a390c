"""``tdbg shell`` on real traces and folders, by pipe and by -c: what a person would type, and what they would read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stock_debugger

import tdbg

SOURCE = Path(tdbg.__file__).parents[1]
EXAMPLES = SOURCE.parent / "examples"
DUMPS = """
import sys
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python import debug as tf_debug
tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [None], name="x")
logs = tf.log(x, name="hidden/log")
with tf.Session() as session:
    session = tf_debug.DumpingDebugWrapperSession(session, sys.argv[1])
    session.run(logs, {x: [1.0, 0.0]})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(SOURCE),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TDBG_STATE": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TERM": "dumb",
    }


def run(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "tdbg", *words]
    return subprocess.run(
        command, cwd=folder, env=environment(folder), input=typed, capture_output=True, text=True, timeout=200
    )


def recorded(folder: Path, name: str, *program: str) -> str:
    if not (folder / name).exists():
        ran = run(folder, "run", "--mode", "full", "-o", name, *program)
        assert (folder / name).exists(), ran.stderr
    return name


@pytest.fixture(scope="module")
def session(folder):
    return recorded(folder, "mnist.tdbg", "-m", "tdbg.examples.debug_mnist", "--max_steps", "4")


@pytest.fixture(scope="module")
def keras(folder):
    return recorded(folder, "keras.tdbg", str(EXAMPLES / "keras_fit.py"))


@pytest.fixture(scope="module")
def dumps(folder):
    """Written by TensorFlow's own wrapper."""
    (folder / "dumps.py").write_text(DUMPS)
    command = [sys.executable, "dumps.py", str(folder / "dumps")]
    subprocess.run(command, cwd=folder, env=environment(folder), check=True, capture_output=True, timeout=200)
    return "dumps"


@pytest.fixture(scope="module")
def events(folder):
    """Written by Debugger V2."""
    (folder / "train.py").write_text(stock_debugger.PROGRAM)
    return str(stock_debugger.record(folder / "train.py", folder / "events", "FULL_TENSOR"))


def test_a_session_by_pipe_reads_as_a_transcript(folder, session):
    ran = run(folder, "shell", session, typed="lt -f has_inf_or_nan\n/Log:0\nni -t cross_entropy/Log\nnothing\n")
    assert ran.returncode == 0 and not ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "mnist.tdbg · run #5: type help for the commands, exit to leave"
    assert lines[1] == "tdbg> lt -f has_inf_or_nan"
    assert lines[2].endswith('dumped tensor(s) passing filter "has_inf_or_nan":')
    assert lines[4].split()[2:5] == ["Log", "cross_entropy/Log:0", "-inf"]
    found = lines.index("tdbg> /Log:0")
    assert lines[found + 1].startswith(" 3: ") and lines[found + 2].startswith("tdbg> ")
    assert any(line.startswith('     Text:     "diff = -(tf.one_hot') for line in lines)
    assert lines[-2:] == ["ERROR: there is no command 'nothing'; type help for a list", "tdbg> "]


def test_c_gives_json_and_a_status(folder, session):
    ran = run(folder, "shell", "--json", "-c", "lt -t Log -f bad; ni -t cross_entropy/Log", "-c", "ls", session)
    assert ran.returncode == 0
    tensors, node, files = map(json.loads, ran.stdout.splitlines())
    assert [row["tensor"] for row in tensors] == ["cross_entropy/Log:0"] and tensors[0]["neg_inf"] > 0
    assert node["traceback"][-1]["is_user"] or any(frame["is_user"] for frame in node["traceback"])
    assert files[0]["path"].endswith("debug_mnist.py")
    failed = run(folder, "shell", session, "-c", "lt -t Log; ni cross_entropy/Lag; ver")
    assert failed.returncode == 1
    assert failed.stdout.splitlines()[-1] == "ERROR: no node 'cross_entropy/Lag'; did you mean 'cross_entropy/Log'?"


def test_the_flags_of_our_own_commands(folder, session):
    typed = {
        "where -n 0 cross_entropy/Log:0": "it began here",
        "alerts -k retrace": "0 alerts",
        "history -q mean Softmax:0": "mean",
        f"diff --exact {session}": "the same numbers in all",
        f"diff --numbers-only {session}": "the same numbers in all",
        "sql --limit 2 SELECT name FROM ops ORDER BY name": "name",
        "why": "cross_entropy/Log:0",
        "health": "rules checked",
        "steps bad": "run #5",
        "steps 3": "run #3",
        "lt -t Softmax": "1 of",
    }
    ran = run(folder, "shell", session, *(word for line in typed for word in ("-c", line)))
    assert ran.returncode == 0, ran.stdout
    shown = dict(part.partition("\n")[::2] for part in ran.stdout.split("tdbg> ")[1:])
    assert list(shown) == list(typed)
    assert {line: shown[line] for line, said in typed.items() if said not in shown[line]} == {}
    assert len(shown["sql --limit 2 SELECT name FROM ops ORDER BY name"].splitlines()) < 6


@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        (["nowhere"], "There is no trace here", 2),
        (["--json"], "--json needs -c", 2),
        (["-c", " ; "], "-c needs a command", 2),
        (["--step", "many", "-c", "lt"], "--step many: give the number of a step or a run, or all", 2),
        (["mnist.tdbg", "--step", "99", "-c", "lt"], "there is no run 99; this trace has runs 1 to 9", 2),
    ],
)
def test_wrong_words_are_one_sentence(folder, session, words, message, status):
    ran = run(folder, "shell", *words)
    assert (ran.returncode, ran.stdout) == (status, "") and ran.stderr.count("\n") == 1
    assert message in ran.stderr


def test_a_step_is_chosen(folder, session):
    assert "run #3" in run(folder, "shell", session, "--step", "3", "-c", "ri").stdout
    everything = run(folder, "shell", session, "--step", "all", "-c", "lt -t Softmax").stdout
    assert "9 of" in everything or len(everything.splitlines()) > 6


def test_a_keras_fit(folder, keras):
    ran = run(
        folder, "shell", keras, typed="lt -f 'bad and op == \"Log\"' -s tensor_name\nls\nps -m 3 keras_fit.py\nri\n"
    )
    assert "compile_loss/poisson_loss/Log:0" in ran.stdout and not ran.stderr
    assert "keras_fit.py" in ran.stdout and "● " in ran.stdout and "step 0" in ran.stdout
    inputs = run(folder, "shell", keras, "-c", "li -r -t -d 2 compile_loss/poisson_loss/Log").stdout
    assert "|- (1) [" in inputs and "|- ..." in inputs


def test_dumps_of_tensorflow_itself(folder, dumps):
    """Their values are kept: ``pt`` shows them."""
    ran = run(folder, "shell", dumps, typed="lt -f has_inf_or_nan\npt hidden/log:0\nri\npf x:0\n")
    assert "hidden/log:0  -inf ×1" in ran.stdout and "array([  0., -inf])" in ran.stdout
    assert "hidden/log:0" in ran.stdout.partition("Fetch(es):")[2]
    again = run(folder, "shell", dumps, "-c", "ni -d hidden/log")
    assert "Slot 0 @ DebugIdentity" in again.stdout and "was already imported" in again.stderr


def test_events_of_debugger_v2(folder, events):
    ran = run(folder, "shell", events, "-c", "lt -f has_inf_or_nan; ls; ri")
    assert ran.returncode == 0 and "passing filter" in ran.stdout and "train.py" in ran.stdout


def test_a_pipe_that_is_closed_is_no_error(folder, session):
    command = f"{sys.executable} -m tdbg shell {session} -c 'lt; lt; lt; help' | head -1"
    ran = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=240
    )
    assert ran.stdout == "tdbg> lt\n" and not ran.stderr


def test_health_of_what_no_rule_could_be_asked_about_is_not_called_good(folder):
    run(
        folder, "run", "--mode", "none", "-o", "unmeasured.tdbg", "-c", "import tensorflow as tf; tf.sqrt(tf.ones([2]))"
    )
    said = run(folder, "shell", "unmeasured.tdbg", "-c", "health").stdout
    assert "tdbg cannot tell whether the training is healthy: no rule could be checked." in said
    assert "nothing unhealthy" not in said
