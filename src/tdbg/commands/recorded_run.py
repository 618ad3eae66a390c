"""Runs a program and records it, writes its end to the trace, and prints the verdict.

Python ends a program in this order: its main code, its threads, its atexit handlers, last come first served. So tdbg
registers the verdict before the program starts, to come last, and closes the trace in a handler that it registers when
the main code is done: after the threads, which may compute until then, and before the program's own handlers, which
may hang. Threads that never end hold the trace open; all but its end is on disk by then, as after a crash.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from tdbg import recording
from tdbg.capture import faults
from tdbg.commands.run_page import PageBesideRun
from tdbg.commands.uncaught import hide_frames
from tdbg.commands.user_program import Program
from tdbg.commands.verdict_beside import VerdictBeside
from tdbg.marks import fitting

_INTERRUPTED_STATUS = 130


class RecordedRun:
    """Runs the program when it is called, once; exceptions of the program leave it as they are."""

    def __init__(
        self,
        program: Program,
        options: dict[str, Any],
        *,
        quiet: bool,
        as_json: bool,
        ignore: frozenset[str] = frozenset(),
        page: PageBesideRun | None = None,
    ) -> None:
        self._program, self._options = program, options
        self._quiet, self._as_json, self._page = quiet, as_json, page
        self._trace: Path = options["output"]
        shown = os.path.relpath(self._trace) if self._trace.is_relative_to(Path.cwd()) else str(self._trace)
        self._beside = VerdictBeside(self._trace, shown, as_json=as_json, ignore=ignore)
        self._pid = os.getpid()
        self._end: dict[str, Any] = {}

    def __call__(self) -> int:
        atexit.register(self._finish)
        with faults.guard("starting to record"):
            recording.begin_run(self._options)
        if self._page is not None:
            with faults.guard("starting the page"):
                self._page.start()
        body = self._program.enter()
        try:
            body()
        except SystemExit as error:
            self._ended("finished", _status(error.code))
            raise
        except KeyboardInterrupt:
            self._ended("interrupted", _INTERRUPTED_STATUS)
            hide_frames(RecordedRun.__call__.__code__)
            raise
        except BaseException:
            self._ended("exception", 1)
            hide_frames(RecordedRun.__call__.__code__)
            raise
        self._ended("finished", 0)
        return 0

    def _ended(self, how: str, status: int) -> None:
        self._end = {"how": how, "status": status}
        atexit.register(self._close)

    def _close(self) -> None:
        with faults.guard("closing the trace"):
            recording.end_recording(**self._end)

    def _finish(self) -> None:
        """Ends the run, as the last handler of all; a forked child that ends here has a part of the trace, and nothing
        to say."""
        if not self._quiet and os.getpid() == self._pid:
            self._say()
        if self._page is not None and os.getpid() == self._pid:
            with faults.guard("showing the page"):
                self._page.stay(is_interrupted=self._end.get("how") == "interrupted")
        if self._end.get("how") == "interrupted":
            _end_by_signal()

    def _say(self) -> None:
        with contextlib.suppress(Exception):
            sys.stdout.flush()  # what the program printed comes first; a failure is Python's to report
        lines = self._verdict()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            print(fitting("\n".join(lines), sys.stderr), file=sys.stderr, flush=True)

    def _verdict(self) -> list[str]:
        if (self._trace / "trace.json").exists():
            return self._beside.lines()
        from tdbg.frameworks import is_any_imported, titles

        text = "nothing was recorded"
        if not is_any_imported():
            text = f"this program did not use {titles()}, so {text}"
        nothing = {"trace": None, "verdict": "clean", "coverage": {"notes": [text]}}
        return [json.dumps(nothing) if self._as_json else f"tdbg: {text}"]


def _end_by_signal() -> None:
    """Reminds Python that it was interrupted, so that it ends by SIGINT once it has cleaned up.

    Python notes an unhandled KeyboardInterrupt in C, and forgets it when an extension module runs a piece of source
    code, as some do while they are imported.
    """
    import ctypes

    names: Any = ctypes.py_object({})
    run = ctypes.pythonapi.PyRun_String
    run.restype = ctypes.py_object
    with contextlib.suppress(KeyboardInterrupt, Exception):
        run(b"raise KeyboardInterrupt", 257, names, names)  # 257 is Py_file_input


def _status(code: object) -> int:
    """Gives the exit status that Python makes of the argument of SystemExit."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1
