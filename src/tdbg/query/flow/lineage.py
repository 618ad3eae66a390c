"""Follows a tensor back to those that its value came from: through graphs, calls, loops and eager code.

Ops that only move values have no rows of their own; they are looked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tdbg.model import Flag
from tdbg.query.flow.loops import Way, carried, follow, is_pop, popped, seen
from tdbg.query.trace.calls import Call
from tdbg.query.trace.op import Tensor
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.vocabulary import ASSIGNMENTS, DATASETS, PIPELINES, Kind

_MOST_WRITERS = 64  # calls that are looked through for the last one that wrote a variable


class Source(NamedTuple):
    """Where an input comes from: a tensor of a graph, seen from one execution."""

    op: int
    slot: int
    execution: int
    way: Way = Way.SAME


class Written(NamedTuple):
    """The rows of values that were written to a variable; ``is_whole``: in place of all that was there."""

    rows: list[Row]
    is_whole: bool


class Lineage:
    """Walks back over a set of rows that were read beforehand (usually the bad ones)."""

    def __init__(self, rows: Rows, program: Program, process: int, known: list[Row]) -> None:
        self._program, self._graph, self._calls = program, program.graph, rows.calls(process)
        self._by_place: dict[tuple[int, int, int], list[Row]] = defaultdict(list)
        self._by_tensor: dict[int, Row] = {}
        self._within: dict[int, list[Row]] = defaultdict(list)  # by execution: rows of the called graphs
        self._by_execution: dict[int, list[Row]] = defaultdict(list)
        self._tensors_of: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)  # by (graph, execution)
        self._pipeline: list[Row] = []  # what datasets were made of, and what their functions computed
        for row in known:
            if row.flags & Flag.EVIDENCE:
                continue
            if not row.is_input or program.ops[row.op].graph >= 0:
                self._by_place[(row.op, row.slot, row.execution)].append(row)
            if row.tensor >= 0:
                self._by_tensor.setdefault(row.tensor, row)
            op = program.ops[row.op]
            if op.graph >= 0 and row.execution >= 0:
                self._within[row.execution].append(row)
                self._tensors_of[op.graph, row.execution].add((row.op, row.slot))
            if row.is_input and op.graph < 0:
                self._by_execution[row.execution].append(row)
            # A dataset's function is proven to have made it: its arguments have no rows.
            is_proven = row.execution < 0 and bool(row.flags & Flag.ORIGIN)
            if is_proven or (row.is_input and op.kind in DATASETS):
                self._pipeline.append(row)
        self._results: dict[int, Row | None] = {}

    # ---- parents

    def parents(self, row: Row) -> list[Row]:
        """Finds the known rows that the op of this row read."""
        op = self._program.ops[row.op]
        if op.graph >= 0 and op.kind == Kind.ARGUMENT:
            return self._of_argument(op, row)
        if op.graph < 0 and not row.is_input and row.execution in self._within:
            # What a call gave back, looked at outside of it: it came from within, more than that is not always told.
            return self._within[row.execution]
        if op.kind == Kind.READ:
            return self._written(op, row)
        if op.graph < 0 and op.kind in PIPELINES:
            packed = self._of_call(row) if op.kind == Kind.OPTIONAL_VALUE else None
            return self._of_pipeline(row) if packed is None else packed
        found = []
        for _, maker, made in self.inputs(row):
            if made is not None:
                found.append(made)
            elif maker.kind == Kind.READ and maker.graph >= 0:  # a read that has no row: look at what was written
                found += self._written(maker, row)
        if op.kind in PIPELINES:
            found += self._of_pipeline(row)
        return found

    def inputs(self, row: Row) -> list[tuple[int, Op, Row | None]]:
        """Finds what the op of this row read: (number of the input, the op whose value it is, its row if it is
        known)."""
        op = self._program.ops[row.op]
        if op.graph >= 0:
            return [
                (index, self._program.ops[source.op], self._seen_by(source, row))
                for index, (number, slot) in enumerate(op.inputs)
                if number != row.op or op.kind != Kind.READ  # a reference is its own handle
                for source in self._behind(
                    number, slot, row.execution, set(), follow(Way.SAME, op, self._program.ops.get(number))
                )
            ]
        if row.is_input:
            return []
        call = self._calls.of(row.execution)
        inside = self._inside(row.execution, call.graph, row.slot)
        if row.flags & Flag.RESULT and inside is not None:
            return [(0, self._program.ops[inside.op], inside)]
        found = [self._of_tensor(tensor) for tensor in call.inputs]
        return [(i, self._program.ops[made.op], made) for i, made in enumerate(found) if made is not None]

    def sources(self, op: Op, index: int) -> list[int]:
        """Finds the ops of a graph whose value an input of another is."""
        return [source.op for source in self._behind(*op.inputs[index], -1, set())]

    def real_maker(self, maker: Op, row: Row | None) -> tuple[Op, Row | None]:
        """Looks through function arguments to the op that made the value that was passed."""
        visited: set[int] = set()
        while row is not None and maker.kind == Kind.ARGUMENT and row.seq not in visited:
            visited.add(row.seq)
            passed = self.parents(row)
            if not passed:
                break
            row = passed[0]
            maker = self._program.ops[row.op]
        return maker, row

    def _behind(
        self, number: int, slot: int, execution: int, visited: set[tuple[int, int]], way: Way = Way.SAME
    ) -> Iterator[Source]:
        op = self._program.ops.get(number)
        if op is None or (number, slot) in visited:
            return
        visited.add((number, slot))
        if op.observed or op.kind in (Kind.CONSTANT, Kind.ARGUMENT):
            yield Source(number, slot, execution if op.observed or op.kind != Kind.CONSTANT else -1, way)
            return
        inner = self._graph.results(op, slot)
        if inner:
            for result in inner:
                yield from self._behind(*result, execution, visited)
            return
        called = self._graph.callees.get(number, ())
        untold = [tensor for graph in called for tensor in self._tensors_of[graph, execution]]
        if untold:  # imported graphs do not tell their results: it came from within
            for tensor in sorted(untold):
                yield Source(*tensor, execution)
            return
        known = self._graph.value_before(op) if op.kind == Kind.READ else None
        if op.kind == Kind.READ and known is None:  # without a row; what was written before may have one
            yield Source(number, slot, execution)
            return
        for parent, parent_slot in (known,) if known is not None else carried(op):
            yield from self._behind(
                parent, parent_slot, execution, visited, follow(way, op, self._program.ops.get(parent))
            )

    def _seen_by(self, source: Source, row: Row, iteration: int | None = None) -> Row | None:
        """Finds the row of a tensor that this row's op saw: of its own loop iteration, else the last one before it.
        Arguments are watched beside the data flow, so their rows may come a little later than those of their
        readers."""
        rows = self._by_place.get((source.op, source.slot, source.execution), ())
        if is_pop(self._program.ops[row.op]):
            return popped(rows, row)
        if source.way:
            return seen(rows, source.way, row)
        wanted = row.iteration if iteration is None else iteration
        same = [r for r in rows if r.iteration == wanted]
        # Where iterations are not known, all rows of a loop's tensor look alike: the last one before it was read.
        same = [r for r in same if r.seq < row.seq] or same or [r for r in rows if r.seq < row.seq]
        outside = [r for r in rows if r.iteration < 0]  # of the loop: there is one, whenever it was recorded
        return same[-1] if same else outside[0] if outside else None

    # ---- variables and pipelines

    def _of_call(self, row: Row) -> list[Row] | None:
        """Finds, for a value out of an Optional that a function gave back, as Keras takes out its losses, the rows
        inside that call that look like it. None when the Optional came from an iterator."""
        boxes = self._calls.of(row.execution).inputs[:1]
        calls = [one for one in self._calls.makers_of(boxes) if self._calls.of(one).graph >= 0]
        return [one for one in self._within[calls[0]] if one.looks_like(row)] if calls else None

    def _of_pipeline(self, row: Row) -> list[Row]:
        """Finds the first bad value that a dataset was given, or that its functions made, which run apart."""
        before = [made for made in self._pipeline if made.seq < row.seq]
        computed = [made for made in before if made.execution < 0]
        return (computed or before)[:1]

    def _written(self, read: Op, row: Row) -> list[Row]:
        """Finds the rows of what was last written to the variable that ``read`` reads: before it in the same graph,
        else by the latest earlier call or eager op that was given the variable and writes it."""
        if read.graph >= 0 and read.inputs:
            written, is_whole = self._writes_in(read.graph, read.inputs[0], row.execution, read.number)
            if written or is_whole:
                return written
        handle = self._handle(read, row.execution)
        if handle is None:
            return []
        earlier = [call for call in self._calls.takers_of(handle) if call.execution < row.execution]
        for call in reversed(earlier[-_MOST_WRITERS:]):
            written, is_whole = self._writes_of(call, handle)
            if written or is_whole:
                return written
        return []

    def _writes_of(self, call: Call, handle: int) -> Written:
        """Finds what an eager op, or a function that eager code called, wrote to a variable that it was given."""
        if call.graph >= 0:
            function = self._program.functions.get(call.graph)
            at = call.inputs.index(handle)
            if function is None or at >= len(function.arguments):
                return Written([], False)
            return self._writes_in(call.graph, (function.arguments[at], 0), call.execution, None)
        op = self._program.ops.get(call.op)
        if op is None or op.kind not in ASSIGNMENTS or call.inputs[0] != handle:
            return Written([], False)
        made = self._of_tensor(call.inputs[-1])
        return Written([made] if made else self._by_execution.get(call.execution, []), op.kind == Kind.ASSIGN)

    def _writes_in(self, graph: int, variable: Tensor, execution: int, before: int | None) -> Written:
        for op in reversed(self._graph.writers(graph, variable)):
            if before is not None and op.number > before:
                continue
            found = [
                made
                for source in self._behind(*op.inputs[-1], execution, set())
                for made in self._by_place.get((source.op, source.slot, source.execution), ())[-1:]
            ]
            if found or op.kind == Kind.ASSIGN:
                return Written(found, op.kind == Kind.ASSIGN)
        return Written([], False)

    def _handle(self, read: Op, execution: int) -> int | None:
        """Finds the number of the eager tensor that stands for a variable, as the call that reads it was given it."""
        call = self._calls.of(execution)
        if read.graph < 0:
            return call.inputs[0] if call.inputs else None
        number = read.inputs[0][0] if read.inputs else -1
        for _ in range(16):  # functions within functions
            at = self._graph.argument_number.get(number)
            if at is None:
                return None
            if self._program.ops[number].graph == call.graph:
                return call.inputs[at] if at < len(call.inputs) else None
            passed = self._graph.passed(number)
            if not passed:
                return None
            number = passed[0][1][0]
        return None

    # ---- across calls

    def is_outermost(self, row: Row) -> bool:
        """Tells whether a row is of eager code, or of the very graph that eager code called."""
        graph = self._program.ops[row.op].graph
        return graph < 0 or graph == self._calls.of(row.execution).graph

    def _of_argument(self, op: Op, row: Row) -> list[Row]:
        """Finds what was passed for a function's argument, by the eager call or by a call in another graph."""
        at = self._graph.argument_number.get(op.number)
        if at is None:
            return []
        call = self._calls.of(row.execution)
        if op.graph == call.graph and at < len(call.inputs):
            found = self._of_tensor(call.inputs[at])
            return [found] if found is not None else []
        rows = []
        for caller, passed in self._graph.passed(op.number):
            iteration, handed_on = None, self._graph.result(op.graph, at)
            is_loop = caller.kind == Kind.WHILE
            if is_loop and row.iteration > 0 and handed_on is not None:
                passed, iteration = handed_on, row.iteration - 1  # what the iteration before gave
            for source in self._behind(*passed, row.execution, set()):
                found = self._seen_by(source, row, iteration)
                # Imported loops do not tell what an iteration hands to the next: then only the first got this value.
                is_told = not is_loop or self._program.functions[op.graph].results
                if found is not None and (is_told or found.looks_like(row)):
                    rows.append(found)
        return rows

    def _of_tensor(self, tensor: int) -> Row | None:
        """Finds the row of an eager tensor, else that inside the call which gave it."""
        return self._by_tensor.get(tensor) or self._of_result(tensor)

    def _of_result(self, tensor: int) -> Row | None:
        """Finds, for a tensor that a function call gave back, the row inside that call that became it."""
        if tensor not in self._results:
            self._results[tensor] = self._find_result(tensor)
        return self._results[tensor]

    def _find_result(self, tensor: int) -> Row | None:
        for call, at in self._calls.made(tensor):
            given = [
                row for row in self._by_place.get((call.op, at, call.execution), ()) if not row.flags & Flag.RESULT
            ]
            if given:  # by a function that could not be looked inside
                return given[-1]
            found = self._inside(call.execution, call.graph, at)
            if found is not None:
                return found
        return None

    def _inside(self, execution: int, graph: int, at: int) -> Row | None:
        """Finds the row inside a call that became its result number ``at``."""
        result = self._graph.result(graph, at)
        for source in self._behind(*result, execution, set()) if result is not None else ():
            rows = self._by_place.get((source.op, source.slot, source.execution))
            if rows:
                return rows[-1]
        return None
