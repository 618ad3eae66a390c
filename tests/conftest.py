"""Ctrl-C works in the programs that tests start, also where the tests run in the background, which ignores it.

With TDBG_REVERSED=1 the last test comes first: a test that needs what an earlier one left behind fails then."""

from __future__ import annotations

import os
import signal

import pytest

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TDBG_REVERSED"):
        items.reverse()
