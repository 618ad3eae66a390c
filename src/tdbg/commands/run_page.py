"""A trace that is being recorded in; its page out, from a process beside the program, which it never touches.

The server ends when the pipe to it does: with the program, however that ends. Where a person sits at a terminal, tdbg
holds the pipe until Ctrl-C, so that the page can be read after the program has ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

from tdbg.commands.own_process import OwnProcess


class PageBesideRun:
    """Of one run."""

    def __init__(self, trace: Path) -> None:
        self._process = OwnProcess("tdbg.web.beside_run", str(trace))
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Says nothing itself: the server tells its address on standard error."""
        self._server = subprocess.Popen(
            self._process.words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self._process.environment
        )
        self._server.wait()  # it leaves another process behind, which nobody has to wait for

    def stay(self, is_interrupted: bool) -> None:
        """Until Ctrl-C, at a terminal; else not at all."""
        server = self._server
        if server is None or server.stdin is None:
            return
        if server.returncode == 0 and not is_interrupted and sys.stderr is not None and sys.stderr.isatty():
            print("tdbg: the program has ended; its page stays until Ctrl-C", file=sys.stderr, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    time.sleep(3600)
        with contextlib.suppress(OSError):
            server.stdin.close()
