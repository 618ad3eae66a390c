"""Where a trace shall go in; an error out while the program has not started, when nothing can be written there."""

from __future__ import annotations

import os
from pathlib import Path

from tdbg.errors import TdbgError

_HOW = "-o or tdbg.enable(output=...)"


def check_place(path: Path) -> None:
    """TdbgError when no trace can be made at this absolute path. Makes nothing: perhaps nothing will be recorded."""
    above = path if path.is_dir() else path.parent
    while not os.path.lexists(above):
        above = above.parent
    if not above.is_dir():
        raise TdbgError(f"cannot record there, because this is a file; name another place with {_HOW}: {above}")
    if not os.access(above, os.W_OK | os.X_OK):
        raise TdbgError(
            f"cannot record there, because this folder is not writable; name another place with {_HOW}: {above}"
        )
