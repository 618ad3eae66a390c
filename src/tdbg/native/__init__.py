"""Sums up arrays: at memory speed where the compiled extension is at hand, through numpy elsewhere."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tdbg.model import Summary
from tdbg.native import reference


def _load() -> Any:
    """The compiled extension, or None where it was not built or is switched off."""
    if os.environ.get("TDBG_NATIVE") == "0":
        return None
    try:
        return importlib.import_module("tdbg.native._native")
    except ImportError:
        return None


lib = _load()

AVAILABLE = lib is not None


def events() -> Any:
    """The ring, stacks and stamps that capture uses: compiled, or the same in Python (see fallback/)."""
    if lib is not None:
        return lib
    from tdbg.native import fallback

    return fallback


def _bytes(array: np.ndarray) -> np.ndarray:
    """The array's bytes in order; numpy has no buffer format for bfloat16 and the 8-bit floats."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(-1).view(np.uint8)


def summarize(array: np.ndarray) -> Summary:
    """Counts, min, max, mean and std of one array."""
    code = reference.DTYPES.get(array.dtype.name)
    fields = lib.summarize(_bytes(array), int(code)) if lib is not None and code is not None else None
    return Summary(*fields) if fields is not None else reference.summarize(array)


def has_bad(array: np.ndarray) -> bool:
    """Whether a NaN or an infinity is in the array."""
    code = reference.DTYPES.get(array.dtype.name)
    return lib.has_bad(_bytes(array), int(code)) if lib is not None and code is not None else reference.has_bad(array)


@contextmanager
def guarded_terminal(terminal: int, caught: int, leave: bytes) -> Iterator[None]:
    """A signal that ends the program meanwhile puts the terminal back first: its attributes, ``leave``, and then what
    is in the file ``caught``. Without the compiled extension it does not."""
    if lib is None or not lib.guard_terminal(terminal, caught, leave):
        yield
        return
    try:
        yield
    finally:
        lib.release_terminal()


def kernel_name() -> str:
    """Which code does the work: avx512, avx2, baseline or numpy."""
    return lib.kernel_name() if lib is not None else "numpy"


def use_kernel(name: str) -> bool:
    """Force one of the compiled kernels; False when this machine cannot run it."""
    return lib.use_kernel(name) if lib is not None else name == "numpy"
