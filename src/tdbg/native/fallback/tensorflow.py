"""Answers for TensorFlow's native ops: there are none, and Sessions are looked at from outside."""

from __future__ import annotations

import os
from typing import Any


def register_tensorflow(library: str) -> str | None:
    """Says why there are no native TensorFlow ops."""
    return f"tdbg runs without its compiled extension, which holds the ops for {os.path.basename(library)}"


def set_session(resolve: Any) -> None:
    """Nobody asks."""


def session_end(execution: int) -> None:
    """Nothing was held."""


def not_held() -> int:
    return 0


def not_dumped() -> tuple[int, int]:
    """TensorFlow itself dumps."""
    return 0, 0
