"""Defines the trace on disk. This docstring is the specification: another reader can be written from it alone.

Layout
======

::

    NAME.tdbg/
      trace.json                        {"format": "tdbg", "version": 1}
      HOST-PID-STARTED/                 one folder per writing process; no two processes write to the same one
        process.json                    pid, host, started (ns since the epoch), rank, argv, mode, versions, ...; in a
                                        cluster also cluster (its addresses, the same text in all tasks) and task
        ops.arrows  frames.arrows  ...  a small table: one hot file
        tensors-000001.parquet          a large table: numbered segments, sealed ...
        tensors-000001.ops.parquet      ... with their rollups ...
        tensors-000001.steps.parquet
        tensors-000001.crc32            ... and the checksum of the Parquet file ...
        tensors-000002.arrows           ... or still hot
        values-000001.blob              full tensors
        ring.bin  ring-values.bin       the last events of a process that keeps only those, and which values are theirs
                                        (native/record.py, store/ring_values.py); gone when it ends by itself
        end.json                        ended (ns), rows (written, per table), lost (not written, per table), and what
                                        the recorder adds, such as stopped (why recording ended before the program) and
                                        unwritten (events after that); while it is missing the process runs, or it died

JSON files are UTF-8 objects; keys that a reader does not know are to be ignored. Files with other names, ``*.part``
among them, are not part of the trace. The tables in SEALED_TABLES come in segments numbered from 000001; the rows of a
table are those of its segments in order. If a segment is there both as ``.parquet`` and ``.arrows``, the Parquet file
is the segment: a writer seals under a temporary name, syncs, renames checksum and rollups and then rows, and removes
the hot file.
Sealing keeps the order of rows. A damaged hot segment is not sealed. After a crash hot segments simply stay.

Hot files and blobs: frames
===========================

A hot file is a sequence of frames and nothing else. All integers are little-endian and unsigned:

====== ===== =================================================================================
offset bytes meaning
====== ===== =================================================================================
0      4     ``TDBF``
4      4     CRC-32 (zlib's) of everything after it: header bytes 8 to 31, payload, padding
8      4     kind: 1 Arrow schema, 2 Arrow record batch, 3 value, 4 value compressed with zstd
12     4     rows in the batch (kind 2), 1 for a value, 0 for a schema
16     8     payload bytes
24     8     where this frame begins in its file
32     ...   payload, then zeros up to a multiple of 8 bytes
====== ===== =================================================================================

CRC-32 and not CRC-32C, because every language's standard library has it at native speed. The position is part of the
header so that a copy of a frame inside another frame's payload is never taken for a frame.

The first frame of an ``.arrows`` file is of kind 1, an encapsulated Arrow IPC schema message; all others are of kind 2,
encapsulated Arrow IPC record batch messages of that schema, without compression or dictionaries. Put one behind the
other, the payloads are an Arrow IPC stream.

A frame counts only when it is whole and its checksum is right. A file may end in the middle of a frame: normal while
the program runs, and after it was killed. Where a frame is wrong, search on for ``TDBF`` until a frame verifies, count
the bytes passed over and tell the user; if none follows, the file ends there.

Values
======

A row of ``values`` says which blob (``segment``) holds a full tensor and at which ``offset`` its frame begins. The
payload is the tensor's bytes, row-major and little-endian, as they are (kind 3) or as one zstd frame (kind 4).
``hash`` is BLAKE2b with a 16-byte digest over dtype (u8), rank (u32), dims (i64 each) and the uncompressed bytes; a
reader must check it. Equal hashes mean equal tensors. The same tensor is not stored again while the writer remembers
it (the last 262,144 distinct ones), so equal values may, rarely, have different numbers.

Parquet
=======

Ordinary Parquet with page checksums and zstd; any reader will do. ``flags``, ``nan``, ``neg_inf``, ``pos_inf`` and
``seq`` have statistics, so a search for bad rows skips row groups of about 65,536 rows.

Not every reader looks at page checksums, and they do not cover the footer. So ``.crc32`` holds the CRC-32 of the whole
Parquet file as eight hexadecimal digits; a file that does not match it is not to be given to a query engine.

Rollups summarise one segment of ``tensors`` and are sorted by their key: ``.ops`` by (op, slot), ``.steps`` by step.
Both have rows, first_seq, last_seq, bad (rows with flag BAD) and first_bad_seq (-1: none); ``.ops`` also first_step,
last_step, the sums of nan, neg_inf and pos_inf, the least min and greatest max (NaN: no finite number; which numbers
are there, and what becomes of them, says model.Numbers), and the least and greatest number of a shape among its
outputs, least_shape and greatest_shape: they differ when its shape changed.
They can be made again from the rows, and are, where a column is missing.

Tables
======

Types are in SCHEMAS. Times are nanoseconds since the epoch. Numbers that name rows (op, graph, stack, ...) are unique
within a process, not across processes; readers add a column ``process``. -1 means none. No column holds nulls, but for
the counts and statistics of a tensor that were not computed (NUMBER_COLUMNS). SCHEMAS is in reading order: a row refers
to rows of its own table and of tables further down, and those reach the disk first (by the same ``flush`` at the
latest). So whoever reads a trace that grows reads in this order.

``tensors``: one tensor that was looked at.
    seq         position among all events of the process, over all threads; rows are nearly, not strictly, in its order
    time, step  when, and in which training step
    thread      the operating system's thread number
    execution   the eager op or function call that it belongs to
    op, slot    which output of which op
    iteration   of the innermost loop around it, -1 outside loops
    dtype       model.DType
    shape       row of ``shapes``; -1 not known
    elements    number of elements; -1 not known
    negative, zero, positive, neg_inf, pos_inf, nan
                how many of each (finite negative and positive)
    min, max, mean, std
                of the finite elements, NaN when there are none. For tensors of at most 32 bits an element they are
                rounded to float32, which is what makes the rows small
                All of these are there with flag NUMBERS, but for those that the tdbg that wrote the trace did not
                know. Without it each is null where it is not known: recordings of tdbg then have none, imported ones
                may have some (the counts, or those of bad values, alone). model.Numbers is the list of them
    flags       bits of model.Flag
    tensor      the framework's number of an eager tensor, which ``executions.inputs`` refers to
    value       row of ``values`` when the tensor was kept whole
``ends``: a function call came back (``failed``: with an error) at ``time``, with these ``outputs`` (tensor numbers).
``runs``: an ``execution`` that was one run of a Session: its number (``run``) among the runs of that Session, the
    ``global_step`` where a dump tells it (-1: it does not), and the ``error`` that it ended with.
``profile``: a ``node`` that ran on a ``device`` in an ``execution`` that was profiled: its op ``type``, ``start``, and
    two durations in ns: ``op_time``, its kernel alone, and ``exec_time``, with what the executor did around it;
    ``stack``: where the program made the node.
``executions``: one eager op or call of a function.
    execution   its number
    seq, time, step, thread   as in ``tensors``
    op          the op (a line of code that ran an eager op); graph: the function's graph when it is a call
    inputs      numbers of the eager tensors that went in
``steps``: training ``step`` began at ``time``, before event ``seq``; ``source`` is what told so.
``functions``: ``graph`` became callable under the name ``function``: its argument ops, and the ops and slots whose
    outputs are its results. When it was traced from Python code: ``python``, the code's qualified name, ``file`` and
    ``line``, where it begins, ``instance``, a number of the callable (two can share their code), and ``signature``, a
    JSON object: each argument, or part of one, with its type or value as text. Else empty, -1 and ``{}``.
``signatures``: ``graph`` is what a Session runs for these ``fetches`` (tensors), ``targets`` (ops that are run and not
    fetched) and ``feeds`` (tensors). Its ops are those that TensorFlow's runtime made of the program's, and its
    function's arguments are the Session's variables.
``targets``: a gradient was taken of this output (``op``, ``slot``), by a tape or ``tf.gradients``: a loss, mostly.
    ``variables``: for how many variables (0: for tensors only); ``tensor``: of eager code, the number of the tensor for
    which that was seen first. One row for each op, and one more when variables come into it later.
``controls``: ``op`` waits for ``input_op`` without taking a value from it.
``ops``: an op of a graph, or an eager op at one place of the program.
    op, graph, name, type, device   graph is -1 for eager ops
    input_ops, input_slots          where each input comes from, -1 unknown
    output_dtypes                   model.DType of each output
    attributes                      as text
    stack                           where it was made
    phase                           model.Phase
    forward                         for an op of a gradient: the op that it differentiates
    observed                        whether its outputs are observed
    kind, roles                     the words of vocabulary.Kind and vocabulary.Role: what it computes and what it does
                                    in the program, alike in all frameworks; ``other`` where no kind fits. Traces of
                                    tdbg 0.1.0 have none: there both follow from ``type``, which is TensorFlow's
    framework                       whose op it is: ``tensorflow``; ``type`` is its name there
``graphs``: ``graph`` was built inside ``outer`` by ``function`` at ``stack`` and ``time``.
``shapes``: the ``dims`` of each shape number; a dim of -1 is not known.
``stacks``: a stack is its innermost ``frame`` and a ``parent`` stack (the caller).
``frames``: ``line`` in ``function`` of ``file``; ``is_user``: code that the user wrote, not a library's.
``sources``: the ``text`` of a file as it was at ``time``.
``values``: see above; ``stored`` is the payload's size, ``bytes`` the tensor's.
``notes``: everything that was dropped, skipped, sampled or could not be done: ``count`` of what ``kind``, and why.

Versions
========

``version`` grows when something that an older reader relies on changes or goes; a new table, column, key or rollup does
not count, for readers ignore what they do not know, and give -1, an empty text or an empty list for what is not there.
A reader reads every version up to its own. Of a newer one it reads nothing, and says which version the trace has and
how to get a newer tdbg.
"""

from __future__ import annotations

import re
import struct

import pyarrow as pa

from tdbg.model import MEASURED, NUMBERS

NAME = "tdbg"
VERSION = 1

_list = pa.list_

# In reading order: a row refers only to rows of its own table and of tables further down.
SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema([pa.field(column, kind) for column, kind in columns.items()])
    for name, columns in {
        "tensors": {
            "seq": pa.int64(),
            "time": pa.int64(),
            "step": pa.int32(),
            "thread": pa.int32(),
            "execution": pa.int64(),
            "op": pa.int32(),
            "slot": pa.int16(),
            "iteration": pa.int32(),
            "dtype": pa.uint8(),
            "shape": pa.int32(),
            **{number.name: pa.int64() if number.is_count else pa.float64() for number in NUMBERS},
            "flags": pa.uint16(),
            "tensor": pa.int64(),
            "value": pa.int64(),
        },
        "ends": {
            "execution": pa.int64(),
            "time": pa.int64(),
            "failed": pa.bool_(),
            "outputs": _list(pa.int64()),
        },
        "runs": {
            "execution": pa.int64(),
            "run": pa.int64(),
            "global_step": pa.int64(),
            "error": pa.string(),
        },
        "profile": {
            "execution": pa.int64(),
            "node": pa.string(),
            "type": pa.string(),
            "device": pa.string(),
            "start": pa.int64(),
            "op_time": pa.int64(),
            "exec_time": pa.int64(),
            "stack": pa.int32(),
        },
        "executions": {
            "execution": pa.int64(),
            "seq": pa.int64(),
            "time": pa.int64(),
            "step": pa.int32(),
            "thread": pa.int32(),
            "op": pa.int32(),
            "graph": pa.int32(),
            "inputs": _list(pa.int64()),
        },
        "steps": {"step": pa.int32(), "seq": pa.int64(), "time": pa.int64(), "source": pa.string()},
        # A graph that became callable: which of its ops are its arguments and which tensors are its results.
        "functions": {
            "function": pa.string(),
            "graph": pa.int32(),
            "input_ops": _list(pa.int32()),
            "output_ops": _list(pa.int32()),
            "output_slots": _list(pa.int16()),
            "python": pa.string(),
            "file": pa.string(),
            "line": pa.int32(),
            "instance": pa.int32(),
            "signature": pa.string(),
        },
        # What a Session was asked for, where the graph is a run of one.
        "signatures": {
            "graph": pa.int32(),
            "fetches": _list(pa.string()),
            "targets": _list(pa.string()),
            "feeds": _list(pa.string()),
        },
        # What gradients were taken of.
        "targets": {"op": pa.int32(), "slot": pa.int16(), "tensor": pa.int64(), "variables": pa.int32()},
        "controls": {"op": pa.int32(), "input_op": pa.int32()},
        "ops": {
            "op": pa.int32(),
            "graph": pa.int32(),
            "name": pa.string(),
            "type": pa.string(),
            "device": pa.string(),
            "input_ops": _list(pa.int32()),
            "input_slots": _list(pa.int16()),
            "output_dtypes": _list(pa.uint8()),
            "attributes": pa.string(),
            "stack": pa.int32(),
            "phase": pa.uint8(),
            "forward": pa.int32(),
            "observed": pa.bool_(),
            "kind": pa.string(),
            "roles": _list(pa.string()),
            "framework": pa.string(),
        },
        "graphs": {
            "graph": pa.int32(),
            "outer": pa.int32(),
            "name": pa.string(),
            "function": pa.string(),
            "stack": pa.int32(),
            "time": pa.int64(),
        },
        "shapes": {"shape": pa.int32(), "dims": _list(pa.int64())},
        "stacks": {"stack": pa.int32(), "parent": pa.int32(), "frame": pa.int32()},
        "frames": {
            "frame": pa.int32(),
            "file": pa.string(),
            "line": pa.int32(),
            "function": pa.string(),
            "is_user": pa.bool_(),
        },
        "sources": {"file": pa.string(), "text": pa.string(), "time": pa.int64()},
        "values": {
            "value": pa.int64(),
            "hash": pa.binary(16),
            "dtype": pa.uint8(),
            "dims": _list(pa.int64()),
            "segment": pa.int32(),
            "offset": pa.int64(),
            "stored": pa.int64(),
            "bytes": pa.int64(),
        },
        "notes": {"time": pa.int64(), "kind": pa.string(), "count": pa.int64(), "text": pa.string()},
    }.items()
}

# Large tables: numbered hot segments that are sealed to Parquet. The others are one hot file each.
SEALED_TABLES = frozenset({"tensors", "executions", "ends"})

# The only columns that may hold nulls: in rows of ``tensors`` without Flag.NUMBERS.
NUMBER_COLUMNS = frozenset(MEASURED)

WRITE_ORDER = tuple(reversed(SCHEMAS))

MAGIC = b"TDBF"
HEADER = struct.Struct("<4sIIIQQ")  # magic, crc32, kind, rows, payload bytes, position of this header in its file
CRC_FROM = 8  # the checksum covers the header from here on, the payload and the padding
ALIGNMENT = 8

KIND_SCHEMA, KIND_BATCH, KIND_VALUE, KIND_VALUE_ZSTD = 1, 2, 3, 4

TRACE_JSON, PROCESS_JSON, END_JSON = "trace.json", "process.json", "end.json"

_SEGMENT_FILE = re.compile(r"([a-z_]+)(?:-(\d{6,}))?\.(arrows|parquet)")


def hot_name(table: str, number: int) -> str:
    """``tensors-000001.arrows``; number 0 is a table that has one file only: ``ops.arrows``."""
    return f"{table}-{number:06d}.arrows" if number else f"{table}.arrows"


def sealed_name(table: str, number: int) -> str:
    return f"{table}-{number:06d}.parquet"


def rollup_name(table: str, number: int, kind: str) -> str:
    return f"{table}-{number:06d}.{kind}.parquet"


def checksum_name(table: str, number: int) -> str:
    return f"{table}-{number:06d}.crc32"


def blob_name(number: int) -> str:
    return f"values-{number:06d}.blob"


def parse_name(file: str) -> tuple[str, int, bool] | None:
    """Table, number (0 for an unnumbered file) and whether it is sealed; None for a file that holds no table."""
    match = _SEGMENT_FILE.fullmatch(file)
    if match is None or match[1] not in SCHEMAS:
        return None
    return match[1], int(match[2] or 0), match[3] == "parquet"
