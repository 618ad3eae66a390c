"""Finds the tensors of a dump that pass a filter. A filter that fails is said once and passes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from tensorflow.python.eager import context

from tdbg import expressions
from tdbg.capture import faults
from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir, DebugTensorDatum, InconvertibleTensorProto
from tdbg.model import DType, Summary
from tdbg.native import summarize
from tdbg.scene import TensorFilter as Filter

OpType = Callable[[DebugTensorDatum], str]
OnRead = Callable[[DebugTensorDatum, Any], None]


class TensorFilter:
    """A filter of the user's, which may call TensorFlow on the arrays that it is given: it is called eagerly."""

    def __init__(self, name: str, function: Filter) -> None:
        self.name, self._function, self._has_failed = name, function, False

    def find(
        self, dump: DebugDumpDir, first_n: int = 0, exclude_nodes: str = "", on_read: OnRead | None = None
    ) -> list[DebugTensorDatum]:
        """``on_read(datum, tensor)`` is told of each tensor that the filter looks at."""

        def passes(datum: DebugTensorDatum, tensor: Any) -> bool:
            if on_read is not None:
                on_read(datum, tensor)
            return self._passes(datum, tensor)

        with context.eager_mode():
            return dump.find(passes, first_n=first_n, exclude_node_names=exclude_nodes or None)

    def _passes(self, datum: DebugTensorDatum, tensor: Any) -> bool:
        try:
            return bool(self._function(datum, tensor))
        except Exception as error:  # of whatever the user's function makes of a string or an integer
            if not self._has_failed and not isinstance(tensor, InconvertibleTensorProto):
                self._has_failed = True
                text = str(error).splitlines()[0] if str(error) else ""
                faults.say(
                    f"filter {self.name} failed on {datum.tensor_name} ({type(error).__name__}: {text}); tensors on "
                    "which it fails do not pass"
                )
            return False


def filter_of(text: str, filters: Mapping[str, Filter], op_type: OpType) -> TensorFilter:
    """A registered filter by its name, or one that an expression (``nan > 0``) tells; TdbgError when it is neither."""
    function = filters.get(text)
    if function is not None:
        return TensorFilter(text, function)
    try:
        wanted = expressions.parse(text)
    except TdbgError as problem:
        raise TdbgError(
            f"there is no filter {text!r} (there are {', '.join(filters)}), and it is not an expression: {problem}"
        ) from None
    return TensorFilter(text, lambda datum, tensor: wanted.matches(_Fields(datum, tensor, op_type)))


def numbers_of(tensor: Any) -> Summary | None:
    """None for what holds no numbers."""
    if not isinstance(tensor, np.ndarray | np.generic) or tensor.dtype.kind not in "fciubV":
        return None
    try:
        return summarize(np.asarray(tensor))
    except (TypeError, ValueError):
        return None


class _Fields(Mapping[str, Any]):
    """What the words of an expression mean for one dump; numbers are worked out when one of them is asked for."""

    def __init__(self, datum: DebugTensorDatum, tensor: Any, op_type: OpType) -> None:
        self._datum, self._tensor, self._op_type = datum, tensor, op_type

    def __getitem__(self, name: str) -> Any:
        if name == "op":
            return self._op_type(self._datum)
        if name in self._facts:
            return self._facts[name]
        if self._numbers is None:
            raise KeyError(name)
        if name == "inf":
            return self._numbers.neg_inf + self._numbers.pos_inf
        if name == "bad":
            return self._numbers.is_bad
        if name == "max_abs":
            return _known(max(abs(self._numbers.min), abs(self._numbers.max)))
        value = getattr(self._numbers, name, None)
        if value is None:
            raise KeyError(name)
        return _known(value)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        datum = self._datum
        facts = {"name": datum.node_name, "slot": datum.output_slot, "device": datum.device_name, "iteration": -1}
        dtype = getattr(self._tensor, "dtype", None)
        if dtype is not None and dtype.name.upper() in DType.__members__:
            facts["dtype"] = dtype.name
        return facts

    @cached_property
    def _numbers(self) -> Summary | None:
        return numbers_of(self._tensor)

    def __iter__(self) -> Iterator[str]:
        return iter(expressions.FIELDS)

    def __len__(self) -> int:
        return len(expressions.FIELDS)


def _known(value: float) -> float | None:
    """Of no finite elements there is no least or greatest."""
    return None if math.isnan(value) else value
