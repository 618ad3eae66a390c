"""``list_outputs``: which ops take the outputs of an op."""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.scene import Edge, Node
from tdbg.shell.neighbours import NeighboursCommand


class Command(NeighboursCommand):
    """Lists the ops that take the outputs of an op, with -r also theirs, as a tree."""

    name = "list_outputs"
    aliases = ("lo",)
    heading, word = "Recipients of", "recipient"
    examples = (
        ("lo Softmax", "the ops that take its output"),
        ("lo -r -t Softmax", "all that depends on it, with op types"),
        ("lo -c -r -d 3 Softmax", "three deep, with control edges"),
    )

    def edges(self, node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
        return node.recipients, node.control_recipients
