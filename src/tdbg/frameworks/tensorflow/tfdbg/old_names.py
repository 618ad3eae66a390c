"""Takes arguments by the names that programs for TensorFlow 1 use, and passes them on by those of today."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tdbg.capture import faults

_OLD_ENDS = {"_regex_whitelist": "_regex_allowlist", "_regex_blacklist": "_regex_denylist"}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def takes_old_names(function: _Function) -> _Function:
    """Lets a function be called with ``…_regex_whitelist``, ``…_regex_blacklist`` and ``log_usage``, which TensorFlow
    1.15 still had. The last was about Google's own statistics, and does nothing."""

    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        given.pop("log_usage", None)
        return function(*args, **{_name_of_today(name): value for name, value in given.items()})

    return called  # type: ignore[return-value]


def say_left_out(name: str, where: str, instead: str) -> None:
    faults.say(f"{where} does not take {name}, which is ignored; {instead}")


def _name_of_today(name: str) -> str:
    for old, new in _OLD_ENDS.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
