"""A trace as users have it: the tables that are stored, and those that are worked out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from tdbg.model import Flag
from tdbg.query.trace import earlier as earlier  # completes the ops of older traces
from tdbg.store.reader import StoredTrace

if TYPE_CHECKING:
    import duckdb


class Trace(StoredTrace):
    """What ``tdbg.open()`` gives: what is stored, and the table ``alerts``."""

    def alerts(self) -> pa.Table:
        """Finds bad values, functions that were traced again, and shapes that changed: one row each."""
        from tdbg.query.over_time.alerts import find_alerts

        return find_alerts(self)

    def find(self, where: str, limit: int | None = None) -> pa.Table:
        """Finds the tensors for which a filter such as ``nan > 0 and op == "Log"`` holds, in the order of events, with
        the name, type and phase of their ops. The words of filters are ``tdbg.expressions.FIELDS``."""
        from tdbg.expressions import parse

        answer = parse(where).sql()
        sql = (
            "SELECT t.*, o.name, o.type, o.phase FROM tensors t JOIN ops o USING (process, op) "
            f"WHERE {answer.sql} AND t.flags & {int(Flag.EVIDENCE)} = 0 ORDER BY t.process, t.seq"
        )
        limited = f"{sql} LIMIT {int(limit)}" if limit is not None else sql
        return self.connect(alerts=False).sql(limited, params=answer.parameters).to_arrow_table()

    def connect(self, alerts: bool = True) -> duckdb.DuckDBPyConnection:
        """Opens the tables as views of DuckDB; with the alerts, as they are now, unless nobody will ask for them."""
        connection = super().connect()
        if alerts:
            connection.register("alerts", self.alerts())
        return connection
