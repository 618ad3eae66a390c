"""Tells ``Runs`` of every run of this process's Sessions, before and after it, however it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as sessions
from tensorflow.python.eager import context

from tdbg.capture import faults
from tdbg.frameworks.tensorflow.sessions.debug_nodes import PREFIXES, take_out
from tdbg.frameworks.tensorflow.sessions.names import output_name
from tdbg.frameworks.tensorflow.sessions.runs import Run, Runs


class Interception:
    """While installed, every run of every Session goes through ``runs``."""

    def __init__(self, runs: Runs, on_this_thread: Callable[[], None]) -> None:
        self._runs, self._on_this_thread = runs, on_this_thread
        self._is_on = False
        self._originals: list[tuple[str, Any, Any]] = []
        self._last = threading.local()  # the thread's last run

    def install(self) -> None:
        self._is_on = True
        self._runs.start()
        self._replace("__init__", self._wrap_init)
        self._replace("_do_run", self._wrap_do_run)
        self._replace("run", self._wrap_run)
        self._replace("make_callable", self._wrap_make_callable)
        self._replace("_make_callable_from_options", self._wrap_make_callable_from_options)

    def remove(self) -> None:
        self._is_on = False
        for name, original, ours in reversed(self._originals):
            if getattr(sessions.BaseSession, name) is ours:  # else somebody wrapped it after us; ours passes through
                setattr(sessions.BaseSession, name, original)
        self._originals.clear()
        self._runs.stop()

    def after_fork(self) -> None:
        self._runs.after_fork()

    def _replace(self, name: str, wrap: Callable[[Any], Any]) -> None:
        original = getattr(sessions.BaseSession, name)
        ours = wrap(original)
        setattr(sessions.BaseSession, name, ours)
        self._originals.append((name, original, ours))

    def _wrap_init(self, original: Any) -> Any:
        """A Session that is made while recording puts the bodies of functions that have side effects into its graph, as
        it does those of others, and as TensorFlow 2 does both. Else nothing of them could be seen."""

        def __init__(session: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
            ours = None
            if self._is_on and not target:
                with faults.guard("making a Session"):
                    ours = _with_inlining(config)
            original(session, target, graph, config if ours is None else ours)
            if ours is not None:  # what the program reads of it is its own
                plain = config if config is not None else context.context().config
                session._config.graph_options.optimizer_options.do_function_inlining = (
                    plain.graph_options.optimizer_options.do_function_inlining
                )

        return __init__

    def _wrap_do_run(self, original: Any) -> Any:
        def _do_run(
            session: Any,
            handle: Any,
            target_list: Any,
            fetch_list: Any,
            feed_dict: Any,
            options: Any,
            run_metadata: Any,
        ) -> Any:
            run: Run | None = None
            begun: list[int] = []
            results, error = None, None
            try:
                if self._is_on:
                    with faults.guard("recording a Session's run"):
                        self._on_this_thread()
                        run = self._runs.begins(session, handle, target_list, fetch_list, feed_dict, options, begun)
                if run is None:
                    return original(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
                try:
                    results = original(session, handle, target_list, fetch_list, feed_dict, run.options, run_metadata)
                    return results
                except BaseException as raised:
                    error = raised
                    raise
                finally:
                    self._last.run = run
                    with faults.guard("recording the end of a Session's run"):
                        self._runs.ends(run, results, error)
            except BaseException:
                self._runs.lost(begun)
                raise

        return _do_run

    def _wrap_run(self, original: Any) -> Any:
        def run(
            session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
        ) -> Any:
            self._last.run = None
            results = original(session, fetches, feed_dict, options, run_metadata)
            if run_metadata is not None and self._is_on and options is not None and not _has_watches(options):
                with faults.guard("handing back a run's metadata"):
                    _leave_out_ours(run_metadata)
                    if self._last.run is not None:
                        self._runs.profiled(self._last.run, run_metadata, session.graph)
            return results

        return run

    def _wrap_make_callable(self, original: Any) -> Any:
        """TensorFlow's callables without feeds go past run(); while recording they go through it."""

        def make_callable(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
            plain = original(session, fetches, feed_list, accept_options)
            if feed_list is not None:
                return plain  # which is run() already

            def call(**options: Any) -> Any:
                return session.run(fetches, **options) if self._is_on else plain(**options)

            return call

        return make_callable

    def _wrap_make_callable_from_options(self, original: Any) -> Any:
        """Keras' graph mode makes these."""

        def _make_callable_from_options(session: Any, callable_options: Any) -> Any:
            plain = original(session, callable_options)
            feeds, fetches = (list(map(output_name, some)) for some in (callable_options.feed, callable_options.fetch))
            names = feeds, fetches, list(callable_options.target)
            if callable_options.tensor_connection or callable_options.feed_devices or callable_options.fetch_devices:
                return plain
            return _Callable(self, session, names, plain, callable_options.run_options)

        return _make_callable_from_options


class _Callable:
    def __init__(self, interception: Interception, session: Any, names: Any, plain: Any, options: Any) -> None:
        self._interception, self._session, self._plain, self._options = interception, session, plain, options
        self._feeds, self._fetches, self._targets = names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._interception._is_on:
            return self._plain(*args, **kwargs)
        targets = [self._session.graph.get_operation_by_name(name) for name in self._targets]
        feeds = dict(zip(self._feeds, args, strict=True))
        options = self._options if self._options.ByteSize() else None
        results = self._session.run([self._fetches, targets], feeds, options, kwargs.get("run_metadata"))
        return results[0]


def _with_inlining(config: Any) -> Any:
    """A copy; None where there is nothing to change, or TensorFlow is to say what is wrong with it."""
    if config is None:
        config = context.context().config
    if not isinstance(config, config_pb2.ConfigProto):
        return None
    ours = config_pb2.ConfigProto()
    ours.CopyFrom(config)
    ours.graph_options.optimizer_options.do_function_inlining = True
    return ours


def _has_watches(options: Any) -> bool:
    return bool(options.debug_options.debug_tensor_watch_opts)


def _leave_out_ours(metadata: Any) -> None:
    """The nodes that the runtime put behind the user's are not the user's."""
    for graph in metadata.partition_graphs:
        take_out(graph)
    for device in metadata.step_stats.dev_stats:
        kept = [node for node in device.node_stats if not node.node_name.startswith(PREFIXES)]
        if len(kept) < len(device.node_stats):
            copies = [type(node).FromString(node.SerializeToString()) for node in kept]
            del device.node_stats[:]
            device.node_stats.extend(copies)
