"""These tests need tf.estimator, which ended with TensorFlow 2.15; in any other environment none is collected."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
collect_ignore_glob = [] if find_spec("tensorflow_estimator") else ["test_*.py"]
sys.path[:0] = [str(HERE / "programs"), str(HERE.parent / "integration")]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives the debugger's prompt these commands, then the end of the input."""

    def type_in(*commands: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{command}\n" for command in commands)))

    return type_in
