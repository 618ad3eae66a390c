"""Works out the round of its loop that each dump of a run belongs to, which dumps do not say."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from tdbg.formats.dumps.folder import TensorFile
from tdbg.formats.dumps.runtime_graph import NEXT_ITERATION, Op, RuntimeGraph


@dataclass(slots=True)
class Dump:
    """One file that becomes a row; its round is -1 outside of loops and where it cannot be told."""

    op: Op
    file: TensorFile
    iteration: int = -1


def find_rounds(graph: RuntimeGraph, by_output: Mapping[tuple[int, int], list[Dump]]) -> None:
    """The n-th dump of an output is of round n, when it was dumped in every round. What ran in some rounds only, or at
    the end, is placed by time: the debugger makes the runtime end a round before the next begins. Rounds of loops in
    loops cannot be told."""
    starts: dict[str, list[int]] = {}
    for loop, number in graph.conditions.items():
        starts[loop] = [dump.file.name.timestamp for dump in by_output.get((number, 0), ())]
    for (_, slot), dumps in by_output.items():
        op = dumps[0].op
        if len(op.loops) != 1:
            continue
        begun = starts.get(op.loops[0], [])
        is_last = op.type in ("Switch", "RefSwitch") and slot == 0
        in_every_round = not begun or (len(dumps) >= len(begun) - 1 and not is_last)
        for n, dump in enumerate(dumps):
            if in_every_round or op.type in ("Enter", "RefEnter"):
                dump.iteration = n + (op.type in NEXT_ITERATION)
            else:
                dump.iteration = max(bisect_right(begun, dump.file.name.timestamp) - 1, 0)
