"""Which forward op is being differentiated right now, so that a backward op knows the user's line it comes from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, context
from tensorflow.python.ops import gradients_util


class ForwardLinks:
    """While installed, ``current()`` names the forward op (a graph tensor, an eager tensor or an op) of this thread."""

    def __init__(self, gradient_taken: Callable[[], None]) -> None:
        self._local = threading.local()
        self._gradient_taken = gradient_taken
        self._original_compile = gradients_util._MaybeCompile

    def current(self) -> Any:
        return getattr(self._local, "forward", None)

    def install(self) -> None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(self._tape_gradient)
        gradients_util._MaybeCompile = self._graph_gradient

    def remove(self) -> None:
        pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
        if gradients_util._MaybeCompile == self._graph_gradient:
            gradients_util._MaybeCompile = self._original_compile

    def _inside(self, forward: Any, compute: Callable[[], Any]) -> Any:
        before = self.current()
        self._local.forward = forward
        if context.executing_eagerly():  # and not merely being traced
            self._gradient_taken()
        try:
            return compute()
        finally:
            self._local.forward = before

    def _tape_gradient(self, op_name: str, attrs: Any, num_inputs: int, inputs: Any, outputs: Any, *rest: Any) -> Any:
        forward = outputs[0] if outputs else None
        return self._inside(
            forward, lambda: backprop._gradient_function(op_name, attrs, num_inputs, inputs, outputs, *rest)
        )

    def _graph_gradient(self, scope: Any, op: Any, func: Any, grad_fn: Any) -> Any:
        return self._inside(op, lambda: self._original_compile(scope, op, func, grad_fn))
