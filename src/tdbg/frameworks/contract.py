"""What tdbg asks of a framework, and nothing more.

A framework is one folder of ``frameworks/``, and ``FRAMEWORKS`` names it. Two of its modules are read by everything
that looks at traces, on machines where the framework need not be installed, so they must not import it: ``ops`` (see
``Ops``) and ``dialect`` (its ``DIALECT``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tdbg.model import Phase
from tdbg.vocabulary import Kind, Role


class Ops(Protocol):
    """Module ``ops``: what native op types are. Capture writes it into the trace, beside the native name."""

    def kind_of(self, op_type: str) -> Kind: ...

    def roles_of(self, op_type: str) -> Role: ...

    def written_type(self, op_type: str) -> str:
        """The type that a program writes, of one that the framework's runtime made of it."""


def _no_phase(file: str, function: str) -> Phase | None:
    return None


@dataclass(frozen=True)
class Dialect:
    """How the users of a framework say things: in sentences, in code, and in the folders of its packages."""

    name: str  # tensorflow
    title: str  # TensorFlow
    alias: str  # tf: what programs call it, mostly
    modules: tuple[str, ...]  # that a program imports under that name
    packages: tuple[str, ...] = ()  # libraries that run a program's ops, or run the program
    # What is meant -> how it is written: maximum: {library}.maximum({0}, {1}). A name that ``calls`` lacks cannot be
    # said in this dialect.
    calls: Mapping[str, str] = field(default_factory=dict)
    # Kind of an op -> the functions that make it in a user's statement, by their last name.
    spelled: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)
    # What other frameworks call otherwise -> its word here: layer, variable, ...
    words: Mapping[str, str] = field(default_factory=dict)
    own_scopes: tuple[str, ...] = ()  # scopes that the framework opens by itself, which are no layers
    phase_of: Callable[[str, str], Phase | None] = _no_phase  # of a frame's file and function

    def write(self, what: str, *arguments: str) -> str:
        """Code as a template, with ``{library}`` for what the user calls the framework; "" where it has no such
        function."""
        form = self.calls.get(what)
        return form.format(*arguments, library="{library}") if form is not None else ""

    def says(self, what: str, *arguments: str) -> str:
        """The same in a sentence, under the framework's usual name; without arguments the function's name alone."""
        form = self.calls.get(what)
        if form is None:
            return what.replace("_", " ")
        if not arguments:
            return form.partition("(")[0].format(library=self.alias)
        return form.format(*arguments, library=self.alias)

    def word(self, name: str) -> str:
        return self.words.get(name, name)
