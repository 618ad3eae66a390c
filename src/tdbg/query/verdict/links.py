"""A verdict in; where each thing that it names is out: events, ops, lines, and filters that find the rest."""

from __future__ import annotations

from typing import Any

from tdbg.query.verdict.verdict import Origin, Verdict


def links(verdict: Verdict) -> list[dict[str, Any]]:
    """One for each origin, in its order."""
    return [_of(origin) for origin in verdict.origins]


def _of(origin: Origin) -> dict[str, Any]:
    row, frame = origin.row, origin.frame
    since = f"bad and step in {row.step}:"
    return {
        "process": origin.process,
        "seq": row.seq,
        "op": origin.op.number,
        "slot": row.slot,
        "graph": origin.op.graph,
        "step": row.step,
        "execution": row.execution,
        "is_hidden": origin.is_hidden,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        "inputs": [
            {
                "index": fact.index,
                "op": fact.op.number,
                "seq": fact.made.seq if fact.made is not None else None,
                "file": fact.frame.file if fact.frame else None,
                "line": fact.frame.line if fact.frame else None,
                "text": fact.as_text(),
            }
            for fact in origin.inputs
        ],
        "reached": {
            "text": origin.reach.as_text(),
            "tensors": since,
            "loss": f'{since} and phase == "forward" and elements == 1' if origin.reach.loss else None,
            "gradients": f'{since} and phase == "backward"' if origin.reach.gradients else None,
            "weights": f'{since} and op == "ReadVariableOp"' if origin.reach.weights + origin.reach.state else None,
        },
    }
