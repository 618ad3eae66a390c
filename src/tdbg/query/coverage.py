"""A trace in; what of the program it holds, and what it cannot tell, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tdbg.query.rows import Rows
from tdbg.store.reader import Trace


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was looked at. ``blind``: why nothing can be said of bad values, when that is so."""

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
    return Coverage(
        trace.row_count("tensors"),
        len(set(trace.rollup("steps")["step"].to_pylist())),
        tuple(sorted({str(info.get("mode")) for info in infos})),
        any(any(info.get("filters", {}).values()) for info in infos),
        _blind(trace),
        tuple(_notes(trace, rows)),
    )


def _blind(trace: Trace) -> str:
    modes = {str(process.info.get("mode")) for process in trace.processes}
    if modes <= {"none", "shape"}:
        return f"mode {min(modes)} does not look for bad values; record with --mode numerics, or health"
    if trace.row_count("tensors") == 0:
        return "not one tensor was recorded, so nothing is known of bad values; tdbg info says what was"
    return ""


def _notes(trace: Trace, rows: Rows) -> list[str]:
    found = rows.query("SELECT kind, sum(count), any_value(text) FROM notes GROUP BY kind ORDER BY kind")
    texts = [f"{count:,} {text}" if kind.endswith("dropped") else text for kind, count, text in found]
    for process in trace.processes:
        info = process.info
        used = {name: value for name, value in info.get("filters", {}).items() if value}
        first, last, every = info.get("steps", [0, None, 1])
        if first or last is not None or every != 1:
            used["steps"] = f"{first}:{last if last is not None else ''} every {every}"
        if info.get("ring"):
            used["ring"] = f"last {info['ring']:,} events"
        if used:
            texts.append("only part was recorded (" + ", ".join(f"{k} {v}" for k, v in used.items()) + ")")
            break
    return texts + trace.problems[:2]
