"""Writes the rows of graphs, ops and functions as TensorFlow builds them, and has an observer put on each tensor.

Ops are written as they are created, so that a crash while tracing still leaves the graph; what is known only when the
graph is finished (control inputs, call ops, arguments and results) is written then.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any

from tensorflow.python.framework import tensor_util
from tensorflow.python.ops import control_flow_util

from tdbg.capture.recording import Recording
from tdbg.frameworks.tensorflow.capture import attributes
from tdbg.frameworks.tensorflow.capture.breaks import OpBreaks
from tdbg.frameworks.tensorflow.capture.checks import Checks, KnownOp
from tdbg.frameworks.tensorflow.capture.choice import Choice
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.capture.graph_record import GraphRecord, NewOp
from tdbg.frameworks.tensorflow.capture.held_op import Known, Maker
from tdbg.frameworks.tensorflow.capture.known_inputs import (
    NO_INPUTS,
    KnownInputs,
    known_inputs,
    learn_constant,
    made_by,
)
from tdbg.frameworks.tensorflow.capture.observers import NAMES, is_observer
from tdbg.frameworks.tensorflow.capture.op_kinds import CALLS, ENTRANCES, SILENT
from tdbg.frameworks.tensorflow.ops import PARSERS, RISKY, in_words, writes_variable
from tdbg.model import Flag, Phase

_OBSERVER_NAME = re.compile(re.escape(NAMES) + r"(\d+)_\d+")


class Graphs:
    """All graphs of this process."""

    def __init__(self, recording: Recording, observers: Any) -> None:
        self._recorder, self._sources, self._policy = recording.recorder, recording.sources, recording.policy
        self._observers, self._next_op, self._next_graph = observers, recording.next_op, recording.next_graph
        self._every_op = recording.config.every_op
        self._choice = Choice(recording.config, recording.policy, strings=observers.name != "python")
        self._keeps_rows = recording.config.observes_functions
        self.checks: Checks | None = None  # set while the program is to stop at the first bad value
        self.breaks: OpBreaks | None = None  # what may hold the program
        self._records: weakref.WeakKeyDictionary[Any, GraphRecord] = weakref.WeakKeyDictionary()
        self._functions: dict[str, GraphRecord] = {}
        self._unknown: set[str] = set()
        self._names: dict[int, str] = {}
        self._lock = threading.RLock()

    # ---- graphs

    def record_of(self, graph: Any, stack: int = -1) -> GraphRecord:
        found = self._records.get(graph)
        if found is not None:
            return found
        with self._lock:
            outer = getattr(graph, "outer_graph", None)
            outer_record = self._records.get(outer) if outer is not None else None
            detached = _is_dataset(graph) or bool(outer_record and outer_record.detached)
            compiled = control_flow_util.GraphOrParentsInXlaContext(graph)
            name = getattr(graph, "name", "") or "graph"
            record = GraphRecord(self._next_graph(), name, outer_record is None, detached, compiled, stack)
            self._records[graph] = record
            self._recorder.add(
                "graphs",
                (record.number, outer_record.number if outer_record else -1, name, name, stack, time.time_ns()),
            )
            if compiled:
                self._recorder.note("xla", f"XLA compiled {name}: only what went in and came out was recorded")
            return record

    def function(self, name: str) -> GraphRecord | None:
        """The graph behind a runtime function, if tdbg saw it being built."""
        return self._functions.get(name)

    # ---- ops

    def created(
        self, graph: Any, op_type: str, name: str, inputs: Sequence[Any], attrs: Any, outputs: Sequence[Any],
        stack: int, forward: int,
    ) -> list[Any] | None:  # fmt: skip
        """Called for each new op; returns the tensors that consumers should use, or None to leave them."""
        record = self.record_of(graph, stack)
        info = self._sources.info(stack)
        phase = Phase.UPDATE if writes_variable(op_type) and info.phase is None else (info.phase or Phase.FORWARD)
        dtypes = [code_of(tensor.dtype) for tensor in outputs]
        op = NewOp(self._next_op(), op_type, name, inputs, attrs, outputs, dtypes, stack, phase, forward)
        record.ops[name] = op.number
        self._mark(graph, record, phase)
        checked = self._choice.checked(self.checks, op) if not record.compiled else []
        holds = self.breaks is not None and self.breaks.is_on  # and then shows the inputs whole
        known = known_inputs(self._observers, record, op) if checked and not holds else NO_INPUTS
        if self.checks is not None:
            self.checks.learn(op.number, self._known(graph, record, op, known))
        if op_type in CALLS:  # taking its gradient may give it more inputs, so it is written when the graph is finished
            record.calls[name] = stack, phase, forward
            return None
        slots = self._choice.slots(record, op, info.user.file if info.user else "")
        self._write_op(record, op, observed=bool(slots))
        if op_type == "Const" and op.dtypes[0].is_floating and not self._every_op and self._keeps_rows:
            self._constant(record, op)
        held = self._may_hold(graph, record, op, slots)
        if not (slots or checked or held) or record.compiled:
            return None
        if self._every_op or op_type.startswith("Placeholder"):
            self._watch_op(graph, record, op, slots)
            slots = []
            if not (checked or held):
                return None
        return self._observe(graph, record, op, slots, checked, held, known)

    def _may_hold(self, graph: Any, record: GraphRecord, op: NewOp, slots: list[int]) -> list[int]:
        """The outputs that no row is made of and that may hold the program."""
        if self.breaks is None or not self.breaks.is_on or op.name.startswith(NAMES):
            return []
        inputs = []
        for index, tensor in enumerate(op.inputs):
            if code_of(tensor.dtype).is_number:
                name, slot = made_by(tensor)
                inputs.append((index, Maker(record.ops.get(name, -1), slot)))
        device = op.outputs[0].device if op.outputs else ""
        known = Known(
            op.type, self._user_name(op), op.phase, device, op.stack, op.forward, graph.name, op.dtypes, inputs,
            hands_on=op.type in SILENT or (op.type == "Placeholder" and not record.is_outermost),
        )  # fmt: skip
        may_hold = self.breaks.learn(op.number, known, slots)
        return [slot for slot in may_hold if slot not in slots and not op.type.startswith("Placeholder")]

    def _known(self, graph: Any, record: GraphRecord, op: NewOp, known: KnownInputs = NO_INPUTS) -> KnownOp:
        """Makers are looked up now: in a finished graph the ops are gone."""
        if op.type == "Const" and op.dtypes[0].is_floating:
            learn_constant(record, op)
        makers = {
            index: record.ops.get(made_by(t)[0], -1) for index, t in enumerate(op.inputs) if code_of(t.dtype).is_number
        }
        evidence = [index for index in makers if index not in known.remembered and index not in known.constants]
        inputs = [(index, makers[index]) for index in [*known.remembered, *evidence]]  # as check.c has them
        constants = [(index, makers[index], fact) for index, fact in known.constants.items()]
        return KnownOp(op.type, self._user_name(op), op.stack, op.phase, op.forward, graph.name, inputs, constants)

    def _mark(self, graph: Any, record: GraphRecord, phase: Phase) -> None:
        if phase not in (Phase.BACKWARD, Phase.UPDATE):
            return
        attribute = "has_gradient" if phase == Phase.BACKWARD else "has_update"
        while record is not None and not getattr(record, attribute):
            setattr(record, attribute, True)
            graph = getattr(graph, "outer_graph", None)
            record = self._records.get(graph) if graph is not None else None  # type: ignore[assignment]

    def _watch_unknown(self, graph: Any, record: GraphRecord) -> None:
        """Calls of functions that were made before recording began: their results at least are looked at."""
        if not self._keeps_rows:
            return
        for op in graph.get_operations():
            unknown = [name for name in _callees(op) if name not in self._functions] if op.type in CALLS else []
            if not unknown or op.name in record.watched_calls or record.compiled or record.detached:
                continue
            self.unknown_function(unknown[0])
            dtypes = [code_of(tensor.dtype) for tensor in op.outputs]
            slots = [slot for slot, dtype in enumerate(dtypes) if dtype in self._policy.dtypes]
            if slots and (not self._policy.is_filtered or self._policy.wants_op(op.type, op.name, "")):
                record.watched_calls.add(op.name)
                self._watch(graph, record, self._number(record, op.name), op.outputs, slots, 0, [])

    def unknown_function(self, name: str) -> None:
        """A function is called whose graph was never seen; said once for each."""
        if name not in self._unknown:
            self._unknown.add(name)
            shown = re.sub(r"^__(?:inference|forward|backward)_(.*?)_\d+$", r"\1", name)
            text = f"function {shown} was traced before recording began, so tdbg did not look inside"
            self._recorder.note("unseen", text)

    def compiled_call(self, function: str, made: Any, stack: int, forward: int) -> None:
        """A call of a function that XLA compiles was put into a graph, of which TensorFlow does not tell its callbacks:
        only its results can be seen."""
        record = self.record_of(made.graph)
        if record.compiled:
            return
        phase = self._sources.info(stack).phase or Phase.FORWARD
        dtypes = [code_of(tensor.dtype) for tensor in made.outputs]
        op = NewOp(self._next_op(), made.type, made.name, made.inputs, {}, made.outputs, dtypes, stack, phase, forward)
        record.ops[op.name] = op.number
        record.calls[op.name] = stack, phase, forward
        if self.checks is not None:
            known = self._known(made.graph, record, op)
            self.checks.learn(op.number, known._replace(type=f"compiled function {function}"))
        self._watch_results(made.graph, record, op)

    def _watch_results(self, graph: Any, record: GraphRecord, op: NewOp) -> None:
        evidence = [t for t in op.inputs if code_of(t.dtype).is_number]
        check = self.checks.number << 8 if self.checks is not None else 0
        for slot, dtype in enumerate(op.dtypes):
            if dtype in self._policy.dtypes and (self._keeps_rows or check):
                ids = [op.number, slot, record.number, 0, record.detached | check]
                record.watches.append(self._observers.watch(graph, op.outputs[slot], ids, evidence).name)
                record.watched_calls.add(op.name)

    def _watch_op(self, graph: Any, record: GraphRecord, op: NewOp, slots: list[int]) -> None:
        if record.detached and not self._every_op:
            return
        flag = int(Flag.INPUT) if op.type == "Const" or op.type.startswith("Placeholder") else 0
        self._watch(graph, record, op.number, op.outputs, slots, flag, self._evidence(op))

    def _watch(
        self,
        graph: Any,
        record: GraphRecord,
        op: int,
        outputs: Sequence[Any],
        slots: list[int],
        flag: int,
        evidence: list[Any],
    ) -> None:
        for slot in slots:
            ids = [op, slot, record.number, flag, int(record.detached)]
            record.watches.append(self._observers.watch(graph, outputs[slot], ids, evidence).name)

    def _evidence(self, op: NewOp, is_checked: bool = False, known: KnownInputs = NO_INPUTS) -> list[Any]:
        if op.type not in RISKY and not is_checked:
            return []
        without = {*known.remembered, *known.constants}
        takes_text = op.type in PARSERS and self._observers.name == "native"  # its output is kept only beside inputs
        return [
            t
            for index, t in enumerate(op.inputs)
            if (takes_text or code_of(t.dtype).is_number) and index not in without
        ]

    def _observe(
        self, graph: Any, record: GraphRecord, op: NewOp, slots: list[int], checked: list[int], held: list[int],
        known: KnownInputs,
    ) -> list[Any]:  # fmt: skip
        is_shown = self.breaks is not None and self.breaks.takes_inputs(op.number)
        evidence = self._evidence(op, bool(checked) or is_shown, known)
        record.checked.update((op.name, slot) for slot in checked)
        replaced = list(op.outputs)
        flags = int(Flag.INPUT) if op.type in ENTRANCES else 0
        for slot in sorted({*slots, *checked, *held}):
            check = self.checks.number << 8 if self.checks is not None and slot in checked else 0
            ids = [op.number, slot, record.number, flags, record.detached | (slot not in slots) << 1 | check]
            replaced[slot] = self._observers.observe(graph, op.outputs[slot], ids, evidence)
        return replaced

    def _constant(self, record: GraphRecord, op: NewOp) -> None:
        proto = dict(attributes.pairs(op.attrs)).get("value")
        if proto is not None:
            array = tensor_util.MakeNdarray(proto.tensor)
            self._recorder.push_array(op.number, 0, record.number, Flag.INPUT, array)

    def op_number(self, forward: Any) -> int:
        """The number of a graph op, given as the op or as one of its tensors; -1 when it is not known."""
        op = getattr(forward, "op", forward)
        record = self._records.get(getattr(op, "graph", None))
        if record is None:
            return -1
        name = made_by(op.outputs[0])[0] if op.outputs else op.name
        return record.ops.get(name, -1)

    # ---- rows

    def _write_op(self, record: GraphRecord, op: NewOp, observed: bool) -> None:
        sources = [made_by(t) for t in op.inputs]
        self._recorder.add(
            "ops",
            (
                op.number,
                record.number,
                self._user_name(op),
                op.type,
                op.outputs[0].device if op.outputs else "",
                [self._number(record, name) for name, _ in sources],
                [slot for _, slot in sources],
                [int(dtype) for dtype in op.dtypes],
                attributes.as_text(op.attrs),
                op.stack,
                int(op.phase),
                op.forward,
                observed and not record.compiled,
                *in_words(op.type),
            ),
        )

    def _number(self, record: GraphRecord, name: str) -> int:
        """Calls of functions tell no callback: they are met as an input, or when the graph is finished."""
        number = record.ops.get(name)
        if number is None:
            number = record.ops[name] = self._next_op()
            record.calls[name] = record.stack, Phase.OTHER, -1
        return number

    def _user_name(self, op: NewOp) -> str:
        """An argument that TensorFlow named after an observer gets the name of the tensor that was observed."""
        name = op.name
        if NAMES in name:
            name = _OBSERVER_NAME.sub(lambda match: self._names.get(int(match[1]), match[0]), name)
        self._names[op.number] = name
        return name

    def finishing(self, graph: Any) -> None:
        """The graph is about to become a function. TensorFlow makes a function's arguments before it starts to note
        which ops must run, so it has to be told of their watches."""
        record = self._records.get(graph)
        if record is not None:
            self._watch_unknown(graph, record)
            known = {op.name for op in graph.control_outputs}
            graph.control_outputs.extend(
                graph.get_operation_by_name(name) for name in record.watches if name not in known
            )

    def finished(self, name: str, graph: Any) -> None:
        """The graph became a function of the runtime: write what only the finished graph tells."""
        record = self.record_of(graph)
        with self._lock:
            for op in graph.get_operations():
                if is_observer(op):
                    continue
                if op.name not in record.ops or op.name in record.calls:
                    self._late_op(graph, record, op)
            for op in graph.get_operations():
                number = record.ops.get(op.name, -1)
                for before in op.control_inputs:
                    edge = number, record.ops.get(before.name, -1)
                    if min(edge) >= 0 and edge not in record.controls:
                        record.controls.add(edge)
                        self._recorder.add("controls", edge)
            results = [made_by(t) for t in graph.outputs]
            self._functions[name] = record
            self._recorder.add(
                "functions",
                (
                    name,
                    record.number,
                    [record.ops.get(t.op.name, -1) for t in graph.inputs],
                    [record.ops.get(op_name, -1) for op_name, _ in results],
                    [slot for _, slot in results],
                    *record.traced,
                ),
            )

    def _late_op(self, graph: Any, record: GraphRecord, op: Any) -> None:
        """Ops that TensorFlow adds without telling its callbacks, calls of functions above all."""
        number = self._number(record, op.name)
        stack, own_phase, forward = record.calls.pop(op.name, (-1, Phase.OTHER, -1))
        if op.type in CALLS:
            for callee in _callees(op):
                inner = self._functions.get(callee)
                if inner is not None:
                    for phase, has in ((Phase.BACKWARD, inner.has_gradient), (Phase.UPDATE, inner.has_update)):
                        if has:
                            self._mark(graph, record, phase)
        attrs = {key: op.node_def.attr[key] for key in op.node_def.attr}
        dtypes = [code_of(tensor.dtype) for tensor in op.outputs]
        late = NewOp(number, op.type, op.name, list(op.inputs), attrs, op.outputs, dtypes, stack, own_phase, forward)
        self._write_op(record, late, observed=op.name in record.watched_calls)


def _is_dataset(graph: Any) -> bool:
    return "Dataset_" in (getattr(graph, "name", "") or "")


def _callees(op: Any) -> list[str]:
    return [value.func.name for value in op.node_def.attr.values() if value.HasField("func")]
