"""Tells what is around an op: its inputs, outputs and consumers, each with its health."""

from __future__ import annotations

from typing import Any

from tdbg.errors import TdbgError
from tdbg.query.listing.op_health import Healths
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Op

_MOST = 120  # ops that are told


def neighbourhood(read: SceneCache, healths: Healths, number: int, depth: int = 1) -> dict[str, Any]:
    """``nodes`` and ``edges`` reach ``depth`` ops back and on; ``inputs`` and ``outputs`` are by slot."""
    program = read.program
    op = program.ops.get(number)
    if op is None:
        raise TdbgError(f"there is no op {number} in this trace")
    node = read.nodes.of(number)
    near, left_out = _near(read, number, depth)
    outputs = max(
        (slot for other in near for source, slot in program.ops[other].inputs if source == number), default=-1
    )
    outputs = max(outputs, *(slot for slot in range(16) if healths.of_output(number, slot).rows), 0)
    return {
        **_about(read, healths, op),
        "device": node.device,
        "function": node.graph,
        "attributes": dict(node.attributes),
        "stack": op.stack,
        "forward": op.forward,
        "inputs": [
            {"index": index, "slot": slot, **_known(read, healths, source)}
            for index, (source, slot) in enumerate(op.inputs)
            if source != number
        ],
        "outputs": [
            {
                "slot": slot,
                **healths.of_output(number, slot).as_dict(),
                "consumers": [
                    _about(read, healths, reader)
                    for reader in program.readers.get(number, ())[:_MOST]
                    if (number, slot) in reader.inputs and reader.number != number
                ],
            }
            for slot in range(outputs + 1)
        ],
        "control_inputs": [edge.node for edge in node.control_inputs[:_MOST]],
        "control_outputs": [edge.node for edge in node.control_recipients[:_MOST]],
        "nodes": [_about(read, healths, program.ops[other]) for other in near],
        "edges": [
            {"from": source, "slot": slot, "to": other, "index": index}
            for other in near
            for index, (source, slot) in enumerate(program.ops[other].inputs)
            if source in near and source != other
        ],
        "left_out": left_out,
    }


def _near(read: SceneCache, number: int, depth: int) -> tuple[dict[int, None], int]:
    program = read.program
    found: dict[int, None] = {number: None}
    left_out = 0
    for direction in (-1, 1):
        edge = [number]
        for _ in range(depth):
            beyond: list[int] = []
            for one in edge:
                if direction < 0:
                    beyond += [source for source, _ in program.ops[one].inputs if source in program.ops]
                else:
                    beyond += [reader.number for reader in program.readers.get(one, ())]
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
