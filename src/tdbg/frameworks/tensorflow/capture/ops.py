"""Answers TensorFlow 2's op callbacks: records eager ops as they run, and hands on the ops of graphs being built."""

from __future__ import annotations

import threading
from types import FrameType
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.python.framework import func_graph, ops

from tdbg.capture import faults
from tdbg.capture.bad_value import Limits
from tdbg.capture.holding import Holding
from tdbg.capture.policy import bit_mask
from tdbg.capture.recording import Recording
from tdbg.frameworks.tensorflow.capture import checks, restored
from tdbg.frameworks.tensorflow.capture.autograph import original_line
from tdbg.frameworks.tensorflow.capture.breakpoints import Breakpoints
from tdbg.frameworks.tensorflow.capture.breaks import OpBreaks
from tdbg.frameworks.tensorflow.capture.calls import Calls
from tdbg.frameworks.tensorflow.capture.checks import BadValueError, Checks, KnownOp
from tdbg.frameworks.tensorflow.capture.dtypes import as_buffer, code_of
from tdbg.frameworks.tensorflow.capture.edges import Edges
from tdbg.frameworks.tensorflow.capture.exact import ExactFunctions
from tdbg.frameworks.tensorflow.capture.gradients import ForwardLinks
from tdbg.frameworks.tensorflow.capture.graphs import Graphs
from tdbg.frameworks.tensorflow.capture.held_op import Known
from tdbg.frameworks.tensorflow.capture.keras_logits import KerasLogits
from tdbg.frameworks.tensorflow.capture.observers import NativeObservers, PythonObservers
from tdbg.frameworks.tensorflow.capture.op_kinds import SILENT
from tdbg.frameworks.tensorflow.capture.signatures import Signatures
from tdbg.frameworks.tensorflow.capture.targets import Targets
from tdbg.frameworks.tensorflow.capture.threads import EveryThread
from tdbg.frameworks.tensorflow.capture.xla import CompiledCalls, WithoutXla, is_compiled
from tdbg.frameworks.tensorflow.ops import in_words, writes_variable
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs
from tdbg.frameworks.tensorflow.sessions.interception import Interception
from tdbg.frameworks.tensorflow.sessions.runs import Runs
from tdbg.model import Flag, Mode, Phase

# Frames of tdbg and of TensorFlow's callback machinery between the op and the callback.
_EAGER_SKIP, _GRAPH_SKIP, _SESSION_SKIP = 1, 1, 4


class Call(NamedTuple):
    """A call of a function that has begun."""

    execution: int  # -1: not recorded
    op: int  # the place that calls
    record: Any
    args: tuple
    dtypes: int  # bits of the result types to record
    variables: Any = ()  # that are looked at from outside


class Capture:
    """Everything that listens to TensorFlow while tdbg is on."""

    def __init__(self, recording: Recording, limits: Limits | None = None) -> None:
        self._recording = recording
        self.recorder, lib = recording.recorder, recording.lib
        recorder = self.recorder
        self._lib = lib
        self._stack_here, self._eager = lib.stack_here, lib.eager
        self._policy, self.steps, self.sources = recording.policy, recording.steps, recording.sources
        self.sources.remaps.append(original_line)
        self._dtypes, self._input_dtypes = bit_mask(self._policy.dtypes), bit_mask(self._policy.input_dtypes)
        if recorder.config.mode == Mode.NONE:
            self._dtypes = self._input_dtypes = 0
        self._sites: dict[tuple[str, int, int], tuple[int, int, int]] = {}
        self._lock = threading.Lock()
        observers = NativeObservers(lib) if lib.IS_NATIVE else PythonObservers(lib)
        self._next_op = recording.next_op
        self.graphs = Graphs(recording, observers)
        self._clients = ClientGraphs(self.sources, recorder.config.exact)
        self._links = ForwardLinks(self.steps.gradient, self._op_number, lib.maker_of)
        self._targets = Targets(recorder.add, self._clients, self._is_sessions, self._op_number, lib.maker_of)
        self._checks: Checks | None = None
        self._breaks = self._holding(recording.holding, observers) if recording.holding is not None else None
        self._compiled = CompiledCalls(recorder, self._input_dtypes, self._dtypes, as_buffer)
        is_edges, is_exact = recorder.config.mode == Mode.EDGES, recorder.config.exact
        keeps_xla = recorder.config.xla == "keep" or is_edges or is_exact
        self._without_xla = None if keeps_xla else WithoutXla(recorder.note)
        self._edges = (
            Edges(recorder, self._policy, self.sources, self._dtypes, self._next_op, as_buffer) if is_edges else None
        )
        self._exact = (
            ExactFunctions(recorder, self.sources, self._policy, self._clients, self._next_op, recording.next_graph)
            if is_exact
            else None
        )
        self._signatures, self._keras = Signatures(), KerasLogits()
        self._threads = EveryThread(self._callback)
        self._calls = Calls(
            self._call_begins,
            self._call_ends,
            self._lib.call_lost,
            self._finishing,
            self._finished,
            self.steps.forward_begins,
            self._threads.ensure,
            self._tracing,
            self._restored,
            self._ran_python,
            self._called_in_graph if recorder.config.xla == "keep" and not is_exact else None,
        )
        runs = Runs(
            recorder, self.sources, self._policy, self.steps, self._clients, self._next_op, recording.next_graph,
            self._session_site, self._breaks,
        )  # fmt: skip
        self._sessions = Interception(runs, self._threads.ensure) if recorder.config.records else None
        self.check(limits)

    def check(self, limits: Limits | None) -> None:
        """From here on bad values stop the program, or no longer do."""
        if limits == (self._checks.limits if self._checks is not None else None):
            return
        self._checks = Checks(limits, self.sources, self._lib.maker_of) if limits is not None else None
        self.graphs.checks = self._compiled.checks = self._checks
        self._sites.clear()  # a message names ops that were learned since
        self._calls.trace_again()
        checks.switch(self._lib, self._checks is not None)

    def _holding(self, holding: Holding, observers: Any) -> OpBreaks:
        found = OpBreaks(holding, self._lib, self.sources, self.steps, as_buffer, self._trace_again)
        self.graphs.breaks = observers.breaks = found
        return found

    def _trace_again(self) -> None:
        """What was made before is to be made anew: with other observers, and known by what is asked since."""
        self._sites.clear()
        self._calls.trace_again()

    def narrowed(self) -> None:
        """Other things are to be recorded from here on."""
        self._dtypes, self._input_dtypes = bit_mask(self._policy.dtypes), bit_mask(self._policy.input_dtypes)
        self._trace_again()

    # ---- on and off

    def start(self) -> None:
        self._links.install()
        self._targets.install()
        self._calls.install()
        for changed in (self._without_xla, self._exact):
            if changed is not None:
                changed.install()
        self._threads.install()
        if self._sessions is not None:
            self._sessions.install()
        if self._recording.holding is not None:
            self._recording.holding.apply()
        self._lib.set_recording(self.steps.recording)

    def stop(self) -> None:
        self._lib.set_recording(False)
        checks.switch(self._lib, False)
        if self._breaks is not None:
            self._breaks.stop()
            self.graphs.breaks = None
        if self._sessions is not None:
            self._sessions.remove()
        self._threads.remove()
        for changed in (self._exact, self._without_xla):
            if changed is not None:
                changed.remove()
        self._calls.remove()
        for patched in (self._links, self._targets, self._keras):
            patched.remove()

    def after_fork(self) -> None:
        """In a forked child: a thread that held one of these does not exist here."""
        for lock in (self._lock, self.graphs._lock):
            lock._at_fork_reinit()  # type: ignore[union-attr]
        for changed in (self._sessions, self._exact):
            if changed is not None:
                changed.after_fork()

    # ---- ops

    def _callback(
        self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        try:
            if graph is None:
                self._ran(op_type, inputs, outputs)
                return None
            return self._built(graph, op_type, op_name, inputs, attrs, outputs)
        except BadValueError:
            raise
        except Exception as error:
            faults.report("recording an op", error)
            return None

    def _ran(self, op_type: str | bytes, inputs: Any, outputs: Any) -> None:
        if isinstance(op_type, bytes):  # TensorFlow converted the inputs first, or this is a function
            op_type = op_type.decode()
        if op_type.startswith("__"):
            return  # functions are bracketed by _call_begins and _call_ends
        breaks = self._breaks
        may_hold = breaks is not None and breaks.is_on
        if not self.steps.recording and self._checks is None and not may_hold:
            if writes_variable(op_type):
                self.steps.update()  # to find the step from which on it is recorded
            return
        forward_op = self._links.current()
        key = (op_type, self._stack_here(_EAGER_SKIP + 1), forward_op)
        op, dtypes, is_update = self._sites.get(key) or self._new_site(*key, outputs)
        if is_update:
            self.steps.update()
        self._links.remember(op_type, inputs, op)
        found = self._eager(op, inputs, outputs, dtypes, self._input_dtypes if dtypes else 0, as_buffer)
        if breaks is not None and may_hold:
            breaks.eager(op, inputs, outputs, found)
        if found & 1 and self._checks is not None:
            self._checks.eager(op, inputs, outputs)

    def _new_site(self, op_type: str, stack: int, forward: int, outputs: Any) -> tuple[int, int, int]:
        """An eager op type at one place of the program: all its executions share one op row."""
        with self._lock:
            found = self._sites.get((op_type, stack, forward))
            if found is not None:
                return found
            info = self.sources.info(stack)
            phase = Phase.UPDATE if writes_variable(op_type) and info.phase is None else (info.phase or Phase.FORWARD)
            file = info.user.file if info.user else ""
            wanted = not self._policy.is_filtered or self._policy.wants_op(op_type, op_type, file)
            op = self._next_op()
            device = outputs[0].device if outputs else ""
            dtypes = [int(code_of(tensor.dtype)) for tensor in outputs]
            row: tuple = (op, -1, op_type, op_type, device, [], [], dtypes, "{}", stack, int(phase), forward, wanted)
            self.recorder.add("ops", (*row, *in_words(op_type)))
            is_update = phase == Phase.UPDATE and writes_variable(op_type)
            site = (op, self._dtypes if wanted else 0, int(is_update))
            if self._checks is not None:
                self._checks.learn(op, KnownOp(op_type, op_type, stack, phase, forward, "eager", ()))
            if self._breaks is not None and self._breaks.is_on:
                known = Known(op_type, op_type, phase, device, stack, forward, "eager", hands_on=op_type in SILENT)
                self._breaks.learn(op, known, ())
            self._sites[(op_type, stack, forward)] = site
            return site

    def _built(self, graph: Any, op_type: str, name: str, inputs: Any, attrs: Any, outputs: Any) -> Any:
        forward_op = self._links.current()
        stack = self._stack_here(_GRAPH_SKIP + 1)
        if op_type in ("Const", "Placeholder"):  # these come under the name that was asked for, not the one given
            name = outputs[0].op.name
        if self._is_sessions(graph):
            self._clients.created(graph, op_type, outputs[0].op.name if outputs else name, stack, forward_op)
            return None
        if not isinstance(graph, func_graph.FuncGraph):
            return None
        return self.graphs.created(graph, op_type, name, inputs, attrs, outputs, stack, forward_op)

    def _is_sessions(self, graph: Any) -> bool:
        """Whether Sessions run it, and their runs are recorded."""
        return self._sessions is not None and self._clients.owns(graph)

    def _op_number(self, op: Any) -> int:
        """Of an op that is differentiated, given as the op or as one of its tensors."""
        op = getattr(op, "op", op)
        return self._clients.number(op) if self._is_sessions(op.graph) else self.graphs.op_number(op)

    def _finishing(self, graph: Any) -> None:
        if not self._is_sessions(graph):
            self.graphs.finishing(graph)

    def _finished(self, name: str, graph: Any) -> None:
        (self._clients if self._is_sessions(graph) else self.graphs).finished(name, graph)

    def _session_site(self) -> int:
        """The op row of the line that calls Session.run()."""
        return self._site("Session.run", self._stack_here(_SESSION_SKIP), -1, ())[0]

    def _site(self, op_type: str, stack: int, forward: int, outputs: Any) -> tuple[int, int, int]:
        return self._sites.get((op_type, stack, forward)) or self._new_site(op_type, stack, forward, outputs)

    def _tracing(self, graph: Any, function_type: Any, options: Any) -> None:
        if self._exact is not None:
            self._exact.traced(graph, self._known_stack(), self._signatures.describe(options, function_type))
        if self._is_sessions(graph):
            return
        self._keras.ensure()
        self.graphs.record_of(graph, self._known_stack()).traced = self._signatures.describe(options, function_type)

    def _known_stack(self) -> int:
        stack = self._stack_here(_GRAPH_SKIP + 1)
        self.sources.info(stack)  # writes it, if it is new
        return stack

    def _restored(self, graph: Any) -> None:
        if not self._is_sessions(graph):
            restored.observe(graph, self._stack_here(_GRAPH_SKIP + 1), self.graphs.created)

    def _ran_python(self, inputs: Any, made: Any) -> None:
        with faults.guard("recording Python code"):
            given = [tensor for tensor in inputs if isinstance(tensor, ops.EagerTensor)]
            outputs = made if isinstance(made, (list, tuple)) else [made]
            if all(isinstance(tensor, ops.EagerTensor) for tensor in outputs):
                self._ran("PyFunc", given, outputs)

    def breakpoint(self, frame: FrameType) -> None:
        """The program asks to be held here."""
        holding = self._recording.holding
        if holding is not None:
            self._threads.ensure()
            Breakpoints(holding, self.sources, self.steps, self._lib).reached(frame)

    # ---- calls of functions

    def _call_begins(self, function: Any, args: tuple, begun: list[int]) -> Any:
        self._threads.ensure()
        try:
            name = _name(function)
            record: Any = self.graphs.function(name)
            if record is None and self._exact is not None:
                record = self._exact.function(function, name, args)
            if record is None:
                self.graphs.unknown_function(name)
            elif record.has_gradient:
                self.steps.forward_begins()
            if not self.steps.recording and not (self._checks is not None and record is not None and record.compiled):
                return Call(-1, -1, record, args, 0)
            forward_op = self._links.current()
            stack = self._stack_here(3)
            site = self._sites.get((name, stack, forward_op))
            if site is None:
                graph = getattr(function, "graph", None)
                site = self._new_site(name, stack, forward_op, getattr(graph, "outputs", ()))
            if not self.steps.recording:
                return Call(-1, site[0], record, args, 0)
            given: Any = args
            variables: Any = ()
            if self._edges is not None and site[1]:
                given, variables = self._edges.before(function, name, stack, args)
            execution = self._lib.call_begin(site[0], record.number if record else -1, given, begun)
            if self._is_seen_from_outside(record, site[1]):
                self._compiled.begins(execution, site[0], args)
            return Call(execution, site[0], record, args, site[1], variables)
        except Exception as error:
            faults.report("recording a function call", error)
            return None

    def _called_in_graph(self, function: Any, outputs: Any) -> None:
        made = tf.nest.flatten(outputs, expand_composites=True)
        if made and is_compiled(function):
            record = self.graphs.function(_name(function))
            name = record.name if record is not None else _name(function)
            self.graphs.compiled_call(name, made[0].op, self._stack_here(2), self._links.current())

    def _is_seen_from_outside(self, record: Any, dtypes: int) -> bool:
        return bool(dtypes) if self._edges is not None else record is not None and record.compiled

    def _call_ends(self, call: Any, outputs: Any) -> None:
        try:
            execution, op, record, args, dtypes, variables = call
            if op >= 0 and outputs is not None and self._is_seen_from_outside(record, dtypes):
                self._compiled.ends(execution, op, record.name if record is not None else "", args, outputs)
            if (
                self._edges is not None
                and variables
                and execution >= 0
                and outputs is not None
                and (record is None or record.has_update)
            ):
                self._edges.after(execution, variables, args)
            if outputs is not None and not isinstance(outputs, (list, tuple)):
                outputs = []  # TensorFlow 2.15 gives structures here
            if execution >= 0:
                self._lib.call_end(execution, op, outputs)
                if dtypes and (self.recorder.config.every_op or (record is None and self._edges is None)):
                    self._results(execution, op, outputs or (), dtypes, int(Flag.RESULT) if record is not None else 0)
            if record is not None:
                if record.has_gradient:
                    self.steps.gradient()
                if record.has_update:
                    self.steps.update()
            if self._breaks is not None:
                self._breaks.holder.leave()
        except BadValueError:
            raise
        except Exception as error:
            faults.report("recording the end of a function call", error)

    def _results(self, execution: int, op: int, outputs: Any, dtypes: int, flag: int) -> None:
        """What a call gave back: of a function that cannot be looked inside it is all that can be said, and Debugger V2
        records it of all, as it does the outputs of an eager op."""
        for slot, tensor in enumerate(outputs):
            dtype = code_of(tensor.dtype)
            if isinstance(tensor, ops.EagerTensor) and dtypes >> dtype & 1 and dtype.is_number:
                self._lib.tensor(op, slot, -1, flag, execution, as_buffer(tensor), int(dtype))


def _name(function: Any) -> str:
    return function.name.decode() if isinstance(function.name, bytes) else function.name
