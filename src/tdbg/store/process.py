"""Finds the processes that write to a trace: who they are and whether they still run."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tdbg.errors import TdbgError
from tdbg.plain_text import plain
from tdbg.store.format import END_JSON, NAME, PROCESS_JSON, SCHEMAS, TRACE_JSON, VERSION
from tdbg.store.plain_files import is_plain_folder, read_json

_START_TOLERANCE = 5.0  # seconds; the kernel tells the boot time in whole seconds, and clocks are adjusted


@dataclass(slots=True)
class ProcessInfo:
    """One writing process: what it said of itself when it began (``info``) and when it ended (``end``)."""

    index: int
    folder: Path
    info: dict[str, Any]
    end: dict[str, Any] | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def state(self) -> str:
        """``ended``, ``running``, ``died``, or ``unknown`` for a process of another machine that has not ended."""
        if self.end is not None:
            return "ended"
        if self.info.get("host") != socket.gethostname():
            return "unknown"
        return "running" if _is_running(self.info) else "died"

    @property
    def stopped(self) -> str:
        """Why it stopped recording while the program went on; empty when it did not."""
        return str((self.end or {}).get("stopped") or "")

    def end_counts(self, name: str) -> dict[str, int]:
        """A table of counts in ``end.json``; empty when it is missing or something else."""
        counts = (self.end or {}).get(name)
        if not isinstance(counts, dict):
            return {}
        return {table: count for table, count in counts.items() if table in SCHEMAS and isinstance(count, int)}

    def refresh(self) -> None:
        """Looks again whether the process has ended."""
        if self.end is None and os.path.lexists(self.folder / END_JSON):
            self.end = self._read(END_JSON)

    def _read(self, file: str) -> dict[str, Any]:
        try:
            said = read_json(self.folder / file)
            wrong = sorted(key for key, value in said.items() if not _is_as_expected(key, value))
            if wrong:
                self._note(f"{self.name}/{file} has no usable {', '.join(wrong)}.")
            return {key: value for key, value in said.items() if key not in wrong and value is not None}
        except (OSError, ValueError) as error:
            self._note(f"{self.name}/{file} cannot be read ({error}); what it contained is unknown.")
            return {}

    def _note(self, sentence: str) -> None:
        if sentence not in self.problems:
            self.problems.append(sentence)


def find_processes(trace: Path, known: list[ProcessInfo]) -> list[ProcessInfo]:
    """The processes of a trace, those already known first and in place, new ones by the time they began."""
    seen = {process.folder for process in known}
    new = [ProcessInfo(0, folder, {}) for folder in trace.iterdir() if folder not in seen and _is_process(folder)]
    for process in new:
        process.info = process._read(PROCESS_JSON) or _info_from_name(process.name)
    new.sort(key=lambda process: (_as_int(process.info.get("started")), process.name))
    processes = [*known, *new]
    for index, process in enumerate(processes):
        process.index = index
        process.refresh()
    return processes


def _is_process(folder: Path) -> bool:
    is_named = plain(folder.name) == folder.name
    return is_named and is_plain_folder(folder) and os.path.lexists(folder / PROCESS_JSON)


def check_version(trace: Path) -> None:
    """TdbgError unless ``trace.json`` says that this is a trace that this tdbg can read."""
    path = trace / TRACE_JSON
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise TdbgError(
            f"This folder is not a tdbg trace (it has no {TRACE_JSON}); record one with: tdbg run train.py  ({trace})"
        ) from None
    except (OSError, ValueError) as error:
        raise TdbgError(
            f"The trace's {TRACE_JSON} cannot be read ({error}); if the rest is intact, write "
            f'{{"format":"{NAME}","version":{VERSION}}} into it: {path}'
        ) from error
    version = content.get("version")
    if content.get("format") != NAME or not isinstance(version, int):
        raise TdbgError(f"This folder is not a tdbg trace (its {TRACE_JSON} names a different format): {trace}")
    if version > VERSION:
        raise TdbgError(
            f"This trace is of format version {version} and this tdbg reads up to version {VERSION}; "
            f"install a newer tdbg with: pip install --upgrade tdbg  ({trace})"
        )


def _info_from_name(name: str) -> dict[str, Any]:
    """A folder is named HOST-PID-STARTED, which saves the essentials when process.json is damaged."""
    host, _, rest = name.rpartition("-")
    host, _, pid = host.rpartition("-")
    return {"host": host, "pid": _as_int(pid), "started": _as_int(rest)}


_NUMBERS = frozenset(["pid", "started", "ended", "ring", "events", "dropped", "values_dropped", "waits", "unwritten"])
_TEXTS = frozenset(["host", "mode", "how", "stopped", "cluster", "task"])
_COUNTS = frozenset(["rows", "lost", "faults"])
_MOST_NUMBER = 1 << 62


def _is_as_expected(key: str, value: Any) -> bool:
    """Whether what a process said of itself is of the kind that readers rely on; it need not be said."""
    if value is None:
        return True
    if key in _NUMBERS:
        return _is_count(value)
    if key in _TEXTS:
        return isinstance(value, str)
    if key == "argv":
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if key in _COUNTS:
        return isinstance(value, dict) and all(map(_is_count, value.values()))
    if key in ("versions", "filters"):
        return isinstance(value, dict) and all(isinstance(text, str | None) for text in value.values())
    if key == "steps":
        return isinstance(value, list) and len(value) == 3 and all(one is None or _is_count(one) for one in value)
    return True


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -1 <= value <= _MOST_NUMBER


def _as_int(value: object) -> int:
    try:
        return int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return 0


def _is_running(info: dict[str, Any]) -> bool:
    pid = _as_int(info.get("pid"))
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    began = _linux_start(pid)
    # A process number is given to other programs later: such a one began after this trace did.
    return began is None or began <= _as_int(info.get("started")) / 1e9 + _START_TOLERANCE


def _linux_start(pid: int) -> float | None:
    """When a process began, in seconds since the epoch, infinity for a zombie, None where that cannot be told."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = next(line for line in Path("/proc/stat").read_bytes().splitlines() if line.startswith(b"btime "))
        if fields[0] in (b"Z", b"X"):
            return float("inf")
        return int(boot.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None
