"""Makes one frozen Config of what the user asked for: arguments and the TDBG_* variables, all of which are listed here.

TDBG_MODE      none, health (default with check), numerics (default), shape, full or edges
TDBG_OUTPUT    where the trace goes
TDBG_BREAK     a condition that holds the program, such as nan > 0; as --break
TDBG_IGNORE    health rules that tdbg run and tdbg why do not ask, separated by commas
TDBG_STATE     folder for the settings and the history of the debugger's prompt
TDBG_NATIVE    0 switches the compiled extension off
TDBG_STRICT    1 raises tdbg's own faults instead of counting them; for tdbg's tests
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tdbg.errors import TdbgError
from tdbg.expressions import parse
from tdbg.model import Mode

HOLD_SIGNALS = ("USR1", "USR2")  # that programs leave to their users


@dataclass(frozen=True, slots=True)
class Config:
    """What to record and where. Filters are regular expressions, searched anywhere in the text.

    Debugger V2's own: ``op_regex`` is matched at the beginning of the op type, ``every_op`` records each op that it
    records, in its way, and ``debug_mode`` is the name of its mode.
    """

    mode: Mode = Mode.NUMERICS
    output: Path | None = None
    ops: str | None = None
    names: str | None = None
    dtypes: str | None = None
    files: str | None = None
    op_regex: str | None = None
    first_step: int = 0
    last_step: int | None = None
    every: int = 1
    ring: int = 0
    values_when_bad: bool = True
    drop_when_full: bool = False
    check: bool = False  # stop the program at the first bad value
    break_on: tuple[str, ...] = ()  # hold the program where one of these conditions is met
    hold_on: str | None = None  # the signal that holds the program: USR1 or USR2
    xla: str = "off"  # "keep": functions that XLA compiles stay compiled and are seen from outside only
    exact: bool = False  # functions run as TensorFlow rewrites them, and are looked at so
    queue_events: int = 1 << 16
    flush_seconds: float = 0.1
    segment_bytes: int = 32 << 20
    strict: bool = False
    every_op: bool = False
    debug_mode: str | None = None

    @property
    def records(self) -> bool:
        """False when no step at all is recorded: then a program can still be checked."""
        return self.last_step != 0

    @property
    def observes_functions(self) -> bool:
        """Whether observers are put into the functions that the program traces."""
        return self.records and self.mode != Mode.EDGES and not self.exact

    @property
    def mode_name(self) -> str:
        return self.mode.label


def _mode(text: str | Mode) -> Mode:
    if isinstance(text, Mode):
        return text
    try:
        return Mode[str(text).upper()]
    except KeyError:
        known = ", ".join(mode.label for mode in Mode)
        raise TdbgError(f"unknown mode {text!r}; choose one of: {known}") from None


def parse_steps(text: str) -> tuple[int, int | None]:
    """``A:B`` (A up to, not including, B; either may be missing) or one number."""
    match = re.fullmatch(r"(\d*):(\d*)|(\d+)", text.strip())
    if not match or text.strip() == ":":
        raise TdbgError(f"steps {text!r} is not a range; write A:B, A:, :B or one number, for example --steps 100:200")
    if match[3]:
        return int(match[3]), int(match[3]) + 1
    first, last = int(match[1] or 0), int(match[2]) if match[2] else None
    if last is not None and last <= first:
        raise TdbgError(f"steps {text!r} is an empty range: its end must be larger than its start")
    return first, last


def _conditions(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _check(config: Config) -> Config:
    for name in ("ops", "names", "dtypes", "files", "op_regex"):
        pattern = getattr(config, name)
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise TdbgError(f"--{name} {pattern!r} is not a regular expression: {error}") from None
    if config.every < 1:
        raise TdbgError(f"every {config.every}: recording every N-th step needs N to be at least 1")
    if config.ring < 0 or 0 < config.ring < 64:
        raise TdbgError(f"ring {config.ring}: a ring keeps the last N events, and N must be at least 64")
    if config.xla not in ("off", "keep"):
        raise TdbgError(f"unknown choice {config.xla!r} for xla; choose one of: off, keep")
    if config.mode == Mode.EDGES and config.check:
        raise TdbgError("mode edges does not look inside functions, where check works; use one or the other")
    if config.mode == Mode.EDGES and config.break_on:
        raise TdbgError("mode edges does not look inside functions, where break works; use one or the other")
    if config.exact and config.mode == Mode.EDGES:
        raise TdbgError("mode edges does not look inside functions, where exact works; use one or the other")
    if config.exact and (config.check or config.break_on):
        other = "check" if config.check else "break"
        raise TdbgError(f"exact runs what the plain program runs, and {other} stops it; use one or the other")
    if config.hold_on is not None and config.hold_on not in HOLD_SIGNALS:
        raise TdbgError(f"unknown signal {config.hold_on!r} for hold_on; choose one of: {', '.join(HOLD_SIGNALS)}")
    for condition in config.break_on:
        parse(condition)
    return config


def make_config(**options: Any) -> Config:
    """A Config from keyword options (``steps="10:20"`` and ``mode="health"`` as text are fine) over the environment."""
    known = {field.name for field in fields(Config)} | {"steps"}
    unknown = set(options) - known
    if unknown:
        raise TdbgError(f"unknown option {sorted(unknown)[0]!r}; the options are: {', '.join(sorted(known))}")
    given = {name: value for name, value in options.items() if value is not None}
    if "steps" in given:
        steps = given.pop("steps")
        given["first_step"], given["last_step"] = parse_steps(steps) if isinstance(steps, str) else steps
    usual = Mode.HEALTH if given.get("check") else Mode.NUMERICS  # what stops the program is measured all the same
    given["mode"] = _mode(given["mode"] if "mode" in given else os.environ.get("TDBG_MODE") or usual)
    given["break_on"] = _conditions(given["break_on"] if "break_on" in given else os.environ.get("TDBG_BREAK") or ())
    output = given.get("output") or os.environ.get("TDBG_OUTPUT")
    given["output"] = Path(output) if output else None
    given.setdefault("strict", os.environ.get("TDBG_STRICT") == "1")
    return _check(replace(Config(), **given))
