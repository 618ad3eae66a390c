"""A trace and a seed in; copies of it out, each with one thing wrong: bytes, cells, types, files, JSON, links, bombs.

The same seed gives the same mutants on every machine. Checksums are made right again for most of them, as somebody
would who means harm.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tdbg.store.format import KIND_BATCH, KIND_SCHEMA, parse_name
from tdbg.store.frames import Frame, frame_parts, read_frames

INTEGERS = (-1, 0, 1, 2, -2, 3, 7, 255, 1 << 15, 1 << 31, (1 << 31) - 1, -(1 << 31), (1 << 62), -(1 << 62), 1 << 20)
TEXTS = (
    "",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe",
    "a\nb",
    "<script>",
    "{}",
    "[" * 5000,
    "x" * 70_000,
    "\x00",
    "é" * 9,
)
Kind = Callable[[random.Random, Path], str]
FLOATS = (0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324)


def mutant(source: Path, target: Path, seed: int) -> str:
    """Makes a copy of a trace with one thing wrong, and says which."""
    shutil.copytree(source, target)
    files = sorted(path for path in target.rglob("*") if path.is_file())
    return damage(files, source.suffix == ".tdbg", seed)[0]


def damage(files: list[Path], is_trace: bool, seed: int) -> tuple[str, Path, Kind]:
    """Makes one thing wrong in place: says which, in or beside which file, and of what kind it is."""
    chance = random.Random(seed)
    how = chance.choice(KINDS if is_trace else PLAIN)
    fits = _is_table if how in (cells, columns) else _has_bytes
    file = chance.choice([path for path in files if fits(path)])
    return f"seed {seed}: {how.__name__} of {file.name}: {how(chance, file)}", file, how


def _has_bytes(path: Path) -> bool:
    return path.stat().st_size > 0


def _is_table(path: Path) -> bool:
    return path.suffix in (".arrows", ".parquet")


# ---- the kinds


def bit(chance: random.Random, file: Path) -> str:
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)
    _write(file, bytes(data), chance.random() < 0.5)
    return f"bit of byte {at}"


def cut(chance: random.Random, file: Path) -> str:
    data = file.read_bytes()
    at = chance.randrange(len(data))
    file.write_bytes(data[:at])
    return f"at {at}"


def noise(chance: random.Random, file: Path) -> str:
    """Bytes in the middle; in frames, with a checksum that is right."""
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    data[at : at + chance.choice((1, 4, 16))] = chance.randbytes(chance.choice((0, 1, 4, 16, 300)))
    _write(file, bytes(data), True)
    return f"at {at}"


def frames(chance: random.Random, file: Path) -> str:
    """A payload changed under a right checksum, or frames in another order."""
    if file.suffix not in (".arrows", ".blob"):
        return bit(chance, file)
    with open(file, "rb") as stream:
        found = [frame for frame in read_frames(stream) if isinstance(frame, Frame)]
    parts = [(frame.kind, frame.rows, bytearray(frame.payload)) for frame in found]
    which = chance.randrange(5)
    kind, rows, payload = one = chance.choice(parts)
    if which == 0:
        chance.shuffle(parts)
    elif which == 1:
        parts.append(one)
    elif which == 2:
        parts[parts.index(one)] = (chance.randrange(6), chance.choice((0, rows, 1 << 31)), payload)
    else:
        for _ in range(chance.choice((1, 1, 3, 20))):
            payload[chance.randrange(len(payload))] = chance.choice((0, 1, 255, 128, chance.randrange(256)))
    _write_frames(file, parts)
    return f"way {which}, kind {kind}"


def cells(chance: random.Random, file: Path) -> str:
    rows = _table(file)
    name = chance.choice(rows.column_names)
    values = rows[name].to_pylist()
    for _ in range(chance.choice((1, 1, 3, 1000))):
        if values:
            values[chance.randrange(len(values))] = _other(chance, rows.schema.field(name).type, values)
    _put(file, rows, name, values)
    return f"column {name}"


def columns(chance: random.Random, file: Path) -> str:
    """Another type, another name, one more, one less, twice the same, or other rows."""
    rows = _table(file)
    name = chance.choice(rows.column_names)
    at = rows.column_names.index(name)
    which = chance.randrange(7)
    if which == 0:
        rows = rows.drop_columns([name])
    elif which == 1:
        rows = rows.rename_columns([f"{one}_" if one == name else one for one in rows.column_names])
    elif which == 2:
        kinds = [pa.string(), pa.float64(), pa.bool_(), pa.list_(pa.string()), pa.null(), pa.binary(), pa.int8()]
        rows = rows.set_column(at, name, pa.nulls(len(rows), chance.choice(kinds)))
    elif which == 3:
        rows = rows.append_column(name, rows[name])
    elif which == 4:
        rows = rows.slice(chance.randrange(len(rows) + 1)) if len(rows) else rows
    elif which == 5:
        rows = pa.concat_tables([rows, rows, rows])
    else:
        rows = rows.set_column(at, name, pa.nulls(len(rows), rows.schema.field(name).type))
    _save(file, rows)
    return f"way {which} of {name}"


def swap(chance: random.Random, file: Path) -> str:
    others = [path for path in file.parent.iterdir() if path.is_file()]
    other = chance.choice(others)
    shutil.copyfile(other, file.with_name("swap.tmp"))
    os.replace(file.with_name("swap.tmp"), file)
    _sign(file)
    return f"with {other.name}"


def place(chance: random.Random, file: Path) -> str:
    """Something that is no file where one should be, or nothing."""
    which = chance.randrange(9)
    file.unlink()
    if which == 0:
        os.mkfifo(file)
    elif which == 1:
        file.symlink_to(chance.choice(("/dev/zero", "/dev/random", "/dev/stdin", "/etc/passwd", "/proc/self/mem")))
    elif which == 2:
        file.symlink_to(file.name)
    elif which == 3:
        file.mkdir()
    elif which == 4:
        file.write_bytes(b"")
    elif which == 5:
        with open(file, "wb") as made:  # a hole
            made.truncate(1 << 40)
    elif which == 6 and file.parent.name.count("-") >= 2:
        elsewhere = file.parent.with_name("elsewhere")
        os.rename(file.parent, elsewhere)
        elsewhere.with_name("vm-1-1").symlink_to(elsewhere)
    elif which == 7:
        file.parent.joinpath("values-000001.blob" if file.suffix == ".blob" else file.name).symlink_to("../trace.json")
    return f"way {which}"


def texts(chance: random.Random, file: Path) -> str:
    """JSON that is deep, large, or holds other kinds."""
    if file.suffix != ".json":
        file = chance.choice(sorted(file.parent.glob("*.json")) or [file])
    which = chance.randrange(5)
    try:
        content = json.loads(file.read_bytes())
    except ValueError:
        content = {}
    odd: list[Any] = [None, [], {}, "", "\x1b[2J", -1, 1 << 70, 1e400, True, [[1]], {"a": {"b": [1]}}, ["x"] * 3]
    if which == 0:
        file.write_text("[" * 100_000)
    elif which == 1:
        file.write_text('{"argv":' * 900 + "1" + "}" * 900)
    elif which == 2:
        file.write_text(chance.choice(("[]", "1", '"x"', "null", "{}", "", '{"format":"tdbg"}', "\ufeff{}")))
    elif content:
        for key in chance.sample(sorted(content), min(len(content), chance.choice((1, 1, 4)))):
            content[key] = chance.choice(odd)
        file.write_text(json.dumps(content))
    return f"way {which}"


def bomb(chance: random.Random, file: Path) -> str:
    """Much in a few bytes."""
    which = chance.randrange(4)
    folder = next(path for path in file.parents if path.name.endswith(".tdbg"))
    folder = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    if which == 0:
        rows = pa.table({"seq": pa.repeat(pa.scalar(1, pa.int64()), 30_000_000)})
        _save(folder / "tensors-000002.parquet", rows)
    elif which == 1:
        big = pa.table({"seq": pa.array([1], pa.int64()), "step": pa.array([1], pa.int32())})
        _save(folder / "executions-000009.parquet", big)
    elif which == 2:
        batch = pa.record_batch({"frame": pa.repeat(pa.scalar(1, pa.int32()), 20_000_000)})
        payload = batch.serialize()
        with pa.BufferOutputStream() as stream:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_stream(stream, batch.schema, options=options) as writer:
                writer.write_batch(batch)
            data = stream.getvalue().to_pybytes()
        schema = batch.schema.serialize().to_pybytes()
        del payload
        parts = [(KIND_SCHEMA, 0, bytearray(schema)), (KIND_BATCH, 20_000_000, bytearray(data[len(schema) :]))]
        _write_frames(folder / "frames.arrows", parts)
    else:
        packed = pa.Codec("zstd").compress(bytes(400 << 20), asbytes=True)
        _write_frames(folder / "values-000001.blob", [(4, 1, bytearray(packed))])
        rows = _table(folder / "values.arrows")
        for name, cell in (("offset", 0), ("bytes", 1 << 40), ("segment", 1), ("stored", len(packed))):
            at = rows.column_names.index(name)
            field = rows.schema.field(name)
            rows = rows.set_column(at, field, pa.repeat(pa.scalar(cell, field.type), len(rows)))
        _save(folder / "values.arrows", rows)
    return f"way {which}"


KINDS: list[Kind] = [bit, bit, cut, noise, frames, cells, cells, columns, swap, place]
KINDS += [texts, place, cells, frames]
PLAIN = [bit, bit, cut, noise, swap, place]  # of files whose format is not ours


def bombed(source: Path, target: Path, seed: int) -> str:
    chance = random.Random(seed)
    shutil.copytree(source, target)
    return f"seed {seed}: bomb: {bomb(chance, next(target.rglob('*.arrows')))}"


# ---- files


def _other(chance: random.Random, kind: pa.DataType, values: list) -> Any:
    if chance.random() < 0.15:
        return None
    if chance.random() < 0.2 and values:
        return chance.choice(values)
    if pa.types.is_list(kind):
        return [_other(chance, kind.value_type, []) for _ in range(chance.choice((0, 1, 2, 5, 40)))]
    if pa.types.is_string(kind):
        return chance.choice(TEXTS)
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    if pa.types.is_floating(kind):
        return chance.choice(FLOATS)
    if pa.types.is_fixed_size_binary(kind):
        return chance.randbytes(kind.byte_width)
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(chance.choice((*INTEGERS, least, most, chance.randrange(100))), least), most)


def _table(file: Path) -> pa.Table:
    if file.suffix == ".parquet":
        return pq.ParquetFile(file).read()
    with open(file, "rb") as stream:
        payloads = [bytes(frame.payload) for frame in read_frames(stream) if isinstance(frame, Frame)]
    with pa.ipc.open_stream(b"".join(payloads)) as reader:
        return reader.read_all()


def _put(file: Path, rows: pa.Table, name: str, values: list) -> None:
    at = rows.column_names.index(name)
    _save(file, rows.set_column(at, rows.schema.field(at), pa.array(values, rows.schema.field(at).type)))


def _save(file: Path, rows: pa.Table) -> None:
    if file.suffix == ".parquet":
        pq.write_table(rows, file, compression="zstd", write_page_checksum=True)
        _sign(file)
        return
    parts = [(KIND_SCHEMA, 0, bytearray(rows.schema.serialize().to_pybytes()))]
    for batch in rows.combine_chunks().to_batches():
        parts.append((KIND_BATCH, batch.num_rows, bytearray(batch.serialize().to_pybytes())))
    _write_frames(file, parts)


def _write(file: Path, data: bytes, signed: bool) -> None:
    file.write_bytes(data)
    if signed:
        _sign(file)


def _sign(file: Path) -> None:
    """Makes the checksum of a sealed segment right."""
    parsed = parse_name(file.name)
    if parsed is not None and parsed[2]:
        file.with_name(f"{parsed[0]}-{parsed[1]:06d}.crc32").write_text(f"{zlib.crc32(file.read_bytes()):08x}\n")


def _write_frames(file: Path, parts: list[tuple[int, int, bytearray]]) -> None:
    data = b""
    for kind, rows, payload in parts:
        data += b"".join(map(bytes, frame_parts(kind, rows, bytes(payload), len(data))))
    file.write_bytes(data)
