"""Shows the neighbours of an op in one direction, for ``list_inputs`` and ``list_outputs``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tdbg.errors import TdbgError
from tdbg.scene import Edge, Node
from tdbg.shell import command
from tdbg.shell.neighbour_tree import MOST_LINES, Branch, edge_spans, tree
from tdbg.shell.result import Line, Result, Span, Text


class NeighboursCommand(command.Command):
    """What ``list_inputs`` and ``list_outputs`` have in common."""

    heading: ClassVar[str]  # "Inputs to"
    word: ClassVar[str]  # "input"

    def edges(self, node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
        """Gives the edges along data, and the control edges."""
        raise NotImplementedError

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add(
            "node_name",
            metavar="NODE",
            help="the op's name, such as hidden/MatMul; a tensor, hidden/MatMul:0, stands for its op",
        )
        add("-c", "--control", action="store_true", help=f"with control {self.word}s")
        text = "with -r: how deep (default: the setting graph_recursion_depth)"
        add("-d", "--depth", type=int, metavar="N", help=text)
        add("-r", "--recursive", action="store_true", help=f"the {self.word}s of the {self.word}s, too")
        add("-t", "--op_type", action="store_true", help="show the types of the ops")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if args.depth is not None and args.depth < 1:
            raise TdbgError("-d (--depth) must be 1 or more")
        usual = shell.settings["graph_recursion_depth"]
        depth = (args.depth or usual) if args.recursive else 1
        root = shell.scene.node(args.node_name)

        def edges(node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
            plain, controls = self.edges(node)
            return plain, controls if args.control else ()

        branches, is_cut = tree(root, shell.scene.node, edges, depth)
        controls = f", control {self.word}s included" if args.control else ""
        heading = f'{self.heading} node "{root.name}" (Depth limit = {depth}{controls}):'
        lines = [(Span(heading),), *self._tree_lines(branches, args), *self._end(is_cut, bool(branches), args)]
        data = {"node": root.name, "depth": depth, f"{self.word}s": [_data(branch) for branch in branches]}
        return Result([Text(lines, data)], menu=[Span("node_info", link=f"ni -t {command.quoted(root.name)}")])

    def _tree_lines(self, branches: Sequence[Branch], args: Namespace) -> Iterator[Line]:
        if not branches:
            yield (Span(f"  [None] (no {self.word}s)", "dim"),)
        for branch in branches:
            indent = "".join("   " if last else "|  " for last in branch.lasts[:-1])
            mark = "(Ctrl) " if branch.is_control else ""
            rest = (Span("  (see above)", "dim"),) if branch.rest == "above" and args.recursive else ()
            yield (Span(f"{indent}|- ({branch.depth}) {mark}", "dim"), *edge_spans(branch.edge, args.op_type), *rest)
            if branch.rest == "deeper" and args.recursive:
                deeper = f"{self.name} -r -d {branch.depth + 1} {command.quoted(branch.edge.node)}"
                yield (Span(f"{indent}{'   ' if branch.lasts[-1] else '|  '}|- "), Span("...", "name", deeper))

    def _end(self, is_cut: bool, has_some: bool, args: Namespace) -> Iterator[Line]:
        if is_cut:
            yield (Span(f"The tree is longer than these {MOST_LINES:,} lines; -d N goes less deep.", "warning"),)
        if has_some:
            yield ()
            yield (Span("Legend:", "dim"),)
            yield (Span("  (d): recursion depth = d.", "dim"),)
            if args.control:
                yield (Span(f"  (Ctrl): Control {self.word}.", "dim"),)
            if args.op_type:
                yield (Span(f"  [Op]: {self.word.capitalize()} node has op type Op.", "dim"),)


def _data(branch: Branch) -> dict:
    edge = branch.edge
    return {
        "depth": branch.depth,
        "node": edge.node,
        "slot": edge.slot,
        "op_type": edge.op_type,
        "is_control": branch.is_control,
    }
