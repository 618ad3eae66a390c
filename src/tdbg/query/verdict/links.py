"""Tells where each thing that a verdict names is: events, ops, lines, and filters that find the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tdbg.query.verdict.verdict import Origin, Verdict


def links(verdict: Verdict) -> list[dict[str, Any]]:
    """Gives those of each origin, in the order of the verdict."""
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
            "weights": f"{since} and {_is_any(origin.reach.reads)}" if origin.reach.reads else None,
        },
    }


def _is_any(types: Sequence[str]) -> str:
    """Writes a filter for ops of these types."""
    one_of = " or ".join(f'op == "{one}"' for one in types)
    return f"({one_of})" if len(types) > 1 else one_of
