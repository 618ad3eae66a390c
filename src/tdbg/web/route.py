"""Defines what a route is: its path, its parameters with their limits, the shape of its answer, and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tdbg.errors import TdbgError
from tdbg.web.schema import Schema

if TYPE_CHECKING:
    from tdbg.web.traces import ServedTrace, Traces

LARGEST = (1 << 53) - 1  # of whole numbers that every JSON reader keeps
_LONGEST = 2000
_MOST_REPEATED = 64


class Refused(Exception):
    """A question that gets no answer: a status, a sentence, and what to do next."""

    def __init__(self, status: int, sentence: str, following: str = "") -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.following = status, sentence, following


class NotFoundError(TdbgError):
    """Something that was asked for is not in the trace."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One word behind the question mark. ``least`` and ``most`` bound a number, or the length of a text."""

    name: str
    meaning: str
    kind: str = "integer"  # or text, truth
    default: Any = None
    least: int = 0
    most: int = LARGEST
    choices: Sequence[str] = ()
    is_required: bool = False
    is_repeated: bool = False

    def read(self, given: Sequence[str]) -> Any:
        if self.is_repeated:
            if len(given) > _MOST_REPEATED:
                raise Refused(400, f"{self.name} is given {len(given)} times", f"give at most {_MOST_REPEATED}")
            return [self._one(text) for text in given]
        if not given:
            if self.is_required:
                raise Refused(400, f"{self.name} is missing", f"{self.name}: {self.meaning}")
            return self.default
        if len(given) > 1:
            raise Refused(400, f"{self.name} is given {len(given)} times", "give it once")
        return self._one(given[0])

    def _one(self, text: str) -> Any:
        if self.kind == "integer":
            return self._integer(text)
        if self.kind == "truth":
            if text not in ("0", "1", "true", "false"):
                raise Refused(400, f"{self.name} must be 1 or 0", self.meaning)
            return text in ("1", "true")
        if self.choices and text not in self.choices:
            raise Refused(400, f"{self.name} must be one of {', '.join(self.choices)}", self.meaning)
        longest = min(self.most, _LONGEST)
        if len(text) > longest:
            raise Refused(400, f"{self.name} is longer than {longest:,} characters", self.meaning)
        if "\0" in text:
            raise Refused(400, f"{self.name} contains a character that is not allowed", self.meaning)
        return text

    def _integer(self, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 16):
            raise Refused(400, f"{self.name} must be a whole number", self.meaning)
        number = int(text)
        if not self.least <= number <= self.most:
            raise Refused(400, f"{self.name} must be between {self.least:,} and {self.most:,}", self.meaning)
        return number


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is not JSON. ``body`` may be parts, sent as they come."""

    body: bytes | Iterable[bytes]
    kind: str
    file: str = ""  # what a browser saves it as
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. ``trace`` is there when the path names one, ``body`` when something was sent along."""

    traces: Traces
    values: Mapping[str, Any]
    chosen: ServedTrace | None = None
    body: bytes = b""

    @property
    def trace(self) -> ServedTrace:
        assert self.chosen is not None
        return self.chosen

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def process(self) -> int:
        """Gives the process that is asked about: the one named, else that with the first bad value."""
        return self.trace.process(self.values.get("process"))


@dataclass(frozen=True, slots=True)
class Route:
    """One address of the API. ``{trace}`` in the path is the id of a trace. ``answer`` is a JSON schema, unless
    ``kind`` is another format."""

    path: str
    summary: str
    make: Callable[[Asked], Any]
    answer: Schema = field(default_factory=dict)
    parameters: Sequence[Parameter] = ()
    kind: str = "application/json"
    method: str = "GET"
    body: Schema | None = None


PROCESS = Parameter("process", "the number of a process, by default the one with the first bad value", most=1 << 20)
OFFSET = Parameter("offset", "the first row to return, counting from 0", default=0)
LIMIT = Parameter("limit", "return at most this many rows", default=200, least=1, most=5000)
