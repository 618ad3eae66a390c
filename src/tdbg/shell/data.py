"""A Result in; what it says as lists, dictionaries and numbers, for JSON, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tdbg.shell.array_layout import MOST_WHOLE
from tdbg.shell.result import Array, Block, Cell, Line, Plot, Result, Span, Table, plain


def as_data(result: Result) -> Any:
    """One block gives its own data, several a list of theirs."""
    found = [block_data(block) for block in result.blocks]
    return found[0] if len(found) == 1 else found


def block_data(block: Block) -> Any:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Array):
        return _array(block)
    if isinstance(block, Plot):
        return {"title": block.title, "series": {name: list(series) for name, series in block.series.items()}}
    return block.data if block.data is not None else [plain(line) for line in block.lines]


def _table(table: Table) -> list[dict[str, Any]]:
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, map(_cell, row), strict=True)) for row in table.rows[:]]


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Span):
        return cell.text
    return plain(cast(Line, cell)) if isinstance(cell, tuple) else cell


def _array(array: Array) -> dict[str, Any]:
    values = array.values
    said = {"name": array.name, "dtype": str(values.dtype), "shape": list(values.shape)}
    if values.size > MOST_WHOLE and not array.shows_all:
        return said | {"values": None, "left_out": f"{values.size} elements; -a gives them"}
    return said | {"values": _listed(values.tolist())}


def _listed(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_listed(one) for one in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value
