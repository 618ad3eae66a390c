"""Runs functions meant for XLA without it while tdbg is on, or records their inputs and outputs from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import atomic_function, polymorphic_function

from tdbg.capture import faults
from tdbg.frameworks.tensorflow.capture.checks import Checks
from tdbg.model import Flag

_MUST_COMPILE = "_XlaMustCompile"


def is_compiled(function: Any) -> bool:
    """Whether one of the runtime's functions asks for XLA."""
    return function.cached_definition.attr[_MUST_COMPILE].b


def _is_true(value: Any) -> bool:
    return bool(getattr(value, "b", value))


class WithoutXla:
    """While installed, functions are made without XLA, so that observers can be inside. TensorFlow makes them anew
    because tdbg changes the key of its cache; after that the compiled ones are found again."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        self._note = note
        self._said: set[str] = set()

    def install(self) -> None:
        self._context = context = polymorphic_function.OptionalXlaContext
        self._make = make = atomic_function.from_func_graph

        class OptionalXlaContext(context):  # type: ignore[misc, valid-type]
            def __init__(self, is_compiled: Any) -> None:
                super().__init__(False)

        def from_func_graph(name: Any, graph: Any, attrs: Any = None, *args: Any, **kwargs: Any) -> Any:
            if attrs and _is_true(attrs.get(_MUST_COMPILE)):
                attrs = {**attrs, _MUST_COMPILE: False}
                self._say(graph.name)
            return make(name, graph, attrs, *args, **kwargs)

        self._our_context = polymorphic_function.OptionalXlaContext = OptionalXlaContext
        self._our_make = atomic_function.from_func_graph = from_func_graph

    def remove(self) -> None:
        if polymorphic_function.OptionalXlaContext is self._our_context:
            polymorphic_function.OptionalXlaContext = self._context
        if atomic_function.from_func_graph is self._our_make:
            atomic_function.from_func_graph = self._make

    def _say(self, name: str) -> None:
        if name in self._said:
            return
        self._said.add(name)
        faults.say(
            f"function {name} runs without XLA so that tdbg can look inside (tdbg run --xla keep leaves it compiled)"
        )
        self._note("xla", f"XLA was switched off for {name}; code that XLA rewrites may compute differently")


class CompiledCalls:
    """What goes into and comes out of compiled functions, where XLA is kept."""

    def __init__(self, recorder: Any, input_dtypes: int, dtypes: int, as_buffer: Callable[[Any], Any]) -> None:
        self._lib, self._input_dtypes, self._dtypes, self._as_buffer = recorder.lib, input_dtypes, dtypes, as_buffer
        self.checks: Checks | None = None

    def begins(self, execution: int, op: int, args: Sequence[Any]) -> None:
        self._lib.call_tensors(op, execution, int(Flag.INPUT), args, self._input_dtypes, self._as_buffer)

    def ends(self, execution: int, op: int, name: str, args: Sequence[Any], outputs: Any) -> None:
        results = tf.nest.flatten(outputs, expand_composites=True)
        if execution >= 0:
            self._lib.call_tensors(op, execution, 0, results, self._dtypes, self._as_buffer)
        if self.checks is not None:
            self.checks.call(op, name, args, results)
