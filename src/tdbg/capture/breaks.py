"""Keeps the conditions that hold the program now: those asked for, and what the person at the prompt said last."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tdbg.capture.condition import fields_in
from tdbg.capture.control import Action, Kind
from tdbg.errors import TdbgError
from tdbg.expressions import Expression, parse
from tdbg.scene import TensorFilter

_BAD = "has_inf_or_nan"  # tfdbg's name of ``bad``
_ANYTHING = "elements >= 0"
_SELECTS = frozenset({"op", "name", "dtype"})


@dataclass(eq=False)
class Break:
    """A condition that holds the program. ``filter``: a function that decides in its place, asked of every tensor."""

    number: int
    text: str
    expression: Expression
    excludes: re.Pattern[str] | None = None
    filter: TensorFilter | None = None
    hits: int = 0

    @property
    def selects(self) -> bool:
        """Whether it says which ops it is about; then it is asked of ops too that are not recorded."""
        return bool(fields_in(self.expression.root) & _SELECTS)

    def leaves_out(self, name: str) -> bool:
        return self.excludes is not None and self.excludes.match(name) is not None


class Breaks:
    """``changed`` is called when other conditions count than before."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.changed: Callable[[], None] = lambda: None
        self.is_over = False  # the program is to end
        self.is_detached = False
        self._numbers = itertools.count(1)
        self._all = [Break(next(self._numbers), text, parse(text)) for text in texts]
        self._until: Break | None = None  # counts alone until it is met
        self._quiet_before = 0  # no condition counts before this step
        self._hold_at: int | None = None  # the step at whose beginning the program is held

    @property
    def all(self) -> Sequence[Break]:
        return tuple(self._all)

    def active(self, step: int) -> Sequence[Break]:
        """Those that hold the program now."""
        if step < self._quiet_before or self.is_detached:
            return ()
        return (self._until,) if self._until is not None else self.all

    def hold_lines(self, step: int) -> bool:
        """Whether ``tdbg.breakpoint()`` holds the program now."""
        return step >= self._quiet_before and not self.is_detached and self._until is None

    def add(self, text: str) -> Break:
        added = Break(next(self._numbers), text, parse(text))
        self._all.append(added)
        self.is_detached = False
        self.changed()
        return added

    def remove(self, number: int) -> Break:
        for one in self._all:
            if one.number == number:
                self._all.remove(one)
                self.changed()
                return one
        known = ", ".join(str(one.number) for one in self._all)
        raise TdbgError(f"there is no break {number}; " + (f"there are {known}" if known else "there are none"))

    def begins(self, step: int) -> bool:
        """A step begins: whether the program is to be held there."""
        is_reached = self._hold_at is not None and step >= self._hold_at
        if self._quiet_before and step >= self._quiet_before:
            self._quiet_before = 0
            self.changed()
        if is_reached:
            self._hold_at = None
        return is_reached

    def obey(self, action: Action, step: int, filters: Mapping[str, TensorFilter]) -> None:
        """TdbgError, and nothing is changed, when it names a filter that is none."""
        until = self._break_until(action, filters) if action.until_filter else None
        self._until, self._quiet_before, self._hold_at = until, 0, None
        if action.kind == Kind.EXIT:
            self.is_over = True
        elif action.kind == Kind.DETACH:
            self.is_detached = True
        elif action.times > 1 or not action.debug:
            self._quiet_before = step + action.times
            self._hold_at = self._quiet_before if action.debug and until is None else None
        self.changed()

    def _break_until(self, action: Action, filters: Mapping[str, TensorFilter]) -> Break:
        name = action.until_filter
        given: Any = None if name == _BAD else filters.get(name)
        expression = parse("bad" if name == _BAD else _ANYTHING if given is not None else name)
        excludes = re.compile(action.exclude_nodes) if action.exclude_nodes else None
        return Break(0, name, expression, excludes, given)
