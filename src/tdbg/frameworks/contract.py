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

from tdbg.frameworks.code import Code, Template
from tdbg.frameworks.plain_words import in_plain_words
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

    def written_type(self, op_type: str) -> str:
        """The type that a program writes, of one that the framework's runtime made of it."""


def _no_phase(file: str, function: str) -> Phase | None:
    return None


def _no_scope(class_name: str) -> str:
    return ""


_NEVER = re.compile(r"(?!)")
_BLANK = re.compile(r"\{(\w+)\}")
_RECEIVER = re.compile(r"^\{0[^{}]*\}\.")


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
    # Files or functions in the stack of an op: that load weights; that give variables their first value; that call a
    # gradient written by the user; that clip gradients by their norm; of optimizers; of normalisations; the function
    # that computes the length of a vector.
    loading: re.Pattern[str] = _NEVER
    initialising: re.Pattern[str] = _NEVER
    users_gradient: re.Pattern[str] = _NEVER
    clipping: re.Pattern[str] = _NEVER
    optimizers: re.Pattern[str] = _NEVER
    normalising: re.Pattern[str] = _NEVER
    norm: re.Pattern[str] = _NEVER
    # Names of variables: that hold what a normalisation has seen so far.
    moving_statistics: re.Pattern[str] = _NEVER


@dataclass(frozen=True)
class Dialect:
    """How the users of a framework say things: in sentences, in code, and in the folders of its packages."""

    name: str  # tensorflow
    title: str  # TensorFlow
    alias: str  # tf: what programs call it, mostly
    modules: tuple[str, ...]  # that a program imports under that name
    packages: tuple[str, ...] = ()  # libraries that run a program's ops, or run the program
    # What is meant -> how it is written: maximum: {library}.maximum({0}, {1}), or {0.operand}.clamp(min={1}). What is
    # not there cannot be said in this dialect.
    calls: Mapping[str, str] = field(default_factory=dict)
    # Kind of an op -> the functions that make it in a user's statement, by their last name.
    spelled: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)
    has_methods: bool = False  # whether those functions are methods of tensors as well: x.log()
    namespaces: tuple[str, ...] = ()  # of the library, in which some of them lie: math, nn
    # Other libraries, by their last name, that have some of the functions as well, and which: keras.ops.
    stand_ins: tuple[str, ...] = ()
    stand_ins_have: frozenset[str] = frozenset()
    # How an axis, and that it is kept, are named where a function works along one; the first name is written.
    axis_names: tuple[str, ...] = ("axis",)
    keep_names: tuple[str, ...] = ("keepdims",)
    no_axis: str = ""  # further arguments of a function that works along an axis, where none is given
    # What other frameworks call otherwise -> its word here: layer, variable, ...
    words: Mapping[str, str] = field(default_factory=dict)
    # Functions, by their last name, that give the same each time they are called, and make no variables.
    repeatable: frozenset[str] = frozenset()
    own_scopes: tuple[str, ...] = ()  # scopes that the framework opens by itself, which are no layers
    phase_of: Callable[[str, str], Phase | None] = _no_phase  # of a frame's file and function
    signs: Signs = Signs()
    scope_of: Callable[[str], str] = _no_scope  # a layer's class -> how its scopes begin, before their number

    def write(self, what: str, *arguments: str) -> Template:
        """Code as a template, with ``{library}`` for what the user calls the framework; "" where it has no such
        function, or where an argument could not be written."""
        form = self.calls.get(what)
        if form is None or "" in arguments:
            return Template()
        return Template(form.format(*map(Template, arguments), library="{library}"))

    def says(self, what: str, *arguments: str) -> str:
        """The same in a sentence, under the framework's usual name; without arguments the function's name alone; in
        plain words where there is no such function."""
        form = self.calls.get(what)
        if form is None:
            return in_plain_words(what, arguments)
        if arguments:
            return form.format(*map(Code, arguments), library=self.alias)
        return _RECEIVER.sub("", form.replace("{library}", self.alias)).partition("(")[0]

    def function(self, what: str) -> str:
        """The last name of the function by which something is written: ``ones_like``; "" where there is none."""
        return self.says(what).rpartition(".")[2] if what in self.calls else ""

    def word(self, name: str) -> str:
        return self.words.get(name, name)

    def fill(self, text: str) -> str:
        """Puts the words of this dialect into the blanks of a text: ``try {gradient_clipping}``."""
        return _BLANK.sub(lambda blank: self.words.get(blank[1], blank[1].replace("_", " ")), text)
