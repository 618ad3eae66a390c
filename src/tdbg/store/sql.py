"""A trace in, a DuckDB connection out in which every table is a view and no other file can be reached."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.store.format import SCHEMAS
from tdbg.store.tables import ProcessTables

if TYPE_CHECKING:
    import duckdb

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
                names = ", ".join(_quoted(str(file)) for file in files)
                selects.append(_select(table, tables.process.index, f"read_parquet([{names}])", _columns(files[0])))
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
            raise TdbgError(
                f"Only queries can be asked of a trace, and this is {statement.type.name}; begin with SELECT."
            )


def record_batches(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Sequence[object], rows: int
) -> pa.RecordBatchReader:
    """The result of a query in batches of ``rows``."""
    relation = connection.sql(query, params=list(parameters))
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # DuckDB 2's name, DuckDB 1's
    return read(rows)


def _select(table: str, process: int, source: str, present: Sequence[str] | None = None) -> str:
    """One process's rows; ``present`` are the columns that its version of tdbg wrote (None: all)."""
    names = SCHEMAS[table].names
    columns = ", ".join(f'"{name}"' if present is None or name in present else f'NULL AS "{name}"' for name in names)
    return f"SELECT {process}::INTEGER AS process, {columns} FROM {source}"


def _columns(file: Path) -> list[str]:
    import pyarrow.parquet as pq

    return pq.read_schema(file).names


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
