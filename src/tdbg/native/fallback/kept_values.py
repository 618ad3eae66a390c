"""Queues arrays that are kept whole for the writer, within limits, as native/ring/kept_values.c does."""

from __future__ import annotations

import threading
from collections import Counter, deque

import numpy as np

from tdbg.native.fallback.ring import LONGEST_WAIT

Value = tuple[int, int, tuple[int, ...], bytes]  # token, dtype, dims, bytes


class KeptValues:
    """A queue bounded by bytes; values kept because they are bad are bounded once more, in all and for each op."""

    def __init__(self) -> None:
        self.dropped = 0
        self._next_token = 1
        self.set_limits(256 << 20, 256 << 20, 2)
        self.forget()

    def set_limits(self, queue_bytes: int, bad_bytes: int, per_op: int) -> None:
        self._queue_limit, self._bad_bytes_left, self._per_op = queue_bytes, bad_bytes, per_op
        self._kept: Counter[int] = Counter()

    def forget(self) -> None:
        """Drops what is queued; in a forked child it is the parent's."""
        self._queue: deque[Value] = deque()
        self._queued_bytes = 0
        self._stuck = False
        self._room = threading.Condition(threading.RLock())

    def allows(self, op: int) -> bool:
        """Whether one more bad value of this op may be kept; counts it."""
        with self._room:
            allowed = self._bad_bytes_left > 0 and self._kept[op] < self._per_op
            self._kept[op] += allowed
            return allowed

    def keep(self, array: np.ndarray, dtype: int, must_wait: bool) -> int:
        """The value's token; 0 when it was dropped. ``must_wait``: it was asked for, and is not only kept as bad."""
        with self._room:
            if (not must_wait and array.nbytes > self._bad_bytes_left) or not self._has_room(array.nbytes, must_wait):
                self.dropped += 1
                return 0
            if not must_wait:
                self._bad_bytes_left -= array.nbytes
            self._queued_bytes += array.nbytes
            token, self._next_token = self._next_token, self._next_token + 1
            self._queue.append((token, dtype, array.shape, array.tobytes()))
            return token

    def _has_room(self, size: int, may_wait: bool) -> bool:
        def fits() -> bool:
            return self._queued_bytes == 0 or self._queued_bytes + size <= self._queue_limit

        if may_wait and not self._stuck:
            self._stuck = not self._room.wait_for(fits, LONGEST_WAIT)
        return fits()

    def take(self) -> Value | None:
        with self._room:
            if not self._queue:
                return None
            value = self._queue.popleft()
            self._queued_bytes -= len(value[3])
            self._stuck = False
            self._room.notify_all()
            return value


values = KeptValues()


def take_value() -> Value | None:
    return values.take()
