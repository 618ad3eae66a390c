"""Traces of tdbg 0.1.0, whose ops tell neither kind nor roles nor framework: whoever reads them gets all three."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scene_traces import add, new_trace

import tdbg
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.store.format import SCHEMAS
from tdbg.vocabulary import Kind, Role

NEW = ("kind", "roles", "framework")
OPS = [
    {"op": 0, "name": "x", "type": "Placeholder"},
    {"op": 1, "name": "w", "type": "ReadVariableOp"},
    {"op": 2, "name": "y", "type": "__inference_step_7", "graph": -1},
    {"op": 3, "name": "z", "type": "SomethingNew"},
]
KINDS = ["argument", "read", "call", "other"]
ROLES = [["enters"], ["reads_state"], ["calls"], []]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    writer = new_trace(tmp_path)
    with monkeypatch.context() as earlier:
        ops = SCHEMAS["ops"]
        earlier.setitem(SCHEMAS, "ops", pa.schema([field for field in ops if field.name not in NEW]))
        add(writer, "ops", *OPS)
        add(writer, "tensors", {"seq": 0, "op": 0})
        writer.flush()
    writer.close({"status": 0})
    return tmp_path / "run.tdbg"


def test_the_table(path: Path) -> None:
    rows = Trace.open(path).table("ops")
    assert rows["kind"].to_pylist() == KINDS
    assert rows["roles"].to_pylist() == ROLES
    assert set(rows["framework"].to_pylist()) == {"tensorflow"}
    assert Trace.open(path).table("ops", ["kind"])["kind"].to_pylist() == KINDS


def test_sql(path: Path) -> None:
    rows = Rows(Trace.open(path))
    assert [kind for (kind,) in rows.query("SELECT kind FROM ops ORDER BY op")] == KINDS
    assert rows.query("SELECT op FROM ops WHERE list_contains(roles, 'calls') AND framework = 'tensorflow'") == [(2,)]


def test_what_was_written_since(path: Path) -> None:
    _, batches = Trace.open(path).tail()
    assert [kind for batch in batches["ops"] for kind in batch.column("kind").to_pylist()] == KINDS


def test_the_program(path: Path) -> None:
    ops = Program(Trace.open(path), 0).ops
    assert (ops[1].kind, ops[1].roles, ops[1].inputs) == (Kind.READ, Role.READS_STATE, ((1, 0),))
    assert (ops[2].label, ops[3].label) == ("step", "SomethingNew")


def test_what_a_later_version_wrote_stays(tmp_path: Path) -> None:
    writer = new_trace(tmp_path)
    told = {"kind": "matmul", "roles": ["risky"], "framework": "torch"}
    add(writer, "ops", {"op": 0, "name": "x", "type": "Placeholder"}, {"op": 1, "name": "y", "type": "Log"} | told)
    writer.close({"status": 0})
    rows = Trace.open(tmp_path / "run.tdbg").table("ops", NEW).drop_columns("process").to_pylist()
    assert rows == [{"kind": "argument", "roles": ["enters"], "framework": "tensorflow"}, told]


def tdbg_says(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "tdbg", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_in_a_process_of_their_own(path: Path, tmp_path: Path) -> None:
    """Nothing but the command has been imported there."""
    rows = json.loads(tdbg_says("sql", str(path), "SELECT kind FROM ops ORDER BY op", "--json"))
    assert [row["kind"] for row in rows] == KINDS
    tdbg_says("export", "--format", "parquet", str(path), str(tmp_path / "tables"))
    assert pq.read_table(tmp_path / "tables" / "ops.parquet")["kind"].to_pylist() == KINDS


def test_all_that_look_at_traces_open_them_as_the_query_does() -> None:
    """Ops are completed in traces that are opened through it. ``formats`` writes what was opened so."""
    root = Path(tdbg.__file__).parent
    imports = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "StoredTrace" for alias in node.names)
    }
    assert {path for path in imports if not path.startswith(("store/", "formats/"))} == {"query/trace/trace.py"}
