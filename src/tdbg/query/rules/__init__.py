"""Finds trouble in training that shows in the numbers long before, or without, any NaN.

One file per rule. A rule is a function that takes a ``Training`` and gives a ``Finding`` for each place of the program
where it sees trouble. ``@rule(...)`` registers it with its name, why the trouble matters, what to do, and how many
training steps it must have seen. A rule that cannot be asked is listed with the reason, never passed over. In what to
do, ``{words}`` stand for what the framework of the sick op calls it (``Dialect.fill``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tdbg.model import Frame
from tdbg.query.rules.series import Node
from tdbg.query.rules.training import Training
from tdbg.query.trace.coverage import Coverage
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace

# In the order in which alerts are shown: what is certainly wrong first.
NAMES = (
    "broadcast_shape", "double_softmax", "wrong_activation", "output_range", "labels_shifted", "labels_out_of_range",
    "symmetric_weights", "dead_relu", "constant_output", "weights_not_updated", "half_precision_update_lost",
    "half_overflow", "half_underflow", "batchnorm_poisoned", "exploding_gradient", "vanishing_gradient",
    "saturated_activation", "attention_logit_growth", "update_ratio", "unnormalised_inputs", "loss_not_decreasing",
)  # fmt: skip

_COMMENT = re.compile(r"#\s*tdbg:\s*ignore(?:\[([\w\s,]*)\])?")
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Alert:
    """Trouble at one line: what was seen, why it matters, the numbers, what to do."""

    rule: str
    file: str | None
    line: int | None
    step: int
    text: str
    why: str
    evidence: tuple[str, ...]
    fix: str
    source: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"evidence": list(self.evidence)}


@dataclass(frozen=True, slots=True)
class Health:
    """All alerts, the rules that were asked (of one process at least), and those that were not, with the reason."""

    alerts: tuple[Alert, ...] = ()
    asked: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """One sentence for each reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.skipped.items():
            by_reason.setdefault(reason.partition("; it needs")[0], []).append(name)
        return [
            f"health rules not checked ({reason}): {'all of them' if len(names) == len(NAMES) else ', '.join(names)}"
            for reason, names in by_reason.items()
        ]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule saw at one node, from which step on; ``name`` is what it calls the tensor."""

    node: Node
    step: int
    text: str
    evidence: tuple[str, ...] = ()
    frame: Frame | None = None  # where it is not the node's own line


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    why: str
    fix: str
    steps: int
    find: Callable[[Training], Iterable[Finding]]


_rules: dict[str, Rule] = {}


def rule(name: str, *, why: str, fix: str, steps: int) -> Callable:
    """Registers a rule that needs ``steps`` training steps at least (0: none)."""

    def register(find: Callable[[Training], Iterable[Finding]]) -> Callable[[Training], Iterable[Finding]]:
        _rules[name] = Rule(name, why, fix, steps, find)
        return find

    return register


def all_rules() -> list[Rule]:
    for name in NAMES:
        import_module(f"{__name__}.{name}")
    return [_rules[name] for name in NAMES]


def find_health(
    trace: Trace,
    rows: Rows,
    coverage: Coverage,
    ignore: Collection[str] = (),
    first_bad: Mapping[int, int] | None = None,
) -> Health:
    """Asks every rule; of a process in ``first_bad`` only what came before that step, for all else is contaminated."""
    reason = _reason_for_none(coverage)
    if reason:
        return Health((), (), {name: reason for name in NAMES if name not in ignore})
    skipped: dict[str, str] = {}
    asked: set[str] = set()
    alerts: dict[tuple, Alert] = {}
    for process in range(len(trace.processes)):
        training = Training(trace, rows, process, (first_bad or {}).get(process))
        for one in all_rules():
            if one.name in ignore:
                continue
            found = _ask(one, training, skipped)
            if found is not None:
                asked.add(one.name)
            for alert in found or ():
                alerts.setdefault((alert.rule, alert.file, alert.line), alert)
    order = {name: at for at, name in enumerate(NAMES)}
    ordered = sorted(alerts.values(), key=lambda alert: (order[alert.rule], alert.step))
    told = {alert.rule for alert in ordered}
    not_asked = {name: text for name, text in skipped.items() if name not in told}
    return Health(tuple(ordered), tuple(name for name in NAMES if name in asked), not_asked)


def _reason_for_none(coverage: Coverage) -> str:
    if not set(coverage.modes) & {"numerics", "full"}:
        return f"mode {', '.join(coverage.modes)} keeps no numbers; record with --mode numerics"
    if coverage.is_partial:
        return "a filter left out some ops"
    return ""


def _ask(one: Rule, training: Training, skipped: dict[str, str]) -> list[Alert] | None:
    """Asks one rule; None when it could not be asked."""
    if training.problem:
        skipped.setdefault(one.name, training.problem)
        return None
    seen = len(training.steps)
    if seen < one.steps:
        found = f"only {seen} training step{'s' if seen > 1 else ''}" if seen else "no gradient was computed"
        skipped.setdefault(one.name, f"{found}; it needs {one.steps}")
        return None
    try:
        findings = list(one.find(training))
    except Exception as error:
        if os.environ.get("TDBG_STRICT") == "1":
            raise
        skipped[one.name] = f"it failed, which is a bug in tdbg ({type(error).__name__}: {error})"
        return None
    return _alerts(one, training, findings)


def _alerts(one: Rule, training: Training, findings: list[Finding]) -> list[Alert]:
    """Makes one for each line: layers that a library makes share the user's line that called it."""
    places: dict[tuple, list[tuple[Finding, Frame | None]]] = {}
    for finding in findings:
        frame = finding.frame or training.frame(finding.node)
        if frame is not None and is_ignored(training.program, frame, one.name):
            continue
        key = (frame.file, frame.line) if frame else (training.name(finding.node),)
        places.setdefault(key, []).append((finding, frame))
    alerts = []
    for same in places.values():
        first, frame = min(same, key=lambda pair: pair[0].step)
        evidence = list(first.evidence)
        others = [finding.text for finding, _ in same if finding.text != first.text]
        evidence += [f"also: {text}" for text in others[:_MOST_NAMES]]
        if len(others) > _MOST_NAMES:
            evidence.append(f"and {len(others) - _MOST_NAMES} more like it")
        alerts.append(
            Alert(
                one.name,
                frame.file if frame else None,
                frame.line if frame else None,
                int(first.step),
                first.text,
                one.why,
                tuple(evidence),
                training.dialect(first.node).fill(one.fix),
                training.program.line_text(frame) if frame else "",
            )
        )
    return alerts


def is_ignored(program: Program, frame: Frame, name: str) -> bool:
    """Whether the user's line, or the statement around it, says ``# tdbg: ignore[name]``."""
    for match in _COMMENT.finditer(program.line_text(frame) + "\n" + program.statement_text(frame)):
        names = {word.strip() for word in match[1].split(",")} if match[1] is not None else {name}
        if name in names:
            return True
    return False
