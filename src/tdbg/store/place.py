"""Checks that a trace can be written where it shall go, before anything has started.

Loads neither Arrow nor numpy: ``tdbg run`` asks before the user's program begins.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from tdbg.errors import TdbgError
from tdbg.store.plain_files import read_json

_HOW = "-o or tdbg.enable(output=...)"


def check_place(path: Path) -> None:
    """TdbgError when no trace can be made at this absolute path. Makes nothing: perhaps nothing will be recorded."""
    above = path if path.is_dir() else path.parent
    while not os.path.lexists(above):
        above = above.parent
    if not above.is_dir():
        raise TdbgError(f"cannot record there, because this is a file; choose another place with {_HOW}: {above}")
    if not os.access(above, os.W_OK | os.X_OK):
        raise TdbgError(
            f"cannot record there, because this folder is not writable; choose another place with {_HOW}: {above}"
        )


def new_name(program: str, folder: Path | None = None) -> Path:
    """``tdbg-train.py.4131.tdbg`` in a folder, the current one if none is named; never one that is there already."""
    base, n = f"tdbg-{program}.{os.getpid()}", 1
    path = (folder or Path.cwd()) / f"{base}.tdbg"
    while os.path.lexists(path):
        n += 1
        path = path.with_name(f"{base}-{n}.tdbg")
    return path


def make_room(path: Path, force: bool, how_to_force: str, cluster: str = "", task: str = "") -> None:
    """Sees to it that nothing is at the path: an old trace goes when it is told to, anything else stays.

    But a process that is a task of a cluster joins the trace that the other tasks of this cluster are writing.
    """
    check_place(path)
    if not os.path.lexists(path) or _is_empty_folder(path) or (cluster and _can_join(path, cluster, task)):
        return
    if not force:
        raise TdbgError(f"this already exists; to overwrite it, use {how_to_force}: {path}")
    if not _is_trace(path):
        raise TdbgError(f"{how_to_force} only overwrites traces, and this is not one; remove it yourself: {path}")
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise TdbgError(f"cannot remove the old trace ({error.strerror or error}): {path}") from error


def _can_join(path: Path, cluster: str, task: str) -> bool:
    """Whether every part of the trace is of this cluster, none is of this task, and one is still being written."""
    if not _is_trace(path):
        return False
    from tdbg.store.process import find_processes

    processes = find_processes(path, [])
    others = [process.info for process in processes]
    is_ours = all(info.get("cluster") == cluster and info.get("task") != task for info in others)
    return is_ours and (not others or any(process.state in ("running", "unknown") for process in processes))


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _is_trace(path: Path) -> bool:
    try:
        content = read_json(path / "trace.json")
    except (OSError, ValueError):
        return False
    return content.get("format") == "tdbg"


def _remove_abandoned(output: Path) -> None:
    """What is left of tries whose processes were killed."""
    for part in output.parent.glob(f"{glob.escape(output.name)}.*.part"):
        pid = part.name.removesuffix(".part").rpartition(".")[2]
        if pid.isdigit() and not _is_alive(int(pid)) and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def whole_or_not_at_all(output: Path) -> Iterator[Path]:
    """A folder to write a new trace into; when the block ends well it becomes ``output``, which must not exist, else it
    is removed. An OSError becomes a TdbgError."""
    part = output.with_name(f"{output.name}.{os.getpid()}.part")
    _remove_abandoned(output)
    try:
        yield part
        os.rename(part, output)
    except OSError as error:
        raise TdbgError(
            f"cannot write the trace ({error.strerror or error}); free some space or choose another place with -o: "
            f"{output}"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
