"""Shows the page of a trace that is being recorded, from a process beside the program, which it never touches.

The server ends when the pipe to it does: with the program, however that ends. Where a person sits at a terminal, tdbg
holds the pipe until Ctrl-C, so that the page can be read after the program has ended.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from tdbg.commands.own_process import OwnProcess
from tdbg.store.own_files import out_of_the_way


class PageBesideRun:
    """The page of one run."""

    def __init__(self, trace: Path) -> None:
        self._process = OwnProcess("tdbg.web.beside_run", str(trace))
        self._pipe = -1  # which ends with this process, however it ends
        self._is_up = False

    def start(self) -> None:
        """Starts the server, which tells its address on standard error itself."""
        theirs, ours = os.pipe()
        self._pipe = out_of_the_way(ours)
        try:
            words, environment = self._process.words, self._process.environment
            server = subprocess.Popen(words, stdin=theirs, stdout=subprocess.DEVNULL, env=environment)
        finally:
            os.close(theirs)
        # It leaves another process behind, which nobody has to wait for.
        self._is_up = server.wait() == 0

    def stay(self, is_interrupted: bool) -> None:
        """Keeps the page up until Ctrl-C, at a terminal; elsewhere not at all."""
        if self._is_up and not is_interrupted and sys.stderr is not None and sys.stderr.isatty():
            print("tdbg: the program has ended; its page stays until Ctrl-C", file=sys.stderr, flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    time.sleep(3600)
