"""Defines what a debug wrapper asks its callbacks, and the actions that they answer with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.client import session as tf_session
from tensorflow.python.training import monitored_session

from tdbg.frameworks.tensorflow.tfdbg.old_names import takes_old_names

SESSIONS = (tf_session.BaseSession, monitored_session._MonitoredSession)


def check_type(value: Any, expected: type | tuple[type, ...]) -> None:
    """A TypeError that names what was expected and what came."""
    if not isinstance(value, expected):
        names = [kind.__name__ for kind in (expected if isinstance(expected, tuple) else (expected,))]
        raise TypeError(f"Expected type {' or '.join(names)}; got {value!r} of type {type(value).__name__}")


class OnSessionInitAction:
    """What a wrapper does once it is made. An instruction loop from afar is named here and refused."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnSessionInitRequest:
    """Given to ``on_session_init`` while a wrapper is made: the session that is wrapped."""

    def __init__(self, sess: Any) -> None:
        check_type(sess, SESSIONS)
        self.session = sess


class OnSessionInitResponse:
    """Which ``OnSessionInitAction`` follows."""

    def __init__(self, action: str) -> None:
        check_type(action, str)
        self.action = action


class OnRunStartAction:
    """How a run() call is carried out: watched, profiled, or as it is."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class OnRunStartRequest:
    """Given to ``on_run_start``: the arguments of run(), and how many runs there were, this one counted."""

    def __init__(
        self,
        fetches: Any,
        feed_dict: Any,
        run_options: Any,
        run_metadata: Any,
        run_call_count: int,
        is_callable_runner: bool = False,
    ) -> None:
        self.fetches, self.feed_dict = fetches, feed_dict
        self.run_options, self.run_metadata = run_options, run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


class OnRunStartResponse:
    """Which ``OnRunStartAction`` follows, where watched tensors go, and which tensors are watched."""

    @takes_old_names
    def __init__(
        self,
        action: str,
        debug_urls: list[str],
        debug_ops: str | list[str] = "DebugIdentity",
        node_name_regex_allowlist: str | None = None,
        op_type_regex_allowlist: str | None = None,
        tensor_dtype_regex_allowlist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        check_type(action, str)
        check_type(debug_urls, list)
        self.action, self.debug_urls, self.debug_ops = action, debug_urls, debug_ops
        self.node_name_regex_allowlist = node_name_regex_allowlist
        self.op_type_regex_allowlist = op_type_regex_allowlist
        self.tensor_dtype_regex_allowlist = tensor_dtype_regex_allowlist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


class OnRunEndRequest:
    """Given to ``on_run_end``: what was done, what TensorFlow told of the run, and its error if it had one.

    ``response`` is what ``on_run_start`` had answered for this very run. The client's graph is made when it is asked
    for: ``client_graph_def`` may be given as a function.
    """

    def __init__(
        self,
        performed_action: str,
        run_metadata: Any = None,
        client_graph_def: Any | Callable[[], Any] = None,
        tf_error: Any = None,
        *,
        response: OnRunStartResponse | None = None,
    ) -> None:
        check_type(performed_action, str)
        if run_metadata is not None:
            check_type(run_metadata, tf.compat.v1.RunMetadata)
        self.performed_action, self.run_metadata = performed_action, run_metadata
        self._client_graph_def = client_graph_def
        self.tf_error, self.response = tf_error, response

    @property
    def client_graph_def(self) -> Any:
        if callable(self._client_graph_def):
            self._client_graph_def = self._client_graph_def()
        return self._client_graph_def


class OnRunEndResponse:
    """Says nothing yet; ``on_run_end`` gives one back."""
