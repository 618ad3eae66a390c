"""The TRACE argument that most commands share: a path, or the newest trace of the current folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

from tdbg.errors import TdbgError

if TYPE_CHECKING:
    from tdbg.query.trace import Trace


def add_trace_argument(parser: ArgumentParser) -> None:
    parser.add_argument("trace", nargs="?", metavar="TRACE", help="a trace (default: the newest one in this folder)")


def open_trace(given: str | None) -> Trace:
    """TdbgError when there is none or it cannot be read."""
    from tdbg.query.trace import Trace

    return Trace.open(_trace_in(Path(given)) if given else newest_trace(Path(".")))


def _trace_in(path: Path) -> Path:
    """A folder that is no trace but holds some, such as a dump root: the newest of them."""
    holds_some = not (path / "trace.json").exists() and any(path.glob("*.tdbg/trace.json"))
    return newest_trace(path) if holds_some else path


def newest_trace(folder: Path) -> Path:
    found = [path for path in folder.glob("*.tdbg") if (path / "trace.json").is_file()]
    if not found:
        raise TdbgError("there is no trace here; record one with: tdbg run train.py")
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name))
