"""Losses that have no finite value for what they were given."""

from __future__ import annotations

from tdbg.model import DType
from tdbg.query.causes import NOT_AN_OP, Cause, Fix, rule
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind


@rule(Kind.CTC_LOSS)
def infeasible(case: Case) -> Cause | None:
    if not case.row.pos_inf:
        return None
    lengths = case.input(3)
    span = _span(lengths)
    steps = f" of {span} time steps" if lengths is not None and lengths.max else ""
    text = (
        f"no alignment exists: for {case.row.pos_inf:,} of {case.row.elements:,} samples the labels, with a blank "
        f"between equal neighbours, are longer than the input{steps}"
    )
    words = "leave out such samples: labels plus repeats must not be longer than the input"
    return Cause("ctc_infeasible", text, fix=Fix(words, untried=NOT_AN_OP))


def _span(row: Row | None) -> str:
    if row is None or row.min is None or row.max is None:
        return ""
    return f"{row.min:.0f}" if row.min == row.max else f"{row.min:.0f} to {row.max:.0f}"


@rule(Kind.SPARSE_SOFTMAX_CROSS_ENTROPY)
def wrong_class(case: Case) -> Cause | None:
    labels, logits = case.input(1), case.input_values.get(0)
    if labels is None or DType(labels.dtype).is_floating or labels.min is None or labels.max is None:
        return None
    classes = logits.shape[-1] if logits is not None else None
    if labels.min >= 0 and (classes is None or labels.max < classes):
        return None
    text = f"labels go from {labels.min:.0f} to {labels.max:.0f}"
    text += f", but there are {classes} classes" if classes else ""
    words = "labels must be 0 to classes - 1: check their encoding, and the size of the last layer"
    return Cause("class_index_out_of_range", text, fix=Fix(words, untried=NOT_AN_OP))
