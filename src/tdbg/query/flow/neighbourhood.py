"""Tells what is around an op: its inputs, outputs and consumers, each with its health."""

from __future__ import annotations

from typing import Any

from tdbg.errors import TdbgError
from tdbg.query.listing.op_health import Healths
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Op

_MOST = 120  # ops that are told


def neighbourhood(read: SceneCache, healths: Healths, number: int, depth: int = 1) -> dict[str, Any]:
    """Describes them. ``nodes`` and ``edges`` reach ``depth`` ops back and on; ``inputs`` and ``outputs`` are by
    slot."""
    op = read.program.ops.get(number)
    if op is None:
        raise TdbgError(f"there is no op {number} in this trace")
    node = read.nodes.of(number)
    near, left_out = _near(read, op, depth)
    return {
        **_about(read, healths, op),
        "device": node.device,
        "function": node.graph,
        "attributes": dict(node.attributes),
        "stack": op.stack,
        "forward": op.forward,
        "inputs": [
            {"index": index, "slot": made.slot, **_known(read, healths, made.op)}
            for index, made in enumerate(read.neighbours.inputs(op))
            if not made.is_given
        ],
        "outputs": _outputs(read, healths, op),
        "control_inputs": [edge.node for edge in node.control_inputs[:_MOST]],
        "control_outputs": [edge.node for edge in node.control_recipients[:_MOST]],
        "nodes": [_about(read, healths, read.program.ops[other]) for other in near],
        "edges": [
            {"from": made.op, "slot": made.slot, "to": other, "index": index}
            for other in near
            for index, made in enumerate(read.neighbours.inputs(read.program.ops[other]))
            if made.op in near and not made.is_given
        ],
        "left_out": left_out,
    }


def _outputs(read: SceneCache, healths: Healths, op: Op) -> list[dict[str, Any]]:
    """Describes each output with the ops that take it; also those that nobody takes, as far as rows tell of them."""
    ops = read.program.ops
    taken = [(ops[reader], slot) for reader, slot in read.neighbours.recipients(op) if reader in ops]
    last = max((slot for _, slot in taken), default=0)
    last = max(last, *(slot for slot in range(16) if healths.of_output(op.number, slot).rows), 0)
    return [
        {
            "slot": slot,
            **healths.of_output(op.number, slot).as_dict(),
            "consumers": [_about(read, healths, reader) for reader, at in taken if at == slot][:_MOST],
        }
        for slot in range(last + 1)
    ]


def _near(read: SceneCache, op: Op, depth: int) -> tuple[dict[int, None], int]:
    """Finds the ops around one, the nearest first, and counts those that were left out."""
    ops = read.program.ops
    found: dict[int, None] = {op.number: None}
    left_out = 0
    for direction in (-1, 1):
        edge = [op.number]
        for _ in range(depth):
            beyond: list[int] = []
            for one in edge:
                if direction < 0:
                    made = read.neighbours.inputs(ops[one])
                    beyond += [source.op for source in made if source.op in ops and not source.is_given]
                else:
                    beyond += [reader for reader, _ in read.neighbours.recipients(ops[one]) if reader in ops]
            edge = [one for one in dict.fromkeys(beyond) if one not in found]
            left_out += max(0, len(found) + len(edge) - _MOST)
            edge = edge[: max(0, _MOST - len(found))]
            found.update(dict.fromkeys(edge))
    return found, left_out


def _known(read: SceneCache, healths: Healths, number: int) -> dict[str, Any]:
    op = read.program.ops.get(number)
    if op is not None:
        return _about(read, healths, op)
    return {"op": number, "name": "?", "type": "?", "phase": "", "graph": -1, "file": None, "line": None} | healths.of(
        number
    ).as_dict()


def _about(read: SceneCache, healths: Healths, op: Op) -> dict[str, Any]:
    at = read.ops.at.get(op.number, -1)
    frame = read.program.user_frame(op)
    return {
        "op": op.number,
        "name": read.ops.shown[at] if at >= 0 else op.name,
        "type": read.ops.types[at] if at >= 0 else op.type,
        "phase": op.phase.label,
        "graph": op.graph,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        **healths.of(op.number).as_dict(),
    }
