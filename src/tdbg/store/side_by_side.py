"""Calls a function with many arguments on several threads, where there may be any; results come in order.

Not a pool of ``concurrent.futures``: that takes nothing any more once the main code of a program has ended, while its
threads and its atexit handlers still run; and from Python 3.12 on, no thread at all can be started by then.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Argument = TypeVar("Argument")
Found = TypeVar("Found")

_MOST_THREADS = 8


def side_by_side(function: Callable[[Argument], Found], arguments: Sequence[Argument]) -> list[Found]:
    """What the first failing call raises is raised here, when all have ended."""
    results: dict[int, Found] = {}
    failures: dict[int, BaseException] = {}
    waiting = list(reversed(list(enumerate(arguments))))

    def work() -> None:
        while not failures:
            try:
                at, argument = waiting.pop()  # atomic, unlike asking first whether there is one
            except IndexError:
                return
            try:
                results[at] = function(argument)
            except BaseException as error:
                failures[at] = error

    threads = _started(work, min(_MOST_THREADS, os.cpu_count() or 1, len(arguments)) - 1)
    work()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[at] for at in range(len(arguments))]


def _started(work: Callable[[], None], count: int) -> list[threading.Thread]:
    """As many as there can be."""
    threads: list[threading.Thread] = []
    for _ in range(count):
        thread = threading.Thread(target=work, name="tdbg-reader", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, or there is no memory for its stack
            break
        threads.append(thread)
    return threads
