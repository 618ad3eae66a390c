"""A trace in, the verdict out: where bad values began, the user's line, why, and how far they spread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tdbg.model import Flag, Frame, Phase
from tdbg.query.causes import Cause, find_cause
from tdbg.query.lineage import Lineage
from tdbg.query.origin import find_origin
from tdbg.query.program import Op, Program, joined, short_path
from tdbg.query.reach import Reach, find_reach
from tdbg.query.rows import IS_BAD, Row, Rows
from tdbg.store.reader import Trace

_MOST_BAD_ROWS, _MOST_TROUBLE = 50_000, 2_000


@dataclass(frozen=True, slots=True)
class InputFact:
    """One input of the origin op: its numbers and where it came from."""

    index: int
    row: Row
    op: Op
    frame: Frame | None
    is_given: bool = False  # an array or a constant of the program, that no op made

    def as_text(self) -> str:
        row = self.row
        numbers = "not measured"
        if row.min is not None:
            zeros = f" ({row.zero:,} exact zero{'s' if row.zero > 1 else ''})" if row.zero else ""
            numbers = f"min {row.min:.6g}, max {row.max:.6g}{zeros}"
        elif row.zero is not None:
            numbers = f"{row.negative:,} negative, {row.zero:,} zero, {row.positive:,} positive of {row.elements:,}"
        origin = ", given" if self.is_given else f", from {self.op.type}"
        where = f", {short_path(self.frame.file)}:{self.frame.line}" if self.frame else ""
        return f"input {self.index}: {numbers}{origin}{where}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer. ``origin`` is None for a run without trouble."""

    trace: str
    looked_at: str
    origin: Row | None = None
    op: Op | None = None
    frame: Frame | None = None
    line: str = ""
    cause: Cause | None = None
    inputs: tuple[InputFact, ...] = ()
    reach: Reach | None = None
    benign: int = 0
    blind: str = ""  # why nothing can be said, when nothing was looked at
    caveats: tuple[str, ...] = field(default=())

    @property
    def is_trouble(self) -> bool:
        return self.origin is not None

    def as_lines(self, width: int = 100) -> list[str]:
        if self.origin is None or self.op is None:
            lines = [f"tdbg: {self.blind or f'no bad values found in {self.looked_at}'}"]
            if self.benign:
                lines.append(f"    {self.benign:,} infinite values came and went without harm (masks and the like)")
            return [*lines, *(f"    note: {text}" for text in self.caveats[:3])]
        row = self.origin
        loop = f", iteration {row.iteration}" if row.iteration >= 0 else ""
        phase = {Phase.BACKWARD: " in the gradient", Phase.UPDATE: " in the update"}.get(self.op.phase, "")
        where = f"step {row.step}{loop}, event #{row.seq:,}"
        lines = [f"tdbg: first bad value at {where}: {self._what()} → {row.bad_text()}{phase}"]
        if self.frame is not None:
            text = f"  {self.line}" if self.line else ""
            lines.append(_cut(f" -> {short_path(self.frame.file)}:{self.frame.line}{text}", width))
        if self.cause is not None and self.cause.name != "unknown":
            fix = f"; fix: {self.cause.fix}" if self.cause.fix else ""
            lines.append(f"    {self.cause.reason}{fix}")
        lines += [_cut(f"    {fact.as_text()}", width) for fact in self.inputs[:2]]
        if self.reach is not None and self.reach.as_text():
            lines.append(_cut(f"    reached: {self.reach.as_text()}", width))
        if self.caveats:
            lines.append(_cut(f"    note: {joined(self.caveats)}", width))
        return lines[:8]

    def _what(self) -> str:
        assert self.op is not None and self.origin is not None
        if self.origin.is_input:
            return f"input {self.op.name}" if self.op.graph >= 0 else f"input {self.origin.slot} of {self.op.type}"
        return self.op.type

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {
            "trace": self.trace,
            "trouble": self.is_trouble,
            "looked_at": self.looked_at,
            "blind": self.blind or None,
            "benign": self.benign,
            "notes": list(self.caveats),
        }
        if self.origin is None or self.op is None or self.cause is None:
            return result
        row = self.origin
        names = ("elements", "negative", "zero", "positive", "neg_inf", "pos_inf", "nan", "min", "max", "mean", "std")
        result["origin"] = {
            "seq": row.seq,
            "step": row.step,
            "iteration": row.iteration if row.iteration >= 0 else None,
            "op": self.op.type,
            "name": self.op.name,
            "slot": row.slot,
            "phase": self.op.phase.label,
            "dtype": row.label,
            **{name: getattr(row, name) for name in names},
        }
        if self.frame is not None:
            result["line"] = {
                "file": self.frame.file,
                "line": self.frame.line,
                "function": self.frame.function,
                "text": self.line,
            }
        result["cause"] = {"name": self.cause.name, "reason": self.cause.reason, "fix": self.cause.fix}
        result["inputs"] = [
            {"index": fact.index, "op": fact.op.type, **{name: getattr(fact.row, name) for name in names}}
            for fact in self.inputs
        ]
        result["reached"] = self.reach.as_dict() if self.reach else None
        return result


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def explain(trace: Trace) -> Verdict:
    """The first trouble of a trace, followed back to where it began."""
    rows = Rows(trace)
    caveats = tuple(_caveats(trace, rows))
    looked_at = _looked_at(trace)
    # Where only some ops were recorded, what an infinity led to may be missing: it counts as trouble then.
    is_partial = any(any(process.info.get("filters", {}).values()) for process in trace.processes)
    trouble = _first_trouble(rows, is_partial)
    if trouble is None:
        benign = rows.query(f"SELECT count(*) FROM tensors WHERE {IS_BAD}")[0][0]
        return Verdict(str(trace.path), looked_at, benign=benign, blind=_blind(trace), caveats=caveats)
    process, step = trouble
    program = Program(trace, process)
    bad = rows.select(process, f"{IS_BAD} AND step <= ?", [step], f"ORDER BY seq DESC LIMIT {_MOST_BAD_ROWS}")[::-1]
    here = [row for row in bad if row.step == step and (is_partial or _is_trouble(row, program.ops[row.op]))]
    origin = find_origin(here[:_MOST_TROUBLE], Lineage(rows, program, process, bad), program)
    op = program.ops[origin.op]
    inputs = _input_facts(origin, op, rows, program, process)
    frame = program.user_frame(op)
    return Verdict(
        trace=str(trace.path),
        looked_at=looked_at,
        origin=origin,
        op=op,
        frame=frame,
        line=program.line_text(frame) if frame else "",
        cause=_cause(op, origin, inputs, program),
        inputs=tuple(inputs),
        reach=find_reach(rows, program, process, origin),
        caveats=caveats,
    )


def _first_trouble(rows: Rows, is_partial: bool) -> tuple[int, int] | None:
    """(process, step) of the first trouble; the condition is that of ``_is_trouble``."""
    found = rows.query(
        f"""
        SELECT t.process, t.step FROM tensors t JOIN ops o USING (process, op)
        WHERE {IS_BAD}
          AND ({is_partial} OR t.nan IS NULL OR t.nan > 0 OR t.elements = 1
               OR o.phase IN ({int(Phase.BACKWARD)}, {int(Phase.UPDATE)}))
          AND NOT (o.type = 'Const' AND t.nan = 0)
        ORDER BY t.step, t.time LIMIT 1
        """
    )
    return (found[0][0], found[0][1]) if found else None


def _is_trouble(row: Row, op: Op) -> bool:
    """A NaN, or an infinity that reached a gradient, an update or a scalar: masks and infinite minima do none of it."""
    if op.type == "Const" and row.nan == 0:
        return False
    return row.nan is None or row.nan > 0 or row.elements == 1 or op.phase in (Phase.BACKWARD, Phase.UPDATE)


def _cause(op: Op, origin: Row, inputs: list[InputFact], program: Program) -> Cause:
    if origin.is_input:
        kind = "nan_in_data" if origin.nan else "inf_in_data"
        return Cause(kind, "the value was bad when it came in", "look at where this data is read or computed")
    if op.type == "ReadVariableOp":
        if origin.step == 0:
            return Cause("bad_initial_weights", f"variable {program.variable_of(op)} is bad before any update", "")
        return Cause(
            "unknown", f"variable {program.variable_of(op)} came out of the update of step {origin.step - 1} bad", ""
        )
    return find_cause(op, origin, [fact.row for fact in inputs])


def _input_facts(origin: Row, op: Op, rows: Rows, program: Program, process: int) -> list[InputFact]:
    """The inputs as they were: kept beside the bad output, or else their own rows."""
    if origin.is_input:
        return []
    evidence = rows.select(
        process,
        f"op = ? AND execution = ? AND iteration = ? AND seq > ? AND flags & {int(Flag.EVIDENCE)} != 0",
        [op.number, origin.execution, origin.iteration, origin.seq],
        "ORDER BY seq LIMIT 16",
    )
    by_slot: dict[int, Row] = {}
    for row in evidence:
        by_slot.setdefault(row.slot, row)
    lineage = _before(origin, op, rows, program, process)
    made_by: dict[int, tuple[Op, Row | None]] = {
        index: lineage.real_maker(maker, row) for index, maker, row in lineage.inputs(origin)
    }
    facts = []
    for index in sorted(by_slot.keys() | made_by.keys()):
        maker, seen = made_by.get(index, (op, None))
        known = by_slot.get(index) or seen
        if known is not None:
            is_given = seen is not None and seen.is_input and maker.graph < 0
            facts.append(InputFact(index, known, maker, program.user_frame(maker), is_given))
    return facts


def _before(origin: Row, op: Op, rows: Rows, program: Program, process: int) -> Lineage:
    """A lineage over all rows, good ones too, that the origin op can have read, and those that its call was given."""
    call = rows.query(f"SELECT inputs FROM executions WHERE process = {process} AND execution = ?", [origin.execution])
    given = [int(tensor) for tensor in (call[0][0] if call else [])]
    made_in = rows.query(f"SELECT execution FROM ends WHERE process = {process} AND list_has_any(outputs, ?)", [given])
    calls = [str(execution) for (execution,) in made_in] + ([str(origin.execution)] if origin.execution >= 0 else [])
    read = Lineage(rows, program, process, []).inputs(origin) if op.graph >= 0 else []
    # Constants, and all that a dataset computes, belong to no execution: take only what the op itself read.
    where = [f"execution = -1 AND op = {maker.number}" for _, maker, _ in read]
    where += [f"tensor IN ({', '.join(map(str, given))})"] if given else []
    where += [f"execution IN ({', '.join(calls)})"] if calls else []
    known = rows.select(process, " OR ".join(where), None, "ORDER BY seq") if where else []
    return Lineage(rows, program, process, known)


def _blind(trace: Trace) -> str:
    modes = {str(process.info.get("mode")) for process in trace.processes}
    if modes <= {"none", "shape"}:
        return f"mode {min(modes)} does not look for bad values; record with --mode numerics, or health"
    if trace.row_count("tensors") == 0:
        return "not one tensor was recorded, so nothing is known of bad values; tdbg info says what was"
    return ""


def _looked_at(trace: Trace) -> str:
    steps = trace.rollup("steps")["step"]
    count = len(set(steps.to_pylist()))
    return f"{trace.row_count('tensors'):,} tensors of {count:,} step{'s' if count != 1 else ''}"


def _caveats(trace: Trace, rows: Rows) -> list[str]:
    """What the verdict did not look at."""
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
