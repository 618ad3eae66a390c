"""Knows what one process of a trace ran: its ops and functions, with the source lines behind them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.model import Frame, Phase
from tdbg.query.flow.graph import Graph
from tdbg.query.trace.definitions import Definitions
from tdbg.query.trace.fused import fused_in, may_be_fused
from tdbg.query.trace.op import Function, Op, variable_name
from tdbg.query.trace.source_code import SourceCode
from tdbg.vocabulary import Kind, Role

__all__ = ["Op", "Program", "joined", "short_path"]

_OF_OPS = (
    "op", "graph", "name", "type", "input_ops", "input_slots", "stack", "phase", "forward", "observed", "kind", "roles",
    "framework", "attributes",
)  # fmt: skip
_OF_FUNCTIONS = ("function", "graph", "input_ops", "output_ops", "output_slots", "python", "file", "line")


class _Ops(dict[int, Op]):
    """By number. What a trace refers to and does not hold is an op of which nothing is known."""

    def __missing__(self, number: int) -> Op:
        return Op(number, -1, "?", "?", (), -1, Phase.OTHER, -1, False)


class Program(SourceCode):
    """What one process of a trace ran, without its numbers."""

    @property
    def is_imported(self) -> bool:
        """Whether the trace was made of another debugger's files, which may tell of a few runs of the program only."""
        return bool(self._trace.processes[self._process].info.get("imported"))

    @cached_property
    def graph(self) -> Graph:
        """Who feeds whom among the ops of graphs."""
        return Graph(self)

    # ---- ops

    @cached_property
    def _ops(self) -> pa.Table:
        return self._trace.table("ops", _OF_OPS, self._process)

    @cached_property
    def ops(self) -> dict[int, Op]:
        columns = self._ops.drop_columns(["process", "attributes"]).to_pydict()
        kinds = {word: Kind(word) for word in set(columns["kind"])}
        roles = {words: Role.of_words(words) for words in {tuple(some) for some in columns["roles"]}}
        phases = {number: Phase(number) for number in set(columns["phase"])}
        found = _Ops()
        for at, (number, kind, ops) in enumerate(
            zip(columns["op"], columns["kind"], columns["input_ops"], strict=True)
        ):
            graph = columns["graph"][at]
            inputs = tuple(zip(ops, columns["input_slots"][at], strict=True))
            if not inputs and graph >= 0 and kinds[kind] == Kind.READ:  # a variable that is its own handle
                inputs = ((number, 0),)
            found[number] = Op(
                number,
                graph,
                columns["name"][at],
                columns["type"][at],
                inputs,
                columns["stack"][at],
                phases[columns["phase"][at]],
                columns["forward"][at],
                columns["observed"][at],
                kinds[kind],
                roles[tuple(columns["roles"][at])],
                columns["framework"][at],
            )
        return found

    def attributes(self, number: int) -> str:
        """Gives what the program said of an op beside its inputs, as JSON."""
        at = self._place.get(number)
        return self._ops["attributes"][at].as_py() if at is not None else "{}"

    @cached_property
    def _place(self) -> dict[int, int]:
        return {number: at for at, number in enumerate(self._ops["op"].to_pylist())}

    @cached_property
    def controls(self) -> list[tuple[int, int]]:
        """(op, another that must have run before it, though nothing of it is taken)."""
        columns = self._columns("controls", ["op", "input_op"])
        return list(zip(columns["op"], columns["input_op"], strict=True))

    @cached_property
    def dialects(self) -> tuple[Dialect, ...]:
        """How the frameworks say things whose ops the process ran."""
        return tuple(dialect_of(name) for name in sorted({op.framework for op in self.ops.values()}))

    @cached_property
    def wholes(self) -> dict[int, int]:
        """The op that computed another of the same graph as a part of itself, by the part's number: parts have no rows.
        Their values cannot be seen, and lineage looks through them."""
        by_name = {(op.graph, op.name): number for number, op in self.ops.items()}
        found = {}
        for number, text in zip(self._ops["op"].to_pylist(), self._ops["attributes"].to_pylist(), strict=True):
            if may_be_fused(text):
                parts = (by_name.get((self.ops[number].graph, part.name), number) for part in fused_in(text).parts)
                found.update({part: number for part in parts if part != number})
        return found

    @cached_property
    def fused(self) -> frozenset[int]:
        """The ops that have parts."""
        return frozenset(self.wholes.values())

    @cached_property
    def functions_by_name(self) -> dict[str, Function]:
        columns = self._columns("functions", _OF_FUNCTIONS)
        return {
            name: Function(name, graph, tuple(arguments), tuple(zip(ops, slots, strict=True)), *place)
            for name, graph, arguments, ops, slots, *place in zip(
                *(columns[name] for name in _OF_FUNCTIONS), strict=True
            )
        }

    @cached_property
    def functions(self) -> dict[int, Function]:
        """By graph number; of a graph that was rewritten (loops get further results for gradients) the last form."""
        return {function.graph: function for function in self.functions_by_name.values()}

    @cached_property
    def shapes(self) -> dict[int, tuple[int, ...]]:
        """By the number that rows have for them."""
        columns = self._columns("shapes", ["shape", "dims"])
        return {number: tuple(dims) for number, dims in zip(columns["shape"], columns["dims"], strict=True)}

    # ---- lines

    def user_frame(self, op: Op) -> Frame | None:
        """Finds the user's line behind an op; for a backward op, the line of the forward op that it differentiates."""
        if op.forward in self.ops and op.phase == Phase.BACKWARD:
            frame = self.user_frame(self.ops[op.forward])
            if frame is not None:
                return frame
        return next((frame for frame in self.stack(op.stack) if frame.is_user), None)

    def definitions(self, frame: Frame) -> Definitions:
        """Finds the names that stand for one expression each in the statement around a line."""
        return self.definitions_at(frame, frozenset().union(*(dialect.repeatable for dialect in self.dialects)))

    @cached_property
    def scales_loss(self) -> bool:
        """Whether code ran that multiplies losses, and skips the steps in which that makes a gradient overflow."""
        return any(dialect.signs.loss_scaler.search(frame.file) for dialect in self.dialects for frame in self.frames())

    def input_name(self, op: Op, at: int) -> str:
        """Gives the name of the op, or of the variable, that an input comes from; "" when there is none."""
        maker = self.ops.get(op.inputs[at][0]) if at < len(op.inputs) else None
        return variable_name(maker.name, maker.framework) if maker is not None else ""

    def variable_of(self, op: Op) -> str:
        """Gives the name of the variable that an op reads or writes, as well as the graph tells it."""
        holder = self.ops.get(op.inputs[0][0]) if op.inputs else None
        return variable_name(holder.name, holder.framework) if holder is not None else op.name


def short_path(file: str) -> str:
    """Gives a path relative to the current folder when it lies below that, else the bare name."""
    if not file or file.startswith("<"):
        return file
    relative = os.path.relpath(file)
    return os.path.basename(file) if relative.startswith("..") else relative


def joined(items: Sequence[str], last: str = "and") -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""
