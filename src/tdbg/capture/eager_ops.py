"""Records ops as they run, for frameworks whose tensors native code does not know: each tensor goes as an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tdbg.capture import faults
from tdbg.capture.policy import bit_mask
from tdbg.capture.recording import Recording
from tdbg.frameworks.contract import Ops, Values, in_words
from tdbg.model import DType, Phase
from tdbg.native.arrays import FROM_TENSORFLOW
from tdbg.native.reference import DTYPES
from tdbg.vocabulary import Role

_NUMBERS = {dtype: number for number, dtype in FROM_TENSORFLOW.items()}
_OWN_FRAMES = 1  # between the op and here


class EagerOps:
    """The eager ops of one framework in one recording."""

    def __init__(self, recording: Recording, framework: str, ops: Ops, values: Values) -> None:
        self._recording, self._framework, self._ops, self._values = recording, framework, ops, values
        self._sites: dict[tuple[str, int], tuple[int, bool]] = {}
        self.narrowed()

    def narrowed(self) -> None:
        """Other things are to be recorded from here on."""
        policy = self._recording.policy
        self._dtypes, self._input_dtypes = bit_mask(policy.dtypes), bit_mask(policy.input_dtypes)
        self._sites.clear()

    def ran(self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], skip: int = 0) -> None:
        """An op has run; ``skip`` frames lie between its caller and the caller of this. Never raises."""
        with faults.guard("recording an op"):
            if not self._recording.steps.recording:
                return
            stack = self._recording.lib.stack_here(_OWN_FRAMES + skip)
            given, made = [self._seen(one) for one in inputs], [self._seen(one) for one in outputs]
            op, is_wanted = self._sites.get((op_type, stack)) or self._new_site(op_type, stack, made)
            dtypes = (self._dtypes, self._input_dtypes) if is_wanted else (0, 0)
            self._recording.lib.eager(op, given, made, *dtypes, _as_array)

    def _seen(self, tensor: Any) -> _Seen:
        return _Seen(self._values.identity(tensor), self._values.array(tensor))

    def _new_site(self, op_type: str, stack: int, outputs: Sequence[_Seen]) -> tuple[int, bool]:
        """An op type at one place of the program: all its executions share one op row."""
        recording = self._recording
        info = recording.sources.info(stack)
        is_update = Role.WRITES_STATE in self._ops.roles_of(op_type)
        phase = info.phase or (Phase.UPDATE if is_update else Phase.FORWARD)
        file = info.user.file if info.user else ""
        is_wanted = not recording.policy.is_filtered or recording.policy.wants_op(op_type, op_type, file)
        op, dtypes = recording.next_op(), [int(one.dtype) for one in outputs]
        row: tuple = (op, -1, op_type, op_type, "", [], [], dtypes, "{}", stack, int(phase), -1, is_wanted)
        recording.recorder.add("ops", (*row, *in_words(self._ops, self._framework, op_type)))
        site = self._sites[op_type, stack] = op, is_wanted
        return site


class _Seen:
    """A tensor as native code takes it: by the attributes of TensorFlow's, which need no wrapper."""

    __slots__ = ("_id", "array", "dtype")

    def __init__(self, number: int, array: np.ndarray) -> None:
        self._id, self.array = number, array
        self.dtype = DTYPES.get(array.dtype.name, DType.UNKNOWN)

    def _datatype_enum(self) -> int:
        return _NUMBERS.get(self.dtype, 0)


def _as_array(seen: _Seen) -> np.ndarray:
    plain = np.ascontiguousarray(seen.array).reshape(seen.array.shape)
    return plain.view(f"u{plain.dtype.itemsize}") if plain.dtype.kind == "V" or plain.dtype.num > 24 else plain
