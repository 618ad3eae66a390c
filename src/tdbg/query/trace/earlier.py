"""Tells kinds and roles of ops in traces that tdbg 0.1.0 recorded, which knew TensorFlow alone."""

from __future__ import annotations

import pyarrow as pa

from tdbg.frameworks import ops_of
from tdbg.store.completion import COMPLETIONS

_FRAMEWORK = "tensorflow"


def with_kinds(rows: pa.Table) -> pa.Table:
    """Fills in the three columns in rows of ``ops``; those that have a kind stay as they are."""
    if "" not in set(rows["kind"].to_pylist()):
        return rows
    ops = ops_of(_FRAMEWORK)
    told = zip(*(rows[name].to_pylist() for name in ("type", "kind", "roles", "framework")), strict=True)
    found = [
        (ops.kind_of(op_type).value, ops.roles_of(op_type).words, _FRAMEWORK) if not kind else (kind, roles, framework)
        for op_type, kind, roles, framework in told
    ]
    for at, name in enumerate(("kind", "roles", "framework")):
        place = rows.schema.get_field_index(name)
        field = rows.schema.field(place)
        rows = rows.set_column(place, field, pa.array([row[at] for row in found], field.type))
    return rows


COMPLETIONS["ops"] = with_kinds
