"""Losses that have no finite value for what they were given."""

from __future__ import annotations

from tdbg.model import DType
from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule


@rule("CTCLoss", "CTCLossV2")
def infeasible(case: Case) -> Cause | None:
    if not case.row.pos_inf:
        return None
    lengths = case.input(3)
    steps = f" of {lengths.min:.0f} to {lengths.max:.0f} time steps" if lengths is not None and lengths.max else ""
    text = (
        f"no alignment exists: for {case.row.pos_inf:,} of {case.row.elements:,} samples the labels, with a blank between "
        f"equal neighbours, are longer than the input{steps}"
    )
    fix = Fix("leave such samples out (labels plus repeats must not be longer than the input), or mask their loss")
    return Cause("ctc_infeasible", text, fix=fix)


@rule("SparseSoftmaxCrossEntropyWithLogits")
def wrong_class(case: Case) -> Cause | None:
    labels, logits = case.input(1), case.input_values.get(0)
    if labels is None or DType(labels.dtype).is_floating or labels.min is None or labels.max is None:
        return None
    classes = logits.shape[-1] if logits is not None else None
    if labels.min >= 0 and (classes is None or labels.max < classes):
        return None
    text = f"labels go from {labels.min:.0f} to {labels.max:.0f}" + (
        f", but there are {classes} classes" if classes else ""
    )
    fix = Fix("labels must be 0 to classes - 1: check their encoding, and the size of the last layer")
    return Cause("class_index_out_of_range", text, fix=fix)
