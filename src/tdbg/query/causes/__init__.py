"""A case in, its cause out: what the numbers prove about why a value went bad, and what to change.

One file per family of causes. A rule is a function that takes a ``Case`` and gives a ``Cause``, or None when the
numbers do not prove it; ``@rule("Log", ...)`` registers it for op types, ``@rule()`` for all. Rules for an op type are
asked in the order of their files and lines, then those for all. What no rule proves is ``unknown``, said honestly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tdbg.query.case import Case

FAMILIES = ("data", "logarithms", "division", "roots", "overflow")


@dataclass(frozen=True, slots=True)
class Trial:
    """The op and its replacement, both executed on the recorded inputs: forward and gradient."""

    before: str
    after: str

    def as_dict(self) -> dict[str, str]:
        return {"before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change; ``code`` is the user's own statement with the change made, where that can be written."""

    text: str
    code: str = ""
    trial: Trial | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"text": self.text, "code": self.code, "trial": self.trial.as_dict() if self.trial else None}


@dataclass(frozen=True, slots=True)
class Cause:
    """``name`` is stable (docs/why.md lists all); ``reason`` is one sentence; ``evidence`` further ones."""

    name: str
    reason: str
    evidence: tuple[str, ...] = ()
    fix: Fix | None = None


Rule = Callable[[Case], Cause | None]
_rules: dict[str, list[Rule]] = defaultdict(list)


def rule(*op_types: str) -> Callable[[Rule], Rule]:
    """Registers a rule for these op types; without any, for all."""

    def register(function: Rule) -> Rule:
        for op_type in op_types or ("",):
            _rules[op_type].append(function)
        return function

    return register


def find_cause(case: Case) -> Cause:
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")
    for candidate in (*_rules[case.op.type], *_rules[""]):
        cause = candidate(case)
        if cause is not None:
            return cause
    return Cause("unknown", "its inputs are finite and its output is not")
