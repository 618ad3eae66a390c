"""Holds the program at ``tdbg.breakpoint()``: at once, or whenever the function that is being traced runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record as tape_record
from tensorflow.python.framework import ops
from tensorflow.python.ops import resource_variable_ops

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.bad_value import Limits, stack_lines
from tdbg.capture.held_scene import HeldTensor
from tdbg.capture.hold import Held
from tdbg.capture.holding import Holding
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps
from tdbg.frames import is_user_file
from tdbg.frameworks.tensorflow.capture.breaks import OpInGraphEnded
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.capture.held_op import Known, fact_of, seen_of
from tdbg.frameworks.tensorflow.capture.saving import NAMES
from tdbg.model import Frame, Phase

_TENSORS = (ops.EagerTensor, resource_variable_ops.BaseResourceVariable)
_LOCAL = "local variable"
_numbers = itertools.count()


class Breakpoints:
    """``steps`` tells the step that the program is in."""

    def __init__(self, holding: Holding, sources: Sources, steps: Steps, lib: Any) -> None:
        self._holding, self._sources, self._steps, self._lib = holding, sources, steps, lib

    def reached(self, frame: FrameType) -> None:
        """SystemExit when the program is to end."""
        self._holding.breakpoint_reached()
        stack = self._sources.user_frames(self._lib.stack_here(4))
        variables = _user_frame(frame).f_locals
        if tf.inside_function() or not tf.executing_eagerly():
            self._put_into_graph(variables, stack)
            return
        self._hold(dict(_values(variables)), stack)
        self._holding.holder.leave()

    def _put_into_graph(self, variables: Mapping[str, Any], stack: Sequence[Frame]) -> None:
        """An op of the function, that holds it with the values that these tensors have then."""
        graph = ops.get_default_graph()
        found = {
            name: tensor
            for name, tensor in variables.items()
            if _is_shown(name) and _is_symbolic(tensor, graph) and code_of(tensor.dtype).is_number
        }

        def hold(*values: Any) -> None:
            why = None
            with faults.guard("holding a function at a breakpoint"):
                why = self._hold(dict(zip(found, map(np.asarray, values), strict=True)), stack)
            if why:
                raise OpInGraphEnded(why)

        name = f"{NAMES}breakpoint_{next(_numbers)}_watch/"
        with tape_record.stop_recording():
            tf.numpy_function(hold, list(found.values()), [], stateful=True, name=name)

    def _hold(self, values: Mapping[str, np.ndarray], stack: Sequence[Frame]) -> str | None:
        step = self._steps.current
        if not self._holding.holder.breaks.hold_lines(step):
            return None
        user = next((frame for frame in reversed(stack) if frame.is_user), None)
        where = f"{user.file.rpartition('/')[2]}:{user.line}" if user is not None else "unknown"

        def make() -> Held:
            tensors = [_local(name, array, step) for name, array in values.items()]
            lines = [f"    {held.seen.node} = {_described(held)}" for held in tensors]
            return Held(
                "breakpoint",
                f"breakpoint: {where}, step {step}",
                [*lines, *stack_lines(stack, Limits(stack_height=12))],
                tensors,
                "run_info",
            )

        return self._holding.holder.hold(step, make)


def _user_frame(frame: FrameType) -> FrameType:
    """AutoGraph calls on the user's behalf: its frames come between."""
    found: FrameType | None = frame
    while found is not None and not is_user_file(found.f_code.co_filename):
        found = found.f_back
    return found or frame


def _values(variables: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in variables.items():
        if not _is_shown(name):
            continue
        if isinstance(value, _TENSORS) or type(value).__module__.startswith("keras."):
            value = value.numpy() if hasattr(value, "numpy") else value
        if isinstance(value, (np.ndarray, np.generic)) and native.reference.DTYPES.get(value.dtype.name):
            yield name, np.asarray(value)


def _is_shown(name: str) -> bool:
    return not name.startswith(("_", "ag__"))


def _is_symbolic(value: Any, graph: Any) -> bool:
    return isinstance(value, tf.Tensor) and not isinstance(value, ops.EagerTensor) and value.graph is graph


def _local(name: str, array: np.ndarray, step: int) -> HeldTensor:
    return HeldTensor(seen_of(Known(_LOCAL, name, Phase.OTHER, "", -1, -1, ""), 0, array, step), array)


def _described(held: HeldTensor) -> str:
    fact = fact_of(held.array)
    return f"{fact.as_text()}: {fact.numbers_text()}"
