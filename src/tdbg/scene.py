"""Defines the scene that a debugger's commands look at: a recorded trace, or one moment of a running program.

``Scene`` is what the commands of ``shell/`` and the page ask for. A trace gives one (``query/scene/trace_scene.py``),
and so does a run of a Session that has just ended (``frameworks/tensorflow/tfdbg/run_scene.py``); neither knows who
asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tdbg.model import Frame, ProfiledNode, Summary

TensorFilter = Callable[[Any, Any], Any]  # of a Seen (or a DebugTensorDatum) and its array


@dataclass(frozen=True, slots=True)
class Seen:
    """One tensor as it was once: what tfdbg calls a dump."""

    node: str  # the op's name, as the user knows it
    slot: int
    op_type: str
    time: float  # in ms since the first one of the moment
    size: int | None  # in bytes; None when it is not known
    dtype: str
    shape: tuple[int, ...] | None
    key: Any  # what the scene finds the value by
    device: str = ""
    debug_op: str = "DebugIdentity"
    number: int = 0  # among those of the same tensor at this moment, from 0
    step: int = -1
    iteration: int = -1
    seq: int = -1
    numbers: Summary | None = None
    is_bad: bool | None = None  # None: nobody has looked

    @property
    def tensor(self) -> str:
        """``hidden/MatMul:0``"""
        return f"{self.node}:{self.slot}"

    # The names by which filters written for tfdbg know the same things.
    node_name = property(lambda self: self.node)
    output_slot = property(lambda self: self.slot)
    tensor_name = property(lambda self: self.tensor)
    device_name = property(lambda self: self.device)
    dump_size_bytes = property(lambda self: self.size)


@dataclass(frozen=True, slots=True)
class Selection:
    """Says which tensors are wanted, in which order. Patterns are regular expressions that match from the beginning, as
    in tfdbg; ``filter`` is the name of a registered filter or an expression of ``tdbg.expressions``."""

    filter: str = ""
    exclude_nodes: str = ""
    node_pattern: str = ""
    op_pattern: str = ""
    sort_by: str = "timestamp"  # or dump_size, op_type, tensor_name
    reverse: bool = False


class Tensors(Sequence[Seen]):
    """Tensors in order, read as they are asked for: there may be ten million. ``total`` counts before filtering;
    ``notes`` says what the answer leaves out."""

    total: int
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Edge:
    """An input or a recipient: ``slot`` is the output that flows along it, -1 for a control edge."""

    node: str
    slot: int
    op_type: str


@dataclass(frozen=True, slots=True)
class Node:
    """One op and what is around it. ``written_as``: the user's ops, where the runtime made one of
    them: ``hidden/Relu (Relu), hidden/MatMul (MatMul)``. ``part_of``: the op that computes this one inside itself.
    ``framework``: whose op it is, by the name that programs import."""

    name: str
    op_type: str
    device: str
    inputs: Sequence[Edge]
    control_inputs: Sequence[Edge]
    recipients: Sequence[Edge]
    control_recipients: Sequence[Edge]
    attributes: Mapping[str, str]
    stack: Sequence[tuple[Frame, str]]  # innermost first, with the text of each line ("" unknown)
    written_as: str = ""
    graph: str = ""  # the function it belongs to
    phase: str = ""
    part_of: str = ""
    framework: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file that made nodes."""

    path: str
    is_user: bool
    nodes: int
    tensors: int
    dumps: int
    first_line: int  # the first line that made a node


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file with what it made. ``is_bad``: a tensor of it is, at this moment."""

    number: int
    text: str
    nodes: Sequence[str] = ()
    tensors: Sequence[str] = ()
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """A part of a trace that is looked at by itself: a training step, or a run of a Session."""

    kind: str  # "step" or "run"
    number: int
    title: str  # "step 41", or "run #4: 1 fetch (train); 2 feeds"
    tensors: int
    bad: int  # how many of them hold bad values
    time: float  # seconds since the trace began


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What was asked of a run of a Session, or what a step was."""

    description: str
    fetches: Sequence[str] = ()
    targets: Sequence[str] = ()
    feeds: Sequence[str] = ()
    error: Sequence[str] = ()  # lines: the op, its inputs, where it was made, what to try
    facts: Mapping[str, str] = field(default_factory=dict)  # anything else worth a line, by its label


class Scene(Protocol):
    """What commands look at. All names are checked: one that is not there raises TdbgError with the nearest that is."""

    title: str  # "mnist.tdbg · step 41"
    filters: dict[str, TensorFilter]  # by name; has_inf_or_nan is always there

    def moments(self) -> Sequence[Moment]: ...

    @property
    def moment(self) -> Moment | None:
        """What is looked at; None is the whole trace."""

    def go(self, number: int | None) -> None:
        """Goes to another moment, or (None) to all of them together."""

    def refresh(self) -> bool:
        """Reads what a program has written since; True when there is something new."""

    def tensors(self, selection: Selection) -> Tensors: ...

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        """Finds all that was seen of ``node:slot`` (or ``node``, when it has one output) at the moment, in order."""

    def value(self, seen: Seen) -> Any:
        """Gives a numpy array (possibly mapped, not loaded); TdbgError, with how to record it, when it was not kept."""

    def tensor_names(self) -> Sequence[str]: ...

    def node_names(self) -> Sequence[str]: ...

    def node(self, name: str) -> Node: ...

    def sources(self) -> Sequence[SourceFile]: ...

    def source(self, path: str) -> Sequence[SourceLine]:
        """Gives a file that made nodes, or (by the end of its path) one that the trace holds."""

    def run_info(self) -> RunInfo: ...

    def feeds(self) -> Mapping[str, Any]:
        """Gives what was fed, by tensor name; values as arrays where they are known, else TdbgError when asked for."""

    def profile(self) -> Sequence[ProfiledNode]: ...

    def trace(self) -> Any:
        """Gives the ``query.trace.Trace`` behind it; a run of a Session is made into one when this is first asked
        for."""


def computed_inside(parts: Mapping[str, str], framework: str) -> str:
    """Says that ops have no row of their own. ``parts`` gives the op that computes each inside itself; ``framework`` is
    what it is called."""
    told = [f"{part} inside {whole}" for part, whole in list(parts.items())[:4]]
    more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
    return f"not visible on its own, because {framework} computes it together with others: {', '.join(told)}{more}"
