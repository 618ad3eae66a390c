"""A real terminal of some size, through tmux: commands, keys and clicks in, what stands on it out."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tdbg

SOURCE = str(Path(tdbg.__file__).parents[1])
PATIENCE = 60  # seconds, on a busy machine
_numbers = itertools.count()


def need_tmux() -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed, and without it there is no terminal to test on: apt install tmux")


class TmuxTerminal:
    """One window with a shell of its own in it."""

    def __init__(self, folder: Path, width: int = 100, height: int = 30) -> None:
        need_tmux()
        self._socket = f"tdbg-{os.getpid()}-{next(_numbers)}"
        self._home = tempfile.mkdtemp(prefix="tdbg-tmux-", dir=None)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("TMUX", "TDBG"))},
            "TMUX_TMPDIR": self._home,
            "PYTHONPATH": SOURCE,
            "TDBG_STATE": str(folder / "state"),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "PS1": "$ ",
        }
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(folder), "sh")

    def __enter__(self) -> TmuxTerminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """The window is closed, as by a person: what runs in it is hung up on."""
        subprocess.run(self._command("kill-server"), env=self.environment, capture_output=True, timeout=PATIENCE)
        shutil.rmtree(self._home, ignore_errors=True)

    def _command(self, *words: str) -> list[str]:
        return ["tmux", "-L", self._socket, *words]

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            self._command(*words), env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        """tmux's names of keys, such as ``Enter`` and ``M-Left``; anything else is typed."""
        self._tmux("send-keys", *keys)

    def type(self, line: str) -> None:
        self._tmux("send-keys", "-l", line)
        self.keys("Enter")

    def click(self, text: str) -> None:
        """In the middle of the first place where this text stands."""
        row, line = next((n, line) for n, line in enumerate(self.lines()) if text in line)
        column = line.index(text) + len(text) // 2
        for end in ("M", "m"):
            self._tmux("send-keys", "-l", f"\x1b[<0;{column + 1};{row + 1}{end}")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def lines(self, colours: bool = False) -> list[str]:
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else [])).split("\n")

    def text(self) -> str:
        return "\n".join(self.lines())

    def fact(self, name: str) -> str:
        """What tmux knows of the window, such as ``mouse_any_flag`` and ``alternate_on``."""
        return self._tmux("display-message", "-p", f"#{{{name}}}").strip()

    def wait_for(self, *texts: str, gone: str = "") -> str:
        """Until all of these stand there, and that one does not."""
        return self.wait_until(lambda text: all(one in text for one in texts) and not (gone and gone in text), texts)

    def wait_until(self, is_so: Callable[[str], bool], what: object) -> str:
        until = time.monotonic() + PATIENCE
        while not is_so(text := self.text()):
            assert time.monotonic() < until, f"waited for {what!r}, and there is:\n{text}"
            time.sleep(0.05)
        return text
