"""Stores full tensors by value id and reads them back; equal content is stored once and checked by its hash."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.model import DType
from tdbg.store.format import KIND_VALUE, KIND_VALUE_ZSTD, blob_name
from tdbg.store.frames import read_frame_at
from tdbg.store.hotfile import HotFile
from tdbg.store.plain_files import open_plain

BLOB_BYTES = 256 << 20
_WORTH_PACKING = 1024  # bytes; below, a compressor's own set-up costs more than it saves
# Remembering every hash would cost a long run ever more memory; values that repeat, repeat soon.
REMEMBERED = 1 << 18
_MOST_DIMS = 64  # of a numpy array
_MOST_UNPACKED = 256 << 20  # bytes; more must be proportionate to what is stored
_MOST_RATIO = 1000


class RawValue(NamedTuple):
    """A stored value that is no array of numbers (strings, resources, variants), as the bytes that were put."""

    data: bytes
    dtype: DType
    dims: tuple[int, ...]


def content_hash(data: bytes | memoryview, dtype: int, dims: Sequence[int]) -> bytes:
    """16 bytes of BLAKE2b over dtype (u8), rank (u32), dims (i64 each), all little-endian, and the data."""
    head = struct.pack(f"<BI{len(dims)}q", dtype, len(dims), *dims)
    digest = hashlib.blake2b(head, digest_size=16)
    digest.update(data)
    return digest.digest()


class ValueWriter:
    """Appends values to ``values-NNNNNN.blob`` and makes the rows of the ``values`` table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: HotFile | None = None
        self._segment = 0
        self._next = 0
        self._known: dict[bytes, tuple[int, int]] = {}  # content -> value and segment
        self._puts = 0
        self._last_put: dict[int, int] = {}  # segment -> which put used it last
        # A fast level: it gives up on random digits almost at once, and packs zeros and repeats nearly as well as 1.
        self._codec = pa.Codec("zstd", compression_level=-1)
        self.bytes_written = 0

    def put(self, data: bytes | memoryview, dtype: int, dims: Sequence[int]) -> tuple[int, tuple | None]:
        """The value's id, and its row for the ``values`` table when it is new."""
        flat = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
        dims = [int(dim) for dim in dims]
        key = content_hash(flat, dtype, dims)
        self._puts += 1
        known = self._known.get(key)
        if known is not None:
            self._last_put[known[1]] = self._puts
            return known[0], None
        kind, payload = KIND_VALUE, flat
        if flat.nbytes >= _WORTH_PACKING:
            # The slice is the same bytes: a buffer that pyarrow has shrunk still tells its old length to memoryview.
            packed = memoryview(self._codec.compress(flat).slice(0))
            if packed.nbytes < flat.nbytes:
                kind, payload = KIND_VALUE_ZSTD, packed
        file = self._blob()
        offset = file.write(kind, 1, payload)
        self.bytes_written += file.size - offset
        value, self._next = self._next, self._next + 1
        self._known[key] = value, self._segment
        self._last_put[self._segment] = self._puts
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return value, (value, key, dtype, dims, self._segment, offset, payload.nbytes, flat.nbytes)

    def remove_before(self, used: int) -> None:
        """Removes the finished files that none of the last ``used`` puts gave a value of."""
        old = {n for n, put in self._last_put.items() if n != self._segment and put <= self._puts - used}
        if old:
            self._known = {key: found for key, found in self._known.items() if found[1] not in old}
        for number in old:
            (self._folder / blob_name(number)).unlink(missing_ok=True)
            del self._last_put[number]

    def _blob(self) -> HotFile:
        if self._file is None or self._file.size >= BLOB_BYTES:
            if self._file is not None:
                self._file.close()
            self._segment += 1
            self._file = HotFile(self._folder / blob_name(self._segment))
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def read_value(folder: Path, row: dict) -> np.ndarray | RawValue:
    """The value that a row of the ``values`` table points at, or TdbgError when its bytes are not the ones put."""
    path = folder / blob_name(row["segment"])
    try:
        with open_plain(path) as file:
            frame = read_frame_at(file, row["offset"]) if row["offset"] >= 0 else None
    except OSError as error:
        raise TdbgError(f"Value {row['value']} cannot be read: {error.strerror} ({path}).") from error
    if frame is None:
        raise TdbgError(f"Value {row['value']} is damaged or was cut off: no whole frame at {row['offset']} in {path}.")
    dims = tuple(row["dims"])
    if len(dims) > _MOST_DIMS or min(dims, default=0) < 0:
        raise TdbgError(f"Value {row['value']} has an impossible shape, so it is not shown ({path}).")
    if frame.kind == KIND_VALUE_ZSTD and row["bytes"] > max(_MOST_UNPACKED, _MOST_RATIO * len(frame.payload)):
        raise TdbgError(f"Value {row['value']} would unpack to {row['bytes']:,} bytes, so it is not shown ({path}).")
    data = _unpacked(frame.kind, frame.payload, row["bytes"])
    if data is None or content_hash(data, row["dtype"], dims) != row["hash"]:
        raise TdbgError(f"Value {row['value']} does not match its hash, so it is not shown ({path}).")
    return as_array(data, row["dtype"], dims)


def _unpacked(kind: int, payload: memoryview, size: int) -> bytes | memoryview | None:
    if kind == KIND_VALUE:
        return payload
    if size < 0:
        return None
    try:
        return pa.Codec("zstd").decompress(payload, decompressed_size=size, asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return None


def as_array(data: bytes | memoryview, dtype: int, dims: tuple[int, ...]) -> np.ndarray | RawValue:
    """Bytes as a read-only numpy array; small float types need ml_dtypes and are raw unsigned integers without it."""
    kind = DType(dtype) if dtype in DType._value2member_map_ else DType.UNKNOWN
    if not kind.is_number:
        return RawValue(bytes(data), kind, dims)
    element = _numpy_dtype(kind)
    if len(data) != element.itemsize * math.prod(dims):
        return RawValue(bytes(data), kind, dims)
    return np.frombuffer(data, dtype=element).reshape(dims)


def _numpy_dtype(kind: DType) -> np.dtype:
    if kind is DType.BFLOAT16 or kind.name.startswith("FLOAT8"):
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, kind.label))
        except (ImportError, AttributeError):
            return np.dtype(np.uint16 if kind is DType.BFLOAT16 else np.uint8)
    return np.dtype(kind.label)
