"""Tells which layer an op belongs to: its scope or, where it has none, its line of the program.

Some scopes stand for a single op (``dense/BiasAdd/ReadVariableOp``); what that op needs belongs to the layer around it.
Initializers belong to what they initialize, and an optimizer's ops to the optimizer.
"""

from __future__ import annotations

import re
from functools import cached_property

from tdbg.frameworks import dialect_of, ops_of
from tdbg.model import Phase
from tdbg.query.trace.program import Op, Program, short_path
from tdbg.vocabulary import Kind

_NUMBER = re.compile(r"_\d+$")


def place_name(program: Program, op: Op) -> str:
    """Names an op by its line, ``train.py:12``, or by its type where no line of the user's is known."""
    frame = program.user_frame(op)
    return f"{short_path(frame.file)}:{frame.line}" if frame else op.label


class LayerNames:
    """Names the layers of one process."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._scopes: dict[tuple[str, str], str] = {}

    def of(self, op: Op) -> str:
        """Names the layer of an op; a gradient belongs to the layer of the op that it differentiates."""
        made = self._made(op)
        return self._scope_of(made) or place_name(self._program, made)

    def scope(self, op: Op) -> str:
        """Gives the scope of an op that is its layer; "" where it has none."""
        return self._scope_of(self._made(op))

    def _made(self, op: Op) -> Op:
        forward = self._program.ops.get(op.forward) if op.phase == Phase.BACKWARD else None
        return forward or op

    def _scope_of(self, op: Op) -> str:
        scope = self._scope(op.name.rpartition("/")[0], op.framework)
        return scope.partition("/")[0] if op.phase == Phase.UPDATE else scope

    @cached_property
    def by_op(self) -> dict[int, str]:
        return {op.number: self.of(op) for op in self._program.ops.values()}

    @cached_property
    def _ops(self) -> tuple[set[str], set[str]]:
        """The names and the types of all ops."""
        ops = self._program.ops.values()
        return {op.name for op in ops}, {op.type for op in ops}

    def _scope(self, scope: str, framework: str) -> str:
        """Leaves out the parts of a scope that are no layers."""
        if (scope, framework) not in self._scopes:
            names, types = self._ops
            no_layers = types.union(dialect_of(framework).own_scopes)
            kind_of = ops_of(framework).kind_of
            parts = scope.split("/") if scope else []
            while parts and ("/".join(parts) in names or _NUMBER.sub("", parts[-1]) in no_layers):
                parts.pop()
            while parts and kind_of(_NUMBER.sub("", parts[0])) == Kind.CALL:  # a function that was inlined
                parts.pop(0)
            self._scopes[scope, framework] = "/".join(parts)
        return self._scopes[scope, framework]
