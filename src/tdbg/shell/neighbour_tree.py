"""Finds the tree of an op's neighbours that ``li -r`` and ``lo -r`` show, and writes each neighbour as a link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tdbg.scene import Edge, Node
from tdbg.shell.command import quoted
from tdbg.shell.result import Line, Span

MOST_LINES = 5000


def node_link(name: str) -> str:
    return f"ni -t {quoted(name)}"


def edge_spans(edge: Edge, with_op: bool = True) -> Line:
    """Writes ``[MatMul] hidden/mm``, and behind a name the number of the output, where it is not the first."""
    slot = f":{edge.slot}" if edge.slot > 0 else ""
    name = Span(edge.node + slot, "name", node_link(edge.node))
    return (Span(f"[{edge.op_type}] ", "op"), name) if with_op and edge.op_type else (name,)


@dataclass(frozen=True)
class Branch:
    """One line of a tree. ``rest`` says why it does not go on below it: "" when all is shown."""

    depth: int
    edge: Edge
    is_control: bool
    lasts: tuple[bool, ...]  # at each depth, whether it is the last of its neighbours
    rest: str = ""


def tree(
    root: Node, node: Callable[[str], Node], edges: Callable[[Node], tuple[Sequence[Edge], Sequence[Edge]]], depth: int
) -> tuple[list[Branch], bool]:
    """Follows edges from a node, depth first, at most that deep, and tells whether the tree had to be cut. The
    neighbours of a node are listed once: where it comes again, also around a loop, the line says so."""
    found: list[Branch] = []
    expanded = {root.name}
    waiting = _branches(root, edges, ())
    while waiting:
        branch = waiting.pop()
        if len(found) == MOST_LINES:
            return found, True
        below: list[Branch] = []
        if branch.edge.node in expanded:
            if any(edges(node(branch.edge.node))):
                branch = _resting(branch, "above")
        else:
            inner = node(branch.edge.node)
            if branch.depth < depth:
                expanded.add(branch.edge.node)
                below = _branches(inner, edges, branch.lasts)
            elif any(edges(inner)):
                branch = _resting(branch, "deeper")
        found.append(branch)
        waiting += below
    return found, False


def _resting(branch: Branch, rest: str) -> Branch:
    return Branch(branch.depth, branch.edge, branch.is_control, branch.lasts, rest)


def _branches(
    node: Node, edges: Callable[[Node], tuple[Sequence[Edge], Sequence[Edge]]], lasts: tuple[bool, ...]
) -> list[Branch]:
    """Gives the branches of a node, the last one first: they are taken from the end."""
    plain, controls = edges(node)
    pairs = [(edge, False) for edge in plain] + [(edge, True) for edge in controls]
    ends = len(pairs) - 1
    found = [Branch(len(lasts) + 1, edge, control, (*lasts, n == ends)) for n, (edge, control) in enumerate(pairs)]
    return found[::-1]
