"""Tells who reads whose output, alike in graphs, across calls and in eager code.

What eager ops read is taken from the last of the sampled steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from tdbg.query.flow.graph import moved_input
from tdbg.query.rules.sample import Sample
from tdbg.query.rules.series import Node, Place
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import GRAPH_CALLS, Kind, Role

Variable = tuple[str, int]  # ("handle", its number), or in graphs that nobody gave it to ("op", that of its op)

_NO_READERS = (Kind.CAST, Kind.CONSTANT, Kind.VARIABLE)


class Flow:
    """The edges between the nodes of one process."""

    def __init__(self, rows: Rows, program: Program, process: int, sample: Sample) -> None:
        self._rows, self._program, self._process, self._sample = rows, program, process, sample
        self._graph = program.graph
        self._calls: dict[int, list[int]] = {}  # graph -> what its eager call was given, in the last step
        self._eager: dict[Node, list[int]] = {}
        self._results: dict[int, tuple[int, int]] = {}  # eager tensor -> graph that gave it, number of the result
        self._without_rows: dict[int, int] = defaultdict(int)  # eager op -> how many of its turns have no rows
        self._resolved: dict[tuple[Place, bool], tuple[Place, ...]] = {}
        self._read_calls()

    def _read_calls(self) -> None:
        if not self._sample.windows:
            return
        _, step, low, high = self._sample.windows[-1]
        where = f"process = {self._process} AND seq BETWEEN {low} - 10000 AND {high} + 10000 AND step = {step}"
        executions = self._rows.query(f"SELECT execution, op, graph, inputs FROM executions WHERE {where} ORDER BY 1")
        graphs = {}
        for execution, op, graph, inputs in executions:
            if graph >= 0:
                self._calls[graph] = inputs
                graphs[execution] = graph
            else:
                node = self._sample.turns.get(execution, Node(op, self._count_without_rows(op)))
                self._eager[node] = inputs
        if graphs:
            first, last = min(graphs), max(graphs)
            ends = self._rows.query(
                f"SELECT execution, outputs FROM ends WHERE process = {self._process} "
                f"AND execution BETWEEN {first} AND {last}"
            )
            for execution, outputs in ends:
                if execution in graphs:
                    self._results |= {tensor: (graphs[execution], at) for at, tensor in enumerate(outputs)}

    def _count_without_rows(self, op: int) -> int:
        """Gives the next free turn of an eager op whose outputs are not looked at, such as a write."""
        self._without_rows[op] += 1
        return self._without_rows[op] - 1

    # ---- who made what

    def nodes(self) -> Iterator[Node]:
        """Every op of a graph, and every eager op of the last step."""
        yield from (Node(number, 0) for number, op in self._program.ops.items() if op.graph >= 0)
        yield from self._eager

    def op(self, node: Node) -> Op:
        return self._program.ops[node.op]

    def inputs(self, node: Node, through_casts: bool = True) -> list[tuple[Place, ...]]:
        """Tells for each input of a node which tensors it can be: one, but for results of conditionals."""
        op = self.op(node)
        if op.graph < 0:
            return [
                self._of_tensor(node, at, tensor, through_casts) for at, tensor in enumerate(self._eager.get(node, ()))
            ]
        return [self.resolve(Place(Node(number, 0), slot), through_casts) for number, slot in op.inputs]

    def raw_input(self, node: Node, at: int) -> Place | None:
        """Tells what an op read, as it stands in the program."""
        op = self.op(node)
        if op.graph >= 0:
            return Place(Node(op.inputs[at][0], 0), op.inputs[at][1]) if at < len(op.inputs) else None
        given = self._eager.get(node, [])
        return self._sample.made.get(given[at], Place(node, at, True)) if at < len(given) else None

    def resolve(self, place: Place, through_casts: bool = True) -> tuple[Place, ...]:
        """Finds the tensors behind ops that only move values, calls, and arguments of functions."""
        key = (place, through_casts)
        if key not in self._resolved:
            self._resolved[key] = ()  # loops hand their results to themselves
            self._resolved[key] = tuple(dict.fromkeys(self._behind(place, through_casts)))
        return self._resolved[key]

    def _behind(self, place: Place, through_casts: bool) -> Iterator[Place]:
        op = self._program.ops.get(place.node.op)
        if op is None:
            return
        if place.is_given:
            yield place
        elif (moved := moved_input(op, place.slot, through_casts)) is not None:
            if op.graph < 0:
                given = self._eager.get(place.node, [])
                made = self._of_tensor(place.node, moved, given[moved], through_casts) if len(given) > moved else ()
                yield from made or (place,)
            elif len(op.inputs) > moved:
                number, slot = op.inputs[moved]
                yield from self.resolve(Place(Node(number, 0), slot), through_casts)
        elif _is_call(op):
            for graph in self._graph.callees.get(op.number, ()):
                yield from self._result(graph, place.slot, through_casts)
        elif op.kind == Kind.ARGUMENT and op.graph >= 0:
            yield from self._argument(place, op, through_casts)
        else:
            yield place

    def _result(self, graph: int, at: int, through_casts: bool) -> Iterator[Place]:
        result = self._graph.result(graph, at)
        if result is not None:
            yield from self.resolve(Place(Node(result[0], 0), result[1]), through_casts)

    def _argument(self, place: Place, op: Op, through_casts: bool) -> Iterator[Place]:
        at = self._graph.argument_number.get(op.number)
        passed: list[Place] = []
        for _, (number, slot) in self._graph.passed(op.number):
            passed += self.resolve(Place(Node(number, 0), slot), through_casts)
        given = self._calls.get(op.graph, ())
        if at is not None and at < len(given):
            passed += self._of_tensor(None, at, given[at], through_casts)
        # What came from outside is seen where it came in: at this very argument.
        yield from passed or (Place(place.node, place.slot, True),)

    def _of_tensor(self, node: Node | None, at: int, tensor: int, through_casts: bool) -> tuple[Place, ...]:
        made = self._sample.made.get(tensor)
        if made is not None:
            return (made,) if made.is_given else self.resolve(made, through_casts)
        if tensor in self._results:
            return tuple(self._result(*self._results[tensor], through_casts))
        return (Place(node, at, True),) if node is not None else ()

    # ---- variables

    def variable(self, node: Node) -> Variable | None:
        """Finds the variable that a node reads or writes: its first input is the handle."""
        op = self.op(node)
        if op.graph < 0:
            given = self._eager.get(node, [])
            return ("handle", given[0]) if given else None
        return self._handle(*op.inputs[0]) if op.inputs else None

    def _handle(self, number: int, slot: int, depth: int = 0) -> Variable | None:
        op = self._program.ops.get(number)
        if op is None or depth > 20:
            return None
        if Role.MOVES in op.roles and op.inputs:
            return self._handle(*op.inputs[0], depth + 1)
        at = self._graph.argument_number.get(number)
        if at is None:
            return "op", number
        given = self._calls.get(op.graph, ())
        if at < len(given):
            return "handle", given[at]
        passed = self._graph.passed(number)
        return self._handle(*passed[0][1], depth + 1) if passed else ("op", number)

    # ---- further away

    @cached_property
    def readers(self) -> dict[Node, list[tuple[Node, int]]]:
        """By node: all that read an output of it, with the number of the input, behind ops that only move values."""
        found: dict[Node, list[tuple[Node, int]]] = defaultdict(list)
        for node in self.nodes():
            op = self.op(node)
            if Role.MOVES in op.roles or op.kind in _NO_READERS or _is_call(op):
                continue
            for at, places in enumerate(self.inputs(node)):
                for place in places:
                    if not place.is_given:
                        found[place.node].append((node, at))
        return found

    def ancestors(self, node: Node, most: int = 2000) -> set[Node]:
        """Collects the node and all that its value comes from."""
        seen, todo = {node}, [node]
        while todo and len(seen) < most:
            for places in self.inputs(todo.pop()):
                fresh = {place.node for place in places if not place.is_given} - seen
                seen |= fresh
                todo += fresh
        return seen


def _is_call(op: Op) -> bool:
    """Whether what an op gives is looked for inside of the graphs that it runs. Those of eager calls are known by what
    they were given in the last step."""
    return op.kind in GRAPH_CALLS and op.graph >= 0
