"""``--output`` in, a path out at which a trace can be written; what stands against it is said before the run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tdbg.errors import TdbgCommandError
from tdbg.store.place import check_place


def choose_output(given: str | None, program: str, force: bool) -> Path:
    """Absolute, because the program may change its folder before it imports a framework."""
    given = given or os.environ.get("TDBG_OUTPUT")
    path = Path(given).absolute() if given else _new_name(program)
    check_place(path)
    if os.path.lexists(path) and not _is_empty_folder(path):
        if not force:
            raise TdbgCommandError(f"this exists already and is not overwritten without --force: {given}")
        _remove(path)
    return path


def _new_name(program: str) -> Path:
    """``tdbg-train.py.4131.tdbg`` in the current folder, never one that is there already."""
    base, n = f"tdbg-{program}.{os.getpid()}", 1
    path = Path.cwd() / f"{base}.tdbg"
    while os.path.lexists(path):
        n += 1
        path = path.with_name(f"{base}-{n}.tdbg")
    return path


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _remove(path: Path) -> None:
    if not _is_trace(path):
        raise TdbgCommandError(f"--force overwrites traces only, and this is none; remove it yourself: {path}")
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise TdbgCommandError(f"the old trace cannot be removed: {error.strerror or error}: {path}") from error


def _is_trace(path: Path) -> bool:
    # The store's own reader would tell too, but loads Arrow and numpy into the program's process before the program.
    try:
        content = json.loads((path / "trace.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == "tdbg"
