"""Finds the user's line that makes a layer or an optimizer whose ops a library computes.

Ops of such layers are called from where the model is called. The line to change is another: the one that makes the
layer. It is found in the source by the class and the number that the library names layers by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.model import Frame, Phase
from tdbg.query.listing.layer_names import LayerNames

if TYPE_CHECKING:
    from tdbg.query.trace.program import Op, Program

_NUMBERED, _AGAIN = re.compile(r"^(.*?)(?:_(\d+))?(?:_(\d+))?$"), re.compile(r"_\d+$")


class LayerLines:
    """The lines that make the layers and the optimizer of one process."""

    def __init__(self, program: Program) -> None:
        self._program, self._names = program, LayerNames(program)
        self._calls = list(_calls(program))

    def of(self, op: Op) -> Frame | None:
        """Finds the line that makes the layer of an op; the op's own line, when the user wrote the op."""
        own = self._program.user_frame(op)
        if not self.is_of_library(op):
            return own
        dialect, parts = dialect_of(op.framework), reversed(self._names.of(op).split("/"))
        return next((found for part in parts if (found := self._made(part, dialect)) is not None), own)

    def optimizer(self) -> Frame | None:
        """Finds the only line that makes an optimizer."""
        signs = [dialect.signs.optimizer for dialect in self._program.dialects]
        found = {frame for name, _, frame in self._calls if any(sign.search(name) for sign in signs)}
        return next(iter(found)) if len(found) == 1 else None

    def is_of_library(self, op: Op) -> bool:
        """Whether a library's layer made an op, not the user's own code."""
        layers = dialect_of(op.framework).signs.layers
        for frame in self._program.stack(op.stack):
            if frame.is_user:
                return False
            if layers.search(frame.file):
                return True
        return False

    def is_weight_of_layer(self, op: Op) -> bool:
        """Whether such a layer makes a variable here."""
        makers = dialect_of(op.framework).signs.weight_of_layer
        return any(makers.search(frame.function) for frame in self._program.stack(op.stack))

    def _made(self, scope: str, dialect: Dialect) -> Frame | None:
        """Finds the line by the name that it gives, or by the class: ``dense_2`` is the third layer of its class."""
        named = [frame for _, name, frame in self._calls if name and name in (scope, _AGAIN.sub("", scope))]
        if named:
            return named[0] if len(set(named)) == 1 else None
        layer, number = self._numbers.get(scope, ("", 0))
        made = [frame for name, given, frame in self._calls if layer and dialect.scope_of(name) == layer and not given]
        if len(set(made)) == 1:
            return made[0]
        numbers = sorted({other for one, other in self._numbers.values() if one == layer})
        return made[numbers.index(number)] if made and len(made) == len(numbers) else None

    @cached_property
    def _numbers(self) -> dict[str, tuple[str, int]]:
        """Splits each scope into class and number. A layer that is called again gets one more number: ``dense_2_1``,
        and that of ``dense`` is then ``dense_1``."""
        ops = [op for op in self._program.ops.values() if op.phase == Phase.FORWARD]
        parts = {part: _NUMBERED.match(part) for op in ops for part in op.name.split("/")[:-1]}
        known = {part: found.groups() for part, found in parts.items() if found}
        again = {layer for layer, _, last in known.values() if last}
        return {
            part: (layer, int(first or 0) if last or layer not in again else 0)
            for part, (layer, first, last) in known.items()
        }


def _calls(program: Program) -> Iterator[tuple[str, str, Frame]]:
    """Lists the name, the text of ``name=``, and the line of every call in the user's files, in order."""
    for file in program.files():
        try:
            tree = ast.parse("\n".join(program.text_of(file)))
        except (SyntaxError, ValueError):
            continue
        found = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                given = [
                    word.value.value
                    for word in node.keywords
                    if word.arg == "name" and isinstance(word.value, ast.Constant)
                ]
                found.append((node.lineno, node.col_offset, called, str(given[0]) if given else ""))
        yield from ((called, name, Frame(file, line, "", True)) for line, _, called, name in sorted(found))
