"""Makes an alert for each output that ever held NaN or infinity, from the rollup of its op."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tdbg.model import BAD_OUTPUT_SQL, Phase, bad_text
from tdbg.query.over_time.alert_kinds import Alert
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows

_WHERE = {Phase.BACKWARD: " in the gradient", Phase.UPDATE: " in the update"}


def bad_values(rows: Rows, program: Program, process: int, ops: pa.Table) -> Iterator[Alert]:
    """Makes the alerts. Masks and other harmless infinities are among them; the verdict tells those apart."""
    bad = ops.filter(pc.greater(ops["bad"], 0)).to_pylist()
    firsts = _first_rows(rows, process, [row["first_bad_seq"] for row in bad])
    for row in bad:
        op = program.ops.get(row["op"])
        step, time, execution = firsts.get(row["first_bad_seq"], (row["first_step"], -1, -1))
        what = bad_text(row["nan"], row["neg_inf"], row["pos_inf"]) or "NaN or infinity"
        slot = f" (output {row['slot']})" if row["slot"] else ""
        where = _WHERE.get(op.phase, "") if op else ""
        when = f" in step {step}" if row["bad"] == 1 else f": {row['bad']:,} times, from step {step} on"
        text = f"{op.name if op else 'an unknown op'}{slot} held {what}{where}{when}"
        frame = program.user_frame(op) if op else None
        graph = op.graph if op else -1
        yield Alert("bad_values", text, frame, step, row["first_bad_seq"], time, row["op"], graph, execution)


def _first_rows(rows: Rows, process: int, seqs: list[int]) -> dict[int, tuple[int, int, int]]:
    """Looks up events: seq → step, time, execution. The bounds let the engine pass over row groups that have none of
    them."""
    if not seqs:
        return {}
    found = rows.query(
        f"SELECT seq, step, time, execution FROM tensors WHERE process = {process} AND {BAD_OUTPUT_SQL} "
        f"AND seq BETWEEN {min(seqs)} AND {max(seqs)} AND seq IN (SELECT unnest(?))",
        [seqs],
    )
    return {seq: (step, time, execution) for seq, step, time, execution in found}
