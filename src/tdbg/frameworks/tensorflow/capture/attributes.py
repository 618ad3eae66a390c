"""Writes an op's attributes as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tdbg.frameworks.tensorflow.capture.dtypes import code_of

_LONGEST = 200
_to_json = json.JSONEncoder(check_circular=False).encode


def as_text(attrs: Any) -> str:
    """Large ones (constants, serialised graphs) are named by their size only."""
    return _to_json({str(key): plain(value) for key, value in pairs(attrs)})


def pairs(attrs: Any) -> Iterable[tuple[str, Any]]:
    """Attributes come as a dictionary or as a flat tuple of names and values."""
    return attrs.items() if isinstance(attrs, dict) else zip(attrs[::2], attrs[1::2], strict=False)


def plain(value: Any) -> Any:
    """One attribute as something that JSON can say."""
    kind = value.WhichOneof("value") if hasattr(value, "WhichOneof") else None
    if kind == "type":
        return code_of(value.type).label
    if kind is None:
        return value if isinstance(value, (bool, int, float)) else str(value)[:_LONGEST]
    if kind in ("i", "f", "b"):
        return getattr(value, kind)
    if kind == "s":
        return value.s.decode("utf-8", "replace") if len(value.s) < _LONGEST else f"<{len(value.s)} bytes>"
    if kind == "func":
        return value.func.name
    if kind == "tensor":
        dims = [dim.size for dim in value.tensor.tensor_shape.dim]
        return f"<tensor {code_of(value.tensor.dtype).label} {dims}>"
    if kind == "shape":
        return [dim.size for dim in value.shape.dim] if not value.shape.unknown_rank else None
    return str(value)[:_LONGEST]
