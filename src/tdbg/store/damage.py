"""Says in one sentence which damaged file is behind an exception. Loads neither Arrow nor DuckDB."""

from __future__ import annotations

from tdbg.plain_text import plain

_READERS = ("_duckdb", "duckdb", "pyarrow.lib")
_LONGEST = 200


def reason_of(error: Exception) -> str:
    """What a library says about a file, which may quote the file's bytes, on one line."""
    lines = str(error).strip().splitlines()
    return plain(lines[0])[:_LONGEST] if lines else type(error).__name__


def damage_in(fault: Exception) -> str | None:
    """None for a fault of tdbg's own. Whoever changes a file can make its checksum right, so damage may show only when
    the libraries that read the files come to it."""
    if type(fault).__module__ not in _READERS:
        return None
    return (
        "a file of this trace is damaged, so this cannot be read; record again, or see what is left: tdbg info "
        f"({reason_of(fault)})"
    )
