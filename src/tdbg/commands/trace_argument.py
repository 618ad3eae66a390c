"""Opens the TRACE that most commands take: a trace, a folder of TensorFlow's debugger, or the newest trace here."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

from tdbg.errors import TdbgError

if TYPE_CHECKING:
    from tdbg.query.trace.trace import Trace


def add_trace_argument(parser: ArgumentParser) -> None:
    text = "a trace, or a folder that TensorFlow's debugger wrote (default: the newest trace in this folder)"
    parser.add_argument("trace", nargs="?", metavar="TRACE", help=text)


def open_trace(given: str | None, keep_values: bool = False) -> Trace:
    """Opens a trace; TdbgError when there is none or it cannot be read."""
    from tdbg.query.trace.trace import Trace

    return Trace.open(trace_path(given, keep_values))


def trace_path(given: str | None, keep_values: bool = False) -> Path:
    """Finds where the trace lies; what is in another format is imported first, once, with all elements where they are
    asked for."""
    if not given:
        return newest_trace(Path("."))
    from tdbg.commands.import_formats import cached_import

    return cached_import(Path(given), keep_values) or _trace_in(Path(given))


def _trace_in(path: Path) -> Path:
    """Finds the newest trace in a folder that is no trace but holds some, such as a dump root."""
    holds_some = not (path / "trace.json").exists() and any(path.glob("*.tdbg/trace.json"))
    return newest_trace(path) if holds_some else path


def newest_trace(folder: Path) -> Path:
    found = [path for path in folder.glob("*.tdbg") if (path / "trace.json").is_file()]
    if not found:
        raise TdbgError("there is no trace here; record one with: tdbg run train.py")
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name))
