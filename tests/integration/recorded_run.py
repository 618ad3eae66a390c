"""Records what a block of a test does, and reads the rows back in the words of the tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import tdbg
from tdbg.model import Flag, Phase
from tdbg.query.trace.program import Program


class Recorded:
    """A trace of one process, with its rows joined."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def trace(self) -> Any:
        return tdbg.open(self.path)

    @cached_property
    def program(self) -> Program:
        return Program(self.trace, 0)

    def table(self, name: str) -> list[dict[str, Any]]:
        return self.trace.table(name).to_pylist()

    @cached_property
    def ops(self) -> dict[int, dict[str, Any]]:
        return {row["op"]: row for row in self.table("ops")}

    @cached_property
    def tensors(self) -> list[dict[str, Any]]:
        """Every tensor row in the order of events, with its op's row under ``of`` and its dims under ``dims``."""
        dims = {row["shape"]: tuple(row["dims"]) for row in self.table("shapes")}
        rows = sorted(self.table("tensors"), key=lambda row: row["seq"])
        return [row | {"of": self.ops[row["op"]], "dims": dims[row["shape"]]} for row in rows]

    def rows(self, op_type: str, eager: bool | None = None) -> list[dict[str, Any]]:
        """The outputs of ops of one type."""
        return [
            row
            for row in self.tensors
            if row["of"]["type"] == op_type
            and not row["flags"] & (Flag.EVIDENCE | Flag.INPUT)
            and (eager is None or eager == (row["of"]["graph"] < 0))
        ]

    def ops_of(self, op_type: str) -> list[dict[str, Any]]:
        return [op for op in self.ops.values() if op["type"] == op_type]

    def op_types(self) -> set[str]:
        return {op["type"] for op in self.ops.values()}

    def line(self, op: dict[str, Any]) -> tuple[str, int]:
        """The user's file and line of an op."""
        frame = self.program.user_frame(self.program.ops[op["op"]])
        assert frame is not None, op
        return frame.file, frame.line

    def phase(self, op: dict[str, Any]) -> Phase:
        return Phase(op["phase"])

    @property
    def steps(self) -> list[int]:
        return [row["step"] for row in self.table("steps")]

    def call(self, execution: int) -> dict[str, Any]:
        return next(row for row in self.table("executions") if row["execution"] == execution)


@contextlib.contextmanager
def record(folder: Path, name: str = "run", **options: Any) -> Iterator[Recorded]:
    """Records the block; the rows can be read after it."""
    path = folder / f"{name}.tdbg"
    tdbg.enable(path, **options)
    try:
        yield Recorded(path)
    finally:
        tdbg.disable()


def line_with(file: str, text: str) -> int:
    """The number of the only line of a file that ends with a mark, a comment such as ``# the log``."""
    lines = [n for n, line in enumerate(Path(file).read_text().splitlines(), 1) if line.endswith(f"  # {text}")]
    assert len(lines) == 1, (text, lines)
    return lines[0]
