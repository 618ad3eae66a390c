"""Tells what of a program a trace holds, and what it cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.store.format import SEALED_TABLES
from tdbg.store.process import ProcessInfo


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a trace holds. ``blind``: why nothing can be said of bad values, when that is so."""

    tensors: int
    steps: int
    modes: tuple[str, ...]
    is_partial: bool  # only some ops, by a filter
    blind: str
    notes: tuple[str, ...]

    def as_text(self) -> str:
        return f"{self.tensors:,} tensors of {self.steps:,} step{'s' if self.steps != 1 else ''}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "tensors": self.tensors,
            "steps": self.steps,
            "modes": list(self.modes),
            "blind": self.blind or None,
            "notes": list(self.notes),
        }


def find_coverage(trace: Trace, rows: Rows) -> Coverage:
    infos = [process.info for process in trace.processes]
    filtered = any(is_filtered(process) for process in trace.processes)
    tensors = rows.count()
    return Coverage(
        tensors,
        len(set(trace.rollup("steps")["step"].to_pylist())),
        tuple(sorted({str(info.get("mode")) for info in infos})),
        filtered,
        _blind(trace, tensors),
        tuple(_notes(trace, rows)),
    )


def is_filtered(process: ProcessInfo) -> bool:
    """Tells whether only some ops were recorded."""
    return any((process.info.get("filters") or {}).values())


def unseen_before(rows: Rows, process: ProcessInfo, step: int) -> str:
    """Says where bad values of a step may have begun without having been recorded; "" when they cannot."""
    first, _, every = process.info.get("steps") or [0, None, 1]
    if _is_cut_off(rows, process, step):
        return f"bad values were already there at step {step}, where the ring begins; earlier steps were overwritten"
    if step <= first and first > 0:
        return f"nothing before step {first} was recorded: bad values may have begun there"
    if every > 1 and step > first:
        between = f"steps {step - every + 1} to {step - 1} were" if every > 2 else f"step {step - 1} was"
        return f"{between} not recorded: bad values may have begun there"
    return ""


def _is_cut_off(rows: Rows, process: ProcessInfo, step: int) -> bool:
    """Tells whether a ring was full and its first step is this one."""
    size = process.info.get("ring")
    if not size:
        return False
    counts = [
        rows.query(f"SELECT count(*) FROM {table} WHERE process = {process.index}")[0][0] for table in SEALED_TABLES
    ]
    ((first,),) = rows.query(f"SELECT min(step) FROM tensors WHERE process = {process.index}")
    return sum(counts) >= size and first is not None and step <= first


UNREADABLE = "the recorded tensors cannot be read, so nothing is known about bad values"
BAD_UNREADABLE = "bad values were recorded, but the part of the trace that holds them cannot be read"


def _blind(trace: Trace, tensors: int) -> str:
    modes = {str(process.info.get("mode")) for process in trace.processes}
    if modes <= {"none", "shape"}:
        return f"mode {min(modes)} does not look for bad values; record with --mode numerics, or health"
    if tensors == 0 and any(process.end_counts("rows").get("tensors") for process in trace.processes):
        return UNREADABLE
    if tensors == 0:
        return "no tensors were recorded, so nothing is known about bad values; tdbg info shows what was"
    return ""


def _notes(trace: Trace, rows: Rows) -> list[str]:
    found = rows.query("SELECT kind, sum(count), any_value(text) FROM notes GROUP BY kind ORDER BY kind")
    texts = [f"{count:,} {text}" if kind.endswith("dropped") else text for kind, count, text in found]
    for process in trace.processes:
        info = process.info
        used = {name: value for name, value in info.get("filters", {}).items() if value}
        first, last, every = info.get("steps", [0, None, 1])
        if first or last is not None or every != 1:
            used["steps"] = f"{first}:{last if last is not None else ''}" + (f" every {every}" if every != 1 else "")
        if info.get("ring"):
            used["ring"] = f"last {info['ring']:,} events"
        if used:
            texts.append("only part was recorded (" + ", ".join(f"{k} {v}" for k, v in used.items()) + ")")
            break
    return texts + trace.problems[:2]
