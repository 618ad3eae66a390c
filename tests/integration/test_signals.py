"""Exceptions of the program that strike inside tdbg: of signal handlers, and asked for from another thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tdbg
from tdbg.capture import faults
from tdbg.query.trace.trace import Trace

# The handler raises only where it interrupts tdbg's own code: TensorFlow itself loses exceptions at some of its lines.
STRIKES = """\
import ctypes, signal, threading
import tensorflow as tf

class Timeout(Exception):
    pass

COUNT = 200
struck = caught = 0

def late(signum, frame):
    global struck
    if frame.f_globals["__name__"].startswith("tdbg."):
        struck += 1
        raise Timeout
    signal.setitimer(signal.ITIMER_REAL, 0.00005)

signal.signal(signal.SIGALRM, late)
x, b, text = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0], tf.bfloat16), tf.constant(["a"])

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.square(x) + x)

def each_way():
    tf.raw_ops.AddV2(x=x, y=x)
    loss(x)
    tf.raw_ops.AddV2(x=b, y=b)
    tf.raw_ops.StringLength(input=text)

each_way()
while struck < COUNT:
    before = struck
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.00005)
        while struck == before:
            each_way()
    except Timeout:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(struck, caught)
for _ in range(5):
    loss(x)
print(float(loss(x)))
"""


def test_none_of_200_timeouts_inside_tdbg_is_lost(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(STRIKES)
    environment = {**os.environ, "PYTHONPATH": str(Path(tdbg.__file__).parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-m", "tdbg", "run", "-o", "run.tdbg", "train.py"]
    result = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert (result.returncode, result.stdout) == (0, "200 200\n8.0\n"), result.stderr
    assert "fault" not in result.stderr
    # every event inside the function belongs to the call that it was computed for, also after those that were struck
    trace = Trace.open(tmp_path / "run.tdbg")
    ops = {row["op"]: row["type"] for row in trace.table("ops").to_pylist()}
    squares = [row["execution"] for row in trace.table("tensors").to_pylist() if ops[row["op"]] == "Square"]
    assert len(squares) == len(set(squares))
    failed = {row["execution"] for row in trace.table("ends").to_pylist() if row["failed"]}
    assert not failed & set(squares[-6:])
    graphs = {row["execution"] for row in trace.table("executions").to_pylist() if row["graph"] >= 0}
    assert graphs == {row["execution"] for row in trace.table("ends").to_pylist()} & graphs


SPIN = """\
import ctypes, threading
from tdbg.capture import faults

def spin():
    while True:
        pass

def fail(value):
    return 1 / value

def asked(kind):
    try:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(kind))
        spin()
    except Exception as error:
        return faults.is_the_programs(error)
"""


class Asked(Exception):
    """Of this program, not of a library."""


def raised_by(function: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        function()
    return caught.value


def test_what_is_the_programs_and_what_is_a_fault() -> None:
    in_tdbg: dict[str, Any] = {"__name__": "tdbg.spin"}
    exec(SPIN, in_tdbg)

    def raises(*_: Any) -> None:
        raise ValueError("from a handler")

    class Handler:
        def __call__(self, number: int, frame: Any) -> None:
            raises()

    def forgets(number: int, frame: Any) -> None:
        del frame
        raises()

    before = signal.getsignal(signal.SIGALRM)
    try:
        for handler in (raises, Handler(), forgets, lambda *_: 1 / 0):
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            assert faults.is_the_programs(raised_by(in_tdbg["spin"]))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not faults.is_the_programs(raised_by(lambda: in_tdbg["fail"](0)))
    assert in_tdbg["asked"](Asked)
    assert not faults.is_the_programs(raised_by(lambda: raises()))
