"""An op of a layer, or of an optimizer, that a library wrote in; the user's line that made that layer or optimizer out.

Ops of Keras's layers are called from where the model is called. The line to change is another: the one that makes the
layer. It is found in the source by the class and the number that Keras names layers by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tdbg.model import Frame, Phase
from tdbg.query.listing.layer_names import LayerNames

if TYPE_CHECKING:
    from tdbg.query.trace.program import Op, Program

_LIBRARY = re.compile(r"[\\/](tf_)?keras[\\/]")
_NUMBERED, _AGAIN = re.compile(r"^(.*?)(?:_(\d+))?(?:_(\d+))?$"), re.compile(r"_\d+$")
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")  # as Keras does: conv2d of Conv2D
_OPTIMIZERS = re.compile(r"^(SGD|Adam\w*|RMSprop|RMSProp\w*|Adagrad\w*|Adadelta\w*|Nadam|Ftrl\w*|Lion|Momentum\w*|"
                         r"GradientDescent\w*)$")  # fmt: skip


class LayerLines:
    """Of one process."""

    def __init__(self, program: Program) -> None:
        self._program, self._names = program, LayerNames(program)
        self._calls = list(_calls(program))

    def of(self, op: Op) -> Frame | None:
        """The line that makes the layer of an op; the op's own line, when the user wrote the op."""
        own = self._program.user_frame(op)
        if not self.is_of_library(op):
            return own
        scope = self._names.of(op)
        return next((found for part in reversed(scope.split("/")) if (found := self._made(part)) is not None), own)

    def optimizer(self) -> Frame | None:
        """The only line that makes an optimizer."""
        found = {frame for name, _, frame in self._calls if _OPTIMIZERS.match(name)}
        return next(iter(found)) if len(found) == 1 else None

    def is_of_library(self, op: Op) -> bool:
        """Whether a layer of Keras made an op, not the user's own code."""
        for frame in self._program.stack(op.stack):
            if frame.is_user:
                return False
            if _LIBRARY.search(frame.file):
                return True
        return False

    def _made(self, scope: str) -> Frame | None:
        """``dense_2`` is the third of the layers of its class that were made, or has that name in the source."""
        named = [frame for _, name, frame in self._calls if name and name in (scope, _AGAIN.sub("", scope))]
        if named:
            return named[0] if len(set(named)) == 1 else None
        kind, number = self._numbers.get(scope, ("", 0))
        made = [frame for name, given, frame in self._calls if _snake(name) == kind and not given]
        if len(set(made)) == 1:
            return made[0]
        numbers = sorted({other for of, other in self._numbers.values() if of == kind})
        return made[numbers.index(number)] if made and len(made) == len(numbers) else None

    @cached_property
    def _numbers(self) -> dict[str, tuple[str, int]]:
        """Class and number of each scope. A layer that is called again gets one more number: ``dense_2_1``, and that of
        ``dense`` is then ``dense_1``."""
        ops = [op for op in self._program.ops.values() if op.phase == Phase.FORWARD]
        parts = {part: _NUMBERED.match(part) for op in ops for part in op.name.split("/")[:-1]}
        known = {part: found.groups() for part, found in parts.items() if found}
        again = {kind for kind, _, last in known.values() if last}
        return {
            part: (kind, int(first or 0) if last or kind not in again else 0)
            for part, (kind, first, last) in known.items()
        }


def _calls(program: Program) -> Iterator[tuple[str, str, Frame]]:
    """Name, the text of ``name=``, and line of every call in the user's files, in order."""
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


def _snake(name: str) -> str:
    return _WORD.sub("_", name).lower()
