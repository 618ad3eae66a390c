"""Proposes the first of several ways to repair an op that works on its recorded inputs, forward and gradient."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tdbg.model import DType, Frame
from tdbg.query.causes import Fix
from tdbg.query.fixes.finders import call, division
from tdbg.query.fixes.formulas import Formula
from tdbg.query.fixes.rewrite import Target, rewrite
from tdbg.query.fixes.statement import Finder, statement_of
from tdbg.query.fixes.trial import RECORDED, Samples, Trial, attempt, is_good
from tdbg.query.trace.program import Op
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_CALLED: dict[Kind, Finder] = {Kind.DIVIDE: division} | {
    kind: call(kind) for kind in (Kind.LOG, Kind.LOG1P, Kind.EXP, Kind.EXPM1, Kind.SQRT, Kind.RSQRT, Kind.RECIPROCAL)
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """Words, the formula that they mean, and the user's statement with it (or "")."""

    text: str
    formula: Formula
    code: str = ""
    samples: Samples | None = None  # where the formula takes other inputs than the op has
    before: Formula | None = None  # what it replaces, on those
    better: str = ""  # as of a Fix

    def fix(self, trial: Trial | None = None, untried: str = "") -> Fix:
        return Fix(self.text, self.code, trial, untried, self.better)


def propose(before: Formula, samples: Samples | None, *proposals: Proposal) -> Fix | None:
    """The first proposal whose values and gradients are all finite; one that could be written as code comes first.

    Without any inputs to try it on, or where numbers made in their place do not go bad, a proposal is only words. One
    that was executed and gave a bad value or gradient is not proposed at all.
    """
    in_order = sorted(proposals, key=lambda one: not one.code)
    failing = None  # in a later run
    for proposal in in_order:
        inputs = proposal.samples or samples
        if inputs is None:
            return proposal.fix(untried="the inputs of the op were not kept")
        trial = attempt(proposal.before or before, proposal.formula, inputs)
        if trial is not None and trial.fails_at is None:
            return proposal.fix(trial)
        if trial is not None and failing is None:
            failing = proposal.fix(trial)
    if failing is not None:
        return failing
    for proposal in in_order:
        inputs = proposal.samples or samples
        if inputs is not None and inputs.on != RECORDED and is_good(proposal.formula, inputs.arrays):
            why = f"the inputs of the op were not kept, and {inputs.on} do not go bad"
            return proposal.fix(untried=why)
    return None


def code(case: Case, find: Finder, template: str) -> str:
    """The user's statement with one expression replaced; "" where that cannot be done without guessing, or said in
    the dialect of its framework."""
    if not template or not case.is_written_by_user or case.frame is None:
        return ""
    return rewrite(statement_of(case), find, template, _target(case, case.frame))


def _target(case: Case, frame: Frame) -> Target | None:
    """Which call of the statement made the op, where there are several: Python calls them in the order of their ops."""
    op = case.forward if case.is_backward and case.forward is not None else case.op
    called, program = _CALLED.get(op.kind), case.program
    if called is None:
        return None
    first, last = program.statement_lines(frame)
    alike = [one for one in program.ops.values() if (one.kind, one.graph, one.phase) == (op.kind, op.graph, op.phase)]
    lines = {one.number: line for one in alike if (line := program.user_frame(one)) is not None}
    numbers = [n for n, line in lines.items() if line.file == frame.file and first <= line.line <= last]
    here = _in_order([program.ops[number] for number in numbers])
    return Target(called, here.index(op), len(here)) if op in here else Target(called, 0, 0)


def _in_order(ops: list[Op]) -> list[Op]:
    """As the program made them. The ops of a Session are numbered as the runtime lists them; their names tell: ``Log``,
    ``Log_1``, ``Log_2``. Nothing when they do not."""
    if any(op.graph < 0 for op in ops):
        return sorted(ops, key=lambda op: op.number)
    parts = [_COUNTED.fullmatch(op.name) for op in ops]
    known = [match for match in parts if match is not None]
    if len(known) < len(ops) or len({match["base"] for match in known}) > 1:
        return []
    made = dict(zip((int(match["count"] or 0) for match in known), ops, strict=True))
    return [made[count] for count in sorted(made)]


_COUNTED = re.compile(r"(?P<base>.*?)(?:_(?P<count>\d+))?")


def tiny(case: Case) -> str:
    """An epsilon that the type can hold, and whose reciprocal it can hold too."""
    return {DType.FLOAT16: "1e-4", DType.FLOAT64: "1e-15"}.get(case.dtype, "1e-7")


def tiny_square(case: Case) -> str:
    """The same for what is under a root, where a square of it stands; 1/sqrt has a slope of its power -3/2."""
    half = "1e-3" if case.op.kind in (Kind.RSQRT, Kind.RSQRT_GRADIENT) else "1e-4"
    return {DType.FLOAT16: half, DType.FLOAT64: "1e-24"}.get(case.dtype, "1e-12")
