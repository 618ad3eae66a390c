"""``list_inputs`` tells where the inputs of an op come from."""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.scene import Edge, Node
from tdbg.shell.neighbours import NeighboursCommand


class Command(NeighboursCommand):
    """Lists the inputs of an op and, with -r, their inputs too, as a tree."""

    name = "list_inputs"
    aliases = ("li",)
    heading, word = "Inputs to", "input"
    examples = (
        ("li cross_entropy/Log", "the ops whose outputs it uses"),
        ("li -r -t cross_entropy/Log", "everything it is computed from, with op types"),
        ("li -c -r -d 3 cross_entropy/Log", "three levels deep, with control inputs"),
    )

    def edges(self, node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
        return node.inputs, node.control_inputs
