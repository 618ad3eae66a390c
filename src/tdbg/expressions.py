"""Understands filters, and turns them into SQL over a trace or a predicate on one live event.

    nan > 0 and op == "Log"
    max_abs > 1e4 or (name ~ "dense.*" and step in 10:20)

A comparison with a number that was not measured, or that there is not (the least of no finite element), is neither true
nor false, as NULL is in SQL, and so is its opposite; a filter keeps what is true. ``~`` searches a regular expression.
Nothing here evaluates Python.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tdbg.errors import TdbgError
from tdbg.model import BAD_SQL, NUMBERS, DType, Phase


class Field(NamedTuple):
    """A word of the language: its kind, its SQL over ``tensors t JOIN ops o``, and what it means."""

    kind: str  # number, text or truth
    sql: str
    meaning: str


def _label(kinds: type[DType] | type[Phase], column: str) -> str:
    """Writes SQL that turns the number of an element type or phase, which counts from 0, into its name."""
    return f"{[kind.label for kind in kinds]}[{column} + 1]"


def _known(column: str) -> str:
    """Writes SQL for a number of the finite elements. It is NaN where there are none, which DuckDB calls greater than
    any other; that is told by the counts, because DuckDB believes the statistics of Parquet files, in which there is no
    NaN."""
    return f"CASE WHEN coalesce(t.negative + t.zero + t.positive, 1) > 0 THEN {column} END"


_COUNTS = {one.name: Field("number", f"t.{one.name}", one.meaning) for one in reversed(NUMBERS) if one.is_count}
_STATISTICS = {one.name: Field("number", _known(f"t.{one.name}"), one.meaning) for one in NUMBERS if not one.is_count}
FIELDS: dict[str, Field] = {
    "nan": _COUNTS["nan"],  # the first two are what is asked for most
    "inf": Field("number", "(t.pos_inf + t.neg_inf)", "how many are infinite"),
    **_COUNTS,
    **_STATISTICS,
    "max_abs": Field(
        "number", _known("greatest(abs(t.min), abs(t.max))"), "the largest absolute value of a finite element"
    ),
    "step": Field("number", "t.step", "the training step"),
    "iteration": Field("number", "t.iteration", "of the innermost loop around it, -1 outside loops"),
    "slot": Field("number", "t.slot", "which output of its op"),
    "bad": Field("truth", f"(t.{BAD_SQL})", "whether it holds a NaN or an infinity"),
    "op": Field("text", "o.type", "the op's type, such as Log"),
    "name": Field("text", "o.name", "the op's name, such as dense/MatMul"),
    "dtype": Field("text", _label(DType, "t.dtype"), "the element type, such as float32"),
    "phase": Field("text", _label(Phase, "o.phase"), "forward, backward, update or other"),
    "device": Field("text", "o.device", "where it was computed"),
}

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_TOKEN = re.compile(
    r"""\s*(?: (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]) | [-+]inf\b)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*') | (?P<word>[A-Za-z_]\w*) | (?P<mark>==|!=|<=|>=|!~|[<>~():=]) )""",
    re.VERBOSE,
)


_DEEPEST = 60  # parentheses and nots within each other


class Answer(NamedTuple):
    """A piece of SQL, and what goes into its question marks."""

    sql: str
    parameters: list[Any]


@dataclass(frozen=True, slots=True)
class Truth:
    """A field that is true or false by itself: ``bad``"""

    field: str

    def sql(self, columns: Mapping[str, str]) -> Answer:
        return Answer(columns[self.field], [])

    def of(self, event: Mapping[str, Any]) -> bool | None:
        return _bool(event.get(self.field))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison, ``max > 1e4``; both sides may be fields."""

    left: Any
    mark: str
    right: Any

    def sql(self, columns: Mapping[str, str]) -> Answer:
        left, right = _side_sql(self.left, columns), _side_sql(self.right, columns)
        mark = "=" if self.mark == "==" else self.mark
        return Answer(f"({left.sql} {mark} {right.sql})", [*left.parameters, *right.parameters])

    def of(self, event: Mapping[str, Any]) -> bool | None:
        left, right = _side(self.left, event), _side(self.right, event)
        return None if left is None or right is None else _COMPARE[self.mark](left, right)


@dataclass(frozen=True, slots=True)
class Search:
    """A search in a text: ``name ~ "dense.*"``"""

    field: str
    pattern: re.Pattern[str]
    is_wanted: bool

    def sql(self, columns: Mapping[str, str]) -> Answer:
        found = f"regexp_matches({columns[self.field]}, ?)"
        return Answer(found if self.is_wanted else f"(NOT {found})", [self.pattern.pattern])

    def of(self, event: Mapping[str, Any]) -> bool | None:
        value = event.get(self.field)
        return None if value is None else bool(self.pattern.search(value)) == self.is_wanted


@dataclass(frozen=True, slots=True)
class Range:
    """A range, ``step in 10:20``: from the first on, before the second."""

    field: str
    first: float
    end: float

    def sql(self, columns: Mapping[str, str]) -> Answer:
        column = columns[self.field]
        return Answer(f"({column} >= ? AND {column} < ?)", [self.first, self.end])

    def of(self, event: Mapping[str, Any]) -> bool | None:
        value = _side(Name(self.field), event)
        return None if value is None else self.first <= value < self.end


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions joined by ``and`` or ``or``."""

    word: str
    left: Any
    right: Any

    def sql(self, columns: Mapping[str, str]) -> Answer:
        left, right = self.left.sql(columns), self.right.sql(columns)
        return Answer(f"({left.sql} {self.word.upper()} {right.sql})", [*left.parameters, *right.parameters])

    def of(self, event: Mapping[str, Any]) -> bool | None:
        ends_it = self.word == "or"
        sides = (self.left.of(event), self.right.of(event))
        return ends_it if ends_it in sides else None if None in sides else not ends_it


@dataclass(frozen=True, slots=True)
class Opposite:
    """A condition after ``not``."""

    inner: Any

    def sql(self, columns: Mapping[str, str]) -> Answer:
        inner = self.inner.sql(columns)
        return Answer(f"(NOT {inner.sql})", inner.parameters)

    def of(self, event: Mapping[str, Any]) -> bool | None:
        inner = self.inner.of(event)
        return None if inner is None else not inner


@dataclass(frozen=True, slots=True)
class Expression:
    """A filter that was understood."""

    text: str
    root: Any

    def sql(self, columns: Mapping[str, str] | None = None) -> Answer:
        """Writes the condition for WHERE; ``columns`` gives the SQL of fields where it is not that of FIELDS."""
        return self.root.sql({name: field.sql for name, field in FIELDS.items()} | dict(columns or {}))

    def bounds(self, field: str) -> tuple[float, float]:
        """Finds between which values a number must lie for the filter to hold, as far as that is plain to see."""
        return _bounds(self.root, field)

    def matches(self, event: Mapping[str, Any]) -> bool:
        """Whether a live event, given by its fields, is wanted."""
        return self.root.of(event) is True


def _bounds(root: Any, field: str) -> tuple[float, float]:
    if isinstance(root, Both) and root.word == "and":
        (first, last), (second, end) = _bounds(root.left, field), _bounds(root.right, field)
        return max(first, second), min(last, end)
    if isinstance(root, Range) and root.field == field:
        return root.first, root.end
    if isinstance(root, Comparison) and root.left == Name(field) and isinstance(root.right, float):
        value = root.right
        return value if root.mark in ("==", ">", ">=") else -math.inf, value if root.mark in (
            "==",
            "<",
            "<=",
        ) else math.inf
    return -math.inf, math.inf


def parse(text: str) -> Expression:
    """Understands a filter; TdbgError when the text is no expression, with the place and what was expected there."""
    return Expression(text, _Parser(text).whole())


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class Name(NamedTuple):
    """A field on one side of a comparison."""

    field: str


class _Parser:
    """Parses a filter: or over and, and over not, not over comparisons."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._scan())
        self._at = self._depth = 0

    def _scan(self) -> Any:
        at, end = 0, len(self._text.rstrip())
        while at < end:
            match = _TOKEN.match(self._text, at)
            if match is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                raise self._error(at, f"{self._text[at]!r} is not understood here")
            kind = match.lastgroup or ""
            yield _Token(kind, match[kind], match.start(kind))
            at = match.end()
        yield _Token("end", "", end)

    def _error(self, at: int, what: str) -> TdbgError:
        return TdbgError(f"filter {self._text!r}, at character {at + 1}: {what}")

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _takes(self, *words: str) -> bool:
        found = self._next.kind in ("word", "mark") and self._next.text in words
        self._at += found
        return found

    def whole(self) -> Any:
        if self._next.kind == "end":
            raise self._error(0, 'it is empty; write, for example, nan > 0 and op == "Log"')
        found = self._or()
        if self._next.kind != "end":
            raise self._error(self._next.at, f"expected 'and', 'or' or the end, not {self._next.text!r}")
        return found

    def _or(self) -> Any:
        found = self._and()
        while self._takes("or"):
            found = Both("or", found, self._and())
        return found

    def _and(self) -> Any:
        found = self._not()
        while self._takes("and"):
            found = Both("and", found, self._not())
        return found

    def _not(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(self._next.at, "this is nested too deeply")
        found = Opposite(self._not()) if self._takes("not") else self._condition()
        self._depth -= 1
        return found

    def _condition(self) -> Any:
        if self._takes("("):
            found = self._or()
            if not self._takes(")"):
                raise self._error(self._next.at, "a parenthesis is not closed")
            return found
        first = self._next
        left = self._side()
        if isinstance(left, Name) and FIELDS[left.field].kind == "truth":
            return Truth(left.field)
        mark = self._next
        if self._takes("~", "!~"):
            return self._search(first, left, mark.text == "~")
        if self._takes("in"):
            return self._range(first, left)
        if not self._takes(*_COMPARE):
            hint = " (equality is ==)" if mark.text == "=" else ""
            raise self._error(mark.at, f"expected a comparison such as > or == after {first.text!r}{hint}")
        right_at = self._next
        right = self._side()
        if _kind(left) != _kind(right):
            raise self._error(right_at.at, f"{first.text} is a {_kind(left)} and {right_at.text} a {_kind(right)}")
        if _kind(left) == "text" and mark.text not in ("==", "!="):
            raise self._error(mark.at, f"text is compared with ==, !=, ~ and !~, not with {mark.text}")
        return Comparison(left, mark.text, right)

    def _search(self, first: _Token, left: Any, is_wanted: bool) -> Search:
        pattern = self._take()
        if not isinstance(left, Name) or _kind(left) != "text":
            raise self._error(first.at, f"{first.text} is not text, so it cannot be searched with ~")
        if pattern.kind != "text":
            raise self._error(pattern.at, '~ needs a regular expression in quotes, as in name ~ "dense.*"')
        try:
            return Search(left.field, re.compile(_unquoted(pattern.text)), is_wanted)
        except re.error as error:
            raise self._error(pattern.at, f"{pattern.text} is not a regular expression: {error}") from None

    def _range(self, first: _Token, left: Any) -> Range:
        if not isinstance(left, Name) or _kind(left) != "number":
            raise self._error(first.at, f"{first.text} is not a number, so it cannot be in a range")
        begin = self._number(0.0) if self._next.text != ":" else 0.0
        if not self._takes(":"):
            raise self._error(self._next.at, f"a range is written FIRST:END, as in {first.text} in 10:20")
        return Range(left.field, begin, self._number(math.inf))

    def _number(self, default: float) -> float:
        return float(self._take().text) if self._next.kind == "number" else default

    def _side(self) -> Any:
        token = self._take()
        if token.kind == "number":
            return float(token.text)
        if token.kind == "text":
            return _unquoted(token.text)
        if token.kind != "word" or token.text in ("and", "or", "not", "in"):
            shown = repr(token.text) if token.text else "the end"
            raise self._error(token.at, f"expected a field, a number or text, not {shown}")
        if token.text == "inf" and self._at > 1 and self._tokens[self._at - 2].text in _COMPARE:
            return math.inf
        if token.text not in FIELDS:
            near = difflib.get_close_matches(token.text, FIELDS, 1)
            known = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(FIELDS)}"
            raise self._error(token.at, f"there is no field {token.text!r}; {known}")
        return Name(token.text)


def _kind(side: Any) -> str:
    return FIELDS[side.field].kind if isinstance(side, Name) else "text" if isinstance(side, str) else "number"


def _unquoted(text: str) -> str:
    quote = text[0]
    return text[1:-1].replace(f"\\{quote}", quote)


def _side(side: Any, event: Mapping[str, Any]) -> Any:
    value = event.get(side.field) if isinstance(side, Name) else side
    return None if isinstance(value, float) and math.isnan(value) else value


def _side_sql(side: Any, columns: Mapping[str, str]) -> Answer:
    return Answer(columns[side.field], []) if isinstance(side, Name) else Answer("?", [side])


def _bool(value: Any) -> bool | None:
    return None if value is None else bool(value)
