"""Writes values as strict JSON, which every command and the page use."""

from __future__ import annotations

import json
import math
from typing import Any


def to_json(value: Any, indent: int | None = None) -> str:
    """What JSON has no number for is text ("NaN", "Infinity"), because here it is what matters most."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):  # something in it is not plain, which is rare
        return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
