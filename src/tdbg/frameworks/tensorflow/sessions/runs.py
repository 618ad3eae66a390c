"""Records the runs of Sessions: executions, steps, the options that make the runtime record, and notes on what failed.

TensorFlow's runtime itself puts a debug node behind every tensor, after Grappler, where a run's options ask for one.
They ask for ``TdbgSession`` (``native/session_op.c``), and are the same for all runs with the same fetches and feeds,
so their executor is made once. When later runs took as long as the first, which made it, another is made with only
those kernels that have something to do. A run is written as the call of a function whose arguments are the Session's
variables: that gives them lineage from run to run.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import pywrap_tf_session as tf_session

from tdbg.capture import faults
from tdbg.capture.policy import Policy
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps
from tdbg.frameworks.tensorflow.capture.breaks import OpBreaks
from tdbg.frameworks.tensorflow.ops import writes_variable
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs, behind
from tdbg.frameworks.tensorflow.sessions.executor_cost import ExecutorCost
from tdbg.frameworks.tensorflow.sessions.outside import Outside
from tdbg.frameworks.tensorflow.sessions.profile import record_profile
from tdbg.frameworks.tensorflow.sessions.runtime_graphs import OP, RuntimeGraph
from tdbg.model import Mode, Phase

_VARIABLES = frozenset("VarHandleOp VariableV2 Variable".split())
_HANDLES = itertools.count(1 << 61)  # above the numbers of eager tensors
_MEMORY = "/dev/shm"
_OWN_WATCHES = "runs with the program's own debug watches were recorded from outside only"
_PARTIAL = "partial_run: TensorFlow does not debug partial runs, so only what was fed and fetched was recorded"
_REMOTE = "a Session's run in another process was recorded from outside only: what was fed and fetched"
_CHECK = "the check does not stop Sessions; their runs are recorded"
_FALLBACK = "without the compiled extension, Sessions are recorded from outside only: what was fed and fetched"


class Handle:
    """A variable of a Session, as lineage knows variables: by a number among the inputs of each run."""

    __slots__ = ("_id",)

    def __init__(self) -> None:
        self._id = next(_HANDLES)


class Signature:
    """One set of fetches and feeds of one Session: the runtime makes one executor for it, the trace has one graph."""

    def __init__(self, number: int, handles: list[Handle], is_training: bool) -> None:
        self.number, self.handles, self.is_training = number, handles, is_training
        self.graph: RuntimeGraph | None = None  # None: it cannot be looked into
        self.outside: Outside | None = None
        self.folder = self.url = ""
        self.debug: Any = None  # DebugOptions
        self.options: Any = None  # a buffer with RunOptions of these and nothing else; None: nothing is to be recorded
        self._cost = ExecutorCost()
        self._is_narrow = False

    def watch(self, tensors: Sequence[tuple[str, int]]) -> None:
        """From the next run on the runtime puts a kernel behind these. It makes a new executor then."""
        options = config_pb2.RunOptions()
        for node, slot in tensors:
            options.debug_options.debug_tensor_watch_opts.add(
                node_name=node,
                output_slot=slot,
                debug_ops=[OP],
                debug_urls=[self.url],
                tolerate_debug_op_creation_failures=True,
            )
        # A buffer that is replaced is not deleted: a run of another thread may be about to use it.
        self.options = tf_session.TF_NewBufferFromString(options.SerializeToString()) if tensors else None
        self.debug = options.debug_options

    def took(self, seconds: float) -> None:
        """A kernel that has nothing to do still costs. So there comes another executor, with those kernels only that
        are needed."""
        if not self._is_narrow and self.graph is not None and self._cost.took(seconds):
            self._is_narrow = True
            self.watch(self.graph.watches)


class Run(NamedTuple):
    """A run that has begun."""

    signature: Signature
    number: int  # among the runs of its Session, from 1
    execution: int  # -1: not recorded
    site: int
    options: Any
    began: float = 0.0
    merged: Any = None  # options of the user's with ours: made for this run only
    outside: Outside | None = None
    fetches: Sequence[Any] = ()


class Runs:
    """All Sessions of this process while tdbg is on."""

    def __init__(
        self, recorder: Any, sources: Sources, policy: Policy, steps: Steps, clients: ClientGraphs,
        next_op: Callable[[], int], next_graph: Callable[[], int], site: Callable[[], int],
        breaks: OpBreaks | None = None,
    ) -> None:  # fmt: skip
        self._breaks = breaks
        self._recorder, self._lib, self._sources, self._policy = recorder, recorder.lib, sources, policy
        self._steps, self._clients, self._next_op, self._next_graph = steps, clients, next_op, next_graph
        self._site = site
        self._sessions: weakref.WeakKeyDictionary[Any, dict[tuple, Signature]] = weakref.WeakKeyDictionary()
        self._numbers: weakref.WeakKeyDictionary[Any, Iterator[int]] = weakref.WeakKeyDictionary()
        self._variables: weakref.WeakKeyDictionary[Any, dict[str, Handle]] = weakref.WeakKeyDictionary()
        self._by_url: dict[str, RuntimeGraph] = {}
        self._noted: set[str] = set()
        self._folder: str | None = None
        self._lock = threading.RLock()
        self._not_held = self._lib.not_held()

    # ---- on and off

    def start(self) -> None:
        self._lib.set_session(self._kernel)

    def stop(self) -> None:
        self._lib.set_session(None)
        refused = self._lib.not_held() - self._not_held
        if refused > 0:
            self._recorder.note("evidence", "inputs of ops were not kept: over the size limit", refused)
        if self._folder is not None:
            _remove(self._folder, os.getpid())

    def after_fork(self) -> None:
        """In a forked child: a thread that held the lock does not exist here, and the folder is the parent's."""
        self._lock = threading.RLock()
        self._folder = None
        self._sessions.clear()

    def _kernel(self, url: str, device: str, tensor: str) -> tuple | None:
        """A kernel asks which op it is behind."""
        try:
            graph = self._by_url.get(url)
            return graph.kernel(tensor) if graph is not None else None
        except Exception as error:
            faults.report("reading a Session's graph", error)
            return None

    # ---- runs

    def begins(
        self, session: Any, handle: Any, targets: Sequence[Any], fetches: Sequence[Any], feeds: dict[Any, Any],
        options: Any, begun: list[int],
    ) -> Run | None:  # fmt: skip
        signature = self._signature(session, targets, fetches, feeds)
        number = next(self._numbers.setdefault(session, itertools.count(1)))
        if signature.is_training:
            self._steps.forward_begins()
        if not self._steps.recording:
            return Run(signature, number, -1, -1, options)
        why = self._why_outside(session, handle)
        merged = None
        if why is None and options is not None and signature.options is not None:
            merged = _merged(options, signature.debug)
            why = _OWN_WATCHES if merged is None else None
        if self._recorder.config.check:
            self._note(_CHECK)
        site = self._site()
        execution = self._lib.call_begin(site, signature.number, signature.handles, begun)
        if why is None:
            options = merged or signature.options or options
            return Run(signature, number, execution, site, options, time.perf_counter(), merged)
        self._note(why)
        outside = self._outside(signature)
        outside.feeds(execution, feeds)
        return Run(signature, number, execution, site, options, outside=outside, fetches=fetches)

    def lost(self, begun: Sequence[int]) -> None:
        """An exception struck before the run began or while its end was told."""
        for execution in begun:
            self._lib.call_lost(execution)

    def ends(self, run: Run, results: Sequence[Any] | None, error: BaseException | None) -> None:
        if run.execution >= 0:
            if run.outside is not None and results is not None:
                run.outside.fetches(run.execution, run.fetches, results)
            self._lib.session_end(run.execution)
            self._lib.call_end(run.execution, run.site, None if error is not None else [])
            self._recorder.add("runs", (run.execution, run.number, -1, "" if error is None else _told(error)))
            if run.signature.folder:
                _clear(run.signature.folder)
            if run.began:
                run.signature.took(time.perf_counter() - run.began)
        if run.merged is not None:
            tf_session.TF_DeleteBuffer(run.merged)
        if error is not None:
            self._recorder.note("session_error", _told(error))
        elif run.signature.is_training:
            self._steps.gradient()
            self._steps.update()
        if self._breaks is not None:
            self._breaks.holder.leave()

    def profiled(self, run: Run, metadata: Any, graph: Any) -> None:
        """The program asked for how long each node took; that is kept too."""
        if run.execution >= 0:
            record_profile(metadata, graph, run.execution, self._sources.of_frames, self._recorder.add)

    def _why_outside(self, session: Any, handle: Any) -> str | None:
        if handle is not None:
            return _PARTIAL
        if not self._lib.IS_NATIVE:
            return _FALLBACK
        if session._target:
            return _REMOTE
        return "" if self._recorder.config.mode == Mode.EDGES else None

    def _note(self, text: str) -> None:
        if text and text not in self._noted:
            self._noted.add(text)
            self._recorder.note("sessions", text)

    # ---- signatures

    def _signature(
        self, session: Any, targets: Sequence[Any], fetches: Sequence[Any], feeds: dict[Any, Any]
    ) -> Signature:
        known = self._sessions.get(session)
        if known is None:
            known = self._sessions.setdefault(session, {})
        key = (
            tuple(op.name for op in targets),
            tuple(tensor.name for tensor in fetches),
            tuple(sorted(reference.deref().name for reference in feeds)),
        )
        found = known.get(key)
        if found is None:
            with self._lock:
                found = known.get(key)
                if found is None:
                    found = known[key] = self._new_signature(session, targets, fetches, key)
        return found

    def _new_signature(self, session: Any, targets: Sequence[Any], fetches: Sequence[Any], key: tuple) -> Signature:
        number = self._next_graph()
        needed = behind([*targets, *(tensor.op for tensor in fetches)], set(key[2]))
        writers = [op for op in needed if writes_variable(op.type)]
        is_training = any(self._is_update(op) for op in writers)
        variables = sorted(op.name for op in needed if op.type in _VARIABLES)
        handles = self._variables.setdefault(session, {})
        for name in variables:
            if name not in handles:
                handles[name] = Handle()
        signature = Signature(number, [handles[name] for name in variables], is_training)
        stack = self._lib.stack_here(0)
        self._sources.info(stack)
        text = ", ".join((*key[1], *key[0]))
        self._recorder.add("graphs", (number, -1, text, "Session.run", stack, time.time_ns()))
        self._recorder.add("signatures", (number, list(key[1]), list(key[0]), list(key[2])))
        if self._why_outside(session, None) is None:
            self._prepare(signature, session.graph, variables)
        return signature

    def _is_update(self, op: Any) -> bool:
        made = self._clients.op(op.graph, op.name)
        return made is not None and made.phase == Phase.UPDATE

    def _prepare(self, signature: Signature, graph: Any, variables: list[str]) -> None:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="tdbg-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
            atexit.register(_remove, self._folder, os.getpid())  # for programs that do not call disable()
        signature.folder = os.path.join(self._folder, str(signature.number))
        signature.url = f"file://{signature.folder}"
        signature.graph = self._by_url[signature.url] = RuntimeGraph(
            signature.number, signature.folder, graph, variables, self._recorder, self._sources, self._policy,
            self._clients, self._next_op, self._breaks,
        )  # fmt: skip
        # A wildcard alone inserts nothing, so it goes with a watch of a node that does not exist.
        signature.watch([("tdbg/none", 0), ("*", -1)])

    def _outside(self, signature: Signature) -> Outside:
        with self._lock:
            if signature.outside is None:
                signature.outside = Outside(
                    signature.number, self._recorder, self._sources, self._policy, self._clients, self._next_op
                )
            return signature.outside


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a child that was forked
        shutil.rmtree(folder, ignore_errors=True)


def _merged(given: Any, debug: Any) -> Any:
    """A buffer with the user's options and ours; None when the user's have watches of their own."""
    options = config_pb2.RunOptions.FromString(tf_session.TF_GetBuffer(given))
    if options.debug_options.debug_tensor_watch_opts:
        return None
    options.debug_options.CopyFrom(debug)
    return tf_session.TF_NewBufferFromString(options.SerializeToString())


def _clear(folder: str) -> None:
    """The runtime leaves a small file for each run."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [entry.path for entry in entries if entry.is_file()]:
            with contextlib.suppress(OSError):  # another thread's run came first
                os.unlink(path)


def _told(error: BaseException) -> str:
    op = getattr(error, "op", None)
    where = f" at {op.name} ({op.type})" if op is not None else ""
    text = str(getattr(error, "message", "") or error)
    lines = [line.strip() for line in text.partition("[[")[0].splitlines() if line.strip()]
    return f"Session.run failed{where}: {type(error).__name__}: {lines[-1] if lines else text}"
