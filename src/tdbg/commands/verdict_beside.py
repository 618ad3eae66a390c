"""Finds what is said of a trace when its program has ended, by a process of its own (last_word.py).

This process still owes the program its exit status. So whatever the search for the cause comes to (a crash, too little
memory, Ctrl-C, no end), it comes to one sentence here.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from tdbg.commands.own_process import OwnProcess

LONGEST = 600.0  # seconds; a verdict takes one or two, also after millions of tensors
_SILENT = 3.0


class VerdictBeside:
    """Finds a verdict in another process. To be made before the program begins. ``shown`` is the trace's name as the
    user knows it."""

    def __init__(self, trace: Path, shown: str, *, as_json: bool, ignore: frozenset[str]) -> None:
        self._trace, self._again, self._as_json = trace, f"tdbg why {shlex.quote(shown)}", as_json
        question = {"trace": str(trace), "shown": shown, "as_json": as_json, "ignore": sorted(ignore)}
        self._process = OwnProcess("tdbg.commands.last_word", json.dumps(question))

    def lines(self) -> list[str]:
        """Gives the lines to print; never raises."""
        with _signals_of_nobody():
            try:
                return self._found()
            except KeyboardInterrupt:
                return self._failed("stopped looking for the cause")
            except subprocess.TimeoutExpired:
                return self._failed(f"stopped looking for the cause after {LONGEST:.0f} seconds")
            except BaseException as error:
                return self._failed(f"could not look for the cause ({type(error).__name__}: {error})")

    def _found(self) -> list[str]:
        pipe = subprocess.PIPE
        # A group of its own: Ctrl-C is for this process, which then ends the other.
        with subprocess.Popen(
            self._process.words, stdin=pipe, stdout=pipe, stderr=pipe, env=self._process.environment, process_group=0
        ) as beside:
            try:
                out, err = _answer(beside)
            except BaseException:
                beside.kill()
                raise
        try:
            answer = json.loads(out)
        except ValueError:
            return self._failed(f"the search for the cause ended early ({_ending(beside.returncode, err)})")
        if "fault" in answer:
            return self._failed(f"tdbg failed while looking for the cause ({answer['fault']})")
        return list(answer["lines"])

    def _failed(self, what: str) -> list[str]:
        sentence = f"{what}; your program ended as it would have alone. Try again: {self._again}"
        if not self._as_json:
            return [f"tdbg: {sentence}"]
        return [json.dumps({"trace": str(self._trace), "verdict": "unknown", "coverage": {"notes": [sentence]}})]


def _answer(beside: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Reads all that the process writes. Its standard input stays open meanwhile, for the process ends with that."""
    kept, beside.stdin = beside.stdin, None
    try:
        try:
            return beside.communicate(timeout=_SILENT)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                if sys.stderr.isatty():
                    print("tdbg: looking for the cause (Ctrl-C leaves it for later) ...", file=sys.stderr, flush=True)
        return beside.communicate(timeout=LONGEST - _SILENT)
    finally:
        if kept is not None:
            kept.close()


def _ending(status: int, err: bytes) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"by {signal.Signals(-status).name}"
    said = err.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"with status {status}"


@contextlib.contextmanager
def _signals_of_nobody() -> Iterator[None]:
    """Takes over the signals: the program is over, and so are its timers and handlers. What would end it ends the
    search instead."""
    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError, AttributeError, OSError):  # not on the main thread; not every system has all
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for known, handler in before.items():
            if handler is not None:  # else it was not set from Python, and cannot be
                signal.signal(known, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
