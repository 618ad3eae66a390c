"""Ctrl-C works in the programs that tests start, also where the tests run in the background, which ignores it.

With TDBG_ORDER=reversed the last test comes first; with TDBG_ORDER=7, or another number, files and the tests in them
come in an order of that number. A test that needs what an earlier one left behind fails then."""

from __future__ import annotations

import os
import random
import signal

import pytest

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = os.environ.get("TDBG_ORDER", "")
    if order == "reversed":
        items.reverse()
    elif order:
        dice = random.Random(order)
        of_file = {path: dice.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: (of_file[item.path], dice.random()))
