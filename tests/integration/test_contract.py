"""A framework is one folder that implements the contract: here numpy's functions, by tests/numpy_adapter."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from recorded_run import line_with

import tdbg
from tdbg import frameworks
from tdbg.capture.recording import Recording
from tdbg.errors import TdbgError
from tdbg.query.verdict.text import full_lines
from tdbg.query.verdict.verdict import explain


@pytest.fixture(autouse=True)
def numpy_is_a_framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    caches = (frameworks.dialects, frameworks.packages, frameworks.dialect_of)
    with monkeypatch.context() as patch:
        patch.setitem(frameworks.FRAMEWORKS, "numpy", "numpy_adapter")
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()


@np.errstate(all="ignore")
def entropy(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits)
    shares = np.divide(weights, np.sum(weights))
    information = np.log(shares)  # the log
    return np.sum(np.multiply(shares, information))


def recorded(path: Path) -> tdbg.query.trace.trace.Trace:
    with tdbg.watch(path):
        entropy(np.array([0.0, -800.0, 1.0]))
    return tdbg.open(path)


def test_a_program_of_another_framework_gets_its_verdict(tmp_path: Path) -> None:
    trace = recorded(tmp_path / "run.tdbg")
    verdict = explain(trace)
    [origin] = verdict.origins
    assert (origin.cause.name, origin.op.type, origin.op.framework) == ("log_of_zero", "log", "numpy")
    assert origin.frame is not None
    assert (origin.frame.file, origin.frame.line) == (__file__, line_with(__file__, "the log"))
    text = "\n".join(full_lines(verdict))
    assert "element [1]: log(0); the 0 came from divide" in text
    assert "tf." not in text and "TensorFlow" not in text


def test_the_fix_is_in_its_words_and_was_tried(tmp_path: Path) -> None:
    [origin] = explain(recorded(tmp_path / "run.tdbg")).origins
    assert origin.cause.fix is not None and origin.cause.fix.trial is not None
    assert "information = np.log(np.maximum(shares, " in origin.cause.fix.code


def test_functions_are_as_before_when_the_recording_ends(tmp_path: Path) -> None:
    plain = np.log
    recorded(tmp_path / "run.tdbg")
    assert np.log is plain


def test_two_frameworks_in_one_recording(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    with tdbg.watch(tmp_path / "run.tdbg"):
        logits = tf.constant([0.0, -800.0, 1.0]) * 1.0
        entropy(logits.numpy())
        tf.math.sqrt(logits)
    trace = tdbg.open(tmp_path / "run.tdbg")
    ops = trace.table("ops").to_pylist()
    assert {row["framework"] for row in ops} == {"numpy", "tensorflow"}
    assert len({row["op"] for row in ops}) == len(ops)  # one count for both
    causes = {(origin.op.framework, origin.cause.name) for origin in explain(trace).origins}
    assert causes == {("numpy", "log_of_zero"), ("tensorflow", "sqrt_of_negative")}


def test_a_framework_that_fails_leaves_none_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes after one that is listened to already: nothing would ever end that recording."""
    listener = ModuleType("too_old.listener")
    listener.versions = lambda: {"too_old": "1"}  # type: ignore[attr-defined]
    listener.start = _refuses  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "too_old", ModuleType("too_old"))
    monkeypatch.setitem(sys.modules, "too_old.listener", listener)
    monkeypatch.setitem(frameworks.FRAMEWORKS, "too_old", "too_old")
    plain = np.log
    with pytest.raises(TdbgError, match="too old"):
        tdbg.enable(tmp_path / "run.tdbg")
    assert np.log is plain
    assert not tdbg.recording.is_recording()
    assert "tdbg-writer" not in {thread.name for thread in threading.enumerate()}


def _refuses(recording: Recording) -> None:
    raise TdbgError("this version is too old")
