"""Ctrl-C works in the programs that tests start, also where the tests run in the background, which ignores it."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
