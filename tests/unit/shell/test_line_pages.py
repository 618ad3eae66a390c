"""Pages, the worker and the search behind the screen: nothing waits, and nothing is read that is not seen."""

import sys
import threading
import time

import pytest
from screen_pilot import Rows

from tdbg.shell.layout import Layout
from tdbg.shell.result import Column, Result, Table, plain, text
from tdbg.shell.screen.line_pages import SIZE, LinePages
from tdbg.shell.screen.search import Search
from tdbg.shell.screen.worker import Stopped

PATIENCE = 30  # seconds


def held_worker(worker):
    """It is busy from now on, until the event is set."""
    began, held = threading.Event(), threading.Event()

    def wait():
        began.set()
        held.wait()

    worker.submit(wait)
    assert began.wait(PATIENCE)
    return held


def table(rows):
    return Layout(Result([Table([Column("row", "row"), Column("tensor", "tensor")], rows)]), 80)


def test_only_what_is_seen_is_read(worker):
    rows, ready = Rows(), threading.Event()
    pages = LinePages(table(rows), worker, ready.set)
    assert len(pages) == 10_000_001
    assert pages.line(9_000_000) is None
    assert ready.wait(10)
    assert "node_8999999:0" in plain(pages.line(9_000_000))
    assert rows.asked < 50 * SIZE


def test_who_scrolls_fast_gets_the_last_pages(worker):
    rows, held, ready = Rows(), held_worker(worker), threading.Event()
    pages = LinePages(table(rows), worker, ready.set)
    before = rows.asked
    for number in range(0, 1_000_000, SIZE):
        assert pages.line(number) is None
    held.set()
    until = time.monotonic() + PATIENCE
    while pages.line(1_000_000 - SIZE) is None:
        assert time.monotonic() < until
        time.sleep(0.001)
    assert rows.asked - before < 20 * SIZE


def test_no_page_is_forgotten_however_threads_take_turns(worker):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        ready = threading.Event()
        pages = LinePages(table(Rows()), worker, ready.set)
        for number in range(0, 300 * SIZE, SIZE):
            until = time.monotonic() + PATIENCE
            while pages.line(number) is None:
                pages.line(number + 1000 * SIZE)
                assert time.monotonic() < until, f"line {number} never comes"
    finally:
        sys.setswitchinterval(before)


def test_jobs_are_done_in_order_and_those_that_are_waited_for_first(worker):
    held, done = held_worker(worker), []
    worker.submit(lambda: done.append("second"))
    last = worker.submit(lambda: done.append("third"))
    worker.submit(lambda: done.append("first"), first=True)
    held.set()
    last.result(10)
    assert done == ["first", "second", "third"]


def test_a_job_is_stopped_and_the_next_one_is_done(worker):
    began = threading.Event()

    def forever():
        began.set()
        while True:
            time.sleep(0.001)

    job = worker.submit(forever)
    waiting = worker.submit(lambda: 1)
    began.wait(10)
    worker.interrupt(waiting)
    worker.interrupt(job)
    with pytest.raises(Stopped):
        job.result(10)
    assert waiting.cancelled()
    assert worker.submit(lambda: 2).result(10) == 2


def test_a_job_that_fails_is_its_own(worker):
    with pytest.raises(ZeroDivisionError):
        worker.submit(lambda: 1 / 0).result(10)
    assert worker.submit(lambda: 2).result(10) == 2
    worker.close()
    assert worker.submit(lambda: 3).cancelled()


def test_a_search_counts_as_it_goes():
    rows = Rows(5000)
    search = Search("node_(7|4999|3):", table(rows))
    search.look()
    assert (search.matches, search.is_done) == ([4, 8], False)
    assert search.place(8) == "2 of 2+"
    while not search.is_done:
        search.look()
    assert search.matches == [4, 8, 5000]
    assert (search.after(8, 1), search.after(5000, 1), search.after(4, -1), search.after(8, -1)) == (5000, 4, 5000, 4)
    assert (search.place(5000), search.place(17)) == ("3 of 3", "3")
    assert Search("x", Layout(Result([text("a", "b")]))).after(0, 1) is None
