"""What tdbg asks of a framework, and nothing more.

A framework is one folder of ``frameworks/``, and ``FRAMEWORKS`` names it. It has three modules:

``listener``: ``start(recording)`` gives a ``Listener``, and ``versions()`` names the libraries that it listens to. What
    is seen goes to the ``capture.recording.Recording`` that is given: rows of graphs and ops to its recorder, events to
    its ``lib``, stacks to its ``sources``, signs of training to its ``steps``.
``ops``: what native op types are; see ``Ops``.
``dialect``: its ``DIALECT``.

The last two are read by everything that looks at traces, on machines where the framework need not be installed, so they
must not import it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol

from tdbg.model import Phase
from tdbg.vocabulary import Kind, Role


class Listener(Protocol):
    """What is on while a framework is listened to, on every thread. Several can be on in one process."""

    def stop(self) -> None:
        """Puts the framework back as it was; what is recorded is written after this."""

    def ended(self) -> None:
        """The recording is written."""

    def after_fork(self) -> None:
        """In a forked child: locks that another thread held are to be made anew."""

    def narrowed(self) -> None:
        """The filters (``recording.policy``) have changed."""

    def breakpoint(self, frame: FrameType) -> bool:
        """Holds the program in a frame that calls ``tdbg.breakpoint()``; False where this framework cannot."""


class Ops(Protocol):
    """Module ``ops``: what native op types are. Capture writes it into the trace, beside the native name."""

    def kind_of(self, op_type: str) -> Kind: ...

    def roles_of(self, op_type: str) -> Role: ...


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
