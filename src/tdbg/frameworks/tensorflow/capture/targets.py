"""Records which tensors gradients are taken of (the loss, mostly), as tapes and ``tf.gradients`` tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.python.eager import imperative_grad
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import gradients_util
from tensorflow.python.types import core
from tensorflow.python.util import nest

from tdbg.capture import faults
from tdbg.frameworks.tensorflow.capture.known_inputs import made_by
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs


class Targets:
    """While installed, each target of a gradient gets a row; those of Sessions are kept until their graph is run."""

    def __init__(
        self,
        add: Callable[[str, tuple], None],
        clients: ClientGraphs,
        is_sessions: Callable[[Any], bool],
        number_of_graph_op: Callable[[Any], int],
        number_of_eager: Callable[[int], int],
    ) -> None:
        self._add, self._clients, self._is_sessions = add, clients, is_sessions
        self._number_of_graph_op, self._number_of_eager = number_of_graph_op, number_of_eager
        self._seen: set[tuple[int, bool]] = set()
        self._original_tape, self._original_helper = imperative_grad.imperative_grad, gradients_util._GradientsHelper

    def install(self) -> None:
        imperative_grad.imperative_grad = self._of_tape
        gradients_util._GradientsHelper = self._in_graph

    def remove(self) -> None:
        if imperative_grad.imperative_grad == self._of_tape:
            imperative_grad.imperative_grad = self._original_tape
        if gradients_util._GradientsHelper == self._in_graph:
            gradients_util._GradientsHelper = self._original_helper

    def _of_tape(self, tape: Any, target: Any, sources: Any, *rest: Any, **named: Any) -> Any:
        self._tell(target, sources)
        return self._original_tape(tape, target, sources, *rest, **named)

    def _in_graph(self, ys: Any, xs: Any, grad_ys: Any = None, *rest: Any, **named: Any) -> Any:
        if grad_ys is None:  # else it is a part of a backward pass: of a function, a loop or a conditional
            self._tell(ys, xs)
        return self._original_helper(ys, xs, grad_ys, *rest, **named)

    def _tell(self, targets: Any, sources: Any) -> None:
        with faults.guard("noting what is differentiated"):
            variables = sum(_is_variable(source) for source in nest.flatten(sources))
            for target in nest.flatten(targets):
                if isinstance(target, core.Tensor):
                    self._tell_one(target, variables)

    def _tell_one(self, target: Any, variables: int) -> None:
        if isinstance(target, ops.EagerTensor):
            op, slot, tensor = self._number_of_eager(target._id), 0, target._id
        elif self._is_sessions(target.graph):
            self._clients.target(target, variables)
            return
        else:
            op, slot, tensor = self._number_of_graph_op(target), made_by(target)[1], -1
        if op >= 0 and (op, variables > 0) not in self._seen:
            self._seen.add((op, variables > 0))
            self._add("targets", (op, slot, tensor, variables))


def _is_variable(source: Any) -> bool:
    """A variable, or what stands for one: its handle, or in old graphs a reference."""
    dtype = getattr(source, "dtype", None)
    is_handle = dtype == dtypes.resource or getattr(dtype, "_is_ref_dtype", False)
    return bool(is_handle or hasattr(source, "assign"))
