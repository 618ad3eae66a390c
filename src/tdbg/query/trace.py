"""A trace's folder in; its stored tables, and those that are worked out from them, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from tdbg.store import reader

if TYPE_CHECKING:
    import duckdb


class Trace(reader.Trace):
    """What ``tdbg.open()`` gives: the reader, and the table ``alerts``."""

    def alerts(self) -> pa.Table:
        """Bad values, functions that were traced again, shapes that changed: one row each."""
        from tdbg.query.alerts import find_alerts

        return find_alerts(self)

    def connect(self, alerts: bool = True) -> duckdb.DuckDBPyConnection:
        """As the reader's; with the alerts, as they are now, unless nobody will ask for them."""
        connection = super().connect()
        if alerts:
            connection.register("alerts", self.alerts())
        return connection
