"""Finds the token of a server: that of the user's last one at the same port, so that its pages go on, or a new one.

Tokens lie in a file that only the user can read, in the folder of tdbg's state. One that another user may have heard is
not used again: while another program has the port, a browser that still shows the page sends its cookie there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tdbg.shell.settings import state_folder

_FILE = "page-tokens.json"
_KEPT = 7 * 86_400  # seconds after its last start
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,64}")
_MOST = 100_000  # bytes


def new_token() -> str:
    return secrets.token_urlsafe(24)


def token_of(host: str, port: int) -> str:
    """Gives the token of a server that has this port now. Where nothing can be kept it is a new one."""
    with _opened() as known:
        kept = known.get(f"{host}:{port}")
        token = kept["token"] if kept else new_token()
        known[f"{host}:{port}"] = {"token": token, "pid": os.getpid(), "time": int(time.time())}
    return token


def forget(host: str, port: int) -> None:
    """Forgets the token of a port that is taken, unless a server of this user has it: a stranger may have heard it."""
    with _opened() as known:
        kept = known.get(f"{host}:{port}")
        if kept and not _is_own(kept["pid"]):
            del known[f"{host}:{port}"]


@contextlib.contextmanager
def _opened() -> Iterator[dict[str, Any]]:
    """Gives what is kept, while nobody else writes it, and writes it back."""
    known: dict[str, Any] = {}
    try:
        import fcntl

        file = _open(state_folder())
    except (ImportError, AttributeError, OSError):  # not on every system
        yield known  # it is forgotten
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = _valid(file.read(_MOST))
        yield known
        with contextlib.suppress(OSError):
            file.seek(0)
            file.truncate()
            file.write(json.dumps(known))


def _open(folder: Path) -> Any:
    """Opens the file; OSError unless it is a plain file of this user that nobody else can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError
    return os.fdopen(descriptor, "r+", encoding="utf-8")


def _valid(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: kept for name, kept in found.items() if _is_valid(kept)}


def _is_valid(kept: Any) -> bool:
    return (
        isinstance(kept, dict)
        and isinstance(kept.get("token"), str)
        and _TOKEN.fullmatch(kept["token"]) is not None
        and type(kept.get("pid")) is int
        and type(kept.get("time")) is int
        and 0 <= time.time() - kept["time"] < _KEPT
    )


def _is_own(pid: int) -> bool:
    """Whether a process of this user has the number."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return pid > 1
