"""Decides which ops, tensors and steps are worth a row, as the Config says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tdbg.config import Config
from tdbg.model import DType, Mode


def _searcher(pattern: str | None) -> Callable[[str], object] | None:
    return re.compile(pattern).search if pattern else None


class Policy:
    """The filters, compiled once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._decide(config)

    def narrow(self, op: str | None, name: str | None, dtype: str | None) -> bool:
        """Other filters from here on, each in place of the one that there was; all match from the beginning. Whether
        there is any."""
        if not (op or name or dtype):
            return False
        self._config = replace(
            self._config,
            op_regex=op or self._config.op_regex,
            names=f"^(?:{name})" if name else self._config.names,
            dtypes=f"^(?:{dtype})" if dtype else self._config.dtypes,
        )
        self._decide(self._config)
        return True

    def _decide(self, config: Config) -> None:
        self._op = _searcher(config.ops)
        self._op_start = re.compile(config.op_regex).match if config.op_regex else None
        self._name = _searcher(config.names)
        self._file = _searcher(config.files)
        dtype = _searcher(config.dtypes)
        numbers = [code for code in DType if code.is_number]
        self.dtypes = frozenset(c for c in numbers if (dtype(c.label) if dtype else c.is_floating))
        self.input_dtypes = frozenset(c for c in numbers if not dtype or dtype(c.label))
        if config.every_op:
            recorded = _every_dtype(config.mode)
            self.dtypes = self.input_dtypes = frozenset(c for c in recorded if not dtype or dtype(c.label))
        self._first, self._last, self._every = config.first_step, config.last_step, config.every
        self.is_filtered = bool(self._op or self._op_start or self._name or self._file)
        self.all_steps = self._first == 0 and self._last is None and self._every == 1

    def wants_op(self, op_type: str, name: str, file: str) -> bool:
        """Op type, tensor name (in graphs) or op type (eager), and the file of the user's line."""
        return (
            (not self._op or bool(self._op(op_type)))
            and (not self._op_start or bool(self._op_start(op_type)))
            and (not self._name or bool(self._name(name)))
            and (not self._file or bool(self._file(file)))
        )

    def wants_step(self, step: int) -> bool:
        if step < self._first or (self._last is not None and step >= self._last):
            return False
        return (step - self._first) % self._every == 0


def _every_dtype(mode: Mode) -> list[DType]:
    """The element types that Debugger V2 records in a mode, and complex numbers, which can be bad too."""
    if mode in (Mode.HEALTH, Mode.NUMERICS):
        return [code for code in DType if code.is_floating]
    return [code for code in DType if code.is_number or (code == DType.STRING and mode != Mode.SHAPE)]


def bit_mask(dtypes: frozenset[DType]) -> int:
    """The set as the native code takes it: bit N for dtype code N."""
    return sum(1 << code for code in dtypes)
