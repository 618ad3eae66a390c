"""Keeps which stored value belongs to which event of a ring, in a file that outlives a killed process.

A record of a ring holds a token, for the value is stored later than the event. ``ring-values.bin`` has, at position
token modulo the ring's capacity, two little-endian int64: the token and the value's id. A ring holds at most one value
for each event, so what the last events need is always there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tdbg.store.own_files import open_high
from tdbg.store.plain_files import read_plain

RING_VALUES_FILE = "ring-values.bin"
_PAIR = np.dtype([("token", "<i8"), ("value", "<i8")])
_LARGEST = 1 << 30  # bytes: no ring has more events than this file can serve


def write(folder: Path, values: Mapping[int, int], capacity: int) -> None:
    """Notes values that are on disk. The file is opened anew each time: it is small, and held open by nobody."""
    if not values:
        return
    with open(open_high(folder / RING_VALUES_FILE, os.O_RDWR | os.O_CREAT), "r+b", buffering=0) as file:
        for token, value in values.items():
            file.seek(token % capacity * _PAIR.itemsize)
            file.write(np.array((token, value), _PAIR).tobytes())


def read(folder: Path) -> dict[int, int]:
    """The id of each value by its token; empty when there is no such file, or none that can be read."""
    try:
        data = read_plain(folder / RING_VALUES_FILE, _LARGEST)
    except OSError:
        return {}
    pairs = np.frombuffer(data[: len(data) // _PAIR.itemsize * _PAIR.itemsize], _PAIR)
    known = pairs[pairs["token"] > 0]
    return dict(zip(known["token"].tolist(), known["value"].tolist(), strict=True))


def remove(folder: Path) -> None:
    (folder / RING_VALUES_FILE).unlink(missing_ok=True)
