"""Ctrl-C on a real terminal while conditions may hold the program: it is held where it is."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest

import tdbg

TRAIN = """\
import os
import tensorflow as tf
x, rounds = tf.constant(1.0), 0
while not os.path.exists("stop"):
    x = tf.math.sin(x) + 1.0  # the place
    rounds += 1
    if rounds == 20:
        print("ready", flush=True)
print("ended", flush=True)
"""


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.text = ""
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", PAGER="cat", TF_CPP_MIN_LOG_LEVEL="3", TDBG_STATE=str(folder))
            os.environ["PYTHONPATH"] = str(Path(tdbg.__file__).parents[1])
            os.execv(sys.executable, [sys.executable, "-m", "tdbg", "run", "-o", "run.tdbg", *words])

    def until(self, word: str) -> str:
        """What it says up to this word, from here on; all of it when it ends."""
        self.text = ""
        while word not in self.text:
            try:
                self.text += os.read(self._descriptor, 4096).decode(errors="replace")
            except OSError:
                break
        return self.text

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def status(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@pytest.mark.parametrize("then", ["run", "exit"])
def test_ctrl_c_holds_the_program_where_it_is(tmp_path: Path, then: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    terminal = Terminal(tmp_path, "-q", "--break", "nan > 0", "train.py")
    terminal.until("ready")
    terminal.type("\x03")
    shown = terminal.until("tdbg> ")
    assert "interrupted, step 0; run goes on, exit ends the program" in shown
    assert "train.py:" in shown
    (tmp_path / "stop").touch()
    terminal.type(f"{then}\n")
    shown = terminal.until("no such word")
    assert ("ended" in shown) == (then == "run")
    assert "Traceback" not in shown
    assert terminal.status() == (0 if then == "run" else 1)


def test_without_conditions_ctrl_c_is_the_programs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    terminal = Terminal(tmp_path, "-q", "train.py")
    terminal.until("ready")
    terminal.type("\x03")
    assert "KeyboardInterrupt" in terminal.until("no such word")
    assert terminal.status() == -2
