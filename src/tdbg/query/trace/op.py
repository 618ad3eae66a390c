"""An op of a program, and a function that is a graph of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tdbg.frameworks import ops_of
from tdbg.model import Phase
from tdbg.vocabulary import NO_ROLE, Kind, Role

Tensor = tuple[int, int]  # (op, slot)


@dataclass(frozen=True, slots=True)
class Op:
    """One op of a graph, or one eager op at one place of the program (graph -1)."""

    number: int
    graph: int
    name: str
    type: str  # its name in the framework, for display
    inputs: tuple[Tensor, ...]
    stack: int
    phase: Phase
    forward: int
    observed: bool
    kind: Kind = Kind.OTHER
    roles: Role = NO_ROLE
    framework: str = ""

    @property
    def label(self) -> str:
        """What it is called where it is shown: ``train_step`` for a call of that function, else its type."""
        return function_name(self.type, self.framework)


@dataclass(frozen=True, slots=True)
class Function:
    """A callable graph: the ops that are its arguments, the tensors that are its results."""

    name: str
    graph: int
    arguments: tuple[int, ...]
    results: tuple[Tensor, ...]
    python: str = ""  # its name in the program, module included, and where it is defined
    file: str = ""
    line: int = -1


@lru_cache(maxsize=4096)
def function_name(op_type: str, framework: str = "") -> str:
    """Gives the user's name of the function that ops of this type call; other types as they are."""
    return ops_of(framework).function_of(op_type) or op_type


def variable_name(name: str, framework: str = "") -> str:
    """Gives the name of a variable, of that of the op, or argument, that stands for it."""
    return ops_of(framework).variable_of(name)
