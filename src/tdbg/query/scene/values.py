"""Reads the elements of a tensor where the trace kept them, and says how to keep them where it did not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tdbg.errors import TdbgError
from tdbg.model import DType
from tdbg.query.trace.program import Program
from tdbg.query.trace.trace import Trace
from tdbg.scene import Seen
from tdbg.store.row_pages import Pages
from tdbg.store.tensors import RawValue


class Key(NamedTuple):
    """What a value is found by."""

    process: int
    position: int
    value: int  # -1: not kept with the row itself
    op: int
    slot: int
    execution: int
    iteration: int
    tensor: int
    is_input: bool


class Values:
    """The values that one process kept. Beside bad outputs the inputs of their ops are kept, under the op that was
    given them."""

    def __init__(self, trace: Trace, process: int, pages: Pages, program: Program, evidence: np.ndarray) -> None:
        self._trace, self._process, self._pages, self._program = trace, process, pages, program
        self._evidence = evidence
        self._last: tuple[int, Any] | None = None  # a large one takes a while to unpack, and is looked at repeatedly

    @cached_property
    def _beside(self) -> dict[tuple[int, int, int, int], int]:
        """Values of (execution, iteration, op, slot) that were kept as inputs of another op."""
        found: dict[tuple[int, int, int, int], int] = {}
        for row in self._pages.rows(self._evidence).to_pylist():
            op = self._program.ops.get(row["op"])
            if row["value"] < 0 or op is None or not 0 <= row["slot"] < len(op.inputs):
                continue
            source, slot = op.inputs[row["slot"]]
            found.setdefault((row["execution"], row["iteration"], source, slot), row["value"])
        return found

    @cached_property
    def _by_tensor(self) -> dict[int, int]:
        """Values of eager tensors that were kept as inputs, by the framework's number."""
        rows = self._pages.rows(self._evidence).to_pylist()
        return {row["tensor"]: row["value"] for row in rows if row["tensor"] >= 0 and row["value"] >= 0}

    def kept(self, key: Key) -> int:
        """Finds the number of a tensor's value; -1 when it was not kept."""
        if key.value >= 0 or not len(self._evidence):
            return key.value
        if key.tensor >= 0 and key.tensor in self._by_tensor:
            return self._by_tensor[key.tensor]
        if key.is_input:
            return -1
        return self._beside.get((key.execution, key.iteration, key.op, key.slot), -1)

    def read(self, seen: Seen) -> Any:
        key: Key = seen.key
        number = self.kept(key)
        if number < 0:
            raise TdbgError(self._how_to_keep(seen))
        if self._last is None or self._last[0] != number:
            self._last = number, _as_array(self._trace.value(self._process, number), seen)
        return self._last[1]

    def _how_to_keep(self, seen: Seen) -> str:
        info = self._trace.processes[self._process].info
        what = f"the elements of {seen.tensor} were not kept"
        imported = info.get("imported") or {}
        if imported.get("format") == "tfdbg2":
            return f"{what}; TensorFlow keeps them with tensor_debug_mode='FULL_TENSOR'"
        if imported:
            return f"{what}; import the dumps again with: tdbg import --values"
        steps = f"--steps {seen.step}:{seen.step + 1} " if seen.step >= 0 else ""
        op = self._program.ops.get(seen.key.op)
        names = shlex.quote(f"^{re.escape(op.name if op is not None else seen.node)}$")
        words = f"tdbg run --mode full {steps}--names {names} {program_words(info)}"
        return f"{what} (mode {info.get('mode', 'unknown')}); record them with: {words}"


def program_words(info: Mapping[str, Any]) -> str:
    """Says what ``tdbg run`` was given to run, as it would be typed."""
    words = [str(word) for word in info.get("argv") or ()][1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[1:]
    return shlex.join(words) or "train.py"


def _as_array(value: np.ndarray | RawValue, seen: Seen) -> Any:
    """Makes float32 of small floats that numpy has no word for, where ml_dtypes is not installed."""
    if isinstance(value, RawValue):
        raise TdbgError(f"the elements of {seen.tensor} are not numbers ({seen.dtype}), so they cannot be shown")
    if seen.dtype == DType.BFLOAT16.label and value.dtype == np.uint16:
        return (value.astype(np.uint32) << 16).view(np.float32)
    return value
