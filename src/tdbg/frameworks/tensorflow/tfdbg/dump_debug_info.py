"""Has the two functions that users of Debugger V2 know; what they switch on is a recording by tdbg.

They take what ``tf.debugging.experimental.enable_dump_debug_info`` takes and refuse what it refuses. What is recorded
is the same set of ops and tensors; how it is kept is tdbg's own: each call makes a new trace in the dump root.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from tdbg import recording
from tdbg.capture import faults
from tdbg.capture.source import script_of
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.model import DType, Mode
from tdbg.store.place import new_name

MODES = {
    "NO_TENSOR": Mode.NONE,
    "CURT_HEALTH": Mode.HEALTH,
    "CONCISE_HEALTH": Mode.NUMERICS,
    "FULL_HEALTH": Mode.NUMERICS,
    "SHAPE": Mode.SHAPE,
    "FULL_NUMERICS": Mode.NUMERICS,
    "FULL_TENSOR": Mode.FULL,
}
_SMALLEST_RING = 64
# Debugger V2 has a buffer of its own for calls; here an eager op shares the ring with its output, an input that was
# not seen before, and the end of a call.
_EVENTS_EACH = 4

Dtypes = Iterable[Any] | Callable[[Any], bool]


class _Asked(NamedTuple):
    mode: str
    buffer: int
    filters: tuple[str | None, str | None]


class DebugWriter:
    """What ``enable_dump_debug_info`` gives back: where the trace is, and how to see to it that all is on disk."""

    def __init__(self, dump_root: str, path: Path) -> None:
        self.dump_root, self.path = dump_root, path

    def FlushNonExecutionFiles(self) -> None:
        """Returns when every graph, op, stack and source file that was seen so far is on disk."""
        recording.flush()

    def FlushExecutionFiles(self) -> None:
        """Returns when every event so far is on disk. With a circular buffer they always are: it is a mapped file."""
        recording.flush()

    def Close(self) -> None:
        """Ends this recording if it is still going on."""
        if _current is not None and _current[1] is self:
            disable_dump_debug_info()


_current: tuple[_Asked, DebugWriter] | None = None
# Threads of one program may switch on and off at the same time. Reentrant, because a new root ends the recording first.
_switch = threading.RLock()


def enable_dump_debug_info(
    dump_root: str | os.PathLike | None = None,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: str | None = None,
    tensor_dtypes: Dtypes | None = None,
    *,
    logdir: str | os.PathLike | None = None,
) -> DebugWriter:
    """Records from here on into a new trace in ``dump_root``, what Debugger V2 records in this mode.

    ``logdir`` is another name of ``dump_root``. ``circular_buffer_size`` keeps the last events only; 0 or less keeps
    all. ``op_regex`` is matched with ``re.match`` to op types. ``tensor_dtypes`` is a list or tuple of types, or a
    function that takes a ``tf.DType``. A second call with the same arguments changes nothing; one with another root
    ends the first trace and begins another; one with another mode or buffer size is a ValueError.
    """
    root = _root(dump_root, logdir)
    if tensor_debug_mode not in MODES:
        raise ValueError(f"unknown tensor_debug_mode {tensor_debug_mode!r}; the modes are: {', '.join(MODES)}")
    asked = _Asked(tensor_debug_mode, circular_buffer_size, (op_regex, _dtype_pattern(tensor_dtypes)))
    with _switch:
        return _enable(root, asked)


def _enable(root: str, asked: _Asked) -> DebugWriter:
    global _current
    if _current is not None and recording.current_path() != _current[1].path:
        _current = None  # ended by tdbg.disable()
    if _current is not None:
        before, writer = _current
        _check_same(before, asked, writer.dump_root)
        if root == writer.dump_root:
            return writer
        asked = before
        disable_dump_debug_info()
    if recording.is_not_ours():
        recording.pass_over("enable_dump_debug_info()")
        return DebugWriter(root, recording.current_path() or Path(root))
    _current = asked, _begin(root, asked)
    return _current[1]


def disable_dump_debug_info() -> None:
    """Ends the recording that ``enable_dump_debug_info`` began. Without one, and a second time, it does nothing."""
    global _current
    with _switch:
        if _current is None:
            return
        (_, writer), _current = _current, None
        if recording.current_path() == writer.path:
            recording.disable()


def _begin(root: str, asked: _Asked) -> DebugWriter:
    op_regex, dtypes = asked.filters
    path = new_name(script_of(), Path(root))
    recording.enable(
        path,
        mode=MODES[asked.mode],
        ring=max(_EVENTS_EACH * asked.buffer, _SMALLEST_RING) if asked.buffer > 0 else 0,
        op_regex=op_regex,
        dtypes=dtypes,
        every_op=True,
        debug_mode=asked.mode,
    )
    return DebugWriter(root, path)


def _root(dump_root: str | os.PathLike | None, logdir: str | os.PathLike | None) -> str:
    given = {os.path.abspath(os.fspath(name)) for name in (dump_root, logdir) if name}
    if not given:
        raise ValueError("Empty or None dump root: say where to write the trace, with dump_root or logdir")
    if len(given) > 1:
        raise ValueError(f"dump_root and logdir mean the same thing, but differ: {dump_root}, {logdir}")
    return given.pop()


def _dtype_pattern(wanted: Dtypes | None) -> str | None:
    """The element types as a filter of tdbg, which other processes can be told of too."""
    if wanted is None or (isinstance(wanted, list | tuple) and not wanted):
        return None
    if isinstance(wanted, list | tuple):
        codes = {code_of(tf.as_dtype(item)) for item in wanted}
    elif callable(wanted):
        codes = {code for number in range(1, 64) if (code := _chosen(wanted, number)) is not None}
    else:
        raise ValueError(
            "tensor_dtypes must be a list or tuple of types, or a function that takes a tf.DType and returns a bool, "
            f"and not {wanted!r}"
        )
    return "^(" + "|".join(re.escape(code.label) for code in sorted(codes)) + ")$"


def _chosen(is_wanted: Callable[[Any], bool], number: int) -> DType | None:
    """The type with this number of TensorFlow's, if the user's function wants it."""
    code = code_of(number)
    return code if code != DType.UNKNOWN and is_wanted(tf.as_dtype(number)) else None


def _check_same(before: _Asked, now: _Asked, root: str) -> None:
    for name, old, new in (
        ("circular_buffer_size", before.buffer, now.buffer),
        ("tensor_debug_mode", before.mode, now.mode),
    ):
        if old != new:
            raise ValueError(
                f"this program is already being recorded with {name} {old}, not {new}; call "
                f"disable_dump_debug_info() first: {root}"
            )
    if before.filters != now.filters:
        faults.say("enable_dump_debug_info() was called again with other filters; those of the first call are kept")
