"""Makes traces of what other debuggers wrote, in the formats that ``tdbg import`` knows.

What is opened without importing it first is imported into a cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tdbg.commands.progress import Progress
from tdbg.errors import TdbgError

_WITH_VALUES = "-values.tdbg"


class Outcome(NamedTuple):
    """What was imported, in words."""

    text: str
    losses: int


class Format(NamedTuple):
    """One format: how to know it, and how to read it. Both load what is heavy only when called."""

    name: str
    title: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, Path, Callable[[float], None], bool], Outcome]  # the last: whether all values are kept


def _is_debug_events(path: Path) -> bool:
    try:
        return path.is_dir() and any(path.glob("tfdbg_events.*.metadata"))
    except OSError:
        return False


def _read_debug_events(path: Path, output: Path, progress: Callable[[float], None], keep_values: bool) -> Outcome:
    from tdbg.formats.debug_events.importer import import_debug_events

    done = import_debug_events(path, output, progress)
    processes = f" of {done.processes} processes" if done.processes != 1 else ""
    return Outcome(f"{done.executions:,} executions and {done.tensors:,} tensors{processes}", done.losses)


def _are_dumps(path: Path) -> bool:
    from tdbg.formats.dumps.folder import is_dump_root

    try:
        return path.is_dir() and is_dump_root(path)
    except OSError:
        return False


def _read_dumps(path: Path, output: Path, progress: Callable[[float], None], keep_values: bool) -> Outcome:
    from tdbg.formats.dumps.importer import import_dumps

    done = import_dumps(path, output, progress, keep_values)
    return Outcome(f"{done.runs:,} run{'s' if done.runs != 1 else ''} and {done.tensors:,} tensors", done.losses)


FORMATS = (
    Format("tfdbg2", "DebugEvents of TensorFlow's Debugger V2", _is_debug_events, _read_debug_events),
    Format("tfdbg1", "dump roots of TensorFlow's Session debugger", _are_dumps, _read_dumps),
)


def find_format(path: Path) -> Format:
    """Finds the format of a path; TdbgError when it is none that tdbg knows."""
    found = next((one for one in FORMATS if one.recognises(path)), None)
    if found is not None:
        return found
    if not os.path.lexists(path):
        raise TdbgError(f"there is nothing here to import: {path}")
    if (path / "trace.json").is_file():
        raise TdbgError(f"this is a trace already; open it with: tdbg why {path}")
    if path.is_file():
        raise TdbgError(f"this is a file; name the folder that a debugger wrote: {path}")
    known = ", ".join(one.title for one in FORMATS)
    raise TdbgError(f"this folder contains nothing that tdbg can import (it knows: {known}): {path}")


def cached_import(path: Path, keep_values: bool = False) -> Path | None:
    """Gives the trace that was made of this path, now or before; None when the path is no format to import. With
    ``keep_values`` all elements are in it, also of tensors that are not bad."""
    if (path / "trace.json").is_file():
        return None
    known = next((one for one in FORMATS if one.recognises(path)), None)
    if known is None:
        return None
    trace = _cache_folder() / f"{path.resolve().name}-{_key(path)}{_WITH_VALUES if keep_values else '.tdbg'}"
    if not (trace / "trace.json").is_file():
        _fill(known, path, trace, keep_values)
        print(f"tdbg: imported {path} ({known.name}) into {trace}", file=sys.stderr)
    else:
        print(f"tdbg: {path} was already imported into {trace}", file=sys.stderr)
    return trace


def _fill(known: Format, path: Path, trace: Path, keep_values: bool) -> None:
    try:
        trace.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TdbgError(
            f"cannot create the cache folder ({error.strerror}); set XDG_CACHE_HOME: {trace.parent}"
        ) from error
    for older in trace.parent.glob(f"{path.resolve().name}-{_place(path)}-*.tdbg"):
        if older.name.endswith(_WITH_VALUES) == keep_values:
            shutil.rmtree(older, ignore_errors=True)  # of the same folder before it changed
    try:
        with Progress(f"importing {path}") as progress:
            known.read(path, trace, progress, keep_values)
    except TdbgError:
        if not (trace / "trace.json").is_file():  # else another process was quicker
            raise


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "tdbg" / "imports"


def _place(path: Path) -> str:
    return hashlib.blake2b(str(path.resolve()).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


def _key(path: Path) -> str:
    """Gives a text that is the same while the folder's place and the names, sizes and times of its files are."""
    from tdbg import __version__

    digest = hashlib.blake2b(__version__.encode(), digest_size=8)
    for file in sorted(path.iterdir()):
        about = file.lstat()
        digest.update(f"{file.name}\0{about.st_size}\0{about.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return f"{_place(path)}-{digest.hexdigest()}"
