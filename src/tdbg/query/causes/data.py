"""Values that were bad when they came in: data, and variables before or without a bad update."""

from __future__ import annotations

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule

_PIPELINE = Fix("look at where this data is read or computed; drop or repair such records in the pipeline")


@rule()
def bad_data(case: Case) -> Cause | None:
    if not (case.row.is_input or case.op.type.startswith(("IteratorGetNext", "Placeholder"))):
        return None
    return Cause(
        "nan_in_data" if case.row.nan else "inf_in_data", "the value was bad when it came in", _where(case), _PIPELINE
    )


def _where(case: Case) -> tuple[str, ...]:
    value, element = case.output_value, case.element
    if value is None or element is None:
        return ()
    text = f"element {list(element)} is {value[element]}"
    if value.ndim >= 2:
        text += f": sample {element[0]} of this batch, feature {', '.join(map(str, element[1:]))}"
    return (text,)


@rule("ReadVariableOp")
def bad_variable(case: Case) -> Cause:
    name = case.program.variable_of(case.op)
    if case.row.step == 0:
        return Cause("bad_initial_weights", f"variable {name} is bad before any update")
    return Cause("unknown", f"variable {name} came out of the update of step {case.row.step - 1} bad")
