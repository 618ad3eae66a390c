"""Explains an error that TensorFlow raised in a run: the op, its inputs, its line and what to try."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir
from tdbg.frameworks.tensorflow.sessions.source_lines import user_stack

_SAID_OF_NODE = re.compile(r"^Node: '[^\n]*'\n(.+?)(?:\n\t? ?\[\[|\Z)", re.M | re.S)
_ADVICE = (
    (r"uninitialized|Could not find variable", "run tf.compat.v1.global_variables_initializer() before this run"),
    (r"must feed a value", "put the placeholder into feed_dict"),
    (r"[Ii]ncompatible shapes|[Ss]ize-incompatible|must be equal|must match", "compare the shapes above"),
    (r"NaN|Inf|not finite|not invertible", "`run -f has_inf_or_nan`, or `tdbg run` on the whole program"),
)
_END_OF_INPUT = "OutOfRangeError"
_OTHERWISE = "`run` again with the debugger, and look at the inputs above"


def error_lines(error: Any, feeds: Mapping[str, Any], dump: DebugDumpDir | None = None) -> list[str]:
    """``feeds`` by name and the dump of the run, if there is one, tell the shapes that the inputs really had."""
    text = said_by_tensorflow(error)
    if type(error).__name__ == _END_OF_INPUT:
        return [f"The input has ended ({_END_OF_INPUT}: {text}), which is how a loop over a dataset stops."]
    lines = ["!!! An error occurred during the run !!!", f"{type(error).__name__}: {text}"]
    op = getattr(error, "op", None)
    if op is None:
        return [*lines, "TensorFlow does not say which op failed."]
    lines.append(f"Op:  {op.name} ({op.type})")
    for number, tensor in enumerate(op.inputs):
        shape = _shape_in_run(tensor.name, feeds, dump) or f"shape {tensor.shape}"
        lines.append(f"  input {number}: {tensor.name}  {tensor.dtype.name}, {shape}")
    lines.append("Created at:")
    lines += [f"  {line}" for line in user_stack(op)]
    advice = next((advice for pattern, advice in _ADVICE if re.search(pattern, text)), _OTHERWISE)
    return [*lines, f"Try: {advice}"]


def said_by_tensorflow(error: Any) -> str:
    """The sentence in a message that is mostly stacks."""
    message = str(error.message or error).strip()
    found = _SAID_OF_NODE.search(message)
    return (found[1] if found else message.partition("\n")[0]).strip()


def _shape_in_run(tensor_name: str, feeds: Mapping[str, Any], dump: DebugDumpDir | None) -> str:
    value = feeds.get(tensor_name)
    if value is None and dump is not None:
        dumped = [datum for datum in dump.dumped_tensor_data if datum.tensor_name == tensor_name]
        value = dumped[-1].get_tensor() if dumped else None
        value = value if hasattr(value, "shape") else None
    return "" if value is None else f"shape {np.shape(value)} in this run"
