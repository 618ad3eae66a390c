"""Follows a tensor back to those that its value came from: through graphs, calls, loops and eager code.

Ops that only move values have no rows of their own; they are looked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from tdbg.model import Flag
from tdbg.query.flow.loops import Way, carried, follow, is_pop, popped, seen
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.vocabulary import ASSIGNMENTS, DATASETS, GRAPH_CALLS, PIPELINES, Kind

_MOST_WRITERS = 64  # calls that are looked through for the last one that wrote a variable


class Source(NamedTuple):
    """Where an input comes from: a tensor of a graph, seen from one execution."""

    op: int
    slot: int
    execution: int
    way: Way = Way.SAME


class Lineage:
    """Walks back over a set of rows that were read beforehand (usually the bad ones)."""

    def __init__(self, rows: Rows, program: Program, process: int, known: list[Row]) -> None:
        self._rows, self._program, self._process = rows, program, process
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
        self._calls: dict[int, tuple[int, list[int]]] = {}
        self._results: dict[int, Row | None] = {}
        self._users: dict[int, list[tuple[int, int, int, list[int]]]] = {}

    # ---- parents

    def parents(self, row: Row) -> list[Row]:
        """The known rows that the op of this row read."""
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
        """(number of the input, the op whose value it is, its row if it is known)."""
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
        inside = self._inside(row.execution, self._call(row.execution)[0], row.slot)
        if row.flags & Flag.RESULT and inside is not None:
            return [(0, self._program.ops[inside.op], inside)]
        tensors = self._call(row.execution)[1]
        found = [self._by_tensor.get(tensor) or self._of_result(tensor) for tensor in tensors]
        return [(i, self._program.ops[made.op], made) for i, made in enumerate(found) if made is not None]

    def sources(self, op: Op, index: int) -> list[int]:
        """The ops of a graph whose value an input of another is."""
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
        inner = self._results_of(op, slot)
        if inner is not None:
            for result in inner:
                yield from self._behind(*result, execution, visited)
            return
        untold = [tensor for graph in self._callees.get(number, ()) for tensor in self._tensors_of[graph, execution]]
        if untold:  # imported graphs do not tell their results: it came from within
            for tensor in sorted(untold):
                yield Source(*tensor, execution)
            return
        known = self._known_value(op) if op.kind == Kind.READ else None
        if op.kind == Kind.READ and known is None:  # without a row; what was written before may have one
            yield Source(number, slot, execution)
            return
        for parent, parent_slot in (known,) if known is not None else carried(op):
            yield from self._behind(
                parent, parent_slot, execution, visited, follow(way, op, self._program.ops.get(parent))
            )

    def _known_value(self, read: Op) -> tuple[int, int] | None:
        """A read without an observer: the value was read or assigned before in the same graph."""
        variable = read.inputs[0] if read.inputs else None
        for number in range(read.number - 1, -1, -1):
            op = self._program.ops.get(number)
            if op is None or op.graph != read.graph or variable not in op.inputs[:1]:
                continue
            if op.kind == Kind.ASSIGN:
                return op.inputs[1]
            if op.kind == Kind.READ and op.observed:
                return (number, 0)
        return None

    def _results_of(self, op: Op, slot: int) -> list[tuple[int, int]] | None:
        """For a call: the tensors inside the called graphs that become output ``slot``."""
        graphs = self._callees.get(op.number)
        if graphs is None:
            return None
        functions = [self._program.functions[g] for g in graphs if g in self._program.functions]
        return [f.results[slot] for f in functions if slot < len(f.results)] or None

    @property
    def _callees(self) -> dict[int, list[int]]:
        found = getattr(self, "_callee_cache", None)
        if found is None:
            names = {name: f.graph for name, f in self._program.functions_by_name.items()}
            found = {}
            for number, text in self._rows.query(
                f"SELECT op, attributes FROM ops WHERE process = {self._process} AND graph >= 0 AND kind IN "
                "(SELECT unnest(?))",
                [[kind.value for kind in GRAPH_CALLS]],
            ):
                found[number] = [graph for name, graph in names.items() if f'"{name}"' in text]
            self._callee_cache = found
        return found

    def _seen_by(self, source: Source, row: Row, iteration: int | None = None) -> Row | None:
        """The row of a tensor that this row's op saw: of its own loop iteration, else the last one before it. Arguments
        are watched beside the data flow, so their rows may come a little later than those of their readers."""
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
        """For a value out of an Optional that a function gave back, as Keras takes out its losses: the rows inside that
        call that look like it. None when the Optional came from an iterator."""
        boxes = self._call(row.execution)[1][:1]
        found = self._rows.query(
            "SELECT e.execution FROM ends e JOIN executions x USING (process, execution) "
            f"WHERE e.process = {self._process} AND x.graph >= 0 AND list_has_any(e.outputs, ?) LIMIT 1",
            [boxes],
        )
        return [one for one in self._within[found[0][0]] if one.looks_like(row)] if found else None

    def _of_pipeline(self, row: Row) -> list[Row]:
        """What a dataset gives was made by its functions, which run apart, or was given to it; the first bad one."""
        before = [made for made in self._pipeline if made.seq < row.seq]
        computed = [made for made in before if made.execution < 0]
        return (computed or before)[:1]

    def _written(self, read: Op, row: Row) -> list[Row]:
        """The rows of what was last written to the variable that ``read`` reads: before it in the same graph, else by
        the latest earlier call or eager op that was given the variable and writes it."""
        if read.graph >= 0:
            written, is_whole = self._writes_in(read.graph, read.inputs[:1], row.execution, read.number)
            if written or is_whole:
                return written
        handle = self._handle(read, row.execution)
        if handle is None:
            return []
        for execution, number, graph, tensors in self._writers_before(handle, row.execution):
            if graph >= 0:
                arguments = self._program.functions[graph].arguments if graph in self._program.functions else ()
                at = tensors.index(handle)
                if at >= len(arguments):
                    continue
                written, is_whole = self._writes_in(graph, ((arguments[at], 0),), execution, None)
            else:
                op = self._program.ops.get(number)
                if op is None or op.kind not in ASSIGNMENTS or tensors[0] != handle:
                    continue
                made = [self._by_tensor.get(tensor) or self._of_result(tensor) for tensor in tensors[-1:]]
                written = [one for one in made if one is not None] or self._by_execution.get(execution, [])
                is_whole = op.kind == Kind.ASSIGN
            if written or is_whole:
                return written
        return []

    def _writes_in(
        self, graph: int, variable: tuple[tuple[int, int], ...], execution: int, before: int | None
    ) -> tuple[list[Row], bool]:
        """(rows of the values that a graph writes to a variable, whether one of them replaces it whole)."""
        for op in reversed(self._writers.get(graph, [])):
            if op.inputs[:1] != variable or (before is not None and op.number > before):
                continue
            found = [
                made
                for source in self._behind(*op.inputs[-1], execution, set())
                for made in self._by_place.get((source.op, source.slot, source.execution), ())[-1:]
            ]
            if found or op.kind == Kind.ASSIGN:
                return found, op.kind == Kind.ASSIGN
        return [], False

    @cached_property
    def _writers(self) -> dict[int, list[Op]]:
        found: dict[int, list[Op]] = defaultdict(list)
        for op in self._program.ops.values():
            if op.graph >= 0 and op.kind in ASSIGNMENTS and len(op.inputs) > 1:
                found[op.graph].append(op)
        return found

    def _handle(self, read: Op, execution: int) -> int | None:
        """The number of the eager tensor that stands for a variable, as the call that reads it was given it."""
        graph, tensors = self._call(execution)
        if read.graph < 0:
            return tensors[0] if tensors else None
        number = read.inputs[0][0] if read.inputs else -1
        for _ in range(16):  # functions within functions
            op = self._program.ops.get(number)
            function = self._program.functions.get(op.graph) if op is not None else None
            if op is None or function is None or number not in function.arguments:
                return None
            at = function.arguments.index(number)
            if op.graph == graph:
                return tensors[at] if at < len(tensors) else None
            calls = [self._program.ops[call] for call, callees in self._callees.items() if op.graph in callees]
            passed = next((call.inputs[at][0] for call in calls if at < len(call.inputs)), None)
            if passed is None:
                return None
            number = passed
        return None

    def _writers_before(self, handle: int, execution: int) -> Iterator[tuple[int, int, int, list[int]]]:
        if handle not in self._users:
            self._users[handle] = self._rows.query(
                f"SELECT execution, op, graph, inputs FROM executions WHERE process = {self._process} "
                f"AND list_contains(inputs, {handle}) ORDER BY execution"
            )
        earlier = [use for use in self._users[handle] if use[0] < execution]
        yield from reversed(earlier[-_MOST_WRITERS:])

    # ---- across calls

    def is_outermost(self, row: Row) -> bool:
        """Whether a row is of eager code, or of the very graph that eager code called."""
        graph = self._program.ops[row.op].graph
        return graph < 0 or graph == self._call(row.execution)[0]

    def _call(self, execution: int) -> tuple[int, list[int]]:
        """(graph, ids of the eager tensors it was given)."""
        if execution not in self._calls:
            found = self._rows.query(
                f"SELECT graph, inputs FROM executions WHERE process = {self._process} AND execution = ?", [execution]
            )
            self._calls[execution] = (found[0][0], list(found[0][1])) if found else (-1, [])
        return self._calls[execution]

    def _of_argument(self, op: Op, row: Row) -> list[Row]:
        """What was passed for a function's argument, by the eager call or by a call in another graph."""
        graph, tensors = self._call(row.execution)
        function = self._program.functions.get(op.graph)
        if function is None or op.number not in function.arguments:
            return []
        at = function.arguments.index(op.number)
        if op.graph == graph and at < len(tensors):
            found = self._by_tensor.get(tensors[at]) or self._of_result(tensors[at])
            return [found] if found is not None else []
        rows = []
        for number, callees in self._callees.items():
            call = self._program.ops[number]
            if op.graph not in callees or at >= len(call.inputs):
                continue
            passed, iteration = call.inputs[at], None
            if call.kind == Kind.WHILE and row.iteration > 0 and at < len(function.results):
                passed, iteration = function.results[at], row.iteration - 1  # what the iteration before gave
            for source in self._behind(passed[0], passed[1], row.execution, set()):
                found = self._seen_by(source, row, iteration)
                # Imported loops do not tell what an iteration hands to the next: then only the first got this value.
                if found is not None and (call.kind != Kind.WHILE or function.results or found.looks_like(row)):
                    rows.append(found)
        return rows

    def _of_result(self, tensor: int) -> Row | None:
        """A tensor that a function call gave back: the row inside that call that became it."""
        if tensor not in self._results:
            self._results[tensor] = self._find_result(tensor)
        return self._results[tensor]

    def _find_result(self, tensor: int) -> Row | None:
        calls = self._rows.query(
            "SELECT e.execution, x.graph, x.op, list_position(e.outputs, ?) - 1 FROM ends e JOIN executions x "
            f"USING (process, execution) WHERE e.process = {self._process} AND list_contains(e.outputs, ?)",
            [tensor, tensor],
        )
        for execution, graph, op, at in calls:
            given = [row for row in self._by_place.get((op, at, execution), ()) if not row.flags & Flag.RESULT]
            if given:  # by a function that could not be looked inside
                return given[-1]
            found = self._inside(execution, graph, at)
            if found is not None:
                return found
        return None

    def _inside(self, execution: int, graph: int, at: int) -> Row | None:
        """The row inside a call that became its result number ``at``."""
        function = self._program.functions.get(graph)
        if function is None or at >= len(function.results):
            return None
        for source in self._behind(function.results[at][0], function.results[at][1], execution, set()):
            rows = self._by_place.get((source.op, source.slot, source.execution))
            if rows:
                return rows[-1]
        return None
