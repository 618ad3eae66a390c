"""Makes sure of rows that all readers can rely on, whatever a file of a trace claims, or raises ValueError with the
reason.

Whoever sends a trace may have changed every byte of it, checksums included. So this is decided once, where files become
tables: how large a file may be and claim to be, that each column has the type that its table gives it, that no cell is
empty that must not be, and (``sound_rows``) that rows which refer to others of their table do so without a circle.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tdbg.model import Phase
from tdbg.plain_text import plain
from tdbg.store.footer import Group
from tdbg.store.format import NUMBER_COLUMNS
from tdbg.store.plain_files import open_plain

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

# A segment is sealed at 32 MiB, which is 0.2 million rows of tensors and less than two million of any table.
MOST_SEALED_BYTES = 1 << 30
MOST_SEALED_ROWS = 1 << 21
MOST_BATCH_BYTES = 256 << 20  # a writer makes smaller ones
_MOST_GROUPS = 1 << 12
_MOST_CELL_BYTES = 8  # sealed tables have numbers only
_MOST_PARENTS = 1 << 13  # frames of one stack; Python's own limit is 1,000 unless a program raises it
_COMPRESSION_FIELD = 3  # of a RecordBatch in Arrow's Message.fbs
_HEADER_FIELD = 2  # of a Message


def check_parquet_size(size: int) -> None:
    if size > MOST_SEALED_BYTES:
        raise ValueError(f"it has {size:,} bytes, more than any segment")


def check_footer(file: ParquetFile, claims: Sequence[Group], wanted: pa.Schema) -> None:
    """Whether what a Parquet file claims can be read: how much it is, and the types of the wanted columns."""
    about = file.metadata
    groups = about.num_row_groups
    if groups > _MOST_GROUPS or not 0 <= about.num_rows <= MOST_SEALED_ROWS:
        raise ValueError(f"it claims to have {about.num_rows:,} rows, more than any segment")
    rows = [about.row_group(group).num_rows for group in range(groups)]
    if min(rows, default=0) < 0 or sum(rows) != about.num_rows or groups != len(claims):
        raise ValueError("its row groups do not add up")
    names = [about.schema.column(place).path for place in range(about.num_columns)]
    if any(list(group) != names for group in claims):
        raise ValueError("its row groups have other columns than it")
    unpacked = sum(max(about.row_group(n).total_byte_size, _decoded(group)) for n, group in enumerate(claims))
    if unpacked > MOST_SEALED_BYTES:
        raise ValueError(f"it claims to unpack to {unpacked:,} bytes, more than any segment")
    check_types(file.schema_arrow, wanted)


def _decoded(group: Group) -> int:
    """Bytes of a row group's cells; a few bytes of Parquet may stand for any number of equal ones."""
    return sum(_MOST_CELL_BYTES * column.values for column in group.values())


def check_types(found: pa.Schema, wanted: pa.Schema) -> None:
    """A table has its first column in any case; the others may be missing, as in traces of an older tdbg."""
    if len(set(found.names)) != len(found.names):
        raise ValueError("two of its columns have the same name")
    for field in wanted:
        at = found.get_field_index(field.name)
        if at >= 0 and not _is_same(found.field(at).type, field.type):
            raise ValueError(f"its column {field.name} holds {found.field(at).type}, not {field.type}")


def check_key(found: pa.Schema, table: pa.Schema) -> None:
    """Every row has at least the bytes of the first column, so rows cannot be claimed that are not there."""
    if found.get_field_index(table.names[0]) < 0:
        raise ValueError(f"its column {table.names[0]} is missing")


def _is_same(one: pa.DataType, other: pa.DataType) -> bool:
    if pa.types.is_list(one) and pa.types.is_list(other):
        return one.value_type == other.value_type
    return one == other


def conform(rows: Any, wanted: pa.Schema) -> Any:
    """A batch or table with exactly the wanted columns, whose types ``check_types`` has let pass. What an older version
    did not write is none: -1, an empty text or list; the numbers of a tensor alone may be null."""
    if rows.schema.equals(wanted) and not any(_has_gaps(rows.column(n), of) for n, of in enumerate(wanted)):
        return rows
    arrays = []
    for field in wanted:
        at = rows.schema.get_field_index(field.name)
        if at < 0:
            arrays.append(_nothing(rows.num_rows, field))
            continue
        column = rows.column(at)
        column = column if column.type == field.type else column.cast(field.type)
        arrays.append(_without_gaps(column, field) if _has_gaps(column, field) else column)
    return type(rows).from_arrays(arrays, schema=wanted)


def none_of(kind: pa.DataType) -> Any:
    """What stands for "none" in a column of this type."""
    if pa.types.is_list(kind):
        return []
    if pa.types.is_string(kind):
        return ""
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_fixed_size_binary(kind):
        return bytes(kind.byte_width)
    if pa.types.is_floating(kind):
        return float("nan")
    return 0 if pa.types.is_unsigned_integer(kind) else -1


def _nothing(rows: int, field: pa.Field) -> pa.Array:
    if field.name in NUMBER_COLUMNS:
        return pa.nulls(rows, field.type)
    if pa.types.is_list(field.type):
        return pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, np.int32)), pa.array([], field.type.value_type))
    return pa.repeat(pa.scalar(none_of(field.type), field.type), rows)


def _has_gaps(column: Any, field: pa.Field) -> bool:
    if column.null_count:
        return field.name not in NUMBER_COLUMNS
    if not pa.types.is_list(field.type):
        return False
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return any(chunk.values.null_count for chunk in chunks)


def _without_gaps(column: Any, field: pa.Field) -> Any:
    none, inner = none_of(field.type), none_of(getattr(field.type, "value_type", field.type))
    cells = [none if cell is None else cell for cell in column.to_pylist()]
    if pa.types.is_list(field.type):
        cells = [[inner if one is None else one for one in cell] for cell in cells]
    return pa.array(cells, field.type)


# ---- batches of hot files


def read_schema(payload: memoryview, table: pa.Schema) -> pa.Schema | None:
    """None when it is no schema that rows of this table can have."""
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(payload))
        check_key(schema, table)
        check_types(schema, table)
    except (pa.ArrowException, OSError, ValueError, EOFError, RecursionError):
        return None
    return schema


def read_batch(payload: memoryview, schema: pa.Schema | None, table: pa.Schema) -> pa.RecordBatch | None:
    """None when the batch cannot be what was written: its schema is lost, or its buffers contradict each other."""
    if schema is None:
        return None
    try:
        if _is_compressed(payload):
            return None
        batch = pa.ipc.read_record_batch(pa.py_buffer(payload), schema)
        batch.validate(full=True)
        return conform(batch, table)
    except (pa.ArrowException, OSError, ValueError, EOFError, OverflowError, struct.error):
        return None


def _is_compressed(payload: memoryview) -> bool:
    """Whether a record batch would unpack to more than it is: the format has none of these, and Arrow would reserve
    whatever size is claimed."""
    marker, size = struct.unpack_from("<Ii", payload)
    begin = 8 if marker == 0xFFFFFFFF else 4
    message = payload[begin : begin + (size if begin == 8 else marker)]
    root = struct.unpack_from("<I", message)[0]
    header = _field_place(message, root, _HEADER_FIELD)
    if header is None:
        return False
    header += struct.unpack_from("<I", message, header)[0]
    return _field_place(message, header, _COMPRESSION_FIELD) is not None


def _field_place(message: memoryview, at: int, field: int) -> int | None:
    """Where a field of the flatbuffer's table at this place lies; None when the table has none."""
    directory = at - struct.unpack_from("<i", message, at)[0]
    if directory < 0:
        raise ValueError("a table lies before its message")
    if struct.unpack_from("<H", message, directory)[0] <= 4 + 2 * field:
        return None
    offset = struct.unpack_from("<H", message, directory + 4 + 2 * field)[0]
    return at + offset if offset else None


# ---- rows that refer to rows


# Per table: its key, and the column that names another row of the same table.
_PARENTS = {"ops": ("op", "forward"), "stacks": ("stack", "parent"), "graphs": ("graph", "outer")}
_LISTS = {"ops": ("input_ops", "input_slots"), "functions": ("output_ops", "output_slots")}


def sound_rows(table: str, rows: pa.Table) -> tuple[pa.Table, int]:
    """Rows of an interned table, and how many of them were put right: a way along parents that never ends is cut, of
    two lists that belong together the rest of the longer one goes, and a phase that does not exist is OTHER."""
    rows = _cleaned(table, rows)
    wrong = np.zeros(len(rows), bool)
    if table in _LISTS:
        names = _LISTS[table]
        lengths = [_lengths(rows[name]) for name in names]
        if (differs := lengths[0] != lengths[1]).any():
            wrong |= differs
            both = [rows[name].to_pylist() for name in names]
            for name, cells, others in zip(names, both, reversed(both), strict=True):
                cut = [one[: len(other)] for one, other in zip(cells, others, strict=True)]
                rows = _replaced(rows, name, cut)
    if table == "ops" and (unknown := rows["phase"].to_numpy() > Phase.OTHER).any():
        wrong |= unknown
        rows = _replaced(rows, "phase", np.where(unknown, Phase.OTHER, rows["phase"].to_numpy()))
    if table in _PARENTS:
        key = rows[_PARENTS[table][0]].to_numpy()
        if (key < 0).any():  # which means none
            return _counted(sound_rows(table, rows.filter(pa.array(key >= 0))), int((key < 0).sum()))
        key, parent = (rows[name].to_numpy() for name in _PARENTS[table])
        ends = _reaches_an_end(key, parent)
        if not ends.all():
            wrong |= ~ends
            rows = _replaced(rows, _PARENTS[table][1], np.where(ends, parent, -1))
    return rows, int(np.count_nonzero(wrong))


def _counted(found: tuple[pa.Table, int], more: int) -> tuple[pa.Table, int]:
    return found[0], found[1] + more


# Texts of several lines; all others are names.
_LINES = {("sources", "text"), ("runs", "error"), ("notes", "text"), ("ops", "attributes"), ("functions", "signature")}


def _cleaned(table: str, rows: pa.Table) -> pa.Table:
    for field in rows.schema:
        of_list = pa.types.is_list(field.type) and pa.types.is_string(field.type.value_type)
        if not (of_list or pa.types.is_string(field.type)) or not _may_be_hidden(rows[field.name]):
            continue
        lines = (table, field.name) in _LINES
        cells = rows[field.name].to_pylist()
        if of_list:
            rows = _replaced(rows, field.name, [[plain(one) for one in cell] for cell in cells])
        else:
            rows = _replaced(rows, field.name, [plain(cell, lines) for cell in cells])
    return rows


def _may_be_hidden(column: pa.ChunkedArray) -> bool:
    """Whether any byte belongs to a character that ``plain`` might replace; most columns have none."""
    for chunk in column.chunks:
        data = (chunk.values if pa.types.is_list(chunk.type) else chunk).buffers()[2]
        if data is not None and _RARE_BYTES[np.frombuffer(data, np.uint8)].any():
            return True
    return False


_RARE_BYTES = np.zeros(256, bool)
_RARE_BYTES[:32] = _RARE_BYTES[127] = True
_RARE_BYTES[[0xC2, 0xD8, 0xE2, 0xED, 0xEF]] = True  # with which the others begin in UTF-8
_RARE_BYTES[ord("\n")] = True


def _replaced(rows: pa.Table, name: str, cells: Any) -> pa.Table:
    at = rows.schema.get_field_index(name)
    return rows.set_column(at, rows.schema.field(at), pa.array(cells, rows.schema.field(at).type))


def _lengths(column: pa.ChunkedArray) -> np.ndarray:
    parts = [np.diff(chunk.offsets.to_numpy()) for chunk in column.chunks]
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


def _reaches_an_end(key: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Whether the way from each row along its parents ends, and soon enough. Each turn goes twice as far as the one
    before. Of rows with the same key the last counts, as for all readers."""
    order = np.argsort(key, kind="stable")
    places = np.searchsorted(key[order], parent, "right") - 1
    found = (key[order][places] == parent) & (places >= 0) if len(key) else np.empty(0, bool)
    nowhere = len(key)
    next_row = np.append(np.where(found, order[places], nowhere), nowhere)
    length = 1
    while length < _MOST_PARENTS and (next_row[:-1] != nowhere).any():
        next_row = next_row[next_row]
        length *= 2
    return next_row[:-1] == nowhere


def check_sealed_file(path: Path) -> None:
    """OSError or ValueError unless it is a plain file of a size that a segment can have."""
    with open_plain(path) as file:
        check_parquet_size(file.seek(0, 2))
