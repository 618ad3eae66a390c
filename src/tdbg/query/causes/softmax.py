"""A softmax written with exponentials and their sum: how it is recognised, and the stable one in its place."""

from __future__ import annotations

import ast

from tdbg.query.causes import Fix
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import rewrite as r
from tdbg.query.fixes import softmax_by_hand as hand
from tdbg.query.fixes.trial import Samples
from tdbg.query.trace.program import short_path
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_DIVIDE = (Kind.DIVIDE,)
_ON_THE_WAY = (
    Kind.SUM,
    Kind.TILE,
    Kind.BROADCAST,
    Kind.ADD,
    Kind.MAXIMUM,
)  # from an exponential down to the denominator
_PICK = (Kind.GATHER, Kind.GATHER_ND, Kind.STRIDED_SLICE, Kind.SLICE)


def softmax_of(case: Case) -> Case | None:
    """The quotient of exponentials and their sum that an exponential goes into."""
    waiting, seen = [case], {case.op.number}
    while waiting and len(seen) < 32:
        for reader in _read_by(waiting.pop()):
            if reader.op.number in seen:
                continue
            seen.add(reader.op.number)
            if reader.op.kind in _DIVIDE and is_softmax(reader):
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
    below = [kind for kind in quotient.makers(1, 8) if kind not in _ON_THE_WAY[1:]]
    return quotient.makers(0, 3)[:1] == [Kind.EXP] and below[:2] == [Kind.SUM, Kind.EXP]


def stable_softmax(case: Case, quotient: Case, samples: Samples | None) -> Fix | None:
    """For a case at the exponential or at the quotient; where a log follows, what both are in one."""
    log = _log_of(quotient)
    whole = code(case, hand.quotient, "{tf}.nn.softmax({0}{1})") if _has_axis(case, quotient) else ""
    words = "tf.nn.softmax subtracts the largest of each row first, so that no exponent is above 0"
    if log is None:
        shifted = _shifted(case, quotient) if case.op.kind == Kind.EXP and not whole else ""
        return propose(f.plain_softmax, samples, Proposal(words, f.softmax, whole or shifted))
    before = f.then(f.plain_softmax, f.log)
    inside = code(case, hand.log_of(hand.quotient), "{tf}.nn.log_softmax({0}{1})") if _has_axis(case, quotient) else ""
    where = f" ({short_path(log.frame.file)}:{log.frame.line})" if log.frame else ""
    text = (
        f"its log is taken{where}: tf.nn.log_softmax, or tf.nn.softmax_cross_entropy_with_logits, instead of both. "
        "A stable softmax alone still gives log(0) where a logit is far below the largest"
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


def _has_axis(case: Case, quotient: Case) -> bool:
    """A sum over everything is a softmax over the last axis only where there is one axis."""
    statement = r.Statement(quotient.statement, quotient.program.definitions(quotient.frame) if quotient.frame else {})
    nodes = ast.walk(statement.tree) if statement.tree is not None else ()
    places = [place for node in nodes if (place := hand.quotient(statement, node)) is not None]
    return len(quotient.dims(quotient.row)) == 1 or all(place.parts[1] for place in places)


def _shifted(case: Case, quotient: Case) -> str:
    """``exp(x - reduce_max(x, axis))`` in the exponential's own statement, when all that reads it is the softmax."""
    numbers = [next(iter(quotient.chain(0, 3)), None), *quotient.chain(1, 8)]
    exponentials = {made.op.number for made in numbers if made is not None and made.op.kind == Kind.EXP}
    is_shared = exponentials == {case.op.number} and all(
        reader.op.type in (*_DIVIDE, *_ON_THE_WAY) for reader in _read_by(case)
    )
    total = next((made for made in quotient.chain(1, 8) if made.op.kind == Kind.SUM), None)
    if not is_shared or total is None or total.frame is None:
        return ""
    statement = r.Statement(total.statement, total.program.definitions(total.frame))
    nodes = ast.walk(statement.tree) if statement.tree is not None else ()
    calls = [node for node in nodes if isinstance(node, ast.Call) and r.call("reduce_sum")(statement, node)]
    sums = [node for node in calls if r.call("exp")(statement, statement.seen(node.args[0]))] or calls
    axis = hand.axis_of(statement, sums[0]) if len(sums) == 1 else None
    if axis is None:
        return ""
    along = f", axis={axis}, keepdims=True" if axis else ""
    return code(case, _repeatable, f"{{2}}({{3}} - {{tf}}.reduce_max({{0}}{along}))")


def _repeatable(statement: r.Statement, node: ast.AST) -> r.Place | None:
    """``exp(x)`` where x may be written twice: it calls nothing that could give something else the second time."""
    place = r.call("exp")(statement, node)
    calls = [one for one in ast.walk(node.args[0]) if isinstance(one, ast.Call)] if place is not None else [node]  # type: ignore[attr-defined]
    return place if not calls else None
