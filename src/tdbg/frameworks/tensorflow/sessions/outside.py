"""Records what a run was fed and what was fetched, where it cannot be looked into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tdbg.capture.policy import Policy
from tdbg.capture.source import Sources
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.ops import in_words
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs
from tdbg.model import Flag, Phase


class Outside:
    """The fed and fetched tensors of one set of fetches and feeds, as ops of its graph."""

    def __init__(
        self, number: int, recorder: Any, sources: Sources, policy: Policy, clients: ClientGraphs,
        next_op: Callable[[], int],
    ) -> None:  # fmt: skip
        self._number, self._recorder, self._sources, self._policy = number, recorder, sources, policy
        self._clients, self._next_op = clients, next_op
        self._ops: dict[tuple[str, int], int] = {}

    def feeds(self, execution: int, fed: dict[Any, Any]) -> None:
        for reference, value in fed.items():
            self._push(execution, reference.deref(), value, Flag.INPUT)

    def fetches(self, execution: int, tensors: Sequence[Any], values: Sequence[Any]) -> None:
        for tensor, value in zip(tensors, values, strict=False):
            self._push(execution, tensor, value, 0)

    def _push(self, execution: int, tensor: Any, value: Any, flag: int) -> None:
        wanted = self._policy.input_dtypes if flag else self._policy.dtypes
        if code_of(tensor.dtype) not in wanted or not isinstance(value, (np.ndarray, np.generic)):
            return
        number = self._op(tensor.op, flag)
        if number >= 0:
            self._recorder.push_array(number, tensor.value_index, self._number, flag, np.asarray(value), execution)

    def _op(self, op: Any, flag: int) -> int:
        found = self._ops.get((op.name, flag))
        if found is None:
            found = self._ops[op.name, flag] = self._write(op, flag)
        return found

    def _write(self, op: Any, flag: int) -> int:
        made = self._clients.op(op.graph, op.name)
        op_type = "Placeholder" if flag else op.type
        user = self._sources.info(made.stack).user if made is not None else None
        file = user.file if user is not None else ""
        if self._policy.is_filtered and not self._policy.wants_op(op_type, op.name, file):
            return -1
        number = self._next_op()
        dtypes = [int(code_of(tensor.dtype)) for tensor in op.outputs]
        stack, phase = (made.stack, made.phase) if made is not None else (-1, Phase.OTHER)
        made_at = (stack, int(phase), -1, True)
        row: tuple = (number, self._number, op.name, op_type, op.device, [], [], dtypes, "{}", *made_at)
        self._recorder.add("ops", (*row, *in_words(op_type)))
        return number
