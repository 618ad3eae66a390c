"""Brings one element of the array that a result shows into view."""

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
    """Shows an element; where an ellipsis hides it, with its neighbours in place of the whole."""
    wholes = [block.part_of or block if isinstance(block, Array) else block for block in result.blocks]
    result = replace(result, blocks=wholes)
    layout = Layout(result, width)
    for at, (block, lines) in enumerate(zip(result.blocks, layout.blocks, strict=True)):
        if not isinstance(block, Array) or not isinstance(lines, ArrayLayout):
            continue
        place = lines.place_of(indices)
        near = replace(block, marked=tuple(place))
        line = ArrayLayout(near, width).line_of(indices)
        if line is None:
            near = _around(block, place)
            line = ArrayLayout(near, width).line_of(indices)
        blocks = [*result.blocks[:at], near, *result.blocks[at + 1 :]]
        return replace(result, blocks=blocks, top=layout.starts[at] + (line or 0), note=_note(block, near, place))
    raise TdbgError("no tensor is shown; show one first: pt NAME")


def _around(block: Array, place: Sequence[int]) -> Array:
    """Takes the last two dimensions around an element, and one index of each dimension before them."""
    values = np.asarray(block.values)
    begins, ends = [], []
    for at, (one, size) in enumerate(zip(place, values.shape, strict=True)):
        room = _AROUND[at - values.ndim + 2] if at >= values.ndim - 2 else 0
        begins.append(max(0, one - room))
        ends.append(min(size, one + room + 1))
    index = tuple(slice(begin, end) for begin, end in zip(begins, ends, strict=True))
    marked = tuple(one - begin for one, begin in zip(place, begins, strict=True))
    part = block.elements.narrowed(index)
    return replace(block, values=values[index], part=part, shows_all=True, part_of=block, marked=marked)


def _note(whole: Array, near: Array, place: Sequence[int]) -> str:
    part = whole.elements
    said = f"{part.label(place)} is {np.asarray(whole.values)[tuple(place)]}, marked > <"
    if near.part_of is None:
        return said
    return f"{said}; only an excerpt is shown: {near.elements.label()} of shape {part.shape}"
