"""Tells of the variables of a program: where they are made, what reads them, and what writes to them."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tdbg.model import Frame, Phase
from tdbg.query.rules.flow import Variable
from tdbg.query.rules.series import Node, Series
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import Kind, Role

if TYPE_CHECKING:
    from tdbg.query.rules.training import Training


class Created(NamedTuple):
    """The user's line that made a variable, and whether a library's layer did that for it."""

    frame: Frame
    is_of_layer: bool


class Variables:
    """The variables of one process."""

    def __init__(self, training: Training, rows: Rows) -> None:
        self._training, self._rows = training, rows

    @cached_property
    def reads(self) -> dict[Variable, Series]:
        """The values of each variable, as the forward pass read them."""
        found: dict[Variable, Series] = {}
        for series in self._training.outputs(Kind.READ):
            variable = self._training.flow.variable(series.place.node)
            if variable is not None and (variable not in found or len(series) > len(found[variable])):
                found[variable] = series
        return found

    @cached_property
    def writes(self) -> dict[Variable, list[Node]]:
        """The nodes that change each variable while the program trains."""
        found: dict[Variable, list[Node]] = defaultdict(list)
        for node in self._training.flow.nodes():
            op = self._training.op(node)
            if Role.WRITES_STATE in op.roles and op.phase != Phase.OTHER:
                variable = self._training.flow.variable(node)
                if variable is not None:
                    found[variable].append(node)
        return found

    def update(self, variable: Variable) -> Series | None:
        """Finds what is added to a variable, or taken away, in each step."""
        for node in self.writes.get(variable, ()):
            if self._training.op(node).kind in (Kind.ASSIGN_SUBTRACT, Kind.ASSIGN_ADD):
                inputs = self._training.flow.inputs(node)
                found = [self._training.at(place) for place in (inputs[1] if len(inputs) > 1 else ())]
                if found and found[0] is not None:
                    return found[0]
        return None

    @cached_property
    def created(self) -> dict[Variable, Created]:
        """Where each was made, by eager code or for a Session; without those that were given another value later, by
        loading for one."""
        made = self._made_for_sessions()
        for handle, (number, phase, count) in self._assigned.items():
            op = self._training.program.ops[number]
            frame = self._training.program.user_frame(op)
            if count == 1 and phase == Phase.OTHER and frame is not None:
                made["handle", handle] = Created(frame, self._training.lines.is_weight_of_layer(op))
        return made

    @cached_property
    def loaded(self) -> frozenset[Variable]:
        """Those that eager code gave a value more than once: the first was not meant to stay."""
        return frozenset(("handle", handle) for handle, (_, _, count) in self._assigned.items() if count > 1)

    @cached_property
    def _assigned(self) -> dict[int, tuple[int, int, int]]:
        """By a variable's handle: the first op that assigns to it in eager code, its phase, and how many assign."""
        found = self._rows.query(
            "SELECT e.inputs[1], min(e.op), min(o.phase), count(*) FROM executions e JOIN ops o USING (process, op) "
            f"WHERE o.graph < 0 AND o.kind = '{Kind.ASSIGN.value}' AND process = {self._training.process} GROUP BY 1"
        )
        return {handle: (op, phase, count) for handle, op, phase, count in found}

    def _made_for_sessions(self) -> dict[Variable, Created]:
        program = self._training.program
        if any(op.kind == Kind.RESTORE for op in program.ops.values()):  # which of them were loaded is not told
            return {}
        made = {}
        for op in program.ops.values():
            is_read = op.kind == Kind.READ and op.graph >= 0
            variable = self._training.flow.variable(Node(op.number, 0)) if is_read else None
            holder = program.ops.get(op.inputs[0][0]) if op.inputs else None
            if variable is not None and holder is not None and holder.kind in (Kind.VARIABLE, Kind.READ):
                frame = program.user_frame(holder)
                if frame is not None:
                    made[variable] = Created(frame, self._training.lines.is_weight_of_layer(holder))
        return made
