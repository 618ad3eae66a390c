"""Finds the cause of a bad value: what the numbers prove about why it went bad, and what to change.

One file per family of causes. A rule is a function that takes a ``Case`` and gives a ``Cause``, or None when the
numbers do not prove it; ``@rule(Kind.LOG, ...)`` registers it for kinds of ops, ``@rule()`` for all,
``@rule(first=True)`` for all and before the others, ``@slope_rule(Kind.LOG, ...)`` for ops of the gradient of such a
forward op. They are asked in the order of their files and lines. What no rule proves is ``unknown``, said honestly.

A rule thinks in kinds. What it says in the words of a framework, and the code that it writes, come from the dialect of
the op (``case.dialect``), and what that cannot say is said in plain words, without code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tdbg.query.fixes.trial import Trial
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

FAMILIES = (
    "data", "optimiser", "custom_gradient", "masking", "linear_algebra", "logarithms", "losses", "division", "roots",
    "powers", "trigonometry", "exponentials", "precision", "reductions", "gather", "generic",
)  # fmt: skip


NAMES = frozenset(
    """log_of_zero log_of_negative div_by_zero zero_over_zero sqrt_at_zero sqrt_of_negative rsqrt_of_zero norm_at_zero
    pow_domain trig_domain exp_overflow mul_overflow sum_overflow half_overflow half_underflow fp8_saturation
    cast_overflow softmax_overflow all_masked_softmax wrong_mask where_trap clip_after_bad_op custom_gradient
    catastrophic_cancellation empty_reduction nan_in_data inf_in_data nan_in_checkpoint bad_initial_weights
    class_index_out_of_range index_out_of_range adam_eps_underflow second_moment_overflow gradient_clip_contamination
    batchnorm_poisoned singular_matrix repeated_eigenvalues ctc_infeasible variance_collapse
    reordered_constants unknown""".split()
)


NOT_AN_OP = "it changes the data, not an op"  # why a fix of the data is not executed


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change; ``code`` is the user's own statement with the change made, where that can be written.

    A fix has a trial, or ``untried`` says why it was not executed. ``better`` is what ``text`` begins with, in a few
    words, where the code is only second best.
    """

    text: str
    code: str = ""
    trial: Trial | None = None
    untried: str = "it changes more than this op; run the program again to try it"
    better: str = ""

    @property
    def not_executed(self) -> str:
        return "" if self.trial else self.untried

    def as_dict(self) -> dict[str, Any]:
        trial = self.trial.as_dict() if self.trial else None
        return {"text": self.text, "code": self.code, "trial": trial, "not_executed": self.not_executed or None}


@dataclass(frozen=True, slots=True)
class Cause:
    """``name`` is stable (docs/why.md lists all); ``reason`` is one sentence; ``evidence`` further ones."""

    name: str
    reason: str
    evidence: tuple[str, ...] = ()
    fix: Fix | None = None


Rule = Callable[[Case], Cause | None]
_rules_for_all: list[Rule] = []
_first_rules: list[Rule] = []  # for all as well
_rules: dict[Kind, list[Rule]] = defaultdict(list)
_slope_rules: dict[Kind, list[Rule]] = defaultdict(list)  # by the kind of the forward op


def rule(*kinds: Kind, first: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule for ops of these kinds; without any, for all."""
    lists = [_rules[kind] for kind in kinds] or [_first_rules if first else _rules_for_all]
    return _registered_in(lists)


def slope_rule(*kinds: Kind) -> Callable[[Rule], Rule]:
    """Registers a rule for bad values that begin in the gradient of ops of these kinds."""
    return _registered_in([_slope_rules[kind] for kind in kinds])


def _registered_in(lists: list[list[Rule]]) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        for rules in lists:
            rules.append(function)
        return function

    return register


def fix_for_op(case: Case) -> Fix | None:
    """What the rules for the op's kind alone propose."""
    causes = (candidate(case) for candidate in _rules.get(case.op.kind, ()))
    return next((cause.fix for cause in causes if cause is not None and cause.fix is not None), None)


def find_cause(case: Case) -> Cause:
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")
    slopes = _slope_rules.get(case.forward.kind, []) if case.is_backward and case.forward else []
    for candidate in (*_first_rules, *slopes, *_rules.get(case.op.kind, ()), *_rules_for_all):
        cause = candidate(case)
        if cause is not None:
            return cause
    if case.knows_inputs:
        return Cause("unknown", "its inputs are finite and its output is not")
    return Cause("unknown", "its output is bad, and not all of its inputs were recorded")
