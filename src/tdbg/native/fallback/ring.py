"""Holds records from any thread, in order, for one reader, as native/ring/ring.c does.

The locks are re-entrant, because the garbage collector may run in the middle of a push and delete a variable, which is
an op, which is an event.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections import deque
from typing import Protocol

import numpy as np

from tdbg.native.record import READY, RECORD, RING_HEADER, RING_HEADER_BYTES, RING_MAGIC, RING_VERSION

LONGEST_WAIT = 2.0  # seconds that a producer waits for the reader before it drops


class Ring(Protocol):
    """``push`` takes a record without its ``ready``; ``drain`` gives whole ones, as bytes."""

    dropped: int
    waits: int

    @property
    def produced(self) -> int: ...
    @property
    def pending(self) -> int: ...
    def push(self, body: bytes) -> None: ...
    def drain(self, most: int) -> bytes: ...
    def after_fork(self) -> None: ...


class BoundedRing:
    """Holds up to ``capacity`` records in memory. When it is full, producers wait if they may, and else drop."""

    def __init__(self, capacity: int, block: bool) -> None:
        self._capacity, self._block = capacity, block
        self._bodies: deque[bytes] = deque()
        self._taken = 0
        self._stuck = False  # the reader did not come in time: drop at once until it does
        self._room = threading.Condition(threading.RLock())
        self.dropped = self.waits = 0

    @property
    def produced(self) -> int:
        with self._room:
            return self._taken + len(self._bodies)

    @property
    def pending(self) -> int:
        return len(self._bodies)

    def push(self, body: bytes) -> None:
        with self._room:
            if self._has_room() or self._wait():
                self._bodies.append(body)
            else:
                self.dropped += 1

    def _has_room(self) -> bool:
        return len(self._bodies) < self._capacity

    def _wait(self) -> bool:
        if self._block and not self._stuck:
            self.waits += 1
            self._stuck = not self._room.wait_for(self._has_room, LONGEST_WAIT)
        return self._has_room()

    def drain(self, most: int) -> bytes:
        with self._room:
            count = min(most, len(self._bodies))
            bodies = [self._bodies.popleft() for _ in range(count)]
            first, self._taken = self._taken, self._taken + count
            self._stuck = False
            self._room.notify_all()
        return _numbered(first, bodies)

    def after_fork(self) -> None:
        self._room = threading.Condition(threading.RLock())
        self._taken += len(self._bodies)
        self._bodies.clear()


class FileRing:
    """The last ``capacity`` records, in a memory-mapped file that outlives the process; never full."""

    def __init__(self, capacity: int, file: str) -> None:
        self._capacity = capacity
        self._map: mmap.mmap | None = _new_file(capacity, file)
        self._lock = threading.RLock()
        self._taken = 0
        self.produced = 0
        self.dropped = self.waits = 0

    @property
    def pending(self) -> int:
        return self.produced - self._taken

    def push(self, body: bytes) -> None:
        with self._lock:
            if self._map is None:
                return
            number, self.produced = self.produced, self.produced + 1
            at = self._offset(number)
            READY.pack_into(self._map, at, 0)
            self._map[at + READY.size : at + RECORD.itemsize] = body
            READY.pack_into(self._map, at, number + 1)

    def drain(self, most: int) -> bytes:
        with self._lock:
            if self._map is None:
                return b""
            first = max(self._taken, self.produced - self._capacity)
            self._taken = min(first + most, self.produced)
            places = map(self._offset, range(first, self._taken))
            return b"".join(self._map[at : at + RECORD.itemsize] for at in places)

    def after_fork(self) -> None:
        self._lock = threading.RLock()
        self._map = None  # the file is the parent's
        self._taken = self.produced

    def _offset(self, number: int) -> int:
        return RING_HEADER_BYTES + number % self._capacity * RECORD.itemsize


def _new_file(capacity: int, file: str) -> mmap.mmap:
    size = RING_HEADER_BYTES + capacity * RECORD.itemsize
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        # Allocated now: a full disk must be an error here, not a SIGBUS in the middle of training.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.truncate(descriptor, size)
        mapping = mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
    RING_HEADER.pack_into(mapping, 0, RING_MAGIC, RING_VERSION, RECORD.itemsize, capacity)
    return mapping


def _numbered(first: int, bodies: list[bytes]) -> bytes:
    records = np.zeros(len(bodies), RECORD)
    records["ready"] = np.arange(first + 1, first + 1 + len(bodies), dtype=np.uint64)
    if bodies:
        rows = np.frombuffer(b"".join(bodies), np.uint8).reshape(len(bodies), -1)
        records.view(np.uint8).reshape(len(bodies), -1)[:, READY.size :] = rows
    return records.tobytes()
