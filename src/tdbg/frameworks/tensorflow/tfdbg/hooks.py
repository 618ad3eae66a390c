"""Debugs the training runs of a MonitoredSession or an Estimator that has one of these hooks.

Between the hooks and the session that they share lies TensorFlow's ``_HookedSession``. A hook of ours puts a gate
before that session: the run that the hooks are called for goes through the wrapper, all others do not. So the wrapper
sees a run that fails, and it shows a run before any other hook can end the program because of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as tf_session
from tensorflow.python.training import monitored_session

from tdbg.capture.control import Prompt
from tdbg.frameworks.tensorflow.tfdbg.base_wrapper import BaseDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.dumping import DumpingDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.grpc import (
    PATIENCE,
    Addresses,
    GrpcDebugWrapperSession,
    TensorBoardDebugWrapperSession,
)
from tdbg.frameworks.tensorflow.tfdbg.local_cli import LocalCLIDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.old_names import say_left_out, takes_old_names
from tdbg.frameworks.tensorflow.tfdbg.requests import (
    OnRunEndRequest,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
)
from tdbg.scene import TensorFilter as Filter

_CALLER = "caller"  # the key under which _HookedSession fetches what the user asked for


class _Gate(tf_session.SessionInterface):
    """In a session's place: runs that hooks were called for go to the wrapper, everything else to the session."""

    def __init__(self, session: Any, wrapper: BaseDebugWrapperSession) -> None:
        self._session, self._wrapper = session, wrapper

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        is_hooked = isinstance(fetches, dict) and _CALLER in fetches
        if is_hooked and self._wrapper.session is self._session:
            return self._wrapper.run_hooked(fetches, fetches[_CALLER], feed_dict, options, run_metadata)
        return self._session.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    @property
    def graph(self) -> Any:
        return self._session.graph

    @property
    def sess_str(self) -> Any:
        return self._session.sess_str

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        return self._session.partial_run_setup(fetches, feeds)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        return self._session.partial_run(handle, fetches, feed_dict)

    def as_default(self) -> Any:
        return self._session.as_default()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_session":
            raise AttributeError(name)
        return getattr(self._session, name)


class _DebugHook(tf.compat.v1.train.SessionRunHook):
    """What the four hooks share. One hook can serve several sessions, one after the other."""

    def __init__(self, make_wrapper: Callable[[Any], BaseDebugWrapperSession]) -> None:
        self._make_wrapper = make_wrapper
        self._wrapper: Any = None
        self._enabled = True
        self._response: OnRunStartResponse | None = None  # of a run that is debugged without a gate

    @property
    def wrapper(self) -> Any:
        """The wrapper that debugs the runs; None before the first run."""
        return self._wrapper

    @property
    def enabled(self) -> bool:
        """Whether runs are debugged; it can be changed at any time."""
        return self._wrapper.enabled if self._wrapper is not None else self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = value
        if self._wrapper is not None:
            self._wrapper.enabled = value

    def before_run(self, run_context: Any) -> Any:
        session = run_context.session
        session = session._session if isinstance(session, _Gate) else session
        self._wrap(session)
        hooked = self._hooked_session()
        gate = hooked._sess if hooked is not None else None
        if isinstance(gate, _Gate) and gate._wrapper is self._wrapper:
            return None
        if hooked is None or isinstance(gate, _Gate):  # where the gate is another hook's, both are served
            return self._before_run_by_options(run_context)
        hooked._sess = _Gate(session, self._wrapper)
        return None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._response is not None:
            response, self._response = self._response, None
            self._wrapper.on_run_end(OnRunEndRequest(response.action, run_values.run_metadata, response=response))

    def _wrap(self, session: Any) -> None:
        if self._wrapper is None:
            self._wrapper = self._make_wrapper(session)
            self._wrapper.enabled = self._enabled
        elif self._wrapper.session is not session:
            self._wrapper._sess = session

    def _hooked_session(self) -> Any:
        """The session whose run() is calling this hook."""
        frame = sys._getframe(1)
        while frame is not None:
            caller = frame.f_locals.get("self")
            if isinstance(caller, monitored_session._HookedSession) and self in caller._hooks:
                return caller
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def _before_run_by_options(self, run_context: Any) -> Any:
        """For hosts that call hooks in a way of their own: the run is debugged through the options that they merge."""
        wrapper = self._wrapper
        number = wrapper.increment_run_call_count()
        if self._response is not None:  # its run failed
            wrapper.on_run_abandoned(self._response)
            self._response = None
        if not wrapper.enabled or wrapper._is_disabled_thread():
            return None
        asked = run_context.original_args
        self._response = wrapper.on_run_start(OnRunStartRequest(asked.fetches, asked.feed_dict, None, None, number))
        options = config_pb2.RunOptions()
        if self._response.action != OnRunStartAction.NON_DEBUG_RUN:
            wrapper._decorate(options, self._response)
        return tf.compat.v1.train.SessionRunArgs(None, feed_dict=None, options=options)


class LocalCLIDebugHook(_DebugHook):
    """The prompt of LocalCLIDebugWrapperSession around each run of a MonitoredSession or an Estimator."""

    @takes_old_names
    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | os.PathLike | None = None,
        thread_name_filter: str | None = None,
        config_file_path: Any = None,
        *,
        prompt: Prompt | None = None,
        watch_fn: Any = None,
    ) -> None:
        if watch_fn is not None:  # of TensorFlow 1.0
            instead = "use the flags of run at the prompt, such as --node_name_filter, to choose what is watched"
            say_left_out("watch_fn", "LocalCLIDebugHook", instead)
        self._filters: dict[str, Filter] = {}

        def make(session: Any) -> LocalCLIDebugWrapperSession:
            wrapper = LocalCLIDebugWrapperSession(
                session, dump_root, ui_type, thread_name_filter, config_file_path, prompt=prompt
            )
            for name, function in self._filters.items():
                wrapper.add_tensor_filter(name, function)
            return wrapper

        super().__init__(make)

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """As ``LocalCLIDebugWrapperSession.add_tensor_filter``; before the first run or later."""
        self._filters[filter_name] = tensor_filter
        if self._wrapper is not None:
            self._wrapper.add_tensor_filter(filter_name, tensor_filter)


class DumpingDebugHook(_DebugHook):
    """Dumps each run as DumpingDebugWrapperSession does, with the same arguments."""

    @takes_old_names
    def __init__(
        self,
        session_root: str | os.PathLike,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        *,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        disk_limit: int | None = None,
    ) -> None:
        super().__init__(
            lambda session: DumpingDebugWrapperSession(
                session,
                session_root,
                watch_fn,
                thread_name_filter,
                start_step=start_step,
                stop_step=stop_step,
                every=every,
                disk_limit=disk_limit,
            )
        )


class GrpcDebugHook(_DebugHook):
    """Sends each run to debug servers as GrpcDebugWrapperSession does, with the same arguments."""

    @takes_old_names
    def __init__(
        self,
        grpc_debug_server_addresses: Addresses,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        *,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(
            lambda session: GrpcDebugWrapperSession(
                session,
                grpc_debug_server_addresses,
                watch_fn,
                thread_name_filter,
                start_step=start_step,
                stop_step=stop_step,
                every=every,
                patience=patience,
            )
        )


class TensorBoardDebugHook(_DebugHook):
    """Sends each run to a debug server as TensorBoardDebugWrapperSession does, with the same arguments.

    With ``tensor_filter_fn(datum, tensor)`` only runs of which a tensor passes are sent: see there.
    """

    @takes_old_names
    def __init__(
        self,
        grpc_debug_server_addresses: Addresses,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        *,
        tensor_filter_fn: Filter | None = None,
        start_step: int = 0,
        stop_step: int | None = None,
        every: int = 1,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(
            lambda session: TensorBoardDebugWrapperSession(
                session,
                grpc_debug_server_addresses,
                thread_name_filter,
                send_traceback_and_source_code,
                tensor_filter_fn=tensor_filter_fn,
                start_step=start_step,
                stop_step=stop_step,
                every=every,
                patience=patience,
            )
        )
