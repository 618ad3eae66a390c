"""``tdbg run --break`` on whole programs, with commands on standard input or typed at a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

pytest.importorskip("tensorflow")

PROGRAM = """\
import multiprocessing, sys
import numpy as np
import tensorflow as tf
import keras

def child(n):
    import tdbg
    tdbg.breakpoint()
    return float(tf.math.log(float(n)))

def loss(truth, guess):
    return tf.reduce_mean(tf.math.log(tf.abs(truth - guess) - 1.5))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print("child", pool.map(child, [0]))
        pool.close()
        pool.join()  # so that what it recorded is in the trace, before what this process does
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", loss=loss)
    model.fit(np.ones((16, 4), "f"), np.ones((16, 1), "f"), epochs=1, batch_size=8, verbose=0)
    data = tf.data.Dataset.range(2).map(lambda i: 1.0 / tf.cast(i, tf.float32))
    print("data", [float(v) for v in data])
    print("bye")
    sys.exit(7)
"""
SMALL = """\
import tensorflow as tf

@tf.function
def logs(x):
    return tf.math.log(x)

print("result", logs(tf.constant([1.0, 0.0])).numpy())
"""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TDBG_")}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1", **more}


def run(folder: Path, commands: str, *options: str, program: str = SMALL, **more: str) -> tuple[int, str, str]:
    (folder / "train.py").write_text(program)
    words = [sys.executable, "-m", "tdbg", "run", "-q", "-o", str(folder / "a.tdbg"), "--force", *options, "train.py"]
    ran = subprocess.run(
        words, cwd=folder, env=environment(**more), input=commands, capture_output=True, text=True, timeout=200
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_fit_datasets_children_and_the_exit_status(tmp_path: Path) -> None:
    commands = "pt -s compile_loss/loss/Log:0\nwhere compile_loss/loss/Log\nhistory compile_loss/loss/Log:0\n"
    commands += "run -f 'inf > 0 and op == \"RealDiv\"'\nni truediv\nrun\n"
    status, out, err = run(tmp_path, commands, "--break", 'nan > 0 and op == "Log" and name ~ "loss"', program=PROGRAM)
    assert status == 7, err
    held = [line for line in out.splitlines() if line.startswith(("condition: ", "breakpoint: "))]
    assert len(held) == 2, out
    assert re.search(r"is met by .*loss.*Log:0, step 0", held[0]), out
    assert "truediv:0" in held[1]
    assert "train.py:12 in loss" in out
    assert "ERROR" not in out
    assert "child [-inf]" in out
    assert "data [inf, 1.0]" in out
    assert out.endswith("bye\n")


@pytest.mark.parametrize("native", ["1", "0"])
def test_exit_status_and_the_trace_that_is_left(tmp_path: Path, native: str) -> None:
    status, out, err = run(tmp_path, "pt Log\nexit\n", "--break", "inf > 0", TDBG_NATIVE=native)
    assert status == 1, err
    assert "[  0., -inf]" in out
    assert "result [" not in out
    assert "Traceback" not in err
    why = subprocess.run(
        [sys.executable, "-m", "tdbg", "why", "a.tdbg"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "train.py:5" in why.stdout, why.stderr


def test_without_commands_the_program_goes_on(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, "", "--break", "inf > 0", "--break", "nan > 0")
    assert (status, out.splitlines()[-1]) == (0, "result [  0. -inf]")
    assert "the program continues without the debugger" in err


def test_the_variable_and_what_is_no_condition(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, "exit\n", TDBG_BREAK='op == "Log"')
    assert status == 1
    assert 'condition: op == "Log" is met by Log:0' in out
    status, _, err = run(tmp_path, "", "--break", "inf >")
    assert status == 2
    assert "filter 'inf >', at character 6: expected" in err
    assert len(err.splitlines()) == 1


def test_ctrl_c_at_the_prompt_stays_at_the_prompt(tmp_path: Path) -> None:
    """Also where the held thread is TensorFlow's: the program is not interrupted when it goes on."""
    (tmp_path / "train.py").write_text(SMALL)
    words = ["-m", "tdbg", "run", "-q", "--break", "inf > 0", "train.py"]
    terminal = pexpect.spawn(
        sys.executable, words, cwd=tmp_path, env=environment(TERM="dumb"), encoding="utf-8", timeout=240
    )
    terminal.expect("is met by Log:0")
    terminal.expect("tdbg> ")
    terminal.sendintr()
    terminal.sendline("version")
    terminal.expect(r"tdbg \d|version|0\.1")
    terminal.sendline("run")
    terminal.expect(r"result \[  0\. -inf\]")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


def test_the_screen_opens_on_the_thread_that_is_held(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SMALL)
    words = ["-m", "tdbg", "run", "-q", "--break", "inf > 0", "train.py"]
    terminal = pexpect.spawn(
        sys.executable,
        words,
        cwd=tmp_path,
        env=environment(TERM="xterm-256color", TDBG_STATE=str(tmp_path / "state")),
        dimensions=(30, 110),
        encoding="utf-8",
        timeout=240,
    )
    terminal.expect("is met by Log:0")
    terminal.expect("array")
    terminal.send("run\r")
    terminal.expect(r"result \[  0\. -inf\]")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
