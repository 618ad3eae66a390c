"""Tells whose code a function is that is about to be traced, and writes its arguments as text.

With these a trace can tell which argument made TensorFlow trace a function again.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tensorflow.core.function.trace_type import default_types
from tensorflow.python.framework import tensor_spec
from tensorflow.python.util import tf_decorator

from tdbg.capture.cells import shown_file

_LONGEST = 300


class Traced(NamedTuple):
    """Columns of ``functions``."""

    python: str = ""
    file: str = ""
    line: int = -1
    instance: int = -1  # which tf.function of the process: two may share their Python code
    signature: str = "{}"


NOT_TRACED = Traced()


class Signatures:
    """Numbers the tf.functions of this process and describes each of their tracings."""

    def __init__(self) -> None:
        self._instances: dict[int, tuple[Any, int]] = {}

    def describe(self, options: Any, function_type: Any) -> Traced:
        """From TensorFlow's own TracingOptions and FunctionType."""
        python = _python_code(options.python_function)
        code = getattr(python, "__code__", None)
        arguments = dict(
            entry
            for parameter in function_type.parameters.values()
            for entry in _described(parameter.name, parameter.type_constraint)
        )
        name = getattr(python, "__qualname__", None) or options.name
        file, line = (shown_file(code.co_filename), code.co_firstlineno) if code is not None else ("", -1)
        return Traced(name.replace(".<locals>", ""), file, line, self._instance(options), json.dumps(arguments))

    def _instance(self, options: Any) -> int:
        # Of one tf.function TensorFlow makes two sets of options, one for the call that creates its variables; what
        # they share is the lock. It is kept, so that its id stays its own.
        owner = options.lock if options.lock is not None else options.function_cache
        return self._instances.setdefault(id(owner), (owner, len(self._instances)))[1]


def _python_code(function: Any) -> Any:
    """The user's function behind TensorFlow's wrappers, partial and bound methods."""
    while True:
        inner = tf_decorator.unwrap(function)[1]
        if isinstance(inner, functools.partial):
            inner = inner.func
        inner = getattr(inner, "__func__", inner)
        if inner is function:
            break
        function = inner
    return function if hasattr(function, "__code__") else type(function).__call__


def _described(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """(argument or part of it, what it is): ``("x", "float32[32,10]")``, ``("n", "3")``, ``("batch[0]", ...)``."""
    if isinstance(kind, tensor_spec.TensorSpec):
        yield name, f"{kind.dtype.name}{_dims(kind.shape)}"
    elif isinstance(kind, (default_types.Tuple, default_types.List)):
        parts = kind.components if isinstance(kind, default_types.Tuple) else kind.components_tuple.components
        for at, part in enumerate(parts):
            yield from _described(f"{name}[{at}]", part)
    elif isinstance(kind, default_types.Dict):
        for key, part in kind.mapping.items():
            yield from _described(f"{name}[{key!r}]", part)
    elif isinstance(kind, default_types.NamedTuple):
        for key, part in zip(kind.attribute_names, kind.attributes.components, strict=False):
            yield from _described(f"{name}.{key}", part)
    elif isinstance(kind, default_types.Literal):
        yield name, repr(kind.value)[:_LONGEST]
    elif isinstance(kind, default_types.Weakref):
        value = kind._ref()
        yield name, f"<{type(value).__name__} at {id(value):#x}>"
    else:
        yield name, str(kind)[:_LONGEST]


def _dims(shape: Any) -> str:
    if shape.rank is None:
        return " of any rank"
    return "[" + ",".join("?" if dim is None else str(dim) for dim in shape.as_list()) + "]"
