"""Takes apart what a person types for a tensor: ``hidden/Relu:0:DebugIdentity[0, -3:]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tdbg.errors import TdbgError

Index = tuple[Any, ...]  # of int, slice and Ellipsis
_SLICE = re.compile(r"([+-]?\d+)?\s*:\s*([+-]?\d+)?\s*(?::\s*([+-]?\d+)?)?")


@dataclass(frozen=True, slots=True)
class TensorName:
    """What was typed for a tensor. ``index`` is what stands in brackets, () when there is nothing."""

    tensor: str  # node:slot, or the node alone
    debug_op: str = ""
    device: str = ""
    index: Index = ()
    brackets: str = ""  # as they were typed

    @classmethod
    def parse(cls, typed: str) -> TensorName:
        """Takes ``[device:]node[:slot[:debug_op]][[index]]`` apart; TdbgError when the brackets hold no numpy slice."""
        name, bracket, inside = typed.strip().partition("[")
        if bracket and not inside.endswith("]"):
            raise TdbgError(f"{typed}: the bracket is not closed; write it as in {name}[0:10, :]")
        index = parse_index(inside[:-1]) if bracket else ()
        parts = name.split(":")
        debug_op = ""
        if len(parts) > 2 and not parts[-1].isdigit() and parts[-2].isdigit():
            debug_op = parts.pop()
        if len(parts) > 2 and parts[-1].isdigit():
            device, tensor = ":".join(parts[:-2]), ":".join(parts[-2:])
        else:
            device, tensor = "", ":".join(parts)
        if not tensor:
            raise TdbgError(f"{typed!r} does not name a tensor; lt lists them")
        return cls(tensor, debug_op, device, index, f"[{inside}" if bracket else "")

    @property
    def node(self) -> str:
        return self.tensor.partition(":")[0]


def parse_index(text: str) -> Index:
    """Reads integers, slices and one ellipsis, as numpy takes them."""
    if not text.strip():
        raise TdbgError("the brackets are empty; write a slice such as [0:10, :] or [..., -1]")
    return tuple(_part(part.strip()) for part in text.split(","))


def _part(part: str) -> Any:
    if part == "...":
        return Ellipsis
    if part in ("None", "np.newaxis", "newaxis"):
        raise TdbgError("a new axis is not allowed here; leave it out, or use eval with np.reshape")
    if re.fullmatch(r"[+-]?\d+", part):
        return int(part)
    match = _SLICE.fullmatch(part)
    if match is None:
        raise TdbgError(f"{part!r} is not an index; write numbers and slices such as [3], [0:10, ::2] or [..., -1]")
    begin, end, step = (int(one) if one else None for one in match.groups())
    if step == 0:
        raise TdbgError("a slice cannot have step 0; use 1 or more, or a negative step")
    return slice(begin, end, step)


def take(array: Any, index: Index, name: str) -> Any:
    """Takes a part of an array, without copying; TdbgError when the index does not fit its shape."""
    if not index:
        return array
    try:
        return array[index] if Ellipsis in index else array[(*index, Ellipsis)]
    except IndexError as error:
        raise TdbgError(f"this index does not fit {name} of shape {tuple(array.shape)}: {error}") from error
