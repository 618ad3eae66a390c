"""A program and its sampled steps in; who reads whose output out, alike in graphs, across calls and in eager code.

What eager ops read is taken from the last of the sampled steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from tdbg.query.rules.series import Node, Place, Sample
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import Kind

# They hand on the very elements of input 0.
MOVERS = frozenset(
    """Identity IdentityN Reshape Transpose ExpandDims Squeeze StopGradient PreventGradient Snapshot CheckNumerics
    EnsureShape DebugGradientIdentity""".split()
)
_CALLS = (Kind.CALL, Kind.IF, Kind.WHILE, Kind.CASE)


class Flow:
    """The edges between nodes; a variable is known by the number of its handle, or of the graph's argument for it."""

    def __init__(self, rows: Rows, program: Program, process: int, sample: Sample) -> None:
        self._rows, self._program, self._process, self._sample = rows, program, process, sample
        self._calls: dict[int, list[int]] = {}  # graph -> what its eager call was given, in the last step
        self._eager: dict[Node, list[int]] = {}
        self._results: dict[int, tuple[int, int]] = {}  # eager tensor -> graph that gave it, number of the result
        self._read_calls()
        self._resolved: dict[tuple[Place, bool], tuple[Place, ...]] = {}

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
        """Of eager ops whose outputs are not looked at, such as writes: the next free turn."""
        self._silent = getattr(self, "_silent", defaultdict(int))
        self._silent[op] += 1
        return self._silent[op] - 1

    # ---- who made what

    def nodes(self) -> Iterator[Node]:
        """Every op of a graph, and every eager op of the last step."""
        yield from (Node(number, 0) for number, op in self._program.ops.items() if op.graph >= 0)
        yield from self._eager

    def op(self, node: Node) -> Op:
        return self._program.ops[node.op]

    def inputs(self, node: Node, through_casts: bool = True) -> list[tuple[Place, ...]]:
        """For each input of a node, the tensors that it can be: one, but for results of conditionals."""
        op = self.op(node)
        if op.graph < 0:
            return [
                self._of_tensor(node, at, tensor, through_casts) for at, tensor in enumerate(self._eager.get(node, ()))
            ]
        return [self.resolve(Place(Node(number, 0), slot), through_casts) for number, slot in op.inputs]

    def raw_input(self, node: Node, at: int) -> Place | None:
        """What an op read, as it stands in the program."""
        op = self.op(node)
        if op.graph >= 0:
            return Place(Node(op.inputs[at][0], 0), op.inputs[at][1]) if at < len(op.inputs) else None
        given = self._eager.get(node, [])
        return self._sample.made.get(given[at], Place(node, at, True)) if at < len(given) else None

    def resolve(self, place: Place, through_casts: bool = True) -> tuple[Place, ...]:
        """The tensors behind ops that only move values, calls, and arguments of functions."""
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
        elif op.type in MOVERS or (through_casts and op.kind == Kind.CAST):
            moved = place.slot if op.kind == Kind.IDENTITY else 0
            if op.graph < 0:
                given = self._eager.get(place.node, [])
                made = self._of_tensor(place.node, moved, given[moved], through_casts) if len(given) > moved else ()
                yield from made or (place,)
            elif len(op.inputs) > moved:
                number, slot = op.inputs[moved]
                yield from self.resolve(Place(Node(number, 0), slot), through_casts)
        elif op.type.endswith(_CALLS):
            for graph in self._callees.get(op.number, ()):
                yield from self._result(graph, place.slot, through_casts)
        elif (
            op.type.startswith(
                Kind.ARGUMENT,
            )
            and op.graph >= 0
        ):
            yield from self._argument(place, op, through_casts)
        else:
            yield place

    def _result(self, graph: int, at: int, through_casts: bool) -> Iterator[Place]:
        function = self._program.functions.get(graph)
        if function is not None and at < len(function.results):
            number, slot = function.results[at]
            yield from self.resolve(Place(Node(number, 0), slot), through_casts)

    def _argument(self, place: Place, op: Op, through_casts: bool) -> Iterator[Place]:
        at = self._argument_number.get(op.number)
        passed: list[Place] = []
        for number in self._callers.get(op.graph, ()):
            call = self._program.ops[number]
            at_call = at if at is None or call.type.endswith((Kind.CALL, Kind.WHILE)) else at + 1
            if at_call is not None and at_call < len(call.inputs):
                source, slot = call.inputs[at_call]
                passed += self.resolve(Place(Node(source, 0), slot), through_casts)
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

    @cached_property
    def _callees(self) -> dict[int, list[int]]:
        names = {name: function.graph for name, function in self._program.functions_by_name.items()}
        types = " OR ".join(f"type LIKE '%{kind}'" for kind in _CALLS)
        found = {}
        for number, text in self._rows.query(
            f"SELECT op, attributes FROM ops WHERE process = {self._process} AND ({types})"
        ):
            words = set(text.split('"'))
            found[number] = [graph for name, graph in names.items() if name in words]
        return found

    @cached_property
    def _callers(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for number, graphs in self._callees.items():
            for graph in graphs:
                found[graph].append(number)
        return found

    @cached_property
    def _argument_number(self) -> dict[int, int]:
        functions = self._program.functions_by_name.values()
        return {number: at for function in functions for at, number in enumerate(function.arguments)}

    # ---- variables

    def variable(self, node: Node) -> tuple[str, int] | None:
        """The variable that a node reads or writes: its first input is the handle."""
        op = self.op(node)
        if op.graph < 0:
            given = self._eager.get(node, [])
            return ("handle", given[0]) if given else None
        return self._handle(*op.inputs[0]) if op.inputs else None

    def _handle(self, number: int, slot: int, depth: int = 0) -> tuple[str, int] | None:
        op = self._program.ops.get(number)
        if op is None or depth > 20:
            return None
        if op.type in MOVERS and op.inputs:
            return self._handle(*op.inputs[0], depth + 1)
        at = self._argument_number.get(number)
        if at is None:
            return "op", number
        given = self._calls.get(op.graph, ())
        if at < len(given):
            return "handle", given[at]
        for caller in self._callers.get(op.graph, ()):
            call = self._program.ops[caller]
            at_call = at if call.type.endswith((Kind.CALL, Kind.WHILE)) else at + 1
            if at_call < len(call.inputs):
                return self._handle(*call.inputs[at_call], depth + 1)
        return "op", number

    # ---- further away

    @cached_property
    def readers(self) -> dict[Node, list[tuple[Node, int]]]:
        """(node, number of the input) of all that read an output of a node, behind ops that only move values."""
        found: dict[Node, list[tuple[Node, int]]] = defaultdict(list)
        for node in self.nodes():
            kind = self.op(node).type
            if kind in MOVERS or kind in (Kind.CAST, Kind.CONSTANT, Kind.VARIABLE) or kind.endswith(_CALLS):
                continue
            for at, places in enumerate(self.inputs(node)):
                for place in places:
                    if not place.is_given:
                        found[place.node].append((node, at))
        return found

    def ancestors(self, node: Node, most: int = 2000) -> set[Node]:
        """The node and all that its value comes from."""
        seen, todo = {node}, [node]
        while todo and len(seen) < most:
            for places in self.inputs(todo.pop()):
                fresh = {place.node for place in places if not place.is_given} - seen
                seen |= fresh
                todo += fresh
        return seen
