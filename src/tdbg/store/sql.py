"""Opens a trace as a DuckDB connection in which every table is a view and no other file can be reached."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.store.format import NUMBER_COLUMNS, SCHEMAS
from tdbg.store.soundness import none_of
from tdbg.store.tables import ProcessTables

if TYPE_CHECKING:
    import duckdb

_SQL_TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE"}  # of the numbers of a tensor
_connections: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()  # that are open


def connect(processes: Sequence[ProcessTables]) -> duckdb.DuckDBPyConnection:
    """The views show the trace as it is now. What can still be written to are the trace's own files, by COPY: give
    the connection only statements that ``check_is_query`` let pass."""
    import duckdb

    connection = duckdb.connect(":memory:")
    _connections.add(connection)
    allowed: list[str] = []
    for table in SCHEMAS:
        selects = []
        for tables in processes:
            files, in_memory = tables.sources(table)
            if files:
                allowed += map(str, files)
                for columns, alike in _by_columns(files).items():
                    names = ", ".join(_quoted(str(file)) for file in alike)
                    selects.append(_select(table, tables.process.index, f"read_parquet([{names}])", columns))
            if in_memory:
                name = f"_hot_{table}_{tables.process.index}"
                connection.register(name, pa.concat_tables(in_memory))
                selects.append(_select(table, tables.process.index, name))
        if not selects:
            name = f"_empty_{table}"
            connection.register(name, SCHEMAS[table].empty_table())
            selects.append(_select(table, 0, name))
        connection.execute(f"CREATE VIEW {table} AS " + " UNION ALL ".join(selects))
    connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, allowed))}]")
    connection.execute("SET parquet_metadata_cache = true")  # a sealed file never changes
    connection.execute("SET enable_external_access = false")
    with contextlib.suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets has none, and refuses
        connection.execute("SET enable_progress_bar = false")  # it is drawn on standard output, into the JSON
    connection.execute("SET lock_configuration = true")
    return connection


def interrupt_queries() -> None:
    """From another thread: what is being asked of any trace ends with an error of DuckDB's."""
    for connection in list(_connections):
        connection.interrupt()


def check_is_query(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """TdbgError unless every statement only reads (SELECT, DESCRIBE, SUMMARIZE, SHOW)."""
    import duckdb

    for statement in connection.extract_statements(sql):
        if statement.type != duckdb.StatementType.SELECT:
            raise TdbgError(f"A trace can only be queried, and this is {statement.type.name}; start with SELECT.")


def record_batches(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[object], rows: int
) -> pa.RecordBatchReader:
    """The result of a query in batches of ``rows``."""
    relation = connection.sql(query, params=list(parameters))
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # DuckDB 2's name, DuckDB 1's
    return read(rows)


def _select(table: str, process: int, source: str, present: Sequence[str] | None = None) -> str:
    """One process's rows; ``present`` are the columns that its version of tdbg wrote (None: all)."""
    columns = ", ".join(_column(field, present) for field in SCHEMAS[table])
    where = " WHERE seq IS NOT NULL" if present is not None and "seq" in present else ""
    return f"SELECT {process}::INTEGER AS process, {columns} FROM {source}{where}"


def _column(field: pa.Field, present: Sequence[str] | None) -> str:
    """A cell is never NULL where readers rely on one; an expression around ``seq`` would keep the engine from passing
    over row groups, so rows without one are left out instead."""
    name = f'"{field.name}"'
    if field.name in NUMBER_COLUMNS:
        return name if present is None or field.name in present else f"NULL::{_SQL_TYPES[field.type]} AS {name}"
    none = _literal(none_of(field.type))
    if present is not None and field.name not in present:
        return f"{none} AS {name}"
    return name if present is None or field.name == "seq" else f"coalesce({name}, {none}) AS {name}"


def _literal(none: Any) -> str:
    return "''" if none == "" else "false" if none is False else str(none)


def _by_columns(files: Sequence[Path]) -> dict[tuple[str, ...], list[Path]]:
    """Files with the same columns together; versions of tdbg differ in them."""
    import pyarrow.parquet as pq

    found: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        found.setdefault(tuple(pq.read_schema(file).names), []).append(file)
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
