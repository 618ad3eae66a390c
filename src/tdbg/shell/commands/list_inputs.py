"""``list_inputs``: where the inputs of an op come from."""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.scene import Edge, Node
from tdbg.shell.neighbours import NeighboursCommand


class Command(NeighboursCommand):
    """Lists the inputs of an op, with -r also theirs, as a tree."""

    name = "list_inputs"
    aliases = ("li",)
    heading, word = "Inputs to", "input"
    examples = (
        ("li cross_entropy/Log", "the ops whose outputs it takes"),
        ("li -r -t cross_entropy/Log", "all that is behind it, with op types"),
        ("li -c -r -d 3 cross_entropy/Log", "three deep, with control inputs"),
    )

    def edges(self, node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
        return node.inputs, node.control_inputs
