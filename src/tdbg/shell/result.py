"""Defines what a command gives: blocks of data, of which a renderer makes lines, a page or JSON.

A block is a record without any layout. ``layout.py`` makes lines of one for a terminal of some width;
``result_data.py`` makes JSON of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, overload

from tdbg.capture.control import Action
from tdbg.shell.tensor_part import TensorPart

# Roles, not colours: each renderer has its own table of them.
STYLES = frozenset(
    "title dim name op file code number nan inf zero negative positive good warning error match user".split()
)


class Span(NamedTuple):
    """A piece of a line. ``link`` is the command that a click or Enter on it types."""

    text: str
    style: str = ""
    link: str = ""


Line = tuple[Span, ...]
Cell = Span | Line | str | int | float | bool | None
Item = TypeVar("Item")
Made = TypeVar("Made")


class Mapped(Sequence[Made]):
    """Applies a function to each item of a sequence when that item is asked for."""

    def __init__(self, items: Sequence[Item], make: Callable[[Item], Made]) -> None:
        self._items, self._make = items, make

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Made: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Made]: ...
    def __getitem__(self, at: int | slice) -> Made | Sequence[Made]:
        if isinstance(at, slice):
            return [self._make(item) for item in self._items[at]]
        return self._make(self._items[at])


@dataclass(frozen=True)
class Text:
    """Lines as they are. ``data`` is what they say, for JSON."""

    lines: Sequence[Line]
    data: Any = None


@dataclass(frozen=True)
class Column:
    title: str
    key: str  # its name in JSON; "": only on a line
    right: bool = False
    sort: str = ""  # the command that a click on the title types
    form: Callable[[Any], str] | None = None  # how a value is written on a line; JSON has the value itself
    is_shown: bool = True  # False: in JSON only
    is_whole: bool = False  # never cut: a line that is too long goes on beyond the edge


@dataclass(frozen=True)
class Table:
    """A table. ``rows`` is read a page at a time, so it may be lazy and very long. ``measured``: the same rows without
    what is not seen and dear to work out, such as links; columns are made wide enough for them."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    measured: Sequence[Sequence[Cell]] | None = None


@dataclass(frozen=True)
class Array:
    """A tensor's elements, or a part of them. ``ranges``: elements inside any of them are highlighted."""

    name: str  # 'hidden/log:0:DebugIdentity[0,:]'
    values: Any  # numpy array; only what is shown is read
    ranges: Sequence[tuple[float, float]] = ()
    shows_all: bool = False  # without ellipses
    part: TensorPart | None = None  # which elements of the tensor these are; None: all
    part_of: Array | None = None  # what was shown before @[i,j] went to an element that an ellipsis hid
    marked: tuple[int, ...] | None = None  # the element that @[i,j] went to, counted from the first one here

    @property
    def elements(self) -> TensorPart:
        return self.part or TensorPart.whole(self.values.shape)


@dataclass(frozen=True)
class Plot:
    """Named series over steps: (step, value); a value that is NaN or infinite is marked, not drawn. ``bad``: steps that
    are marked too, though their values (of the finite elements) are drawn."""

    title: str
    series: Mapping[str, Sequence[tuple[int, float]]]
    bad: Collection[int] = ()


Block = Text | Table | Array | Plot


@dataclass(frozen=True)
class Result:
    """What a command gives. ``menu``: links for the top of the screen. ``top``: the line to begin at, counted over all
    blocks. ``action``: the prompt is over, and this is what the program does next. ``asks``: nothing was done yet;
    ``yes`` is the command that does it (a question such as "print 80,000,000 elements?"). ``search``: a regular
    expression whose matches the layout marks. ``note``: a sentence that is seen whichever lines are."""

    blocks: Sequence[Block] = ()
    menu: Sequence[Span] = ()
    top: int = 0
    action: Action | None = None
    is_error: bool = False
    asks: str = ""
    yes: str = ""
    search: str = ""
    note: str = ""
    controls: Mapping[str, Any] = field(default_factory=dict)  # for the screen: {"page": -1}, {"mouse": True}, …


def text(*lines: str | Line | Span, data: Any = None) -> Text:
    """Makes lines of texts, spans or whole lines."""
    return Text([_line(one) for one in lines], data)


def _line(one: str | Line | Span) -> Line:
    if isinstance(one, str):
        return (Span(one),)
    return (one,) if isinstance(one, Span) else tuple(one)


def error(message: str) -> Result:
    return Result([Text([(Span("ERROR: ", "error"), Span(message))], {"error": message})], is_error=True)


def plain(line: Iterable[Span]) -> str:
    return "".join(span.text for span in line)
