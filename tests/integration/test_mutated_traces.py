"""Traces that were damaged, or made to do harm: every reader says so in a sentence, in bounded time and memory.

``TDBG_MUTANTS`` is how many mutants are tried, ``TDBG_SEED`` the first of their seeds: what failed once can be tried
again alone.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tdbg
from hostile_trace import write_trace
from mutated_traces import HOSTILE, most_megabytes, run, run_imports
from tdbg.__main__ import main
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.query.trace.trace import Trace

SOURCE = str(Path(tdbg.__file__).parents[1])
MUTANTS = int(os.environ.get("TDBG_MUTANTS", "240"))
SEED = int(os.environ.get("TDBG_SEED", "0"))
PROGRAM = """\
import os, sys
import tensorflow as tf
import tdbg

weights = tf.Variable([[0.5, -0.2], [0.1, 0.3]])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.nn.relu(tf.matmul(x, weights))
        for _ in tf.range(2):
            y = tf.sqrt(y)
        loss = tf.reduce_sum(tf.math.log(y))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss

for n in range(4):
    step(tf.constant([[1.0, float(n)]]))
tf.concat([weights, weights], 0)
if "die" in sys.argv:
    os.kill(os.getpid(), 9)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Real traces: of a program that ended, and of one that was killed."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-m", "tdbg", "run", "-q", "--mode", "full", "-o"]
    ended = subprocess.Popen([*words, "sealed.tdbg", "train.py"], cwd=folder, env=environment)
    killed = subprocess.Popen([*words, "hot.tdbg", "train.py", "die"], cwd=folder, env=environment)
    assert ended.wait(200) == 0
    assert killed.wait(200) == -signal.SIGKILL
    return [folder / "sealed.tdbg", folder / "hot.tdbg"]


def test_no_mutant_makes_a_reader_fail_wait_or_eat_memory(recorded: list[Path], tmp_path: Path) -> None:
    before = most_megabytes()
    faults = list(run(recorded, range(SEED, SEED + MUTANTS), tmp_path))
    assert faults == []
    assert most_megabytes() - before < 800


def test_bombs_are_not_unpacked(recorded: list[Path], tmp_path: Path) -> None:
    assert list(run(recorded, range(12), tmp_path, bombs=12)) == []


def test_no_mutant_of_another_debuggers_files_makes_an_import_fail_or_leave_something_behind(
    recorded: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "unit" / "formats" / "dumps")
    from dump_files import node, write_run

    assert main(["export", "-q", "--format", "tfdbg2", str(recorded[0]), str(tmp_path / "events")]) == 0
    nodes = [node("x", "Placeholder"), node("y", "Log", "x"), node("z", "Mul", "y", "y")]
    dumps = {name: np.array([1.0, -1.0, np.nan], np.float32) for name in ("x_0", "y_0", "z_0")}
    for time in (1000, 2000):
        write_run(tmp_path / "dumps" / f"run_{time}_{time}", nodes, dumps, time)
    seeds = range(SEED, SEED + max(MUTANTS // 4, 20))
    assert list(run_imports([tmp_path / "events", tmp_path / "dumps"], seeds, tmp_path)) == []
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("words", [["info"], ["why"], ["sql"], ["export", "--format", "parquet"], ["report"]])
def test_pipes_and_devices_are_never_opened(recorded: list[Path], tmp_path: Path, words: list[str]) -> None:
    shutil.copytree(recorded[0], tmp_path / "run.tdbg")
    (process,) = (path for path in (tmp_path / "run.tdbg").iterdir() if path.is_dir())
    for file in sorted(process.iterdir()):
        file.unlink()
        if file.suffix == ".parquet":
            file.symlink_to("/dev/zero")
        elif file.name == "frames.arrows":
            file.symlink_to("/dev/random")
        else:
            os.mkfifo(file)
    more = {"sql": ["SELECT count(*) FROM ops"], "export": [str(tmp_path / "out")], "report": ["-o", "out.html"]}
    command = [sys.executable, "-m", "tdbg", *words, str(tmp_path / "run.tdbg"), *more.get(words[0], [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path, check=False)
    assert done.returncode in (0, 2), done
    assert "Traceback" not in done.stderr


def test_a_file_that_only_the_trace_names_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "settings.py"
    secret.write_text("PASSWORD = 'xyzzy'\n")
    trace = write_trace(tmp_path / "run.tdbg", name="loss", file=str(secret), source=None)
    scene = TraceScene(Trace.open(trace))
    shown = [line.text for line in scene.source(str(secret))]
    shown += [text for _, text in scene.node("loss/a").stack]
    assert not any("xyzzy" in text for text in shown)
    assert main(["shell", str(trace), "-c", f"ps {secret}"]) == 0
    said = capsys.readouterr().out
    assert "was not recorded" in said
    assert "xyzzy" not in said
    report = tmp_path / "report.html"
    assert main(["report", str(trace), "-o", str(report)]) == 0
    assert "xyzzy" not in report.read_text()


@pytest.mark.parametrize("words", [["info"], ["why"], ["sql"], ["shell"]], ids=" ".join)
def test_escape_sequences_in_a_trace_never_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    name = "\x1b]0;owned\x07\x1b[2J\u202egnp\u2066\x9b31m\rover\nline\x00"
    trace = write_trace(tmp_path / "run.tdbg", name=name)
    more = {"sql": ["SELECT * FROM ops, frames, notes, sources"], "shell": ["-c", "lt; ls; ni -t -a 1; why; run_info"]}
    main([*words, str(trace), *more.get(words[0], [])])
    out, err = capsys.readouterr()
    assert "owned" in out
    assert not HOSTILE.search(out + err)
