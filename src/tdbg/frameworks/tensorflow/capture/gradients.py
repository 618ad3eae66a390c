"""Tells which forward op is being differentiated right now, so that a backward op knows the user's line it comes from.

A tape forgets the tensors that an op's gradient does not need, often all of them. So the number of a graph's op travels
through the tape among the op's attributes, and eager ops are remembered by their first input while a tape records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, context, execute
from tensorflow.python.ops import gradients_util

_ATTRIBUTE = "_tdbg_op"
_MOST_REMEMBERED = 100_000


class ForwardLinks:
    """While installed, ``current()`` is the number of the forward op that this thread differentiates, or -1."""

    def __init__(
        self,
        gradient_taken: Callable[[], None],
        number_of_graph_op: Callable[[Any], int],
        number_of_eager: Callable[[int], int],
    ) -> None:
        self._local = threading.local()
        self._gradient_taken = gradient_taken
        self._number_of_graph_op, self._number_of_eager = number_of_graph_op, number_of_eager
        self._by_input: dict[tuple[str, int], int] = {}
        self._original_compile, self._original_record = gradients_util._MaybeCompile, execute.record_gradient

    def current(self) -> int:
        return getattr(self._local, "forward", -1)

    def install(self) -> None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(self._tape_gradient)
        gradients_util._MaybeCompile = self._graph_gradient
        execute.record_gradient = self._record_gradient

    def remove(self) -> None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
        if gradients_util._MaybeCompile == self._graph_gradient:
            gradients_util._MaybeCompile = self._original_compile
        if execute.record_gradient == self._record_gradient:
            execute.record_gradient = self._original_record
        self._by_input.clear()

    def remember(self, op_type: str, inputs: Any, number: int) -> None:
        """An eager op ran; its gradient may be asked for later."""
        if inputs and not pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            if len(self._by_input) > _MOST_REMEMBERED:
                self._by_input.clear()
            self._by_input[(op_type, inputs[0]._id)] = number

    def _record_gradient(self, op_name: str, inputs: Any, attrs: Any, outputs: Any) -> Any:
        if outputs and not context.executing_eagerly():
            attrs = (*(attrs or ()), _ATTRIBUTE, self._number_of_graph_op(outputs[0]))
        return self._original_record(op_name, inputs, attrs, outputs)

    def _tape_gradient(self, op_name: str, attrs: Any, num_inputs: int, inputs: Any, outputs: Any, *rest: Any) -> Any:
        number = self._number(op_name, attrs, inputs, outputs)
        return self._inside(
            number, lambda: backprop._gradient_function(op_name, attrs, num_inputs, inputs, outputs, *rest)
        )

    def _number(self, op_name: str, attrs: Any, inputs: Any, outputs: Any) -> int:
        if attrs and _ATTRIBUTE in attrs[::2]:
            return attrs[2 * attrs[::2].index(_ATTRIBUTE) + 1]
        kept = [t._id for t in outputs or () if hasattr(t, "_datatype_enum")]
        if kept:
            return self._number_of_eager(kept[0])
        first: Any = inputs[0] if inputs else None
        return self._by_input.get((op_name, first._id), -1) if hasattr(first, "_id") else -1

    def _graph_gradient(self, scope: Any, op: Any, func: Any, grad_fn: Any) -> Any:
        number = self._number_of_graph_op(op)
        return self._inside(number, lambda: self._original_compile(scope, op, func, grad_fn))

    def _inside(self, forward: int, compute: Callable[[], Any]) -> Any:
        before = self.current()
        self._local.forward = forward
        if context.executing_eagerly():  # and not merely being traced
            self._gradient_taken()
        try:
            return compute()
        finally:
            self._local.forward = before
