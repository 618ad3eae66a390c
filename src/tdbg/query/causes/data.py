"""Values that were bad when they came in: data, initial weights, checkpoints."""

from __future__ import annotations

from tdbg.model import Phase
from tdbg.query.causes import NOT_AN_OP, Cause, Fix, rule
from tdbg.query.trace.program import short_path
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import DATASETS, ENTRANCES, Kind, Role

_PIPELINE = Fix(
    "check where this data is read or computed; drop or repair such records in the pipeline", untried=NOT_AN_OP
)
_ASSIGNED = Fix("check how this value is computed before it is assigned", untried=NOT_AN_OP)
_GIVEN = ENTRANCES | {Kind.PYTHON}  # the program's own code is one as well: a generator, a function in Python
_OF_THE_WHOLE = (Kind.ASSIGN, Kind.ASSIGN_ADD, Kind.ASSIGN_SUBTRACT)
_WRITES = (Kind.ASSIGN, Kind.VARIABLE, Kind.CONSTANT, Kind.FILL, Kind.RANDOM_NORMAL, Kind.CAST)


@rule(first=True)
def from_checkpoint(case: Case) -> Cause | None:
    is_set = case.row.is_input or case.op.kind == Kind.ASSIGN
    if case.op.kind != Kind.RESTORE and not (is_set and case.stack_has(case.dialect.signs.loading)):
        return None
    check = case.dialect.says("check_finite")
    text = f"load an earlier checkpoint; check the weights with {check} before saving them"
    reason = f"the values loaded into a {case.dialect.word('variable')} are bad"
    return Cause("nan_in_checkpoint", reason, _element(case), Fix(text, untried=NOT_AN_OP))


@rule(first=True)
def initial_weights(case: Case) -> Cause | None:
    is_making = case.op.phase == Phase.OTHER or case.stack_has(case.dialect.signs.initialising)
    is_left_by_call = case.op.graph < 0 and case.op.kind == Kind.ASSIGN  # mode edges: after a call, not before
    if not is_making or not (case.row.is_input or (case.op.kind in _WRITES and not is_left_by_call)):
        return None
    variable = case.dialect.word("variable")
    words = f"check the initializer, or the array that the {variable} is created from"
    reason = f"the initial value of a {variable} is bad"
    return Cause("bad_initial_weights", reason, _element(case), Fix(words, untried=NOT_AN_OP))


def _earlier(case: Case) -> Fix:
    words = "start recording before the first run, so that the initial values of {variable}s are recorded"
    return Fix(case.dialect.fill(words), untried=NOT_AN_OP)


@rule()
def bad_data(case: Case) -> Cause | None:
    if not (case.row.is_input or case.op.kind in _GIVEN | {Kind.CONSTANT}):
        return None
    if case.row.is_input and case.is_backward:  # of a forward pass that is not in the trace
        reason = "the value was already bad when this gradient read it; what computed it was not recorded"
        return Cause("unknown", reason, _element(case), _earlier(case))
    name = "nan_in_data" if case.row.nan or case.row.nan is None else "inf_in_data"
    evidence = (*_sample(case), *_batch(case), *_pipeline(case))
    if case.op.kind in _OF_THE_WHOLE:
        return Cause(name, f"the value assigned to a {case.dialect.word('variable')} is bad", evidence, _ASSIGNED)
    is_python = case.op.kind == Kind.PYTHON
    reason = "the program's Python code returned a bad value" if is_python else "the value was bad when it came in"
    return Cause(name, reason, evidence, _PIPELINE)


@rule()
def bad_text(case: Case) -> Cause | None:
    """Numbers that were text, or the bytes of a file: what they are was decided there."""
    if Role.PARSES not in case.op.roles or any(fact.row.is_bad for fact in case.inputs):
        return None
    is_text = case.op.kind in (Kind.PARSE_NUMBER, Kind.PARSE_CSV)
    name = "nan_in_data" if case.row.nan or case.row.nan is None else "inf_in_data"
    what = f"the {'text' if is_text else 'data'} that {case.op.type} parses holds"
    good = (f"about {case.runs_before():,} records were parsed before it",) if case.row.execution < 0 else ()
    fix = Fix("drop or repair such records before they are parsed, or fill them in", untried=NOT_AN_OP)
    return Cause(name, f"{what} {_kinds(case)}", (*_cell(case), *good, *_pipeline(case)), fix)


def _kinds(case: Case) -> str:
    row = case.row
    return "NaN" if row.nan or row.nan is None else "an infinity"


def _cell(case: Case) -> tuple[str, ...]:
    """``row 3, column 2 is nan``"""
    value, element = case.output_value, case.element
    if value is None or element is None:
        return (f"it is in column {case.row.slot}",) if case.op.kind == Kind.PARSE_CSV else ()
    if case.op.kind == Kind.PARSE_CSV:  # one output for each column
        row = f"row {', '.join(map(str, element))}, " if element else ""
        return (f"{row}column {case.row.slot} is {value[element]} (counted from 0)",)
    if len(element) < 2:
        return _element(case)
    rest = ", ".join(map(str, element[1:]))
    return (f"row {element[0]}, column {rest} is {value[element]} (counted from 0)",)


def _element(case: Case) -> tuple[str, ...]:
    value, element = case.output_value, case.element
    if value is None or element is None:
        return ()
    return (f"element {list(element)} is {value[element]}",) if element else (f"it is {value[()]}",)


def _sample(case: Case) -> tuple[str, ...]:
    element, value = case.element, case.output_value
    if not element or value is None or value.ndim < 2:
        return _element(case)
    feature = ", ".join(map(str, element[1:]))
    whole = "data" if case.op.kind == Kind.DATASET else "batch"
    return (f"element {list(element)} is {value[element]}: sample {element[0]} of this {whole}, feature {feature}",)


def _batch(case: Case) -> tuple[str, ...]:
    if case.op.kind not in _GIVEN:
        return ()
    before = case.runs_before()
    good = f"; the {before:,} before it {'was' if before == 1 else 'were'} good" if before else ""
    return (f"it is recorded batch {before}, counting from 0{good}",)


def _pipeline(case: Case) -> tuple[str, ...]:
    """The lines of the program that make a dataset, when there is one only."""
    stages = [op for op in case.program.ops.values() if op.kind in DATASETS and op.graph < 0]
    frames = [(op, case.program.user_frame(op)) for op in stages]
    named = [f"{op.type} ({short_path(frame.file)}:{frame.line})" for op, frame in frames if frame]
    return (f"pipeline: {' → '.join(named)}",) if 0 < len(named) <= 6 else ()


@rule(Kind.READ, Kind.GATHER_READ, Kind.GATHER_ND_READ)
def bad_variable(case: Case) -> Cause:
    name = f"{case.dialect.word('variable')} {case.program.variable_of(case.op)}"
    if case.runs_before():
        return Cause("unknown", f"{name} was good when it was last read; an update since then made it bad")
    if case.row.step > 0 and not case.program.is_imported:
        return Cause("unknown", f"{name} was left bad by the update of step {case.row.step - 1}")
    runs = "runs" if case.program.is_imported else "updates"
    reason = f"{name} was already bad when it was first seen; what made it bad, earlier {runs} or its initial value, "
    return Cause("unknown", f"{reason}was not recorded", _element(case), _earlier(case))
