"""Jobs of the screen: one after another, and each may be stopped without hurting the next."""

from __future__ import annotations

import itertools
import random
import sys
import threading
import time
from collections import Counter

import duckdb
import pytest

from tdbg.query.trace.trace import Trace
from tdbg.shell.screen.worker import Stopped
from tdbg.store.writer import TraceWriter

PATIENCE = 60


@pytest.fixture
def quick_turns():
    """Threads take turns so often that a stop comes at every place there is."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_stop_at_any_moment_stops_its_own_job_only(worker, quick_turns):
    dice = random.Random(0)
    outcomes = Counter()
    for number in range(3000):
        began: list[int] = []
        turns = itertools.count() if number % 100 == 0 else range(dice.randrange(2000))  # some must be stopped

        def count(began=began, turns=turns) -> None:
            began.append(1)
            sum(one for one in turns)

        job = worker.submit(count)
        while not began:
            pass
        worker.interrupt(job)
        after = worker.submit(lambda number=number: number)
        outcomes["cancelled" if job.cancelled() else type(job.exception(PATIENCE)).__name__] += 1
        assert after.result(PATIENCE) == number
    assert outcomes["Stopped"] >= 30
    assert outcomes.total() == outcomes["Stopped"] + outcomes["NoneType"]


def test_a_job_that_asks_duckdb_is_stopped(worker, tmp_path):
    TraceWriter(tmp_path / "run.tdbg", {"mode": "numerics"}).close({})
    connection = Trace.open(tmp_path / "run.tdbg").connect()
    began = threading.Event()

    def ask() -> None:
        began.set()
        connection.execute("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b").fetchall()

    job = worker.submit(ask)
    assert began.wait(PATIENCE)
    time.sleep(0.2)
    worker.interrupt(job)
    assert isinstance(job.exception(PATIENCE), Stopped | duckdb.Error)
    assert worker.submit(lambda: connection.execute("SELECT 1").fetchone()).result(PATIENCE) == (1,)


def test_what_waits_is_cancelled_and_what_runs_is_stopped_at_the_end(worker):
    began = threading.Event()

    def forever() -> None:
        began.set()
        while True:
            time.sleep(0.001)

    running, waiting = worker.submit(forever), worker.submit(int)
    assert began.wait(PATIENCE)
    worker.close()
    assert isinstance(running.exception(PATIENCE), Stopped)
    assert waiting.cancelled()
    assert worker.submit(int).cancelled()
