"""Reads from the footer of a Parquet file how many values each column of each row group claims, and its bounds.

pyarrow's own objects for this end the whole process where a footer contradicts itself: what Arrow throws there passes
through code that does not expect it. So the Thrift structures are read here; ValueError when they cannot be.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, BinaryIO

MOST_FOOTER_BYTES = 16 << 20
_MAGIC = b"PAR1"
_MOST_DEPTH = 32
# Numbers of fields in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _META_DATA = 4, 1, 3
_NUM_VALUES, _PATH, _STATISTICS = 5, 3, 12
_MAX_VALUE, _MIN_VALUE = 5, 6


@dataclass(frozen=True, slots=True)
class ColumnClaims:
    """What the footer says of one column of one row group."""

    name: str
    values: int
    least: bytes | None
    greatest: bytes | None


Group = dict[str, ColumnClaims]


def bounds(group: Group, name: str, least: int, greatest: int) -> tuple[int, int]:
    """The least and greatest number in a column of integers, or what is given where the footer does not tell."""
    column = group.get(name)
    if column is None or column.least is None or column.greatest is None or len(column.least) not in (4, 8):
        return least, greatest
    return int.from_bytes(column.least, "little", signed=True), int.from_bytes(column.greatest, "little", signed=True)


def read_footer(file: BinaryIO) -> tuple[Group, ...]:
    """By row group, its columns by name."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) < 8 or tail[4:] != _MAGIC or length > min(size - 8, MOST_FOOTER_BYTES):
        raise ValueError("it has no Parquet footer")
    file.seek(size - 8 - length)
    return _groups(file.read(length))


@functools.lru_cache(maxsize=256)
def _groups(footer: bytes) -> tuple[Group, ...]:
    try:
        return tuple(map(_group, _Thrift(footer).struct(0)[_ROW_GROUPS]))
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise ValueError("its footer cannot be read") from error


def _group(row_group: dict[int, Any]) -> Group:
    columns = [column[_META_DATA] for column in row_group[_COLUMNS]]
    claims = [_claims(column) for column in columns]
    return {one.name: one for one in claims}


def _claims(column: dict[int, Any]) -> ColumnClaims:
    statistics = column.get(_STATISTICS, {})
    path = b".".join(column[_PATH]).decode()
    values, ends = column[_NUM_VALUES], (statistics.get(_MIN_VALUE), statistics.get(_MAX_VALUE))
    if not all(end is None or isinstance(end, bytes) for end in ends):
        raise ValueError("its statistics are no bytes")
    if not 0 <= values < 1 << 62:
        raise ValueError("a column of it claims to have fewer values than none")
    return ColumnClaims(path, values, *ends)


class _Thrift:
    """Thrift's compact protocol: structures as dicts by field number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > _MOST_DEPTH:
            raise ValueError("its footer is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("its footer has a field of an unknown type")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._unsigned()
        if count > len(self.data) - self.at:
            raise ValueError("its footer has a list that is longer than itself")
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise ValueError("its footer has a text that is longer than itself")
        self.at += count
        return self.data[self.at - count : self.at]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("its footer has a number that is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
