"""A comparison of two traces in, lines for people out."""

from __future__ import annotations

from tdbg.query.diff import Diff, Parting, Side
from tdbg.query.program import short_path


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
    what = f"input {parting.slot} of {first.op.type}" if parting.is_input else first.op.type
    if parting.is_input and first.op.graph >= 0:
        what = f"input {first.op.name}"
    name = f" ({first.op.name})" if first.op.graph >= 0 and not parting.is_input else ""
    found = [f"tdbg: the runs part at step {parting.step}: {what}{name}: {parting.what} differ"]
    found += [_cut(f" -> {_place(first)}", width)]
    if second.source != first.source or (second.frame and first.frame and second.frame.line != first.frame.line):
        found.append(_cut(f"    in B: {_place(second)}", width))
    found += [f"    A: {_numbers(first)}", f"    B: {_numbers(second)}"]
    if 0 < parting.difference < float("inf"):
        allowed = "bits count" if diff.exact else f"rounding explains {parting.allowed:.1e}"
        found.append(f"    relative difference {parting.difference:.1e}; {allowed}")
    before = "nothing came before it" if not diff.compared else f"before it, {diff.compared:,} tensors are the same"
    return [*found, f"    {before}"]


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
