"""Looks at the variables that a function reads and writes from outside, before and after each call.

In mode ``edges`` nothing is put into a graph, so TensorFlow optimizes and compiles it as it does without tdbg. What a
variable held before a call counts as one more tensor that was passed to it: lineage then works as for eager ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.python.eager import context, execute

from tdbg.capture.policy import Policy
from tdbg.capture.source import Sources
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.ops import in_words
from tdbg.model import DType, Phase

NOTE = "mode edges: tdbg did not look inside functions, only at what went in and came out"
_NO_VALUE = (tf.errors.FailedPreconditionError, tf.errors.NotFoundError, tf.errors.InvalidArgumentError)


class _Variable(NamedTuple):
    at: int  # among the arguments of the call
    dtype: Any
    before: int  # the op rows that its values belong to
    after: int


class Edges:
    """The variables of each function at each place that calls it."""

    def __init__(
        self, recorder: Any, policy: Policy, sources: Sources, dtypes: int, next_op: Callable[[], int], as_buffer: Any
    ) -> None:
        self._recorder, self._lib, self._policy, self._sources = recorder, recorder.lib, policy, sources
        self._dtypes, self._next_op, self._as_buffer = dtypes, next_op, as_buffer
        self._known: dict[tuple[str, int], list[_Variable]] = {}
        recorder.note("edges", NOTE)

    def before(self, function: Any, name: str, stack: int, args: Sequence[Any]) -> tuple[list[Any], list[_Variable]]:
        """What the call is given, with the value of each variable in the place of its handle; and the variables that
        can go bad in it. One that is bad already (a running minimum begins with infinity) tells nothing of the call."""
        variables = self._known.get((name, stack))
        if variables is None:
            variables = self._known[(name, stack)] = self._find(function, stack, args)
        given, good = list(args), []
        for variable in variables:
            handle = args[variable.at]
            value, is_bad = _read(handle, variable.dtype), False
            if value is not None:
                is_bad = self._lib.eager(variable.before, [handle], [value], self._dtypes, 0, self._as_buffer)
                given[variable.at] = value
            if not is_bad:
                good.append(variable)
        return given, good

    def after(self, execution: int, variables: Sequence[_Variable], args: Sequence[Any]) -> None:
        for variable in variables:
            value = _read(args[variable.at], variable.dtype)
            if value is not None:
                self._lib.call_tensors(variable.after, execution, 0, [value], self._dtypes, self._as_buffer)

    def _find(self, function: Any, stack: int, args: Sequence[Any]) -> list[_Variable]:
        graph = getattr(function, "graph", None)
        inputs = list(getattr(graph, "inputs", ()))
        own_names = _own_names(graph)
        user = self._sources.info(stack).user
        file = user.file if user else ""
        found = []
        for at, handle in enumerate(args):
            dtype = _variable_dtype(handle)
            if dtype is None or code_of(dtype) not in self._policy.dtypes:
                continue
            name = own_names.get(getattr(handle, "_id", -1)) or (
                inputs[at].op.name.removesuffix("/resource") if at < len(inputs) else f"variable {at}"
            )
            if self._policy.is_filtered and not self._policy.wants_op("ReadVariableOp", name, file):
                continue
            before = self._write(name, "ReadVariableOp", code_of(dtype), stack, Phase.FORWARD)
            after = self._write(name, "AssignVariableOp", code_of(dtype), stack, Phase.OTHER)
            found.append(_Variable(at, dtype, before, after))
        return found

    def _write(self, name: str, op_type: str, dtype: DType, stack: int, phase: Phase) -> int:
        op = self._next_op()
        row: tuple = (op, -1, name, op_type, "", [], [], [int(dtype)], "{}", stack, int(phase), -1, True)
        self._recorder.add("ops", (*row, *in_words(op_type)))
        return op


def _variable_dtype(handle: Any) -> Any:
    """The element type of a variable, given its handle; None for other tensors and other resources."""
    if getattr(handle, "dtype", None) != tf.resource:
        return None
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or not data.shape_and_type:
        return None
    return tf.dtypes.as_dtype(data.shape_and_type[0].dtype)


def _own_names(graph: Any) -> dict[int, str]:
    """Handle -> the variable's own name, for those that share it with no other (``Variable`` is everybody's)."""
    variables = list(getattr(graph, "variables", ()) or ())
    names = [variable.name.split(":")[0] for variable in variables]
    return {
        getattr(variable.handle, "_id", -1): name
        for variable, name in zip(variables, names, strict=True)
        if names.count(name) == 1 and hasattr(variable, "handle")
    }


def _read(handle: Any, dtype: Any) -> Any:
    """The value, unknown to callbacks and tapes; None while there is none. To be let go before the next update:
    TensorFlow copies a variable's memory when somebody else holds it."""
    try:
        return execute.quick_execute(
            "ReadVariableOp", 1, [handle], ("dtype", dtype.as_datatype_enum), context.context()
        )[0]
    except _NO_VALUE:
        return None
