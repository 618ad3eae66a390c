"""Reads what eager ops, and eager calls of functions, were given and gave, by the numbers of eager tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tdbg.query.trace.rows import Rows


class Call(NamedTuple):
    """One execution. ``graph`` is -1 where it ran none, or where nothing is known of it, ``op`` likewise."""

    execution: int
    op: int
    graph: int
    inputs: tuple[int, ...]


class Calls:
    """The eager calls of one process."""

    def __init__(self, rows: Rows, process: int) -> None:
        self._rows, self._process = rows, process
        self._known: dict[int, Call] = {}
        self._takers: dict[int, list[Call]] = {}

    def of(self, execution: int) -> Call:
        """Tells what is known of an execution; of the last few thousand it is remembered."""
        if execution not in self._known:
            found = self._calls("execution = ?", [execution])
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[execution] = found[0] if found else Call(execution, -1, -1, ())
        return self._known[execution]

    def given_to(self, executions: Iterable[int]) -> list[int]:
        """Collects the tensors that any of these executions was given, each once."""
        found = self._rows.query(
            f"SELECT DISTINCT unnest(inputs) FROM executions WHERE process = {self._process} AND execution IN "
            f"({_listed(executions)})"
        )
        return [tensor for (tensor,) in found]

    def makers_of(self, tensors: Sequence[int]) -> list[int]:
        """Finds the executions that gave any of these tensors."""
        found = self._rows.query(
            f"SELECT execution FROM ends WHERE process = {self._process} AND list_has_any(outputs, ?::BIGINT[])",
            [list(tensors)],
        )
        return [execution for (execution,) in found]

    def made(self, tensor: int) -> list[tuple[Call, int]]:
        """Finds the calls that gave a tensor, and as which of their results."""
        found = self._rows.query(
            f"SELECT execution, list_position(outputs, ?) - 1 FROM ends WHERE process = {self._process} AND "
            "list_contains(outputs, ?)",
            [tensor, tensor],
        )
        return [(self.of(execution), at) for execution, at in found]

    def takers_of(self, tensor: int) -> list[Call]:
        """Finds the calls that were given a tensor, in the order in which they began."""
        if tensor not in self._takers:
            self._takers[tensor] = self._calls("list_contains(inputs, ?) ORDER BY execution", [tensor])
        return self._takers[tensor]

    def taken_by_ops(self, tensors: Sequence[int]) -> list[tuple[int, int]]:
        """Finds which ops were given any of these tensors: (tensor, op)."""
        return self._rows.query(
            f"SELECT tensor, op FROM (SELECT unnest(inputs) AS tensor, op FROM executions WHERE process = "
            f"{self._process} AND list_has_any(inputs, ?::BIGINT[])) WHERE list_contains(?::BIGINT[], tensor)",
            [list(tensors), list(tensors)],
        )

    def _calls(self, where: str, parameters: list[int]) -> list[Call]:
        sql = f"SELECT execution, op, graph, inputs FROM executions WHERE process = {self._process} AND {where}"
        return [Call(n, op, graph, tuple(inputs)) for n, op, graph, inputs in self._rows.query(sql, parameters)]


_MOST_KNOWN = 4096


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "NULL"
