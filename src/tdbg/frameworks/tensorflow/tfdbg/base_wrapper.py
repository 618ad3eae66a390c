"""Wraps a TensorFlow Session in an object that can do all it can, and that asks before and after each run() what to do.

``BaseDebugWrapperSession`` is for people who write their own wrappers: ``on_session_init``, ``on_run_start`` and
``on_run_end`` are theirs to fill in. An error of the user's graph leaves run() after ``on_run_end`` saw it.
"""

from __future__ import annotations

import abc
import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as tf_session
from tensorflow.python.training import monitored_session

from tdbg.capture import faults
from tdbg.frameworks.tensorflow.tfdbg.requests import (
    SESSIONS,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
    check_type,
)
from tdbg.frameworks.tensorflow.tfdbg.run_calls import Call, from_options, is_empty, of_run, of_runner
from tdbg.frameworks.tensorflow.tfdbg.watching import watch_everything, watch_graph, watch_merged

# An op that could not write or send its tensor: the disk is full, or the server has gone.
_DEBUG_NODE = re.compile(r"__dbg_\S+_\d+_(Debug|Tdbg)")


class _DebuggerFailed(Exception):
    """A run failed because of the debugger."""


def _cause(error: BaseException) -> str:
    """TensorFlow looks for the op of the debugger in the user's graph, and says that there is none; what happened is
    in the error before that one."""
    first = error
    while first.__context__ is not None:
        first = first.__context__
    return str(first).strip().partition("\n")[0]


class BaseDebugWrapperSession(tf_session.SessionInterface, metaclass=abc.ABCMeta):
    """Wraps a Session or a MonitoredSession. What it does not know itself it asks of the session that it wraps.

    Runs of threads whose name does not match ``thread_name_filter`` (``re.match``), runs without fetches, and all runs
    while ``enabled`` is False go straight to the session. With ``pass_through_operrors`` errors of TensorFlow are not
    shown to ``on_run_end``; they leave run() in any case.
    """

    _wants_partition_graphs = True  # in the RunMetadata that on_run_end gets

    def __init__(
        self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool | None = False
    ) -> None:
        check_type(sess, SESSIONS)
        self._sess = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self.enabled = True
        self._run_call_count = 0
        self._count_lock = threading.Lock()
        self._entered = threading.local()
        self._said: set[str] = set()
        self._last_watches: tuple[Any, Any] = (None, None)
        response = self.on_session_init(OnSessionInitRequest(sess))
        check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError("OnSessionInitAction.REMOTE_INSTR_LOOP is not implemented; use PROCEED.")
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    # ---- what wrappers fill in

    @abc.abstractmethod
    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Called once, when the wrapper is made."""

    @abc.abstractmethod
    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Called before each run; says how it is carried out."""

    @abc.abstractmethod
    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Called after each run, also after one that failed."""

    def on_run_abandoned(self, response: OnRunStartResponse) -> None:
        """Called instead of ``on_run_end`` when something else than TensorFlow ended the run, a KeyboardInterrupt for
        example, or a fetch that does not exist."""

    # ---- the Session's surface

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        callable_runner: Callable[..., Any] | None = None,
        callable_runner_args: Sequence[Any] | None = None,
        callable_options: Any = None,
    ) -> Any:
        """As ``Session.run()``. Instead of fetches and feeds a callable of ``make_callable`` can be given, or
        CallableOptions."""
        if callable_runner and callable_options:
            raise ValueError("callable_runner and callable_options are mutually exclusive: give one of them.")
        if (callable_runner or callable_options) and (fetches is not None or feed_dict):
            raise ValueError("a callable already has its fetches and feeds: fetches and feed_dict must be None.")
        args = list(callable_runner_args or ())
        if callable_runner:
            call = of_runner(callable_runner, args)
        elif callable_options:
            plain = self._sess._make_callable_from_options(callable_options)
            call = from_options(self._sess, callable_options, plain, args)
        else:
            call = of_run(self._sess, fetches, feed_dict)
        return self._run(call, options, run_metadata)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """As ``Session.make_callable()``; each call of what it gives is a run that can be debugged."""
        plain = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=accept_options)

        def runner(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(values) != len(feed_list or ()):
                return plain(*values)  # which says what is wrong
            feeds = dict(zip(feed_list or (), values, strict=True))
            call = of_run(self._sess, fetches, feeds)
            call = call._replace(plain=of_runner(plain, values).plain, is_callable_runner=True)
            return self._run(call, options, run_metadata)

        return runner

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """Keras 2 runs its functions through these."""
        plain = self._sess._make_callable_from_options(callable_options)

        def runner(*values: Any, run_metadata: Any = None) -> Any:
            return self._run(from_options(self._sess, callable_options, plain, values), None, run_metadata)

        return runner

    def run_hooked(self, fetches: dict, asked: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """A run with what hooks fetch, too; ``asked`` is what the program itself fetches, and all that it knows of."""
        call = of_run(self._sess, fetches, feed_dict)._replace(asked=asked)
        return self._run(call, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        return step_fn(monitored_session.MonitoredSession.StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        self._say_once("partial_run() is passed through unchanged: TensorFlow cannot watch tensors in partial runs")
        return self._sess.partial_run_setup(fetches, feeds)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        return self._sess.partial_run(handle, fetches, feed_dict)

    def list_devices(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.reset(*args, **kwargs)

    def close(self) -> None:
        self._sess.close()

    def should_stop(self) -> bool:
        if not hasattr(self._sess, "should_stop"):
            raise ValueError(
                f"The wrapped session {self._sess!r} has no method should_stop(). Did you mean to wrap a "
                "MonitoredSession?"
            )
        return self._sess.should_stop()

    def as_default(self) -> Any:
        return tf_session.BaseSession.as_default(self)

    def __enter__(self) -> BaseDebugWrapperSession:
        with contextlib.ExitStack() as entered:
            entered.enter_context(self.graph.as_default())
            entered.enter_context(self.as_default())
            self._entered.__dict__.setdefault("stacks", []).append(entered.pop_all())
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.stacks.pop().__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        if name == "_sess" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._sess, name)

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        return self._sess.graph_def

    @property
    def sess_str(self) -> Any:
        return self._sess.sess_str

    @property
    def session(self) -> Any:
        """The session that is wrapped."""
        return self._sess

    @property
    def run_call_count(self) -> int:
        return self._run_call_count

    def increment_run_call_count(self) -> int:
        with self._count_lock:
            self._run_call_count += 1
            return self._run_call_count

    # ---- one run

    def _run(self, call: Call, options: Any, run_metadata: Any) -> Any:
        number = self.increment_run_call_count()
        if not self.enabled or is_empty(call.fetches) or self._is_disabled_thread():
            return call.plain(options, run_metadata)
        if call.with_options is None:
            self._say_once("runs whose feeds are connected to other tensors (CallableOptions) are not debugged")
            return call.plain(options, run_metadata)
        response = self.on_run_start(
            OnRunStartRequest(call.asked, call.feed_dict, options, run_metadata, number, call.is_callable_runner)
        )
        check_type(response, OnRunStartResponse)
        if response.action == OnRunStartAction.NON_DEBUG_RUN:
            return self._ending(response, None, lambda: call.plain(options, run_metadata))
        if response.action not in (OnRunStartAction.DEBUG_RUN, OnRunStartAction.PROFILE_RUN):
            raise ValueError(f"Invalid OnRunStartAction value: {response.action}")
        own_options, own_metadata = config_pb2.RunOptions(), config_pb2.RunMetadata()
        if options is not None:
            own_options.CopyFrom(options)
        self._decorate(own_options, response)
        if options is None or not options.debug_options.debug_tensor_watch_opts:
            self._refine(own_options, call, response)
        run = call.with_options
        try:
            return self._ending(response, own_metadata, lambda: run(own_options, own_metadata))
        except _DebuggerFailed as failed:
            self.enabled = False
            self._say_once(
                f"the debugger's own ops failed in a run ({failed}); it is started again without the debugger, which "
                "stays off. What the run had already changed (variables, queues) may change twice"
            )
            return call.plain(options, run_metadata)
        finally:
            if run_metadata is not None:
                run_metadata.CopyFrom(own_metadata)
                if options is None or not options.output_partition_graphs:
                    del run_metadata.partition_graphs[:]

    def _ending(self, response: OnRunStartResponse, metadata: Any, run: Callable[[], Any]) -> Any:
        """Runs, and sees to it that the callbacks learn how it ended."""
        try:
            values = run()
        except (tf.errors.OpError, ValueError) as error:
            if _DEBUG_NODE.search(str(error)):
                self.on_run_abandoned(response)
                raise _DebuggerFailed(_cause(error)) from None
            if not isinstance(error, tf.errors.OpError) or self._pass_through_operrors:
                self.on_run_abandoned(response)
            else:
                self._end(response, metadata, error)
            raise
        except BaseException:
            self.on_run_abandoned(response)
            raise
        self._end(response, metadata, None)
        return values

    def _end(self, response: OnRunStartResponse, metadata: Any, error: Any) -> None:
        request = OnRunEndRequest(
            response.action, metadata, lambda: self.graph.as_graph_def(), tf_error=error, response=response
        )
        check_type(self.on_run_end(request), OnRunEndResponse)

    def _decorate(self, run_options: Any, response: OnRunStartResponse) -> None:
        if response.action == OnRunStartAction.PROFILE_RUN:
            return self._decorate_run_options_for_profile(run_options)
        return self._decorate_run_options_for_debug(
            run_options,
            response.debug_urls,
            debug_ops=response.debug_ops,
            node_name_regex_allowlist=response.node_name_regex_allowlist,
            op_type_regex_allowlist=response.op_type_regex_allowlist,
            tensor_dtype_regex_allowlist=response.tensor_dtype_regex_allowlist,
            tolerate_debug_op_creation_failures=response.tolerate_debug_op_creation_failures,
        )

    def _refine(self, run_options: Any, call: Call, response: OnRunStartResponse) -> None:
        """For wrappers that know a cheaper way to the same: may change the debug options of a run, all of which are
        the wrapper's own."""

    def _decorate_run_options_for_debug(
        self,
        run_options: Any,
        debug_urls: list[str],
        debug_ops: str | list[str] = "DebugIdentity",
        node_name_regex_allowlist: str | None = None,
        op_type_regex_allowlist: str | None = None,
        tensor_dtype_regex_allowlist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        run_options.output_partition_graphs |= self._wants_partition_graphs
        tolerate = tolerate_debug_op_creation_failures
        expressions = (node_name_regex_allowlist, op_type_regex_allowlist, tensor_dtype_regex_allowlist)
        if any(expressions) or not watch_everything(run_options, debug_ops, debug_urls):
            key = (self.graph.version, tolerate, *map(str, (debug_urls, debug_ops, expressions)))
            found, watches = self._last_watches
            if found != key:
                watches = config_pb2.RunOptions()
                watch_graph(watches, self.graph, debug_ops, debug_urls, *expressions, tolerate)
                watch_merged(watches)
                self._last_watches = key, watches
            run_options.MergeFrom(watches)
        run_options.debug_options.reset_disk_byte_usage = self._is_disk_usage_reset_each_run()

    def _decorate_run_options_for_profile(self, run_options: Any) -> None:
        run_options.trace_level = config_pb2.RunOptions.FULL_TRACE

    def _is_disk_usage_reset_each_run(self) -> bool:
        """Whether TensorFlow's own count of dumped bytes begins anew with each run."""
        return self._run_call_count == 1

    def _is_disabled_thread(self) -> bool:
        return self._threads is not None and not self._threads.match(threading.current_thread().name or "")

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            faults.say(text)
