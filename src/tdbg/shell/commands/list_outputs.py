"""``list_outputs`` tells which ops take the outputs of an op."""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.scene import Edge, Node
from tdbg.shell.neighbours import NeighboursCommand


class Command(NeighboursCommand):
    """Lists the ops that use the outputs of an op and, with -r, those that use theirs, as a tree."""

    name = "list_outputs"
    aliases = ("lo",)
    heading, word = "Recipients of", "recipient"
    examples = (
        ("lo Softmax", "the ops that use its output"),
        ("lo -r -t Softmax", "everything that depends on it, with op types"),
        ("lo -c -r -d 3 Softmax", "three levels deep, with control edges"),
    )

    def edges(self, node: Node) -> tuple[Sequence[Edge], Sequence[Edge]]:
        return node.recipients, node.control_recipients
