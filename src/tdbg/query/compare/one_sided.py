"""Finds ops that only one of two programs has and whose values flow into what both have: there the programs part."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdbg.query.compare.alignment import Alignment
from tdbg.query.trace.program import Op, Program


class OneSided:
    """Finds for each side the ops that part the programs, whatever the numbers say."""

    def __init__(self, programs: tuple[Program, Program], alignment: Alignment, same_versions: bool) -> None:
        self._same_versions = same_versions
        only = (alignment.only_first, alignment.only_second)
        shared = (set(alignment.pairs), set(alignment.pairs.values()))
        self.ops = tuple(
            self._flowing(program, {op.number: op for op in mine}, both)
            for program, mine, both in zip(programs, only, shared, strict=True)
        )

    def _flowing(self, program: Program, only: dict[int, Op], shared: set[int]) -> np.ndarray:
        """Finds ops whose values flow on. An op that is read by none that both have, such as a print, changes nothing
        that could be compared."""
        found: set[int] = set()
        waiting = [n for number in shared for n, _ in program.ops[number].inputs if n in only]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += [n for n, _ in only[number].inputs if n in only]
        parting = [n for n in found if only[n].observed and (self._same_versions or self._is_written(program, only[n]))]
        return np.array(sorted(parting), np.int64)

    @staticmethod
    def _is_written(program: Program, op: Op) -> bool:
        """Whether the user's own line makes this op: another version of a library has other ops inside."""
        frames = program.stack(op.stack)
        return bool(frames) and frames[0].is_user


def first_alone(rows: dict[str, np.ndarray], ops: np.ndarray, matched: dict[str, np.ndarray]) -> tuple[int, int] | None:
    """Finds the first row of these ops: how many of the matched rows come before it, and its event."""
    alone = np.flatnonzero(np.isin(rows["op"], ops))
    if not len(alone):
        return None
    at = alone[np.lexsort((rows["seq"][alone], rows["step"][alone]))[0]]
    step, seq = rows["step"][at], rows["seq"][at]
    later = np.flatnonzero((matched["step"] > step) | ((matched["step"] == step) & (matched["seq"] > seq)))
    return int(later.min(initial=len(matched["seq"]))), int(seq)


def have_same_versions(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two processes used the same versions of libraries."""
    return (first.get("versions") or {}) == (second.get("versions") or {})
