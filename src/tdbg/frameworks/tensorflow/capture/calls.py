"""Brackets the calls of TensorFlow's compiled functions: writes their execution rows, and which graph each ran.

TensorFlow finds a traced function by a key that has a context in it, and a counter of ours is part of that context. So
functions that were traced before are traced again, with observers; after ``disable()`` the old key finds the plain ones
again, without tracing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.eager import backprop, context
from tensorflow.python.eager.polymorphic_function import atomic_function, function_context, tracing_compilation
from tensorflow.python.framework import function_def_to_graph
from tensorflow.python.ops import script_ops

from tdbg.capture import faults
from tdbg.frameworks.tensorflow.capture.checks import BadValueError, BadValueInGraph

# TensorFlow 2.21 calls through call_flat; 2.15 through __call__.
_CALL = "call_flat" if hasattr(atomic_function.AtomicFunction, "call_flat") else "__call__"
_generation = 0


class Calls:
    """While installed, every eager call of a function is bracketed, every finished graph is reported, and functions
    traced before are traced again."""

    def __init__(
        self,
        begin: Callable[[Any, tuple, list[int]], Any],
        end: Callable[[Any, Any], None],
        lost: Callable[[int], None],
        finishing: Callable[[Any], None],
        finished: Callable[[str, Any], None],
        tape_begins: Callable[[], None],
        on_this_thread: Callable[[], None],
        tracing: Callable[[Any, Any, Any], None],
        restored: Callable[[Any], None],
        ran_python: Callable[[Any, Any], None],
        called_in_graph: Callable[[Any, Any], None] | None = None,
    ) -> None:
        self.trace_again()
        self._begin, self._end, self._lost, self._tape_begins = begin, end, lost, tape_begins
        self._finishing, self._finished, self._on_this_thread = finishing, finished, on_this_thread
        self._tracing, self._restored, self._ran_python = tracing, restored, ran_python
        self._called_in_graph = called_in_graph
        self._originals: list[tuple[Any, str, Any, Any]] = []

    def trace_again(self) -> None:
        """From here on no function finds what it was traced to before."""
        global _generation
        _generation += 1
        self._key = _generation

    def install(self) -> None:
        self._replace(atomic_function.AtomicFunction, _CALL, self._wrap_call)
        self._replace(atomic_function, "from_func_graph", self._wrap_from_func_graph)
        self._replace(tracing_compilation, "_create_concrete_function", self._wrap_tracing)
        self._replace(function_context, "make_function_context", self._wrap_context)
        self._replace(backprop.GradientTape, "_push_tape", self._wrap_push_tape)
        self._replace(script_ops.FuncRegistry, "__call__", self._wrap_python_code)
        self._replace(script_ops, "py_func_common", self._wrap_numpy_function)
        self._replace(function_def_to_graph, "function_def_to_graph", self._wrap_import)

    def remove(self) -> None:
        for owner, name, original, ours in reversed(self._originals):
            if getattr(owner, name) is ours:  # somebody wrapped it after us: leave theirs, ours then passes through
                setattr(owner, name, original)
        self._originals.clear()

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        original = getattr(owner, name)
        ours = wrap(original)
        setattr(owner, name, ours)
        self._originals.append((owner, name, original, ours))

    def _wrap_call(self, original: Any) -> Any:
        begin, end, lost, called_in_graph = self._begin, self._end, self._lost, self._called_in_graph

        def call_flat(function: Any, *args: Any, **kwargs: Any) -> Any:
            begun: list[int] = []
            outputs = None
            if not function._bound_context.executing_eagerly():
                outputs = original(function, *args, **kwargs)
                if called_in_graph is not None:
                    with faults.guard("recording a call in a graph"):
                        called_in_graph(function, outputs)
                return outputs
            try:
                call = begin(function, args, begun)
                if call is None:
                    return original(function, *args, **kwargs)
                try:
                    outputs = original(function, *args, **kwargs)
                    return outputs
                finally:
                    end(call, outputs)
            except BaseException:  # perhaps of a signal handler, at any of these lines
                for execution in begun:
                    lost(execution)
                raise

        return call_flat

    def _wrap_from_func_graph(self, original: Any) -> Any:
        def from_func_graph(name: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
            with faults.guard("finishing a graph"):
                self._finishing(graph)
            function = original(name, graph, *args, **kwargs)
            with faults.guard("reading a finished graph"):
                self._finished(name.decode() if isinstance(name, bytes) else name, graph)
            return function

        return from_func_graph

    def _wrap_tracing(self, original: Any) -> Any:
        def _create_concrete_function(function_type: Any, context: Any, graph: Any, options: Any) -> Any:
            with faults.guard("describing a function"):
                self._tracing(graph, function_type, options)
            return original(function_type, context, graph, options)

        return _create_concrete_function

    def _wrap_context(self, original: Any) -> Any:
        """Adds a key to the function cache's context: what was traced before enable() is traced again with observers,
        and the plain one is found again after disable()."""

        def make_function_context(*args: Any, **kwargs: Any) -> Any:
            self._on_this_thread()
            made = original(*args, **kwargs)
            inner = made.context
            policy = inner.variable_policy, ("tdbg", self._key)
            return type(made)(inner._replace(variable_policy=policy), made.scope_type)

        return make_function_context

    def _wrap_push_tape(self, original: Any) -> Any:
        def _push_tape(tape: Any) -> None:
            if context.executing_eagerly():  # and not merely being traced
                self._tape_begins()
            original(tape)

        return _push_tape

    def _wrap_python_code(self, original: Any) -> Any:
        """tf.py_function and generators of datasets run on TensorFlow's own threads."""

        def __call__(registry: Any, *args: Any, **kwargs: Any) -> Any:
            self._on_this_thread()
            try:
                return original(registry, *args, **kwargs)
            except BadValueError as error:  # TensorFlow makes an InvalidArgumentError of a ValueError only
                raise BadValueInGraph(error.message) from None

        return __call__

    def _wrap_numpy_function(self, original: Any) -> Any:
        """Outside functions TensorFlow runs the Python code of tf.numpy_function without telling of any op."""

        def py_func_common(func: Any, inp: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(func, inp, *args, **kwargs)
            if context.executing_eagerly():
                self._ran_python(inp, made)
            return made

        return py_func_common

    def _wrap_import(self, original: Any) -> Any:
        """Functions of a SavedModel are read, not traced."""

        def function_def_to_graph(*args: Any, **kwargs: Any) -> Any:
            graph = original(*args, **kwargs)
            with faults.guard("observing a loaded function"):
                self._restored(graph)
            return graph

        return function_def_to_graph
