"""What tdbg asks of a framework, and nothing more.

A framework is one folder of ``frameworks/``, and ``FRAMEWORKS`` names it. Two of its modules are read by everything
that looks at traces, on machines where the framework need not be installed, so they must not import it: ``ops`` (see
``Ops``) and ``dialect`` (its ``DIALECT``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tdbg.model import Phase
from tdbg.vocabulary import Kind, Role


class Ops(Protocol):
    """Module ``ops``: what native op types are. Capture writes it into the trace, beside the native name."""

    def kind_of(self, op_type: str) -> Kind: ...

    def roles_of(self, op_type: str) -> Role: ...

    def function_of(self, op_type: str) -> str:
        """The user's name of the function that ops of a type call; "" for other types."""

    def variable_of(self, name: str) -> str:
        """The name of a variable, of that of the op, or argument, that stands for it."""


def _no_phase(file: str, function: str) -> Phase | None:
    return None


def _no_scope(class_name: str) -> str:
    return ""


_NEVER = re.compile(r"(?!)")
_BLANK = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells things in a user's source, or in the stack of an op, that ops alone do not tell."""

    # Files: of the library whose layers compute on the user's behalf; those of a library that compute something larger
    # than the one op that their caller named; of what skips the steps whose gradients overflow.
    layers: re.Pattern[str] = _NEVER
    larger_than_op: re.Pattern[str] = _NEVER
    loss_scaler: re.Pattern[str] = _NEVER
    # Functions: in which such a layer makes its variables; that make the loss larger before its gradient is taken.
    weight_of_layer: re.Pattern[str] = _NEVER
    loss_scaling: re.Pattern[str] = _NEVER
    # Source: the class of an optimizer; a call that makes a variable; a statement that says whether that is trained; a
    # line that keeps weights as they are; a loss that takes probabilities where it is not told that they are logits.
    optimizer: re.Pattern[str] = _NEVER
    variable: re.Pattern[str] = _NEVER
    trainable: re.Pattern[str] = _NEVER
    frozen: re.Pattern[str] = _NEVER
    loss_of_probabilities: re.Pattern[str] = _NEVER


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
    # Functions, by their last name, that give the same each time they are called, and make no variables.
    repeatable: frozenset[str] = frozenset()
    phase_of: Callable[[str, str], Phase | None] = _no_phase  # of a frame's file and function
    signs: Signs = Signs()
    scope_of: Callable[[str], str] = _no_scope  # a layer's class -> how its scopes begin, before their number

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

    def fill(self, text: str) -> str:
        """Puts the words of this dialect into the blanks of a text: ``try {gradient_clipping}``."""
        return _BLANK.sub(lambda blank: self.words.get(blank[1], blank[1].replace("_", " ")), text)
