"""Recognises a softmax that is written with exponentials and their sum, and puts the stable one in its place."""

from __future__ import annotations

import ast

from tdbg.query.causes import Fix
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import softmax_by_hand as hand
from tdbg.query.fixes.finders import Call, argument_of, call_of, log_of
from tdbg.query.fixes.statement import Place, Statement, statement_of
from tdbg.query.fixes.trial import Samples
from tdbg.query.trace.program import short_path
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

# From an exponential down to the denominator.
_SPREAD = (Kind.TILE, Kind.BROADCAST, Kind.ADD, Kind.MAXIMUM)
_ON_THE_WAY = (Kind.SUM, *_SPREAD)
_PICK = (Kind.GATHER, Kind.GATHER_ND, Kind.STRIDED_SLICE, Kind.SLICE)


def softmax_of(case: Case) -> Case | None:
    """The quotient of exponentials and their sum that an exponential goes into."""
    waiting, seen = [case], {case.op.number}
    while waiting and len(seen) < 32:
        for reader in _read_by(waiting.pop()):
            if reader.op.number in seen:
                continue
            seen.add(reader.op.number)
            if reader.op.kind == Kind.DIVIDE and is_softmax(reader):
                return reader
            if reader.op.kind in _ON_THE_WAY:
                waiting.append(reader)
    return None


def _read_by(case: Case) -> list[Case]:
    """Looks through ops that have no rows, as an op that only repeats values has none in mode health."""
    if case.op.graph < 0:
        return case.read_by
    found, waiting, seen = [], [case.op], {case.op.number}
    while waiting:
        for reader in case.readers(waiting.pop()):
            if reader.phase != case.op.phase or reader.number in seen:
                continue
            seen.add(reader.number)
            row = case.row_of(reader)
            if row is not None:
                found.append(case.beside(row))
            elif reader.kind in _ON_THE_WAY:
                waiting.append(reader)
    return found


def is_softmax(quotient: Case) -> bool:
    """Whether exponentials are divided by a sum of exponentials."""
    below = [kind for kind in quotient.makers(1, 8) if kind not in _SPREAD]
    return quotient.makers(0, 3)[:1] == [Kind.EXP] and below[:2] == [Kind.SUM, Kind.EXP]


def stable_softmax(case: Case, quotient: Case, samples: Samples | None) -> Fix | None:
    """For a case at the exponential or at the quotient; where a log follows, what both are in one."""
    log, dialect = _log_of(quotient), case.dialect
    if log is None:
        whole = code(case, hand.quotient, dialect.write("softmax", "{0}", "{1}")) if _has_axis(quotient) else ""
        words = f"{dialect.says('softmax')} subtracts the largest of each row first, so that no exponent is above 0"
        shifted = _shifted(case, quotient) if case.op.kind == Kind.EXP and not whole else ""
        return propose(f.plain_softmax, samples, Proposal(words, f.softmax, whole or shifted))
    before = f.then(f.plain_softmax, f.log)
    template = dialect.write("log_softmax", "{0}", "{1}")
    inside = code(case, log_of(hand.quotient), template) if _has_axis(quotient) else ""
    where = f" ({short_path(log.frame.file)}:{log.frame.line})" if log.frame else ""
    text = (
        f"its log is taken{where}: {dialect.says('log_softmax')}, or {dialect.says('softmax_cross_entropy')}, instead "
        "of both. A stable softmax alone still gives log(0) where a logit is far below the largest"
    )
    return propose(before, samples, Proposal(text, f.log_softmax, inside))


def _log_of(quotient: Case) -> Case | None:
    waiting, seen = [quotient], 0
    while waiting and seen < 16:
        for reader in waiting.pop().read_by:
            seen += 1
            if reader.op.kind == Kind.LOG:
                return reader
            if reader.op.kind in _PICK:
                waiting.append(reader)
    return None


def _has_axis(quotient: Case) -> bool:
    """A sum over everything is a softmax over the last axis only where there is one axis."""
    statement = statement_of(quotient)
    nodes = ast.walk(statement.tree) if statement.tree is not None else ()
    axes = [axis for node in nodes if (axis := hand.axis_of_quotient(statement, node)) is not None]
    return len(quotient.dims(quotient.row)) == 1 or all(axes)


def _shifted(case: Case, quotient: Case) -> str:
    """``exp(x - reduce_max(x, axis))`` in the exponential's own statement, when all that reads it is the softmax."""
    numbers = [next(iter(quotient.chain(0, 3)), None), *quotient.chain(1, 8)]
    exponentials = {made.op.number for made in numbers if made is not None and made.op.kind == Kind.EXP}
    is_shared = exponentials == {case.op.number} and all(
        reader.op.kind in (Kind.DIVIDE, *_ON_THE_WAY) for reader in _read_by(case)
    )
    total = next((made for made in quotient.chain(1, 8) if made.op.kind == Kind.SUM), None)
    if not is_shared or total is None or total.frame is None:
        return ""
    axis = _axis_of_sum(statement_of(total))
    if axis is None:
        return ""
    write = case.dialect.write
    largest = write("max_along", "{0}", axis) if axis else write("max", "{0}")
    return code(case, _repeatable, largest and f"{{0.operand}} - {largest.operand}")


def _axis_of_sum(statement: Statement) -> str | None:
    """The axis of the statement's sum of exponentials, or of its only sum; "" when that has none."""
    nodes = ast.walk(statement.tree) if statement.tree is not None else ()
    calls = [found for node in nodes if (found := call_of(statement, node, Kind.SUM)) is not None]
    sums = [found for found in calls if _exponential(statement, found.first)] or calls
    return hand.axis_of(sums[0]) if len(sums) == 1 else None


def _exponential(statement: Statement, node: ast.expr) -> Call | None:
    return call_of(statement, statement.seen(node), Kind.EXP)


def _repeatable(statement: Statement, node: ast.AST) -> Place | None:
    """The x of ``exp(x)``, where it may be written twice: it calls nothing that could give something else then."""
    found = call_of(statement, node, Kind.EXP)
    if found is None or any(isinstance(one, ast.Call) for one in ast.walk(found.first)):
        return None
    return argument_of(Kind.EXP)(statement, node)
