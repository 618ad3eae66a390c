"""Writes the comparison of two traces as lines for people."""

from __future__ import annotations

from tdbg.query.compare.answer import Diff, Parting, Side
from tdbg.query.trace.program import short_path


def lines(diff: Diff, width: int = 100) -> list[str]:
    found = _parting(diff, diff.parting, width) if diff.parting else [f"tdbg: {_same(diff)}"]
    return found + [_cut(f"    note: {note}", width) for note in diff.notes]


def _compared(diff: Diff) -> str:
    return f"{diff.compared:,} tensors of {diff.steps:,} step{'s' if diff.steps != 1 else ''}"


def _same(diff: Diff) -> str:
    if diff.measured == 0:
        return f"the same shapes and bad values in all {_compared(diff)}; numbers were not recorded"
    if diff.largest == 0:
        return f"the same numbers in all {_compared(diff)}"
    return f"the same but for rounding in all {_compared(diff)}; the largest relative difference is {diff.largest:.1e}"


def _parting(diff: Diff, parting: Parting, width: int) -> list[str]:
    first, second = parting.first, parting.second
    op = parting.side.op
    what = f"input {parting.slot} of {op.type}" if parting.is_input else op.type
    if parting.is_input and op.graph >= 0:
        what = f"input {op.name}"
    name = f" ({op.name})" if op.graph >= 0 and not parting.is_input else ""
    is_said = parting.what.endswith(" only") or not (first and second)  # bad values in A only; only in B
    differ = parting.what if is_said else f"{parting.what} differ"
    found = [f"tdbg: the runs diverge at step {parting.step}: {what}{name}: {differ}"]
    found += [_cut(f" -> {_place(parting.side)}", width)]
    if first and second and _is_elsewhere(first, second):
        found.append(_cut(f"    in B: {_place(second)}", width))
    found += [f"    {letter}: {_numbers(side)}" for letter, side in (("A", first), ("B", second)) if side]
    if 0 < parting.difference < float("inf"):
        allowed = "compared bit by bit" if diff.exact else f"rounding explains up to {parting.allowed:.1e}"
        found.append(f"    relative difference {parting.difference:.1e}; {allowed}")
    before = "nothing came before it" if not diff.compared else f"before it, {diff.compared:,} tensors are the same"
    return [*found, f"    {before}"]


def _is_elsewhere(first: Side, second: Side) -> bool:
    lines = [side.frame.line if side.frame else None for side in (first, second)]
    return second.source != first.source or (None not in lines and lines[0] != lines[1])


def _place(side: Side) -> str:
    where = f"{short_path(side.frame.file)}:{side.frame.line}" if side.frame else side.op.name
    return f"{where}  {side.source}".rstrip()


def _numbers(side: Side) -> str:
    row = side.row
    shape = f"event #{row.seq:,}, {row.label} {list(side.dims)}"
    if row.min is None:
        return f"{shape}, not measured"
    bad = f", {row.bad_text()}" if row.is_bad else ""
    counts = f"{row.negative:,} negative, {row.zero:,} zero, {row.positive:,} positive"
    return f"{shape}: min {row.min:.7g}, max {row.max:.7g}, mean {row.mean:.7g}, std {row.std:.7g}; {counts}{bad}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
