"""Traces of version 0.1.0 open as they did: the same verdict, and kinds and roles that they did not have.

tests/data/traces-0.1.0.tar.xz holds a trace of each source (functions, eager ops, a Session, loops, a data set, an
import of Debugger V2's files and one of a Session's dumps), with what ``tdbg why --json`` said of it then.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from same_answers import what_differs
from tdbg.__main__ import main
from tdbg.query.trace.trace import Trace
from tdbg.vocabulary import Kind, Role

ARCHIVE = Path(__file__).parents[1] / "data" / "traces-0.1.0.tar.xz"
NAMES = (
    "dead_relu", "debugger_v2", "dirty_data", "eager_loop", "gradient_only", "nested_loop", "session", "session_dumps",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("earlier")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(place, filter="data")
    return place / "traces-0.1.0"


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_the_same(
    folder: Path, name: str, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    main(["why", "--json", f"{name}.tdbg"])
    said = json.loads(capsys.readouterr().out)
    assert list(what_differs(json.loads((folder / f"{name}.json").read_text()), said)) == []


@pytest.mark.parametrize("name", NAMES)
def test_ops_have_kinds_and_roles(folder: Path, name: str) -> None:
    trace = Trace.open(folder / f"{name}.tdbg")
    query = "SELECT type, kind, roles, framework FROM ops ORDER BY type"
    rows: list[tuple[str, str, list[str], str]] = trace.connect().sql(query).fetchall()
    assert rows and {framework for *_, framework in rows} == {"tensorflow"}
    kinds = {op_type: (Kind(kind), Role.of_words(roles)) for op_type, kind, roles, _ in rows}
    known: dict[str, Any] = {
        "Log": (Kind.LOG, Role.RISKY),
        "ReadVariableOp": (Kind.READ, Role.READS_STATE),
        "Reshape": (Kind.RESHAPE, Role.MOVES),
        "AddV2": (Kind.ADD, Role(0)),
    }
    told = [op_type for op_type in known if op_type in kinds]
    assert told and all(kinds[op_type] == known[op_type] for op_type in told)


def test_commands_find_what_only_kinds_tell(folder: Path) -> None:
    trace = Trace.open(folder / "nested_loop.tdbg")
    found = trace.connect().sql("SELECT count(*) FROM ops WHERE list_contains(roles, 'loops')").fetchall()
    assert found[0][0] > 0


def test_sql_finds_them_before_anything_else_has_asked(folder: Path) -> None:
    query = "SELECT DISTINCT framework, kind = '' AS is_untold FROM ops"
    command = [sys.executable, "-m", "tdbg", "sql", "--json", str(folder / "eager_loop.tdbg"), query]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [{"framework": "tensorflow", "is_untold": False}]
