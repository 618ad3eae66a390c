"""A trace or a folder of TensorFlow's debugger in; a server of its own out: tdbg's, or stock TensorBoard's."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

_BOARD = """
import sys
from tensorboard import program
board = program.TensorBoard()
board.configure(argv=[None, "--logdir", sys.argv[1], "--port", "0", "--host", "127.0.0.1", "--load_fast", "false"])
print(board.launch(), flush=True)
sys.stdin.read()
"""


class Served:
    """``began`` is when its command was given, in seconds since the epoch; ``url`` what it printed."""

    def __init__(self, *words: str, environment: dict[str, str] | None = None) -> None:
        self.began = time.time()
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([sys.executable, *words], env=environment, text=True, **pipes)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def age(self) -> float:
        """Seconds since its command was given."""
        return time.time() - self.began

    def memory(self) -> float:
        """The greatest so far, in MB."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.terminate()
        self._process.communicate()


class Tdbg(Served):
    """``tdbg serve`` of one trace."""

    def __init__(self, trace: Path) -> None:
        super().__init__("-m", "tdbg", "serve", "--no-browser", "--port", "0", str(trace))
        self._host, _, self._token = self.url.removeprefix("http://").partition("/?token=")
        self._name = trace.name.removesuffix(".tdbg")

    def ask(self, question: str) -> float:
        """Milliseconds of the server."""
        connection = http.client.HTTPConnection(self._host, timeout=600)
        connection.request("GET", f"/api/t/{self._name}/{question}", headers={"Authorization": f"Bearer {self._token}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{question}: {body[:200]!r}")
        return float((answer.getheader("Server-Timing") or "").rpartition("=")[2])


class Board(Served):
    """Stock TensorBoard, which reads a whole folder into memory."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
        super().__init__("-c", _BOARD, str(folder), environment=environment)

    def wait_for(self, rows: int) -> float:
        """Seconds since its command until that many rows can be asked for."""
        while self._count() < rows:
            time.sleep(0.2)
        return self.age()

    def _count(self) -> int:
        if "__default_debugger_run__" not in self._ask("/runs?"):
            return -1
        return self._ask("/graph_execution/digests?begin=0&end=0").get("num_digests", -1)

    def _ask(self, route: str) -> Any:
        url = f"{self.url}data/plugin/debugger-v2{route}&run=__default_debugger_run__"
        with urllib.request.urlopen(url, timeout=600) as answer:
            return json.load(answer)
