"""Gives the verdict on a trace: every place where bad values began, why, how far they spread, and what did no harm."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tdbg.frameworks import dialect_of
from tdbg.model import Frame, Phase
from tdbg.query.causes import Cause, find_cause
from tdbg.query.flow.call_sites import began_inside, is_variable_after_call
from tdbg.query.flow.compositions import unfold
from tdbg.query.flow.reach import NOWHERE, Reach, find_reach
from tdbg.query.rules import Alert, Health, find_health
from tdbg.query.trace.coverage import BAD_UNREADABLE, UNREADABLE, Coverage, find_coverage, unseen_before
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.query.trace.session_runs import SessionRuns
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.case import Case
from tdbg.query.verdict.input_facts import InputFact
from tdbg.query.verdict.reordering import note_on_constants
from tdbg.query.verdict.trouble import Harmless, Trouble
from tdbg.vocabulary import Kind

_MOST_ORIGINS = 8
_HIDDEN = ("where_trap", "clip_after_bad_op")  # bad in the forward pass, where something took it away again
_OUTSIDE = (Kind.PYTHON, Kind.RESTORE)  # values that no op computed


@dataclass(frozen=True, slots=True)
class Origin:
    """One place where bad values began."""

    process: int
    kind: str  # forward, backward, update or data
    row: Row
    op: Op
    frame: Frame | None
    source: str
    cause: Cause
    inputs: tuple[InputFact, ...]
    reach: Reach
    task: str = ""  # of a cluster: the one whose process it was
    run: int | None = None  # of a Session
    has_steps: bool = True  # a Session that trains nothing has runs alone

    @property
    def when(self) -> str:
        """``step 4``; of a Session ``step 4 (run 6)``, or ``run 6`` where no steps tell its runs apart."""
        if self.run is None:
            return f"step {self.row.step:,}"
        return f"step {self.row.step:,} (run {self.run:,})" if self.has_steps else f"run {self.run:,}"

    @property
    def is_hidden(self) -> bool:
        """Whether an op of the forward pass is told, though only the gradient shows what it made."""
        return self.kind == "backward" and self.op.phase != Phase.BACKWARD

    @property
    def what(self) -> str:
        if self.row.is_input:
            return f"input {self.op.name}" if self.op.graph >= 0 else f"input {self.row.slot} of {self.op.label}"
        if is_variable_after_call(self.op):
            return f"{dialect_of(self.op.framework).word('variable')} {self.op.name}"
        return self.op.label

    def as_dict(self) -> dict[str, Any]:
        row, frame, cause = self.row, self.frame, self.cause
        return {
            "kind": self.kind,
            "file": frame.file if frame else None,
            "line": frame.line if frame else None,
            "function": frame.function if frame else None,
            "source": self.source or None,
            "op_type": self.op.type,
            "op_name": self.op.name,
            "slot": row.slot,
            "step": row.step,
            "run": self.run,
            "iteration": row.iteration if row.iteration >= 0 else None,
            "process": self.process,
            "task": self.task or None,
            "seq": row.seq,
            "dtype": row.label,
            "numbers": row.numbers(),
            "cause": cause.name,
            "reason": cause.reason,
            "evidence": list(cause.evidence),
            "fix": cause.fix.as_dict() if cause.fix else None,
            "inputs": [
                {
                    "index": fact.index,
                    "op_type": fact.op.type,
                    "file": fact.frame.file if fact.frame else None,
                    "line": fact.frame.line if fact.frame else None,
                    **fact.row.numbers(),
                }
                for fact in self.inputs
            ],
            "reached": self.reach.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Benign:
    """Bad values that did no harm, at one place."""

    process: int
    reason: str
    row: Row
    op: Op
    frame: Frame | None
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "reason": self.reason,
            "file": self.frame.file if self.frame else None,
            "line": self.frame.line if self.frame else None,
            "op_type": self.op.type,
            "step": self.row.step,
            "process": self.process,
            "seq": self.row.seq,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer."""

    trace: str
    coverage: Coverage
    origins: tuple[Origin, ...] = ()
    benign: tuple[Benign, ...] = ()
    more_origins: int = 0  # that are not listed
    health: Health = field(default_factory=Health)
    harmless: Mapping[int, frozenset[int]] = field(default_factory=dict)  # by process: ops whose bad values did no harm
    harm_begins: Mapping[int, int] = field(default_factory=dict)  # by process: the first event that led to harm

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return self.health.alerts

    @property
    def name(self) -> str:
        """``unknown`` when nothing was looked at, so that nobody takes it for clean."""
        if self.origins or self.coverage.blind == BAD_UNREADABLE:
            return "bad_values"
        return "unhealthy" if self.alerts else "unknown" if self.coverage.blind else "clean"

    @property
    def first(self) -> Origin | None:
        """Where the first bad value began."""
        return self.origins[0] if self.origins else None

    @property
    def is_first_earliest(self) -> bool:
        """Whether nothing bad began before what is told first."""
        return all(self.origins[0].row.step <= one.row.step for one in self.origins)

    @property
    def infinite_results(self) -> tuple[Benign, ...]:
        """Infinities that no op of the program took in: what it printed, fetched or returned."""
        return tuple(one for one in self.benign if one.reason == "infinite_result")

    @property
    def is_trouble(self) -> bool:
        return self.name in ("bad_values", "unhealthy")

    @property
    def is_unreadable(self) -> bool:
        """Whether nothing can be said because the trace is damaged."""
        return not self.is_trouble and self.coverage.blind == UNREADABLE

    def as_dict(self) -> dict[str, Any]:
        return {
            "trace": self.trace,
            "verdict": self.name,
            "origins": [origin.as_dict() for origin in self.origins],
            "more_origins": self.more_origins,
            "benign": [one.as_dict() for one in self.benign],
            "alerts": [alert.as_dict() for alert in self.alerts],
            "rules_asked": list(self.health.asked),
            "rules_not_asked": dict(self.health.skipped),
            "coverage": self.coverage.as_dict(),
        }


def explain(trace: Trace, ignore: Collection[str] = (), rows: Rows | None = None) -> Verdict:
    """Follows all trouble of a trace back to where it began; ``ignore`` names health rules that are not asked."""
    rows = rows or Rows(trace)
    coverage = find_coverage(trace, rows)
    origins: list[Origin] = []
    benign: list[Benign] = []
    harmless: dict[int, frozenset[int]] = {}
    harm_begins: dict[int, int] = {}
    for process in sorted(rows.first_bad):
        program = Program(trace, process)
        trouble = Trouble(rows, program, process, coverage.is_partial)
        found = trouble.origins
        if not trouble.is_readable:
            coverage = replace(coverage, blind=BAD_UNREADABLE)
        unseen = unseen_before(rows, trace.processes[process], found[0].step) if found else ""
        if unseen:
            coverage = replace(coverage, notes=(*coverage.notes, unseen))
        chosen = found[: 1 if unseen else _MOST_ORIGINS]
        begun = [_origin(trace, rows, program, process, row, row.step < found[0].step) for row in chosen]
        origins += _with_runs(trace, process, begun)
        benign += [_benign(process, one, program) for one in trouble.harmless]
        harmless[process] = trouble.harmless_ops
        if trouble.harm_begins is not None:
            harm_begins[process] = trouble.harm_begins
    if not origins:
        coverage = replace(coverage, notes=(*coverage.notes, *_only_without_tdbg(trace, rows)))
    first_bad: dict[int, int] = {}
    for origin in origins:
        first_bad[origin.process] = min(origin.row.step, first_bad.get(origin.process, origin.row.step))
    origins = _one_for_each_line(origins)
    return Verdict(
        str(trace.path),
        coverage,
        tuple(origins[:_MOST_ORIGINS]),
        tuple(benign),
        max(0, len(origins) - _MOST_ORIGINS),
        find_health(trace, rows, coverage, ignore, first_bad),
        harmless,
        harm_begins,
    )


def _only_without_tdbg(trace: Trace, rows: Rows) -> Iterator[str]:
    """Says what may go wrong in the plain program and did not here."""
    for process in trace.processes:
        if process.info.get("exact") or process.info.get("imported"):
            continue
        sessions = SessionRuns(trace, process.index)
        note = note_on_constants(rows, Program(trace, process.index), process.index, sessions.asked)
        if note:
            yield note


def _origin(trace: Trace, rows: Rows, program: Program, process: int, row: Row, is_beside: bool) -> Origin:
    """Describes one. ``is_beside``: it is beside the trouble that is told first, which came later but spoilt the
    training."""
    case = unfold(Case(trace, rows, program, process, row))
    cause = find_cause(case)
    if cause.name == "unknown":
        cause = began_inside(rows, program, process, row, case.op) or cause
    reach = NOWHERE if is_beside else find_reach(rows, program, process, row)
    kind = _kind(row, case.op, cause)
    hidden = case.forward_case if case.is_backward and cause.name in _HIDDEN else None
    if hidden is not None and hidden.row.is_bad and hidden.row.step == row.step:  # it began there, before the gradient
        row, case = hidden.row, hidden
    task = str(trace.processes[process].info.get("task") or "")
    return Origin(process, kind, row, case.op, case.frame, case.source, cause, tuple(case.inputs), reach, task)


def _with_runs(trace: Trace, process: int, origins: list[Origin]) -> list[Origin]:
    """Tells moments as a Session's program knows them, where runs of Sessions are most of what was recorded."""
    sessions = SessionRuns(trace, process)
    if not origins or not sessions.are_most:
        return origins
    has_steps = len(trace.rollup("steps", process)) > 1
    return [replace(one, run=sessions.number_of(one.row.execution), has_steps=has_steps) for one in origins]


def _kind(row: Row, op: Op, cause: Cause) -> str:
    if row.is_input or cause.name.endswith("_in_data") or op.kind in _OUTSIDE:
        return "data"
    if op.phase in (Phase.BACKWARD, Phase.UPDATE):
        return op.phase.label
    if is_variable_after_call(op):
        return "update"
    return "update" if op.kind == Kind.READ and row.step > 0 else "forward"


def _one_for_each_line(origins: list[Origin]) -> list[Origin]:
    """Tells what began at one line in several processes, which run the same program, as one story."""
    found: dict[tuple, Origin] = {}
    several = len({origin.process for origin in origins}) > 1
    for origin in sorted(origins, key=lambda one: (one.row.step, one.process)) if several else origins:
        place = (origin.frame.file, origin.frame.line) if origin.frame else (origin.process, origin.op.name)
        found.setdefault(place, origin)
    return list(found.values())


_REASONS = {
    "mask_fill": "infinities in a mask",
    "infinite_initial_value": "an infinite initial value",
    "loss_scale_overflow": "overflow of a scaled loss, whose step is skipped by design",
    "infinite_result": "an infinity in a result that no op read",
    "healed": "bad values that went no further",
}


def _benign(process: int, harmless: Harmless, program: Program) -> Benign:
    gone = f", gone after {harmless.by.type}" if harmless.by else ""
    text = f"{_REASONS[harmless.reason]}: {harmless.op.type} → {harmless.row.bad_text()}{gone}"
    return Benign(process, harmless.reason, harmless.row, harmless.op, program.user_frame(harmless.op), text)
