"""TensorFlow's op callbacks belong to one thread; this puts ours on every thread that runs Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tensorflow.python.eager import context, execute

from tdbg.capture import faults


class EveryThread:
    """While installed, new threads get the callback as they start, others when they next call or trace a function."""

    def __init__(self, callback: Callable) -> None:
        self._callback = callback
        self._installed = False
        self._local = threading.local()
        self._original_bootstrap: Any = None
        self._original_execute = execute.execute

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
        """Puts the callback on the calling thread."""
        if self._installed and not getattr(self._local, "done", False):
            self._local.done = True
            context.context().add_op_callback(self._on_this_thread)

    def _on_this_thread(self, *args: Any, **kwargs: Any) -> Any:
        # Threads other than the one that calls disable() keep the callback: it then does nothing.
        return self._callback(*args, **kwargs) if self._installed else None

    def remove(self) -> None:
        self._installed = False
        if getattr(threading.Thread, "_bootstrap_inner", None) is getattr(self, "_ours", None):
            threading.Thread._bootstrap_inner = self._original_bootstrap  # type: ignore[attr-defined]
        ctx = context.context()
        if getattr(self._local, "done", False):
            self._local.done = False
            if self._on_this_thread in ctx.op_callbacks:
                ctx.remove_op_callback(self._on_this_thread)
        if not ctx.op_callbacks:
            execute.execute = execute.quick_execute
