"""Turns a Result into lists, dictionaries and numbers, for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from tdbg.shell.array_layout import MOST_WHOLE
from tdbg.shell.result import Array, Block, Cell, Line, Plot, Result, Span, Table, Text, plain

_PAGE = 1000


def as_data(result: Result) -> Any:
    """Gives what a result says. One block gives its own data, several a list of theirs. A text without data that stands
    beside other blocks is their headline, which says nothing more."""
    rows = rows_of(result)
    if rows is not None:
        return list(rows)
    found = [block_data(block) for block in _telling(result)]
    return found[0] if len(found) == 1 else found


def rows_of(result: Result) -> Iterator[dict[str, Any]] | None:
    """Gives the rows of all tables together, when a result is nothing but tables with the same columns."""
    blocks = _telling(result)
    tables = [block for block in blocks if isinstance(block, Table)]
    kinds = {tuple(column.key for column in table.columns) for table in tables}
    if len(kinds) != 1 or len(tables) < len(blocks):
        return None
    return (row for table in tables for row in _rows(table))


def block_data(block: Block) -> Any:
    if isinstance(block, Table):
        return list(_rows(block))
    if isinstance(block, Array):
        return _array(block)
    if isinstance(block, Plot):
        series = {name: list(points) for name, points in block.series.items()}
        return {"title": block.title, "series": series} | ({"bad": list(block.bad)} if block.bad else {})
    return block.data if block.data is not None else [plain(line) for line in block.lines]


def _telling(result: Result) -> Sequence[Block]:
    found = [block for block in result.blocks if not (isinstance(block, Text) and block.data is None)]
    return found or result.blocks


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    keys = [(n, column.key) for n, column in enumerate(table.columns) if column.key]
    for first in range(0, len(table.rows), _PAGE):
        for row in table.rows[first : first + _PAGE]:
            yield {key: _cell(row[n]) for n, key in keys}


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
    if isinstance(value, list):
        return [_listed(one) for one in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value
