"""Reads the bad rows of one process that tell where trouble began.

Of each output that was ever bad the first bad row is taken, and the first with a NaN; with them all bad rows of the
same executions. So this stays quick however long a program went on with NaNs.
"""

from __future__ import annotations

from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Row, Rows

_MOST_ROWS, _MOST_EXECUTIONS = 50_000, 400


def first_rows(rows: Rows, program: Program, process: int) -> list[Row]:
    """Reads, of each output that was ever bad, the first bad row and the first with a NaN, in the order of events."""
    wanted = sorted(rows.first_bad_seqs(process))[:_MOST_ROWS]
    if not wanted:
        return []
    numbers = ", ".join(map(str, wanted))
    chosen = rows.select(process, f"{rows.is_bad(process)} AND seq IN ({numbers})", None, "ORDER BY seq")
    return [row for row in chosen if row.op in program.ops]


def beside(rows: Rows, program: Program, process: int, firsts: list[Row]) -> list[Row]:
    """Reads all bad rows of the executions that the first rows belong to, and those that eager ones were given."""
    executions = sorted({row.execution for row in firsts})[: _MOST_EXECUTIONS + 1]
    if not executions:
        return []
    calls = rows.calls(process)
    given = calls.given_to(executions)
    made_in = ", ".join(map(str, [*executions, *calls.makers_of(given)]))
    alternatives = [f"execution IN ({made_in})"]
    alternatives += [f"tensor IN ({', '.join(map(str, given))})"] if given else []
    bad = rows.select_any(process, alternatives, rows.is_bad(process), _MOST_ROWS)
    known = {row.seq: row for row in [*bad, *firsts] if row.op in program.ops}
    return [known[seq] for seq in sorted(known)]
