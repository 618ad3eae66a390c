"""A worker for jobs that are stopped."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tdbg.shell.screen.worker import Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    """Without garbage collection until it is gone: a stop that comes inside a callback of the collector, and hypothesis
    has one, is lost there, and pytest complains."""
    gc.disable()
    try:
        worker = Worker()
        yield worker
        worker.close()
        worker._thread.join(60)
    finally:
        gc.enable()
