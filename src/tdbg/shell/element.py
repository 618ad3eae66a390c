"""A result that shows an array, and an element's indices, in; the result with that element in view out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell.array_layout import ArrayLayout
from tdbg.shell.layout import Layout
from tdbg.shell.result import Array, Result

_AROUND = (40, 10)  # rows and columns at each side of an element that an ellipsis hid


def go_to(result: Result, indices: Sequence[int], width: int | None) -> Result:
    """What an ellipsis hides is shown with its neighbours, in place of the whole."""
    wholes = [block.part_of or block if isinstance(block, Array) else block for block in result.blocks]
    result = replace(result, blocks=wholes)
    layout = Layout(result, width)
    for at, (block, lines) in enumerate(zip(result.blocks, layout.blocks, strict=True)):
        if not isinstance(block, Array) or not isinstance(lines, ArrayLayout):
            continue
        line = lines.line_of(indices)
        if line is not None:
            return replace(result, top=layout.starts[at] + line)
        near = _around(block, lines.place_of(indices))
        blocks = [*result.blocks[:at], near, *result.blocks[at + 1 :]]
        inside = ArrayLayout(near, width).line_of(indices)
        return replace(result, blocks=blocks, top=layout.starts[at] + (inside or 0))
    raise TdbgError("no tensor is shown whose elements could be gone to; show one first: pt NAME")


def _around(block: Array, place: Sequence[int]) -> Array:
    """The last two dimensions around an element, one of each dimension before them."""
    values = np.asarray(block.values)
    begins, ends = [], []
    for at, (one, size) in enumerate(zip(place, values.shape, strict=True)):
        room = _AROUND[at - values.ndim + 2] if at >= values.ndim - 2 else 0
        begins.append(max(0, one - room))
        ends.append(min(size, one + room + 1))
    part = values[tuple(slice(begin, end) for begin, end in zip(begins, ends, strict=True))]
    old = block.offset or (0,) * values.ndim
    offset = tuple(begin + before for begin, before in zip(begins, old, strict=True))
    return replace(block, values=part, offset=offset, shows_all=True, part_of=block)
