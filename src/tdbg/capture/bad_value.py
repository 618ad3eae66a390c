"""Decides whether an op made its bad value, and writes the message that stops the program."""

from __future__ import annotations

import linecache
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tdbg.model import DType, Frame, Phase, Summary, bad_text


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the stack a message shows."""

    stack_height: int | None = 30
    path_length: int | None = 50


@dataclass(frozen=True, slots=True)
class Fact:
    """One tensor's type, shape and numbers. Of a tensor that is no longer there only ``magnitude`` may be known: all
    its elements are finite, and none is greater."""

    dtype: DType
    dims: tuple[int, ...]
    numbers: Summary
    magnitude: float = math.nan

    def as_text(self) -> str:
        return f"{self.dtype.label}, shape {self.dims}"

    def bad_text(self) -> str:
        numbers = self.numbers
        found = bad_text(numbers.nan, numbers.neg_inf, numbers.pos_inf)
        return f"{found} of {numbers.elements:,}" if found else ""

    def numbers_text(self) -> str:
        numbers = self.numbers
        if not math.isnan(self.magnitude):
            return f"all finite, at most {self.magnitude:.6g} in magnitude" if numbers.elements else "empty"
        texts = []
        if numbers.negative or numbers.zero or numbers.positive:
            texts.append(f"min {numbers.min:.6g}, max {numbers.max:.6g}, {numbers.zero:,} of {numbers.elements:,} zero")
        elif not numbers.elements:
            texts.append("empty")
        texts.append(self.bad_text())
        return ", ".join(text for text in texts if text)


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the op, and where it came from."""

    index: int
    fact: Fact
    origin: str  # "from AddV2", "an argument", "given"
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class BadValue:
    """An op's output that is bad although what went in was not."""

    kind: str  # the op's type
    name: str
    slot: int
    output: Fact
    inputs: Sequence[Input]
    stack: Sequence[Frame]  # the outermost first
    phase: Phase = Phase.FORWARD
    forward: Frame | None = None  # of a gradient: the line that is differentiated
    forward_kind: str = ""
    iteration: int = -1
    where: str = "eager"  # or the graph's name
    more_inputs: int = 0  # that are not in ``inputs``


def is_made(output: Summary, inputs: Iterable[Summary]) -> bool:
    """A bad value out of good ones: NaN where none went in, or infinity where only finite numbers did."""
    inputs = list(inputs)
    if any(numbers.nan for numbers in inputs):
        return False
    return bool(output.nan) if any(numbers.is_bad for numbers in inputs) else output.is_bad


def message(bad: BadValue, limits: Limits) -> str:
    """Begins with what happened and the user's line, ends with the stack."""
    first = f"tdbg: {bad.kind} made {bad.output.bad_text()} from {_goodness(bad)}{_in_phase(bad)}"
    return "\n".join([first, *_facts(bad, limits), *_in_tensorflows_words(bad), *stack_lines(bad.stack, limits)])


def _in_tensorflows_words(bad: BadValue) -> list[str]:
    """What ``tf.debugging.enable_check_numerics`` says of this: scripts and tests look for these words in an error."""
    kind = "eagerly-executing" if bad.where == "eager" else "graph"
    numbers = bad.output.numbers
    counts = (("-Inf", numbers.neg_inf), ("+Inf", numbers.pos_inf), ("+NaN", numbers.nan))
    told = [f"dtype: {bad.output.dtype.label}", f"shape: {bad.output.dims}"]
    told += [f"# of {name} elements: {count}" for name, count in counts if count]
    told += [] if bad.where == "eager" else [f'Graph name: "{bad.where}"']
    first = f'    Detected Infinity or NaN in output {bad.slot} of {kind} op "{bad.kind}"'
    return [first, *(f"      {line}" for line in told)]


def details(bad: BadValue, limits: Limits) -> list[str]:
    """The user's line, the output, the inputs and the stack."""
    return [*_facts(bad, limits), *stack_lines(bad.stack, limits)]


def _facts(bad: BadValue, limits: Limits) -> list[str]:
    user = next((frame for frame in reversed(bad.stack) if frame.is_user), None)
    named = f'{bad.kind} "{bad.name}"' if bad.name != bad.kind else bad.kind
    lines = []
    if user is not None:
        lines.append(f" -> {_place(user, limits)}{_code(user)}")
    if bad.forward is not None:
        lines.append(f"    the gradient of {bad.forward_kind} at {_place(bad.forward, limits)}{_code(bad.forward)}")
    loop = f", iteration {bad.iteration}" if bad.iteration >= 0 else ""
    where = bad.where if bad.where == "eager" else f"graph {bad.where}"
    lines.append(f"    output {bad.slot} of {named}: {bad.output.as_text()} ({where}{loop})")
    rest = bad.output.numbers
    if rest.is_bad and (rest.negative or rest.zero or rest.positive):
        lines.append(f"        its finite part: min {rest.min:.6g}, max {rest.max:.6g}")
    for given in bad.inputs:
        line = f", {_place(given.frame, limits)}" if given.frame is not None else ""
        lines.append(
            f"    input {given.index}: {given.fact.as_text()}: {given.fact.numbers_text()}; {given.origin}{line}"
        )
    if bad.more_inputs:
        lines.append(f"    and {bad.more_inputs} more inputs")
    return lines


def _goodness(bad: BadValue) -> str:
    if any(given.fact.numbers.is_bad for given in bad.inputs):
        return "values without NaN"
    return "finite values"


def _in_phase(bad: BadValue) -> str:
    return {Phase.BACKWARD: " in a gradient", Phase.UPDATE: " in an update"}.get(bad.phase, "")


def stack_lines(stack: Sequence[Frame], limits: Limits) -> list[str]:
    if not stack:
        return []
    shown = list(stack if limits.stack_height is None else stack[len(stack) - min(limits.stack_height, len(stack)) :])
    left_out = f", {len(stack) - len(shown)} outer ones left out" if len(shown) < len(stack) else ""
    lines = [f"    Stack trace of op's creation, the innermost call last (-> is your code{left_out}):"]
    for frame in shown:
        lines.append(
            f"    {'->' if frame.is_user else '  '} {_place(frame, limits)}{_code(frame) if frame.is_user else ''}"
        )
    return lines


def _place(frame: Frame, limits: Limits) -> str:
    path = frame.file
    if frame.is_user and path.startswith(os.getcwd() + os.sep):
        path = os.path.relpath(path)
    if limits.path_length is not None and len(path) > limits.path_length:
        path = "..." + path[-limits.path_length :]
    return f"{path}:{frame.line} in {frame.function.rpartition('.<locals>.')[2]}"


def _code(frame: Frame) -> str:
    text = linecache.getline(frame.file, frame.line).strip()
    return f"  {text}" if text else ""
