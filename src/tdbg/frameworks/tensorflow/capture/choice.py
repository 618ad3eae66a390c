"""Chooses which outputs of a new op of a graph are recorded, and which may stop the program.

No rows have: ops that only move values (their summary is their input's, and lineage looks through them); a second read
of a variable that was not written meanwhile; in mode ``health`` also ops that cannot make a bad value of good ones,
scalars of the update phase and an optimizer's reads of its own state.
"""

from __future__ import annotations

from tdbg.capture.policy import Policy
from tdbg.config import Config
from tdbg.frameworks.tensorflow.capture.checks import Checks, can_make, is_checked
from tdbg.frameworks.tensorflow.capture.graph_record import GraphRecord, NewOp
from tdbg.frameworks.tensorflow.capture.observers import NAMES
from tdbg.frameworks.tensorflow.capture.op_kinds import DEBUGGER_V2_SKIPS, ENTRANCES, SILENT
from tdbg.frameworks.tensorflow.ops import RISKY, SAFE, writes_variable
from tdbg.model import DType, Mode, Phase


class Choice:
    """``slots`` is what is worth an observer: as little as lineage needs, or all that Debugger V2 records."""

    def __init__(self, config: Config, policy: Policy, strings: bool) -> None:
        self._policy, self._strings = policy, strings  # strings: whether observers can take them
        self._only_health = config.mode == Mode.HEALTH
        self._keeps_rows = config.observes_functions
        self.slots = self._like_debugger_v2 if config.every_op else self._usual

    def _usual(self, record: GraphRecord, op: NewOp, file: str) -> list[int]:
        """The output slots worth an observer."""
        if op.type == "AssignVariableOp":
            record.fresh_reads.add(op.inputs[0].name)  # what is read next is what was just assigned
        elif writes_variable(op.type) and op.inputs:
            record.fresh_reads.discard(op.inputs[0].name)
        if op.name.startswith(NAMES):  # an observer, where they are Python code
            return []
        if not self._keeps_rows or op.type in SILENT or op.type == "Const" or (self._only_health and op.type in SAFE):
            return []
        if op.type == "ReadVariableOp":
            if op.inputs[0].name in record.fresh_reads or (self._only_health and op.phase == Phase.UPDATE):
                return []  # the same value as the read before, or an optimizer's own state
            record.fresh_reads.add(op.inputs[0].name)
        wanted = self._policy.input_dtypes if op.type in ENTRANCES and record.is_outermost else self._policy.dtypes
        slots = [slot for slot, dtype in enumerate(op.dtypes) if dtype in wanted]
        if slots and self._policy.is_filtered and not self._policy.wants_op(op.type, op.name, file):
            return []
        if self._only_health and op.phase == Phase.UPDATE:  # not the scalars of an optimizer's schedule
            return [slot for slot in slots if op.outputs[slot].shape.num_elements() != 1]
        return slots

    def checked(self, checks: Checks | None, op: NewOp) -> list[int]:
        """The output slots that may stop the program."""
        if checks is None or op.name.startswith(NAMES) or not can_make(op.type, op.inputs):
            return []
        slots = [slot for slot, dtype in enumerate(op.dtypes) if dtype.is_floating and is_checked(op.type, slot)]
        if op.phase == Phase.UPDATE and op.type not in RISKY:  # an optimizer's schedule: there are many, all small
            return [slot for slot in slots if op.outputs[slot].shape.num_elements() != 1]
        return slots

    def _like_debugger_v2(self, record: GraphRecord, op: NewOp, file: str) -> list[int]:
        """Every output of the mode's element types. Each is watched beside the data flow, as Debugger V2 does: then it
        has a row too when no other op needs it."""
        if op.type in DEBUGGER_V2_SKIPS:
            return []
        wanted_dtypes = self._policy.dtypes - ({DType.STRING} if not self._strings else set())
        slots = [slot for slot, dtype in enumerate(op.dtypes) if dtype in wanted_dtypes]
        wanted = not slots or not self._policy.is_filtered or self._policy.wants_op(op.type, op.name, file)
        return slots if wanted else []
