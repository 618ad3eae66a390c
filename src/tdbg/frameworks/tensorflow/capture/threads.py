"""Puts tdbg's op callback on every thread that runs Python; TensorFlow keeps callbacks for one thread alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tensorflow.python.eager import context, execute

from tdbg.capture import faults


class _Local(threading.local):
    """TensorFlow's own threads forget this between two visits to Python, but not the callbacks."""

    shared = False  # others listen too
    made: Any = None  # what our first callback gave, until the last has seen it


class EveryThread:
    """While installed, new threads get the callback as they start, others when they next call or trace a function or
    TensorFlow calls Python code on them."""

    def __init__(self, callback: Callable) -> None:
        self._callback = callback
        self._installed = False
        self._local = _Local()
        self._original_bootstrap: Any = None

    def install(self) -> None:
        self._installed = True
        self.ensure()
        self._original_bootstrap = original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def _bootstrap_inner(thread: threading.Thread) -> None:
            if thread.name != "tdbg-writer":
                with faults.guard("following a new thread"):
                    self.ensure()
            original(thread)

        self._ours = threading.Thread._bootstrap_inner = _bootstrap_inner  # type: ignore[attr-defined]
        execute.execute = execute.execute_with_callbacks

    def ensure(self) -> None:
        """Puts the callback on the calling thread, before those of others. TensorFlow hands the outputs from one to the
        next, and one that returns None takes them away from the rest: a second callback of ours, the last, restores
        them."""
        callbacks = context.context().op_callbacks
        if not self._installed or (callbacks and callbacks[0] == self._first and callbacks[-1] == self._outermost):
            return
        others = [callback for callback in callbacks if not _is_ours(callback)]
        self._local.made, self._local.shared = None, bool(others)
        callbacks[:] = [self._first, *others, self._last] if others else [self._first]

    @property
    def _outermost(self) -> Callable:
        return self._last if self._local.shared else self._first

    # Threads other than the one that calls disable() keep these; they then do nothing.

    def _first(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        if not self._installed:
            return _as_made(outputs, graph)
        made = self._callback(op_type, inputs, attrs, outputs, op_name, graph) or _as_made(outputs, graph)
        if self._local.shared:
            self._local.made = made
        return made

    def _last(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> Any:
        made, self._local.made = self._local.made, None
        return made if outputs is None and self._installed else _as_made(outputs, graph)

    def remove(self) -> None:
        self._installed = False
        if getattr(threading.Thread, "_bootstrap_inner", None) is getattr(self, "_ours", None):
            threading.Thread._bootstrap_inner = self._original_bootstrap  # type: ignore[attr-defined]
        callbacks = context.context().op_callbacks
        callbacks[:] = [callback for callback in callbacks if not _is_ours(callback)]
        if not callbacks:
            execute.execute = execute.quick_execute


def _as_made(outputs: Any, graph: Any) -> Any:
    """TensorFlow shows a graph op's outputs as a tuple, and takes what it gets back for the list that it had made."""
    return list(outputs) if graph is not None and outputs is not None else outputs


def _is_ours(callback: Any) -> bool:
    return isinstance(getattr(callback, "__self__", None), EveryThread)
